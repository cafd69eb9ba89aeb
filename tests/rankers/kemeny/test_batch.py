import math
import tracemalloc
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from tests.rankers.ballots import FloatArray, mallows, partial, tied, uniform
from tests.rankers.kemeny.plain import Optima, by_all_orders, by_subsets, present
from tiebreak.rankers import errors
from tiebreak.rankers.kemeny import batch, solve
from tiebreak.rankers.kemeny.batch import KemenyBatch, kemeny_young_batch, optimal_orders
from tiebreak.rankers.kemeny.certificate import KemenyResult
from tiebreak.rankers.kemeny.solve import kemeny_young
from tiebreak.rankers.profile import margins

NAN, INF = math.nan, math.inf


def sparse(ranks: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Most ranks are gone, and so are some ballots and some candidates."""
    kept = np.where(rng.random(ranks.shape) < 0.6, NAN, ranks)
    kept[rng.random(len(ranks)) < 0.3] = NAN
    kept[:, rng.random(ranks.shape[1]) < 0.3] = NAN
    return kept


KINDS: dict[str, Callable[[FloatArray, np.random.Generator], FloatArray]] = {
    "complete": lambda ranks, rng: ranks,
    "tied": lambda ranks, rng: tied(ranks, 3),
    "partial": lambda ranks, rng: partial(ranks, rng),
    "tied and partial": lambda ranks, rng: partial(tied(ranks, 2), rng),
    "sparse": sparse,
}


def questions(kind: str, n_questions: int, n_ballots: int, n: int, seed: int = 0) -> FloatArray:
    rng = np.random.default_rng([seed, n_ballots, n])
    return np.stack([KINDS[kind](uniform(rng, n_ballots, n), rng) for _ in range(n_questions)])


def check(profiles: FloatArray, oracle: Callable[[FloatArray], Optima]) -> KemenyBatch:
    """Every field against the oracle, question by question."""
    found = kemeny_young_batch(profiles, count=True)
    assert found.n_optima is not None
    n = profiles.shape[2]
    for row, ranks in enumerate(profiles):
        someone = bool(present(ranks))
        optima = oracle(ranks) if someone else Optima(-1, (), -1)
        order = list(optima.first)
        assert found.order[row].tolist() == order + [-1] * (n - len(order))
        places = [order.index(i) + 1.0 if i in order else NAN for i in range(n)]
        np.testing.assert_array_equal(found.ranks[row], places)
        assert found.cost[row] == optima.cost
        assert found.n_optima[row] == optima.n_optima
        assert found.unique[row] == (optima.n_optima == 1)
    return found


def assert_same(one: KemenyBatch, other: KemenyBatch) -> None:
    for field in ("order", "ranks", "cost", "unique", "n_optima"):
        first, second = getattr(one, field), getattr(other, field)
        if first is None:
            assert second is None
        else:
            assert first.dtype == second.dtype
            assert first.tobytes() == second.tobytes()


@pytest.mark.parametrize("whole", [0, 8])  # with cuts, and without
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("n_ballots", "n"), [(1, 4), (2, 5), (4, 3), (5, 4), (3, 1), (5, 2), (5, 6), (6, 6)]
)
def test_all_orders_agree(
    kind: str, n_ballots: int, n: int, whole: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch, "WHOLE", whole)
    check(questions(kind, 25 if n < 6 else 12, n_ballots, n), by_all_orders)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("n_ballots", "n"), [(6, 7), (5, 9), (6, 10)])
def test_a_plain_program_over_subsets_agrees(kind: str, n_ballots: int, n: int) -> None:
    check(questions(kind, 3, n_ballots, n), by_subsets)


def assert_one_by_one(profiles: FloatArray, found: KemenyBatch) -> None:
    """The solver for one profile finds the same."""
    assert found.n_optima is not None
    for row, ranks in enumerate(profiles):
        result = kemeny_young(ranks)
        assert tuple(found.order[row]) == result.order
        assert (found.cost[row], found.unique[row]) == (result.cost, result.unique)
        assert found.n_optima[row] == result.n_optima


def test_large_blocks_among_small_ones_in_any_chunk() -> None:
    rng = np.random.default_rng(6)
    profiles = np.stack([mallows(rng, 6, 17, phi) for phi in (0.5, 0.99, 0.7, 0.95)])
    found = kemeny_young_batch(profiles, count=True)
    assert_same(found, kemeny_young_batch(profiles, count=True, chunk=1))
    assert_one_by_one(profiles, found)


@pytest.mark.parametrize("kind", ["complete", "tied", "partial", "tied and partial"])
@pytest.mark.parametrize(("n_ballots", "n"), [(6, 4), (5, 6), (6, 8), (7, 11), (6, 13)])
def test_the_solver_for_one_profile_agrees(kind: str, n_ballots: int, n: int) -> None:
    profiles = questions(kind, 5, n_ballots, n, seed=1)
    found = kemeny_young_batch(profiles, count=True)
    assert_one_by_one(profiles, found)


@pytest.mark.parametrize("chunk", [1, 7, 39, 40, 1000])
@pytest.mark.parametrize("kind", ["complete", "sparse"])
def test_chunks_give_the_same_bytes(kind: str, chunk: int) -> None:
    profiles = questions(kind, 40, 6, 10)
    whole = kemeny_young_batch(profiles, count=True)
    assert_same(whole, kemeny_young_batch(profiles, count=True, chunk=chunk))


def test_counting_changes_nothing_else() -> None:
    profiles = questions("sparse", 40, 6, 7)
    plain, counted = (kemeny_young_batch(profiles, count=count) for count in (False, True))
    assert plain.n_optima is None
    for field in ("order", "ranks", "cost", "unique"):
        np.testing.assert_array_equal(getattr(plain, field), getattr(counted, field))


FORWARD = [float(place) for place in range(8)]
CYCLE = [[1.0, 2.0, 3.0], [3.0, 1.0, 2.0], [2.0, 3.0, 1.0]]


# Counts leave 8 bits between 127 and 128 ballots, 16 bits between 32,767 and 32,768. Of Condorcet's
# cycle many times over, every rotation breaks 4 votes of each copy.
@pytest.mark.parametrize(
    ("ballots", "order", "cost", "n_optima"),
    [
        *(
            ([[3.0, 1.0, 4.0, 2.0]] * copies, [1, 3, 0, 2], 0, 1)
            for copies in (127, 128, 129, 255, 256, 32_767, 32_768, 100_000)
        ),
        *((CYCLE * copies, [0, 1, 2], 4 * copies, 3) for copies in (43, 128, 11_000, 33_334)),
        # Every pair costs 63; 7 · 63 for the first candidate alone.
        ([FORWARD] * 64 + [FORWARD[::-1]] * 63, list(range(8)), 28 * 63, 1),
    ],
)
def test_many_ballots_do_not_overflow(
    ballots: list[list[float]], order: list[int], cost: int, n_optima: int
) -> None:
    found = kemeny_young_batch([ballots], count=True)
    assert found.order.tolist() == [order]
    assert found.cost.tolist() == [cost]
    assert found.n_optima == [n_optima]


def test_wins_of_many_candidates_do_not_overflow() -> None:
    # The best one leads by 149.
    ballot = (np.random.default_rng(9).permutation(150) + 1)[None].astype(np.float64)
    found = kemeny_young_batch(ballot[None])
    np.testing.assert_array_equal(found.ranks, ballot)
    assert found.unique.all()


def level(*sizes: int) -> FloatArray:
    """One ballot with groups of tied candidates."""
    return np.repeat(np.arange(len(sizes)), sizes)[None, None].astype(np.float64)


@pytest.mark.parametrize(
    ("sizes", "n_optima"),
    [
        ((12, 12), math.factorial(12) ** 2),  # 2.3e17
        ((14, 12), 2**63 - 1),  # 4.2e19 is more than that
        ((14, 14, 14), 2**63 - 1),
        ((20,), math.factorial(20)),  # 2.4e18
        ((21,), 2**63 - 1),  # 5.1e19
    ],
)
def test_numbers_of_optima_that_are_too_large_are_capped(
    sizes: tuple[int, ...], n_optima: int
) -> None:
    found = kemeny_young_batch(level(*sizes), count=True)
    assert found.n_optima is not None
    assert found.n_optima.tolist() == [n_optima]
    assert found.order.tolist() == [list(range(sum(sizes)))]
    assert not found.unique.any()


def test_an_order_that_is_not_proven_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(ranks: FloatArray, max_orders: int) -> KemenyResult:
        return kemeny_young(ranks, time_limit=0.0, max_orders=max_orders)

    easy, hard = level(30)[0], uniform(np.random.default_rng(2), 11, 30)
    profiles = np.stack([np.repeat(easy, 11, axis=0), hard])
    monkeypatch.setattr(solve, "kemeny_young", stopped)
    with pytest.raises(errors.UnprovenOrderError, match="question 1"):
        kemeny_young_batch(profiles, chunk=1)


def test_a_number_of_optima_that_is_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    def uncounted(ranks: FloatArray, max_orders: int) -> KemenyResult:
        return replace(kemeny_young(ranks, max_orders=max_orders), n_optima=None)

    monkeypatch.setattr(solve, "kemeny_young", uncounted)
    found = kemeny_young_batch(level(3, 15, 2), count=True)
    assert found.n_optima is not None
    assert found.n_optima.tolist() == [-1]
    assert found.unique.tolist() == [False]


@pytest.mark.slow
def test_memory_does_not_grow_with_the_number_of_questions() -> None:
    profiles = np.random.default_rng(7).random((40_000, 3, 8))
    tracemalloc.start()
    kemeny_young_batch(profiles)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # The answers take 8 + 8 bytes per cell, 8 + 1 per question, twice when they are put together.
    answers = 2 * 40_000 * (16 * 8 + 9)
    assert peak - answers < 30e6


# The cost of turning round all 91 pairs of 14 candidates crosses the range of 8 bits between
# majorities of 1 and 2, that of 16 bits between 360 and 361 (91 · 360 = 32,760), that of 32 bits
# between 23,598,721 and 23,598,722.
@pytest.mark.slow
@pytest.mark.parametrize("margin", [1, 2, 360, 361, 23_598_721, 23_598_722, 2**40])
@pytest.mark.parametrize("reverse", [False, True])
def test_the_largest_costs_do_not_overflow(margin: int, reverse: bool) -> None:
    direction = np.sign(np.arange(14) - np.arange(14)[:, None]) * (-1 if reverse else 1)
    order, unique, n_optima = optimal_orders((direction * margin)[..., None], count=True)
    assert order[:, 0].tolist() == sorted(range(14), reverse=reverse)
    assert unique.tolist() == [True]
    assert n_optima == [1]


@pytest.mark.parametrize("factor", [2, 5, 9, 400, 2_000, 60_000, 10**9])
def test_only_the_ratios_of_margins_count(factor: int) -> None:
    margin = np.stack([margins(ranks) for ranks in questions("tied", 12, 6, 7)], axis=-1)
    small, large = (optimal_orders(margin * by, count=True) for by in (1, factor))
    for first, second in zip(small, large, strict=True):
        np.testing.assert_array_equal(first, second)


def test_the_width_of_a_block_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    profiles = questions("tied", 11, 4, 5)
    whole = kemeny_young_batch(profiles, count=True)
    monkeypatch.setattr(batch, "SUBSET_CELLS", 3 << 5)  # three questions at a time
    assert_same(whole, kemeny_young_batch(profiles, count=True))
