"""Rounds: the three ways to write one, and what the reader makes of the whole."""

from pathlib import Path

import pytest

from tests.tables.builders import write
from tiebreak.tables import Round, Rounds, read_order, read_rounds

BENCHMARKS = ("mmlu", "gsm8k", "math", "humaneval", "mbpp")


def read(folder: Path, text: str) -> Rounds:
    return read_rounds(write(folder / "rounds.yaml", text), BENCHMARKS)


def test_three_ways_to_write_a_round(tmp_path: Path) -> None:
    rounds = read(
        tmp_path,
        "- humaneval\n- [math, gsm8k]\n- name: last\n  benchmarks: [mmlu]\n- benchmarks: mbpp\n",
    )
    assert rounds.rounds == (
        Round("humaneval", ("humaneval",), (3,)),
        Round("round 2", ("math", "gsm8k"), (2, 1)),
        Round("last", ("mmlu",), (0,)),
        Round("mbpp", ("mbpp",), (4,)),
    )
    assert rounds.columns == ((3,), (2, 1), (0,), (4,))
    assert (rounds.eliminate, rounds.weights, rounds.notes) == (None, None, ())


def test_details(tmp_path: Path) -> None:
    rounds = read(
        tmp_path,
        "- {benchmarks: [mmlu], eliminate: 0, weight: 2}\n"
        "- {benchmarks: [math], eliminate: 3, weight: 0.5}\n",
    )
    assert (rounds.eliminate, rounds.weights) == ((0, 3), (2.0, 0.5))
    [note] = rounds.notes
    assert note.endswith("in no round, so not used: 'gsm8k', 'humaneval', 'mbpp'")
    # No elimination in any round is something said, too.
    assert read(tmp_path, "- {benchmarks: mmlu, eliminate: 0}").eliminate == (0,)


def test_an_order_of_names_and_of_lines(tmp_path: Path) -> None:
    path = write(tmp_path / "order.txt", "gsm8k\n\n  math \nmmlu\n")
    for order, source in (("gsm8k, math,mmlu", "the order"), (str(path), str(path))):
        rounds = read_order(order, BENCHMARKS)
        assert rounds.columns == ((1,), (2,), (0,))
        assert [one.name for one in rounds.rounds] == ["gsm8k", "math", "mmlu"]
        assert rounds.notes == (f"{source}: in no round, so not used: 'humaneval', 'mbpp'",)
        assert rounds.order_from == "order"


def test_a_benchmark_goes_before_a_file_of_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "mmlu", "math")
    assert read_order("mmlu", BENCHMARKS).columns == ((0,),)
