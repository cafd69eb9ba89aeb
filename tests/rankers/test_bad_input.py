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
from tiebreak import rankers as r
from tiebreak.rankers.intervals import ItemDraws
from tiebreak.rankers.kappa import kappa_estimate, kappa_many
from tiebreak.rankers.massey import least_squares_statistic
from tiebreak.rankers.strength import controlled_bradley_terry
from tiebreak.rankers.voting import borda, irv, kendall

NAN, INF = math.nan, math.inf
PANEL = np.tile([[1.0, 2.0, 3.0, 4.0], [2.0, 1.0, 3.0, 4.0], [1.0, 2.0, 4.0, 3.0]], (2, 1, 1))
FULL = r.RankingTest(2, 1)
FULL.update([0.5, 0.5])
SCORES = np.array([[0.9, 0.2, 0.5, 0.5], [0.8, 0.9, 0.1, 0.5], [0.1, 0.4, 0.6, 0.9]])

Cases = list[tuple[Any, ...]]
"""A function or several, arguments, options, and what the message must hold, an expression."""


# Functions with the same errors.
ITEMS = (r.aggregate_items, r.kemeny_young_batch)
OF_PANELS = (
    r.reviewer_agreement,
    r.krippendorff_alpha,
    r.kendall_w,
    r.effective_votes,
    r.leave_one_out,
)
PAIRS = (r.spearman, r.kendall_tau, r.pearson, r.top1, r.resolution_gain)
MANY = (r.pearson_many, r.spearman_many, r.kendall_tau_many, r.top1_many)
FITS = (r.bradley_terry, r.elo, r.least_squares, partial(least_squares_statistic, n_items=3))
FITTED = (r.bradley_terry, r.elo, r.least_squares)

