"""Bad input, as data: each call, and all that is said of it in one file."""

import math
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from tests.expected import check
from tests.rankers.rounds import ROUND, columns
from tests.rankers.voting.tables import table
from tiebreak import rankers as r
from tiebreak.rankers.anchored import anchor
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
STAKES = np.stack([np.eye(2), [[0, 1], [0, 0]]])


Call = tuple[tuple[Any, ...], dict[str, Any]]


def call(*arguments: Any, **options: Any) -> Call:
    return arguments, options


def matches(**changed: Any) -> Call:
    return call(**columns(ROUND) | changed)


def controlled(covariates: Any) -> Call:
    return call([0] * 4, [1] * 4, [1, 0, 1, 0], range(4), covariates, n_models=2)


def anchored(people: int, judge: int, n_labelled: int, n_marks: int = 10) -> Call:
    """Ten items of so many models, and marks of those that people judged."""
    marks = np.arange(n_marks) < n_labelled
    return call(*np.ones((2, 10, people)), np.ones((10, judge)), marks, grades=True)


# Functions with the same errors.
OF_PANELS = (r.reviewer_agreement, r.krippendorff_alpha, r.kendall_w, r.effective_votes)
PAIRS = (r.spearman, r.kendall_tau, r.pearson, r.top1, r.resolution_gain)
MANY = (r.pearson_many, r.spearman_many, r.kendall_tau_many, r.top1_many)
FITS = (r.bradley_terry, r.elo, r.least_squares)

