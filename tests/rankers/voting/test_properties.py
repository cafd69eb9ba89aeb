"""What voting theory says that each rule has, and a kept counter-example where it has it not."""

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.rankers.voting.tables import table
from tiebreak.rankers.aggregation import aggregate
from tiebreak.rankers.aggregators import AGGREGATORS
from tiebreak.rankers.consensus import Consensus
from tiebreak.rankers.profile import Profile, as_profile, majorities, margins, preference_counts
from tiebreak.rankers.voting import average, borda, copeland, dodgson, irv, spearman

Ranks = NDArray[np.float64]
Rule = Callable[[Ranks], Consensus]

# A busy machine is no failure, and integer programs take their time.
patient = settings(deadline=None, max_examples=40)

LAST = partial(borda, unranked="last")
TOGETHER = partial(irv, ties="together")


@st.composite
def ballots(draw: st.DrawFn, complete: bool = False, strict: bool = False, n: int = 4) -> Ranks:
    """One to five ballots over n candidates; the first one is complete."""
    rows = draw(st.integers(1, 5))
    if strict:
        order = st.permutations(range(1, n + 1))
        return np.array(draw(st.lists(order, min_size=rows, max_size=rows)), dtype=np.float64)
    ranks = st.lists(st.integers(1, n), min_size=n, max_size=n)
    table = np.array(draw(st.lists(ranks, min_size=rows, max_size=rows)), dtype=np.float64)
    if not complete:
        hole = st.lists(st.booleans(), min_size=n, max_size=n)
        table[1:][np.array(draw(st.lists(hole, min_size=rows, max_size=rows)))[1:]] = np.nan
    return table


def cost(order: list[int], ranks: Ranks) -> int:
    """Pairwise disagreements of an order with the ballots."""
    return int(np.triu(preference_counts(ranks).T[np.ix_(order, order)], 1).sum())


# Anonymity: the order of the ballots does not matter.


@pytest.mark.slow
@pytest.mark.parametrize("method", AGGREGATORS)
@patient
@given(ranks=ballots(), seed=st.integers(0, 99))
def test_anonymity(method: str, ranks: Ranks, seed: int) -> None:
    shuffled = np.random.default_rng(seed).permutation(ranks)
    np.testing.assert_array_equal(
        aggregate(shuffled, method).scores, aggregate(ranks, method).scores
    )


# Neutrality: the order of the columns does not matter.


@pytest.mark.slow
@pytest.mark.parametrize("rule", [average, borda, LAST, copeland, dodgson, irv, TOGETHER, spearman])
@patient
@given(ranks=ballots(), columns=st.permutations(range(4)))
def test_neutrality(rule: Rule, ranks: Ranks, columns: list[int]) -> None:
    np.testing.assert_array_equal(rule(ranks[:, columns]).ranks, rule(ranks).ranks[columns])


@pytest.mark.parametrize("method", ["kemeny_young", "kendall"])
def test_strict_orders_break_ties_by_column(method: str) -> None:
    np.testing.assert_array_equal(aggregate([[1, 2], [2, 1]], method).ranks, [1, 2])
    np.testing.assert_array_equal(aggregate([[2, 1], [1, 2]], method).ranks, [1, 2])


# Unanimity (Pareto): what all complete ballots rank higher stands higher.


@pytest.mark.slow
@pytest.mark.parametrize("method", AGGREGATORS)
@patient
@given(ranks=ballots(complete=True))
def test_unanimity(method: str, ranks: Ranks) -> None:
    result = aggregate(ranks, method).ranks
    for one in range(4):
        for other in range(4):
            if np.all(ranks[:, one] < ranks[:, other]):
                assert result[one] < result[other]


# Condorcet consistency: who beats everybody in pairs comes first, alone.


