"""Settled rankings: how often they are wrong, how early they come, whether the tests agree.

Scores are normalized Borda scores of N models by quality and normal noise. They are drawn anew for
every item, so the truth about new items is known. `gap` is the distance between neighbours' true
scores.

Shown:
    an early stop (`settle`): `rank`, log
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from benchmarks.claims import Claim, in_tests, mean, runs, share
from tiebreak.rankers.pairwise_tests import separation
from tiebreak.rankers.settlement import PairBets, SettleFor
from tiebreak.rankers.uncertainty import Resampling, bootstrap_items

FloatArray = NDArray[np.float64]
ERROR = 0.05
AT_MOST = (0.0, ERROR)
# The error rate of both tests together that the verdict of a settled run states.
STATED = 0.07


@dataclass(frozen=True)
class Played:
    """Many runs: scores, the number of items after which each settled (0 = never), settled orders.

    Shapes are (runs, items, N), (runs,) and (runs, N); an order lists models from best to worst.
    """

    scores: FloatArray
    after: NDArray[np.int64]
    order: NDArray[np.int64]

    @property
    def settled(self) -> NDArray[np.bool_]:
        return self.after > 0

    def shown(self, run: int) -> FloatArray:
        """Scores of the items on the run's board, up to where it settled, shape (items, N)."""
        return self.scores[run, : self.after[run] or None]

    def order_of(self, run: int) -> list[int]:
        """Models from best to worst on the run's board."""
        return [int(k) for k in np.argsort(-self.shown(run).mean(axis=0), kind="stable")]


def claims(scale: float) -> Iterator[Claim]:
    """Error rates, agreement with the tests of the board, and items needed."""
    yield from equal_models(scale)
    yield from near_models(scale)
    yield from whole_boards(scale)
    yield from agreement(scale)
    yield from items_needed(scale)


def equal_models(scale: float) -> Iterator[Claim]:
    """Error rate for equal models, for which any settled order is wrong."""
    figure = "settled though two models are equal"
    for n_items, full in ((20, 4000), (80, 4000), (162, 4000), (1000, 1000)):
        for ties in (0.0, 0.8):
            many = runs(full, scale)
            played = play(worlds(2, n_items, 0.0, many, ties, seed=n_items))
            setting = f"new items; {n_items} items, {ties:.0%} ties"
            yield share(figure, setting, int(played.settled.sum()), many, AT_MOST)
    many = runs(1500, scale)
    same = equal_totals(worlds(2, 40, 0.0, many, seed=3))
    wrong = int(play(same, "these").settled.sum())
    yield share(figure, "these items; 80 items, equal in sum", wrong, many, AT_MOST)
    told = int(play(worlds(2, 80, 0.0, many, seed=4), "these").settled.sum())
    yield share(figure, "these items, read as if about new ones; 80 items", told, many)
    for top, full in ((None, 800), (1, 800), (3, 800)):
        many = runs(full, scale)
        played = play(worlds(8, 80, 0.0, many, seed=5), top=top)
        what = "all places" if top is None else f"top {top}"
        yield share(
            f"settled though 8 models are equal, {what}",
            "new items; 80 items",
            int(played.settled.sum()),
            many,
            AT_MOST,
        )


def near_models(scale: float) -> Iterator[Claim]:
    """Error rate for two models of which one is slightly better: the other must not come first."""
    for n_items, full in ((80, 4000), (1000, 1000)):
        many = runs(full, scale)
        played = play(worlds(2, n_items, 0.02, many, seed=6))
        wrong = int(np.sum(played.settled & (played.order[:, 0] == 1)))
        setting = f"new items; {n_items} items"
        yield share("wrong order of two models 0.02 apart", setting, wrong, many, AT_MOST)


