import math
from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tests.rankers.ballots import FloatArray
from tiebreak.rankers.settlement import RankingTest, SettleFor

NAN = math.nan


def feed(test: RankingTest, rows: FloatArray) -> RankingTest:
    """Take in rows until the ranking is settled."""
    for row in rows:
        test.update(row)
        if test.settled:
            break
    return test


def borda(n_items: int, step: float, generator: np.random.Generator, n: int = 8) -> FloatArray:
    """Normalized Borda scores: qualities `step` apart, model 0 the best, and normal noise."""
    noisy = generator.normal(size=(n_items, n)) - step * np.arange(n)
    ranked: FloatArray = np.argsort(np.argsort(noisy, axis=1), axis=1) / (n - 1)
    return ranked


class PlainTest:
    """The same test in plain Python: a list of capitals for every pair, multiplied item by item."""

    def __init__(self, n: int, n_total: int, settle_for: SettleFor, error: float) -> None:
        self.n, self.n_total, self.enough, self.these = n, n_total, n / error, settle_for == "these"
        self.bets = [0.02 * 100 ** (k / 11) for k in range(12)]
        self.pairs = [(i, j) for i in range(n) for j in range(n) if i != j]
        self.capital = {pair: [1.0] * (12 if self.these else 1) for pair in self.pairs}
        self.seen: dict[tuple[int, int], list[float]] = {pair: [] for pair in self.pairs}
        self.decided: set[tuple[int, int]] = set()

    def update(self, row: list[float]) -> None:
        for i, j in self.pairs:
            d = row[i] - row[j]
            d = 0.0 if math.isnan(d) else d
            past, null = self.seen[i, j], 0.0
            if self.these:
                left = self.n_total - len(past)
                null = max(-1 + 1e-9, -math.fsum(past) / left)
                bets = [bet * self.n_total / left for bet in self.bets]
            else:
                square = (0.25 + math.fsum(x * x for x in past)) / (1 + len(past))
                bets = [1.5 * math.sqrt(2 * math.log(self.enough) / self.n_total / square)]
            for k, bet in enumerate(bets):
                stake = min(bet, 0.9 / (1 + null))
                self.capital[i, j][k] *= 1 + stake * (d - null)
            past.append(d)
            if sum(self.capital[i, j]) / len(bets) >= self.enough:
                self.decided.add((i, j))
            if self.these and math.fsum(past) > self.n_total - len(past) + 1e-9:
                self.decided.add((i, j))


some_rows = arrays(np.float64, (12, 3), elements=st.sampled_from([0.0, 0.25, 0.5, 1.0, 1.0, NAN]))


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(
    some_rows,
    st.sampled_from([12, 15]),
    st.sampled_from(get_args(SettleFor)),
    st.sampled_from([0.05, 0.5]),
)
def test_against_plain_python(
    rows: FloatArray, n_total: int, settle_for: SettleFor, error: float
) -> None:
    test = RankingTest(3, n_total, settle_for=settle_for, error=error)
    plain = PlainTest(3, n_total, settle_for, error)
    for t, row in enumerate(rows):
        test.update(row)
        plain.update(row.tolist())
        shown = rows[: t + 1]
        present = (~np.isnan(shown)).sum(axis=0)
        mean = [np.nansum(shown[:, k]) / present[k] if present[k] else -math.inf for k in range(3)]
        order = sorted(range(3), key=lambda k: (-round(mean[k], 12), k))
        claims = [(order[0], order[1]), (order[0], order[2]), (order[1], order[2])]
        missing = [pair for pair in claims if pair not in plain.decided]
        assert (test.n_items, test.settled) == (t + 1, not missing)
        assert (list(test.order), test.undecided) == (order, missing)
        if test.settled:
            break


