"""Four views of peer review: who ranks whom, with and without a model's opinion of itself.

SR   self-ranking: the rank that a model gives its own answer.
PR   peer-ranking: the mean of the ranks that the other reviewers give it.
SIA  self-inclusive aggregation: its rank in the consensus of all ballots.
SFA  self-free aggregation: the same, where every ballot leaves the reviewer's own answer out.

Each is a mean over items. PR − SR is the self-preference gap: how many places better a model puts
itself than its peers do (Peer review, §4.3 and table 3). A fair model among others that favour
themselves has such a gap, too: each of their ballots has one more answer above its own. `fair_gaps`
are without that.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tiebreak.rankers.aggregation import aggregate_items
from tiebreak.rankers.consensus import comparing, items_table, mean_rank
from tiebreak.rankers.errors import RankingError
from tiebreak.rankers.expander import check_own
from tiebreak.rankers.profile import FloatArray, within_ballots


@dataclass(frozen=True, eq=False, slots=True)
class Views:
    """The four views, each as a table of ranks, shape (items, N), 1 = best, and as its means.

    A rank is NaN in `self_ranks` if no own ballot of the model ranks it in this item, in
    `peer_ranks` if no other's does, and in `inclusive` and `self_free`, the ranks in the
    consensus by `method`, if no ballot compares it with another candidate, or if the method finds
    no ballot that it can read (Kendall reads complete ones only, so it has no self-free view of
    models that review themselves).

    The means have shape (N,); they are over the items in which the rank is defined, NaN if there
    is none. Give `gaps` to `bootstrap_items` for an interval of `gap`.
    """

    method: str
    self_ranks: FloatArray
    peer_ranks: FloatArray
    inclusive: FloatArray
    self_free: FloatArray

    @property
    def sr(self) -> FloatArray:
        """Mean rank that each model gives itself."""
        return mean_rank(self.self_ranks)

    @property
    def pr(self) -> FloatArray:
        """Mean rank that the others give it."""
        return mean_rank(self.peer_ranks)

    @property
    def sia(self) -> FloatArray:
        """Mean rank in the consensus of all ballots."""
        return mean_rank(self.inclusive)

    @property
    def sfa(self) -> FloatArray:
        """Mean rank in the consensus of the ballots without self-assigned ranks."""
        return mean_rank(self.self_free)

    @property
    def gaps(self) -> FloatArray:
        """Self-preference gap in each item, shape (items, N): > 0 where a model favours itself."""
        return self.peer_ranks - self.self_ranks

    @property
    def gap(self) -> FloatArray:
        """Mean gap over the items where both ranks are defined: pr − sr if both always are."""
        return mean_rank(self.gaps)


def peer_views(
    ranks: ArrayLike, own: Sequence[int | None], *, method: str = "kemeny_young"
) -> Views:
    """SR, PR, SIA and SFA from the ballots of all items.

    A ballot that ranks n answers gives the ranks 1 … n. For SFA the reviewer's own answer becomes
    "not ranked"; the others keep their order. A ballot that ranks fewer than two answers says
    nothing and is left out. How ties between optimal orders are read: see `aggregate_items`.

    Args:
        ranks: shape (items, reviewers, N), lower is better, equal = tied, NaN = not ranked. A
            reviewer who failed on an item has a row of NaN, an absent answer a column of NaN.
        own: for each reviewer the column of its own answers; None if it is no candidate.
        method: a name in `AGGREGATORS`, for SIA and SFA.

    Raises:
        RankingError: `own` has not one entry per reviewer; an entry of `own` is no column; as
            `aggregate_items`.
    """
    mine, peers = own_and_peers(ranks, own)
    return Views(
        method=method,
        self_ranks=mean_rank(mine, axis=1),
        peer_ranks=mean_rank(peers, axis=1),
        inclusive=aggregate_items(ranks, method),
        self_free=aggregate_items(peers, method),
    )


def own_and_peers(ranks: ArrayLike, own: Sequence[int | None]) -> tuple[FloatArray, FloatArray]:
    """The ranks that reviewers give their own answers, and those that they give all others.

    Both are as `ranks`, NaN elsewhere, and in every ballot the ranks are 1 … n of the n answers
    that it ranks, its own among them; a ballot of fewer than two is left out. Their means over
    reviewers are SR and PR, and SFA is the consensus of the second. Arguments and errors are those
    of `peer_views`.
    """
    table = comparing(within_ballots(items_table(ranks)))
    is_own = _own_cells(own, *table.shape[1:])
    return np.where(is_own, table, np.nan), np.where(is_own, np.nan, table)


def fair_gaps(ranks: ArrayLike, own: Sequence[int | None]) -> FloatArray:
    """How many places better a model puts itself than a peer does, among third answers alone.

    Of each other reviewer's ballot and the model's own: the difference of the places that they give
    it among the answers that both rank, without the answer of the other reviewer. The mean over the
    other reviewers is 0 on average for a model that judges its own answer as its peers do, however
    much these favour themselves. With N answers it lies in [2 − N, N − 2] between candidates.

    Arguments and errors are those of `peer_views`.

    Returns:
        Shape (items, N): > 0 where a model favours itself, NaN where there is nothing to compare.
    """
    table = comparing(items_table(ranks))
    others = np.where(_own_cells(own, *table.shape[1:]), np.nan, table)
    gaps: FloatArray = np.full((len(table), table.shape[2]), np.nan)
    for reviewer, column in enumerate(own):
        if column is None:
            continue
        mine = table[:, reviewer, None, :]
        # A place is half the sum of these signs, and a constant.
        below = np.sign(others[..., [column]] - others) - np.sign(mine[..., [column]] - mine)
        # Its own ballot is not there as another's: there its own answer is left out.
        below[..., column] = np.nan
        compared = ~np.isnan(below).all(axis=2)
        places = np.where(compared, np.nansum(below, axis=2) / 2, np.nan)
        gaps[:, column] = mean_rank(places, axis=1)
    return gaps


def _own_cells(own: Sequence[int | None], n_reviewers: int, n: int) -> NDArray[np.bool_]:
    """Whether an answer is the reviewer's own, shape (reviewers, N)."""
    if len(own) != n_reviewers:
        raise RankingError(f"{len(own)} entries in own for {n_reviewers} reviewers")
    check_own(own, n)
    columns = np.array([-1 if column is None else column for column in own])
    cells: NDArray[np.bool_] = columns[:, None] == np.arange(n)
    return cells
