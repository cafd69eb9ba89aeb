"""Claims of each figure, measured in simulated worlds whose truth is known.

A module here measures the figures of one room of analysis, and has one function,

    def claims(scale: float) -> Iterator[Claim]: ...

with fixed seeds. `scale` is the share of the full number of runs (`runs` below): 1 for
docs/statistics.csv (at most three minutes of one core), 0.05 in the tests (some seconds). A module
without that function holds what the others share. A module's docstring says how its worlds are
drawn and, below "Shown:", where users see each figure; both are on the page of all tables.
`benchmarks/statistics.py` runs them all; `tests/test_statistics.py` runs them at a small scale and
asserts that no claim is missed.
"""

import gc
import importlib
import math
import pkgutil
import re
from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import binom, norm

Range = tuple[float, float]

LEAST_RUNS = 40
# A claim is missed if the measured value is over 2 standard errors outside of it. If the truth is
# at the bound, this happens in one run of 44.
TOLERANCE = 2.0


@dataclass(frozen=True)
class Claim:
    """One figure in one setting: what is claimed of it and what was measured.

    Attributes:
        figure: the figure as users know it, and the property that is measured.
        setting: the world in which it was measured.
        claimed: the claimed range as text; "" if nothing is claimed.
        measured: a share of runs (0 to 1) or a mean over runs.
        error: Monte Carlo standard error of `measured`.
        runs: number of worlds drawn.
        met: whether the claim holds, allowing `TOLERANCE` standard errors; None if the figure is
            only stated and nothing is claimed.
    """

    figure: str
    setting: str
    claimed: str
    measured: float
    error: float
    runs: int
    met: bool | None


def share(figure: str, setting: str, hits: int, runs: int, claimed: Range | None = None) -> Claim:
    """Claim about a share of independent runs, e.g. of intervals that hold the truth.

    The exact binomial tail decides whether the share is within `claimed` (bounds included). The
    error is that of (hits + 2) / (runs + 4), so that 0 of 40 does not look certain.

    Raises:
        ValueError: there are no runs, or `hits` is not between 0 and `runs`.
    """
    if not 0 <= hits <= runs or runs < 1:
        raise ValueError(f"{figure}: {hits} of {runs} runs")
    near = (hits + 2) / (runs + 4)
    met = None
    if claimed is not None:
        low, high = claimed
        tails = binom.sf(hits - 1, runs, high), binom.cdf(hits, runs, low)
        met = bool(min(tails) >= norm.sf(TOLERANCE))
    error = math.sqrt(near * (1 - near) / runs)
    return Claim(figure, setting, _words(claimed, (0, 1)), hits / runs, error, runs, met)


def mean(figure: str, setting: str, values: ArrayLike, claimed: Range | None = None) -> Claim:
    """Claim about a mean over runs, e.g. of a bias, or of the share of intervals that hold.

    Runs whose value is NaN (undefined) are left out, and are not counted in `runs`. `claimed` may
    have an infinite bound.

    Raises:
        ValueError: fewer than two runs have a value.
    """
    drawn = np.asarray(values, dtype=np.float64).ravel()
    drawn = drawn[~np.isnan(drawn)]
    if len(drawn) < 2:
        raise ValueError(f"{figure}: {len(drawn)} runs have a value")
    measured, error = float(drawn.mean()), float(drawn.std(ddof=1) / math.sqrt(len(drawn)))
    met = None
    if claimed is not None:
        room = TOLERANCE * error
        met = claimed[0] - room <= measured <= claimed[1] + room
    text = _words(claimed, (-math.inf, math.inf))
    return Claim(figure, setting, text, measured, error, len(drawn), met)


def _words(claimed: Range | None, widest: Range) -> str:
    if claimed is None:
        return ""
    low, high = (f"{bound:.3f}".rstrip("0").rstrip(".") for bound in claimed)
    if claimed[0] == claimed[1]:
        return low
    if claimed[0] <= widest[0]:
        return f"≤ {high}"
    return f"≥ {low}" if claimed[1] >= widest[1] else f"{low} to {high}"


def in_tests(scale: float) -> bool:
    """Whether `scale` is that of the tests, which skip settings that take long."""
    return scale < 0.1


def runs(full: int, scale: float, least: int = LEAST_RUNS) -> int:
    """Number of worlds to draw if there are `full` at scale 1; `least` unless `full` is smaller."""
    return max(min(least, full), round(full * scale))


def modules() -> Sequence[str]:
    """Names of the modules of this folder that have claims, in alphabetical order."""
    names = sorted(found.name for found in pkgutil.iter_modules(__path__))
    return [name for name in names if hasattr(module(name), "claims")]


def measure(name: str, scale: float) -> list[Claim]:
    """Measure all claims of a module, by its name."""
    gc.disable()  # ballots are many objects without cycles: collection takes half of the time
    try:
        return list(module(name).claims(scale))
    finally:
        gc.enable()


def title(name: str) -> str:
    """The first line of a module's docstring."""
    return (module(name).__doc__ or name).splitlines()[0]


def figures(name: str) -> list[tuple[str, str]]:
    """Pairs of a figure and where it is shown, from a module's docstring below "Shown:"."""
    below = (module(name).__doc__ or "").partition("\nShown:\n")[2]
    entries = re.findall(r"^    (\S.*(?:\n {5,}\S.*)*)", below, re.M)
    parts = (" ".join(entry.split()).rpartition(": ") for entry in entries)
    return [(figure, where) for figure, _, where in parts]


def module(name: str) -> ModuleType:
    """Import the module of claims of that name."""
    return importlib.import_module(f"{__name__}.{name}")
