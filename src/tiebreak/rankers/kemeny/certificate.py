"""Results of exact Kemeny–Young, and an independent check of them in exact integers.

The check shares only the ballots with the solver, so that trusting it does not require trust in
linear programming, NumPy or the solver's search. The weights of the certificate prove nearly all of
the bound; a search over sets of placed candidates proves the rest.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from math import gcd, prod

import numpy as np
from numpy.typing import ArrayLike

from tiebreak.rankers.errors import CertificateError
from tiebreak.rankers.profile import FloatArray, Profile, as_profile
from tiebreak.reason import Reason


@dataclass(frozen=True, slots=True)
class Certificate:
    """A proof of a lower bound that `check_certificate` can verify without a solver.

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
    """An optimal order with its proof, and information about the other optimal orders.

    A value that a limit on time or memory left unknown is None.

    Attributes:
        order: columns, best first; if `complete`, the lexicographically smallest optimal order.
        cost: pairwise disagreements, the sum of P[b, a] over all pairs with a before b.
        lower_bound: no order costs less; equal to `cost` if and only if `optimal`.
        optimal: whether `order` is proven to be optimal.
        complete: whether the search finished, so that all optimal orders are known (perhaps as a
            graph that has too many to count); implies `optimal`.
        unique: whether it is the only optimal order.
        n_optima: number of optimal orders.
        method: how the order was found, as a `Reason`.
        certificate: weights of 3-cycles that prove the bound, or nearly all of it.
        orders: optimal orders, lexicographically ascending, `order` first, up to `max_orders`;
            these are all if there are `n_optima` of them. Empty if not `optimal`.
        interchangeable: neighbours in `order` that may be swapped at no cost, as columns.
        condorcet_winner: the column that beats every other by majority, or None.
        cycles: majority cycles (see `majorities`), columns ascending.
        margin: cost of the best different order minus `cost`; 0 if not unique; None also for a
            single candidate, which has no other order.
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
        """Largest possible difference between `cost` and the optimal cost; 0 if `optimal`."""
        return self.cost - self.lower_bound

    @property
    def ranks(self) -> FloatArray:
        """Rank of every column, shape (N,): 1 … N, 1 = best."""
        ranks = np.empty(len(self.order))
        ranks[list(self.order)] = np.arange(1, len(self.order) + 1)
        return ranks


Matrix = list[list[int]]
Group = tuple[int, ...]


def check_certificate(
    profile: Profile | ArrayLike, result: KemenyResult, *, max_sets: int = 100_000
) -> None:
    """Check the order, cost and lower bound of a result; raise if one of them is wrong.

    Also checked: the listed orders, the swaps at no cost and, if at most `max_sets` sets are
    needed, the number of optimal orders. Not checked: margin, Condorcet winner, cycles, method.

    Args:
        profile: the ballots that the result is about.
        result: the result of `kemeny_young`.
        max_sets: number of sets that the search may hold at a time.

    Raises:
        CertificateError: a claim is wrong, and the message says which; or the weights leave too
            much unproven for a search within `max_sets`.
        RankingError: as `Profile.from_ranks`.
    """
    ballots = as_profile(profile).ranks.tolist()
    columns = tuple(range(len(ballots[0])))
    before = [[sum(ballot[i] < ballot[j] for ballot in ballots) for j in columns] for i in columns]
    _need(sorted(result.order) == [*columns], "the order holds every candidate once")
    _need(_cost(result.order, before) == result.cost, f"the order costs {result.cost}")
    _need(result.lower_bound <= result.cost, "the lower bound is at most the cost")
    _need(result.optimal == (result.lower_bound == result.cost), "optimal: both bounds are equal")
    _check_bound(result, before, max_sets)
    if result.optimal:
        _check_optima(result, before, max_sets)


def _check_bound(result: KemenyResult, before: Matrix, max_sets: int) -> None:
    proof, columns = result.certificate, tuple(range(len(before)))
    _need(proof.denominator > 0, "the denominator is positive")
    groups = _groups(before, 1)
    group_of = {column: group for group in groups for column in group}
    for cycle, weight in proof.cycles.items():
        _need(len({*cycle}) == 3 and type(weight) is int and weight > 0, f"{cycle} is a cycle")
        _need(len({group_of.get(column) for column in cycle}) == 1, f"{cycle} is in one group")
    _need(_Dual(result, before, columns).value == proof.value, "the weights give the value")
    # An order costs at least its floor within each group, and the minorities between groups.
    missing = result.lower_bound - sum(
        min(before[a][b], before[b][a])
        for a, b in combinations(columns, 2)
        if group_of[a] != group_of[b]
    )
    open_groups = []
    for group in sorted(groups, key=len):
        dual, cost = _Dual(result, before, group), _cost(_within(result, group), before)
        # Costs of two orders of a group differ by a multiple of `step`.
        step = gcd(*(before[a][b] - before[b][a] for a, b in combinations(group, 2))) or 1
        floor = cost - step * ((dual.unit * cost - dual.value) // (dual.unit * step))
        missing -= floor
        open_groups.append((dual, floor, cost, step))
    for dual, floor, cost, step in open_groups:
        while missing > 0 and floor < cost and dual.search(floor, max_sets) is None:
            floor, missing = floor + step, missing - step
    _need(missing <= 0, f"no order costs less than {result.lower_bound}")


def _check_optima(result: KemenyResult, before: Matrix, max_sets: int) -> None:
    ties = tuple((a, b) for a, b in pairwise(result.order) if before[a][b] == before[b][a])
    _need(ties == result.interchangeable, "these neighbours may be swapped at no cost")
    _need(result.orders[:1] == (result.order,), "the first listed order is the order")
    _need([*result.orders] == sorted({*result.orders}), "the listed orders ascend")
    for order in result.orders:
        _need(sorted(order) == sorted(result.order), f"{order} holds every candidate once")
        _need(_cost(order, before) == result.cost, f"{order} is optimal")
    number = result.n_optima
    if number is None:
        _need(result.unique is not True, "one that is unique is counted")
        return
    _need(result.unique == (number == 1), "unique: there is one optimal order")
    _need(len(result.orders) <= number, f"there are {number} optimal orders")
    try:
        # Of any two groups one beats all of the other, so the numbers of optimal orders multiply.
        least = [
            _Dual(result, before, group).search(_cost(_within(result, group), before), max_sets)
            for group in _groups(before, 0)
        ]
    except CertificateError:
        return
    _need(prod(ways for _, ways in filter(None, least)) == number, f"{number} optimal orders")


class _Dual:
    """The certificate's lower bound on the orders of a group of candidates.

    The price of putting a before b is the number of ballots that disagree plus the weights of the
    cycles with the arc a → b. An order obeys one or two arcs of a cycle, so its cost is its total
    price minus twice the weights, plus the weights of the cycles of which it obeys a single arc.
    This is at least `value`.
    """

    def __init__(self, result: KemenyResult, before: Matrix, group: Group) -> None:
        self.group, self.unit = group, result.certificate.denominator
        price = {(a, b): self.unit * before[b][a] for a in group for b in group}
        self.value = 0
        self.cycles: dict[int, list[tuple[int, int, int]]] = {column: [] for column in group}
        for (i, j, k), weight in result.certificate.cycles.items():
            if i in group:
                self.value -= 2 * weight
                for below, middle, above in ((i, j, k), (j, k, i), (k, i, j)):
                    price[below, middle] += weight
                    self.cycles[middle].append((below, above, weight))
        self.regrets: dict[int, list[tuple[int, int]]] = {column: [] for column in group}
        for a, b in combinations(group, 2):
            least = min(price[a, b], price[b, a])
            self.value += least
            if price[a, b] > least:
                self.regrets[b].append((a, price[a, b] - least))
            if price[b, a] > least:
                self.regrets[a].append((b, price[b, a] - least))

    def search(self, cost: int, max_sets: int) -> tuple[int, int] | None:
        """Smallest cost of an order, in units above `value`, and the number of such orders.

        None if every order costs more than `cost`. Sets of placed candidates grow from the last
        place upwards, and are dropped when their cost so far is too high.
        """
        gap = self.unit * cost - self.value
        layer = {0: (0, 1)}  # placed columns as bits → least cost so far, number of orders
        for _ in self.group:
            larger: dict[int, tuple[int, int]] = {}
            for placed, (spent, ways) in layer.items():
                for column in self.group:
                    if placed >> column & 1:
                        continue
                    grown, total = placed | 1 << column, spent + self._step(column, placed)
                    least, known = larger.get(grown, (gap, 0))
                    if total <= least:
                        larger[grown] = total, ways + (known if total == least else 0)
                if len(larger) > max_sets:
                    raise CertificateError(f"the search needs more than {max_sets} sets")
            layer = larger
        return next(iter(layer.values()), None)

    def _step(self, column: int, placed: int) -> int:
        """Cost of putting a candidate before the placed ones and after all others."""
        return sum(
            regret for above, regret in self.regrets[column] if not placed >> above & 1
        ) + sum(
            weight
            for below, above, weight in self.cycles[column]
            if placed >> below & 1 and not placed >> above & 1
        )


def _groups(before: Matrix, least: int) -> list[Group]:
    """Strongly connected components of the graph of margins of at least `least`."""
    columns = range(len(before))
    reach = [
        sum(1 << j for j in columns if i == j or before[i][j] - before[j][i] >= least)
        for i in columns
    ]
    for k in columns:
        reach = [row | reach[k] if row >> k & 1 else row for row in reach]
    return [
        tuple(j for j in columns if reach[i] == reach[j])
        for i in columns
        if reach[i] not in reach[:i]
    ]


def _within(result: KemenyResult, group: Group) -> tuple[int, ...]:
    return tuple(column for column in result.order if column in group)


def _cost(order: Sequence[int], before: Matrix) -> int:
    return sum(before[b][a] for a, b in combinations(order, 2))


def _need(holds: bool, claim: str) -> None:
    if not holds:
        raise CertificateError(f"it is not true that {claim}")
