"""From ballots to a ranking: worked cases for every rule, and least squares by a second method."""

import math
import random
from collections.abc import Sequence
from itertools import combinations, groupby
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cases import cases
from tests.expected import check
from tests.ranking_logs.builders import item, match
from tests.scorers.bouts import bouts
from tiebreak.scorers.ballots import (
    ItemBallots,
    Listing,
    Match,
    PointScore,
    Rule,
    Skipped,
    Tiering,
)
from tiebreak.scorers.bracket import Pairing, first_round, next_round
from tiebreak.scorers.placement import SEEDING_WEIGHT, NotPlacedError, own_margins, place
from tiebreak.scorers.rules import fitting


def test_margins_are_seen_from_the_candidate() -> None:
    matches = (match("a", "b", 0.4), match("c", "a", 0.6), match("a", "d", None))
    assert own_margins(matches) == {"a": [0.4, -0.6], "b": [-0.4], "c": [0.6]}
    assert place(item("q", matches, groups=FOUR)).margins["a"] == pytest.approx(-0.1)


FOUR = (("a",), ("b",), ("c",), ("d",))


def ballots(
    rule: Rule,
    matches: Sequence[Match] = (),
    *,
    groups: Sequence[Sequence[str]] = FOUR,
    tiers: dict[str, int] | None = None,
    **parts: Any,
) -> ItemBallots:
    update = {"placed_by": rule, "tiering": Tiering(tiers=tiers or {}), **parts}
    return item("q", matches, groups=groups).model_copy(update=update)


def points(**scores: float | None) -> tuple[PointScore, ...]:
    return tuple(
        PointScore(candidate=name, score=score, unscored="silent" if score is None else None)
        for name, score in scores.items()
    )


def kept(
    rule: Rule,
    played: str = "",
    *,
    grades: dict[str, float | None] | None = None,
    listings: Sequence[dict[str, Any]] = (),
    **parts: Any,
) -> ItemBallots:
    """The ballots of a row of the tables."""
    if grades:
        parts["scores"] = points(**grades)
    if "skipped" in parts:
        parts["skipped"] = Skipped(**parts["skipped"])
    parts["listings"] = tuple(Listing(**listing) for listing in listings)
    return ballots(rule, bouts(played), **parts)


WORKED: dict[str, tuple[dict[str, Any], str]] = cases(__file__, "worked")


@pytest.mark.parametrize(("row", "order"), WORKED.values(), ids=WORKED)
def test_worked_cases(row: dict[str, Any], order: str) -> None:
    placement = place(kept(**row))
    assert " ".join("=".join(sorted(group)) for group in placement.order) == order
    # Tied models share the mean of the ranks that they take up.
    ahead = 0
    for group in order.split():
        names = group.split("=")
        assert {placement.ranks[name] for name in names} == {ahead + (len(names) + 1) / 2}
        ahead += len(names)
    assert len(placement.ranks) == ahead


def test_why_there_is_no_ranking() -> None:
    lines = []
    for name, row in cases(__file__, "not placed").items():
        with pytest.raises(NotPlacedError) as caught:
            place(kept(**row))
        lines.append(f"{name}: {caught.value}\n")
    check(__file__, "not_placed.txt", "".join(lines))


@pytest.mark.parametrize(
    "rule", ["elimination", "least_squares", "win_rate", "insertion", "grades", "listing"]
)
def test_a_single_answer_is_a_tie_under_every_rule_of_judges(rule: Rule) -> None:
    assert place(ballots(rule, groups=(("a", "b"),))).ranks == {"a": 1.5, "b": 1.5}


def strengths_by_design_matrix(
    names: Sequence[str], outcomes: Sequence[tuple[str, str, float]], tiers: dict[str, int]
) -> dict[str, float]:
    """One row an observation, sᵢ - sⱼ = y, and NumPy's solver.

    The observations: every result (y = 1, 0 or -1); y = 1 for every pair that never met and where
    a chain of won pairings leads from the one to the other and none back; and with the weight
    `SEEDING_WEIGHT` every pair, y = the sign of the difference of the tiers.
    """
    net: dict[tuple[str, str], float] = {}
    for one, other, result in outcomes:
        for a, b, won in ((one, other, result), (other, one, 1 - result)):
            net[a, b] = net.get((a, b), 0) + 2 * won - 1

    def below(name: str) -> set[str]:
        found: set[str] = set()
        left = [name]
        while left:
            beaten = {b for (a, b), points in net.items() if a == left[0] and points > 0}
            left = left[1:] + sorted(beaten - found)
            found |= beaten
        return found

    rows, targets = [], []

    def observe(one: str, other: str, y: float, weight: float) -> None:
        row = np.zeros(len(names))
        row[names.index(one)], row[names.index(other)] = 1, -1
        rows.append(row * math.sqrt(weight))
        targets.append(y * math.sqrt(weight))

    for one, other, result in outcomes:
        observe(one, other, 2 * result - 1, 1)
    for one in names:
        for other in names:
            if (one, other) not in net and other in below(one) and one not in below(other):
                observe(one, other, 1, 1)
    for one, other in combinations(names, 2):
        observe(one, other, float(np.sign(tiers[other] - tiers[one])), SEEDING_WEIGHT)
    # lstsq gives the solution of least norm, which has the sum 0.
    solution = np.linalg.lstsq(np.array(rows), np.array(targets), rcond=None)[0]
    return dict(zip(names, solution.round(7).tolist(), strict=True))


MARGINS = {1.0: 0.4, 0.5: 0.0, 0.0: -0.4}


