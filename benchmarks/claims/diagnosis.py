"""Native scores: how often a lead of the size called detectable shows.

Models first pass at the same rate. The lead that `diagnose` then calls detectable, on average, is
planted as the lead of one model over another, and the tests of all pairs must find it.

Shown:
    groups of native scores, the lead that shows: `diagnose`
"""

from collections.abc import Iterator, Sequence
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from benchmarks.claims import Claim, runs, share
from tiebreak.analysis.diagnosis import saturation_of
from tiebreak.rankers.pairwise_tests import separation

FULL = 400
# The table says "about 80%", because items are discrete and the spread is estimated. It is computed
# at Bonferroni's level; tests of all pairs together need less, above all near the ceiling.
ABOUT = (0.7, 1.0)


def claims(scale: float) -> Iterator[Claim]:
    """Power of the tests behind the column Groups for the lead in the column Detectable."""
    n_runs = runs(FULL, scale)
    cells = [(n, m, s) for n in (50, 164, 1000) for m in (2, 8) for s in (0.0, 0.5)]
    for seed, (n_items, n_models, shared) in enumerate(cells):
        rng = np.random.default_rng([16, seed])
        alike = [_passes(rng, [0.97] * n_models, n_items, shared) for _ in range(60)]
        leads = [saturation_of(native).typical_detectable for native in alike]
        rates = [0.97, 0.97 - float(np.nanmean(leads)), *[0.97] * (n_models - 2)]
        found = sum(
            separation(_passes(rng, rates, n_items, shared), range(n_models)).pairs[0].apart is True
            for _ in range(n_runs)
        )
        difficulty = ", shared difficulty" if shared else ""
        yield share(
            "diagnose: power of Detectable, in Groups",
            f"N = {n_models}, {n_items:,} items, 97% pass{difficulty}",
            found,
            n_runs,
            ABOUT,
        )


def _passes(
    rng: np.random.Generator, rates: Sequence[float], n_items: int, shared: float
) -> NDArray[np.float64]:
    """Draw pass or fail, shape (n_items, N); two models' latent scores correlate by `shared`."""
    own = rng.normal(size=(n_items, len(rates)))
    latent = np.sqrt(shared) * rng.normal(size=(n_items, 1)) + np.sqrt(1 - shared) * own
    bounds = [NormalDist().inv_cdf(rate) for rate in rates]
    return np.asarray(latent < bounds, dtype=np.float64)
