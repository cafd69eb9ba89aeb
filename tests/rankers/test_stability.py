import math
from math import fsum

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import ArrayLike

from tests.rankers.ballots import FloatArray
from tiebreak.rankers import Estimate, ResampledAgreement, Resampling, kendall_tau, spearman
from tiebreak.rankers.agreement import spearman_many
from tiebreak.rankers.stability import (
    expected_spearman,
    hull,
    mean_statistic,
    resample_agreement,
    run_to_run,
    subsample_stability,
)


def two_judges(n: int, seed: int, *, noise: float = 0.3) -> tuple[FloatArray, FloatArray]:
    """Scores of 5 models by two judges that see the same answers, shape (n, 5) each."""
    generator = np.random.default_rng(seed)
    answers = np.linspace(0, 0.3, 5) + noise * generator.normal(size=(n, 5))
    return answers, answers + 0.2 * generator.normal(size=(n, 5))


def mirrored(value: float, bound: float) -> float:
    """The other end of the basic interval on the scale sin(π x / 2)."""
    sine = 2 * math.sin(math.pi * value / 2) - math.sin(math.pi * bound / 2)
    return math.asin(min(1, sine)) / (math.pi / 2)


def agreement(first: ArrayLike, second: ArrayLike, draws: int) -> ResampledAgreement:
    """Of the boards of two judges' scores."""
    means = mean_statistic(first), mean_statistic(second)
    return resample_agreement(*means, len(np.array(first)), how=Resampling(draws=draws))


def test_draws_are_paired() -> None:
    # The same board twice agrees with itself in every draw. Drawn apart it would not.
    scores = two_judges(30, 2)[0]
    found = agreement(scores, scores, 200)
    assert {(one.value, one.lower, one.upper) for one in (found.spearman, found.kendall)} == {
        (1, 1, 1)
    }
    assert (found.top1.value, found.top1_share) == (1, 1)


@pytest.mark.slow
def test_against_a_plain_bootstrap() -> None:
    first, second = two_judges(40, 1)
    found = agreement(first, second, 4000)
    generator = np.random.default_rng(99)
    rhos, taus, firsts = [], [], []
    for _ in range(800):
        rows = generator.integers(0, 40, size=40)
        a, b = first[rows].mean(axis=0), second[rows].mean(axis=0)
        rhos.append(spearman(a, b).value)
        taus.append(kendall_tau(a, b).value)
        firsts.append(a.argmax() == b.argmax())
    whole = first.mean(axis=0), second.mean(axis=0)
    for figure, plain, draws in (
        (found.spearman, spearman, rhos),
        (found.kendall, kendall_tau, taus),
    ):
        value = plain(*whole).value
        # t = −2.0227 at 39 degrees of freedom; Φ(√(40/39) · t) = Φ(−2.0485) = 0.0203.
        low = np.quantile(draws, 0.0203)
        assert figure.value == pytest.approx(value)
        # ρ of five models comes in steps of 0.1, τ in steps of 0.2.
        assert figure.lower == pytest.approx(low, abs=0.11)
        assert figure.upper == pytest.approx(mirrored(value, low), abs=0.11)
    # Standard error √(¼ / 800 + ¼ / 4000) = 0.019.
    assert found.top1_share == pytest.approx(np.mean(firsts), abs=0.07)
    assert found.top1.value == float(first.mean(axis=0).argmax() == second.mean(axis=0).argmax())


@pytest.mark.parametrize(
    ("value", "bounds", "expected"),
    [
        # sin 0° = 0 and sin 30° = ½, so the mirror image of ∓1/3 about 0 is ±1/3.
        (0.0, (-1 / 3, 0.1), (-1 / 3, 1 / 3)),
        (0.0, (-0.1, 1 / 3), (-1 / 3, 1 / 3)),
        # 2 sin 30° − sin 0° = 1: the mirror image of 0 about 1/3 is 1; beyond it, 1 as well.
        (1 / 3, (0.0, 0.4), (0.0, 1.0)),
        (1 / 3, (-0.2, 0.4), (-0.2, 1.0)),
        # The percentile interval lies above the value: its mirror image lies below.
        (0.0, (0.1, 1 / 3), (-1 / 3, 1 / 3)),
        (1.0, (0.5, 1.0), (0.5, 1.0)),
    ],
)
def test_the_hull_by_hand(
    value: float, bounds: tuple[float, float], expected: tuple[float, float]
) -> None:
    np.testing.assert_allclose(hull(value, *bounds), (value, *expected), atol=1e-7)


@pytest.mark.slow
@settings(deadline=None, max_examples=40)
@given(arrays(np.float64, (2, 6, 4), elements=st.sampled_from([0.0, 0.25, 0.5, 1.0])))
def test_bounds_hold_the_value(scores: FloatArray) -> None:
    first, second = scores
    found, swapped = agreement(first, second, 60), agreement(second, first, 60)
    for name in ("spearman", "kendall"):
        figure: Estimate = getattr(found, name)
        if math.isnan(figure.value):
            assert figure.reason is not None
            assert math.isnan(figure.lower)
            assert math.isnan(figure.upper)
        elif not figure.reason or figure.reason["n"] < 60:
            assert -1 <= figure.lower <= figure.upper <= 1
        other = getattr(swapped, name)
        np.testing.assert_allclose(
            (figure.value, figure.lower, figure.upper), (other.value, other.lower, other.upper)
        )


