"""What is undefined is NaN, with a reason: the cases as data, and all that is said in one file."""

import math
from typing import Any

import numpy as np
import pytest

from tests.cases import cases
from tests.expected import check
from tests.rankers.ballots import panel
from tests.rankers.voting.tables import table
from tiebreak import rankers
from tiebreak.rankers import Resampling, mean_statistic
from tiebreak.rankers.dependence import pair_errors
from tiebreak.rankers.kappa import kappa_estimate, kappa_gap

NAN = math.nan
FEW = Resampling(draws=20)
MEANS = [0.9, 0.7, 0.4]
PAIRS = cases(__file__, "pairs")
BOARDS = cases(__file__, "boards")
PANELS: dict[str, Any] = {
    "all tied": np.ones((3, 3, 4)),
    "chains": [table("12-", "-12", "1-2")] * 3,
    "one complete": [table("123", "12-", "---")] * 3,
    "alone": [table("1--", "1--", "---")] * 3,
}
LABELS = cases(__file__, "labels")
VOTES = panel(1, 100, 5, 8)
NATIVE = (np.random.default_rng(1).random((100, 8)) < 0.9).astype(np.float64)
APART = VOTES.copy()
APART[:50, 0] = APART[50:, 1] = NAN
WITH_NATIVE: dict[str, tuple[Any, Any]] = {
    "without native scores": (VOTES, None),
    "all passed": (VOTES, np.ones_like(NATIVE)),
    "twelve items": (VOTES[:12], NATIVE[:12]),
    "three reviewers": (VOTES[:, :3], NATIVE),
    "native scores by lot": (VOTES, NATIVE),
    "ties of all": (np.ones((5, 6, 3)), None),
    "silence": (np.full((5, 6, 3), NAN), None),
    "one reviewer": (VOTES[:, :1], None),
    "two who never meet": (APART, None),
}


def tables(labels: list[tuple[int, int]]) -> np.ndarray[Any, Any]:
    return np.stack([np.zeros((4, 4))] + [np.outer(*np.eye(4)[[*pair]]) for pair in labels])[1:]


def of_agreement() -> dict[str, Any]:
    return {
        **{
            f"{name} of {case}": getattr(rankers, name)(*pair)
            for name in ("spearman", "kendall_tau", "pearson")
            for case, pair in PAIRS.items()
        },
        "top1 of strangers": rankers.top1([1, NAN], [NAN, 1]),
        "gain over equal ones": rankers.resolution_gain(MEANS, [0.3, 0.3, 0.1 + 0.2]),
        "gain over one": rankers.resolution_gain(MEANS, [0.3, NAN, NAN]),
        "κ of no case": rankers.cohen_kappa([None], [1]),
        "κ of one label": rankers.cohen_kappa([1, 1], [1, 1]),
        **{f"κ of tables: {case}": kappa_estimate(tables(own)) for case, own in LABELS.items()},
        "a gap of κ": kappa_gap(*[np.tile(np.diag([0, 0, 0, 1.0]), (9, 1, 1, 1))] * 2)[0],
    }


def of_boards() -> dict[str, Any]:
    found = {
        case: rankers.resample_agreement(
            mean_statistic(first), mean_statistic(second), len(first), how=FEW
        )
        for case, (first, second) in BOARDS.items()
    }
    return {
        **{
            f"{name} over items: {case}": getattr(own, name)
            for case, own in found.items()
            for name in ("spearman", "kendall")
        },
        "runs of which one ties all": rankers.run_to_run([[1.0, 0.5], [0.0, 0.0], [1.0, 0.0]]),
        "means of one item": rankers.bootstrap_items([[1.0, 0.0]]),
        "means of no item": rankers.bootstrap_items(np.empty((0, 2))),
    }


def of_panels() -> dict[str, Any]:
    return {
        **{f"α, {case}": rankers.krippendorff_alpha(own) for case, own in PANELS.items()},
        **{f"W, {case}": rankers.kendall_w(own)[1] for case, own in PANELS.items()},
        **{
            f"votes, {case}": rankers.effective_votes(*pair, how=FEW)
            for case, pair in WITH_NATIVE.items()
        },
        "errors where all passed": pair_errors(VOTES, np.ones_like(NATIVE))[1],
        "errors without scores": pair_errors(VOTES, np.full_like(NATIVE, NAN))[2],
    }


SHOWN = ("value", "mean", "difference", "estimate", "at_least", "lower", "upper", "p", "n")


@pytest.mark.parametrize("cases", [of_agreement, of_boards, of_panels])
def test_what_is_undefined_has_a_reason(cases: Any) -> None:
    lines = []
    for case, found in cases().items():
        values = {name: getattr(found, name) for name in SHOWN if hasattr(found, name)}
        shown = " ".join(f"{name} {np.round(value, 2)}" for name, value in values.items())
        lines.append(f"{case}: {shown} | {getattr(found, 'undefined', None)} | {found.reason}\n")
    check(__file__, f"undefined_{cases.__name__}.txt", "".join(lines))
