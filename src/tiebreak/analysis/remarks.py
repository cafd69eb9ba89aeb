"""Warnings and notes of a leaderboard: reasons to distrust its figures, and explanations."""

from collections.abc import Iterator, Sequence

import numpy as np

from tiebreak.analysis.item_table import ItemTable
from tiebreak.rankers import ItemBootstrap
from tiebreak.ranking_logs.log import RankingLog
from tiebreak.reason import Reason
from tiebreak.scorers.ballots import ItemBallots, Rule
from tiebreak.scorers.rules import RULES

UNSCORED_TOLERANCE = 0.05
TIE_TOLERANCE = 0.5
# With fewer items that tell models apart, intervals cover clearly less than they claim.
FEW_ITEMS = 10


def early_end_warning(log: RankingLog, rule: Rule | None) -> Reason | None:
    """A warning if an unfinished log lacks items of its run that need calls, else None."""
    if not log.n_missing or log.status == "success" or (rule and RULES[rule].asks is None):
        return None
    return Reason("ends_early", n=log.n_missing, of=log.n_expected)


def unscored_warning(items: Sequence[ItemBallots], rule: Rule) -> Reason | None:
    """A warning if more than 5% of the questions under the rule are unscored, else None."""
    reasons = _reasons(items, rule)
    missing = [reason for reason in reasons if reason is not None]
    if not reasons or len(missing) / len(reasons) <= UNSCORED_TOLERANCE:
        return None
    common = max(dict.fromkeys(missing), key=missing.count)
    unscored = Reason(
        "unscored_replies",
        n=len(missing),
        of=len(reasons),
        asked=RULES[rule].noun[len(reasons) != 1],
        share=len(missing) / len(reasons),
        lack=RULES[rule].unscored,
    )
    return Reason("unscored", clause=unscored, common=Reason("commonest", reason=common))


def _reasons(items: Sequence[ItemBallots], rule: Rule) -> list[str | None]:
    """The reason that each ballot under the rule is unscored, None for a scored one."""
    asks = RULES[rule].asks
    if asks == "score":
        return [points.unscored for item in items for points in item.scores]
    if asks == "list":
        return [listing.unscored for item in items for listing in item.listings]
    return [match.unscored for item in items for match in item.matches] if asks else []


def lone_reviewer(items: Sequence[ItemBallots]) -> Reason | None:
    """A warning if all reviews that compare two answers are by one reviewer, else None."""
    usable = {
        listing.reviewer
        for item in items
        if RULES[item.placed_by].reviewed
        for listing in item.listings
        if listing.unscored is None and sum(map(len, listing.groups)) > 1
    }
    if len(usable) != 1:
        return None
    return Reason("lone_reviewer", reviewer=usable.pop())


def tie_warning(items: Sequence[ItemBallots], rule: Rule) -> Reason | None:
    """A warning if the votes were even in more than half of the scored matches, else None."""
    tied = [match.tied for item in items for match in item.matches if match.unscored is None]
    if not RULES[rule].tied or not tied or sum(tied) / len(tied) <= TIE_TOLERANCE:
        return None
    share = sum(tied) / len(tied)
    return Reason("ties", n=sum(tied), of=len(tied), share=share, effect=RULES[rule].tied)


def media_note(judged: Sequence[ItemBallots]) -> Iterator[Reason]:
    """A note on the number of items judged without some of their media, if there are any."""
    if n := sum(item.media == "mark" and bool(item.calls) for item in judged):
        yield Reason("without_media", n=n, of=len(judged))


def notes(
    table: ItemTable, bootstrap: ItemBootstrap, judged: Sequence[ItemBallots]
) -> Iterator[Reason]:
    """Remarks on the intervals of a leaderboard and on its seeding."""
    n_items = len(np.unique(table.items))
    alone = [model for model, n in zip(table.models, bootstrap.n_items, strict=True) if n < 2]
    if n_items == 1:
        yield Reason("one_item_no_intervals")
    elif alone:
        yield Reason("one_item_of", models=alone)
    # If all models of an item are tied, each has ½; such items hardly widen an interval.
    apart = np.any(~np.isnan(table.borda) & (table.borda != 0.5), axis=1)
    n_apart = len(np.unique(table.items[apart]))
    if n_items and not n_apart:
        yield Reason("no_item_tells_apart")
    elif n_items > 1 and n_apart < FEW_ITEMS:
        yield Reason("narrow_intervals", n=n_apart, of=n_items)
    if baselines := sorted({item.baseline for item in judged if item.baseline}):
        yield Reason("win_rates", baselines=baselines)
    yield from media_note(judged)
    unseeded = sum(1 for item in judged if item.tiering is not None and item.tiering.unscored)
    if unseeded:
        yield Reason("unseeded", n=unseeded, of=len(judged))