@pytest.mark.slow
@pytest.mark.parametrize("method", ["copeland", "dodgson", "kemeny_young"])
@patient
@given(ranks=ballots())
def test_condorcet_consistency(method: str, ranks: Ranks) -> None:
    winner = majorities(margins(ranks))[0]
    if winner is not None:
        assert aggregate(ranks, method).groups[0] == (winner,)


# a beats b and c by 3–2, but b is never last.
BROAD = np.array([[1.0, 2.0, 3.0]] * 3 + [[3.0, 1.0, 2.0]] * 2)
# b beats a 5–4 and c 6–3, but has the fewest first places.
CENTRE = np.array([[1.0, 2.0, 3.0]] * 4 + [[3.0, 2.0, 1.0]] * 3 + [[2.0, 1.0, 3.0]] * 2)


@pytest.mark.parametrize(
    ("rule", "ranks", "condorcet", "first"),
    [(average, BROAD, 0, 1), (borda, BROAD, 0, 1), (spearman, BROAD, 0, 1), (irv, CENTRE, 1, 0)],
)
def test_no_condorcet_consistency(rule: Rule, ranks: Ranks, condorcet: int, first: int) -> None:
    assert majorities(margins(ranks))[0] == condorcet
    assert rule(ranks).groups[0] == (first,)


# Reinforcement: two groups of ballots with the same ranking keep it when they are counted together.


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rule", "complete"),
    [
        *((rule, True) for rule in (average, borda, LAST, spearman, irv, TOGETHER)),
        *((rule, False) for rule in (LAST, irv)),
    ],
)
@patient
@given(data=st.data())
def test_reinforcement(rule: Rule, complete: bool, data: st.DataObject) -> None:
    one, other = (data.draw(ballots(complete, n=3)) for _ in range(2))
    expected = rule(one).ranks
    if np.array_equal(rule(other).ranks, expected):
        np.testing.assert_array_equal(rule(np.vstack([one, other])).ranks, expected)


@pytest.mark.slow
@patient
@given(one=ballots(), other=ballots())
def test_reinforcement_of_kemeny(one: Ranks, other: Ranks) -> None:
    # An order that is optimal for both is optimal for their union, and the documented one of the
    # orders that are.
    orders = [aggregate(ranks).ranks.argsort().tolist() for ranks in (one, other)]
    if orders[0] == orders[1]:
        union = np.vstack([one, other])
        best = aggregate(union).ranks.argsort().tolist()
        assert cost(best, union) == cost(orders[0], union)
        assert best == orders[0]


@pytest.mark.parametrize(
    ("rule", "one", "other", "together"),
    [
        # Two cycles, each a tie of three, with majorities of unequal size.
        (
            copeland,
            table("312", "231", "123"),
            table("213", "132", "132", "321", "213"),
            [1, 2, 3],
        ),
        # Shares, as in Simpson's paradox: a and c are level in either part, but the weights of
        # their shares differ in the whole.
        (borda, table("312", "213"), table("312", "2-3", "12-", "31-", "21-"), [2, 1, 3]),
        (average, table("321", "231"), table("231", "-13"), [3, 2, 1]),
        (spearman, table("213", "-31"), table("132", "32-"), [1, 2, 3]),
    ],
)
def test_no_reinforcement(rule: Rule, one: Ranks, other: Ranks, together: list[float]) -> None:
    np.testing.assert_array_equal(rule(one).ranks, rule(other).ranks)
    np.testing.assert_array_equal(rule(np.vstack([one, other])).ranks, together)
    assert rule(one).ranks.tolist() != together


@pytest.mark.parametrize("method", AGGREGATORS)
def test_a_profile_is_read_as_its_ranks_are(method: str) -> None:
    ranks = table("1234", "2143", "1342", "12-3")
    profile = Profile.from_ranks(ranks, ["a", "b", "c", "d"])
    assert as_profile(profile) is profile
    np.testing.assert_array_equal(
        aggregate(profile, method).scores, aggregate(ranks, method).scores
    )
