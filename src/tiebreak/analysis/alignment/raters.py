"""Who ranks the models of a peer review, as arrays: reviewers, aggregators, the native score."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from tiebreak.analysis.peers.panel import Panel
from tiebreak.rankers import AGGREGATORS, aggregate_items
from tiebreak.rankers.aggregation import comparing
from tiebreak.rankers.errors import UnprovenOrderError
from tiebreak.rankers.profile import FloatArray, within_ballots
from tiebreak.words import count

RaterKind = Literal["reviewer", "aggregator", "native"]

# Of rows × models². Dodgson's rule is an integer program for each row and model: 8 seconds or so.
_DODGSON_LIMIT = 6_000


@dataclass(frozen=True, eq=False, slots=True)
class Ratings:
    """What a rater says about N models in every row; arrays of shape (rows, N).

    Lower is better, equal is tied, NaN is not ranked. In `ranks` only the order within a row
    counts; `amounts` are what the mean over rows is taken of.
    """

    kind: RaterKind
    name: str
    ranks: FloatArray
    amounts: FloatArray


def ratings(
    panel: Panel, columns: Sequence[int], methods: Sequence[str] | None
) -> tuple[list[Ratings], list[str]]:
    """All raters of a panel, and notes on those that are missing.

    Aggregators count whole ballots; the models that are not asked for are taken out afterwards.

    Args:
        panel: the peer review.
        columns: the N models that are asked for.
        methods: names in `rankers.AGGREGATORS`; None for all, but Dodgson only where it is quick.
    """
    found = [
        _ranked("reviewer", reviewer.name, within_ballots(panel.ranks[:, number]), columns)
        for number, reviewer in enumerate(panel.reviewers)
    ]
    notes = []
    if not panel.reviewers:
        notes.append("No reviewer was called: all answers are identical")
        methods = ()
    slow = methods is None and len(panel.items) * len(panel.models) ** 2 > _DODGSON_LIMIT
    if slow:
        size = f"{count(len(panel.items), 'item')} of {count(len(panel.models), 'model')}"
        notes.append(f"dodgson is left out: it is slow for {size}. --method dodgson asks for it")
    if methods is None:
        methods = [name for name in sorted(AGGREGATORS) if not (slow and AGGREGATORS[name].slow)]
    for method in methods:
        try:
            consensus = aggregate_items(panel.ranks, method)
        except UnprovenOrderError as error:
            notes.append(f"{method}: no result: {error}")
        else:
            found.append(_ranked("aggregator", method, consensus, columns))
    scores = panel.native[:, columns]
    if np.isnan(scores).all():
        notes.append("There are no native scores")
    else:
        found.append(Ratings("native", "native score", -scores, -scores))
    return found, [*notes, *_silent(found)]


def _ranked(kind: RaterKind, name: str, ranks: FloatArray, columns: Sequence[int]) -> Ratings:
    """Ranks among N of the models; in the mean, what they are among all N on average."""
    asked = ranks[:, columns]
    # Without this, ranks that are the mean of two optimal orders would become one order.
    among = comparing(asked if len(columns) == ranks.shape[1] else within_ballots(asked))
    n = np.sum(~np.isnan(among), axis=1, keepdims=True)
    return Ratings(kind, name, among, among * (len(columns) + 1) / (n + 1))


def _silent(found: Sequence[Ratings]) -> Iterator[str]:
    """Raters that never rank two models."""
    for one in found:
        if np.isnan(one.ranks).all():
            why = {
                "reviewer": "has no usable review",
                "aggregator": "finds no ballot that it can read",
                "native": "has no two scores",
            }[one.kind]
            yield f"{one.name} {why}"
