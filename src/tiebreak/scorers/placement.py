"""From the ballots of one item to the ranking of its candidates, by the rule that they name.

Models whose answers are identical share the mean of the ranks that they take up together. A
candidate about which no ballot says anything (its call is unscored) has no rank in the item.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

from tiebreak.rankers import mean_ranks
from tiebreak.scorers.ballots import ItemBallots
from tiebreak.scorers.rules import RULES, NotPlacedError, mean_margins, tied_groups

__all__ = ["NotPlacedError", "Placement", "place", "results"]


@dataclass(frozen=True)
class Placement:
    """Ranking of one item.

    `order` lists groups of tied models, best first. `ranks` gives every ranked model's mean rank
    (1 = best). `margins` gives its mean principle margin per scored match, in [-1, 1], NaN where it
    has none.
    """

    order: tuple[tuple[str, ...], ...]
    ranks: Mapping[str, float]
    margins: Mapping[str, float]


def place(ballots: ItemBallots) -> Placement:
    """Rank the candidates of one item.

    Raises:
        NotPlacedError: the item was skipped, judging was cut short, or no ballot says anything
            about two candidates.
    """
    if ballots.skipped:
        after, of = ballots.skipped.after, ballots.skipped.of
        raise NotPlacedError(f"skipped: the ranking was decided after {after} of {of} items")
    if not ballots.complete:
        raise NotPlacedError("judging was cut short")
    rule = RULES[ballots.placed_by]
    if rule.asks and len(ballots.groups) == 1:
        ranks: Mapping[str, float] = mean_ranks(ballots.groups)
    else:
        ranks = rule.ranks(ballots)
    margins = mean_margins(ballots.matches)
    return Placement(
        order=tuple(map(tuple, tied_groups({model: -rank for model, rank in ranks.items()}))),
        ranks=ranks,
        margins={m: margins.get(group[0], math.nan) for group in ballots.groups for m in group},
    )


def results(ballots: ItemBallots) -> list[tuple[str, str, float]]:
    """All results of an item between models: (one, other, 1 / ½ / 0 for the one).

    A match counts for every model that gave the answer, and models with identical answers are tied.
    Matches without a verdict are left out.
    """
    members = {group[0]: group for group in ballots.groups}
    found = [
        (one, other, match.result)
        for match in ballots.matches
        if match.result is not None
        for one in members[match.high]
        for other in members[match.low]
    ]
    return found + [(*pair, 0.5) for group in ballots.groups for pair in combinations(group, 2)]
