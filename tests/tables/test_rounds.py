"""Rounds: the three ways to write one, and what the reader makes of the whole."""

from pathlib import Path

from tests.tables.builders import write
from tiebreak.tables import Round, Rounds, read_rounds

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
    assert rounds.eliminate == (0, 3)
    assert rounds.weights == (2.0, 0.5)
    assert rounds.notes == (
        f"{tmp_path / 'rounds.yaml'}: in no round, so not used: 'gsm8k', 'humaneval', 'mbpp'",
    )


def test_no_elimination_in_any_round_is_something_said(tmp_path: Path) -> None:
    assert read(tmp_path, "- {benchmarks: mmlu, eliminate: 0}").eliminate == (0,)
