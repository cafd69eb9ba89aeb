"""The report of a peer review: one `PeerReview` per benchmark and log, and sparse beside full.

Sparse beside full: two logs of the same benchmark and candidates are compared if reviewers saw all
answers in one and `degree` of them in the other, to see whether a part of the reviews gives the
same ranking (Peer review, §4.2, figure 3, and appendix A).

The ranking is made item by item (§4.1): each item has its own consensus, and a model's score is the
mean of its ranks in these. Beside it: one Kemeny–Young order for the ballots of all items at once.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tiebreak.analysis.consensus import Election, elect
from tiebreak.analysis.entries import Entry, agreement, entries_of, shared
from tiebreak.analysis.finding import Finding, shortened
from tiebreak.analysis.peers.panel import (
    NoPeerReviewError,
    Panel,
    PanelWorth,
    panel_warnings,
    panel_worth,
    panels_among,
)
from tiebreak.analysis.peers.self_preference import SelfPreference, favour_reason, self_preference
from tiebreak.analysis.receipt import Price, Receipt, price_of, receipt_of
from tiebreak.analysis.remarks import FEW_ITEMS, lone_reviewer
from tiebreak.analysis.standing import Standing, best_first, left_open
from tiebreak.analysis.verdict import order_reasons
from tiebreak.paths import Paths
from tiebreak.progress import tracked
from tiebreak.rankers import (
    ItemBootstrap,
    KemenyResult,
    Profile,
    RankingError,
    ResampledAgreement,
    Views,
    aggregate_items,
    bootstrap_items,
    competition_ranks,
    consensus_by,
    kemeny_young_batch,
    kendall_tau_many,
    mean_rank,
    peer_views,
)
from tiebreak.rankers.consensus import comparing
from tiebreak.rankers.errors import UnprovenOrderError
from tiebreak.rankers.intervals import Estimate, ItemDraws
from tiebreak.rankers.pairwise_tests import Separation, separation
from tiebreak.rankers.profile import FloatArray
from tiebreak.rankers.uncertainty import Resampling
from tiebreak.ranking_logs.log import RankingLog
from tiebreak.ranking_logs.read import read_ranking_logs
from tiebreak.reason import Reason, Remark
from tiebreak.tables.ballots import BallotFile
from tiebreak.text import count

KEMENY = "kemeny_young"


@dataclass(frozen=True, slots=True)
class PeerRank(Standing):
    """One model in the macro ranking, by its mean rank.

    `mean_rank` is the mean over the `n_items` in which it has a rank, 1 = best, NaN without any.
    `at_once` is its place in the Kemeny order of all ballots, None if no ballot ranks it.
    """

    NAME = "mean_rank"

    n_items: int
    at_once: int | None

    @property
    def mean_rank(self) -> float:
        """The mean rank over items, 1 = best."""
        return self.value


@dataclass(frozen=True, slots=True)
class ItemOrders:
    """How certain the Kemeny orders of the items are.

    `n_items` have an order that is proven optimal; it is the only optimal one in `n_unique` items.
    `cost` is the number of pairwise disagreements between the orders and the ballots, out of
    `pairs` decided by the ballots. `reason` says why there are no figures, else it is None.
    """

    n_items: int
    n_unique: int
    cost: int
    pairs: int
    reason: str | None = None


@dataclass(frozen=True, eq=False, slots=True)
class PeerRanking:
    """The macro ranking by the first of `methods`, best first, and further rankings.

    `separation` has the tests of all pairs of models, `by_method` the macro rankings by all
    methods. `at_once` is the election by all ballots of all items, None if no ballot compares two
    models.
    """

    methods: tuple[str, ...]
    rows: tuple[PeerRank, ...]
    separation: Separation
    by_method: Election
    at_once: Election | None
    orders: ItemOrders

    @property
    def kemeny(self) -> KemenyResult | None:
        """The Kemeny–Young order of all ballots at once, with its certificate."""
        return None if self.at_once is None else self.at_once.kemeny


def peer_ranking(
    panel: Panel, methods: Sequence[str], consensus: FloatArray, how: Resampling
) -> PeerRanking:
    """The ranking of a panel by the first of `methods`, names in `rankers.AGGREGATORS`.

    `consensus`, shape (rows, N), has the ranks of the models in each row by that method.
    """
    bootstrap = bootstrap_items(-consensus, items=panel.items, how=how)
    places = best_first(competition_ranks(bootstrap.score), panel.models)
    pairs = separation(-consensus, places, items=panel.items, level=how.level)
    at_once = _election(panel, panel.benchmark, panel.ranks)
    return PeerRanking(
        methods=tuple(methods),
        rows=_rows(panel, bootstrap, pairs, _places(at_once)),
        separation=pairs,
        by_method=_by_method(panel, methods, consensus),
        at_once=at_once,
        orders=_orders(panel),
    )


def item_elections(panel: Panel) -> list[Election | None]:
    """Kemeny–Young for each row: order, certificate, all optima; None if no ballot compares two."""
    return [
        _election(panel, name, ranks[None])
        for name, ranks in zip(panel.item_ids, panel.ranks, strict=True)
    ]


def _election(panel: Panel, name: str, ranks: FloatArray) -> Election | None:
    """Kemeny–Young for some rows of ranks at once, None if no ballot compares two models."""
    ballots = comparing(ranks).reshape(-1, len(panel.models))
    ranked = np.flatnonzero(~np.isnan(ballots).all(axis=0))
    if not len(ranked):
        return None
    profile = Profile.from_ranks(ballots[:, ranked], [panel.models[column] for column in ranked])
    return elect(BallotFile(name, panel.log, profile), [KEMENY])


def _places(election: Election | None) -> Mapping[str, int]:
    if election is None or election.kemeny is None:
        return {}
    return {
        election.names[column]: place for place, column in enumerate(election.kemeny.order, start=1)
    }


def _rows(
    panel: Panel, bootstrap: ItemBootstrap, pairs: Separation, at_once: Mapping[str, int]
) -> tuple[PeerRank, ...]:
    # Scores are minus mean ranks, so values and bounds change sign and bounds change places.
    score, lower, upper = -bootstrap.score, -bootstrap.upper, -bootstrap.lower
    return PeerRank.rows(
        replace(bootstrap, score=score, lower=lower, upper=upper),
        panel.models,
        competition_ranks(bootstrap.score),
        **left_open(bootstrap, pairs),
        n_items=bootstrap.n_items.tolist(),
        at_once=[at_once.get(model) for model in panel.models],
    )


def _by_method(panel: Panel, methods: Sequence[str], consensus: FloatArray) -> Election:
    """The macro rankings by all methods; `consensus` is that of the first."""
    n_ballots = int(np.sum(~np.isnan(comparing(panel.ranks)).all(axis=2)))
    consensuses, failed = {}, dict[str, Remark]()
    for number, method in enumerate(methods):
        try:
            ranks = aggregate_items(panel.ranks, method) if number else consensus
        except RankingError as error:
            failed[method] = str(error)
            continue
        if np.isnan(ranks).all():
            failed[method] = Reason("no_ballot_read")
            continue
        consensuses[method] = consensus_by(method, mean_rank(ranks), ascending=True, used=n_ballots)
    return Election(
        name=panel.benchmark,
        source=panel.log,
        names=panel.models,
        consensuses=consensuses,
        failed=failed,
        kemeny=None,
        n_items=len(np.unique(panel.items[~np.isnan(consensus).all(axis=1)])),
    )


def _orders(panel: Panel) -> ItemOrders:
    table = comparing(panel.ranks)
    try:
        batch = kemeny_young_batch(table)
    except RankingError as error:
        return ItemOrders(0, 0, 0, 0, str(error))
    ordered = batch.cost >= 0
    before = sum(int(np.sum(table[:, :, [column]] < table)) for column in range(table.shape[2]))
    return ItemOrders(
        n_items=int(ordered.sum()),
        n_unique=int(batch.unique.sum()),
        cost=int(batch.cost[ordered].sum()),
        pairs=before,
    )


@dataclass(frozen=True, slots=True)
class SparseAgreement:
    """A sparse log compared with a full one, on the `n_items` items that both ranked.

    `macro` compares the two leaderboards. `per_item` is the mean over items of Kendall's τ-b
    between the two rankings of an item. `price` is the price per item relative to the full log:
    its relative figures are below 1 if sparse is cheaper.
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


