"""Sparse peer review beside the full one: does a part of the reviews give the same ranking?

Logs of the same benchmark and candidates are compared where one reviewer saw all answers and in
another `degree` of them (Peer review, §4.2, figure 3, and appendix A).
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from tiebreak.analysis.entries import Entry, agreement, entries_of, shared
from tiebreak.analysis.peers.panel import Panel
from tiebreak.analysis.receipt import Price, price_of
from tiebreak.rankers import ResampledAgreement, aggregate_items, kendall_tau_many
from tiebreak.rankers.intervals import Estimate, ItemDraws
from tiebreak.rankers.profile import FloatArray
from tiebreak.rankers.uncertainty import Resampling
from tiebreak.ranking_logs.log import RankingLog

RowKey = tuple[str, str, int]
"""An item's id, the hash of its question, and the number of the epoch."""


@dataclass(frozen=True, slots=True)
class SparseAgreement:
    """A sparse log beside the full one, on the `n_items` items that both ranked.

    `macro` compares the two leaderboards. `per_item` is the mean over items of Kendall's τ-b
    between the two rankings of an item. `price` is an item's, relative to that of the full log;
    `calls` and `tokens` are ratios, so below 1 where sparse is cheaper.
    """

    benchmark: str
    log: str
    full: str
    degree: int
    n_items: int
    n_models: int
    macro: ResampledAgreement
    per_item: Estimate
    price: Price


def sparse_agreements(
    logs: Iterable[RankingLog], panels: Sequence[Panel], how: Resampling
) -> list[SparseAgreement]:
    """Every sparse log beside the oldest full one of its benchmark, candidates and aggregator.

    `panels` are those that the logs hold; each has reviewers.
    """
    pairs = list(_pairs(panels))
    if not pairs:
        return []
    entries, _ = entries_of(logs, how=replace(how, draws=1))
    by_log = {
        (entry.board.log, entry.board.benchmark): entry
        for entry in entries
        if entry.board.rule.reviewed
    }
    found = [_compared(sparse, full, by_log, how) for sparse, full in pairs]
    return [one for one in found if one is not None]


def _pairs(panels: Sequence[Panel]) -> Iterable[tuple[Panel, Panel]]:
    """Each sparse panel with the first full one of the same contest."""
    full: dict[tuple[object, ...], Panel] = {}
    for panel in panels:
        if panel.degree is None:
            full.setdefault((panel.benchmark, panel.models, panel.aggregator), panel)
    for panel in panels:
        kind = panel.benchmark, panel.models, panel.aggregator
        if panel.degree is not None and kind in full:
            yield panel, full[kind]


def _compared(
    sparse: Panel,
    full: Panel,
    entries: Mapping[tuple[str, str], Entry],
    how: Resampling,
) -> SparseAgreement | None:
    """None where they have no item in common, or a log is an attempt that another one replaces."""
    one = entries.get((sparse.log, sparse.benchmark))
    other = entries.get((full.log, full.benchmark))
    if one is None or other is None or sparse.degree is None:
        return None
    common = shared([one, other])
    if not common.items:
        return None
    return SparseAgreement(
        benchmark=sparse.benchmark,
        log=sparse.log,
        full=full.log,
        degree=sparse.degree,
        n_items=len(common.items),
        n_models=len(common.models),
        macro=agreement(one, other, common, how),
        per_item=_per_item(sparse, full, how),
        price=price_of(one.items).beside(price_of(other.items)),
    )


def _per_item(sparse: Panel, full: Panel, how: Resampling) -> Estimate:
    """Mean τ-b between the two rankings of each item, epoch by epoch."""
    mine, theirs = _consensus(sparse), _consensus(full)
    rows = [key for key in mine if key in theirs]
    taus = kendall_tau_many([mine[key] for key in rows], [theirs[key] for key in rows])
    number = {item: n for n, item in enumerate(dict.fromkeys(key[:2] for key in rows))}
    over = ItemDraws(len(rows), [number[key[:2]] for key in rows], how=how)
    [tau] = over.means(taus[:, None], "in no item do both rankings tell models apart")
    return tau


def _consensus(panel: Panel) -> dict[RowKey, FloatArray]:
    """Ranks of the models in each row, by the aggregator of the run."""
    ranks = aggregate_items(panel.ranks, panel.aggregator)
    epochs: Counter[tuple[str, str]] = Counter()
    rows = {}
    for ballots, row in zip(panel.ballots, ranks, strict=True):
        item = ballots.item_id, ballots.input_hash
        epochs[item] += 1
        rows[(*item, epochs[item])] = row
    return rows
