"""Logs side by side: their names, their runs, and leaderboards as functions of drawn items."""

from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tests.cases import cases
from tests.ranking_logs.builders import all_pairs, bracket, call, write_log
from tiebreak.analysis.entries import (
    Entry,
    _standing,
    in_each_order,
    left_out,
    read_entries,
    shared,
)
from tiebreak.rankers import Resampling, competition_ranks
from tiebreak.scorers.ballots import ItemBallots

WHEN = "2026-01-01T00:00:{:02}+00:00"


def entries_of(folder: Path) -> list[Entry]:
    return read_entries([folder], how=Resampling(draws=1))[0]


def log(folder: Path, number: int, *items: ItemBallots, **fields: object) -> None:
    usual = {"task_id": f"T{number}", "eval_id": f"E{number}", "created": WHEN.format(number)}
    write_log(folder / f"{number}.eval", items, **usual | fields)  # type: ignore[arg-type]


NAMES = cases(__file__, "names")


@pytest.mark.parametrize(("arguments", "names"), NAMES)
def test_names_say_what_differs(
    tmp_path: Path, arguments: list[dict[str, object]], names: list[str]
) -> None:
    for number, own in enumerate(arguments):
        log(tmp_path, number, bracket("q", "a", "b", "c"), task_args=own)
    assert [entry.name for entry in entries_of(tmp_path)] == names


@pytest.mark.slow
def test_judges_are_named_where_they_differ(tmp_path: Path) -> None:
    one, other = call(model="j/one"), call(model="j/two")
    log(tmp_path, 1, bracket("q", "a", "b", "c", calls=[one]))
    log(tmp_path, 2, bracket("q", "a", "b", "c", calls=[other]))
    log(tmp_path, 3, bracket("q", "a", "b", "c", calls=[other]))
    # Nobody was asked: that is no third judge.
    log(tmp_path, 4, bracket("q", "a", "b", "c", protocol="swiss"))
    log(tmp_path, 5, bracket("q", "a", "b", "c", protocol="swiss", calls=[one]))
    assert [entry.name for entry in entries_of(tmp_path)] == [
        *("seal judge=j/one", "seal judge=j/two", "seal judge=j/two · run 2"),
        *("swiss", "swiss · run 2"),
    ]


def test_runs_of_one_second_are_counted_as_they_were_repeated(tmp_path: Path) -> None:
    for number, repeat in ((1, 3), (2, 1), (3, 2)):
        same = {"task_args": {"repeat": repeat}, "created": WHEN.format(0)}
        log(tmp_path, number, bracket("q", "a", "b", "c"), **same)
    found = {entry.name: entry.repeat for entry in entries_of(tmp_path)}
    assert found == {"seal": 1, "seal · run 2": 2, "seal · run 3": 3}


def test_runs_are_counted_by_age_and_benchmark(tmp_path: Path) -> None:
    log(tmp_path, 2, bracket("q", "a", "b", "c"), bracket("q", "a", "b", "c", benchmark="mmlu"))
    log(tmp_path, 1, bracket("q", "c", "b", "a"))
    found = [(e.board.benchmark, e.name, e.board.eval_id) for e in entries_of(tmp_path)]
    runs = [("gsm8k", "seal", "E1"), ("gsm8k", "seal · run 2", "E2"), ("mmlu", "seal", "E2")]
    assert found == runs


def test_notes_name_their_log_unless_all_logs_say_it(tmp_path: Path) -> None:
    log(tmp_path, 1, bracket("q", "a", "b", "c"), expected=4)
    log(tmp_path, 2, bracket("q", "a", "b", "c"))
    (tmp_path / "bad.eval").write_bytes(b"no zip")
    own, shared_note = read_entries([tmp_path], how=Resampling(draws=1))[1]
    assert own.startswith(f"{tmp_path / '1.eval'}: 1 of 4 items judged")
    assert shared_note.startswith(f"Left out: {tmp_path / 'bad.eval'}")


