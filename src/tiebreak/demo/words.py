"""The end of the demo: can these judges be trusted, by their own numbers?"""

from collections.abc import Iterable
from typing import Final

from tiebreak.analysis.judge.position import ALARM, Flips, Position, flips_of, position_of
from tiebreak.scorers.ballots import ItemBallots
from tiebreak.words import count, percent

STRONG_JUDGE: Final = "tiebreak demo --judge openai/gpt-5"
STRONG_REVIEWERS: Final = "tiebreak demo --protocol peer_review --judge openai/gpt-5,openai/o3"
FEW_PREFERENCES: Final = 0.25
"""A judge that prefers a side in fewer of its verdicts tells answers apart too rarely."""


def about_judge(judge: str, items: Iterable[ItemBallots]) -> str:
    """The judge's own numbers, and when they are bad the option that puts a strong judge in."""
    items = tuple(items)
    matches = [match for item in items for match in item.matches]
    margins = [v.margin for match in matches for v in match.verdicts if v.margin is not None]
    first, second = (sum(side * margin > 0 for margin in margins) for side in (1, -1))
    flips = flips_of(matches)
    lines = [
        f"The judge's own numbers, over all benchmarks ({judge}):",
        f"  verdicts                        {len(margins)}",
        f"  for the answer shown first      {first}",
        f"  for the answer shown second     {second}",
        f"  for neither                     {len(margins) - first - second}",
        f"  other winner in the other order {flips.n_flipped} of "
        f"{count(flips.n, 'match', 'matches')}",
    ]
    if reason := _distrust(position_of(items), flips, len(margins), first + second):
        lines += [
            f"THIS JUDGE IS NOT TO BE TRUSTED: {reason}.",
            f"One flag puts a strong judge in:  {STRONG_JUDGE}",
        ]
    return "\n".join(lines)


def about_reviewers(reviewers: str, items: Iterable[ItemBallots]) -> str:
    """The same for models that review each other."""
    reviews = [review for item in items for review in item.listings]
    usable = [review for review in reviews if review.unscored is None]
    repeated = sum(review.groups == tuple((name,) for name in review.shown) for review in usable)
    undecided = sum(len(review.groups) == 1 for review in usable)
    lines = [
        f"The reviewers' own numbers, over all benchmarks ({reviewers}):",
        f"  reviews                         {len(reviews)}",
        f"  without a usable reply          {len(reviews) - len(usable)}",
        f"  in the very order shown         {repeated}",
        f"  with all answers in one place   {undecided}",
    ]
    # Of four answers, one order in 24 is the one shown.
    if repeated + undecided + len(reviews) - len(usable) > len(reviews) / 2:
        lines += [
            "THESE REVIEWERS ARE NOT TO BE TRUSTED: most of their reviews say nothing.",
            f"One flag puts strong ones in:     {STRONG_REVIEWERS}",
        ]
    return "\n".join(lines)


def _distrust(position: Position, flips: Flips, verdicts: int, preferences: int) -> str | None:
    """Why a judge cannot be trusted, by its own numbers; None when nothing shows."""
    if preferences < FEW_PREFERENCES * verdicts:
        return f"it preferred a side in only {preferences} of {verdicts} verdicts"
    if position.bound or flips.p <= ALARM:
        return (
            f"it chose the answer shown first in {percent(position.rate)} of its first verdicts "
            f"(unbiased: 50%), and {flips.both_first} times in both orders, the one shown second "
            f"{flips.both_second} times"
        )
    return None if verdicts else "it gave no verdict that could be used"
