"""One model in a ranking: its place, the value that determines it, and the error of both."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from tiebreak.rankers import ItemBootstrap, competition_ranks
from tiebreak.rankers.pairwise_tests import Separation
from tiebreak.rankers.profile import FloatArray


@dataclass(frozen=True, slots=True)
class Placed:
    """One model in a ranking by some value.

    `rank` is the competition rank ("1, 2, 2, 4"), None if the value is undefined. `lower` and
    `upper` bound the value under resampled items, NaN without an interval.
    """

    NAME: ClassVar = "value"
    """The name of the value, its key in JSON and CSV."""

    rank: int | None
    model: str
    value: float
    lower: float
    upper: float

    @classmethod
    def rows(
        cls,
        bootstrap: ItemBootstrap,
        models: Sequence[str],
        ranks: Sequence[float] | FloatArray | None = None,
        within: tuple[float, float] = (-math.inf, math.inf),
        /,
        **columns: Sequence[Any],
    ) -> tuple[Self, ...]:
        """Rows for the models of a bootstrap: best first, equals by name, unranked models last.

        `ranks`, shape (N,), are by default the competition ranks by score; `columns` are the fields
        of a subclass, a value for each of the N models. Values and bounds are clipped to `within`,
        the range of possible true values; the coverage of the interval stays the same.
        """
        value, lower, upper = np.clip([bootstrap.score, bootstrap.lower, bootstrap.upper], *within)
        ranks = competition_ranks(bootstrap.score) if ranks is None else ranks
        rows = [
            cls(
                rank=whole(ranks[column]),
                model=model,
                value=float(value[column]),
                lower=float(lower[column]),
                upper=float(upper[column]),
                **{name: values[column] for name, values in columns.items()},
            )
            for column, model in enumerate(models)
        ]
        return tuple(sorted(rows, key=lambda row: (row.rank or math.inf, row.model)))


@dataclass(frozen=True, slots=True)
class Standing(Placed):
    """One model in a ranking whose models are tested pair by pair.

    `rank_lower` (the better) and `rank_upper` cover the true ranks of all models at once with the
    probability `level` (see `Separation`); None without an interval. `first_share` is the share
    of resamples in which the model came first. It is not the probability of being the best: in
    10–17% of simulated boards of two equal models one of them has 95% or more.
    """

    rank_lower: int | None
    rank_upper: int | None
    first_share: float


def left_open(bootstrap: ItemBootstrap, pairs: Separation) -> dict[str, list[Any]]:
    """Fields of a `Standing` that come from tests and resamples, a value for each of N models."""
    n = len(bootstrap.score)
    lower: list[int | None] = [None] * n
    upper: list[int | None] = [None] * n
    for place, column in enumerate(pairs.order):
        if not math.isnan(bootstrap.lower[column]):
            lower[column], upper[column] = pairs.rank_lower[place], pairs.rank_upper[place]
    return {"rank_lower": lower, "rank_upper": upper, "first_share": bootstrap.first_share.tolist()}


def best_first(ranks: Sequence[float] | FloatArray, models: Sequence[str]) -> list[int]:
    """Columns of the models that have a rank, in the order of `Placed.rows`."""
    known = [column for column in range(len(models)) if not math.isnan(ranks[column])]
    return sorted(known, key=lambda column: (ranks[column], models[column]))


def mean(values: Iterable[float]) -> float:
    """Mean of the values that are not NaN; NaN without any."""
    defined = [value for value in values if not math.isnan(value)]
    return math.fsum(defined) / len(defined) if defined else math.nan


def whole(value: float) -> int | None:
    """A rank as an integer, None for NaN."""
    return None if math.isnan(value) else int(value)
