"""What a board would say at equal length: whether who leads, or any pair told apart, changes.

Where the longer of two answers wins more often between the same two models, the judge may go by
length, or longer answers are better: no ballot can tell. What can be told is whether it matters.
So every model's scores lose, item by item, what its length is worth there, and the tests of pairs
are made once more. The worth is the slope of scores on length within models, over items: score =
model + slope · x, where x is the mean of (a − b) / (a + b) over the lengths b of the other answers,
as in `--control length`. What makes an answer both longer and better goes with it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tiebreak.analysis.item_table import ItemTable
from tiebreak.analysis.judge.biases import Length
from tiebreak.rankers.pairwise_tests import Separation, item_means, paired_p
from tiebreak.rankers.profile import FloatArray, ratio
from tiebreak.scorers.ballots import ItemBallots


@dataclass(frozen=True, slots=True)
class EqualLength:
    """What changes on a board where the longer, or the shorter, answer gains (`length`).

    Of the `n_apart` pairs told apart, `lost` (better, worse) do not hold at equal length: their
    order turns, or the p-value of the pair alone is above 1 − level. `leader` has the highest score
    at equal length, where it is not in the board's top tier; else it is None.
    """

    length: Length
    n_apart: int
    lost: tuple[tuple[str, str], ...]
    leader: str | None

    @property
    def sensitive(self) -> bool:
        """Whether anything changes that the board says."""
        return bool(self.lost) or self.leader is not None


def at_equal_length(
    table: ItemTable, items: Sequence[ItemBallots], tests: Separation, length: Length
) -> EqualLength:
    """Test the board again at equal length.

    Args:
        table: the board's scores.
        items: the ballots of its rows.
        tests: of all pairs of `table`, in the order of the board.
        length: what the longer answer gains.
    """
    adjusted = _less_length(table.borda, _longer(items, table.models))
    scores = item_means(adjusted, table.items)
    lost = []
    for better, worse in tests.apart:
        leads = scores[:, better] - scores[:, worse]
        if not (np.nanmean(leads) > 0 and paired_p(leads) <= 1 - tests.level):
            lost.append((table.models[better], table.models[worse]))
    leader = max(tests.order, key=lambda column: float(np.nanmean(scores[:, column])))
    top = tests.order[: tests.groups[0].stop]
    return EqualLength(
        length, len(tests.apart), tuple(lost), None if leader in top else table.models[leader]
    )


def _longer(items: Sequence[ItemBallots], models: Sequence[str]) -> FloatArray:
    """By how much each answer is longer than the others of its item, in [-1, 1]; NaN if unknown."""
    table = np.full((len(items), len(models)), np.nan)
    for row, item in zip(table, items, strict=True):
        lengths = {
            model: item.lengths[group[0]]
            for group in item.groups
            if group[0] in item.lengths
            for model in group
        }
        known = [column for column, model in enumerate(models) if model in lengths]
        length = np.array([lengths[models[column]] for column in known], dtype=np.float64)
        total = length[:, None] + length[None, :]
        more = np.divide(
            length[:, None] - length[None, :], total, out=np.zeros_like(total), where=total > 0
        )
        row[known] = more.sum(axis=1) / max(len(known) - 1, 1)
    return table


def _less_length(scores: FloatArray, longer: FloatArray) -> FloatArray:
    """Scores less what length is worth, shape (rows, N); where it is unknown they stay."""
    known = ~np.isnan(scores) & ~np.isnan(longer)
    y, x = (
        np.where(known, values - ratio(np.sum(values, axis=0, where=known), known.sum(axis=0)), 0)
        for values in (scores, longer)
    )
    spread = float(np.sum(x * x))
    slope = float(np.sum(x * y)) / spread if spread > 0 else 0.0
    adjusted: FloatArray = scores - slope * np.nan_to_num(longer)
    return adjusted
