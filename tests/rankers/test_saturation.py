import math
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from scipy import stats

from tiebreak.rankers.errors import (
    EmptyProfileError,
    InfiniteRankError,
    RankingError,
    ShapeError,
)
from tiebreak.rankers.saturation import Saturation, holm, saturation, sign_flip_p

NAN = math.nan
FloatArray = NDArray[np.float64]

# --- By hand ---------------------------------------------------------------------------------


def test_by_hand() -> None:
    result = saturation([[1.0, 1, 1], [1.0, 1, 0], [1, 0, NAN], [0.0, 0, 0], [NAN, 1, NAN]])
    # Four items have two scores or more; in the first and the fourth all agree.
    assert (result.agree.successes, result.agree.n) == (2, 4)
    np.testing.assert_allclose(result.means, [3 / 4, 3 / 5, 1 / 3])
    assert result.order == (0, 1, 2)
    # Differences 0, 0, 1, 0: sd ½, n 4; (1.95996 + 0.84162) · ½ / 2.
    assert result.detectable[0, 1] == pytest.approx(2.80159 / 4, abs=1e-5)
    # Differences 0, 1, 0: sd 1/√3, n 3; 2.80159 / 3.
    assert result.detectable[0, 2] == result.detectable[2, 0] == pytest.approx(0.93386, abs=1e-5)
    assert result.typical_detectable == pytest.approx(0.93386, abs=1e-5)  # of .7, .934, .934
    assert np.isnan(np.diag(result.detectable)).all()
    assert (result.n_constant_pairs, result.reason) == (0, None)
    assert [(cut.k, cut.above, cut.below, cut.n_items) for cut in result.cuts] == [
        (1, 0, 1, 4),
        (2, 1, 2, 3),
    ]
    assert [cut.difference for cut in result.cuts] == pytest.approx([1 / 4, 1 / 3])
    assert [cut.separable for cut in result.cuts] == [False, False]


def test_separable_by_hand() -> None:
    # Model 1 is first. It alone passes 10 items (McNemar p = 2 / 2¹⁰), and model 0 and 2 are at
    # odds over six items, three each. Holm: 2 · 0.00195, and 1.
    alone, odd = [[0, 1, 0]] * 10, [[1, 1, 0], [0, 1, 1]] * 3
    result = saturation(alone + odd + [[1, 1, 1]] * 5)
    assert result.order == (1, 0, 2)
    assert [cut.p for cut in result.cuts] == pytest.approx([2 / 2**13, 1])
    assert [cut.p_adjusted for cut in result.cuts] == pytest.approx([4 / 2**13, 1])
    assert [cut.separable for cut in result.cuts] == [True, False]


def test_models_that_never_differ_have_a_bound_and_no_zero() -> None:
    result = saturation(np.ones((60, 3)))
    assert result.agree.rate == 1
    assert np.isnan(result.detectable).all()
    assert math.isnan(result.typical_detectable)
    assert result.n_constant_pairs == 3
    # The rule of three: nearly 3/60. Exactly, (1 − x)⁶⁰ = 0.05.
    assert (1 - result.unseen) ** 60 == pytest.approx(0.05)
    assert result.unseen == pytest.approx(3 / 60, rel=0.03)
    assert result.reason is not None
    assert "3 of 3 pairs" in result.reason
    assert "4.9%" in result.reason
    assert all(cut.p == 1 and cut.separable is False for cut in result.cuts)


def test_a_constant_difference_is_separable_but_not_detectable_by_formula() -> None:
    result = saturation([[1.0, 0.9, NAN]] * 8 + [[NAN, 0.9, 0.9 + 1e-15]] * 2)
    assert np.isnan(result.detectable).all()
    assert result.n_constant_pairs == 2
    assert result.unseen == pytest.approx(1 - 0.05 ** (1 / 2))  # the pair with two items
    assert [cut.separable for cut in result.cuts] == [True, False]  # p = 2 / 2⁸, twice


def test_models_without_a_common_item() -> None:
    result = saturation([[1, NAN, 0], [NAN, 0.5, 0], [1, NAN, 1], [NAN, 0.5, 1], [NAN, NAN, 1]])
    first, second = result.cuts
    assert (first.above, first.below, first.n_items, first.separable) == (0, 2, 2, False)
    assert (second.above, second.below, second.n_items, second.separable) == (2, 1, 2, False)
    lonely = saturation([[1, NAN], [NAN, 0.5]])
    assert math.isnan(lonely.cuts[0].p)
    assert math.isnan(lonely.cuts[0].difference)
    assert lonely.cuts[0].separable is None
    assert math.isnan(lonely.agree.rate)


def test_a_model_without_a_score_is_in_no_cut() -> None:
    result = saturation([[1, NAN, 0], [1, NAN, 0]])
    assert np.isnan(result.means[1])
    assert result.order == (0, 2)
    assert len(result.cuts) == 1


def test_one_model() -> None:
    result = saturation([[1.0], [0.0]])
    assert result.cuts == ()
    assert result.reason == "a comparison takes two models"
    assert math.isnan(result.unseen)


@pytest.mark.parametrize(
    ("native", "options", "error"),
    [
        ([1, 0], {}, ShapeError),
        (np.empty((3, 0)), {}, EmptyProfileError),
        ([[1, math.inf]], {}, InfiniteRankError),
        ([[1, 0]], {"level": 1}, RankingError),
        ([[1, 0]], {"power": 80}, RankingError),
    ],
)
def test_bad_input(native: Any, options: Any, error: type[RankingError]) -> None:
    with pytest.raises(error):
        saturation(native, **options)


