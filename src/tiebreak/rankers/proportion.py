"""A share of counted events, with its interval."""

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Proportion:
    """`successes` of `n` events: `rate` in [0, 1] with a Wilson interval; all NaN when n is 0."""

    successes: int
    n: int
    rate: float
    lower: float
    upper: float
    level: float

    def excludes(self, value: float) -> bool:
        """Whether `value` lies outside the interval; False when there is no interval."""
        return value < self.lower or value > self.upper


def wilson(successes: int, n: int, *, level: float = 0.95) -> Proportion:
    """Rate and Wilson score interval (E. B. Wilson 1927, doi:10.1080/01621459.1927.10502953).

    The interval treats the events as independent of each other.

    Args:
        successes: number of events of the kind that is counted.
        n: number of events.
        level: confidence level, in (0, 1).

    Raises:
        ValueError: `successes` is not in 0 … n, or `level` is not in (0, 1).
    """
    if not 0 <= successes <= n:
        raise ValueError(f"successes must lie between 0 and n, got {successes} of {n}")
    if not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1, got {level}")
    if n == 0:
        return Proportion(0, 0, math.nan, math.nan, math.nan, level)
    # A second of import time that only this function needs.
    from scipy.stats import binomtest

    interval = binomtest(successes, n).proportion_ci(level, method="wilson")
    return Proportion(successes, n, successes / n, float(interval.low), float(interval.high), level)
