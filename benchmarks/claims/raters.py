"""Coverage of the intervals of agreement, of people who vote on pairs of answers or give stars.

The difference between the answers of a pair is normal. A rater reads it with an error of their own
(standard deviation 0.5, or 2 for raters who hardly agree), and votes for a tie if it seems small.
Every pair has two raters, or two to five of five. With stars a rater reads the quality of an answer
with the same error, and gives 0 to 3 stars by three cuts.

Shown:
    α and κ of raters: `rank` of a votes file, of pairs or of stars
"""

from collections.abc import Iterator

import numpy as np

from benchmarks.claims import Claim, in_tests, runs, share
from benchmarks.claims.worlds import Array, Generator
from tiebreak.analysis.judge.raters import agreement_of

HOLDS = (0.93, 0.97)
CUTS = (-1.2, -0.4, 0.6)
# The agreement of the raters on this many pairs counts as the truth.
LARGE = 20_000
SETTINGS = (
    *((2, 0.5, n_pairs) for n_pairs in (20, 60, 200)),
    *((2, 2.0, n_pairs) for n_pairs in (20, 60, 200)),
    *((5, 0.5, n_pairs) for n_pairs in (20, 60, 200)),
    *((5, 2.0, n_pairs) for n_pairs in (20, 60, 200)),
)


def claims(scale: float) -> Iterator[Claim]:
    """Coverage of the intervals of α and κ."""
    for stars in (False, True):
        for number, (raters, noise, n_pairs) in enumerate(SETTINGS):
            if not (in_tests(scale) and stars and number):
                yield from agreement(scale, number, raters, noise, n_pairs, stars=stars)


def agreement(
    scale: float, number: int, raters: int, noise: float, n_pairs: int, *, stars: bool
) -> Iterator[Claim]:
    """How often the 95% intervals hold α and κ of `LARGE` pairs, or answers."""
    rng = np.random.default_rng((71 + 2 * stars, number))
    truth = agreement_of(*drawn(rng, raters, noise, LARGE, stars=stars), stars=stars)
    rng, n_runs = np.random.default_rng((72 + 2 * stars, number)), runs(400, scale)
    held = np.zeros(2, dtype=int)
    for _ in range(n_runs):
        estimates = agreement_of(*drawn(rng, raters, noise, n_pairs, stars=stars), stars=stars)
        held += [
            estimate.lower <= true.value <= estimate.upper
            for estimate, true in zip(estimates, truth, strict=True)
        ]
    seen = "two raters" if raters == 2 else "two to five raters"
    setting = f"{seen}, error {noise:g} sd, {n_pairs} {'answers, stars' if stars else 'pairs'}"
    # With few pairs the intervals are wider than necessary.
    claimed = HOLDS if n_pairs >= 60 else (HOLDS[0], 1)
    for name, hits in zip(("Krippendorff's α", "Cohen's κ"), held.tolist(), strict=True):
        yield share(f"{name} of raters: interval", setting, hits, n_runs, claimed)


def drawn(
    rng: Generator, raters: int, noise: float, n_pairs: int, *, stars: bool = False
) -> tuple[Array, Array]:
    """Draw votes or stars, shape (n_pairs, raters), NaN if not rated; and the item of each row."""
    seen = rng.standard_normal((n_pairs, 1)) + noise * rng.standard_normal((n_pairs, raters))
    votes = np.where(np.abs(seen) < 0.4, 0.0, np.sign(seen))
    if stars:
        votes = np.sum(seen[..., None] > np.array(CUTS), axis=-1).astype(np.float64)
    if raters > 2:
        places = np.argsort(rng.random((n_pairs, raters)), axis=1)
        votes[places >= rng.integers(2, raters + 1, size=(n_pairs, 1))] = np.nan
    return votes, np.arange(n_pairs, dtype=np.float64)
