"""Items × models: what the ballots of a log say about every model in every item."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tiebreak.rankers.profile import FloatArray
from tiebreak.ranking_logs.log import RankedItem
from tiebreak.scorers.placement import board_scores


@dataclass(frozen=True, slots=True)
class ItemTable:
    """Ranked items × models, as arrays of shape (rows, N).

    `items` numbers the item of each row, and `item_ids` names it. Column means of `borda` are the
    leaderboard's scores (`board_scores`); `margins` is the mean principle margin per match in
    [-1, 1], `native` the native score; NaN where the model has none in the item.
    """

    models: tuple[str, ...]
    item_ids: tuple[str, ...]
    items: NDArray[np.int64]
    borda: FloatArray
    margins: FloatArray
    native: FloatArray

    @staticmethod
    def of(ranked: Sequence[RankedItem]) -> "ItemTable":
        """The table of some items, one row each."""
        items = [ballots for ballots, _ in ranked]
        models = tuple(sorted({model for item in items for model in item.models}))
        numbers = {item: number for number, item in enumerate({i.item_id: None for i in items})}

        def array(values: Iterable[Mapping[str, float | None]]) -> FloatArray:
            cells = [[or_nan(row.get(model)) for model in models] for row in values]
            return np.array(cells, dtype=np.float64).reshape(len(items), len(models))

        return ItemTable(
            models=models,
            item_ids=tuple(item.item_id for item in items),
            items=np.array([numbers[item.item_id] for item in items], dtype=np.int64),
            borda=board_scores(items, [placement for _, placement in ranked], models),
            margins=array(placement.margins for _, placement in ranked),
            native=array(item.native for item in items),
        )


def or_nan(value: float | None) -> float:
    """A number for a table: NaN where there is none."""
    return math.nan if value is None else value
