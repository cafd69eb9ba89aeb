"""What exact Kemeny–Young returns."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tiebreak.rankers.profile import FloatArray
from tiebreak.reason import Reason


@dataclass(frozen=True, slots=True)
class Certificate:
    """A proof of a lower bound that `check_certificate` can follow without any solver.

    `cycles` maps directed 3-cycles of columns, (i, j, k) for i → j → k → i, to positive integer
    weights in units of 1 / `denominator`. Every order obeys at most two arcs of such a cycle; with
    price[a, b] = denominator · P[b, a] + the weights of the cycles with the arc a → b, every order
    costs at least `value` / `denominator`, where

        value = Σ over pairs of min(price[a, b], price[b, a])  −  2 · Σ of the weights.
    """

    cycles: Mapping[tuple[int, int, int], int]
    denominator: int
    value: int


@dataclass(frozen=True, slots=True)
class KemenyResult:
    """One optimal order, what proves it, and what else is optimal.

    What a limit on time or memory kept from being known is None.

    Attributes:
        order: columns, best first; if `complete`, the lexicographically smallest optimal order.
        cost: pairwise disagreements, the sum of P[b, a] over all pairs with a before b.
        lower_bound: no order costs less; equal to `cost` if and only if `optimal`.
        optimal: whether `order` is proven to be optimal.
        complete: whether the search went to its end, so that all optimal orders are known (if only
            as a graph that holds too many to count); implies `optimal`.
        unique: whether it is the only optimal order.
        n_optima: number of optimal orders.
        method: what was done.
        certificate: weights of 3-cycles that prove the bound, or all but a small rest of it.
        orders: optimal orders, ascending lexicographically, `order` first, up to the limit that was
            asked for: all of them if there are `n_optima`. Empty if not `optimal`.
        interchangeable: neighbours in `order` that may be swapped at no cost, as columns.
        condorcet_winner: the column that beats every other one by majority, None if there is none.
        cycles: groups in which majorities go round, columns ascending.
        margin: how much the best different order costs above `cost`; 0 if not unique; None also for
            a single candidate, which knows no other order.
        names: the candidates in the order of the columns.
    """

    order: tuple[int, ...]
    cost: int
    lower_bound: int
    optimal: bool
    complete: bool
    unique: bool | None
    n_optima: int | None
    method: Reason
    certificate: Certificate
    orders: tuple[tuple[int, ...], ...]
    interchangeable: tuple[tuple[int, int], ...]
    condorcet_winner: int | None
    cycles: tuple[tuple[int, ...], ...]
    margin: int | None
    names: tuple[str, ...]

    @property
    def gap(self) -> int:
        """How much less than `cost` an optimal order could still cost; 0 if `optimal`."""
        return self.cost - self.lower_bound

    @property
    def ranks(self) -> FloatArray:
        """Rank of every column, shape (N,): 1 … N, 1 = best."""
        ranks = np.empty(len(self.order))
        ranks[list(self.order)] = np.arange(1, len(self.order) + 1)
        return ranks
