"""Sequential stopping: when is a ranking settled? A test that may be read after every item.

Items come in random order. For every ordered pair of models a bettor puts money on "i is better
than j" against the hypothesis "the mean of score i − score j is at most 0". Where that is true, the
bets are fair at best, and the capital, 1 at the start, ever reaches c with a probability of at most
1/c (Ville's inequality): however often one looks, and whenever one stops.

    capital after t items = Π (1 + λₜ (dₜ − mₜ)),   dₜ = scoreᵢ − scoreⱼ of item t

The mean over which items? Of `new` ones: those at hand are a sample from a population without end.
Then mₜ = 0, and one stake λₜ decides after fewest items: that with which c is reached when all T
items have come and a lead is then only just large enough, √(2 ln c / T) / sₜ, times 1.5; sₜ² is the
mean square of d so far. Of `these` ones, all T of them, drawn without replacement: then what is
left to come must make up for the lead so far, and the stakes grow as the truth comes near.

    mₜ = −(d₁ + … + dₜ₋₁) / (items left)    the most that dₜ can average under the hypothesis

I. Waudby-Smith and A. Ramdas 2024, "Estimating means of bounded random variables by betting",
JRSS-B 86(1), doi:10.1093/jrsssb/qkad009: the capital process, the stake for a given number of items
(section 3.2), mixtures over bets, and sampling without replacement.

Why a capital of N / error decides. A ranking is settled when every model has won its bets against
every model that is ranked below it. Between any two models one does at least as well, so the models
can be lined up, truly, as s₁ ≥ s₂ ≥ … ≥ s_N, neighbour by neighbour (L. Rédei 1934: a tournament
has a Hamiltonian path). A settled ranking in another order puts some sₖ₊₁ above sₖ: one of N − 1
false bets was won. A settled ranking in this order that is wrong (a tie, say) won one more false
bet, and which one is given by the truth. So one of N fixed bets has reached N / error, which has a
probability of at most N · error / N. The same holds for the top k against the rest. A union over
all N(N − 1) bets is not needed, because nothing is claimed before the ranking is settled.
"""

from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from tiebreak.rankers.errors import RankingError
from tiebreak.rankers.profile import FloatArray, ratio

SettleFor = Literal["new", "these"]
"""The items that a settled ranking speaks about: new ones as well, or only those of the list."""

# For new items: times the stake that is best for a lead that all items only just decide. Larger
# leads are decided earlier for it, and that one is decided hardly less often.
_BOLDER = 1.5
# For these items: what a bettor puts on a difference of 1 at the start. The capital is spread
# evenly over them.
_BETS = np.geomspace(0.02, 2.0, 12)
# Of the stake at which the worst outcome would cost all capital. Less than all: one can come back.
_MOST = 0.9
# Sums of scores that differ by less are equal: it is rounding.
_ROUNDING = 1e-9


