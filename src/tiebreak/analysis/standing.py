"""One model in a ranking: its place, the value that gave it, and how far both may be off."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from tiebreak.rankers import ItemBootstrap, competition_ranks
from tiebreak.rankers.profile import FloatArray


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
    def rows(
        cls,
        found: ItemBootstrap,
        models: Sequence[str],
        ranks: Sequence[float] | FloatArray | None = None,
        **others: Sequence[Any],
    ) -> tuple[Self, ...]:
        """The models of a bootstrap, best first; those without a rank last, equals by name.

        Args:
            found: scores with their intervals.
            models: the N models.
            ranks: shape (N,); by default the competition ranks by score.
            others: the fields of a subclass, a value for each model.
        """
        ranks = competition_ranks(found.score) if ranks is None else ranks
        rows = [
            cls(
                rank=whole(ranks[column]),
                model=model,
                value=float(found.score[column]),
                lower=float(found.lower[column]),
                upper=float(found.upper[column]),
                rank_lower=whole(found.rank_lower[column]),
                rank_upper=whole(found.rank_upper[column]),
                prob_first=float(found.prob_first[column]),
                **{name: values[column] for name, values in others.items()},
            )
            for column, model in enumerate(models)
        ]
        return tuple(sorted(rows, key=lambda row: (row.rank or math.inf, row.model)))


def mean(values: Iterable[float]) -> float:
    """Mean of the numbers that are defined; NaN without any."""
    defined = [value for value in values if not math.isnan(value)]
    return math.fsum(defined) / len(defined) if defined else math.nan


def whole(value: float) -> int | None:
    """A rank as a whole number, None where it is NaN."""
    return None if math.isnan(value) else int(value)
