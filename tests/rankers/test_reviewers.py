import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import kendalltau

from tests.rankers.ballots import FloatArray, panel, partial, tied, uniform
from tests.rankers.voting.tables import table
from tiebreak.rankers import Resampling
from tiebreak.rankers.aggregation import aggregate_items
from tiebreak.rankers.aggregators import AGGREGATORS
from tiebreak.rankers.reviewers import fair_gaps, leave_one_out, peer_views, presentation_bias
from tiebreak.reason import Reason

NAN = math.nan


# With and without each reviewer.


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


@pytest.mark.parametrize(("n", "method"), [(12, "kemeny_young"), (13, "borda")])
def test_the_default_method(n: int, method: str) -> None:
    assert leave_one_out(panel(8, 2, 3, n), how=Resampling(draws=5)).method == method
    assert (
        leave_one_out(panel(8, 2, 3, n), method="copeland", how=Resampling(draws=5)).method
        == "copeland"
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


# Both.


@pytest.mark.parametrize("method", AGGREGATORS)
@pytest.mark.parametrize("seed", range(3))
def test_against_the_definitions(method: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 4
    ranks = np.stack([partial(tied(uniform(rng, 5, n), 4), rng, 0.15) for _ in range(5)])
    ranks[0, 1], ranks[1, :, 2], ranks[2] = NAN, NAN, NAN  # a reviewer failed, no answer, nothing
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
    np.testing.assert_array_equal(views.gaps, views.peer_ranks - views.self_ranks)
    for figure, of_items in (
        (views.sr, views.self_ranks),
        (views.pr, views.peer_ranks),
        (views.gap, views.gaps),  # over the items with both, so it is not pr − sr
        (views.sia, views.inclusive),
        (views.sfa, views.self_free),
    ):
        np.testing.assert_allclose(figure, np.nanmean(of_items, axis=0))


def place_in(ballot: NDArray[np.float64], model: int) -> float | None:
    """Mean rank of a model in a ballot that ranks at least two, itself among them."""
    ranked = ballot[~np.isnan(ballot)]
    if len(ranked) < 2 or np.isnan(ballot[model]):
        return None
    return float(np.sum(ranked < ballot[model]) + (np.sum(ranked == ballot[model]) + 1) / 2)


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


def test_places_are_among_models_that_both_rank() -> None:
    # Only reviewer 0 ranks model 0, the best: without it the others keep their places.
    ranks = np.repeat([table("1234", "-123", "-123")], 2, axis=0)
    found = leave_one_out(ranks)
    np.testing.assert_array_equal(found.shifts[0], [NAN, 0, 0, 0])


def test_a_half_bound_reviewer_and_the_tolerance() -> None:
    # In half of the items it repeats the order: τ is about ½.
    shown, ranks = by_lot(1, (60, 4, 5)), panel(10, 60, 4, 5)
    ranks[:30, 0] = shown[:30, 0]
    found = presentation_bias(ranks, shown)
    assert [one.bound for one in found] == [True, False, False, False]
    assert 0.25 < found[0].tau.lower < 0.5 < found[0].tau.upper < 0.75
    assert 0.5 <= found[0].repeated < 0.6
    assert presentation_bias(ranks, shown, tolerance=0.8)[0].bound is False
