import math
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.rankers.ballots import partial, tied, uniform
from tests.rankers.voting.tables import table
from tiebreak.rankers import Resampling, bootstrap_items
from tiebreak.rankers.aggregation import aggregate_items
from tiebreak.rankers.aggregators import AGGREGATORS
from tiebreak.rankers.errors import RankingError
from tiebreak.rankers.reviewers import fair_gaps, peer_views

NAN = math.nan

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


@pytest.mark.parametrize(
    ("own", "message"),
    [
        ([0, 1], "2 entries in own for 3 reviewers"),
        ([0, 1, 3], "reviewer 2 is given as candidate 3"),
        ([0, -1, 2], "reviewer 1 is given as candidate -1"),
    ],
)
def test_a_wrong_own(own: list[int], message: str) -> None:
    with pytest.raises(RankingError, match=message):
        peer_views(SELFISH, own)


def test_wrong_ranks_and_methods() -> None:
    with pytest.raises(RankingError, match="items, ballots, candidates"):
        peer_views(SELFISH[0], [0, 1, 2])
    with pytest.raises(RankingError, match="no method 'mean'"):
        peer_views(SELFISH, [0, 1, 2], method="mean")


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
