import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import kendalltau

from tests.rankers.ballots import mallows, partial, tied, uniform
from tests.rankers.voting.tables import table
from tiebreak.rankers import Resampling, bootstrap_items
from tiebreak.rankers.aggregation import aggregate_items
from tiebreak.rankers.aggregators import AGGREGATORS
from tiebreak.rankers.reviewers import fair_gaps, leave_one_out, peer_views, presentation_bias
from tiebreak.reason import Reason

NAN = math.nan
FloatArray = NDArray[np.float64]


def panel(
    seed: int, rows: int, reviewers: int, n: int, *, holes: float = 0, levels: int | None = None
) -> FloatArray:
    """Ballots around one order per row, of which the first models are better."""
    rng = np.random.default_rng(seed)
    ranks = np.stack([mallows(rng, reviewers, n, 0.7) for _ in range(rows)])
    ranks = np.stack([tied(row, levels) for row in ranks]) if levels else ranks
    return np.where(rng.random(ranks.shape) < holes, NAN, ranks)


# With and without each reviewer.


def test_leave_one_out_by_hand() -> None:
    # Item 1: a, b say 1 > 2 > 3, c says 2 > 1 > 3. Item 2: a says 1 > 2 > 3, b, c say 3 > 2 > 1.
    ranks = np.stack([table("123", "123", "213"), table("123", "321", "321")])
    found = leave_one_out(ranks)
    assert found.method == "kemeny_young"
    # All: 1 2 3 and 3 2 1.
    np.testing.assert_array_equal(found.mean_ranks, [2, 2, 2])
    # Without a: 1 and 2 are even in item 1, both before 3; 3 2 1. Means 2.25, 1.75, 2.
    # Without b: the same in item 1; in item 2 all are even: the mean of both orders, 2 2 2.
    # Without c: 1 2 3; 2 2 2.
    np.testing.assert_array_equal(
        found.mean_ranks_without, [[2.25, 1.75, 2], [1.75, 1.75, 2.5], [1.5, 2, 2.5]]
    )
    # Places 1 1 1 with all; 3 1 2; 1 1 3; 1 2 3.
    np.testing.assert_array_equal(found.shifts, [[2, 0, 1], [0, 0, 2], [0, 1, 2]])
    assert found.first_changes == (True, True, True)
    assert [str(one.reason) for one in found.kendall] == ["the first one ties all models"] * 3
    # a: agrees on 1-3 and 2-3 (1-2 is even); all three are the other way round: (0 + 1) / 2.
    # b: agrees; no pair is ordered: 0. c: 1-2 of three pairs the other way round; no pair: 1/3.
    np.testing.assert_allclose([one.value for one in found.distances], [0.5, 0, 1 / 3])
    assert [one.n_items for one in found.distances] == [2, 1, 1]


CASES = [
    panel(0, 6, 4, 5),
    panel(1, 6, 4, 5, levels=3),
    panel(2, 8, 3, 4, holes=0.3),
    np.concatenate([panel(3, 4, 4, 4), np.full((2, 4, 4), NAN), panel(4, 2, 4, 4, levels=1)]),
]


@pytest.mark.parametrize("ranks", CASES, ids=range(len(CASES)))
@pytest.mark.parametrize("method", ["kemeny_young", "borda", "average"])
def test_leave_one_out_by_definition(ranks: FloatArray, method: str) -> None:
    found = leave_one_out(ranks, method=method, how=Resampling(draws=5))
    assert found.method == method
    whole = np.nanmean(aggregate_items(ranks, method), axis=0)
    np.testing.assert_allclose(found.mean_ranks, whole)
    for r in range(ranks.shape[1]):
        others = aggregate_items(np.delete(ranks, r, axis=1), method)
        shares = []
        for ballot, order in zip(ranks[:, r], others, strict=True):
            signs = [
                (np.sign(ballot[i] - ballot[j]), np.sign(round(order[i] - order[j], 9)))
                for i, j in combinations(range(len(order)), 2)
            ]
            both = [x * y for x, y in signs if x * y in (1, -1)]
            if both:
                shares.append(both.count(-1) / len(both))
        np.testing.assert_allclose(found.distances[r].value, np.mean(shares))
        assert found.distances[r].n_items == len(shares)
        without = np.nanmean(others, axis=0)
        np.testing.assert_allclose(found.mean_ranks_without[r], without)
        before = [1 + sum(round(x - y, 9) > 0 for y in whole) for x in whole]
        after = [1 + sum(round(x - y, 9) > 0 for y in without) for x in without]
        np.testing.assert_array_equal(found.shifts[r], np.subtract(after, before))
        first = [place == 1 for place in before] != [place == 1 for place in after]
        assert found.first_changes[r] is first
        tau = kendalltau(whole.round(9), without.round(9)).statistic
        np.testing.assert_allclose(found.kendall[r].value, tau)


