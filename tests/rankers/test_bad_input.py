"""Bad input, as data: the call, and the words that help its reader."""

import math
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from tests.rankers.rounds import ROUND, columns
from tests.rankers.voting.tables import table
from tiebreak.rankers.aggregation import aggregate, aggregate_items
from tiebreak.rankers.aggregators import AGGREGATORS
from tiebreak.rankers.agreement import (
    cohen_kappa,
    kendall_tau,
    kendall_tau_many,
    pearson,
    pearson_many,
    resolution_gain,
    spearman,
    spearman_many,
    top1,
    top1_many,
)
from tiebreak.rankers.contests.expected_wins import csd, natural_breaks
from tiebreak.rankers.contests.rounds import tiers, weighted_rounds
from tiebreak.rankers.contests.sensitivity import failure_sensitivity, item_intervals, perturb
from tiebreak.rankers.dependence import effective_votes
from tiebreak.rankers.errors import (
    MissingPackageError,
    MissingScoreError,
    RankingError,
    ReviewGraphError,
)
from tiebreak.rankers.expander import review_graph
from tiebreak.rankers.intervals import ItemDraws, wilson
from tiebreak.rankers.kappa import kappa_estimate, kappa_many
from tiebreak.rankers.kemeny.batch import kemeny_young_batch
from tiebreak.rankers.kemeny.solve import kemeny_young
from tiebreak.rankers.massey import least_squares, least_squares_statistic
from tiebreak.rankers.panel import kendall_w, krippendorff_alpha, reviewer_agreement
from tiebreak.rankers.ranks import competition_ranks, mean_ranks, normalized_borda
from tiebreak.rankers.reviewers import leave_one_out, peer_views, presentation_bias
from tiebreak.rankers.settlement import RankingTest
from tiebreak.rankers.stability import (
    mean_statistic,
    resample_agreement,
    run_to_run,
    subsample_stability,
)
from tiebreak.rankers.strength import bradley_terry, controlled_bradley_terry, elo
from tiebreak.rankers.uncertainty import Resampling, bootstrap_items, bootstrap_leaderboard
from tiebreak.rankers.voting import borda, irv, kendall

NAN, INF = math.nan, math.inf
PANEL = np.tile([[1.0, 2.0, 3.0, 4.0], [2.0, 1.0, 3.0, 4.0], [1.0, 2.0, 4.0, 3.0]], (2, 1, 1))
FULL = RankingTest(2, 1)
FULL.update([0.5, 0.5])
SCORES = np.array([[0.9, 0.2, 0.5, 0.5], [0.8, 0.9, 0.1, 0.5], [0.1, 0.4, 0.6, 0.9]])

Cases = list[tuple[Any, ...]]
"""A function or several, arguments, options, and what the message must hold, an expression."""


# Functions with the same errors.
ITEMS = (aggregate_items, kemeny_young_batch)
OF_PANELS = (reviewer_agreement, krippendorff_alpha, kendall_w, effective_votes, leave_one_out)
PAIRS = (spearman, kendall_tau, pearson, top1, resolution_gain)
MANY = (pearson_many, spearman_many, kendall_tau_many, top1_many)
FITS = (bradley_terry, elo, least_squares, partial(least_squares_statistic, n_items=3))
FITTED = (bradley_terry, elo, least_squares)