class RankingTest:
    """Says after each item whether the ranking by mean score is settled.

    The probability that it ever settles on a wrong ranking (one that puts a model strictly above
    another that is as good or better on the items of `settle_for`) is at most `error`.

    The items must come in random order, drawn independently of their scores, and an item's scores
    must not depend on when it comes. A model without a score in an item (NaN) cannot be compared
    there: the item adds a difference of 0 to its pairs, which leaves the sign of their mean over
    the items that they share as it is, so each pair is decided over the items that it shares.

    It saves much on large benchmarks and for a clear winner, and nothing where near-ties have to be
    told apart: of 1,000 items, 8 models 0.10 apart by normalized Borda score take 28%, 0.05 apart
    all (docs/statistics.md). Equal models settle, wrongly, in 4% of the runs with 2 of them and in
    none with 8.

    `n_items` counts the items so far; `settled` says whether it is, and once it is it stays so.

    Args:
        n_models: number of models, N, at least 2.
        n_total: number of items that there are, T.
        settle_for: "new" = the ranking is to hold for new items of the kind; "these" = for the
            `n_total` items, and other items may rank the models differently.
        error: probability of ever settling on a wrong ranking, in (0, 1).
        top_k: settle which models are the k best, in whatever order; None = settle all places.

    Raises:
        RankingError: an argument is out of range.
    """

    def __init__(
        self,
        n_models: int,
        n_total: int,
        *,
        settle_for: SettleFor = "new",
        error: float = 0.05,
        top_k: int | None = None,
    ) -> None:
        if n_models < 2 or n_total < 1:
            raise RankingError(f"expected 2 models and 1 item or more, got {n_models}, {n_total}")
        if settle_for not in get_args(SettleFor):
            raise RankingError(f"settle_for must be new or these, got {settle_for!r}")
        if not 0 < error < 1:
            raise RankingError(f"error must lie between 0 and 1, got {error}")
        if top_k is not None and not 0 < top_k < n_models:
            raise RankingError(f"top_k must lie between 1 and {n_models - 1}, got {top_k}")
        self.n_models, self.n_total, self.top_k = n_models, n_total, top_k
        self.n_items = 0
        self.settled = False
        self._bets = PairBets((n_models, n_models), n_total, settle_for, enough=n_models / error)
        self._sum, self._present = np.zeros(n_models), np.zeros(n_models)
        self._order = tuple(range(n_models))

    @property
    def order(self) -> tuple[int, ...]:
        """Models from best to worst by mean score so far; as it was when it was settled.

        Equal means: the lower number first. Models without a score are last.
        """
        return self._order

    @property
    def undecided(self) -> list[tuple[int, int]]:
        """Pairs (better, worse) of the order that are in the way of settling it.

        Only the settled ranking keeps the error rate: a pair that is not listed here before then is
        no finding yet.
        """
        return [] if self.settled else [p for p in self._pairs() if not self._bets.decided[p]]

    def update(self, scores: ArrayLike) -> None:
        """Take in the next item.

        Args:
            scores: shape (N,), in [0, 1], higher is better, NaN = the model has none.

        Raises:
            RankingError: the shape is another, a score is out of range, or all `n_total` items have
                come already.
        """
        row = np.asarray(scores, dtype=np.float64)
        if row.shape != (self.n_models,):
            raise RankingError(f"scores must have shape ({self.n_models},), got {row.shape}")
        if np.any((row < 0) | (row > 1)):
            raise RankingError(f"scores must lie in [0, 1], got {row.tolist()}")
        if self.n_items == self.n_total:
            raise RankingError(f"all {self.n_total} items have come already")
        self._bets.settle(np.nan_to_num(row[:, None] - row))
        self._sum += np.nan_to_num(row)
        self._present += ~np.isnan(row)
        self.n_items += 1
        if not self.settled:
            mean = ratio(self._sum, self._present)
            order: list[int] = np.argsort(-mean.round(12), kind="stable").tolist()
            self._order = tuple(order)
            self.settled = not self.undecided

    def _pairs(self) -> list[tuple[int, int]]:
        top = self.top_k or self.n_models
        return [
            (better, worse)
            for place, better in enumerate(self._order[:top])
            for worse in self._order[max(place + 1, self.top_k or 0) :]
        ]


class PairBets:
    """Capitals of the bets on every pair, and which pairs they have decided.

    Args:
        shape: of the differences: (N, N), or (runs, N, N) to play many runs at once.
        n_total, settle_for: as in `RankingTest`.
        enough: the capital that decides a pair. Once decided a pair stays so.
    """

    def __init__(
        self, shape: tuple[int, ...], n_total: int, settle_for: SettleFor, *, enough: float
    ) -> None:
        self.decided = np.zeros(shape, dtype=np.bool_)
        self._n_total, self._n_items, self._enough = n_total, 0, np.log(enough)
        self._new = settle_for == "new"
        self._lead, self._square = np.zeros(shape), np.zeros(shape)
        self._log_capital = np.zeros((*shape, 1 if self._new else len(_BETS)))

    def settle(self, difference: FloatArray) -> None:
        """Pay out the bets on the next item: by how much i does better than j in it, in [-1, 1]."""
        left = self._n_total - self._n_items
        if self._new:
            # The mean is at most 0. Before the first item as if one difference of ½ had been seen.
            size = np.sqrt((self._square + 0.25) / (self._n_items + 1))
            stake = _BOLDER * np.sqrt(2 * self._enough / self._n_total) / size
            null, stake = np.zeros_like(size), np.minimum(stake, _MOST)[..., None]
        else:
            # At −1 and below the hypothesis is refuted without a bet, see below.
            null = np.maximum(-self._lead / left, _ROUNDING - 1)
            # The fewer items are left, the further the truth is from what they must average.
            growth = self._n_total / left
            stake = np.minimum(_BETS * growth, (_MOST / (1 + null))[..., None])
        self._log_capital += np.log1p(stake * (difference - null)[..., None])
        self._lead += difference
        self._square += difference**2
        self._n_items += 1
        top = self._log_capital.max(axis=-1)
        mean = np.exp(self._log_capital - top[..., None]).mean(axis=-1)
        self.decided |= top + np.log(mean) >= self._enough
        if not self._new:
            # Even if j won every item that is left by 1, i would stay ahead.
            self.decided |= self._lead > left - 1 + _ROUNDING