def test_a_contrarian_is_far_from_the_others() -> None:
    ranks = panel(5, 40, 5, 6)
    ranks[:, 4] = 7 - panel(50, 40, 1, 6)[:, 0]
    found = leave_one_out(ranks)
    far = found.distances[4]
    assert far.lower > max(0.5, *(one.value for one in found.distances[:4]))
    chance = leave_one_out(by_lot(0, (300, 5, 6)), how=Resampling(draws=200)).distances
    assert all(one.lower < 0.5 < one.upper for one in chance)


def test_one_reviewer_decides_who_is_first() -> None:
    # Model 0 is first for reviewer 0, model 1 for reviewer 1; 2 to 4 are even about the two.
    ranks = np.repeat([table("123", "213", "123", "213", "123")], 3, axis=0)
    found = leave_one_out(ranks)
    np.testing.assert_array_equal(found.mean_ranks, [1, 2, 3])
    # Without one of the majority 0 and 1 are even, and share the first place.
    assert found.first_changes == (True, False, True, False, True)
    np.testing.assert_array_equal(found.shifts[0], [0, -1, 0])
    np.testing.assert_array_equal(found.shifts[1], [0, 0, 0])


def test_a_silent_reviewer_changes_nothing() -> None:
    ranks = panel(6, 5, 4, 4)
    ranks[:, 2] = NAN
    found = leave_one_out(ranks)
    assert math.isnan(found.distances[2].value)
    assert found.distances[2].reason == Reason("no_pair_of_both")
    np.testing.assert_array_equal(found.shifts[2], [0, 0, 0, 0])
    assert found.first_changes[2] is False
    np.testing.assert_allclose(found.kendall[2].value, 1)


def test_a_panel_of_one() -> None:
    found = leave_one_out(panel(7, 5, 1, 4))
    assert np.isnan(found.shifts).all()
    assert found.first_changes == (None,)
    assert math.isnan(found.kendall[0].value)
    assert found.kendall[0].reason is not None
    assert math.isnan(found.distances[0].value)


def test_places_are_among_models_that_both_rank() -> None:
    # Only reviewer 0 ranks model 0, the best: without it the others keep their places.
    ranks = np.repeat([table("1234", "-123", "-123")], 2, axis=0)
    found = leave_one_out(ranks)
    np.testing.assert_array_equal(found.shifts[0], [NAN, 0, 0, 0])


@pytest.mark.parametrize(("n", "method"), [(12, "kemeny_young"), (13, "borda")])
def test_the_default_method(n: int, method: str) -> None:
    assert leave_one_out(panel(8, 2, 3, n), how=Resampling(draws=5)).method == method
    assert (
        leave_one_out(panel(8, 2, 3, n), method="copeland", how=Resampling(draws=5)).method
        == "copeland"
    )


@pytest.mark.slow
@settings(deadline=None, max_examples=25)
@given(
    st.integers(0, 10**6),
    st.permutations(range(4)),
    st.permutations(range(5)),
    st.sampled_from(sorted(set(AGGREGATORS) - {"irv", "dodgson"})),
)
def test_numbering_does_not_matter(
    seed: int, reviewers: list[int], models: list[int], method: str
) -> None:
    ranks = panel(seed, 4, 4, 5, levels=4)
    models = models if method not in {"kemeny_young", "kendall"} else list(range(5))
    first = leave_one_out(ranks, method=method, how=Resampling(draws=10))
    second = leave_one_out(
        ranks[:, reviewers][:, :, models], method=method, how=Resampling(draws=10)
    )
    np.testing.assert_array_equal(second.shifts, first.shifts[reviewers][:, models])
    assert second.first_changes == tuple(first.first_changes[r] for r in reviewers)
    np.testing.assert_allclose(
        [one.lower for one in second.distances], [first.distances[r].lower for r in reviewers]
    )


