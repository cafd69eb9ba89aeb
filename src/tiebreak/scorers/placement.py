"""From the ballots of one item to the ranking of its candidates, by the rule that they name.

Models whose answers are identical share the mean of the ranks that they take up together. A
candidate about which no ballot says anything (its call is unscored) has no rank in the item.

The correctness guard: in a stratified item answers that are verified to have failed come after
those that passed, whatever the judge said, and lose every match between the two. What a judge
grades on a scale of its own, points and stars, stays as it was given.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tiebreak.rankers import mean_ranks
from tiebreak.rankers.matches import Matches
from tiebreak.rankers.points import pair_points
from tiebreak.rankers.profile import FloatArray
from tiebreak.scorers.ballots import ItemBallots, Rule
from tiebreak.scorers.orders import (
    NotPlacedError,
    guarded,
    mean_points,
    mean_results,
    own_margins,
    results,
    review_ranks,
    star_scores,
    tied_groups,
    without_judge,
)
from tiebreak.scorers.rules import RULES

__all__ = [
    "NotPlacedError",
    "Placement",
    "board_scores",
    "mean_results",
    "place",
    "results",
    "review_ranks",
]


@dataclass(frozen=True)
class Placement:
    """Ranking of one item.

    `order` lists groups of tied models, best first. `ranks` gives every ranked model's mean rank
    (1 = best), and `borda` its score in the item, in [0, 1]: (N − rank) / (N − 1), or under the
    rule `points` its mean result, under `stars` a third of its stars. `margins` gives its mean
    principle margin per scored match, in [-1, 1], NaN where it has none.
    """

    order: tuple[tuple[str, ...], ...]
    ranks: Mapping[str, float]
    borda: Mapping[str, float]
    margins: Mapping[str, float]


def place(ballots: ItemBallots, rule: Rule | None = None) -> Placement:
    """Rank the candidates of one item, by the rule that its ballots name or by another that fits.

    Raises:
        NotPlacedError: the item was skipped, judging was cut short, or no ballot says anything
            about two candidates.
    """
    if ballots.skipped:
        after, of = ballots.skipped.after, ballots.skipped.of
        raise NotPlacedError(f"skipped: the ranking was decided after {after} of {of} items")
    if not ballots.complete:
        raise NotPlacedError("judging was cut short")
    name = rule or ballots.placed_by
    if RULES[name].asks and not RULES[name].judges_one and len(ballots.groups) == 1:
        ranks: Mapping[str, float] = mean_ranks(ballots.groups)
    else:
        ranks = RULES[name].ranks(ballots)
    ranks = guarded(ballots, ranks)
    margins = {
        name: math.fsum(values) / len(values)
        for name, values in own_margins(ballots.matches).items()
    }
    own_scale = {"points": mean_points, "stars": star_scores}.get(name)
    borda = own_scale(ballots) if own_scale else _borda(ranks)
    return Placement(
        order=tuple(map(tuple, tied_groups({model: -rank for model, rank in ranks.items()}))),
        ranks=ranks,
        borda=borda,
        margins={m: margins.get(group[0], math.nan) for group in ballots.groups for m in group},
    )


def board_scores(
    ballots: Sequence[ItemBallots], placements: Sequence[Placement], models: Sequence[str]
) -> FloatArray:
    """A table of items × models whose column means are the Borda scores of a leaderboard.

    Under the rule `points` results are averaged by pair over all items first (`pair_points`), so a
    cell is no figure of the item alone; it is under all other rules. `placements` are the rankings
    of the ballots.

    Returns:
        Shape (items, models), NaN where a model has no rank.
    """
    if any(item.placed_by == "points" for item in ballots):
        return _points(ballots, {model: number for number, model in enumerate(models)})
    cells = [[placement.borda.get(model, math.nan) for model in models] for placement in placements]
    table: FloatArray = np.array(cells, np.float64).reshape(len(placements), len(models))
    return table


def _borda(ranks: Mapping[str, float]) -> dict[str, float]:
    """The share of the others that each candidate leaves behind; none where it is alone."""
    n = len(ranks)
    return {model: (n - rank) / (n - 1) for model, rank in ranks.items()} if n > 1 else {}


def _points(items: Sequence[ItemBallots], column: Mapping[str, int]) -> FloatArray:
    present = np.zeros((len(items), len(column)), dtype=np.bool_)
    judged: list[tuple[int, int, float, int]] = []
    known: list[tuple[int, int, float, int]] = []
    for row, item in enumerate(items):
        present[row, [column[model] for model in item.models]] = True
        without = without_judge(item)
        judged += (
            (column[first], column[other], result, row)
            for first, other, result in results(item)
            if (first, other) not in without and (other, first) not in without
        )
        known += ((column[a], column[b], result, row) for (a, b), result in without.items())
    baselines = {item.baseline for item in items}
    against = column[baselines.pop()] if len(baselines) == 1 and "" not in baselines else None
    sizes = len(column), len(items)
    return pair_points(_matches(judged, *sizes), _matches(known, *sizes), present, against=against)


def _matches(
    results: Sequence[tuple[int, int, float, int]], n_models: int, n_items: int
) -> Matches | None:
    if not results:
        return None
    first, other, result, item_of = zip(*results, strict=True)
    return Matches.of(first, other, result, item_of, n_models, n_items)
