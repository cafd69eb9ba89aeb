"""Warnings and notes of a leaderboard: when not to trust its figures, and why they are so."""

from collections.abc import Iterator, Sequence

import numpy as np

from tiebreak.analysis.item_table import ItemTable
from tiebreak.rankers import ItemBootstrap
from tiebreak.ranking_logs.log import RankingLog
from tiebreak.scorers.ballots import ItemBallots, Rule
from tiebreak.scorers.rules import RULES
from tiebreak.text import count, percent

UNSCORED_TOLERANCE = 0.05
TIE_TOLERANCE = 0.5
# Below this many items that tell models apart the intervals cover clearly less than they claim.
FEW_ITEMS = 10


def early_end_warning(log: RankingLog, rule: Rule | None) -> str | None:
    """A warning where a log does not hold all items of its run; None where no call is missed."""
    if not log.n_missing or log.status == "success" or (rule and RULES[rule].asks is None):
        return None
    return (
        f"The log ends early: {log.n_missing:,} of {count(log.n_expected, 'item')} are not in it, "
        "and the receipt lacks what calls for them may have cost"
    )


def unscored_warning(items: Sequence[ItemBallots], rule: Rule) -> str | None:
    """A sentence when more than 5% of what was asked under the rule is unscored, else None."""
    reasons = _reasons(items, rule)
    missing = [reason for reason in reasons if reason is not None]
    if not reasons or len(missing) / len(reasons) <= UNSCORED_TOLERANCE:
        return None
    common = max(dict.fromkeys(missing), key=missing.count)
    return (
        f"{len(missing):,} of {count(len(reasons), *RULES[rule].noun)} "
        f"({percent(len(missing) / len(reasons))}) {RULES[rule].unscored}. "
        f"Most frequent reason: {common}"
    )


def _reasons(items: Sequence[ItemBallots], rule: Rule) -> list[str | None]:
    """Why each ballot under the rule is unscored; None for those that are scored."""
    asks = RULES[rule].asks
    if asks == "score":
        return [points.unscored for item in items for points in item.scores]
    if asks == "list":
        return [listing.unscored for item in items for listing in item.listings]
    return [match.unscored for item in items for match in item.matches] if asks else []


def lone_reviewer(items: Sequence[ItemBallots]) -> str | None:
    """A sentence when all reviews that compare two answers are by one reviewer, else None."""
    usable = {
        listing.reviewer
        for item in items
        if RULES[item.placed_by].reviewed
        for listing in item.listings
        if listing.unscored is None and sum(map(len, listing.groups)) > 1
    }
    if len(usable) != 1:
        return None
    return f"All usable reviews are by {usable.pop()}: that is one model's opinion, no peer review"


def tie_warning(items: Sequence[ItemBallots], rule: Rule) -> str | None:
    """A sentence when the votes were even in more than half of the scored matches, else None."""
    tied = [match.tied for item in items for match in item.matches if match.unscored is None]
    if not RULES[rule].tied or not tied or sum(tied) / len(tied) <= TIE_TOLERANCE:
        return None
    return (
        f"In {sum(tied):,} of {count(len(tied), 'match', 'matches')} "
        f"({percent(sum(tied) / len(tied))}) the votes were even and {RULES[rule].tied}"
    )


def media_note(judged: Sequence[ItemBallots]) -> Iterator[str]:
    """How many items were asked about without all that belongs to the question, where some were."""
    if n := sum(item.media == "mark" and bool(item.calls) for item in judged):
        yield (
            f"{n:,} of {count(len(judged), 'item')} {'was' if n == 1 else 'were'} judged without "
            "images or files of the question"
        )


def notes(
    table: ItemTable, bootstrap: ItemBootstrap, judged: Sequence[ItemBallots]
) -> Iterator[str]:
    """Remarks on the intervals of a leaderboard and on its seeding."""
    n_items = len(np.unique(table.items))
    alone = [model for model, n in zip(table.models, bootstrap.n_items, strict=True) if n < 2]
    if n_items == 1:
        yield "No intervals: there is one item, so nothing to resample"
    elif alone:
        yield f"No interval for {', '.join(alone)}: it needs at least two items"
    # Where all models of an item are tied each has ½; such items hardly widen an interval.
    apart = np.any(~np.isnan(table.borda) & (table.borda != 0.5), axis=1)
    n_apart = len(np.unique(table.items[apart]))
    if n_items and not n_apart:
        yield "No item tells models apart, so this ranking says nothing"
    elif n_items > 1 and n_apart < FEW_ITEMS:
        yield (
            f"Only {n_apart} of {n_items} items {'tells' if n_apart == 1 else 'tell'} models "
            "apart: the intervals are too narrow "
            "(in simulation a 95% interval covered 93% with 10 such items, 91% with 5)"
        )
    if baseline := ", ".join(sorted({item.baseline for item in judged if item.baseline})):
        yield f"Scores are win rates against {baseline}, a tie counting ½; its own is ½"
    yield from media_note(judged)
    unseeded = sum(1 for item in judged if item.tiering is not None and item.tiering.unscored)
    if unseeded:
        yield f"In {unseeded} of {len(judged)} items the seeding call gave no usable reply"
