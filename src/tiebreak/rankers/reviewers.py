"""Measures of each reviewer: distance from the others, self-preference, presentation bias.

    leave_one_out        distance from the others' consensus, and the ranking without the reviewer
    presentation_bias    whether it ranks by the place in which an answer is shown
    peer_views           a model's view of itself and its peers' view of it

`ranks` and `shown` have shape (rows, R reviewers, N candidates), NaN = not ranked, not shown. A row
is an item, or an epoch of an item; intervals are over items (see `ItemDraws`).

The four views of peer review, each a mean over items:

    SR   self-ranking: the rank that a model gives its own answer
    PR   peer-ranking: the mean of the ranks that the other reviewers give it
    SIA  self-inclusive aggregation: its rank in the consensus of all ballots
    SFA  self-free aggregation: the same, without the reviewer's own answer in every ballot

PR − SR is the self-preference gap: how many places better a model ranks itself than its peers do
(Peer review, §4.3 and table 3). A fair model among models that favour themselves has such a gap
too, because each of their ballots has one more answer above its own. `fair_gaps` corrects for this.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tiebreak.rankers.aggregation import aggregate_items
from tiebreak.rankers.agreement import Agreement, kendall_tau, kendall_tau_many
from tiebreak.rankers.consensus import comparing, items_table, mean_rank
from tiebreak.rankers.errors import RankingError
from tiebreak.rankers.expander import check_own
from tiebreak.rankers.intervals import Estimate, ItemDraws
from tiebreak.rankers.pairwise_tests import holm, items_needed, sign_flip_p
from tiebreak.rankers.profile import FloatArray, ratio, within_ballots
from tiebreak.rankers.ranks import DECIMALS, competition_ranks
from tiebreak.rankers.uncertainty import Resampling
from tiebreak.reason import Reason

# With more candidates, a Kemeny order of each item without each reviewer takes minutes.
KEMENY_UP_TO = 12


@dataclass(frozen=True, eq=False, slots=True)
class LeaveOneOut:
    """A panel's consensus by `method`, with and without each of its R reviewers.

    `distances` are the reviewers' distances from the consensus of the others in [0, 1], ½ = chance:
    of the pairs that both order, the share that they order oppositely; a mean over rows.

    `mean_ranks`, shape (N,), are the mean ranks of the models in the consensus of all reviewers,
    and `mean_ranks_without`, shape (R, N), those without each reviewer. `shifts`, shape (R, N), is
    the number of places by which a model falls without the reviewer (< 0: rises), among the models
    ranked in both; `first_changes` is whether other models are then first (None: no model is
    ranked), and `kendall` is Kendall's τ-b between the mean ranks with and without the reviewer.
    """

    method: str
    distances: tuple[Estimate, ...]
    mean_ranks: FloatArray
    mean_ranks_without: FloatArray
    shifts: FloatArray
    first_changes: tuple[bool | None, ...]
    kendall: tuple[Agreement, ...]


def leave_one_out(
    ranks: ArrayLike,
    *,
    method: str | None = None,
    items: ArrayLike | None = None,
    how: Resampling = Resampling(),
) -> LeaveOneOut:
    """Aggregate all items with all reviewers, and without each reviewer in turn.

    A reviewer far from the others need not be wrong. The consensus of a few others is noisy, so
    distances are larger in small panels; compare them only within a panel.

    `method` is a name in `AGGREGATORS`, by default Kemeny–Young up to 12 candidates, and Borda for
    more, because R + 1 exact orders of every item would take minutes. The other arguments are those
    of `reviewer_agreement`.

    Raises:
        RankingError: as `aggregate_items` and `reviewer_agreement`.
    """
    table = comparing(items_table(ranks))
    over = ItemDraws(len(table), items, how=how)
    n_reviewers, n = table.shape[1:]
    if method is None:
        method = "kemeny_young" if n <= KEMENY_UP_TO else "borda"
    mean_ranks = mean_rank(aggregate_items(table, method))
    distances = np.full((len(table), n_reviewers), np.nan)
    without = np.full((n_reviewers, n), np.nan)
    for reviewer in range(n_reviewers):
        left_out = (np.arange(n_reviewers) == reviewer)[:, None]
        consensus = aggregate_items(np.where(left_out, np.nan, table), method)
        distances[:, reviewer] = _distances(table[:, reviewer], consensus)
        without[reviewer] = mean_rank(consensus)
    return LeaveOneOut(
        method=method,
        distances=over.means(distances, Reason("no_pair_of_both")),
        mean_ranks=mean_ranks,
        mean_ranks_without=without,
        shifts=np.stack(
            [
                _places(ranks_without, mean_ranks) - _places(mean_ranks, ranks_without)
                for ranks_without in without
            ]
        ),
        first_changes=tuple(_first_changes(mean_ranks, ranks_without) for ranks_without in without),
        kendall=tuple(kendall_tau(mean_ranks, ranks_without) for ranks_without in without),
    )


def _distances(ballots: FloatArray, consensus: FloatArray) -> FloatArray:
    """Share of pairs that both order, and oppositely, in each row: (rows, N) → (rows,)."""
    i, j = np.triu_indices(ballots.shape[1], k=1)
    rounded = consensus.round(DECIMALS)
    product = np.sign(ballots[:, i] - ballots[:, j]) * np.sign(rounded[:, i] - rounded[:, j])
    ordered = np.sum(np.abs(product) == 1, axis=1)
    return ratio(np.sum(product == -1, axis=1), ordered)


def _places(mean_ranks: FloatArray, other: FloatArray) -> FloatArray:
    """Competition ranks of the models that `other` ranks too."""
    return competition_ranks(np.where(np.isnan(other), np.nan, -mean_ranks))


def _first_changes(mean_ranks: FloatArray, without: FloatArray) -> bool | None:
    if np.isnan(mean_ranks).all() or np.isnan(without).all():
        return None
    return not np.array_equal(competition_ranks(-mean_ranks) == 1, competition_ranks(-without) == 1)


@dataclass(frozen=True, slots=True)
class PresentationBias:
    """How a reviewer's ranks correlate with the order in which the answers were shown.

    `tau` is the mean of Kendall's τ-b between place and rank: 0 without bias, 1 if the ranks repeat
    the order, -1 if they reverse it. `bound` is whether the reviewer ranks by place, by the rule of
    `presentation_bias`, from `p`, a p-value adjusted for all reviewers; None with too few ballots
    to tell.

    `n_ballots` counts the ballots that rank at least two answers shown in different places.
    `repeated` is the share of them that repeat the order shown exactly, `reversed` the share that
    reverse it, and `all_tied` the share that tie all; NaN without a ballot. `by_chance` is the
    value of `repeated` and of `reversed` by chance: the mean of 1/n! for n different places.
    """

    tau: Estimate
    p: float
    bound: bool | None
    n_ballots: int
    repeated: float
    reversed: float
    by_chance: float
    all_tied: float


def presentation_bias(
    ranks: ArrayLike,
    shown: ArrayLike,
    *,
    tolerance: float = 0.2,
    alarm: float = 0.01,
    items: ArrayLike | None = None,
    how: Resampling = Resampling(),
) -> tuple[PresentationBias, ...]:
    """Test whether each reviewer ranks by place, if answers are shown in random order.

    `bound` is True if |mean τ| > `tolerance` and p ≤ `alarm`. The order shown is drawn anew for
    every ballot, and its reverse is equally likely, so that without bias every τ is as likely to
    have the opposite sign: p is from the sign-flip test, which is exact for any number of ballots,
    adjusted for all R reviewers by Holm's method. τ = 0.2 means that six pairs in ten are ranked by
    place, instead of five by chance.

    Of 300 simulated panels of eight reviewers without bias, at most 0.3% had a reviewer called
    bound, on 12, 20 or 50 items of 6 answers. One reviewer with τ = 0.3 among them is found on 12
    items in 13%, on 20 in 44%, on 50 in 99% of the panels; one with τ = 0.5 in 70%, 100% and 100%.

    Args:
        ranks: as in `reviewer_agreement`, and so are `items` and `how`.
        shown: the same shape, the place in which an answer was shown, 1 = first, NaN = not shown;
            identical answers that were shown as one share a place.
        tolerance: smallest |τ| that is called bound, in [0, 1).
        alarm: probability that any of R reviewers without bias is called bound, in (0, 1).
        items: shape (rows,).
        how: level, draws and seed.

    Returns:
        One for each reviewer.

    Raises:
        RankingError: as `reviewer_agreement`; `shown` does not fit; tolerance or alarm is invalid.
    """
    table, places = items_table(ranks), items_table(shown)
    if table.shape != places.shape:
        raise RankingError(f"ranks have shape {table.shape}, and places shown {places.shape}")
    if not 0 <= tolerance < 1:
        raise RankingError(f"tolerance must be at least 0 and below 1, got {tolerance}")
    if not 0 < alarm < 1:
        raise RankingError(f"alarm must lie between 0 and 1, got {alarm}")
    reviewers = range(table.shape[1])
    over = ItemDraws(len(table), items, how=how)
    taus = np.stack([kendall_tau_many(table[:, r], places[:, r]) for r in reviewers], axis=1)
    taus = taus.round(DECIMALS)
    estimates = over.means(taus, Reason("no_order_to_follow"))
    n_taus = np.sum(~np.isnan(taus), axis=0)
    p = holm([sign_flip_p(taus[:, r], seed=how.seed) if n_taus[r] else math.nan for r in reviewers])
    enough = n_taus >= items_needed(len(reviewers), 1 - alarm)
    return tuple(
        _of_reviewer(
            table[:, r],
            places[:, r],
            tau=estimates[r],
            p=p[r],
            bound=abs(estimates[r].value) > tolerance and p[r] <= alarm if enough[r] else None,
        )
        for r in reviewers
    )


def _of_reviewer(
    ranks: FloatArray, places: FloatArray, *, tau: Estimate, p: float, bound: bool | None
) -> PresentationBias:
    """The bias of a reviewer with `ranks` and `places` of shape (rows, N)."""
    known = ~np.isnan(ranks) & ~np.isnan(places)
    given = within_ballots(np.where(known, ranks, np.nan))
    order = within_ballots(np.where(known, places, np.nan))
    n = known.sum(axis=1)
    # Count different places: identical answers shown as one share a mean rank in `order`.
    kinds = np.array([len(np.unique(row[~np.isnan(row)])) for row in order])
    ballots = kinds > 1
    if not ballots.any():
        nan = math.nan
        return PresentationBias(tau, p, bound, 0, nan, nan, nan, nan)

    def share(same: FloatArray) -> float:
        return float(np.mean(np.all(~known | (same == 0), axis=1)[ballots]))

    return PresentationBias(
        tau=tau,
        p=p,
        bound=bound,
        n_ballots=int(ballots.sum()),
        repeated=share(given - order),
        reversed=share(given - (n[:, None] + 1 - order)),
        by_chance=float(np.mean([1 / math.factorial(k) for k in kinds[ballots].tolist()])),
        all_tied=share(given - (n[:, None] + 1) / 2),
    )


@dataclass(frozen=True, eq=False, slots=True)
class Views:
    """The four views as tables of ranks, shape (items, N), 1 = best, and as means over items.

    A rank is NaN in `self_ranks` if no ballot by the model ranks it in this item, in `peer_ranks`
    if no ballot by another reviewer does, and in `inclusive` and `self_free`, the ranks in the
    consensus by `method`, if no ballot compares it with another candidate or if the method can read
    none of the ballots (Kendall reads only complete ballots, so it has no self-free view of models
    that review themselves).

    The means have shape (N,), over the items in which the rank is defined; NaN if it never is. Pass
    `gaps` to `bootstrap_items` for an interval of `gap`.
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
        """Mean rank that the other reviewers give each model."""
        return mean_rank(self.peer_ranks)

    @property
    def sia(self) -> FloatArray:
        """Mean rank of each model in the consensus of all ballots."""
        return mean_rank(self.inclusive)

    @property
    def sfa(self) -> FloatArray:
        """Mean rank of each model in the consensus of the ballots without self-assigned ranks."""
        return mean_rank(self.self_free)

    @property
    def gaps(self) -> FloatArray:
        """Self-preference gap in each item, shape (items, N): > 0 if a model favours itself."""
        return self.peer_ranks - self.self_ranks

    @property
    def gap(self) -> FloatArray:
        """Mean gap over the items with both ranks; equals pr − sr if both are always defined."""
        return mean_rank(self.gaps)