def whole_boards(scale: float) -> Iterator[Claim]:
    """Error rate of the settled order and the pairwise tests of a board together."""
    hits = worlds_drawn = 0
    for setting, scores, n_equal, top in (
        ("2 equal models, 80 items", worlds(2, 80, 0.0, runs(2000, scale), seed=7), 2, None),
        ("8 equal models, 80 items", worlds(8, 80, 0.0, runs(400, scale), seed=8), 8, 1),
        ("7 equal, 1 better, top 1, 162 items", one_ahead(8, 162, runs(400, scale)), 7, 1),
    ):
        played = play(scores, top=top)
        equal = range(scores.shape[2] - n_equal, scores.shape[2])
        wrong = sum(claims_too_much(played, run, equal, top) for run in range(len(scores)))
        figure = "any two equal models in an order, by settling or by the board's tests"
        yield share(figure, setting, wrong, len(scores))
        hits, worlds_drawn = hits + wrong, worlds_drawn + len(scores)
    yield share(figure, "pooled", hits, worlds_drawn, (0, STATED))


def agreement(scale: float) -> Iterator[Claim]:
    """How often the pairwise tests of a board confirm its settled pairs, and its intervals hold."""
    for n, n_items, gap, top in (
        (2, 80, 0.4, None),
        (2, 1000, 0.1, None),
        (8, 162, 0.12, None),
        (8, 162, 0.10, 1),
        (8, 1000, 0.07, 1),
    ):
        if n_items >= 1000 and in_tests(scale):
            continue
        played = play(worlds(n, n_items, gap, runs(300, scale), seed=9), top=top)
        done = np.flatnonzero(played.settled)
        what = "all places" if top is None else f"top {top}"
        setting = f"{n} models {gap} apart, {what}, {n_items} items"
        if len(done):
            hits = sum(tests_agree(played, int(run), top) for run in done)
            figure = "settled, and the board's tests separate every settled pair"
            yield share(figure, setting, hits, len(done), (0.95, 1.0))
    for n, n_items, gap in ((2, 80, 0.2), (8, 162, 0.12)):
        played = play(worlds(n, n_items, gap, runs(400, scale), seed=10))
        truth = worlds(n, 20_000, gap, 1, seed=11)[0].mean(axis=0)
        held = [holds(played.shown(run), truth) for run in range(len(played.scores))]
        setting = f"{n} models {gap} apart, {n_items} items, settled or not"
        yield mean("95% interval of a model, of a run that may settle", setting, held)


def items_needed(scale: float) -> Iterator[Claim]:
    """Share of the items that are judged until a ranking is settled."""
    for n_items, gap, top in (
        (162, 0.12, None),
        (162, 0.12, 1),
        (1000, 0.05, 1),
        (1000, 0.10, None),
        (1000, 0.10, 1),
    ):
        if n_items >= 1000 and in_tests(scale):
            continue
        many = runs(100, scale)
        scores = worlds(8, n_items, gap, many, seed=12)
        for settle_for in ("new", "these"):
            played = play(scores, settle_for, top=top)
            what = "all places" if top is None else f"top {top}"
            yield mean(
                f"share of the items until settled for {settle_for} items, {what}",
                f"8 models {gap} apart, {n_items} items",
                np.where(played.settled, played.after, n_items) / n_items,
            )


def play(scores: FloatArray, settle_for: SettleFor = "new", *, top: int | None = None) -> Played:
    """Play runs of shape (runs, items, N) as `RankingTest` does, all at the same time."""
    n_runs, n_items, n = scores.shape
    bets = PairBets((n_runs, n, n), n_items, settle_for, enough=n / ERROR)
    after, orders = np.zeros(n_runs, np.int64), np.zeros((n_runs, n), np.int64)
    sums = np.zeros((n_runs, n))
    for t in range(n_items):
        row = scores[:, t]
        bets.settle(row[:, :, None] - row[:, None, :])
        sums += row
        order = np.argsort(-sums.round(9), axis=1, kind="stable")
        decided = bets.decided[np.arange(n_runs)[:, None, None], order[:, :, None], order[:, None]]
        above, below = settled_places(n, top)
        new = decided[:, above, below].all(axis=1) & (after == 0)
        after[new], orders[new] = t + 1, order[new]
    return Played(scores, after, orders)


