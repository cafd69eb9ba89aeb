"""What `--scores mean-rank` correlates, and why the paper's Average needs it (Peer review, F)."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

from tests.analysis.alignment.panels import NAN, noisy, panel, people
from tiebreak.analysis.alignment import Rater, Scores, align_panels
from tiebreak.analysis.peers.panel import Panel
from tiebreak.rankers import RankingError, Resampling, peer_views
from tiebreak.rankers.agreement import spearman_many
from tiebreak.rankers.profile import FloatArray, within_ballots

METHODS = ("average", "borda", "kemeny_young")
GIVEN = ("average", "SR", "PR")

# Tables 1 and 6 to 13: the largest Pearson of Avg on each benchmark.
MAXIMA = (0.968, 0.975, 0.945, 0.959, 0.990, 0.978, 0.876, 0.983, 0.962)
# Six ballots of six whose mean ranks give table 1's, against people who say a, b, c, d, e, f.
AS_IN_TABLE_1 = ("132465", "561243", "231456", "126543", "214356", "123456")


def raters(of: Panel, scores: Scores, order: str = "abcdef") -> dict[str, Rater]:
    [one] = align_panels(
        [of], people(order), methods=METHODS, scores=scores, how=Resampling(draws=20)
    ).benchmarks
    return {rater.name: rater for rater in one.raters}


def test_no_order_of_six_gives_what_the_paper_prints() -> None:
    """All 4,683 orders with ties, of which the one that ties all has no correlation."""
    orders = np.unique(within_ballots(np.array(list(product(range(6), repeat=6)))), axis=0)
    assert len(orders) == 4683
    rho = spearman_many(orders, np.arange(6.0))
    assert not set(MAXIMA) & set(rho.round(3).tolist())
    # Without ties: 1 − 6Σd²/210, where Σd² is even.
    strict = rho[[len(set(order)) == 6 for order in orders.tolist()]]
    assert len(strict) == 720
    np.testing.assert_allclose(strict * 35 / 2 % 1, 0.5, atol=1e-9)


def test_mean_ranks_give_it() -> None:
    ballots = np.array([[[int(digit) for digit in row] for row in AS_IN_TABLE_1]])
    of = panel(np.repeat(ballots, 2, axis=0))
    assert raters(of, "mean-rank")["average"].pearson.maximum == pytest.approx(0.968, abs=5e-4)
    assert round(raters(of, "order")["average"].pearson.maximum, 3) not in MAXIMA


def mean_ranks(table: FloatArray) -> FloatArray:
    """By SciPy: mean over the ballots that rank two models, of the rank within the ballot."""
    places = np.full(table.shape, NAN)
    for at in np.ndindex(table.shape[:2]):
        if np.sum(~np.isnan(table[at])) > 1:
            places[at] = stats.rankdata(table[at], nan_policy="omit")
    n = np.sum(~np.isnan(places), axis=1)
    return np.where(n > 0, np.nansum(places, axis=1) / np.maximum(n, 1), NAN)


@pytest.mark.parametrize("seed", range(3))
def test_item_by_item_as_scipy_does(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = noisy(10, 6, 6, seed=seed, apart=0.3)
    table[rng.random(table.shape) < 0.2] = NAN
    table[:3] = np.ceil(table[:3] / 2)
    of, order = panel(table), ("badcfe", "fedcba", "dbaec")[seed]
    columns = [k for k in range(6) if "abcdef"[k] in order]
    human = np.array([order.index("abcdef"[k]) for k in columns])
    views = peer_views(table, of.own)
    given = {"average": mean_ranks(table), "SR": views.self_ranks, "PR": views.peer_ranks}
    by_order, found = raters(of, "order", order), raters(of, "mean-rank", order)
    for name, ranks in given.items():
        expected = []
        for row in ranks[:, columns]:
            known = ~np.isnan(row)
            there = known.sum() > 1 and np.ptp(row[known]) > 1e-9
            expected.append(stats.pearsonr(row[known], human[known]).statistic if there else NAN)
        np.testing.assert_allclose(found[name].pearson.values, expected, atol=1e-12)
        means = np.nanmean(ranks[:, columns], axis=0)
        macro = stats.pearsonr(means, human).statistic
        assert found[name].pearson.macro.value == pytest.approx(macro)
        # Kendall's is of orders in any case.
        tau, ordered = found[name].kendall.values, by_order[name].kendall.values
        np.testing.assert_allclose(tau, ordered, atol=1e-12)
    for name in set(found) - set(GIVEN):
        for figure, usual in (
            (found[name].pearson, by_order[name].pearson),
            (found[name].kendall, by_order[name].kendall),
        ):
            np.testing.assert_array_equal(figure.values, usual.values)
            np.testing.assert_equal(figure.macro.value, usual.macro.value)


def test_other_scores_are_refused() -> None:
    with pytest.raises(RankingError, match="'order' or 'mean-rank', got 'borda'"):
        raters(panel(noisy(2, 3, 3, seed=0)), "borda")  # type: ignore[arg-type]