@pytest.mark.slow
def test_the_statistic_gives_the_leaderboard_of_the_drawn_items(tmp_path: Path) -> None:
    # What a log with just these items, each as often, has for its leaderboard.
    random = Random(3)
    orders = ["".join(random.sample("abcde", 5)) for _ in range(9)]
    log(tmp_path / "all", 1, *(all_pairs(f"q{n}", order) for n, order in enumerate(orders)))
    [entry] = entries_of(tmp_path / "all")
    for trial in range(5):
        counts = [random.randrange(3) for _ in orders]
        drawn = [order for order, times in zip(orders, counts, strict=True) for _ in range(times)]
        folder = tmp_path / str(trial)
        log(folder, 1, *(all_pairs(f"q{n}", order) for n, order in enumerate(drawn)))
        [own] = entries_of(folder)
        ranks = {row.model: row.rank for row in own.board.rows}
        table = entry.statistic(entry.keys, "abcde")(np.array([counts], dtype=float))
        places = competition_ranks(table[0])
        assert dict(zip("abcde", places.tolist(), strict=True)) == ranks


def test_the_statistic_breaks_ties_by_margin_and_picks_models(tmp_path: Path) -> None:
    # The best wins by 0.2 over the middle one, which beats the last by 0.4.
    log(tmp_path, 1, bracket("q1", "a", "c", "b"), bracket("q2", "b", "c", "a"))
    [entry] = entries_of(tmp_path)
    first_only = np.array([[1.0, 0.0]])
    assert entry.statistic(entry.keys, ["b", "a"])(first_only).tolist() == [[-1, 0]]
    # Both: all have ½. Margins: a and b (0.2 - 0.4) / 2, c (0.4 - 0.2) / 2 in either item.
    assert entry.statistic(entry.keys, ["a", "b", "c"])(np.ones((1, 2))).tolist() == [[-1, -1, 0]]


GRID = st.sampled_from([0.0, 0.25, 0.5, np.nan])


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(
    arrays(np.float64, (3, 5), elements=GRID),
    arrays(np.float64, (3, 5), elements=GRID),
)
def test_standing_is_competition_rank(scores: np.ndarray, margins: np.ndarray) -> None:
    ranks = [competition_ranks(own, more) for own, more in zip(scores, margins, strict=True)]
    np.testing.assert_array_equal(1 - _standing(scores, margins), np.array(ranks))


def test_common_ground(tmp_path: Path) -> None:
    other_question = bracket("q3", "a", "b", "c").model_copy(update={"input_hash": "1"})
    log(tmp_path, 1, *(bracket(f"q{n}", "a", "b", "c") for n in (1, 2, 3)))
    log(tmp_path, 2, bracket("q2", "a", "b", "d"), bracket("q1", "a", "b", "d"), other_question)
    one, other = entries_of(tmp_path)
    common = shared([one, other])
    # c is in the second log's q3 only; it still has a rank there.
    assert common.models == ("a", "b", "c")
    assert [item for item, _ in common.items] == ["q1", "q2"]
    said = str(left_out([one, other], common))
    assert said.startswith("2 items (ranked: 3 by seal, 3 by seal · run 2) and 3 models (ranked: 3")
    assert left_out([one, one], shared([one, one])) is None


@pytest.mark.slow
def test_each_order_is_the_run_that_asks_only_once(tmp_path: Path) -> None:
    orders = [("abcd", "bacd"), ("dcba", "abcd"), ("cabd", "cadb")]
    twice = [all_pairs(f"q{n}", one, swapped=two) for n, (one, two) in enumerate(orders)]
    log(tmp_path / "both", 1, *twice)
    [entry] = entries_of(tmp_path / "both")
    both = in_each_order(entry)
    assert both is not None
    for which, half in enumerate(both):
        folder = tmp_path / str(which)
        log(folder, 1, *(all_pairs(f"q{n}", pair[which]) for n, pair in enumerate(orders)))
        [alone] = entries_of(folder)
        np.testing.assert_array_equal(half.table.borda, alone.table.borda)
        np.testing.assert_allclose(half.table.margins, alone.table.margins)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda item: item.model_copy(update={"matches": item.matches[1:]}),
        lambda item: item.model_copy(update={"placed_by": "least_squares"}),
        lambda item: all_pairs(item.item_id, "abcd"),
    ],
    ids=["a pair is missing", "another rule", "one order only"],
)
def test_half_the_verdicts_of_another_protocol_are_no_run(tmp_path: Path, spoil: Any) -> None:
    good, bad = (all_pairs(f"q{n}", "abcd", swapped="abdc") for n in (1, 2))
    silent = good.model_copy(update={"groups": (tuple("abcd"),), "matches": ()})
    for name, items in (("spoilt", [good, spoil(bad)]), ("silent", [silent])):
        log(tmp_path / name, 1, *items)
        [entry] = entries_of(tmp_path / name)
        assert in_each_order(entry) is None
