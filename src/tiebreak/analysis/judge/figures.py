"""All that the ballots of a leaderboard show about its judge."""

from collections.abc import Sequence
from dataclasses import dataclass

from tiebreak.analysis.judge.coin import Cycles, coin_p, cycles_of
from tiebreak.analysis.judge.length import Length, length_of
from tiebreak.analysis.judge.position import Flips, Position, flips_of, place_of, position_of
from tiebreak.analysis.judge.replies import JudgeReplies, judge_replies
from tiebreak.rankers.uncertainty import Resampling
from tiebreak.scorers.ballots import ItemBallots


@dataclass(frozen=True, slots=True)
class JudgeFigures:
    """What the ballots show about the judge, or about reviewers taken together.

    `coin_p` is the p-value of "its verdicts are coin tosses", by models, seeds, flips and cycles;
    NaN where there is none of these.
    """

    position: Position
    flips: Flips
    length: Length
    cycles: Cycles
    coin_p: float
    replies: tuple[JudgeReplies, ...]


def judge_figures(items: Sequence[ItemBallots], *, how: Resampling = Resampling()) -> JudgeFigures:
    """Measure a judge by all items judged to the end, of one benchmark under one protocol."""
    matches = [match for item in items for match in item.matches]
    flips, cycles = flips_of(matches, level=how.level), cycles_of(items, how=how)
    by_place = place_of if not matches and any(item.listings for item in items) else position_of
    return JudgeFigures(
        position=by_place(items, level=how.level),
        flips=flips,
        length=length_of(items, level=how.level),
        cycles=cycles,
        coin_p=coin_p(items, flips.coin_p, cycles.coin_p),
        replies=judge_replies(items, level=how.level),
    )