def test_a_clear_winner_by_hand() -> None:
    # Model 0 wins all of 20 items by 1. After t of them it leads by t, and the 20 − t left cannot
    # turn that once t > 10. For new items 1.5 √(2 ln 2000 / 20) = 1.3 would be staked of a
    # capital that is to reach 2 / 0.001: more than 0.9, so it grows by 1.9 an item. 1.9¹¹ = 1165 is
    # not enough, 1.9¹² = 2213 is. Of 2,000 items the stake is 0.26 at first, and then less, as
    # differences of 1 come in: 0.13 · √((t + 1) / (t + ¼)).
    rows = np.tile([1.0, 0.0], (100, 1))
    assert feed(RankingTest(2, 20, settle_for="these", error=1e-9), rows[:20]).n_items == 11
    assert feed(RankingTest(2, 20, error=0.001), rows[:20]).n_items == 12
    stakes = [1.5 * math.sqrt(2 * math.log(2000) / 2000 * (t + 1) / (t + 0.25)) for t in range(100)]
    enough = next(t for t in range(100) if math.prod(1 + one for one in stakes[:t]) >= 2000)
    assert feed(RankingTest(2, 2000, error=0.001), rows).n_items == enough


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(
    arrays(np.float64, (9, 4), elements=st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])),
    st.sampled_from([None, 1, 2]),
)
def test_all_items_settle_all_that_is_no_tie(rows: FloatArray, top_k: int | None) -> None:
    # At an error this small only certainty settles, so the ranking is that of all items.
    test = feed(RankingTest(4, 9, settle_for="these", error=1e-12, top_k=top_k), rows)
    total = np.sort(rows.sum(axis=0))[::-1]
    if top_k is None:
        distinct = bool(np.all(total[:-1] > total[1:]))
        best = [int(k) for k in np.argsort(-rows.sum(axis=0))]
        assert not test.settled or list(test.order) == best
    else:
        distinct = bool(total[top_k - 1] > total[top_k])
        inside = set(np.argsort(-rows.sum(axis=0), kind="stable")[:top_k].tolist())
        assert not test.settled or set(test.order[:top_k]) == inside
    assert test.settled == distinct
    if not distinct:
        assert all(rows[:, i].sum() == rows[:, j].sum() for i, j in test.undecided)


def test_settled_stays_settled() -> None:
    generator = np.random.default_rng(6)
    test = feed(RankingTest(3, 400, settle_for="these"), borda(200, 1.5, generator, 3))
    order, n_items = test.order, test.n_items
    assert test.settled
    for row in 1 - borda(100, 1.5, generator, 3):
        test.update(row)
    assert test.settled
    assert (test.order, test.undecided) == (order, [])
    assert test.n_items == n_items + 100


def test_rounding_breaks_no_tie() -> None:
    # 0.1 + 0.2 + 0.3 is 0.6000000000000001, and 0.3 + 0.2 + 0.1 is 0.6.
    test = feed(
        RankingTest(2, 3, settle_for="these"), np.array([[0.3, 0.1], [0.2, 0.2], [0.1, 0.3]])
    )
    assert (test.order, test.settled) == ((0, 1), False)


@pytest.mark.parametrize("top_k", [None, 3])
@pytest.mark.parametrize("settle_for", get_args(SettleFor))
def test_renaming_models_renames_the_ranking(settle_for: SettleFor, top_k: int | None) -> None:
    rows = borda(300, 0.8, np.random.default_rng(5))
    rows[np.random.default_rng(6).random(rows.shape) < 0.05] = NAN
    name = np.array([3, 0, 7, 1, 5, 2, 6, 4])
    test = feed(RankingTest(8, 300, settle_for=settle_for, top_k=top_k), rows)
    renamed = feed(RankingTest(8, 300, settle_for=settle_for, top_k=top_k), rows[:, name])
    assert test.settled
    assert renamed.n_items == test.n_items
    assert tuple(name[list(renamed.order)]) == test.order


def test_a_model_without_any_score_is_last() -> None:
    test = RankingTest(3, 10)
    test.update([NAN, 0.0, 1.0])
    assert test.order == (2, 1, 0)