Calls = dict[tuple[Any, ...], list[Call]]
BALLOTS: Calls = {
    (r.Profile.from_ranks,): [
        *(call(np.empty(shape)) for shape in ((0, 3), (2, 0))),
        call([[NAN, NAN]]),
        call([1, 2, 3]),
        call([[1, 2]], ["a"]),
        call([[1, 2]], "aa"),
        call([[1, INF]], "ab"),
        call([[1, NAN, 2]], "abc"),
        call([[1, 2, 3], [1, 2, 2]], "abc", ties=False),
    ],
    (r.Profile.from_scores,): [call([[1, INF]])],
    (r.Profile.from_orderings,): [
        call(["ab"], "abc"),
        call(["az"], "ab"),
        call([["a", ("b", "a")]]),
    ],
    (r.Profile.from_pairwise,): [call([("a", "a", 1)]), call([("a", "b", NAN)])],
    (r.aggregate,): [*(call([[1, INF]], method) for method in r.AGGREGATORS), call([[1]], "bordo")],
    (r.aggregate_items,): [call([[[1.0]]], "bordo")],
    (r.aggregate_items, r.kemeny_young_batch): [
        *(call(np.ones(shape)) for shape in ((3, 4), (2, 0, 4), (2, 3, 0))),
        call([[[1, 2]], [[INF, 1]]]),
        call([[[1, 2], [1, -INF]]]),
    ],
    (r.kemeny_young_batch,): [call(np.ones((1, 1, 2)), chunk=n) for n in (0, -1)],
    (r.kemeny_young,): [
        *(call(np.ones((1, 2)), time_limit=limit) for limit in (-1.0, NAN)),
        call(np.ones((1, 2)), max_orders=0),
        call([[1, NAN]]),
        call([1.0, 2.0]),
    ],
    (kendall,): [call(table("12-", "-12"))],
    (borda,): [call(table("12-", "--1")), call([[1, 2]], unranked="first")],
    (irv,): [call([[1, 2]], ties="coin")],
}
PANELS: Calls = {
    (*OF_PANELS, r.leave_one_out): [
        call(np.ones((3, 4))),
        call(np.full((2, 3, 4), INF)),
        call(np.ones((0, 3, 4))),
        call(PANEL, items=[1]),
        call(PANEL, how=r.Resampling(level=1)),
    ],
    (r.effective_votes,): [call(PANEL, native=np.ones((2, 5)))],
    (r.leave_one_out,): [call(PANEL, method="mean")],
    (r.presentation_bias,): [
        *(call(PANEL, PANEL, tolerance=tolerance) for tolerance in (-0.1, 1, NAN)),
        *(call(PANEL, PANEL, alarm=alarm) for alarm in (0, 1, NAN)),
        call(PANEL, PANEL[:, :2]),
    ],
    (r.peer_views,): [
        call(PANEL[0], [0, 1, 2]),
        call(PANEL, [0, 1, 2], method="mean"),
        *(call(PANEL, own) for own in ([0, 1], [0, 1, 4], [0, -1, 2])),
    ],
    (r.review_graph,): [
        *(call(4, degree, [0, 1, 2, 3], None) for degree in (1, 4)),
        call(4, 5, [None] * 3, None),
        call(2, 2, [0, 1], None),
        call(1, 2, [None], None),
        call(9, 2, [None] * 7, None),  # 7·1 + 1 = 8 < 9
        call(4, 3, [0, 0], None),
        *(call(4, 2, own, None) for own in ([], [0, 4], [-1, 0])),
    ],
}
AGREEMENT: Calls = {
    PAIRS: [call([1, 2], [1, 2, 3]), call([[1, 2]], [[1, 2]]), call([1, INF], [1, 2])],
    MANY: [
        call([1, 2], [1, 2, 3]),
        call(1, 2),
        call([[1, 2]] * 2, [[1, 2]] * 3),
        call([1, INF], [1, 2]),
        call([1, 2], [1, -INF]),
    ],
    (r.cohen_kappa,): [
        call([1, 2], [2, 1], weights="linear"),
        call([1, 2], [1]),
        *(call([1, 2], [2, 1], labels=labels) for labels in ([1, 2, 2], [1, 3])),
    ],
    (kappa_many,): [call([1, 2, 3])],
    (kappa_estimate,): [call(STAKES, level=1)],
    (r.mean_statistic,): [call([1.0, 2.0]), call([[INF, 0.0]])],
    (r.resample_agreement,): [call(*map(r.mean_statistic, (np.eye(2), np.eye(2, 3))), 2)],
    (partial(r.subsample_stability, r.mean_statistic(np.eye(5))),): [
        call(0),
        *(call(5, share=share) for share in (0, 1.01, NAN)),
        call(5, seeds=[]),
    ],
    (r.run_to_run,): [call([[1.0, 2.0]]), call([1.0, 2.0]), call([])],
}
STRENGTHS: Calls = {
    (*FITS, partial(least_squares_statistic, n_items=3)): [
        matches(first=[0]),
        matches(first=[], second=[], result=[], items=[]),
        *(matches(first=[0, 1, 2, 0, last]) for last in (3, -1)),
        matches(first=[0.0, 1, 2, 0, 1]),
        matches(first=[1, 1, 2, 0, 1]),
        *(matches(result=[1, 1, 1, 1, last]) for last in (2, NAN)),
    ],
    FITS: [matches(how=r.Resampling(draws=0))],
    (r.elo,): [matches(k=0), matches(permutations=0)],
    (partial(least_squares_statistic, n_items=3),): [
        *(matches(items=[0, 0, 1, 1, last]) for last in (3, -1)),
        *(matches(items=items) for items in ([0.0, 0, 1, 1, 2], list("abcde"))),
    ],
    (controlled_bradley_terry,): [
        controlled([[1], [2]]),
        controlled([1, 2, 3, 4]),
        controlled([[1], [2], [3], [NAN]]),
    ],
}
BOARDS: Calls = {
    (r.bootstrap_items,): [
        call([1.0, 0.0]),
        call([[1.0], [0.0]], items=[1]),
        call([[INF]]),
        *(call([[1.0]], how=how) for how in (r.Resampling(level=95), r.Resampling(draws=0))),
    ],
    (r.bootstrap_leaderboard,): [
        call(lambda n: n, 0),
        call(lambda n: n, 2, how=r.Resampling(level=1)),
        call(lambda n: n, 2, present=[2]),
        *(call(statistic, 2) for statistic in (lambda n: n[:, 0], lambda n: n[:1])),
    ],
    (partial(ItemDraws, how=r.Resampling(draws=5)),): [call(5, [1, 2]), call(0, None)],
    (r.normalized_borda,): [
        call([[1, 2, 2, 4]]),
        call([[1.5, 1.5], [0, 3]]),
        call([[1, 1]]),
        call([1, 2]),
    ],
    (r.RankingTest,): [
        call(1, 10),
        call(3, 0),
        call(3, 10, settle_for="all"),
        *(call(3, 10, error=error) for error in (0.0, 1.0, NAN)),
        *(call(3, 10, top_k=k) for k in (0, 3)),
    ],
    (r.RankingTest(3, 10).update,): [
        *(call(scores) for scores in ([0.5, 0.5], [[0.5, 0.5, 0.5]], 0.5)),
        *(call([0.5, score, NAN]) for score in (-0.01, 1.01, INF)),
    ],
    (FULL.update,): [call([0.5, 0.5])],
    (r.mean_ranks,): [call([["a"], ["a"]])],
    (r.competition_ranks,): [call([1.0, 2.0], [1.0])],
    (anchor,): [anchored(2, 3, 10), anchored(2, 2, 5), anchored(2, 2, 8, n_marks=9)],
    (r.wilson,): [call(3, 2), call(-1, 2), call(1, 2, level=1.0), call(0, 0, level=0)],
}
CONTESTS: Calls = {
    (r.csd,): [
        call([1, 2]),
        call([[1, 2]]),
        call([[1, INF], [1, 2]]),
        call([[1, NAN], [1, 2]]),
        call([[1]] * 1001),
        call(SCORES, missing="zero"),
        *(call(SCORES, rounds=rounds) for rounds in ([], [[0], []], [[0, 0]], [[4]], [[-1]])),
        *(call(SCORES, eliminate=most) for most in (-1, [1, 1], [1, 1, 1, 0.5])),
        call(SCORES, iterations=0),
        call(SCORES, seed=-1),
        call(SCORES, level=1.0),
        *(call(SCORES, weights=[1, 1, 1, weight][-n:]) for weight, n in ((2, 2), (0, 4), (NAN, 4))),
    ],
    (r.natural_breaks,): [
        call([1, 2, 2], 3),
        call([1, 2], 0),
        call([1, NAN], 1),
        call([[1, 2]], 1),
    ],
    (r.weighted_rounds,): [
        *(call([1, weight]) for weight in (0, -1, NAN, INF)),
        call([]),
        call([[1, 2]]),
        call([1, 2], draws=0),
    ],
    (r.tiers,): [
        call([1, 0], (0.5,)),
        call([[2, 0]], (0.5,)),
        call([[1, NAN]], (0.5,)),
        *(call([[1, 0]], bounds) for bounds in ((0.5, 0.5), (1.0, 0.5), (0.5, 0.0), (NAN,))),
    ],
    (r.failure_sensitivity,): [call(SCORES, None, counts) for counts in ((0,), (1, 0), (1, 1), ())],
    (r.perturb,): [
        *(call(SCORES, model, [0]) for model in (3, -1)),
        *(call(SCORES, 0, columns) for columns in ([], [4])),
        call(SCORES, 0, [0], NAN),
    ],
    (r.item_intervals,): [call(np.zeros(shape)) for shape in ((1, 4, 3), (4, 3))],
}
REFUSED: type[Exception] = ValueError  # and all that derives from it
FAMILIES = {
    "ballots": BALLOTS,
    "panels": PANELS,
    "agreement": AGREEMENT,
    "strengths": STRENGTHS,
    "boards": BOARDS,
    "contests": CONTESTS,
}


@pytest.mark.parametrize("name", FAMILIES)
def test_bad_input(name: str) -> None:
    lines = []
    for functions, calls in FAMILIES[name].items():
        for function in functions:
            named: Any = getattr(function, "func", function)
            for arguments, options in calls:
                with pytest.raises(REFUSED) as caught:
                    function(*arguments, **options)
                lines.append(
                    f"{named.__qualname__} | {type(caught.value).__name__} | {caught.value}\n"
                )
    check(__file__, f"bad_{name}.txt", "".join(lines))


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