@dataclass(frozen=True, eq=False, slots=True)
class PeerReview:
    """The report on one benchmark of one peer-review log.

    Of the `n_rows` items (each epoch on its own) that were judged to the end, `n_identical` have
    identical answers only, so no reviewer was called, and in `n_unusable` no review compares two
    answers. All figures are about the rest. `warnings` say what cannot be trusted; `notes` are all
    other remarks.
    """

    panel: Panel
    n_rows: int
    n_identical: int
    n_unusable: int
    ranking: PeerRanking
    views: tuple[SelfPreference, ...]
    worth: PanelWorth
    receipt: Receipt
    warnings: tuple[Reason, ...]
    notes: tuple[Remark, ...]

    @property
    def verdict(self) -> Reason:
        """The first model by the consensus, its lead, and the models that favour themselves."""
        order = order_reasons(self.ranking.separation, self.panel.models)
        favours = favour_reason(self.views)
        return Reason("verdict", statements=[*order, *([favours] if favours else [])])

    @property
    def n_reviewed(self) -> int:
        """The number of items in which a review compares two answers."""
        return self.n_rows - self.n_identical - self.n_unusable


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class PeerReport(Finding):
    """All peer reviews of some logs; `sparse` compares sparse with full ones."""

    reviews: tuple[PeerReview, ...]
    sparse: tuple[SparseAgreement, ...]
    how: Resampling
    notes: tuple[Reason, ...]

    def __str__(self) -> str:
        return shortened(
            [
                f"{review.panel.benchmark}: {count(len(review.panel.reviewers), 'reviewer')}, "
                f"{count(len(review.panel.models), 'model')}, {count(review.n_rows, 'item')}"
                for review in self.reviews
            ]
        )


