"""Bad input, as data: each call, and all that is said of it in one file."""

import math
import sys
from collections.abc import Callable
from functools import partial
from operator import attrgetter
from typing import Any

import numpy as np
import pytest

from tests.cases import cases
from tests.expected import check
from tests.rankers.rounds import ROUND, columns
from tiebreak import rankers as r
from tiebreak.rankers.anchored import anchor
from tiebreak.rankers.intervals import ItemDraws
from tiebreak.rankers.kappa import kappa_estimate, kappa_many
from tiebreak.rankers.strength import controlled_bradley_terry
from tiebreak.rankers.voting import borda, irv, kendall

NAN, INF = math.nan, math.inf
PANEL = np.tile([[1.0, 2.0, 3.0, 4.0], [2.0, 1.0, 3.0, 4.0], [1.0, 2.0, 4.0, 3.0]], (2, 1, 1))
FULL = r.RankingTest(2, 1)
FULL.update([0.5, 0.5])
SCORES = np.array([[0.9, 0.2, 0.5, 0.5], [0.8, 0.9, 0.1, 0.5], [0.1, 0.4, 0.6, 0.9]])
FUNCTIONS: dict[str, Any] = {
    "kendall": kendall,
    "borda": borda,
    "irv": irv,
    "kappa_many": kappa_many,
    "kappa_estimate": kappa_estimate,
    "subsample_stability": partial(r.subsample_stability, r.mean_statistic(np.eye(5))),
    "controlled_bradley_terry": controlled_bradley_terry,
    "ItemDraws": partial(ItemDraws, how=r.Resampling(draws=5)),
    "RankingTest.update": r.RankingTest(3, 10).update,
    "FULL.update": FULL.update,
    "anchor": anchor,
}
OF_MATCHES = ("bradley_terry", "elo", "least_squares")
WORDS: dict[str, Any] = {
    "PANEL": PANEL,
    "PANEL of two": PANEL[:, :2],
    "SCORES": SCORES,
    "STAKES": np.stack([np.eye(2), [[0, 1], [0, 0]]]),
    "a tie": ("b", "a"),
    "2 models": r.mean_statistic(np.eye(2)),
    "3 models": r.mean_statistic(np.eye(2, 3)),
    "itself": lambda n: n,
    "a column": lambda n: n[:, 0],
    "a row": lambda n: n[:1],
    **{f"{n} of {items}": np.arange(items) < n for n, items in ((10, 10), (5, 10), (8, 9))},
}
FILLED = {"ones": 1.0, "zeros": 0.0, "infinite": math.inf}


def value(given: Any) -> Any:
    """An argument: what a word stands for, or an array of a shape, as "ones 2 3"."""
    if isinstance(given, list):
        return [*map(value, given)]
    if not isinstance(given, str):
        return given
    name, *shape = given.split() or [""]
    return np.full([*map(int, shape)], FILLED[name]) if name in FILLED else WORDS.get(given, given)


def function_of(name: str) -> Any:
    return FUNCTIONS.get(name) or attrgetter(name)(r)


REFUSED: type[Exception] = ValueError  # and all that derives from it
FAMILIES = ("ballots", "panels", "agreement", "strengths", "boards", "contests")


@pytest.mark.parametrize("name", FAMILIES)
def test_bad_input(name: str) -> None:
    lines = []
    for functions, calls in cases(__file__, name).items():
        for function_name in functions.split(", "):
            function = function_of(function_name)
            of_matches = columns(ROUND) if function_name in OF_MATCHES else {}
            for call in calls:
                arguments = [value(part) for part in call if not isinstance(part, dict)]
                changed = call[-1] if isinstance(call[-1], dict) else {}
                options = of_matches | {key: value(part) for key, part in changed.items()}
                if "how" in options:
                    options["how"] = r.Resampling(**options["how"])
                with pytest.raises(REFUSED) as caught:
                    function(*arguments, **options)
                named = getattr(function, "func", function).__qualname__
                lines.append(f"{named} | {type(caught.value).__name__} | {caught.value}\n")
    check(__file__, f"bad_{name}.txt", "".join(lines))


def test_every_aggregator_is_called() -> None:
    assert {method for _, method in cases(__file__, "ballots")["aggregate"]} > set(r.AGGREGATORS)


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
