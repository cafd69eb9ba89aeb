"""What a few spoilt scores of one model do to its rank (§4.2)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike

from tiebreak.rankers.csd.contest import CsdOptions, CsdResult, csd
from tiebreak.rankers.csd.inputs import ContestSettingError, FloatArray, Rounds
from tiebreak.rankers.errors import InfiniteRankError
from tiebreak.rankers.ranks import competition_ranks


@dataclass(frozen=True, eq=False, slots=True)
class Perturbation:
    """All models before and after, by CSD and by plain mean score.

    `mean_before` and `mean_after`, shape (M,): mean score over the benchmarks that the rounds use,
    each with the same weight. The rank properties are those of `model`, 1 = best.
    """

    model: int
    benchmarks: tuple[int, ...]
    value: float
    before: CsdResult
    after: CsdResult
    mean_before: FloatArray
    mean_after: FloatArray

    @property
    def csd_ranks(self) -> tuple[int, int]:
        """Competition rank of the model by CSD, before and after."""
        return int(self.before.rank[self.model]), int(self.after.rank[self.model])

    @property
    def mean_ranks(self) -> tuple[int, int]:
        """Competition rank of the model by plain mean score, before and after."""
        before, after = competition_ranks(self.mean_before), competition_ranks(self.mean_after)
        return int(before[self.model]), int(after[self.model])


def perturb(
    scores: ArrayLike,
    model: int,
    benchmarks: Sequence[int],
    value: float = 0.0,
    rounds: Rounds | None = None,
    eliminate: int | Sequence[int] = 0,
    **options: Unpack[CsdOptions],
) -> Perturbation:
    """Give one model the same score in some benchmarks, and compare the ranks (§4.2).

    Both contests use the same random numbers.

    Args:
        scores: shape (M, B), as in `csd`.
        model: row of the model.
        benchmarks: columns, at least one, to overwrite.
        value: the score that the model gets there; the paper's example is 0, a failed API.
        rounds: as in `csd`.
        eliminate: as in `csd`.
        options: the other arguments of `csd`.

    Raises:
        RankingError: as `csd`; or there is no such model or benchmark, or `value` is not finite.
    """
    before = csd(scores, rounds, eliminate, **options)
    table = np.array(scores, dtype=np.float64)
    columns = tuple(int(column) for column in benchmarks)
    if not 0 <= model < len(table):
        raise ContestSettingError(f"there is no model {model}, only 0 … {len(table) - 1}")
    if not columns or min(columns) < 0 or max(columns) >= table.shape[1]:
        raise ContestSettingError(
            f"benchmarks must be some of 0 … {table.shape[1] - 1}, got {columns}"
        )
    if not np.isfinite(value):
        raise InfiniteRankError(f"value must be a finite score, got {value}")
    spoilt = table.copy()
    spoilt[model, list(columns)] = value
    used = sorted({column for names in rounds for column in names}) if rounds else slice(None)
    return Perturbation(
        model=model,
        benchmarks=columns,
        value=float(value),
        before=before,
        after=csd(spoilt, rounds, eliminate, **options),
        mean_before=np.nanmean(table[:, used], axis=1),
        mean_after=np.nanmean(spoilt[:, used], axis=1),
    )
