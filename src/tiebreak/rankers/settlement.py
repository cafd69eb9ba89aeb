"""Sequential stopping: a test, valid after every item, of whether a ranking is settled.

Items come in random order. For every ordered pair of models a bettor bets on "i is better than j"
against the hypothesis "the mean of score i − score j is at most 0". If the hypothesis is true, the
bets are at best fair, and the probability that the capital, 1 at the start, ever reaches c is at
most 1/c (Ville's inequality), however often one looks and whenever one stops.

    capital after t items = Π (1 + λₜ (dₜ − mₜ)),   dₜ = scoreᵢ − scoreⱼ of item t

The mean is over new items or over these items. For `new` items, those at hand are a sample from an
infinite population. Then mₜ = 0, and the stake λₜ is 1.5 · √(2 ln c / T) / sₜ, where sₜ² is the
mean square of d so far; without the factor 1.5 it would suit a lead just large enough to reach c at
item T. For `these` items, all T are drawn without replacement: under the hypothesis the items left
must make up for the lead so far, and the stakes grow as fewer are left.

    mₜ = −(d₁ + … + dₜ₋₁) / (items left)    the most that dₜ can average under the hypothesis

I. Waudby-Smith and A. Ramdas 2024, "Estimating means of bounded random variables by betting",
JRSS-B 86(1), doi:10.1093/jrsssb/qkad009: the capital process, the stake for a given number of items
(section 3.2), mixtures over bets, and sampling without replacement.

Why a capital of N / error decides: A ranking is settled when every model has won its bets against
every model ranked below it. Of any two models one does at least as well, so the models have a true
order s₁ ≥ s₂ ≥ … ≥ s_N, neighbour by neighbour (L. Rédei 1934: a tournament has a Hamiltonian
path). A settled ranking in another order puts some sₖ₊₁ above sₖ, and has won one of N − 1 false
bets. A settled ranking in this order that is wrong (for example because of a tie) has won another
false bet, which the truth determines. So one of N fixed bets has reached N / error, with a
probability of at most N · error / N. The same holds for the top k against the rest. A union bound
over all N(N − 1) bets is not needed, because nothing is claimed before the ranking is settled.
"""

from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from tiebreak.rankers.errors import RankingError
from tiebreak.rankers.profile import FloatArray, ratio

SettleFor = Literal["new", "these"]
"""The items that a settled ranking is about: new items too, or only those of the list."""

# For new items: factor on the stake that is best for a lead just decided by all items. It decides
# larger leads earlier, and that lead hardly less often.
_BOLDER = 1.5
# For these items: initial stakes on a difference of 1, with the capital split evenly among them.
_BETS = np.geomspace(0.02, 2.0, 12)
# Share of the stake at which the worst outcome loses all capital; below 1 so that it can recover.
_MOST = 0.9
# Sums of scores that differ by less count as equal, because of rounding.
_ROUNDING = 1e-9


class RankingTest:
    """Sequential test of whether the ranking by mean score is settled.

    The probability of ever settling on a wrong ranking (one that puts a model strictly above
    another that is as good or better on the items of `settle_for`) is at most `error`.

    The items must come in random order, drawn independently of their scores, and an item's scores
    must not depend on when it comes. If a model has no score in an item (NaN), the item adds a
    difference of 0 to its pairs. This does not change the sign of a pair's mean over its common
    items, so each pair is decided over these.

    Stopping saves many items on large benchmarks with a clear winner, and none if near-ties must be
    told apart: of 1,000 items, 8 models 0.10 apart by normalized Borda score need 28%, and 0.05
    apart all (docs/statistics.md). Equal models settle, wrongly, in 4% of runs with 2 and in none
    with 8.

    `n_items` counts the items so far; `settled` is whether the ranking is settled, and stays True.

    Args:
        n_models: number of models, N, at least 2.
        n_total: total number of items, T.
        settle_for: "new" = the ranking shall hold for new items of the same kind; "these" = only
            for the `n_total` items, while other items may rank the models differently.
        error: probability of ever settling on a wrong ranking, in (0, 1).
        top_k: settle which models are the k best, in any order; None = settle all places.

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
        """Models from best to worst by mean score so far; fixed once the ranking is settled.

        Equal means are ordered by column. Models without a score are last.
        """
        return self._order

    @property
    def undecided(self) -> list[tuple[int, int]]:
        """Pairs (better, worse) of the order that must still be decided to settle it.

        Only the settled ranking has the error rate: before, a pair missing here is not a finding.
        """
        return [] if self.settled else [p for p in self._pairs() if not self._bets.decided[p]]

    def update(self, scores: ArrayLike) -> None:
        """Take in the next item.

        Args:
            scores: shape (N,), in [0, 1], higher is better, NaN = no score.

        Raises:
            RankingError: the shape is not (N,), a score is out of range, or all items have come.
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
    """Capitals of the bets on every pair, and the pairs that are decided.

    Args:
        shape: shape of the differences: (N, N), or (runs, N, N) to simulate many runs at once.
        n_total, settle_for: as in `RankingTest`.
        enough: the capital that decides a pair. A decided pair stays decided.
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
        """Pay out the bets on the next item; `difference` is score i − score j, in [-1, 1]."""
        left = self._n_total - self._n_items
        if self._new:
            # The hypothetical mean is 0. The size starts with one difference of ½.
            size = np.sqrt((self._square + 0.25) / (self._n_items + 1))
            stake = _BOLDER * np.sqrt(2 * self._enough / self._n_total) / size
            null, stake = np.zeros_like(size), np.minimum(stake, _MOST)[..., None]
        else:
            # A mean of −1 or less refutes the hypothesis without a bet, see below.
            null = np.maximum(-self._lead / left, _ROUNDING - 1)
            # The fewer items are left, the further the truth is from the mean that they must have.
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
            # Even if j won every remaining item by 1, i would stay ahead.
            self.decided |= self._lead > left - 1 + _ROUNDING
