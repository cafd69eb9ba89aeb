"""All that the ballots of a leaderboard show about its judge."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tiebreak.analysis.judge.coin import Cycles, coin_p, cycles_of
from tiebreak.analysis.judge.correctness import Correctness, correctness_of
from tiebreak.analysis.judge.length import Length, length_of
from tiebreak.analysis.judge.position import (
    Flips,
    Position,
    enough_verdicts,
    flips_of,
    place_of,
    position_of,
)
from tiebreak.analysis.judge.replies import JudgeReplies, judge_replies
from tiebreak.rankers.uncertainty import Resampling
from tiebreak.scorers.ballots import ItemBallots
from tiebreak.scorers.match import one_verdict_an_order


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
    correctness: Correctness
    replies: tuple[JudgeReplies, ...]

    def corrected(self, tests: int) -> "JudgeFigures":
        """The same as one of so many judges that are tested: p times their number (Bonferroni)."""
        # In this order of arguments NaN stays NaN.
        position, flips, length = self.position, self.flips, self.length
        return replace(
            self,
            position=replace(
                position,
                p=min(tests * position.p, 1.0),
                enough=position.n >= enough_verdicts(tests),
            ),
            flips=replace(flips, p=min(tests * flips.p, 1.0)),
            length=replace(length, p=min(tests * length.p, 1.0)),
            coin_p=min(tests * self.coin_p, 1.0),
        )


def as_one_judge(item: ItemBallots) -> ItemBallots:
    """An item whose matches have one verdict for each order; those of one judge as they are."""
    if len({verdict.judge for match in item.matches for verdict in match.verdicts}) < 2:
        return item
    return item.model_copy(update={"matches": tuple(map(one_verdict_an_order, item.matches))})


def judge_figures(items: Sequence[ItemBallots], *, how: Resampling = Resampling()) -> JudgeFigures:
    """Measure a judge by all items judged to the end, of one benchmark under one protocol.

    A jury counts as one judge, whose margins are the means of its members'.
    """
    replies, items = judge_replies(items, level=how.level), [*map(as_one_judge, items)]
    matches = [match for item in items for match in item.matches]
    flips, cycles = flips_of(matches, level=how.level), cycles_of(items, how=how)
    by_place = place_of if not matches and any(item.listings for item in items) else position_of
    return JudgeFigures(
        position=by_place(items, level=how.level),
        flips=flips,
        length=length_of(items, level=how.level),
        cycles=cycles,
        coin_p=coin_p(items, flips.coin_p, cycles.coin_p),
        correctness=correctness_of(items, how=how),
        replies=replies,
    )