BALLOTS: Cases = [
    *((aggregate, ([[1, INF]], method), {}, "infinite") for method in AGGREGATORS),
    (aggregate, ([[1, 2]], "bordo"), {}, "no method 'bordo'; there are kemeny_young, average"),
    (aggregate_items, ([[[1.0]]], "bordo"), {}, "no method 'bordo'; there are kemeny_young, av"),
    (ITEMS, (np.ones((3, 4)),), {}, r"\(items, ballots, candidates\), got \(3, 4\)"),
    (ITEMS, (np.ones((2, 0, 4)),), {}, r"candidates\), got \(2, 0, 4\)"),
    (ITEMS, (np.ones((2, 3, 0)),), {}, r"candidates\), got \(2, 3, 0\)"),
    (ITEMS, ([[[1, 2]], [[INF, 1]]],), {}, "ballot 0 of item 1 gives candidate 0 an inf"),
    (ITEMS, ([[[1, 2], [1, -INF]]],), {}, "ballot 1 of item 0 gives candidate 1 an inf"),
    *(
        (kemeny_young_batch, (np.ones((1, 1, 2)),), {"chunk": n}, "at least one question")
        for n in (0, -1)
    ),
    *(
        (kemeny_young, (np.ones((1, 2)),), wrong, "max_orders must be")
        for wrong in ({"time_limit": -1.0}, {"time_limit": NAN}, {"max_orders": 0})
    ),
    (kemeny_young, ([[1, NAN]],), {}, "'1'"),
    (kemeny_young, ([1.0, 2.0],), {}, r"must have shape \(ballots, candidates\)"),
    (kendall, (table("12-", "-12"),), {}, "none of the 2 ballots ranks all 3"),
    (borda, (table("12-", "--1"),), {}, "'2'"),
    (borda, ([[1, 2]],), {"unranked": "first"}, "'first'"),
    (irv, ([[1, 2]],), {"ties": "coin"}, "'coin'"),
]
PANELS: Cases = [
    (OF_PANELS, (np.ones((3, 4)),), {}, "items, ballots, candidates"),
    (OF_PANELS, (np.full((2, 3, 4), INF),), {}, "infinite rank"),
    (OF_PANELS, (np.ones((0, 3, 4)),), {}, "there is no item"),
    (OF_PANELS, (PANEL,), {"items": [1]}, r"items must have shape \(2,\)"),
    (OF_PANELS, (PANEL,), {"how": Resampling(level=1)}, "level"),
    (effective_votes, (PANEL,), {"native": np.ones((2, 5))}, r"of shape \(2, 4\)"),
    (leave_one_out, (PANEL,), {"method": "mean"}, "no method 'mean'"),
    *((presentation_bias, (PANEL, PANEL), {"tolerance": t}, "tolerance") for t in (-0.1, 1, NAN)),
    *((presentation_bias, (PANEL, PANEL), {"alarm": a}, "alarm") for a in (0, 1, NAN)),
    (presentation_bias, (PANEL, PANEL[:, :2]), {}, "places shown"),
    (peer_views, (PANEL[0], [0, 1, 2]), {}, "items, ballots, candidates"),
    (peer_views, (PANEL, [0, 1, 2]), {"method": "mean"}, "no method 'mean'"),
    (peer_views, (PANEL, [0, 1]), {}, "2 entries in own for 3 reviewers"),
    (peer_views, (PANEL, [0, 1, 4]), {}, "reviewer 2 is given as candidate 4"),
    (peer_views, (PANEL, [0, -1, 2]), {}, "reviewer 1 is given as candidate -1"),
]
GRAPHS: Cases = [
    (review_graph, (4, 1, [0, 1, 2, 3], None), {}, "degree must be 2 to 3"),
    (review_graph, (4, 4, [0, 1, 2, 3], None), {}, "degree must be 2 to 3"),
    (review_graph, (4, 5, [None] * 3, None), {}, "degree must be 2 to 4"),
    (review_graph, (2, 2, [0, 1], None), {}, "let reviewers rank all answers"),
    (review_graph, (1, 2, [None], None), {}, "there are 1 in all"),
    (review_graph, (9, 2, [None] * 7, None), {}, "degree of at least 3"),  # 7·1 + 1 = 8 < 9
    (review_graph, (4, 3, [0, 0], None), {}, "candidate 0 is every reviewer's own"),
]
OWN: Cases = [
    (review_graph, (4, 2, [], None), {}, "no reviewer"),
    (review_graph, (4, 2, [0, 4], None), {}, "reviewer 1 is given as candidate 4"),
    (review_graph, (4, 2, [-1, 0], None), {}, "reviewer 0 is given as candidate -1"),
]
AGREEMENT: Cases = [
    (PAIRS, ([1, 2], [1, 2, 3]), {}, "two arrays of one length"),
    (PAIRS, ([[1, 2]], [[1, 2]]), {}, "two arrays of one length"),
    (PAIRS, ([1, INF], [1, 2]), {}, "finite"),
    (MANY, ([1, 2], [1, 2, 3]), {}, "two arrays of shape"),
    (MANY, (1, 2), {}, "two arrays of shape"),
    (MANY, ([[1, 2]] * 2, [[1, 2]] * 3), {}, "do not go together"),
    (MANY, ([1, INF], [1, 2]), {}, "finite"),
    (MANY, ([1, 2], [1, -INF]), {}, "finite"),
    (cohen_kappa, ([1, 2], [2, 1]), {"weights": "linear"}, "needs labels"),
    (cohen_kappa, ([1, 2], [2, 1]), {"labels": [1, 2, 2]}, "twice"),
    (cohen_kappa, ([1, 2], [2, 1]), {"labels": [1, 3]}, "2 is none of the labels"),
    (cohen_kappa, ([1, 2], [1]), {}, "2 ratings against 1"),
    (kappa_many, ([1, 2, 3],), {}, "shape"),
    (kappa_estimate, (np.stack([np.eye(2), [[0, 1], [0, 0]]]),), {"level": 1}, "level"),
    *((mean_statistic, (scores,), {}, "scores must") for scores in ([1.0, 2.0], [[INF, 0.0]])),
    (
        *(resample_agreement, (mean_statistic(np.eye(2)), mean_statistic(np.eye(2, 3)), 2), {}),
        "do not go together|of shape",
    ),
    *(
        (subsample_stability, (mean_statistic(np.eye(5)), n), options, "expected items")
        for n, options in (
            (0, {}),
            *((5, {"share": s}) for s in (0, 1.01, NAN)),
            (5, {"seeds": []}),
        )
    ),
    *((run_to_run, (scores,), {}, "two runs") for scores in ([[1.0, 2.0]], [1.0, 2.0], [])),
]
STRENGTHS: Cases = [
    *(
        (FITS, (), columns(ROUND) | change, message)
        for change, message in (
            ({"first": [0]}, "one length"),
            ({"first": [], "second": [], "result": [], "items": []}, "no match"),
            ({"first": [0, 1, 2, 0, 3]}, "from 0 to 2"),
            ({"first": [0, 1, 2, 0, -1]}, "from 0 to 2"),
            ({"first": [0.0, 1, 2, 0, 1]}, "whole numbers"),
            ({"first": [1, 1, 2, 0, 1]}, "meets itself"),
            ({"result": [1, 1, 1, 1, 2]}, "1, ½ or 0"),
            ({"result": [1, 1, 1, 1, NAN]}, "1, ½ or 0"),
        )
    ),
    (FITTED, (), columns(ROUND) | {"how": Resampling(draws=0)}, "draws"),
    *((elo, (), columns(ROUND) | {name: 0}, "at least 1") for name in ("k", "permutations")),
    *(
        (
            least_squares_statistic,
            (),
            columns(ROUND) | {"items": items, "n_items": 3},
            "items must be whole numbers from 0 to 2",
        )
        for items in ([0, 0, 1, 1, 3], [0, 0, 1, 1, -1], [0.0, 0, 1, 1, 2], list("abcde"))
    ),
    *(
        (
            controlled_bradley_terry,
            ([0] * 4, [1] * 4, [1, 0, 1, 0], range(4), covariates),
            {"n_models": 2},
            message,
        )
        for covariates, message in (
            ([[1], [2]], "covariates of 4 matches"),
            ([1, 2, 3, 4], "covariates of 4 matches"),
            ([[1], [2], [3], [NAN]], "finite"),
        )
    ),
]
BOARDS: Cases = [
    (bootstrap_items, ([1.0, 0.0],), {}, "shape"),
    (bootstrap_items, ([[1.0], [0.0]],), {"items": [1]}, "items must have shape"),
    (bootstrap_items, ([[INF]],), {}, "finite"),
    (bootstrap_items, ([[1.0]],), {"how": Resampling(level=95)}, "level"),
    (bootstrap_items, ([[1.0]],), {"how": Resampling(draws=0)}, "draws"),
    (bootstrap_leaderboard, (lambda n: n, 0), {}, "n_items must be at least 1"),
    (bootstrap_leaderboard, (lambda n: n, 2), {"how": Resampling(level=1)}, "level must lie"),
    (bootstrap_leaderboard, (lambda n: n, 2), {"present": [2]}, "present must have shape"),
    (bootstrap_leaderboard, (lambda n: n[:, 0], 2), {}, "the statistic must return shape"),
    (bootstrap_leaderboard, (lambda n: n[:1], 2), {}, "the statistic must return shape"),
    (ItemDraws, (5, [1, 2]), {"how": Resampling()}, r"items must have shape \(5,\), got \(2,\)"),
    (ItemDraws, (0, None), {"how": Resampling(draws=5)}, "there is no item"),
    (normalized_borda, ([[1, 2, 2, 4]],), {}, "not mean ranks from 1 to 4"),
    (normalized_borda, ([[1.5, 1.5], [0, 3]],), {}, "row 1"),
    (normalized_borda, ([[1, 1]],), {}, "share the mean"),
    (normalized_borda, ([1, 2],), {}, "shape"),
    *(
        (RankingTest, arguments, options, "expected|must (lie|be)")
        for arguments, options in (
            *(((1, 10), {}), ((3, 0), {}), ((3, 10), {"settle_for": "all"})),
            *(((3, 10), {"error": error}) for error in (0.0, 1.0, NAN)),
            *(((3, 10), {"top_k": k}) for k in (0, 3)),
        )
    ),
    *(
        (RankingTest(3, 10).update, (scores,), {}, "shape")
        for scores in ([0.5, 0.5], [[0.5, 0.5, 0.5]], 0.5)
    ),
    *((RankingTest(3, 10).update, ([0.5, s, NAN],), {}, "0, 1") for s in (-0.01, 1.01, INF)),
    (FULL.update, ([0.5, 0.5],), {}, "all 1 items"),
]
CONTESTS: Cases = [
    (csd, ([1, 2],), {}, "shape"),
    (csd, ([[1, 2]],), {}, "two models"),
    (csd, ([[1, INF], [1, 2]],), {}, "model 0 in benchmark 1"),
    (csd, ([[1]] * 1001,), {}, "at most 1,000 models can meet, got 1,001"),
    *(
        (csd, (SCORES,), options, message)
        for options, message in (
            ({"missing": "zero"}, "missing"),
            ({"rounds": []}, "at least one round"),
            ({"rounds": [[0], []]}, "round 1"),
            ({"rounds": [[0, 0]]}, "each once"),
            ({"rounds": [[4]]}, "only columns 0 … 3"),
            ({"rounds": [[-1]]}, "only columns"),
            ({"eliminate": -1}, "0 or more"),
            ({"eliminate": [1, 1]}, "one per round"),
            ({"eliminate": [1, 1, 1, 0.5]}, "whole numbers"),
            ({"iterations": 0}, "iterations"),
            ({"seed": -1}, "seed"),
            ({"level": 1.0}, "level"),
            ({"weights": [1, 2]}, "weights"),
            ({"weights": [1, 1, 1, 0]}, "above 0"),
            ({"weights": [1, 1, 1, NAN]}, "above 0"),
        )
    ),
    (natural_breaks, ([1, 2, 2], 3), {}, "2 different values cannot .* 3 tiers; ask for 1 to 2"),
    (natural_breaks, ([1, 2], 0), {}, "into 0 tiers"),
    (natural_breaks, ([1, NAN], 1), {}, "finite"),
    (natural_breaks, ([[1, 2]], 1), {}, "finite"),
    *((weighted_rounds, ([1, w],), {}, "above 0") for w in (0, -1, NAN, INF)),
    *((weighted_rounds, (weights,), {}, "shape") for weights in ([], [[1, 2]])),
    (weighted_rounds, ([1, 2],), {"draws": 0}, "draws"),
    (tiers, ([1, 0], (0.5,)), {}, "shape"),
    (tiers, ([[2, 0]], (0.5,)), {}, "between 0 and 1"),
    *(
        (tiers, ([[1, 0]], bounds), {}, "descend")
        for bounds in ((0.5, 0.5), (1.0, 0.5), (0.5, 0.0), (NAN,))
    ),
    *((failure_sensitivity, (SCORES, None, t), {}, "ascend") for t in ((0,), (1, 0), (1, 1), ())),
    (perturb, (SCORES, 3, [0]), {}, "no model 3"),
    (perturb, (SCORES, -1, [0]), {}, "no model"),
    (perturb, (SCORES, 0, []), {}, "benchmarks"),
    (perturb, (SCORES, 0, [4]), {}, "benchmarks"),
    (perturb, (SCORES, 0, [0], NAN), {}, "finite"),
    *((item_intervals, (np.zeros(s),), {}, "tables must have") for s in ((1, 4, 3), (4, 3))),
]
HOLES: Cases = [
    (csd, ([[1, NAN], [1, 2]],), {}, "model 0 has no score in benchmark 1"),
    (tiers, ([[1, NAN]], (0.5,)), {}, "model 1 has no score in item 0"),
]
PLAIN: Cases = [
    (mean_ranks, ([["a"], ["a"]],), {}, "'a' occurs twice"),
    (competition_ranks, ([1.0, 2.0], [1.0]), {}, "one length"),
    (wilson, (3, 2), {}, "3 of 2"),
    (wilson, (-1, 2), {}, "-1 of 2"),
    (wilson, (1, 2), {"level": 1.0}, "level"),
    (wilson, (0, 0), {"level": 0}, "level"),
]
ERRORS: list[tuple[type[Exception], Cases]] = [
    (RankingError, [*BALLOTS, *PANELS, *OWN, *AGREEMENT, *STRENGTHS, *BOARDS, *CONTESTS]),
    (ReviewGraphError, GRAPHS),
    (MissingScoreError, HOLES),
    (ValueError, PLAIN),
]


@pytest.mark.parametrize(
    ("error", "function", "arguments", "options", "message"),
    [
        (error, function, *case)
        for error, cases in ERRORS
        for functions, *case in cases
        for function in (functions if isinstance(functions, tuple) else (functions,))
    ],
)
def test_bad_input(
    error: type[Exception],
    function: Callable[..., object],
    arguments: tuple[Any, ...],
    options: dict[str, Any],
    message: str,
) -> None:
    with pytest.raises(error, match=message):
        function(*arguments, **options)


@pytest.mark.parametrize(
    ("package", "needs"),
    [
        ("evalica", lambda: elo(**columns(ROUND))),
        ("sklearn.metrics", lambda: cohen_kappa([1, 2], [2, 1])),
        (
            "sklearn.linear_model",
            lambda: controlled_bradley_terry([0], [1], [1], [0], [[1]], n_models=2),
        ),
        ("joblib", lambda: csd(SCORES, iterations=10, n_jobs=2)),
    ],
)
def test_optional_packages(
    package: str, needs: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingPackageError, match=r"pip install '\.\[rankings\]'"):
        needs()
    csd(SCORES, iterations=10, n_jobs=1)
