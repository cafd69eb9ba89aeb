"""Boards beside people: the order by brute force, and logs of every kind of judge."""

import json
from collections.abc import Callable, Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from benchmarks.claims.juries import judged
from benchmarks.claims.worlds import FAIR
from tests.analysis.peers.builders import reviews
from tests.ranking_logs.builders import (
    all_pairs,
    bracket,
    by_native,
    call,
    graded,
    listed,
    starred,
    write_log,
)
from tests.tables.builders import write
from tiebreak.analysis.alignment import Alignment, align
from tiebreak.analysis.errors import AnalysisError
from tiebreak.analysis.judged import BoardOrder, board_order
from tiebreak.rankers import Resampling
from tiebreak.rankers.pairwise_tests import separation
from tiebreak.rankers.profile import within_ballots
from tiebreak.report import csv, terminal
from tiebreak.report.sheets import alignment as sheets
from tiebreak.scorers.ballots import ItemBallots

HOW = Resampling(draws=50)
NAMES = "abcdef"


@pytest.mark.parametrize("seed", range(12))
def test_order_is_that_of_pairs_counted_one_by_one(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 7))
    scores = rng.integers(0, 3, (40, n)) + rng.integers(0, 3, n)
    people = np.sort(rng.integers(1, n + 1, n)).astype(float)
    if len(set(people)) == 1:
        people[0] -= 1
    people = within_ballots(people)
    found = board_order(scores.astype(float), people, NAMES[:n])
    means = scores.mean(axis=0)
    tests = {
        frozenset((pair.above, pair.below)): pair
        for pair in separation(scores, list(np.argsort(-means, kind="stable"))).pairs
    }
    same = opposite = pairs = sure = against = 0
    above, below = [0] * n, [0] * n
    for a, b in combinations(range(n), 2):
        apart = tests[frozenset((a, b))].apart
        best, worst = (a, b) if means[a] > means[b] else (b, a)
        above[worst] += bool(apart)
        below[best] += bool(apart)
        if people[a] == people[b]:
            continue
        pairs += 1
        if means[a] != means[b]:
            agree = people[best] < people[worst]
            same, opposite = same + agree, opposite + (not agree)
            sure, against = sure + bool(apart and agree), against + bool(apart and not agree)
    assert (found.n_pairs, found.n_same, found.n_opposite) == (pairs, same, opposite)
    shares = found.same.value, found.same.lower, found.same.upper
    assert shares == pytest.approx((same / pairs, sure / pairs, 1 - against / pairs))
    assert found.rank_lower == tuple(1 + k for k in above)
    assert found.rank_upper == tuple(n - k for k in below)
    # A tie of people stands for each of the ranks that it takes up.
    for k, name in enumerate(NAMES[:n]):
        held = [rank for rank, own in enumerate(sorted(people), 1) if own == people[k]]
        assert (name in found.higher) == (found.rank_upper[k] < min(held))
        assert (name in found.lower) == (found.rank_lower[k] > max(held))


def test_a_model_without_a_score_has_no_rank_and_no_pair() -> None:
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(60, 4)) + np.array([0, 9, 6, 3])
    scores[:, 0] = np.nan
    found = board_order(scores, np.array([1.0, 2.0, 3.0, 4.0]), "abcd")
    assert np.isnan(found.ranks[0])
    assert (found.n_pairs, found.n_same, found.same.lower) == (3, 3, 1)
    assert (found.rank_lower[0], found.rank_upper[0]) == (1, 4)
    nothing = board_order(np.full((5, 3), np.nan), np.array([1.0, 2.0, 3.0]), "abc")
    assert nothing.n_pairs == 0
    assert np.isnan(nothing.same.value)
    # Ties of the board are no agreement.
    tied = board_order(np.ones((30, 3)), np.array([1.0, 2.0, 3.0]), "abc")
    assert (tied.n_pairs, tied.n_same, tied.n_opposite, tied.ranks) == (3, 0, 0, (2, 2, 2))
    assert (tied.same.value, tied.same.lower, tied.same.upper) == (0, 0, 1)


@pytest.mark.parametrize(("level", "named"), [(0.95, ("d",)), (0.9999999999, ())])
def test_a_favoured_model_is_named_where_the_items_show_it(
    level: float, named: tuple[str, ...]
) -> None:
    rng = np.random.default_rng(1)
    scores = rng.normal(size=(40, 4)) + np.array([3, 2, 1, 2.8])
    assert board_order(scores, np.arange(1.0, 5.0), "abcd", level=level).higher == named


def by_place(order: Sequence[str]) -> dict[str, float | None]:
    return {model: 1 - place / 4 for place, model in enumerate(order)}


def points(item_id: str, order: Sequence[str]) -> ItemBallots:
    played = all_pairs(item_id, order, protocol="round_robin")
    return played.model_copy(update={"placed_by": "points"})


BOARDS: dict[str, Callable[[str, Sequence[str]], ItemBallots]] = {
    "round_robin": points,
    "full_pairwise": all_pairs,
    "seal": lambda item_id, order: bracket(item_id, *order),
    "pointwise": lambda item_id, order: graded(item_id, by_place(order)),
    "listwise": lambda item_id, order: listed(item_id, [[model] for model in order]),
    "stars": lambda item_id, order: starred(
        item_id, {model: 3 - place for place, model in enumerate(order)}
    ),
    "original": lambda item_id, order: by_native(item_id, by_place(order)),
}