@pytest.mark.slow
@settings(deadline=None, max_examples=150)
@given(st.integers(2, 7), st.data())
def test_least_squares_is_the_solution_for_the_design_matrix(n: int, data: st.DataObject) -> None:
    names = [f"m{i}" for i in range(n)]
    pair = st.tuples(st.sampled_from(names), st.sampled_from(names)).filter(lambda p: p[0] != p[1])
    outcome = st.tuples(pair, st.sampled_from([1.0, 0.5, 0.0])).map(lambda o: (*o[0], o[1]))
    outcomes = data.draw(st.lists(outcome, min_size=1, max_size=12))
    tiers = {name: data.draw(st.integers(1, 3)) for name in names}
    played = [match(one, other, MARGINS[result]) for one, other, result in outcomes]
    judged = [name for name in names if any(name in o[:2] for o in outcomes)]
    strength = strengths_by_design_matrix(judged, outcomes, tiers)
    best_first = sorted(judged, key=lambda name: -strength[name])
    expected = [sorted(group) for _, group in groupby(best_first, key=strength.__getitem__)]
    groups = [(name,) for name in names]
    placement = place(ballots("least_squares", played, groups=groups, tiers=tiers))
    assert [sorted(group) for group in placement.order] == expected


# Brackets placed by who went out when, against the definition pair by pair (SEAL, §2.3).

BOTH, ALL_MET = ("elimination_tied", "least_squares"), ("win_rate", "points")

Outcome = tuple[int | None, bool]
"""Principle margin in tenths, None where unscored; whether the checklist turned a zero around."""


def played(n: int, outcomes: Sequence[Outcome]) -> ItemBallots:
    """The bracket of s0, s1, … with these outcomes of its n − 1 matches, one after the other."""
    seeds = [f"s{number}" for number in range(n)]
    left = iter(outcomes)
    matches: list[Match] = []
    slots = first_round(seeds)
    while slots:
        winners = []
        for slot in slots:
            if isinstance(slot, Pairing):
                matches.append(bout(slot, *next(left)))
            winners.append(matches[-1].winner if isinstance(slot, Pairing) else slot.high)
        slots = next_round(slots[0].round + 1, winners, seeds) if len(winners) > 1 else []
    return item("q", matches, groups=[(name,) for name in seeds])


def bout(slot: Pairing, tenths: int | None, turned: bool) -> Match:
    margin = None if tenths is None else tenths / 10
    made = match(slot.high, slot.low, margin, round=slot.round)
    if margin == 0 and turned:
        return match(slot.high, slot.low, 0.0, round=slot.round, decided_by="checklist", won="low")
    return made


def by_definition(ballots: ItemBallots, *, tied: bool = False) -> dict[str, float]:
    """Rank of everyone: one more than the number of those who are above, each pair looked at.

    Two who are `tied`, as all are who went out in one round, count half for each other.
    """
    sums: dict[str, int] = {}
    out = dict.fromkeys(ballots.seeds, 99)  # the champion never goes out
    for one in ballots.matches:
        out[one.loser] = one.round
        if one.margin is not None:
            tenths = round(one.margin * 10)
            sums[one.high] = sums.get(one.high, 0) + tenths
            sums[one.low] = sums.get(one.low, 0) - tenths

    def above(one: str, other: str) -> float:
        if out[one] != out[other] or tied:
            return 0.5 + 0.5 * ((out[one] > out[other]) - (out[one] < out[other]))
        if (one in sums) != (other in sums):
            return one in sums
        if one in sums and sums[one] != sums[other]:
            return sums[one] > sums[other]
        return ballots.seeds.index(one) < ballots.seeds.index(other)

    return {
        name: 1.0 + sum(above(other, name) for other in ballots.seeds if other != name)
        for name in ballots.seeds
    }


def outcomes(lots: random.Random, n: int) -> list[Outcome]:
    """Small margins, so that sums are often equal; every sixth match has no verdict."""
    tenths = [None if lots.random() < 1 / 6 else lots.randint(-4, 4) for _ in range(n - 1)]
    return [(margin, lots.random() < 0.5) for margin in (*tenths[:-1], tenths[-1] or 0)]


@settings(deadline=None, max_examples=200)
@given(st.integers(2, 9), st.randoms(use_true_random=True))
def test_ranks_are_those_of_the_definition(n: int, lots: random.Random) -> None:
    ballots = played(n, outcomes(lots, n))
    assert place(ballots).ranks == by_definition(ballots)
    tied = ballots.model_copy(update={"placed_by": "elimination_tied"})
    assert place(tied).ranks == by_definition(ballots, tied=True)
    assert fitting([ballots]) == fitting([tied]) == ("elimination", *BOTH, *(ALL_MET * (n == 2)))


def test_equal_sums_go_by_seed_whatever_rounding_makes_of_them() -> None:
    """0.1 + 0.2 − 0.6 and −0.3 are one sum, and not the same number in the machine."""
    matches = [
        match("s4", "s11", 0.1),
        match("s4", "s3", 0.2, round=2),
        match("s0", "s4", 0.6, round=3),
        match("s1", "s2", 0.3, round=3),
        match("s0", "s1", 0.1, round=4),
    ]
    groups = [(name,) for name in ("s0", "s1", "s2", "s4", "s3", "s11")]
    order = [group[0] for group in place(item("q", matches, groups=groups)).order]
    assert order == ["s0", "s1", "s2", "s4", "s3", "s11"]
    swapped = [(name,) for name in ("s0", "s1", "s4", "s2", "s3", "s11")]
    order = [group[0] for group in place(item("q", matches, groups=swapped)).order]
    assert order == ["s0", "s1", "s4", "s2", "s3", "s11"]
