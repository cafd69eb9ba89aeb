"""Logs on common ground: the items and models that all of them ranked, and how far they agree."""

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

import numpy as np

from tiebreak.analysis.entries import Entry, QuestionKey, with_ranked
from tiebreak.rankers.agreement import Agreement, resolution_gain
from tiebreak.rankers.stability import ResampledAgreement, mean_statistic, resample_agreement
from tiebreak.rankers.uncertainty import Resampling
from tiebreak.ranking_logs.log import RankedItem, placement_of
from tiebreak.scorers.ballots import ItemBallots
from tiebreak.scorers.match import in_one_order
from tiebreak.scorers.placement import NotPlacedError
from tiebreak.scorers.rules import RULES
from tiebreak.words import count


@dataclass(frozen=True, slots=True)
class Shared:
    """What some entries all ranked: items in the order of the first entry, models by name."""

    items: tuple[QuestionKey, ...]
    models: tuple[str, ...]


def same_contest(one: Entry, other: Entry) -> bool:
    """Whether two entries are runs of one another: protocol, settings, judges and models."""
    return one.label == other.label and one.table.models == other.table.models


def shared(entries: Sequence[Entry]) -> Shared:
    """The items and models that all of some entries ranked."""
    first, *others = entries
    items = set(first.keys).intersection(*(entry.keys for entry in others))
    models = first.ranked_models.intersection(*(entry.ranked_models for entry in others))
    return Shared(
        items=tuple(item for item in dict.fromkeys(first.keys) if item in items),
        models=tuple(sorted(models)),
    )


def left_out(entries: Sequence[Entry], common: Shared) -> str | None:
    """What some entries ranked and others did not, in words; None when there is nothing."""
    parts = []
    for what, kept, ranked in (
        ("item", len(common.items), [len(set(entry.keys)) for entry in entries]),
        ("model", len(common.models), [len(entry.ranked_models) for entry in entries]),
    ):
        if max(ranked) > kept:
            each = ", ".join(f"{n:,} by {e.name}" for e, n in zip(entries, ranked, strict=True))
            parts.append(f"{count(kept, what)} (ranked: {each})")
    return " and ".join(parts) or None


def agreement(one: Entry, other: Entry, common: Shared, how: Resampling) -> ResampledAgreement:
    """How far two leaderboards agree on what both ranked, with intervals over items."""
    first, second = (entry.statistic(common.items, common.models) for entry in (one, other))
    return resample_agreement(first, second, len(common.items), how=how)


def gain(entry: Entry, common: Shared) -> Agreement:
    """Spread of the models' mean Borda scores over that of their native scores (SEAL, table 1).

    A protocol that ranks by native scores has these themselves for its scores, so a gain of 1.
    """
    table, items = entry.table, set(common.items)
    rows = [row for row, item in enumerate(entry.keys) if item in items]
    cells = np.ix_(rows, [table.models.index(model) for model in common.models])
    by_native = all(RULES[item.placed_by].asks is None for item in entry.items)
    scores = table.native if by_native else table.borda
    ones = np.ones((1, len(rows)))
    return resolution_gain(*(mean_statistic(one[cells])(ones)[0] for one in (scores, table.native)))


def in_each_order(entry: Entry) -> tuple[Entry, Entry] | None:
    """The entry by the first verdict of every match alone, and by the second, in the other order.

    Each is what a run would have given that asks one order only. None unless all pairs of all
    items were judged in both: where results decide who meets whom, half of them decide nothing.
    """
    if not any(item.matches for item in entry.items) or not all(map(_all_pairs_twice, entry.items)):
        return None
    first, second = (
        with_ranked(entry, list(_in_one_order(entry.items, which))) for which in (0, 1)
    )
    return first, second


def _all_pairs_twice(item: ItemBallots) -> bool:
    pairs = math.comb(len(item.representatives), 2)
    twice = sum(len(match.verdicts) == 2 for match in item.matches)
    return item.placed_by == "win_rate" and twice == len(item.matches) == pairs


def _in_one_order(items: Iterable[ItemBallots], which: Literal[0, 1]) -> Iterator[RankedItem]:
    """The items as they would have been ranked; those without a ranking are left out."""
    for item in items:
        matches = tuple(in_one_order(match, which) for match in item.matches)
        asked_once = item.model_copy(update={"matches": matches})
        with suppress(NotPlacedError):
            yield RankedItem(asked_once, placement_of(asked_once))