def peer_views(
    ranks: ArrayLike, own: Sequence[int | None], *, method: str = "kemeny_young"
) -> Views:
    """Compute SR, PR, SIA and SFA from the ballots of all items.

    A ballot that ranks n answers gives them the ranks 1 … n. For SFA the reviewer's own answer
    becomes "not ranked", and the others keep their order. A ballot that ranks fewer than two
    answers is left out. See `aggregate_items` for the choice among several optimal orders.

    Args:
        ranks: shape (items, reviewers, N), lower is better, equal = tied, NaN = not ranked. A
            reviewer who failed on an item has a row of NaN, an absent answer a column of NaN.
        own: for each reviewer the column of its own answers; None if it is not a candidate.
        method: a name in `AGGREGATORS`, for SIA and SFA.

    Raises:
        RankingError: `own` does not have one entry per reviewer, or one that is not a column; as
            `aggregate_items`.
    """
    self_ranks, peers = own_and_peers(ranks, own)
    return Views(
        method=method,
        self_ranks=mean_rank(self_ranks, axis=1),
        peer_ranks=mean_rank(peers, axis=1),
        inclusive=aggregate_items(ranks, method),
        self_free=aggregate_items(peers, method),
    )


def own_and_peers(ranks: ArrayLike, own: Sequence[int | None]) -> tuple[FloatArray, FloatArray]:
    """Ranks that reviewers give their own answers, and ranks that they give all other answers.

    Both have the shape of `ranks`, NaN elsewhere. The ranks are 1 … n of the n answers that a
    ballot ranks, the reviewer's own included; a ballot with fewer than two is left out. The means
    over reviewers are SR and PR, and SFA is the consensus of the second array. Arguments and errors
    are those of `peer_views`.
    """
    table = comparing(within_ballots(items_table(ranks)))
    is_own = _own_answer_mask(own, *table.shape[1:])
    return np.where(is_own, table, np.nan), np.where(is_own, np.nan, table)


