"""Agreement: compare's and peers' ρ and τ, stability of subsamples, alignment with people.

Two judges read the same 8 answers to an item, each with an error of its own; their scores correlate
by 0.66 within an item. For each judge an order of the models is planted, and with endless items the
leaderboards agree as these two orders do. "Apart" is the spread of the models' true means in
standard deviations of a score.

Shown:
    ρ and τ with the reference: `compare`, sparse logs in `peers`, page
    a part of the items against all of them; run against run: `stability`
    agreement with people: item by item and over all items: `align`, page
"""

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from benchmarks.claims import Claim, in_tests, mean, runs, share
from benchmarks.claims.worlds import Array, Generator, borda, near_ties, panel, true_borda
from tiebreak.analysis.alignment import Ratings, correlate
from tiebreak.rankers import kendall_tau, spearman
from tiebreak.rankers.intervals import ItemDraws
from tiebreak.rankers.stability import mean_statistic, resample_agreement, subsample_stability
from tiebreak.rankers.uncertainty import Resampling

MODELS = 8  # unless a setting says otherwise
NOISE = 0.72  # 1 / (1 + 0.72²) = 0.66
SD = math.sqrt(1 + NOISE**2)
# ρ .86 (τ .71) with the planted order.
OTHER_ORDER = [1, 0, 4, 3, 2, 6, 5, 7]
HOLDS = (0.93, 1.0)
DRAWS = Resampling(draws=500)


def claims(scale: float) -> Iterator[Claim]:
    """Coverage of the intervals, and how stability compares with independent items."""
    # For near-ties on few items the intervals hold less, and the sheet says so: nothing is claimed.
    for number, (n_models, apart, n_items, same, ties, held) in enumerate(
        [
            (8, 0.06, 20, True, 0.0, None),
            (8, 0.06, 50, True, 0.0, None),
            (8, 0.06, 162, True, 0.0, HOLDS),
            (8, 0.06, 1000, True, 0.0, HOLDS),
            (8, 0.15, 20, True, 0.0, HOLDS),
            (8, 0.15, 162, True, 0.8, None),
            (8, 0.44, 50, True, 0.0, HOLDS),
            (30, 0.15, 50, True, 0.0, HOLDS),
            (8, 0.06, 50, False, 0.0, HOLDS),
            (8, 0.15, 162, False, 0.0, HOLDS),
            (8, 0.44, 20, False, 0.0, HOLDS),
        ]
    ):
        if (n_items >= 1000 or n_models > 8 or not held) and in_tests(scale):
            continue
        setting = f"{n_models} models {apart} apart, {n_items:,} items, {ties:.0%} ties"
        theta = SD * near_ties(n_models, apart)
        other = theta if same else theta[OTHER_ORDER]
        yield from compared(scale, number, setting, theta, other, n_items, ties, held)
    yield from parts(scale)
    for number, (apart, n_items, held) in enumerate(
        [(0.06, 20, None), (0.15, 100, HOLDS), (0.44, 20, HOLDS), (0.44, 100, HOLDS)]
    ):
        yield from aligned(scale, number, apart, n_items, held)


def compared(
    scale: float,
    number: int,
    setting: str,
    theta: Array,
    other: Array,
    n_items: int,
    ties: float,
    held: tuple[float, float] | None,
) -> Iterator[Claim]:
    """How often the intervals of `compare` hold the agreement on endless items."""
    rho, tau = spearman(theta, other).value, kendall_tau(theta, other).value
    rng, n = np.random.default_rng((1, number)), runs(400, scale)
    hits, values = [0, 0], []
    for _ in range(n):
        answers = rng.standard_normal((n_items, len(theta)))
        common = rng.random(answers.shape) < ties
        one, second = (mean_statistic(read(rng, answers, own, common)) for own in (theta, other))
        found = resample_agreement(one, second, n_items, how=DRAWS)
        for place, (figure, true) in enumerate([(found.spearman, rho), (found.kendall, tau)]):
            hits[place] += figure.lower - 1e-9 <= true <= figure.upper + 1e-9
        values.append(found.spearman.value)
    setting = f"true ρ {rho:.2g}, {setting}"
    yield share("compare: 95% interval of ρ holds the true one", setting, hits[0], n, held)
    yield share("compare: 95% interval of τ holds the true one", setting, hits[1], n)
    yield mean("compare: ρ itself", setting, values)


def read(rng: Generator, answers: Array, theta: Array, common: NDArray[np.bool_]) -> Array:
    """Borda scores of answers by a judge that adds `theta` and an error to each of them.

    Models that give the item's common answer are tied.
    """
    seen = answers + theta + NOISE * rng.standard_normal(answers.shape)
    alike = theta.mean() + SD * rng.standard_normal((len(seen), 1))
    return borda(np.where(common, alike, seen))


def parts(scale: float) -> Iterator[Claim]:
    """ρ of half of the items with all items, and ρ of two halves that share no item."""
    for number, apart in enumerate((0.06, 0.44)):
        theta, n_items = near_ties(MODELS, apart), 100
        rng, n = np.random.default_rng((2, number)), runs(200, scale)
        shown, apart_halves = [], []
        for _ in range(n):
            scores = borda(theta + rng.standard_normal((n_items, MODELS)))
            shown.append(subsample_stability(mean_statistic(scores), n_items).mean)
            halves = scores[: n_items // 2].mean(axis=0), scores[n_items // 2 :].mean(axis=0)
            apart_halves.append(spearman(*halves).value)
        setting = f"half of {n_items} items, {apart} apart"
        yield mean("stability: mean ρ of a part with the whole", setting, shown)
        yield mean("… ρ of two halves that share no item, for comparison", setting, apart_halves)


def aligned(
    scale: float, number: int, apart: float, n_items: int, held: tuple[float, float] | None
) -> Iterator[Claim]:
    """Intervals of `align` for a reviewer that reads what people read, with errors of sd 1."""
    theta = near_ties(MODELS, apart) * math.sqrt(2)
    people = np.arange(1.0, MODELS + 1)
    rng = np.random.default_rng((3, number))
    truth = float(np.corrcoef(true_borda(theta / math.sqrt(2)), -people)[0, 1])
    # Ranks have the same spread in each item, so the expected ρ follows from expected ranks.
    spread = MODELS * np.var(people)
    expected = (MODELS - 1) * true_borda(theta / math.sqrt(2))
    per_item = float(-(people - people.mean()) @ expected / spread)
    n, hits = runs(300, scale), [0, 0, 0]
    for _ in range(n):
        ranks = _ranks(rng, theta, n_items)
        draws = ItemDraws(n_items, None, how=DRAWS)
        [rater] = correlate([Ratings("reviewer", "r", ranks, ranks)], people, draws)
        for place, (figure, true) in enumerate(
            [
                (rater.pearson.macro, truth),
                (rater.kendall.macro, 1.0),
                (rater.pearson.mean, per_item),
            ]
        ):
            hits[place] += figure.lower - 1e-9 <= true <= figure.upper + 1e-9
    setting = f"{apart} apart, {n_items} items"
    yield share("align: 95% interval of the macro Pearson", setting, hits[0], n, held)
    yield share("align: 95% interval of the macro τ", setting, hits[1], n)
    yield share("align: 95% interval of the mean ρ per item", setting, hits[2], n, (0.93, 0.97))


def _ranks(rng: Generator, theta: Array, n_items: int) -> Array:
    answers = theta + rng.standard_normal((n_items, MODELS))
    return panel(rng, answers, [1.0])[:, 0]
