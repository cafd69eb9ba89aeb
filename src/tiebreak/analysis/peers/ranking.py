"""The ranking that a peer review gives: item by item, and from all ballots at once.

Item by item (Peer review, §4.1): each item has a consensus of its own, and a model's score is the
mean of its ranks in these. At once: one Kemeny–Young order for the ballots of all items together.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tiebreak.analysis.consensus import Election, elect
from tiebreak.analysis.peers.panel import Panel
from tiebreak.analysis.standing import Standing, best_first, left_open
from tiebreak.rankers import (
    ItemBootstrap,
    KemenyResult,
    Profile,
    RankingError,
    aggregate_items,
    bootstrap_items,
    competition_ranks,
    consensus_by,
    kemeny_young_batch,
    mean_rank,
)
from tiebreak.rankers.consensus import comparing
from tiebreak.rankers.pairwise_tests import Separation, separation
from tiebreak.rankers.profile import FloatArray
from tiebreak.rankers.uncertainty import Resampling
from tiebreak.reason import Reason, Remark
from tiebreak.tables.ballots import BallotFile

KEMENY = "kemeny_young"


@dataclass(frozen=True, slots=True)
class PeerRank(Standing):
    """One model in the macro ranking, by its mean rank.

    `mean_rank` is the mean over the `n_items` in which it has a rank, 1 = best, NaN without any.
    `at_once` is its place in the Kemeny order of all ballots, None where it has none.
    """

    NAME = "mean_rank"

    n_items: int
    at_once: int | None

    @property
    def mean_rank(self) -> float:
        """The value, by its name."""
        return self.value


@dataclass(frozen=True, slots=True)
class ItemOrders:
    """The Kemeny orders of the items: how sure is each, as an order?

    `n_items` have an order, proven optimal; it is the only optimal one in `n_unique` of them.
    `cost` is the number of pairwise disagreements between the orders and the ballots, out of
    `pairs`, which the ballots decide. `reason` says why there are no figures, else it is None.
    """

    n_items: int
    n_unique: int
    cost: int
    pairs: int
    reason: str | None = None


@dataclass(frozen=True, eq=False, slots=True)
class PeerRanking:
    """The macro ranking by the first of `methods`, best first, and what else can be made of it.

    `separation` are the tests of all pairs of models. `by_method` are the macro rankings by all
    methods. `at_once` is the election by all ballots of all items; None where no ballot compares
    two models.
    """

    methods: tuple[str, ...]
    rows: tuple[PeerRank, ...]
    separation: Separation
    by_method: Election
    at_once: Election | None
    orders: ItemOrders

    @property
    def kemeny(self) -> KemenyResult | None:
        """Kemeny–Young by all ballots at once, with its certificate."""
        return None if self.at_once is None else self.at_once.kemeny


def peer_ranking(
    panel: Panel, methods: Sequence[str], consensus: FloatArray, how: Resampling
) -> PeerRanking:
    """The ranking of a panel by the first of `methods`, names in `rankers.AGGREGATORS`.

    `consensus`, shape (rows, N), are the ranks of the models in each row by that method.
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
    """Kemeny–Young for each row: order, certificate, all optima; None where nothing is compared."""
    return [
        _election(panel, name, ranks[None])
        for name, ranks in zip(panel.item_ids, panel.ranks, strict=True)
    ]


def _election(panel: Panel, name: str, ranks: FloatArray) -> Election | None:
    """Kemeny–Young for some rows of ranks at once; None where no ballot compares two models."""
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
    # The higher score is the lower rank.
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
    """The macro rankings by all methods; the consensus by the first is known."""
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