def fair_gaps(ranks: ArrayLike, own: Sequence[int | None]) -> FloatArray:
    """How many places better a model ranks itself than a peer does, among third models' answers.

    For each other reviewer, compare its ballot with the model's own: the difference of the model's
    places among the answers that both rank, without the other reviewer's own answer. The mean over
    the other reviewers is 0 on average for a model that judges its own answer as its peers do,
    however much these favour themselves. With N answers it is in [2 − N, N − 2] among candidates.

    Arguments and errors are those of `peer_views`.

    Returns:
        Shape (items, N): > 0 if a model favours itself, NaN if there is nothing to compare.
    """
    table = comparing(items_table(ranks))
    peers = np.where(_own_answer_mask(own, *table.shape[1:]), np.nan, table)
    gaps: FloatArray = np.full((len(table), table.shape[2]), np.nan)
    for reviewer, column in enumerate(own):
        if column is None:
            continue
        self_ballots = table[:, reviewer, None, :]
        # A place is half the sum of these signs plus a constant.
        below = np.sign(peers[..., [column]] - peers) - np.sign(
            self_ballots[..., [column]] - self_ballots
        )
        # An answer is not compared with itself. The model's own ballot drops out, because `peers`
        # has NaN for its own answer.
        below[..., column] = np.nan
        compared = ~np.isnan(below).all(axis=2)
        places = np.where(compared, np.nansum(below, axis=2) / 2, np.nan)
        gaps[:, column] = mean_rank(places, axis=1)
    return gaps


def _own_answer_mask(own: Sequence[int | None], n_reviewers: int, n: int) -> NDArray[np.bool_]:
    """Whether an answer is the reviewer's own, shape (reviewers, N)."""
    if len(own) != n_reviewers:
        raise RankingError(f"{len(own)} entries in own for {n_reviewers} reviewers")
    check_own(own, n)
    columns = np.array([-1 if column is None else column for column in own])
    mask: NDArray[np.bool_] = columns[:, None] == np.arange(n)
    return mask