def peer_report(
    paths: Paths, *, methods: Sequence[str] = (KEMENY,), how: Resampling = Resampling()
) -> PeerReport:
    """The report of all peer-review logs in some files and folders.

    The first of `methods`, names in `AGGREGATORS`, gives the ranking with its intervals and the
    views SIA and SFA; rankings by the others are shown beside it.

    Raises:
        RankingLogError: a path holds no ranking log.
        NoPeerReviewError: no log is of a peer review, or no reviewer was called in any.
        UnprovenOrderError: the first method finds no proven order; the message says what to do.
        RankingError: the method is unknown, or level or draws are out of range.
    """
    logs = read_ranking_logs(paths)
    return peer_report_of(logs, methods=methods, how=how)


def peer_report_of(
    logs: Sequence[RankingLog], *, methods: Sequence[str] = (KEMENY,), how: Resampling
) -> PeerReport:
    """As `peer_report`, for ranking logs that were read already."""
    panels = panels_among(logs)
    asked = [panel for panel in panels if panel.reviewers]
    silent = [
        Reason("all_identical", benchmark=panel.benchmark, log=panel.log)
        for panel in panels
        if not panel.reviewers
    ]
    if not asked:
        raise NoPeerReviewError("\n".join(map(str, silent)))
    return PeerReport(
        reviews=tuple(
            _review(panel, methods, how) for panel in tracked(asked, "looking at reviewers")
        ),
        sparse=tuple(sparse_agreements(logs, asked, how)),
        how=how,
        notes=tuple(silent),
    )


def _review(panel: Panel, methods: Sequence[str], how: Resampling) -> PeerReview:
    views = _views(panel, methods[0])
    worth = panel_worth(panel, how)
    identical = np.array([len(item.groups) == 1 for item in panel.ballots])
    reviewed = ~np.isnan(comparing(panel.ranks)).all(axis=(1, 2))
    n_unusable = int(np.sum(~reviewed & ~identical))
    return PeerReview(
        panel=panel,
        n_rows=len(panel.items),
        n_identical=int(identical.sum()),
        n_unusable=n_unusable,
        ranking=peer_ranking(panel, methods, views.inclusive, how),
        views=self_preference(panel, views, how),
        worth=worth,
        receipt=receipt_of(panel.ballots),
        warnings=(
            *filter(None, [lone_reviewer(panel.ballots)]),
            *panel_warnings(worth),
            *_few_items(panel, views),
        ),
        notes=(*panel.notes, *_notes(panel, methods[0], int(identical.sum()), n_unusable)),
    )


def _views(panel: Panel, method: str) -> Views:
    try:
        return peer_views(panel.ranks, panel.own, method=method)
    except UnprovenOrderError as error:
        raise UnprovenOrderError(
            f"{panel.benchmark} in {panel.log}: {method} is too hard here ({error}). Name another "
            "method first, such as --method borda"
        ) from error


def _few_items(panel: Panel, views: Views) -> Iterator[Reason]:
    ranks = views.inclusive
    apart = np.array([len(np.unique(row[~np.isnan(row)])) > 1 for row in ranks])
    n = len(np.unique(panel.items[apart]))
    if not n:
        yield Reason("no_item_tells_apart")
    elif len(np.unique(panel.items)) == 1:
        yield Reason("one_item_no_verdicts")
    elif n < FEW_ITEMS:
        yield Reason("few_items_tell_apart", n=n)


