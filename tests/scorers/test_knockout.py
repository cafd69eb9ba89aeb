"""Brackets placed by who went out when, against the definition pair by pair (SEAL, §2.3)."""

import random
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.ranking_logs.builders import item, match
from tiebreak.scorers.ballots import ItemBallots, Match
from tiebreak.scorers.bracket import Pairing, first_round, next_round
from tiebreak.scorers.placement import place
from tiebreak.scorers.rules import fitting

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


def test_margins_are_accumulated_and_not_averaged() -> None:
    """s0 and s1 have byes; s1 and s3 go out in the semi-finals, s3 after a match more."""
    ballots = item(
        "q",
        [
            match("s3", "s4", 0.1),
            match("s2", "s5", 0.3),
            match("s0", "s3", 0.4, round=2),  # s3: 0.1 − 0.4 = −0.3, on average −0.15
            match("s1", "s2", -0.2, round=2),  # s1: −0.2, on average as well
            match("s0", "s2", 0.5, round=3),
        ],
        groups=[(f"s{number}",) for number in range(6)],
    )
    placement = place(ballots)
    assert placement.order == (("s0",), ("s2",), ("s1",), ("s3",), ("s4",), ("s5",))
    # What breaks ties of a benchmark is the mean.
    assert placement.margins["s3"] == pytest.approx(-0.15)


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
