"""Self-preference: verdicts by hand, and planted biases with their expected gaps."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import norm, permutation_test

from tests.analysis.alignment.panels import panel as of_ranks
from tests.analysis.peers.builders import by_scores, panel_of, reviews
from tests.cases import cases
from tiebreak.analysis.peers.panel import Panel
from tiebreak.analysis.peers.self_preference import SelfPreference, self_preference
from tiebreak.rankers import Resampling, fair_gaps, peer_views
from tiebreak.rankers.pairwise_tests import holm
from tiebreak.rankers.profile import within_ballots
from tiebreak.reason import Reason
from tiebreak.scorers.ballots import ItemBallots

# What the reviewers of the planted panels add to their own answers, and how good these are.
BIAS = np.array([2.0, 1.0, 0.0, 0.0, -1.0])
MEANS = np.array([0.3, 0.0, 0.6, -0.4, 0.1])
SHARED, NOISE = 0.7, 1.0


def verdicts(
    panel: Panel, method: str = "kemeny_young", **options: float
) -> dict[str, SelfPreference]:
    how = Resampling(**{"draws": 300} | options)  # type: ignore[arg-type]
    views = peer_views(panel.ranks, panel.own, method=method)
    return {row.model: row for row in self_preference(panel, views, how)}


def same(n: int, ballots: Mapping[str, str | None]) -> list[ItemBallots]:
    return [reviews(f"q{k}", ballots) for k in range(n)]


def planted(
    n_items: int, rng: np.random.Generator, bias: NDArray[np.float64] = BIAS
) -> NDArray[np.float64]:
    """What each reviewer thinks of each answer, shape (items, R, N)."""
    n = len(MEANS)
    quality = rng.normal(MEANS, SHARED, size=(n_items, 1, n))
    return quality + rng.normal(0, NOISE, size=(n_items, n, n)) + np.diag(bias)


def expected_gaps() -> NDArray[np.float64]:
    """PR − SR: a rank is 1 and the number of answers above it, and these chances add up."""
    apart = np.sqrt(2 * (SHARED**2 + NOISE**2))

    def rank(model: int, reviewer: int) -> float:
        seen = MEANS + BIAS * (np.arange(len(MEANS)) == reviewer)
        above = norm.cdf((seen - seen[model]) / apart)
        return 1 + float(above.sum()) - 0.5

    n = len(MEANS)
    return np.array(
        [np.mean([rank(m, r) for r in range(n) if r != m]) - rank(m, m) for m in range(n)]
    )


# Each set of ballots is given by all of eight items: intervals have no width.
CASES = cases(__file__, "verdicts")


@pytest.mark.parametrize("name", CASES)
def test_verdicts(tmp_path: Path, name: str) -> None:
    ballots, gap, remainder = CASES[name]
    row = verdicts(panel_of(tmp_path, *same(8, ballots)))["a"]
    assert (row.gap.value, row.remainder.value) == (gap, remainder)
    assert (row.verdict, row.reason) == (name.split(",")[0], None)


def test_gaps_that_are_none(tmp_path: Path) -> None:
    # a: SR 1, PR 2. Without own ranks c loses more than a does: b then stands level with it, and a
    # remainder on the other side is none.
    ballots = {"a": "abc", "b": "cab", "c": "cab"}
    row = verdicts(panel_of(tmp_path, *same(8, ballots)))["a"]
    assert (row.gap.value, row.remainder.value, row.verdict) == (1, -0.5, "removed")
    # a puts itself first. b does not (it ranks b before c, as a does), but has SR 1 and PR 2: a
    # gap that others make.
    row = verdicts(panel_of(tmp_path, *same(8, {"a": "abc", "b": "bca"})))["b"]
    assert (row.gap.value, row.fair_gap.value, row.verdict) == (1, 0, "none")
    row = verdicts(panel_of(tmp_path, *same(8, {"a": "abc", "b": "bca", "c": "bca"})), "kendall")[
        "a"
    ]
    assert (row.gap.value, row.verdict) == (2, None)
    assert "no item both SIA and SFA" in str(row.reason)


@pytest.mark.slow
def test_no_verdict_and_why(tmp_path: Path) -> None:
    some = {"a": "abc", "b": "acb", "X1": "bca"}
    rows = verdicts(panel_of(tmp_path, *same(8, some)))
    assert (rows["c"].verdict, rows["c"].reason) == (None, Reason("no_reviewer_of_model"))
    assert np.isnan([rows["c"].sr, rows["c"].gap.value]).all()
    assert rows["a"].verdict is not None
    one = verdicts(panel_of(tmp_path, *same(1, some)))["a"]
    assert (one.gap.value, one.verdict) == (1, None)
    assert "at least two items" in str(one.reason)
    # Of two models that are tested one p-value of seven items can be 2 · 2 / 2⁷ at the least.
    for n, verdict in ((6, None), (7, "reduced")):
        row = verdicts(panel_of(tmp_path, *same(n, some)))["b"]
        assert (row.verdict, row.reason == Reason("few_items_to_tell")) == (verdict, n == 6)
    unranked = Reason("own_answer_unranked")
    for ballots in ({"a": "bc", "b": "ac", "c": "ab"}, {"a": None, "b": "bac", "c": "cab"}):
        row = verdicts(panel_of(tmp_path, *same(4, ballots)))["a"]
        assert (row.verdict, row.reason) == (None, unranked)
    others = {"a": "bc", "b": "ac", "c": "ab"}
    sparse = verdicts(panel_of(tmp_path, *same(4, others), degree=2))["a"]
    assert "in sparse mode" in str(sparse.reason)


@pytest.mark.slow
def test_planted_gaps_lie_in_their_intervals() -> None:
    expected = expected_gaps()
    # c and d are fair, and seem to favour themselves all the same.
    assert np.all(expected[:4] > 0.05)
    assert expected[4] < -0.5
    inside, fair, called = [], [], []
    for seed in range(40):
        scores = planted(40, np.random.default_rng(seed))
        panel = of_ranks(within_ballots(-scores))
        rows = list(verdicts(panel, "borda").values())
        gaps = [row.gap for row in rows]
        inside += [gap.lower <= e <= gap.upper for gap, e in zip(gaps, expected, strict=True)]
        fair += [row.fair_gap.lower <= 0 <= row.fair_gap.upper for row in rows[2:4]]
        called += [row.verdict for row in rows[2:4]]
    # 200 and 80 intervals of 95%; three standard errors are 5 and 7 points.
    assert 0.90 <= np.mean(inside) < 1
    assert 0.88 <= np.mean(fair) < 1
    assert called.count("none") >= np.sum(fair)


def test_p_values_are_of_both_gaps_and_of_all_models() -> None:
    scores = planted(12, np.random.default_rng(5))
    panel = of_ranks(within_ballots(-scores))
    views = peer_views(panel.ranks, panel.own, method="borda")
    fair = fair_gaps(panel.ranks, panel.own)
    rows = self_preference(panel, views, Resampling(draws=20))
    alone = []
    for column in range(5):
        p = [
            permutation_test(  # type: ignore[call-overload]
                (x[:, column],), np.mean, permutation_type="samples", n_resamples=np.inf
            ).pvalue
            for x in (views.gaps, fair)
        ]
        apart = rows[column].gap.value * rows[column].fair_gap.value < 0
        alone.append(1 if apart else max(p))
    np.testing.assert_allclose([row.p_adjusted for row in rows], holm(alone))
    assert [row.biased for row in rows] == [p <= 0.05 for p in holm(alone)]
    # Each item twice is not twice as many items.
    twice = of_ranks(np.repeat(panel.ranks, 2, axis=0))
    twice = replace(twice, items=np.repeat(np.arange(12), 2))
    again = self_preference(twice, peer_views(twice.ranks, panel.own), Resampling(draws=20))
    assert [row.p_adjusted for row in again] == pytest.approx([row.p_adjusted for row in rows])


@pytest.mark.slow
def test_a_fair_panel_is_rarely_blamed() -> None:
    blamed, found = 0, []
    for seed in range(120):
        bias = np.array([0, 0, 0, 0, 2.0 * (seed % 2)])
        scores = planted(15, np.random.default_rng(1000 + seed), bias=bias)
        rows = list(verdicts(of_ranks(within_ballots(-scores)), "borda").values())
        blamed += any(row.biased for row in rows[: 5 - seed % 2])
        found += [rows[4].biased] * (seed % 2)
    # 5% of 120 are 6, with a standard deviation of 2.4; by intervals of each model alone 20.
    assert blamed <= 11
    assert np.mean(found) > 0.7


@pytest.mark.slow
def test_verdicts_of_planted_biases_and_the_self_free_view(tmp_path: Path) -> None:
    biased = by_scores(planted(100, np.random.default_rng(7)))
    fair = by_scores(planted(100, np.random.default_rng(7), bias=np.zeros(5)))
    panel, without = panel_of(tmp_path / "1", *biased), panel_of(tmp_path / "2", *fair)
    rows, same_noise = verdicts(panel), verdicts(without)
    assert (rows["c"].verdict, rows["d"].verdict) == ("none", "none")
    assert {rows[model].verdict for model in "abe"} <= {"removed", "reduced"}
    assert rows["a"].gap.lower > 0 > rows["e"].gap.upper
    # The same noise without bias: the self-free view is the same to the last digit, while the
    # inclusive one is not, and a has lost what it gave itself.
    assert [row.sfa for row in rows.values()] == [row.sfa for row in same_noise.values()]
    assert rows["a"].sia < same_noise["a"].sia - 0.1
