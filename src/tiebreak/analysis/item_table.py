"""Scores of every model in every item from the ballots of a log, as arrays."""

import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tiebreak.rankers.profile import FloatArray
from tiebreak.ranking_logs.log import RankedItem, placement_of
from tiebreak.scorers.ballots import ItemBallots, Rule
from tiebreak.scorers.placement import NotPlacedError, board_scores, mean_results
from tiebreak.scorers.rules import RULES


class ItemTable(NamedTuple):
    """Ranked items × models, as arrays of shape (rows, N).

    `items` numbers the item of each row, with one number for all items made from one question
    (`cluster` of `ItemBallots`), and `item_ids` names it. Column means of `borda` are the
    leaderboard's scores (`board_scores`); `margins` is the mean principle margin per match in
    [-1, 1], `native` the native score; NaN if the model has none in the item.
    """

    models: tuple[str, ...]
    item_ids: tuple[str, ...]
    items: NDArray[np.int64]
    borda: FloatArray
    margins: FloatArray
    native: FloatArray

    @staticmethod
    def of(ranked: Sequence[RankedItem]) -> "ItemTable":
        """The table of the ranked items, one row each."""
        items = [ballots for ballots, _ in ranked]
        models = tuple(sorted({model for item in items for model in item.models}))
        units = [item.cluster or item.item_id for item in items]
        numbers = {unit: number for number, unit in enumerate(dict.fromkeys(units))}

        def array(values: Iterable[Mapping[str, float | None]]) -> FloatArray:
            cells = [[or_nan(row.get(model)) for model in models] for row in values]
            return np.array(cells, dtype=np.float64).reshape(len(items), len(models))

        return ItemTable(
            models=models,
            item_ids=tuple(item.item_id for item in items),
            items=np.array([numbers[unit] for unit in units], dtype=np.int64),
            borda=board_scores(items, [placement for _, placement in ranked], models),
            margins=array(placement.margins for _, placement in ranked),
            native=array(item.native for item in items),
        )


def placed(items: Iterable[ItemBallots], rule: Rule | None = None) -> tuple[RankedItem, ...]:
    """Items placed by `rule`, or by their own; items that the rule cannot rank are left out."""
    ranked = []
    for item in items:
        with suppress(NotPlacedError):
            ranked.append(RankedItem(item, placement_of(item, rule)))
    return tuple(ranked)


def protocol_scores(table: ItemTable, ranked: Sequence[RankedItem]) -> FloatArray:
    """Scores of each model in each item on the protocol's own scale: shape (rows, N), in [0, 1].

    These are the scores of SEAL's table 9; the gains of table 1 follow from their spread:

        matches          the mean result over the model's own (1, ½ for a tie, 0), in every item
        grades           the grade
        lists, reviews   the normalized Borda score
        native           the native score

    The sums of the printed scores over the N = 8 models show it. Borda scores sum to N/2 = 4, as
    Listwise's do. So do results of all pairs (FullPair: 3.99 to 4.00, because some verdicts are
    unusable). In a bracket the loser of a match in round 1 plays no other match: if a share d of
    the matches of round 1 and d₂ of round 2 has a winner, the sum is about 4 − 7d/6 − d₂/6 (SEAL:
    3.36 to 3.76). The printed scores are not results pooled over items: weighted by matches these
    have a mean of ½, but at most one model of FlatBrk and two of SEAL are above ½, by too little.

    Models with identical answers are tied; if all are identical, none is graded and grades are NaN.
    A cell is NaN if no ballot is about the model. Under the rule `points` a cell is that of
    `board_scores`, a mean of results by pair.
    """
    scores = table.borda.copy()
    for row, (item, _) in enumerate(ranked):
        if (own_scores := _own_scores(item)) is not None:
            scores[row] = [or_nan(own_scores.get(model)) for model in table.models]
    return scores


def _own_scores(item: ItemBallots) -> Mapping[str, float | None] | None:
    """Scores of an item on its protocol's own scale, None if that is the Borda score."""
    rule = RULES[item.placed_by]
    if rule.asks is None:
        return item.native
    if rule.by_grades:
        members = {group[0]: group for group in item.groups}
        return {model: score.score for score in item.scores for model in members[score.candidate]}
    if rule.by_matches and item.placed_by != "points":
        return dict(mean_results(item))
    return None


def or_nan(value: float | None) -> float:
    """The value, or NaN for None."""
    return math.nan if value is None else value
