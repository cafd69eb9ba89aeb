"""Scores on their protocols' own scales, and the gain that follows: by brute force, by hand."""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.analysis.test_comparison import Folder, full, lists, named
from tests.ranking_logs.builders import (
    all_pairs,
    by_native,
    graded,
    item,
    listed,
    match,
)
from tiebreak.analysis.item_table import ItemTable, placed, protocol_scores
from tiebreak.scorers.ballots import ItemBallots, Match
from tiebreak.scorers.bracket import Pairing, first_round, next_round, rounds

EIGHT = "abcdefgh"


def scores(*items: ItemBallots) -> dict[str, float]:
    """The mean score of every model over the items that have a ranking."""
    ranked = placed(items)
    table = ItemTable.of(ranked)
    means = np.nanmean(protocol_scores(table, ranked), axis=0)
    return dict(zip(table.models, means.tolist(), strict=True))


def bracket(seeds: str, margins: Sequence[float], item_id: str = "q") -> ItemBallots:
    """An elimination of these seeds; margins are those of the better seeds, round by round."""
    left, played = iter(margins), []
    pairings = first_round(seeds)
    for number in range(1, rounds(len(seeds)) + 1):
        winners = []
        for pairing in pairings:
            one = pairing.high
            if isinstance(pairing, Pairing):
                won = match(pairing.high, pairing.low, next(left), round=number)
                played.append(won)
                one = won.winner
            winners.append(one)
        if len(winners) > 1:
            pairings = next_round(number + 1, winners, seeds)
    ballots = item(item_id, played, groups=[[seed] for seed in seeds])
    return ballots.model_copy(update={"seeds": tuple(seeds)})


def own_matches(matches: Sequence[Match], model: str) -> Iterator[float]:
    """The results of a model, by what the match itself says."""
    for one in matches:
        if model in (one.high, one.low):
            yield 0.5 if one.tied else float(one.winner == model)


def expected_sum(shares: tuple[float, float, float], upsets: float) -> float:
    """Over all courses of a bracket of eight: shares of matches with a winner, by round.

    `upsets` is the share of these that the worse seed wins; even matches are the better seed's.
    """
    of_round = [shares[0]] * 4 + [shares[1]] * 2 + [shares[2]]
    chances = [{0.0: 1 - d, 0.4: d * (1 - upsets), -0.4: d * upsets} for d in of_round]
    return math.fsum(
        weight * sum(scores(bracket(EIGHT, margins)).values())
        for margins in product(*({m for m, p in one.items() if p} for one in chances))
        if (weight := math.prod(one[m] for one, m in zip(chances, margins, strict=True)))
    )


@pytest.mark.parametrize(
    ("shares", "upsets"),
    [((0.5, 0.5, 0.5), 0), ((0.2, 0.6, 0.9), 0), ((0, 0, 1), 0.5), ((1, 1, 1), 0.5)],
)
def test_the_sum_of_a_brackets_scores(shares: tuple[float, float, float], upsets: float) -> None:
    formula = 4 - 7 / 6 * shares[0] - shares[1] / 6
    assert expected_sum(shares, upsets) == pytest.approx(formula)


@pytest.mark.slow
@given(
    st.sampled_from(["ab", "abcd", EIGHT]),
    st.lists(st.sampled_from([0.4, 0.0, -0.4]), min_size=7, max_size=7),
)
def test_a_bracket_sums_to_less_than_all_pairs(models: str, margins: list[float]) -> None:
    """Who loses has met fewer than who goes on; only the final is between equals."""
    ballots = bracket(models, margins)
    total = sum(scores(ballots).values())
    early = [one for one in ballots.matches if one.round < rounds(len(models))]
    assert total <= len(models) / 2 + 1e-9
    assert (total < len(models) / 2 - 1e-9) == any(not one.tied for one in early)
    pairs = sum(scores(all_pairs("q", models, swapped=models[::-1])).values())
    assert pairs == pytest.approx(len(models) / 2)
    assert scores(ballots) == pytest.approx(
        {model: np.mean([*own_matches(ballots.matches, model)]) for model in models}
    )


