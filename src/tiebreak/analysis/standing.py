"""One model in a ranking: its place, the value that gave it, and how far both may be off."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from tiebreak.rankers import ItemBootstrap


@dataclass(frozen=True, slots=True)
class Standing:
    """One model in a ranking.

    `rank` is the competition rank ("1, 2, 2, 4"), None where the value is undefined. `lower`,
    `upper`, `rank_lower` (the better) and `rank_upper` bound value and rank under resampled items:
    NaN and None where there is no interval. `prob_first` is the share of the draws in which the
    model came first.
    """

    NAME: ClassVar = "value"
    """What the value is, and its key in JSON and CSV."""

    rank: int | None
    model: str
    value: float
    lower: float
    upper: float
    rank_lower: int | None
    rank_upper: int | None
    prob_first: float

    @classmethod
    def of(cls, found: ItemBootstrap, column: int, model: str, rank: float, **others: Any) -> Self:
        """The standing of one column of a bootstrap; `others` are the fields of a subclass."""
        return cls(
            rank=whole(rank),
            model=model,
            value=float(found.score[column]),
            lower=float(found.lower[column]),
            upper=float(found.upper[column]),
            rank_lower=whole(found.rank_lower[column]),
            rank_upper=whole(found.rank_upper[column]),
            prob_first=float(found.prob_first[column]),
            **others,
        )


def best_first(row: Standing) -> tuple[float, str]:
    """A key that sorts by rank, then by name; models without a rank come last."""
    return row.rank or math.inf, row.model


def whole(value: float) -> int | None:
    """A rank as a whole number, None where it is NaN."""
    return None if math.isnan(value) else int(value)
