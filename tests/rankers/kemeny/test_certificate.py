from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.rankers.ballots import FloatArray, mallows, partial, tied, uniform
from tiebreak.rankers.errors import CertificateError
from tiebreak.rankers.kemeny.certificate import KemenyResult, check_certificate
from tiebreak.rankers.kemeny.solve import kemeny_young

Change = Callable[[KemenyResult], KemenyResult]


def even() -> FloatArray:
    rng = np.random.default_rng(4)
    return partial(tied(uniform(rng, 8, 14), 6), rng)


PROFILES: dict[str, Callable[[], FloatArray]] = {
    "uniform": lambda: uniform(np.random.default_rng(3), 11, 16),
    "many ties": even,
    "Mallows": lambda: mallows(np.random.default_rng(3), 11, 40, 0.9),
    "larger": lambda: uniform(np.random.default_rng(3), 11, 40),
    "one candidate": lambda: np.ones((2, 1)),
    "two candidates": lambda: np.array([[1.0, 2.0], [2.0, 1.0]]),
}


@pytest.mark.parametrize("name", PROFILES)
def test_accepts_what_is_optimal(name: str) -> None:
    ranks = PROFILES[name]()
    check_certificate(ranks, kemeny_young(ranks))


def weights(change: Callable[[int], Any]) -> Change:
    def changed(found: KemenyResult) -> KemenyResult:
        cycles = {cycle: change(weight) for cycle, weight in found.certificate.cycles.items()}
        return replace(found, certificate=replace(found.certificate, cycles=cycles))

    return changed


def certificate(**changes: Any) -> Change:
    return lambda found: replace(found, certificate=replace(found.certificate, **changes))


TAMPERED: dict[str, tuple[Change, str]] = {
    "another order": (lambda r: replace(r, order=r.order[::-1]), "the order costs"),
    "a candidate twice": (lambda r: replace(r, order=(r.order[0], *r.order[:-1])), "every cand"),
    "a candidate less": (lambda r: replace(r, order=r.order[:-1]), "every candidate once"),
    "a lower cost": (lambda r: replace(r, cost=r.cost - 1), "the order costs"),
    "with its bound": (
        lambda r: replace(r, cost=r.cost - 1, lower_bound=r.cost - 1),
        "cost",
    ),
    "a bound above the cost": (lambda r: replace(r, lower_bound=r.cost + 1), "at most the cost"),
    "optimal without a bound": (lambda r: replace(r, lower_bound=r.cost - 1), "optimal"),
    "one optimum more": (lambda r: replace(r, n_optima=(r.n_optima or 0) + 1), "optimal orders"),
    "one optimum less": (lambda r: replace(r, n_optima=(r.n_optima or 0) - 1), "optimal orders"),
    "unique": (lambda r: replace(r, unique=True), "unique"),
    "unique and counted": (lambda r: replace(r, unique=True, n_optima=1), "1 optimal orders"),
    "unique but not counted": (lambda r: replace(r, unique=True, n_optima=None), "unique"),
    "another order first": (lambda r: replace(r, orders=r.orders[1:]), "first listed"),
    "an order twice": (lambda r: replace(r, orders=(r.orders[0], *r.orders)), "ascend"),
    "none": (lambda r: replace(r, orders=(*r.orders, r.orders[-1][::-1])), "ascend|optimal"),
    "no swap": (lambda r: replace(r, interchangeable=((0, 1),)), "swapped"),
    "weights too large": (weights(lambda w: 2 * w), "the value"),
    "weights too small": (weights(lambda w: w - 1), "the value|is a cycle"),
    "negative weights": (weights(lambda w: -w), "is a cycle"),
    "fractions": (weights(lambda w: w + 0.0), "is a cycle"),
    "no weights": (certificate(cycles={}), "value"),
    "a cycle of two": (certificate(cycles={(0, 1, 0): 1}), "is a cycle"),
    "an unknown candidate": (certificate(cycles={(0, 1, 99): 1}), "in one group"),
    "another unit": (certificate(denominator=1 << 21), "the value"),
    "no unit": (certificate(denominator=0), "denominator"),
    "another value": (lambda r: certificate(value=r.certificate.value + 1)(r), "the value"),
}


@pytest.mark.parametrize("name", TAMPERED)
def test_refuses_what_was_tampered_with(name: str) -> None:
    ranks = uniform(np.random.default_rng(3), 11, 16)
    found = kemeny_young(ranks)
    assert found.n_optima is not None
    assert found.n_optima > 2  # so that each of the changes is one
    change, message = TAMPERED[name]
    with pytest.raises(CertificateError, match=message):
        check_certificate(ranks, change(found))


def test_refuses_a_worse_order_that_is_said_to_be_optimal() -> None:
    # Everything about it is consistent, but the bound is overstated: the search finds better.
    ranks = uniform(np.random.default_rng(3), 11, 16)
    found = kemeny_young(ranks)
    for order in (found.order[::-1], *(_swaps(found.order))):
        cost = _cost(ranks, order)
        if cost == found.cost:
            continue
        worse = replace(
            found,
            order=order,
            cost=cost,
            lower_bound=cost,
            unique=None,
            n_optima=None,
            orders=(order,),
            interchangeable=(),
        )
        with pytest.raises(CertificateError, match=f"no order costs less than {cost}"):
            check_certificate(ranks, worse)


def _swaps(order: tuple[int, ...]) -> list[tuple[int, ...]]:
    return [(*order[:i], order[i + 1], order[i], *order[i + 2 :]) for i in range(len(order) - 1)]


def _cost(ranks: FloatArray, order: tuple[int, ...]) -> int:
    by_place = ranks[:, order]
    return int(np.triu(np.sum(by_place[:, :, None] > by_place[:, None, :], axis=0), 1).sum())


@pytest.mark.slow
def test_bounds_of_an_order_that_is_not_proven() -> None:
    ranks = uniform(np.random.default_rng(3), 11, 30)
    found = kemeny_young(ranks, time_limit=0)
    assert not found.optimal
    check_certificate(ranks, found)
    check_certificate(ranks, replace(found, lower_bound=found.lower_bound - 1))
    best = kemeny_young(ranks)
    check_certificate(ranks, replace(found, certificate=best.certificate, lower_bound=best.cost))
    # That bound is true of the ballots, but nothing proves it within so few sets.
    with pytest.raises(CertificateError, match="more than 100 sets"):
        check_certificate(ranks, replace(found, lower_bound=best.cost), max_sets=100)
    assert found.cost > best.cost + 1
    overstated = replace(found, certificate=best.certificate, lower_bound=best.cost + 1)
    with pytest.raises(CertificateError, match="no order costs less"):
        check_certificate(ranks, overstated)


def test_too_many_optima_to_count_are_believed() -> None:
    found = kemeny_young(np.ones((2, 12)), max_orders=1)
    check_certificate(np.ones((2, 12)), replace(found, n_optima=5), max_sets=100)
    with pytest.raises(CertificateError, match="5 optimal orders"):
        check_certificate(np.ones((2, 12)), replace(found, n_optima=5))