BALLOTS: Cases = [
    *((r.aggregate, ([[1, INF]], method), {}, "infinite") for method in r.AGGREGATORS),
    (r.aggregate, ([[1, 2]], "bordo"), {}, "no method 'bordo'; there are kemeny_young, average"),
    (r.aggregate_items, ([[[1.0]]], "bordo"), {}, "no method 'bordo'; there are kemeny_young, av"),
    (ITEMS, (np.ones((3, 4)),), {}, r"\(items, ballots, candidates\), got \(3, 4\)"),
    (ITEMS, (np.ones((2, 0, 4)),), {}, r"candidates\), got \(2, 0, 4\)"),
    (ITEMS, (np.ones((2, 3, 0)),), {}, r"candidates\), got \(2, 3, 0\)"),
    (ITEMS, ([[[1, 2]], [[INF, 1]]],), {}, "ballot 0 of item 1 gives candidate 0 an inf"),
    (ITEMS, ([[[1, 2], [1, -INF]]],), {}, "ballot 1 of item 0 gives candidate 1 an inf"),
    *(
        (r.kemeny_young_batch, (np.ones((1, 1, 2)),), {"chunk": n}, "at least one question")
        for n in (0, -1)
    ),
    *(
        (r.kemeny_young, (np.ones((1, 2)),), wrong, "max_orders must be")
        for wrong in ({"time_limit": -1.0}, {"time_limit": NAN}, {"max_orders": 0})
    ),
    (r.kemeny_young, ([[1, NAN]],), {}, "'1'"),
    (r.kemeny_young, ([1.0, 2.0],), {}, r"must have shape \(ballots, candidates\)"),
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
    (OF_PANELS, (PANEL,), {"how": r.Resampling(level=1)}, "level"),
    (r.effective_votes, (PANEL,), {"native": np.ones((2, 5))}, r"of shape \(2, 4\)"),
    (r.leave_one_out, (PANEL,), {"method": "mean"}, "no method 'mean'"),
    *((r.presentation_bias, (PANEL, PANEL), {"tolerance": t}, "tolerance") for t in (-0.1, 1, NAN)),
    *((r.presentation_bias, (PANEL, PANEL), {"alarm": a}, "alarm") for a in (0, 1, NAN)),
    (r.presentation_bias, (PANEL, PANEL[:, :2]), {}, "places shown"),
    (r.peer_views, (PANEL[0], [0, 1, 2]), {}, "items, ballots, candidates"),
    (r.peer_views, (PANEL, [0, 1, 2]), {"method": "mean"}, "no method 'mean'"),
    (r.peer_views, (PANEL, [0, 1]), {}, "2 entries in own for 3 reviewers"),
    (r.peer_views, (PANEL, [0, 1, 4]), {}, "reviewer 2 is given as candidate 4"),
    (r.peer_views, (PANEL, [0, -1, 2]), {}, "reviewer 1 is given as candidate -1"),
]
GRAPHS: Cases = [
    (r.review_graph, (4, 1, [0, 1, 2, 3], None), {}, "degree must be 2 to 3"),
    (r.review_graph, (4, 4, [0, 1, 2, 3], None), {}, "degree must be 2 to 3"),
    (r.review_graph, (4, 5, [None] * 3, None), {}, "degree must be 2 to 4"),
    (r.review_graph, (2, 2, [0, 1], None), {}, "let reviewers rank all answers"),
    (r.review_graph, (1, 2, [None], None), {}, "there are 1 in all"),
    (r.review_graph, (9, 2, [None] * 7, None), {}, "degree of at least 3"),  # 7·1 + 1 = 8 < 9
    (r.review_graph, (4, 3, [0, 0], None), {}, "candidate 0 is every reviewer's own"),
]
OWN: Cases = [
    (r.review_graph, (4, 2, [], None), {}, "no reviewer"),
    (r.review_graph, (4, 2, [0, 4], None), {}, "reviewer 1 is given as candidate 4"),
    (r.review_graph, (4, 2, [-1, 0], None), {}, "reviewer 0 is given as candidate -1"),
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
    (r.cohen_kappa, ([1, 2], [2, 1]), {"weights": "linear"}, "needs labels"),
    (r.cohen_kappa, ([1, 2], [2, 1]), {"labels": [1, 2, 2]}, "twice"),
    (r.cohen_kappa, ([1, 2], [2, 1]), {"labels": [1, 3]}, "2 is none of the labels"),
    (r.cohen_kappa, ([1, 2], [1]), {}, "2 ratings against 1"),
    (kappa_many, ([1, 2, 3],), {}, "shape"),
    (kappa_estimate, (np.stack([np.eye(2), [[0, 1], [0, 0]]]),), {"level": 1}, "level"),
    *((r.mean_statistic, (scores,), {}, "scores must") for scores in ([1.0, 2.0], [[INF, 0.0]])),
    (
        *(
            r.resample_agreement,
            (r.mean_statistic(np.eye(2)), r.mean_statistic(np.eye(2, 3)), 2),
            {},
        ),
        "do not go together|of shape",
    ),
    *(
        (r.subsample_stability, (r.mean_statistic(np.eye(5)), n), options, "expected items")
        for n, options in (
            (0, {}),
            *((5, {"share": s}) for s in (0, 1.01, NAN)),
            (5, {"seeds": []}),
        )
    ),
    *((r.run_to_run, (scores,), {}, "two runs") for scores in ([[1.0, 2.0]], [1.0, 2.0], [])),
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
    (FITTED, (), columns(ROUND) | {"how": r.Resampling(draws=0)}, "draws"),
    *((r.elo, (), columns(ROUND) | {name: 0}, "at least 1") for name in ("k", "permutations")),
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
    (r.bootstrap_items, ([1.0, 0.0],), {}, "shape"),
    (r.bootstrap_items, ([[1.0], [0.0]],), {"items": [1]}, "items must have shape"),
    (r.bootstrap_items, ([[INF]],), {}, "finite"),
    (r.bootstrap_items, ([[1.0]],), {"how": r.Resampling(level=95)}, "level"),
    (r.bootstrap_items, ([[1.0]],), {"how": r.Resampling(draws=0)}, "draws"),
    (r.bootstrap_leaderboard, (lambda n: n, 0), {}, "n_items must be at least 1"),
    (r.bootstrap_leaderboard, (lambda n: n, 2), {"how": r.Resampling(level=1)}, "level must lie"),
    (r.bootstrap_leaderboard, (lambda n: n, 2), {"present": [2]}, "present must have shape"),
    (r.bootstrap_leaderboard, (lambda n: n[:, 0], 2), {}, "the statistic must return shape"),
    (r.bootstrap_leaderboard, (lambda n: n[:1], 2), {}, "the statistic must return shape"),
    (ItemDraws, (5, [1, 2]), {"how": r.Resampling()}, r"items must have shape \(5,\), got \(2,\)"),
    (ItemDraws, (0, None), {"how": r.Resampling(draws=5)}, "there is no item"),
    (r.normalized_borda, ([[1, 2, 2, 4]],), {}, "not mean ranks from 1 to 4"),
    (r.normalized_borda, ([[1.5, 1.5], [0, 3]],), {}, "row 1"),
    (r.normalized_borda, ([[1, 1]],), {}, "share the mean"),
    (r.normalized_borda, ([1, 2],), {}, "shape"),
    *(
        (r.RankingTest, arguments, options, "expected|must (lie|be)")
        for arguments, options in (
            *(((1, 10), {}), ((3, 0), {}), ((3, 10), {"settle_for": "all"})),
            *(((3, 10), {"error": error}) for error in (0.0, 1.0, NAN)),
            *(((3, 10), {"top_k": k}) for k in (0, 3)),
        )
    ),
    *(
        (r.RankingTest(3, 10).update, (scores,), {}, "shape")
        for scores in ([0.5, 0.5], [[0.5, 0.5, 0.5]], 0.5)
    ),
    *((r.RankingTest(3, 10).update, ([0.5, s, NAN],), {}, "0, 1") for s in (-0.01, 1.01, INF)),
    (FULL.update, ([0.5, 0.5],), {}, "all 1 items"),
]
CONTESTS: Cases = [
    (r.csd, ([1, 2],), {}, "shape"),
    (r.csd, ([[1, 2]],), {}, "two models"),
    (r.csd, ([[1, INF], [1, 2]],), {}, "model 0 in benchmark 1"),
    (r.csd, ([[1]] * 1001,), {}, "at most 1,000 models can meet, got 1,001"),
    *(
        (r.csd, (SCORES,), options, message)
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
    (r.natural_breaks, ([1, 2, 2], 3), {}, "2 different values cannot .* 3 tiers; ask for 1 to 2"),
    (r.natural_breaks, ([1, 2], 0), {}, "into 0 tiers"),
    (r.natural_breaks, ([1, NAN], 1), {}, "finite"),
    (r.natural_breaks, ([[1, 2]], 1), {}, "finite"),
    *((r.weighted_rounds, ([1, w],), {}, "above 0") for w in (0, -1, NAN, INF)),
    *((r.weighted_rounds, (weights,), {}, "shape") for weights in ([], [[1, 2]])),
    (r.weighted_rounds, ([1, 2],), {"draws": 0}, "draws"),
    (r.tiers, ([1, 0], (0.5,)), {}, "shape"),
    (r.tiers, ([[2, 0]], (0.5,)), {}, "between 0 and 1"),
    *(
        (r.tiers, ([[1, 0]], bounds), {}, "descend")
        for bounds in ((0.5, 0.5), (1.0, 0.5), (0.5, 0.0), (NAN,))
    ),
    *((r.failure_sensitivity, (SCORES, None, t), {}, "ascend") for t in ((0,), (1, 0), (1, 1), ())),
    (r.perturb, (SCORES, 3, [0]), {}, "no model 3"),
    (r.perturb, (SCORES, -1, [0]), {}, "no model"),
    (r.perturb, (SCORES, 0, []), {}, "benchmarks"),
    (r.perturb, (SCORES, 0, [4]), {}, "benchmarks"),
    (r.perturb, (SCORES, 0, [0], NAN), {}, "finite"),
    *((r.item_intervals, (np.zeros(s),), {}, "tables must have") for s in ((1, 4, 3), (4, 3))),
]
HOLES: Cases = [
    (r.csd, ([[1, NAN], [1, 2]],), {}, "model 0 has no score in benchmark 1"),
    (r.tiers, ([[1, NAN]], (0.5,)), {}, "model 1 has no score in item 0"),
]
PLAIN: Cases = [
    (r.mean_ranks, ([["a"], ["a"]],), {}, "'a' occurs twice"),
    (r.competition_ranks, ([1.0, 2.0], [1.0]), {}, "one length"),
    (r.wilson, (3, 2), {}, "3 of 2"),
    (r.wilson, (-1, 2), {}, "-1 of 2"),
    (r.wilson, (1, 2), {"level": 1.0}, "level"),
    (r.wilson, (0, 0), {"level": 0}, "level"),
]
ERRORS: list[tuple[type[Exception], Cases]] = [
    (r.RankingError, [*BALLOTS, *PANELS, *OWN, *AGREEMENT, *STRENGTHS, *BOARDS, *CONTESTS]),
    (r.ReviewGraphError, GRAPHS),
    (r.MissingScoreError, HOLES),
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
        ("evalica", lambda: r.elo(**columns(ROUND))),
        ("sklearn.metrics", lambda: r.cohen_kappa([1, 2], [2, 1])),
        (
            "sklearn.linear_model",
            lambda: controlled_bradley_terry([0], [1], [1], [0], [[1]], n_models=2),
        ),
        ("joblib", lambda: r.csd(SCORES, iterations=10, n_jobs=2)),
    ],
)
def test_optional_packages(
    package: str, needs: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(r.MissingPackageError, match=r"pip install '\.\[rankings\]'"):
        needs()
    r.csd(SCORES, iterations=10, n_jobs=1)
