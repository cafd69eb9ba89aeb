"""Correlation of raters with a human ranking, item by item and over all items (`alignment`)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tiebreak.analysis.alignment.raters import RaterKind, Ratings
from tiebreak.rankers.agreement import kendall_tau_many, pearson_many, spearman_many
from tiebreak.rankers.intervals import Estimate, ItemDraws
from tiebreak.rankers.profile import FloatArray
from tiebreak.rankers.ranks import DECIMALS
from tiebreak.rankers.stability import hull

_QUANTILES = (0, 0.25, 0.5, 0.75, 1)
_TELLS_NOTHING = "in no item does the rater tell the models apart"
_TIES_ALL = "the rater ties all models, or ranks fewer than two"


@dataclass(frozen=True, eq=False, slots=True)
class Correlation:
    """A rater's correlation with the human ranking, in [-1, 1], row by row and over all rows.

    `values`, shape (rows,), are the correlations in the rows: NaN where the rater ranks fewer than
    two of the models (no usable reply, identical answers), or ties all. The rest describes the
    `n_rows` that are defined (`n_undefined` are not): `mean` with its interval, `sd` (divided by
    n − 1), and quantiles, linearly interpolated. `macro` is the correlation of the mean ranks.
    """

    values: FloatArray
    n_rows: int
    n_undefined: int
    mean: Estimate
    sd: float
    minimum: float
    lower_quartile: float
    median: float
    upper_quartile: float
    maximum: float
    macro: Estimate


@dataclass(frozen=True, eq=False, slots=True)
class Rater:
    """Who ranks the models: a reviewer, an aggregator, a view, or `native`, the benchmark's score.

    The views are SR, PR, SIA and SFA: see `rankers.views`.
    `pearson` is that of ranks (without ties: Spearman's ρ), or of mean ranks where these are asked
    for; `kendall` is τ-b.
    """

    kind: RaterKind
    name: str
    pearson: Correlation
    kendall: Correlation


def correlate(raters: Sequence[Ratings], people: FloatArray, draws: ItemDraws) -> tuple[Rater, ...]:
    """The raters' correlations with the human ranks.

    The interval of `mean` is that of a mean. Those of the macro figures are wider than percentile
    intervals, as in `resample_agreement`: noise in the mean ranks pulls a correlation to 0, and
    drawn items are noisier still. How many hold the truth is in docs/statistics.md (`agreement`,
    `views`): nearly all of 8 models whose true means are 0.44 standard deviations of a score apart;
    0.06 apart 72% of Pearson's and 55% of Kendall's with 20 items, and of SR, where all models
    favour themselves, 57% and 46%. Where models are that close, the value itself is too low.

    Args:
        raters: their ranks of N models.
        people: shape (N,), the human ranks, lower is better; without NaN, and not all equal.
        draws: the items of the rows; each draw of items is one for all raters.
    """
    by_row = [
        many(one.ranks, people).round(DECIMALS)
        for one in raters
        for many in (pearson_many if one.as_given else spearman_many, kendall_tau_many)
    ]
    means = draws.means(np.stack(by_row, axis=1), _TELLS_NOTHING)
    macros = _macro(raters, people, draws)
    both = [_described(*row) for row in zip(by_row, means, macros, strict=True)]
    return tuple(
        Rater(one.kind, one.name, pearson, kendall)
        for one, pearson, kendall in zip(raters, both[::2], both[1::2], strict=True)
    )


def _described(values: FloatArray, mean: Estimate, macro: Estimate) -> Correlation:
    defined = values[~np.isnan(values)]
    quantiles = np.quantile(defined, _QUANTILES) if defined.size else np.full(5, np.nan)
    minimum, lower, median, upper, maximum = quantiles.tolist()
    return Correlation(
        values=values,
        n_rows=defined.size,
        n_undefined=values.size - defined.size,
        mean=mean,
        sd=float(np.std(defined, ddof=1)) if defined.size > 1 else math.nan,
        minimum=minimum,
        lower_quartile=lower,
        median=median,
        upper_quartile=upper,
        maximum=maximum,
        macro=macro,
    )


def _macro(raters: Sequence[Ratings], people: FloatArray, draws: ItemDraws) -> tuple[Estimate, ...]:
    """Pearson and Kendall of every rater's means over rows, one after the other."""
    amounts = np.hstack([one.amounts for one in raters])
    present = ~np.isnan(amounts)
    ranked = np.stack([np.any(~np.isnan(one.ranks), axis=1) for one in raters], axis=1)

    def figures(totals: FloatArray) -> FloatArray:
        sums, counts = np.hsplit(totals, 2)
        means = np.divide(sums, counts, out=np.full_like(sums, np.nan), where=counts > 0)
        of_raters = np.hsplit(means, len(raters))
        both = (pearson_many, kendall_tau_many)
        values = [many(one, people) for one in of_raters for many in both]
        return np.stack(values, axis=1).round(DECIMALS)

    sums = np.hstack([np.nan_to_num(amounts), present.astype(np.float64)])
    found = draws.figures(sums, figures, np.repeat(ranked, 2, axis=1), _TIES_ALL)
    return tuple(map(_widened, found))


def _widened(figure: Estimate) -> Estimate:
    value, lower, upper = hull(figure.value, figure.lower, figure.upper)
    return replace(figure, value=value, lower=lower, upper=upper)
