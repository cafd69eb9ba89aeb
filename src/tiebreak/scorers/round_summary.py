"""What a round has shown: how its votes on every principle fell, and who plays on (SEAL, §2.2).

Pure functions of the round's matches. The meta-judge reads the summary before it writes a new
checklist item.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tiebreak.scorers.ballots import Match
from tiebreak.scorers.match import CLOSE_MARGIN, EPSILON, is_close, principle_parts

MOST_SHOWN: Final = 4
"""The answers of those who remain are shown when there are at most so many: from the semi-finals
on, where matches are between strong candidates, and for a few percent of an item's price."""


@dataclass(frozen=True, slots=True)
class PrincipleTally:
    """The votes on a principle over the matches of a round that have a verdict.

    In `decided` matches they were for a side, in `even` ones for none; of several verdicts the mean
    counts, as for the margin. `size` is the mean of |weight · confidence · vote| over the matches,
    in [0, `weight`]; NaN without a match.
    """

    id: str
    weight: float
    decided: int
    even: int
    size: float

    @property
    def under_resolved(self) -> bool:
        """Whether `size` is below `CLOSE_MARGIN` of the weight: as weak as a close match.

        At the weight itself every match has a vote for a side with full confidence.
        """
        return self.size < CLOSE_MARGIN * self.weight


@dataclass(frozen=True, slots=True)
class RoundSummary:
    """A round: its `n_matches` with a verdict, of which `n_close` were close, and its principles.

    `remaining` are those of the `n_candidates` who play on, by name.
    """

    number: int
    n_matches: int
    n_close: int
    principles: tuple[PrincipleTally, ...]
    remaining: tuple[str, ...]
    n_candidates: int

    @property
    def under_resolved(self) -> tuple[str, ...]:
        """Ids of the principles that do not tell candidates apart yet."""
        return tuple(principle.id for principle in self.principles if principle.under_resolved)

    def others(self, match: Match) -> tuple[str, ...]:
        """Who remains beside the two of a match; nobody where too many remain to be shown."""
        if len(self.remaining) > MOST_SHOWN:
            return ()
        return tuple(name for name in self.remaining if name not in (match.high, match.low))


def summarise(
    matches: Sequence[Match],
    number: int,
    weights: Mapping[str, float],
    remaining: Sequence[str],
    n_candidates: int,
) -> RoundSummary:
    """Sum up round `number` of an item's matches, of which those of all rounds are given.

    `remaining` are those of the `n_candidates` who play on.

    Raises:
        KeyError: a verdict has no vote on a principle.
    """
    scored = [match for match in matches if match.round == number and match.margin is not None]
    parts = [principle_parts(match, weights) for match in scored]
    return RoundSummary(
        number=number,
        n_matches=len(scored),
        n_close=sum(map(is_close, scored)),
        principles=tuple(
            _tally(id, weight, [abs(part[id]) for part in parts]) for id, weight in weights.items()
        ),
        remaining=tuple(sorted(remaining)),
        n_candidates=n_candidates,
    )


def _tally(id: str, weight: float, sizes: Sequence[float]) -> PrincipleTally:
    decided = sum(size > EPSILON for size in sizes)
    mean = math.fsum(sizes) / len(sizes) if sizes else math.nan
    return PrincipleTally(id, weight, decided, len(sizes) - decided, mean)
