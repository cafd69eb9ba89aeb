"""The four views of a peer review beside people (Peer review, figure 4), by brute force."""

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy import stats

from tests.analysis.alignment.panels import NAN, noisy, panel, people
from tests.expected import check
from tiebreak.analysis.alignment import BenchmarkAlignment, Rater, Scores, align_panels
from tiebreak.analysis.peers.panel import Panel
from tiebreak.rankers import RankingError, Resampling, aggregate_items, peer_views
from tiebreak.rankers.agreement import spearman_many
from tiebreak.rankers.errors import UnprovenOrderError
from tiebreak.rankers.profile import FloatArray, within_ballots
from tiebreak.reason import Reason

VIEWS = ("SR", "PR", "SIA", "SFA")

# Three models that review each other, two items. In item 1 each puts itself first and otherwise
# agrees with a > b > c; in item 2 all three say b > a > c.
SELFISH = [[[1, 2, 3], [2, 1, 3], [2, 3, 1]], [[2, 1, 3]] * 3]


def views_of(
    of: Panel, order: str, methods: Sequence[str] | None = ("kemeny_young",)
) -> tuple[BenchmarkAlignment, dict[str, Rater]]:
    [found] = align_panels(
        [of], people(order), methods=methods, how=Resampling(draws=10)
    ).benchmarks
    views = {one.name: one for one in found.raters if one.kind == "view"}
    assert tuple(views) == VIEWS[: len(views)]
    return found, views


def by_definition(
    ballots: FloatArray, own: Sequence[int | None], columns: Sequence[int]
) -> dict[str, list[float]]:
    """What each view says of each model on one item, from the paper's words."""
    kept = [row if np.sum(~np.isnan(row)) > 1 else np.full_like(row, NAN) for row in ballots]
    places = [stats.rankdata(row, nan_policy="omit") for row in kept]
    peers = [row.copy() for row in kept]
    for number, column in enumerate(own):
        if column is not None:
            peers[number][column] = NAN
    consensus = {"SIA": np.stack(kept), "SFA": np.stack(peers)}
    said: dict[str, list[float]] = {
        name: aggregate_items(table[None])[0][columns].tolist() for name, table in consensus.items()
    }
    for name in ("SR", "PR"):
        means = []
        for model in columns:
            asked = [
                row[model]
                for row, column in zip(places, own, strict=True)
                if (column == model) == (name == "SR") and not math.isnan(row[model])
            ]
            means.append(float(np.mean(asked)) if asked else NAN)
        said[name] = means
    return said


@pytest.mark.parametrize("seed", range(4))
def test_item_by_item_by_definition(seed: int) -> None:
    """Partial, tied and missing ballots, an outsider, models that do not review or are unranked."""
    rng = np.random.default_rng(seed)
    table = noisy(12, 6, 6, seed=seed)
    table = np.ceil(table / rng.choice([1, 2], p=[0.7, 0.3], size=(*table.shape[:2], 1)))
    table[rng.random(table.shape) < 0.15] = NAN
    table[rng.random(table.shape[:2]) < 0.1] = NAN
    own = [0, None, 3, 1, 2, None] if seed % 2 else [0, 1, 2, 3, 4, 5]
    order, columns = ("dbaec", [0, 1, 2, 3, 4]) if seed > 1 else ("fdbaec", [0, 1, 2, 3, 4, 5])
    of = replace(panel(table), own=tuple(own))
    found, views = views_of(of, order)
    human = np.array([order.index("abcdef"[column]) for column in columns])
    expected: dict[str, list[list[float]]] = {name: [] for name in VIEWS}
    for ballots in table:
        for name, said in by_definition(ballots, own, columns).items():
            there = [k for k, rank in enumerate(said) if not math.isnan(rank)]
            x, y = [said[k] for k in there], human[there]
            if len({round(rank, 9) for rank in x}) < 2:
                expected[name].append([NAN, NAN])
            else:
                ranks = stats.rankdata(np.round(x, 9))
                rho = stats.pearsonr(ranks, stats.rankdata(y)).statistic
                expected[name].append([rho, stats.kendalltau(ranks, y).statistic])
    for name, rows in expected.items():
        rho, tau = np.array(rows).T
        np.testing.assert_allclose(views[name].pearson.values, rho, atol=1e-12)
        np.testing.assert_allclose(views[name].kendall.values, tau, atol=1e-12)
        assert views[name].kendall.n_undefined == np.isnan(tau).sum()
    # Over all items SR and PR are what `peers` prints.
    whole = peer_views(table, own)
    for name, means in (("SR", whole.sr), ("PR", whole.pr)):
        asked = means[columns]
        known = ~np.isnan(asked)
        expect = stats.pearsonr(asked[known], human[known]).statistic
        assert views[name].pearson.macro.value == pytest.approx(expect)
    # SIA is the aggregator, item by item and over all items.
    [kemeny] = [one for one in found.raters if one.kind == "aggregator"]
    np.testing.assert_array_equal(views["SIA"].kendall.values, kemeny.kendall.values)
    assert views["SIA"].pearson.macro == kemeny.pearson.macro