def aligned(folder: Path, *logs: Sequence[ItemBallots], human: Sequence[str] = "abc") -> Alignment:
    """An alignment of logs with these items, in one folder, and people who say `human`."""
    for number, items in enumerate(logs):
        path = folder / "logs" / f"{number}.eval"
        write_log(path, items, eval_id=f"e{number}", task_id=f"t{number}")
    lines = "".join(f"{model},{rank}\n" for rank, model in enumerate(human, 1))
    return align([folder / "logs"], write(folder / "h.csv", f"model,rank\n{lines}"), how=HOW)


def the_order(found: Alignment) -> BoardOrder:
    [one] = found.benchmarks
    assert one.order is not None
    return one.order


@pytest.mark.parametrize("protocol", BOARDS)
def test_every_protocol(tmp_path: Path, protocol: str) -> None:
    """The judge says b, a, c in most of 20 items; people say a, b, c."""
    items = [BOARDS[protocol](f"q{n}", "bac" if n % 10 else "abc") for n in range(20)]
    found = aligned(tmp_path, items)
    [one], order = found.benchmarks, the_order(found)
    assert dict(zip(one.models, order.ranks, strict=True)) == {"b": 1, "a": 2, "c": 3}
    assert (order.n_pairs, order.n_same, order.n_opposite) == (3, 2, 1)
    assert (order.higher, order.lower) == (("b",), ("a",))
    board = one.raters[0]
    assert board.kind == "board"
    assert board.name.startswith(protocol)
    assert board.kendall.macro.value == pytest.approx(1 / 3)
    # 18 items of 20 swap a pair of three, which is one of three pairs.
    assert board.kendall.mean.value == pytest.approx((18 / 3 + 2) / 20)
    text = sheets.sheets_of(found)[1].verdict
    assert "2 of 3 pairs of models as people do" in text
    assert text.endswith("It places b higher than people do")


def test_a_jury_is_one_board(tmp_path: Path) -> None:
    items = judged(np.random.default_rng(3), [FAIR, FAIR, FAIR], 0.0, 20, "never")
    calls = tuple(call(model=judge) for judge in "abc")
    items = [one.model_copy(update={"calls": calls}) for one in items]
    models = items[0].models
    found = aligned(tmp_path, items, human=models)
    [one] = found.benchmarks
    assert one.order is not None
    assert one.order.n_pairs == len(models) * (len(models) - 1) // 2
    assert one.raters[0].name.endswith(" by a, b, c")


def test_stars_of_several_logs_are_one_board(tmp_path: Path) -> None:
    one = [starred(f"q{n}", {"a": 3, "b": 2}) for n in range(9)]
    other = [starred(f"q{n}", {"c": 1}) for n in range(9)]
    found = aligned(tmp_path, one, other)
    assert the_order(found).ranks == (1, 2, 3)
    assert the_order(found).n_same == 3
    # Variants of one question are one unit.
    variants = [
        starred(f"q{n}", {"a": 3, "b": 2, "c": n % 2}, cluster=f"c{n % 4}") for n in range(8)
    ]
    [of_variants] = aligned(tmp_path / "more", variants).benchmarks
    assert of_variants.n_items == 4


def test_stars_linked_by_some_items_go_by_the_corrected_score(tmp_path: Path) -> None:
    """c is nearly as good as a, and was asked the hard questions alone."""
    items = [starred(f"q{n}", {"a": 3, "b": 3}) for n in range(20)]
    items += [starred(f"h{n}", {"a": 2, "b": n % 2, "c": 2 - (n % 4 == 0)}) for n in range(12)]
    found = aligned(tmp_path, items)
    assert found.benchmarks[0].n_items == 32
    assert the_order(found).ranks == (1, 3, 2)


def test_a_mix_of_boards_and_peer_reviews(tmp_path: Path) -> None:
    boards = [[BOARDS[name](f"q{n}", "bac") for n in range(4)] for name in BOARDS]
    peers = [reviews(f"q{n}", {"a": "abc", "b": "bac", "c": "cba"}) for n in range(4)]
    found = aligned(tmp_path, *boards, peers)
    kinds = [one.raters[0].kind for one in found.benchmarks]
    assert kinds == ["reviewer", *["board"] * len(BOARDS)]
    data = json.loads(json.dumps(sheets.data_of(found)))
    assert [one["order"] is None for one in data["benchmarks"]] == [True] + [False] * len(BOARDS)
    assert data["benchmarks"][1]["order"]["n_pairs"] == 3
    rows = csv.text(sheets.rows_of(found)).splitlines()
    assert sum(",board," in row for row in rows) == len(BOARDS)
    legend = sheets.sheets_of(found)[-1].sections[0].legend
    assert any(line.startswith("SR:") for line in legend)
    assert any(line.startswith("Ranks on a board") for line in legend)
    terminal.show(sheets.sheets_of(found))


def test_what_could_not_be_ranked_is_named(tmp_path: Path) -> None:
    empty = [listed(f"q{n}", None) for n in range(3)]
    found = aligned(tmp_path, empty, [all_pairs("q1", "abc"), all_pairs("q2", "abc")])
    assert len(found.benchmarks) == 1
    assert any("0.eval: no item could be ranked" in note for note in map(str, found.notes))
    for items, human, words in (
        (empty, "abc", "no item could be ranked"),
        ([all_pairs("q1", "abc")], "abx", "ranks 2 candidates out of 3"),
    ):
        with pytest.raises(AnalysisError, match=words):
            aligned(tmp_path / human, items, human=human)
