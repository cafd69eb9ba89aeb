"""The end of the demo: what do the boards say, and can these judges be trusted?"""

from collections.abc import Iterable, Sequence
from typing import Final

from tiebreak.analysis.judge.biases import ALARM, Flips, Position, flips_of, position_of
from tiebreak.analysis.leaderboard import Leaderboard
from tiebreak.scorers.ballots import ItemBallots
from tiebreak.words import count, percent

STRONG_JUDGE: Final = "tiebreak demo --judge openai/gpt-5"
STRONG_REVIEWERS: Final = "tiebreak demo --protocol peer_review --judge openai/gpt-5,openai/o3"
FEW_PREFERENCES: Final = 0.25
"""A judge that prefers a side in fewer of its verdicts tells answers apart too rarely."""


def about_boards(boards: Sequence[Leaderboard]) -> str:
    """Which boards tell models apart at all, in one sentence."""
    apart = {board.benchmark: sum(bool(pair.apart) for pair in board.pairs) for board in boards}
    none = [benchmark for benchmark, number in apart.items() if not number]
    some = [f"{number} on {benchmark}" for benchmark, number in apart.items() if number]
    items = sorted({board.n_items for board in boards})
    few = f"{'–'.join(map(str, dict.fromkeys((items[0], items[-1]))))} items of a benchmark are few"
    if not some:
        n_models = max(len(board.rows) for board in boards)
        return (
            f"No two of the {n_models} models can be told apart on {_listed(none, 'or')}: {few}, "
            "and the order of a board is not a ranking."
        )
    n_pairs = max(len(board.pairs) for board in boards)
    told = ", ".join([*some, *([f"none on {_listed(none, 'or')}"] if none else [])])
    return f"Of the {n_pairs} pairs of models, told apart are {told}: {few}."


def about_judge(judge: str, items: Iterable[ItemBallots]) -> str:
    """The judge's own numbers, and when they are bad the option that puts a strong judge in."""
    items = tuple(items)
    matches = [match for item in items for match in item.matches]
    margins = [v.margin for match in matches for v in match.verdicts if v.margin is not None]
    first, second = (sum(side * margin > 0 for margin in margins) for side in (1, -1))
    flips = flips_of(matches)
    numbers = (
        f"The judge, {judge}: {count(len(margins), 'verdict')}, "
        f"{first} for the answer shown first, {second} for the one shown second, "
        f"{len(margins) - first - second} for neither; asked in the other order it named another "
        f"winner in {flips.n_flipped} of {count(flips.n, 'match', 'matches')}."
    )
    if reason := _distrust(position_of(items), flips, len(margins), first + second):
        numbers += (
            f"\nTHIS JUDGE IS NOT TO BE TRUSTED: {reason}.\n"
            f"One flag puts a strong judge in: {STRONG_JUDGE}"
        )
    return numbers


def about_reviewers(reviewers: str, items: Iterable[ItemBallots]) -> str:
    """The same for models that review each other."""
    reviews = [review for item in items for review in item.listings]
    usable = [review for review in reviews if review.unscored is None]
    repeated = sum(review.groups == tuple((name,) for name in review.shown) for review in usable)
    undecided = sum(len(review.groups) == 1 for review in usable)
    numbers = (
        f"The reviewers, {reviewers}: {count(len(reviews), 'review')}, "
        f"{len(reviews) - len(usable)} without a usable reply, {repeated} in the very order shown, "
        f"{undecided} with all answers in one place."
    )
    # Of four answers, one order in 24 is the one shown.
    if repeated + undecided + len(reviews) - len(usable) > len(reviews) / 2:
        numbers += (
            "\nTHESE REVIEWERS ARE NOT TO BE TRUSTED: most of their reviews say nothing.\n"
            f"One flag puts strong ones in:\n{STRONG_REVIEWERS}"
        )
    return numbers


def _listed(parts: Sequence[str], word: str) -> str:
    *others, last = parts
    return f"{', '.join(others)} {word} {last}" if others else last


def _distrust(position: Position, flips: Flips, verdicts: int, preferences: int) -> str | None:
    """Why a judge cannot be trusted, by its own numbers; None when nothing shows."""
    if preferences < FEW_PREFERENCES * verdicts:
        return f"it preferred a side in only {preferences} of {verdicts} verdicts"
    if position.bound or flips.p <= ALARM:
        both = (
            f", and {flips.both_first} times in both orders, the one shown second "
            f"{flips.both_second} times"
        )
        return (
            f"it chose the answer shown first in {percent(position.rate)} of its first verdicts "
            f"(unbiased: 50%){both if flips.n_flipped else ''}"
        )
    return None if verdicts else "it gave no verdict that could be used"