def settled_places(n: int, top: int | None) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pairs of places, as arrays of better and worse ones, that a settled ranking puts in order."""
    above, below = np.triu_indices(n, k=1)
    told = np.ones(len(above), bool) if top is None else (above < top) & (below >= top)
    return above[told], below[told]


def tests_agree(played: Played, run: int, top: int | None) -> bool:
    """Whether the pairwise tests of a settled run's board tell all settled pairs apart."""
    order = played.order_of(run)
    above, below = settled_places(len(order), top)
    wanted = {(order[i], order[j]) for i, j in zip(above, below, strict=True)}
    return wanted <= apart(played, run)


def apart(played: Played, run: int) -> set[tuple[int, int]]:
    """Pairs of models (better, worse) that the pairwise tests of a run's board tell apart."""
    found = separation(played.shown(run), played.order_of(run), level=1 - ERROR)
    return {(pair.above, pair.below) for pair in found.pairs if pair.apart}


def claims_too_much(played: Played, run: int, equal: range, top: int | None) -> bool:
    """Whether the settled ranking or a test puts any two of the `equal` models in an order."""
    told = apart(played, run)
    if played.after[run]:
        order = [int(k) for k in played.order[run]]
        above, below = settled_places(len(order), top)
        told |= {(order[i], order[j]) for i, j in zip(above, below, strict=True)}
    return any(i in equal and j in equal for i, j in told)


def holds(scores: FloatArray, truth: FloatArray) -> float:
    """Share of the models whose interval holds their true score."""
    found = bootstrap_items(scores, how=Resampling(draws=400))
    return float(np.mean((found.lower <= truth) & (truth <= found.upper)))


def worlds(
    n: int, n_items: int, gap: float, n_runs: int, ties: float = 0.0, *, seed: int
) -> FloatArray:
    """Draw Borda scores, shape (runs, items, N); model 0 is best, all tie in a share of items."""
    generator = np.random.default_rng(seed)
    scores = borda(generator.normal(size=(n_runs, n_items, n)) - step(n, gap) * np.arange(n))
    scores[generator.random((n_runs, n_items)) < ties] = 0.5
    return scores


def one_ahead(n: int, n_items: int, n_runs: int) -> FloatArray:
    """Draw Borda scores of N models, of which model 0 is better and the others are equal."""
    noise = np.random.default_rng(13).normal(size=(n_runs, n_items, n))
    return borda(noise + 0.8 * (np.arange(n) == 0))


def equal_totals(scores: FloatArray) -> FloatArray:
    """Append all items with the scores of the two models exchanged, and shuffle the items."""
    both = np.concatenate([scores, scores[:, :, ::-1]], axis=1)
    lots = np.random.default_rng(14).random(both.shape[:2]).argsort(axis=1)
    return np.take_along_axis(both, lots[:, :, None], axis=1)


def borda(noisy: FloatArray) -> FloatArray:
    """Normalized Borda scores over the last axis; higher values are better."""
    places: FloatArray = noisy.argsort(axis=-1).argsort(axis=-1) / (noisy.shape[-1] - 1)
    return places


@cache
def step(n: int, gap: float) -> float:
    """Difference in quality of neighbours whose Borda scores are `gap` apart on average."""
    noise = np.random.default_rng(0).normal(size=(20_000, n))
    low, high = 0.0, 6.0
    while high - low > 1e-4:
        middle = (low + high) / 2
        scores = borda(noise - middle * np.arange(n)).mean(axis=0)
        low, high = (middle, high) if scores[0] - scores[-1] < gap * (n - 1) else (low, middle)
    return low if gap else 0.0