def test_items_count_alike_however_many_matches_a_model_played_in_them() -> None:
    # Pooled over items a would have 1 of 2 matches won and 1 lost in 3: ½ + … = 3 of 4.
    won, lost = bracket("abcd", [0.4] * 3, "q1"), bracket("bcda", [0.4] * 3, "q2")
    assert scores(won)["a"] == 1
    assert scores(lost)["a"] == 0
    assert scores(won, lost)["a"] == 0.5


SCALES: dict[str, tuple[ItemBallots, dict[str, float]]] = {
    "grades": (graded("q", {"a": 0.9, "b": 0.7, "c": 0.7}), {"a": 0.9, "b": 0.7, "c": 0.7}),
    "graded twins": (
        graded("q", {"a": 0.9, "c": 0.7}, groups=[["a", "b"], ["c"]]),
        {"a": 0.9, "b": 0.9, "c": 0.7},
    ),
    "list": (listed("q", [["a"], ["b"], ["c"]]), {"a": 1, "b": 0.5, "c": 0}),
    "native": (by_native("q", {"a": 0.4, "b": 0.3, "c": 0.3}), {"a": 0.4, "b": 0.3, "c": 0.3}),
    # Borda has 1, ½, 0 here as well; a tie of the first two would leave Borda ¾, ¾, 0.
    "all pairs": (all_pairs("q", "abc"), {"a": 1, "b": 0.5, "c": 0}),
    # Of twins both beat c, and tie with each other.
    "twins": (
        item("q", [match("a", "c", 0.4)], groups=[["a", "b"], ["c"]]),
        {"a": 0.75, "b": 0.75, "c": 0},
    ),
}


@pytest.mark.parametrize(("ballots", "expected"), SCALES.values(), ids=SCALES)
def test_each_kind_has_its_own_scale(ballots: ItemBallots, expected: Mapping[str, float]) -> None:
    assert scores(ballots) == pytest.approx(expected)


def test_the_gain_of_a_bracket_is_that_of_its_results(tmp_path: Path) -> None:
    native = {"a": 1.0, "b": 0.75, "c": 0.5, "d": 0.25}
    folder = Folder(tmp_path)
    folder.add(*full(2, native=native))
    played = bracket("abcd", [0.4, 0.0, 0.4]).model_copy(update={"native": native})
    folder.add(*(played.model_copy(update={"item_id": f"q{k}"}) for k in range(2)))
    seal = named(folder.benchmark())["seal"]
    # a beats d, b ties with c and goes on, a beats b: 1, ¼, ½, 0 — where Borda says 1, ⅔, ⅓, 0.
    places = [(one.model, one.rank, one.score) for one in seal.places]
    assert sorted(places) == [("a", 1, 1.0), ("b", 2, 0.25), ("c", 3, 0.5), ("d", 4, 0.0)]
    gaps = 0.75 + 0.5 + 1 + 0.25 + 0.25 + 0.5
    assert seal.gain.value == pytest.approx(gaps / (3 * 0.25 + 2 * 0.5 + 0.75))
    assert all(one.lower <= one.score <= one.upper for one in seal.places)


def test_items_without_a_grade_change_no_gain(tmp_path: Path) -> None:
    """Where all answers are identical nobody is graded, and the native scores are equal."""
    native, points = {"a": 1.0, "b": 0.5, "c": 0.0}, {"a": 0.9, "b": 0.8, "c": 0.6}
    same: dict[str, Any] = {"groups": [["a", "b", "c"]], "native": dict.fromkeys("abc", 1.0)}
    for n in (0, 3):
        folder = Folder(tmp_path / str(n))
        grades = [graded(f"q{k}", points, native=native) for k in range(2)]
        folder.add(*grades, *(graded(f"s{k}", {}, **same) for k in range(n)))
        ties = [listed(f"s{k}", None, groups=same["groups"]) for k in range(n)]
        folder.add(*lists(2, "abc", native=native), *ties)
        one = folder.benchmark(reference="listwise")
        gain = named(one)["pointwise"].gain.value
        assert gain == pytest.approx((0.1 + 0.3 + 0.2) / 2)
        assert {log.n_items for log in one.logs} == {2 + n}