def test_undefined_draws_are_left_out_and_counted() -> None:
    # Item 1 ties all: the draw (0, 2), a quarter of all draws, is undefined.
    table = [[1.0, 0.0], [0.5, 0.5]]
    found = agreement(table, table, 400)
    assert found.spearman.reason is not None
    assert found.spearman.reason["n"] == pytest.approx(100, abs=35)  # standard error 9
    assert (found.spearman.lower, found.spearman.upper) == (1, 1)
    assert str(found.spearman.reason) == (
        f"undefined in {found.spearman.reason['n']} of 400 draws of items, which are left out"
    )


def near_tied(
    n_items: int, n_models: int, apart: float, seed: int, *, truth: float = 1.0
) -> tuple[FloatArray, FloatArray]:
    """Two judges of the same answers; true scores correlate by `truth`, others by 0.66."""
    rng = np.random.default_rng(seed)
    one, other = rng.normal(size=(2, n_models)) * apart
    answers = math.sqrt(0.66) * rng.normal(size=(n_items, n_models))
    own = math.sqrt(0.34) * rng.normal(size=(2, n_items, n_models))
    return one + answers + own[0], truth * one + math.sqrt(1 - truth**2) * other + answers + own[1]


@pytest.mark.parametrize("apart", [0.5, 0.01])
def test_expected_spearman_by_its_formula(apart: float) -> None:
    first, second = near_tied(12, 5, apart, 3)
    models, items = range(5), range(12)
    means = [[fsum(table[:, m]) / 12 for m in models] for table in (first, second)]
    spread = fsum(fsum((x - fsum(own) / 5) ** 2 for x in own) / 4 for own in means)
    # What is left in an item without its own mean and the model's.
    left = [
        [[t[i, m] - own[m] - (t[i].mean() - fsum(own) / 5) for m in models] for i in items]
        for t, own in zip((first, second), means, strict=True)
    ]
    own, others, both = (
        fsum(left[a][i][m] * left[b][i][m] for i in items for m in models) / (11 * 12 * 4)
        for a, b in ((0, 0), (1, 1), (0, 1))
    )
    truth = max(0, 1 - (own + others) / spread)
    r = truth + (1 - truth) * both / math.sqrt(own * others)
    # Moran's mean of ρ, by drawing normal scores.
    x, y = np.random.default_rng(0).normal(size=(2, 40_000, 5))
    drawn = spearman_many(x, r * x + math.sqrt(1 - r**2) * y)
    assert expected_spearman(first, second) == pytest.approx(drawn.mean(), abs=0.01)


def test_without_noise_full_agreement_is_one() -> None:
    fixed = np.tile([3.0, 1.0, 2.0], (5, 1))
    assert expected_spearman(fixed, -fixed) == pytest.approx(1)
    # What moves all models alike is no noise.
    assert expected_spearman(fixed + np.arange(5)[:, None], fixed) == pytest.approx(1)


@pytest.mark.parametrize(
    "scores", [[[1.0, 2.0]], [[1.0], [2.0]], [[1.0, 1.0]] * 4, [[1.0, math.nan]] * 4]
)
def test_nothing_is_expected(scores: list[list[float]]) -> None:
    assert math.isnan(expected_spearman(scores, scores))


def test_subsamples_against_a_loop() -> None:
    scores = two_judges(31, 5, noise=0.6)[0]
    found = subsample_stability(mean_statistic(scores), 31, seeds=[3, 1, 4])
    assert found.n_drawn == 16  # half of 31, rounded up
    # 0.07 · 100 is 7.000000000000001 in floats.
    assert subsample_stability(mean_statistic(np.eye(100)), 100, share=0.07).n_drawn == 7
    rhos, firsts = [], []
    for seed in (3, 1, 4):
        rows = np.random.default_rng(seed).choice(31, 16, replace=False)
        part, whole = scores[rows].mean(axis=0), scores.mean(axis=0)
        rhos.append(spearman(part, whole).value)
        firsts.append(part.argmax() == whole.argmax())
    np.testing.assert_allclose(found.rhos, rhos)
    assert found.mean == pytest.approx(np.mean(rhos))
    assert found.minimum == pytest.approx(min(rhos))
    assert found.top1_recovery == pytest.approx(np.mean(firsts))
    assert found.reason is None


def test_undefined_subsamples_are_counted() -> None:
    # Of three items one tells the models apart: a subsample of one item has it or ties all. A tie
    # for the first place agrees by half.
    table = [[1.0, 0.0], [0.5, 0.5], [0.5, 0.5]]
    found = subsample_stability(mean_statistic(table), 3, share=0.3)
    undefined = int(np.isnan(found.rhos).sum())
    assert 10 <= undefined <= 28
    assert found.mean == found.minimum == 1
    assert found.top1_recovery == pytest.approx(1 - undefined / 60)
    assert str(found.reason) == f"undefined in {undefined} of 30 subsamples, which are left out"
    nothing = subsample_stability(mean_statistic([[0.5, 0.5]] * 3), 3)
    assert math.isnan(nothing.mean)
    assert math.isnan(nothing.minimum)


def test_runs_by_hand() -> None:
    # ρ of runs 0 and 1: one swap of neighbours, 0.8; 0 and 2: 0.8; 1 and 2: two swaps of
    # neighbours, d = (1, 1, 1, 1), 1 − 6 · 4 / 60 = 0.6. Model 0 is first in runs 0 and 2.
    found = run_to_run([[4, 3, 2, 1], [3, 4, 2, 1], [4, 3, 1, 2]])
    np.testing.assert_allclose(found.rhos, [0.8, 0.8, 0.6])
    assert found.mean == pytest.approx(2.2 / 3)
    assert found.minimum == pytest.approx(0.6)
    assert (found.top1_matches, found.n_pairs, found.n_runs, found.reason) == (1, 3, 3, None)