# The order shown.


def by_lot(seed: int, shape: tuple[int, int, int]) -> FloatArray:
    draws = np.random.default_rng(seed).random(shape)
    return (draws.argsort(axis=2).argsort(axis=2) + 1).astype(np.float64)


def test_presentation_by_hand() -> None:
    shown = np.stack([table("123"), table("321"), table("231"), table("132"), table("12-")])
    ranks = np.stack([table("123"), table("123"), table("132"), table("111"), table("12-")])
    (found,) = presentation_bias(ranks, shown)
    # τ: 1; −1; places 2 3 1 and ranks 1 3 2: one pair of three the other way: 1/3; none; 1.
    np.testing.assert_allclose(found.tau.value, (1 - 1 + 1 / 3 + 1) / 4)
    assert found.tau.n_items == 4
    assert found.n_ballots == 5
    np.testing.assert_allclose(found.repeated, 2 / 5)
    np.testing.assert_allclose(found.reversed, 1 / 5)
    np.testing.assert_allclose(found.all_tied, 1 / 5)
    np.testing.assert_allclose(found.by_chance, (4 / 6 + 1 / 2) / 5)
    assert found.bound is None  # five ballots cannot show it at 95%: 2 / 2⁵ = 0.06


def test_only_what_is_both_shown_and_ranked_counts() -> None:
    # Identical answers are shown as one: places 1 1 2. A partial ballot; nothing; one answer.
    shown = np.stack([table("112-"), table("1234"), table("1234"), table("-12-"), table("11--")])
    ranks = np.stack([table("112-"), table("-1-2"), table("----"), table("2-13"), table("11--")])
    (found,) = presentation_bias(ranks, shown)
    assert (found.n_ballots, found.tau.n_items) == (2, 2)
    assert (found.repeated, found.reversed, found.all_tied) == (1, 0, 0)
    # Two different places in both.
    assert found.by_chance == 0.5
    assert found.tau.value == 1


@pytest.mark.parametrize(("sign", "repeated"), [(1, 1), (-1, 0)])
def test_a_bound_reviewer_among_fair_ones(sign: int, repeated: int) -> None:
    shown, ranks = by_lot(0, (30, 5, 6)), panel(9, 30, 5, 6)
    ranks[:, 3] = sign * shown[:, 3]
    found = presentation_bias(ranks, shown)
    assert [one.bound for one in found] == [False, False, False, True, False]
    assert (found[3].tau.value, found[3].tau.lower, found[3].tau.upper) == (sign, sign, sign)
    assert (found[3].repeated, found[3].reversed) == (repeated, 1 - repeated)
    assert found[3].p < 0.001
    np.testing.assert_allclose(found[0].by_chance, 1 / 720)
    assert presentation_bias(-ranks, shown)[3].tau.value == -sign


def test_a_half_bound_reviewer_and_the_tolerance() -> None:
    # In half of the items it repeats the order: τ is about ½.
    shown, ranks = by_lot(1, (60, 4, 5)), panel(10, 60, 4, 5)
    ranks[:30, 0] = shown[:30, 0]
    found = presentation_bias(ranks, shown)
    assert [one.bound for one in found] == [True, False, False, False]
    assert 0.25 < found[0].tau.lower < 0.5 < found[0].tau.upper < 0.75
    assert 0.5 <= found[0].repeated < 0.6
    assert presentation_bias(ranks, shown, tolerance=0.8)[0].bound is False


def test_taus_are_means_over_rows() -> None:
    shown, ranks = by_lot(2, (12, 3, 5)), panel(11, 12, 3, 5, holes=0.2, levels=3)
    for r, found in enumerate(presentation_bias(ranks, shown, how=Resampling(draws=5))):
        taus = []
        for places, ballot in zip(shown[:, r], ranks[:, r], strict=True):
            known = ~np.isnan(ballot)
            if known.sum() > 1 and np.ptp(ballot[known]) > 0:
                taus.append(kendalltau(places[known], ballot[known]).statistic)
        np.testing.assert_allclose(found.tau.value, np.mean(taus))
        assert found.tau.n_items == len(taus)


