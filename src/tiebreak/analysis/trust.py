"""Whether the judge can be trusted, in one sentence: fine, unknown or doubtful, with reasons."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tiebreak.analysis.judge import PositionBias
from tiebreak.words import count

State = Literal["fine", "unknown", "doubtful"]

# The fewest verdicts at which a judge that chooses the first answer in 60% is found in half of the
# runs, by the exact binomial test at 1%.
ENOUGH_VERDICTS = 165


@dataclass(frozen=True, slots=True)
class Trust:
    """Whether the judge of a leaderboard can be trusted.

    `sentence` says it, and begins with who is meant; `reasons` are sentences that say why the state
    is "doubtful", empty in the other states.
    """

    state: State
    sentence: str
    reasons: tuple[str, ...] = ()


def trust_of(alarms: Sequence[str], position: PositionBias, *, by_matches: bool) -> Trust:
    """What the checks of a judge come to; `alarms` are sentences about what they found."""
    if alarms:
        return Trust("doubtful", f"The judge is doubtful: {alarms[0]}.", tuple(alarms))
    verdicts = count(position.n_first, "verdict")
    if not by_matches:
        return Trust("unknown", "The judge: this protocol gives nothing to check it by.")
    if position.n_first < ENOUGH_VERDICTS:
        few = f"too few verdicts ({position.n_first}) to tell whether it goes by position"
        return Trust("unknown", f"The judge: {few}.")
    return Trust("fine", f"The judge: no taste for a position found in {verdicts}.")