def selfish(n_items: int, n: int, **fields: Any) -> Panel:
    table = noisy(n_items, n, n, seed=0)
    for k in range(n):
        table[:, k, k] = 0
    return panel(table, **fields)


def without(of: Panel, *cells: tuple[int | slice, int, int]) -> Panel:
    table = of.ranks.copy()
    for row, reviewer, model in cells:
        table[row, reviewer, model] = NAN
    return replace(of, ranks=table)


ALL = slice(None)
SPARSE = without(panel(noisy(6, 4, 4, seed=0), degree=2), *((ALL, k, k) for k in range(4)))
ALONE = panel(noisy(6, 1, 4, seed=0))
OUTSIDERS = replace(panel(noisy(6, 2, 4, seed=0)), own=(None, None))
SOME = replace(panel(noisy(6, 3, 4, seed=0)), own=(0, 2, None))
NOT_ALWAYS = without(panel(noisy(6, 4, 4, seed=0)), (ALL, 1, 1), (0, 2, 2), (3, 2, 2), (0, 0, 0))


CASES: dict[str, tuple[Panel, bool]] = {
    "sparse": (SPARSE, True),
    "alone": (ALONE, True),
    "outsiders": (OUTSIDERS, True),
    # Where both give themselves the same rank there is nothing to compare.
    "some": (SOME, False),
    "not always": (NOT_ALWAYS, False),
    "selfish": (selfish(6, 4), True),
}


def test_what_a_view_cannot_say_is_named() -> None:
    lines = []
    for name, (of, defined) in CASES.items():
        found, views = views_of(of, "abcd")
        if defined:
            assert [views[view].pearson.n_rows for view in VIEWS] == [0, 6, 6, 6]
        notes = [
            text for text in map(str, found.notes) if text.startswith("No S") or " PR " in text
        ]
        lines.append(f"{name}: {'; '.join(notes)}\n")
        for one in views.values():
            assert one.pearson.n_rows + one.pearson.n_undefined == 6
            if not one.pearson.n_rows:
                assert math.isnan(one.kendall.mean.value)
                assert one.kendall.mean.reason == Reason("rater_ties_each_item")
    check(__file__, "views.txt", "".join(lines))


def test_kendall_reads_no_ballot_without_own_rank() -> None:
    found, views = views_of(panel(noisy(4, 4, 4, seed=1)), "abcd", ["kendall"])
    assert (views["SIA"].pearson.n_rows, views["SFA"].pearson.n_rows) == (4, 0)
    nobody = Reason("unranked_by_other_ballots", method="kendall")
    assert Reason("no_view_of", view="SFA", models=list("abcd"), why=nobody) in found.notes


def test_a_consensus_that_is_not_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(ranks: FloatArray, method: str) -> FloatArray:
        raise UnprovenOrderError("no order in time")

    monkeypatch.setattr("tiebreak.analysis.alignment.aggregate_items", fails)
    found, views = views_of(panel(SELFISH), "abc")
    assert tuple(views) == ("SR", "PR")
    assert views["PR"].pearson.values.tolist() == pytest.approx([1, 0.5])
    for name in ("kemeny_young", "SFA"):
        assert Reason("no_result", name=name, error="no order in time") in found.notes
    assert Reason("no_sia", method="kemeny_young") in found.notes


# --- What `--scores mean-rank` correlates, and why the paper's Average needs it (Peer review, F).


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