@pytest.mark.slow
def test_false_alarms_are_rare() -> None:
    # Panels of eight fair reviewers: the rule holds for all of them together.
    few = [
        presentation_bias(panel(s, 12, 8, 4), by_lot(s + 999, (12, 8, 4)), how=Resampling(draws=2))
        for s in range(60)
    ]
    assert sum(any(one.bound for one in found) for found in few) <= 3  # 1% of 60 is 0.6
    # Single p-values would give at least one in a third of the panels.
    assert sum(any(one.p <= 0.05 for one in found) for found in few) <= 8
    many = [
        presentation_bias(panel(s, 50, 8, 6), by_lot(s + 999, (50, 8, 6)), how=Resampling(draws=2))
        for s in range(5)
    ]
    assert not any(one.bound for found in many for one in found)


def test_p_values_are_for_all_reviewers() -> None:
    shown, ranks = by_lot(3, (10, 4, 4)), panel(12, 10, 4, 4)
    ranks[:, 0] = shown[:, 0]
    # All ten have τ = 1: 2 / 2¹⁰, times four reviewers.
    np.testing.assert_allclose(presentation_bias(ranks, shown)[0].p, 4 * 2 / 2**10)
    np.testing.assert_allclose(presentation_bias(ranks[:, :1], shown[:, :1])[0].p, 2 / 2**10)


@pytest.mark.parametrize(("rows", "bound"), [(7, None), (8, True)])
def test_too_few_ballots_to_tell(rows: int, bound: bool | None) -> None:
    shown = by_lot(4, (rows, 1, 5))
    # 2 / 2⁷ = 0.016 and 2 / 2⁸ = 0.008.
    assert presentation_bias(shown, shown)[0].bound is bound


def test_a_reviewer_without_ballots() -> None:
    shown, ranks = by_lot(5, (20, 3, 5)), panel(13, 20, 3, 5)
    ranks[:, 1] = NAN
    ranks[:, 2] = 1
    fair, silent, indifferent = presentation_bias(ranks, shown)
    assert fair.bound is False
    assert (silent.bound, silent.n_ballots) == (None, 0)
    assert math.isnan(silent.tau.value)
    assert math.isnan(silent.p)
    assert math.isnan(silent.repeated)
    assert math.isnan(silent.by_chance)
    assert silent.tau.reason == Reason("no_order_to_follow")
    assert (indifferent.bound, indifferent.n_ballots, indifferent.all_tied) == (None, 20, 1)
    assert (indifferent.repeated, indifferent.reversed) == (0, 0)


@pytest.mark.slow
@settings(deadline=None, max_examples=20)
@given(st.integers(0, 10**6), st.permutations(range(4)), st.permutations(range(5)))
def test_numbering_does_not_matter_for_places(
    seed: int, reviewers: list[int], models: list[int]
) -> None:
    shown, ranks = by_lot(seed, (12, 4, 5)), panel(seed, 12, 4, 5, levels=4, holes=0.1)
    first = presentation_bias(ranks, shown, how=Resampling(draws=10))
    second = presentation_bias(
        ranks[:, reviewers][:, :, models],
        shown[:, reviewers][:, :, models],
        how=Resampling(draws=10),
    )
    for place, reviewer in enumerate(reviewers):
        one, other = first[reviewer], second[place]
        np.testing.assert_allclose(
            [other.tau.value, other.tau.lower, other.p, other.repeated, other.by_chance],
            [one.tau.value, one.tau.lower, one.p, one.repeated, one.by_chance],
            atol=1e-9,
        )
        assert other.bound == one.bound


# Both.


def test_epochs_are_drawn_together_and_seeds_decide() -> None:
    ranks, shown = panel(14, 15, 4, 5), by_lot(6, (15, 4, 5))
    twice, items = np.repeat(ranks, 2, axis=0), np.repeat(np.arange(15), 2)
    once = leave_one_out(ranks).distances
    again = leave_one_out(twice, items=items).distances
    np.testing.assert_allclose([one.lower for one in again], [one.lower for one in once])
    assert again[0].n_items == 15
    assert (
        leave_one_out(ranks, how=Resampling(seed=1)).distances
        == leave_one_out(ranks, how=Resampling(seed=1)).distances
    )
    assert leave_one_out(ranks, how=Resampling(seed=1)).distances != once
    first = presentation_bias(ranks, shown)
    second = presentation_bias(twice, np.repeat(shown, 2, axis=0), items=items)
    np.testing.assert_allclose([x.tau.upper for x in second], [x.tau.upper for x in first])
    assert presentation_bias(ranks, shown, how=Resampling(seed=1)) == presentation_bias(
        ranks, shown, how=Resampling(seed=1)
    )


