"""The end of the demo: can these judges be trusted, by their own numbers?"""

from collections.abc import Iterable
from typing import Final

from tiebreak.analysis.judge import PositionBias, position_bias
from tiebreak.scorers.ballots import ItemBallots, Match
from tiebreak.words import count, percent

STRONG_JUDGE: Final = "tiebreak demo --judge openai/gpt-5"
STRONG_REVIEWERS: Final = "tiebreak demo --protocol peer_review --judge openai/gpt-5,openai/o3"
FEW_PREFERENCES: Final = 0.25
"""A judge that prefers a side in fewer of its verdicts tells answers apart too rarely."""


def about_judge(judge: str, matches: Iterable[Match]) -> str:
    """The judge's own numbers, and when they are bad the option that puts a strong judge in."""
    matches = tuple(matches)
    bias = position_bias(matches)
    verdicts = sum(verdict.margin is not None for match in matches for verdict in match.verdicts)
    first = round(bias.first_rate * bias.n_first) if bias.n_first else 0
    flips = round(bias.flip_rate * bias.n_swapped) if bias.n_swapped else 0
    lines = [
        f"The judge's own numbers, over all benchmarks ({judge}):",
        f"  verdicts                        {verdicts}",
        f"  for the answer shown first      {first}",
        f"  for the answer shown second     {bias.n_first - first}",
        f"  for neither                     {verdicts - bias.n_first}",
        f"  other winner in the other order {flips} of {count(bias.n_swapped, 'match', 'matches')}",
    ]
    if reason := _distrust(bias, verdicts):
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


def _distrust(bias: PositionBias, verdicts: int) -> str | None:
    """Why a judge cannot be trusted, by its own numbers; None when nothing shows."""
    if bias.n_first < FEW_PREFERENCES * verdicts:
        return f"it preferred a side in only {bias.n_first} of {verdicts} verdicts"
    if bias.warning is not None:
        return (
            f"it chose the answer shown first in {percent(bias.first_rate)} of its preferences "
            f"(unbiased: 50%) and flipped in {percent(bias.flip_rate)} of the matches"
        )
    return None if verdicts else "it gave no verdict that could be used"