# --- The detectable difference is detected as often as it says --------------------------------


@pytest.mark.parametrize(("level", "power"), [(0.95, 0.8), (0.9, 0.6)])
def test_power_by_simulation(level: float, power: float) -> None:
    # Models share the difficulty of the items, so the pairing counts.
    generator = np.random.default_rng(3)

    def draw(runs: int, gap: float) -> FloatArray:
        items = generator.normal(size=(runs, 200, 1))
        return items + generator.normal(size=(runs, 200, 2)) * [1, 2] + [gap, 0]

    gap = float(
        np.mean([saturation(x, level=level, power=power).typical_detectable for x in draw(60, 0)])
    )
    scores = draw(4000, gap)
    found = stats.ttest_rel(scores[..., 0], scores[..., 1], axis=1).pvalue <= 1 - level
    # Standard error √(.8 · .2 / 4,000) = 0.6%.
    assert np.mean(found) == pytest.approx(power, abs=0.02)


# --- The test of neighbours -------------------------------------------------------------------

differences = arrays(
    np.float64, st.integers(1, 9), elements=st.integers(-3, 3).map(lambda x: x / 4)
)


@settings(deadline=None, max_examples=100)
@given(differences)
def test_sign_flips_by_trying_all(gaps: FloatArray) -> None:
    total = abs(gaps.sum())
    far = [abs(np.dot(signs, gaps)) >= total - 1e-9 for signs in product((-1, 1), repeat=len(gaps))]
    assert sign_flip_p(gaps) == pytest.approx(np.mean(far))


def test_random_sign_flips_against_scipy() -> None:
    gaps = np.random.default_rng(1).normal(0.25, 1, size=40)
    theirs = stats.permutation_test(
        (gaps,), np.mean, permutation_type="samples", n_resamples=20_000, rng=2
    )
    # Standard errors √(p(1 − p)/9,999) and √(…/20,000): together 0.004 at p = 0.1.
    assert 0.05 < theirs.pvalue < 0.3
    assert sign_flip_p(gaps) == pytest.approx(theirs.pvalue, abs=0.012)
    assert sign_flip_p(gaps, seed=4) == sign_flip_p(gaps, seed=4)
    assert sign_flip_p(gaps, seed=4) != sign_flip_p(gaps, seed=5)
    assert sign_flip_p(-gaps) == pytest.approx(sign_flip_p(gaps), abs=0.012)


def test_pass_or_fail_is_mcnemar() -> None:
    # 15 against 5 of 20: 2 Σ_{k ≤ 5} C(20, k) / 2²⁰ = 2 · 21,700 / 1,048,576.
    gaps = [1.0] * 15 + [-1.0] * 5 + [0.0] * 80 + [NAN]
    assert sign_flip_p(gaps) == pytest.approx(43_400 / 2**20)


def test_twins_are_seldom_called_different() -> None:
    # Four equal models: at least one false "separable" in at most 5% of the leaderboards.
    generator = np.random.default_rng(0)
    wrong = [
        any(cut.separable for cut in saturation(generator.random((12, 4)) < 0.6).cuts)
        for _ in range(300)
    ]
    assert np.mean(wrong) <= 0.05


@pytest.mark.parametrize(
    ("p", "adjusted"),
    [
        ([0.01, 0.04, 0.03, 0.005], [0.03, 0.06, 0.06, 0.02]),  # Holm's own kind of example
        ([0.5, 0.9], [1, 1]),
        ([0.02, NAN, 0.03], [0.04, NAN, 0.04]),
        ([], []),
    ],
)
def test_holm(p: list[float], adjusted: list[float]) -> None:
    np.testing.assert_allclose(holm(p), adjusted)


# --- Properties -------------------------------------------------------------------------------

tables = arrays(
    np.float64,
    st.tuples(st.integers(1, 8), st.integers(2, 4)),
    elements=st.one_of(st.integers(0, 2).map(lambda x: x / 2), st.just(NAN)),
)


def facts(result: Saturation) -> list[float]:
    cuts = [figure for cut in result.cuts for figure in (cut.n_items, cut.p, cut.p_adjusted)]
    return [result.agree.rate, result.typical_detectable, result.unseen, *cuts]


@settings(deadline=None, max_examples=60)
@given(tables, st.permutations(range(8)))
def test_order_of_items_does_not_matter(native: FloatArray, order: list[int]) -> None:
    shuffled = native[[row for row in order if row < len(native)]]
    np.testing.assert_allclose(facts(saturation(native)), facts(saturation(shuffled)), rtol=1e-12)


def test_order_of_items_does_not_matter_with_random_signs() -> None:
    gaps = np.random.default_rng(1).normal(0.3, 1, size=40)
    assert sign_flip_p(gaps) == sign_flip_p(gaps[::-1])


@settings(deadline=None, max_examples=60)
@given(tables)
def test_every_pair_is_detectable_constant_or_without_items(native: FloatArray) -> None:
    result = saturation(native)
    constant = 0
    for i in range(native.shape[1]):
        for j in range(i):
            gap = native[:, i] - native[:, j]
            gap = gap[~np.isnan(gap)]
            alike = gap.size > 0 and len(set(gap)) == 1
            constant += alike
            assert np.isnan(result.detectable[i, j]) == (alike or gap.size == 0)
            if not np.isnan(result.detectable[i, j]):
                assert result.detectable[i, j] > 0
    assert result.n_constant_pairs == constant