# Three models that review each other, two items. In item 1 each puts itself first and otherwise
# agrees with a > b > c; in item 2 all three say b > a > c.
SELFISH = np.stack([table("123", "213", "231"), table("213", "213", "213")])


def test_by_hand() -> None:
    views = peer_views(SELFISH, [0, 1, 2])
    assert views.method == "kemeny_young"
    np.testing.assert_array_equal(views.self_ranks, [[1, 1, 1], [2, 1, 3]])
    # Item 1: a is second for b and for c; b second for a, third for c; c third for a and b.
    np.testing.assert_array_equal(views.peer_ranks, [[2, 2.5, 3], [2, 1, 3]])
    np.testing.assert_array_equal(views.sr, [1.5, 1, 2])
    np.testing.assert_array_equal(views.pr, [2, 1.75, 3])
    np.testing.assert_array_equal(views.gaps, [[1, 1.5, 2], [0, 0, 0]])
    np.testing.assert_array_equal(views.gap, [0.5, 0.75, 1])
    # Item 1, all ballots: a beats b 2–1 (reviewers a, c), a beats c 2–1, b beats c 2–1.
    # Without own ranks: "b > c", "a > c", "a > b", the same order; item 2 is b, a, c in both.
    np.testing.assert_array_equal(views.inclusive, [[1, 2, 3], [2, 1, 3]])
    np.testing.assert_array_equal(views.self_free, [[1, 2, 3], [2, 1, 3]])
    np.testing.assert_array_equal(views.sia, [1.5, 1.5, 3])
    np.testing.assert_array_equal(views.sfa, [1.5, 1.5, 3])


def test_the_self_free_view_ignores_own_ranks() -> None:
    # c puts itself first and is alone in that; without its own rank it is last for everybody.
    ranks = np.stack([table("123", "213", "231", "231")])
    views = peer_views(ranks, [0, 1, 2, 2])
    # c against a: 2–2; c against b: 2–2; a against b: 3–1.
    assert views.inclusive[0, 2] < 3
    np.testing.assert_array_equal(views.self_free, [[1, 2, 3]])
    np.testing.assert_array_equal(views.self_ranks, [[1, 1, 1]])  # c: the mean of two ballots
    np.testing.assert_array_equal(views.peer_ranks, [[2, (2 + 3 + 3) / 3, 3]])


def test_a_judge_that_is_no_candidate_is_a_peer_of_all() -> None:
    views = peer_views([[[1, 2], [2, 1], [2, 1]]], [0, None, None])
    np.testing.assert_array_equal(views.self_ranks, [[1, NAN]])
    np.testing.assert_array_equal(views.peer_ranks, [[2, (2 + 1 + 1) / 3]])
    np.testing.assert_array_equal(views.gaps, [[1, NAN]])
    np.testing.assert_array_equal(views.gap, [1, NAN])


def test_failed_reviewers_and_absent_answers() -> None:
    # Item 1: reviewer a failed. Item 2: c is absent. Item 3: nothing. Item 4: only "b" is ranked.
    ranks = np.stack([table("---", "213", "231"), table("12-", "12-", "21-"), table(*["---"] * 3)])
    ranks = np.concatenate([ranks, [table("-1-", "---", "---")]])
    views = peer_views(ranks, [0, 1, 2])
    np.testing.assert_array_equal(views.self_ranks, table("-11", "12-", "---", "---"))
    # Item 1: a is second for b and c, b third for c, c third for b.
    # Item 2: a is first for b, second for c; b second for a, first for c.
    np.testing.assert_array_equal(
        views.peer_ranks, [[2, 3, 3], [1.5, 1.5, NAN], [NAN] * 3, [NAN] * 3]
    )
    np.testing.assert_array_equal(views.sr, [1, 1.5, 1])
    np.testing.assert_array_equal(views.pr, [1.75, 2.25, 3])
    # The gap is over the items with both: a has item 2 only, so it is not pr − sr.
    np.testing.assert_array_equal(views.gap, [0.5, (2 - 0.5) / 2, 2])
    assert np.isnan(views.inclusive[2:]).all()
    assert not np.isnan(views.inclusive[0]).any()
    np.testing.assert_array_equal(np.isnan(views.inclusive[1]), [False, False, True])
    # Item 2 without own ranks: only c's ballot compares a and b.
    np.testing.assert_array_equal(views.self_free[1], [2, 1, NAN])