def _notes(panel: Panel, method: str, n_identical: int, n_unusable: int) -> Iterator[Reason]:
    if n_identical:
        yield Reason("identical_items", n=n_identical, of=len(panel.items))
    if n_unusable:
        yield Reason("unusable_items", n=n_unusable)
    outsiders = [reviewer.name for reviewer in panel.reviewers if reviewer.candidate is None]
    if outsiders:
        yield Reason("outside_reviewers", reviewers=outsiders)
    absent = [model for column, model in enumerate(panel.models) if column not in panel.own]
    if absent and panel.degree is None:
        yield Reason("not_reviewers", models=absent)
    if panel.degree is not None:
        n_full = _n_whole(panel)
        full = Reason("full_items", n=n_full) if n_full else ""
        yield Reason("sparse_mode", degree=panel.degree, full=full)
    if method != panel.aggregator:
        yield Reason("other_aggregator", aggregator=panel.aggregator, method=method)


def _n_whole(panel: Panel) -> int:
    """Items in which some reviewer saw its own answer, which sparse mode shows only with all."""
    seen = [
        ~np.isnan(panel.shown[:, reviewer, column])
        for reviewer, column in enumerate(panel.own)
        if column is not None
    ]
    return int(np.any(seen, axis=0).sum()) if seen else 0


RowKey = tuple[str, str, int]
"""An item's id, the hash of its question, and the number of the epoch."""


def sparse_agreements(
    logs: Iterable[RankingLog], panels: Sequence[Panel], how: Resampling
) -> list[SparseAgreement]:
    """Compare each sparse log with the oldest full one of its benchmark, models and aggregator.

    `panels` are the panels of the logs; each has reviewers.
    """
    pairs = list(_pairs(panels))
    if not pairs:
        return []
    # Intervals of the leaderboards themselves are not needed here.
    entries, _ = entries_of(logs, how=replace(how, draws=1))
    by_log = {
        (entry.board.log, entry.board.benchmark): entry
        for entry in entries
        if entry.board.rule.reviewed
    }
    agreements = [_compared(sparse, full, by_log, how) for sparse, full in pairs]
    return [compared for compared in agreements if compared is not None]


def _pairs(panels: Sequence[Panel]) -> Iterable[tuple[Panel, Panel]]:
    full: dict[tuple[object, ...], Panel] = {}
    for panel in panels:
        if panel.degree is None:
            full.setdefault((panel.benchmark, panel.models, panel.aggregator), panel)
    for panel in panels:
        kind = panel.benchmark, panel.models, panel.aggregator
        if panel.degree is not None and kind in full:
            yield panel, full[kind]


def _compared(
    sparse: Panel, full: Panel, entries: Mapping[tuple[str, str], Entry], how: Resampling
) -> SparseAgreement | None:
    """The comparison; None without a common item, or if another attempt replaces a log."""
    sparse_entry = entries.get((sparse.log, sparse.benchmark))
    full_entry = entries.get((full.log, full.benchmark))
    if sparse_entry is None or full_entry is None or sparse.degree is None:
        return None
    common = shared([sparse_entry, full_entry])
    if not common.items:
        return None
    return SparseAgreement(
        benchmark=sparse.benchmark,
        log=sparse.log,
        full=full.log,
        degree=sparse.degree,
        n_items=len(common.items),
        n_models=len(common.models),
        macro=agreement(sparse_entry, full_entry, common, how),
        per_item=_per_item(sparse, full, how),
        price=price_of(sparse_entry.items).relative_to(price_of(full_entry.items)),
    )


def _per_item(sparse: Panel, full: Panel, how: Resampling) -> Estimate:
    sparse_ranks, full_ranks = _consensus(sparse), _consensus(full)
    rows = [key for key in sparse_ranks if key in full_ranks]
    taus = kendall_tau_many([sparse_ranks[key] for key in rows], [full_ranks[key] for key in rows])
    number = {item: n for n, item in enumerate(dict.fromkeys(key[:2] for key in rows))}
    over = ItemDraws(len(rows), [number[key[:2]] for key in rows], how=how)
    [tau] = over.means(taus[:, None], Reason("no_item_for_both"))
    return tau


def _consensus(panel: Panel) -> dict[RowKey, FloatArray]:
    ranks = aggregate_items(panel.ranks, panel.aggregator)
    epochs: Counter[tuple[str, str]] = Counter()
    rows = {}
    for ballots, row in zip(panel.ballots, ranks, strict=True):
        item = ballots.item_id, ballots.input_hash
        epochs[item] += 1
        rows[(*item, epochs[item])] = row
    return rows
