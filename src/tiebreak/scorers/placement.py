"""From the matches of one item to the full ranking of its candidates (SEAL, §2.3).

Champion, runner-up, then each elimination round, the latest first. Those who went out in the same
round are ordered by their mean principle margin per match, then by seed. Models whose answers are
identical share the mean of the ranks that they take up together.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from tiebreak.rankers import mean_ranks
from tiebreak.scorers.ballots import ItemBallots, Match


@dataclass(frozen=True)
class Placement:
    """Ranking of one item.

    `order` lists groups of tied models, best first. `ranks` gives every model's mean rank
    (1 = best; N models). `margins` gives its mean principle margin per scored match, in [-1, 1],
    NaN where it has none.
    """

    order: tuple[tuple[str, ...], ...]
    ranks: Mapping[str, float]
    margins: Mapping[str, float]


class NotPlacedError(ValueError):
    """The ballots of an item do not give a ranking; the message says why."""


def place(ballots: ItemBallots) -> Placement:
    """Rank the candidates of one item.

    Raises:
        NotPlacedError: judging was cut short, or not one match has a verdict (seeds alone would
            then decide everything).
    """
    if not ballots.complete:
        raise NotPlacedError("judging was cut short")
    if ballots.matches and all(match.unscored for match in ballots.matches):
        raise NotPlacedError(f"no match has a verdict ({ballots.matches[0].unscored})")
    margins = {rep: mean_margin(rep, ballots.matches) for rep in ballots.seeds}
    members = {group[0]: group for group in ballots.groups}
    order = tuple(members[rep] for rep in _order(ballots, margins))
    return Placement(
        order=order,
        ranks=mean_ranks(order),
        margins={model: margins[group[0]] for group in order for model in group},
    )


def mean_margin(candidate: str, matches: tuple[Match, ...]) -> float:
    """Mean principle margin of a candidate over its scored matches; NaN where it has none."""
    own = [
        match.margin if match.high == candidate else -match.margin
        for match in matches
        if match.margin is not None and candidate in (match.high, match.low)
    ]
    return math.fsum(own) / len(own) if own else math.nan


def _order(ballots: ItemBallots, margins: Mapping[str, float]) -> list[str]:
    """Representatives, best first."""
    out_in = {match.loser: match.round for match in ballots.matches}
    seed = {rep: position for position, rep in enumerate(ballots.seeds)}

    def key(rep: str) -> tuple[float, float, int]:
        # The champion never went out. Without a scored match there is no evidence of strength:
        # such a candidate comes last among those of its round.
        margin = margins[rep]
        return (
            -out_in.get(rep, math.inf),
            math.inf if math.isnan(margin) else -margin,
            seed[rep],
        )

    return sorted(ballots.seeds, key=key)