@pytest.mark.parametrize("method", AGGREGATORS)
@pytest.mark.parametrize("seed", range(3))
def test_against_the_definitions(method: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 4
    ranks = np.stack([partial(tied(uniform(rng, 5, n), 4), rng, 0.15) for _ in range(5)])
    own: Sequence[int | None] = [0, 1, 2, 3, None]
    views = peer_views(ranks * 10, own, method=method)
    masked = ranks.copy()
    for reviewer, column in enumerate(own):
        if column is not None:
            masked[:, reviewer, column] = NAN
    np.testing.assert_array_equal(views.inclusive, aggregate_items(ranks, method))
    np.testing.assert_array_equal(views.self_free, aggregate_items(masked, method))
    for item in range(5):
        for model in range(n):
            given: list[list[float]] = [[], []]
            for reviewer, column in enumerate(own):
                place = place_in(ranks[item, reviewer], model)
                if place is not None:
                    given[column == model].append(place)
            peers, self = (float(np.mean(part)) if part else NAN for part in given)
            np.testing.assert_allclose(views.peer_ranks[item, model], peers)
            np.testing.assert_allclose(views.self_ranks[item, model], self)


def place_in(ballot: NDArray[np.float64], model: int) -> float | None:
    """Mean rank of a model in a ballot that ranks at least two, itself among them."""
    ranked = ballot[~np.isnan(ballot)]
    if len(ranked) < 2 or np.isnan(ballot[model]):
        return None
    return float(np.sum(ranked < ballot[model]) + (np.sum(ranked == ballot[model]) + 1) / 2)


def test_kendall_has_no_self_free_view() -> None:
    views = peer_views(SELFISH, [0, 1, 2], method="kendall")
    np.testing.assert_array_equal(views.sia, [1.5, 1.5, 3])
    assert np.isnan(views.sfa).all()


def test_the_gap_has_an_interval_over_items() -> None:
    rng = np.random.default_rng(5)
    ranks = np.stack([uniform(rng, 4, 4) for _ in range(60)])
    for model in range(4):  # everybody puts itself first
        ranks[:, model, model] = 0
    views = peer_views(ranks, range(4))
    np.testing.assert_array_equal(views.sr, [1, 1, 1, 1])
    interval = bootstrap_items(views.gaps, how=Resampling(seed=1))
    np.testing.assert_allclose(interval.mean, views.gap)
    assert np.all(interval.lower > 0.5)
    np.testing.assert_allclose(views.gap, views.pr - views.sr)


def place(model: int, third: list[int], ballot: NDArray[np.float64]) -> float:
    below = [0.5 * (ballot[m] == ballot[model]) + (ballot[m] < ballot[model]) for m in third]
    return 1 + float(sum(below))


def test_fair_gaps_by_definition() -> None:
    random = np.random.default_rng(4)
    # Partial ballots with ties; two reviewers are no candidates.
    ranks = random.integers(1, 4, size=(60, 5, 4)).astype(float)
    ranks[random.random(ranks.shape) < 0.3] = np.nan
    own = [2, 0, None, 3, None]
    found = fair_gaps(ranks, own)
    for ballots, row in zip(ranks, found, strict=True):
        for model in range(4):
            if model not in own:
                assert np.isnan(row[model])
                continue
            mine, gaps = ballots[own.index(model)], []
            for reviewer, theirs in enumerate(ballots):
                third = [
                    m for m in range(4)
                    if m not in (model, own[reviewer]) and not np.isnan(mine[m] + theirs[m])
                ]  # fmt: skip
                if own[reviewer] == model or not third or np.isnan(mine[model] + theirs[model]):
                    continue
                gaps.append(place(model, third, theirs) - place(model, third, mine))
            assert row[model] == pytest.approx(np.mean(gaps) if gaps else np.nan, nan_ok=True)
    assert 0.1 < np.mean(np.isnan(found[:, [0, 2, 3]])) < 0.9
