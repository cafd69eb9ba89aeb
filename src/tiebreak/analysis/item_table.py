"""Items × models: what the ballots of a log say about every model in every item."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tiebreak.rankers import normalized_borda
from tiebreak.ranking_logs.read import Unranked, placement_of
from tiebreak.scorers.ballots import ItemBallots
from tiebreak.scorers.placement import NotPlacedError, Placement

FloatArray = NDArray[np.float64]


def place_all(
    items: Sequence[ItemBallots],
) -> tuple[list[ItemBallots], list[Placement], list[Unranked]]:
    """Items that can be ranked, with their placements, and the others with the reason."""
    ranked, placements, unplaced = [], [], []
    for item in items:
        try:
            placement = placement_of(item)
        except NotPlacedError as error:
            unplaced.append(Unranked(item.item_id, str(error), item.benchmark))
        else:
            ranked.append(item)
            placements.append(placement)
    return ranked, placements, unplaced


@dataclass(frozen=True, slots=True)
class ItemTable:
    """Ranked items × models, as arrays of shape (rows, N).

    `items` numbers the item of each row, and `item_ids` names it. `borda` is the normalized Borda
    score in [0, 1], `margins` the mean principle margin per match in [-1, 1], `native` the native
    score; NaN where the model has none in the item.
    """

    models: tuple[str, ...]
    item_ids: tuple[str, ...]
    items: NDArray[np.int64]
    borda: FloatArray
    margins: FloatArray
    native: FloatArray

    @staticmethod
    def of(items: Sequence[ItemBallots], placements: Sequence[Placement]) -> "ItemTable":
        """The table of some items with their placements, one row each."""
        models = tuple(sorted({model for item in items for model in item.models}))
        numbers = {item: number for number, item in enumerate({i.item_id: None for i in items})}

        def array(values: Iterable[Mapping[str, float | None]]) -> FloatArray:
            cells = [[or_nan(row.get(model)) for model in models] for row in values]
            return np.array(cells, dtype=np.float64).reshape(len(items), len(models))

        return ItemTable(
            models=models,
            item_ids=tuple(item.item_id for item in items),
            items=np.array([numbers[item.item_id] for item in items], dtype=np.int64),
            borda=normalized_borda(array(placement.ranks for placement in placements)),
            margins=array(placement.margins for placement in placements),
            native=array(item.native for item in items),
        )


def or_nan(value: float | None) -> float:
    """A number for a table: NaN where there is none."""
    return math.nan if value is None else value


def whole(value: float) -> int | None:
    """A rank as a whole number, None where it is NaN."""
    return None if math.isnan(value) else int(value)
