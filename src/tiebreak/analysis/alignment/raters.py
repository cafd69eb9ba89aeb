"""Who ranks the models of a peer review, as arrays: reviewers, aggregators, views, native score."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from tiebreak.analysis.peers.panel import Panel
from tiebreak.analysis.peers.ranking import KEMENY
from tiebreak.analysis.peers.self_preference import no_self_rank
from tiebreak.rankers import AGGREGATORS, aggregate_items
from tiebreak.rankers.consensus import comparing, mean_rank
from tiebreak.rankers.errors import UnprovenOrderError
from tiebreak.rankers.profile import FloatArray, within_ballots
from tiebreak.rankers.views import own_and_peers
from tiebreak.words import count

RaterKind = Literal["reviewer", "aggregator", "view", "native"]

Scores = Literal["order", "mean-rank"]
"""What Pearson correlates item by item: a rater's order, or mean ranks where it gives these."""

# Of rows × models². Dodgson's rule is an integer program for each row and model: 8 seconds or so.
_DODGSON_LIMIT = 6_000

_NOBODY: Final[Mapping[str, str]] = {
    "PR": "no other reviewer ranks it",
    "SIA": "no ballot that {} reads ranks it",
    "SFA": "no ballot of another model that {} reads ranks it",
}


@dataclass(frozen=True, eq=False, slots=True)
class Ratings:
    """What a rater says about N models in every row; arrays of shape (rows, N).

    Lower is better, equal is tied, NaN is not ranked. In `ranks` only the order within a row
    counts, but for Pearson's correlation of one that is `as_given`; `amounts` are what the mean
    over rows is taken of.
    """

    kind: RaterKind
    name: str
    ranks: FloatArray
    amounts: FloatArray
    as_given: bool = False


def ratings(
    panel: Panel,
    columns: Sequence[int],
    methods: Sequence[str] | None,
    scores: Scores = "order",
) -> tuple[list[Ratings], list[str]]:
    """All raters of a panel, and notes on those that are missing.

    Aggregators and views count whole ballots; the models that are not asked for are taken out
    afterwards. The views SIA and SFA are by `consensus_method`.

    Args:
        panel: the peer review.
        columns: the N models that are asked for.
        methods: names in `rankers.AGGREGATORS`; None for all, but Dodgson only where it is quick.
        scores: with "mean-rank" average, SR and PR are `as_given`.
    """
    found = [
        _ranked("reviewer", reviewer.name, within_ballots(panel.ranks[:, number]), columns)
        for number, reviewer in enumerate(panel.reviewers)
    ]
    notes = []
    if panel.reviewers:
        by = consensus_method(methods)
        chosen, remarks = _methods(panel, methods)
        merged, failed = _merged(panel, columns, chosen, by, as_given=scores == "mean-rank")
        found += merged
        notes += [*remarks, *failed]
        for one in merged:
            notes += _left_open(panel, columns, one, by)
    else:
        notes.append("No reviewer was called: all answers are identical")
    native = panel.native[:, columns]
    if np.isnan(native).all():
        notes.append("There are no native scores")
    else:
        found.append(Ratings("native", "native score", -native, -native))
    return found, [*notes, *_silent(found)]


def consensus_method(methods: Sequence[str] | None) -> str:
    """What the views SIA and SFA are by: the first method that is asked for, or Kemeny–Young."""
    return methods[0] if methods else KEMENY


def _methods(panel: Panel, methods: Sequence[str] | None) -> tuple[Sequence[str], list[str]]:
    if methods is not None:
        return methods, []
    if len(panel.items) * len(panel.models) ** 2 <= _DODGSON_LIMIT:
        return sorted(AGGREGATORS), []
    size = f"{count(len(panel.items), 'item')} of {count(len(panel.models), 'model')}"
    return [name for name in sorted(AGGREGATORS) if not AGGREGATORS[name].slow], [
        f"dodgson is left out: it is slow for {size}. --method dodgson asks for it"
    ]


def _merged(
    panel: Panel, columns: Sequence[int], methods: Sequence[str], by: str, *, as_given: bool
) -> tuple[list[Ratings], list[str]]:
    """Aggregators, then the views SR, PR, SIA and SFA; and those that have no result.

    SR and PR are mean ranks in whole ballots, as they are; see `own_and_peers`. So is `average`,
    where mean ranks are asked for and not the order that they give.
    """
    mine, peers = own_and_peers(panel.ranks, panel.own)

    def mean_ranks(kind: RaterKind, name: str, ranks: FloatArray) -> Ratings:
        means = mean_rank(ranks, axis=1)[:, columns]
        return Ratings(kind, name, means, means, as_given)

    consensus, failed = {}, []
    for name, method, ballots in (*((m, m, panel.ranks) for m in methods), ("SFA", by, peers)):
        try:
            consensus[name] = aggregate_items(ballots, method)
        except UnprovenOrderError as error:
            failed.append(f"{name}: no result: {error}")
    found = [
        mean_ranks("aggregator", method, np.fmax(mine, peers))
        if as_given and method == "average"
        else _ranked("aggregator", method, consensus[method], columns)
        for method in methods
        if method in consensus
    ]
    found += [mean_ranks("view", "SR", mine), mean_ranks("view", "PR", peers)]
    for name, source in (("SIA", by), ("SFA", "SFA")):
        if source in consensus:
            found.append(_ranked("view", name, consensus[source], columns))
    if by not in consensus:
        failed.append(f"SIA: no result, as {by} has none")
    return found, failed


def _ranked(kind: RaterKind, name: str, ranks: FloatArray, columns: Sequence[int]) -> Ratings:
    """Ranks among N of the models; in the mean, what they are among all N on average."""
    asked = ranks[:, columns]
    # Without this, ranks that are the mean of two optimal orders would become one order.
    among = comparing(asked if len(columns) == ranks.shape[1] else within_ballots(asked))
    n = np.sum(~np.isnan(among), axis=1, keepdims=True)
    return Ratings(kind, name, among, among * (len(columns) + 1) / (n + 1))


def _left_open(panel: Panel, columns: Sequence[int], one: Ratings, by: str) -> Iterator[str]:
    """Models that a view never ranks and why, and items in which models do not rank themselves."""
    if one.kind != "view":
        return
    ranked = ~np.isnan(one.ranks)
    never: dict[str, list[str]] = {}
    for place, column in enumerate(columns):
        if not ranked[:, place].any():
            why = no_self_rank(panel, column) if one.name == "SR" else _NOBODY[one.name].format(by)
            never.setdefault(why, []).append(panel.models[column])
    for why, models in never.items():
        yield f"No {one.name} of {', '.join(models)}: {why}"
    if one.name == "SR":
        reviewed = ~np.isnan(panel.ranks).all(axis=(1, 2))
        lacking = np.sum(~ranked[reviewed], axis=0).tolist()
        some = [
            f"{panel.models[column]} in {n:,} of {count(int(reviewed.sum()), 'item')}"
            for place, (column, n) in enumerate(zip(columns, lacking, strict=True))
            if n and ranked[:, place].any()
        ]
        if some:
            yield f"No SR where the own ballot does not rank the own answer: {', '.join(some)}"


def _silent(found: Sequence[Ratings]) -> Iterator[str]:
    """Raters that never rank two models; a view's missing models are named already."""
    for one in found:
        if np.isnan(one.ranks).all() and one.kind != "view":
            why = {
                "reviewer": "has no usable review",
                "aggregator": "finds no ballot that it can read",
                "native": "has no two scores",
            }[one.kind]
            yield f"{one.name} {why}"
