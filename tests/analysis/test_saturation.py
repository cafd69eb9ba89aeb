import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from scipy import stats
from scipy.optimize import brentq

from tiebreak.analysis.diagnosis import Saturation, saturation, saturation_of
from tiebreak.candidates import Candidate, CandidatePool, Item, ItemKey, audit
from tiebreak.rankers.errors import RankingError
from tiebreak.rankers.pairwise_tests import items_needed
from tiebreak.reason import Reason

NAN = math.nan


def pool_of(scores: Mapping[ItemKey, Mapping[str, float]]) -> CandidatePool:
    items = tuple(Item(key, str(key), "?", "!") for key in scores)
    candidates = {
        key: {model: Candidate(key, model, "a", native_score=s) for model, s in row.items()}
        for key, row in scores.items()
    }
    return CandidatePool(items, candidates)


def test_one_result_per_benchmark_by_hand() -> None:
    pool = pool_of(
        {
            ItemKey("mmlu", "1"): {"b": 1, "a": 1},
            ItemKey("gsm8k", "1"): {"a": 1, "c": 1, "b": 1},
            ItemKey("gsm8k", "2"): {"a": 0, "b": 1, "c": 1},
            ItemKey("gsm8k", "3"): {"a": 0, "b": 1, "c": NAN},
            # An item in several epochs counts once: means ½ and ½ (they agree), 1 and 0.
            ItemKey("law", "1", 1): {"a": 1, "b": 0},
            ItemKey("law", "1", 2): {"a": 0, "b": 1},
            ItemKey("law", "2", 1): {"a": 1, "b": 0},
            ItemKey("law", "2", 2): {"a": NAN, "b": 0},
        }
    )
    results = saturation(pool)
    agree = [(name, one.agree.successes, one.agree.n) for name, one in results.items()]
    assert agree == [("mmlu", 1, 1), ("gsm8k", 1, 3), ("law", 1, 2)]
    np.testing.assert_allclose(results["gsm8k"].means, [1 / 3, 1, 1])
    assert results["gsm8k"].order == (1, 2, 0)
    np.testing.assert_allclose(results["law"].means, [0.75, 0.25])
    # Two items show nothing, whatever their scores: p = 2 / 2².
    assert math.isnan(results["law"].detectable[0, 1])


def test_saturated_items_are_those_of_the_audit() -> None:
    generator = np.random.default_rng(0)
    pool = pool_of(
        {
            ItemKey("humaneval", str(item)): {
                model: float(generator.random() < 0.9) for model in "abcd"
            }
            for item in range(50)
        }
    )
    [result], [counted] = saturation(pool).values(), audit(pool).benchmarks
    assert 0 < counted.n_saturated < 50
    assert result.agree.successes == counted.n_saturated
    assert result.agree.n == counted.n_native


FloatArray = NDArray[np.float64]

# --- By hand ---------------------------------------------------------------------------------


def test_by_hand() -> None:
    result = saturation_of([[1.0, 1, 1], [1.0, 1, 0], [1, 0, NAN], [0.0, 0, 0], [NAN, 1, NAN]])
    # Four items have two scores or more; in the first and the fourth all agree.
    assert (result.agree.successes, result.agree.n) == (2, 4)
    np.testing.assert_allclose(result.means, [3 / 4, 3 / 5, 1 / 3])
    assert result.order == (0, 1, 2)
    assert np.isnan(np.diag(result.detectable)).all()
    assert (result.n_constant_pairs, result.reason) == (0, None)


def detectable(
    gap: Sequence[float], n_pairs: int, *, level: float = 0.95, power: float = 0.8
) -> float:
    """The definition, by a search for its root."""
    d, n = np.array(gap, dtype=float), len(gap)
    size, spread = float(np.abs(d[d != 0]).mean()), float(d.var(ddof=1))
    ties = float(np.mean(d == 0))
    alpha = (1 - level) / n_pairs
    quantiles = float(stats.t.isf(alpha / 2, n - 1) + stats.t.ppf(power, n - 1))

    def short(lead: float) -> float:
        return lead - quantiles * math.sqrt(max(0, spread + ties * (lead * size - lead**2)) / n)

    k = next(k for k in range(n + 1) if 2 * 0.5**k <= alpha)
    enough = brentq(lambda share: stats.binom.sf(k - 1, n, share) - power, 0, 1)
    return max(float(brentq(short, 0, 10 * size)), size * float(enough))


# Twelve against six of 40 items; two of 40 differ; all do, by ever more.
@pytest.mark.parametrize(
    "gap", [[1] * 12 + [-1] * 6 + [0] * 22, [1, -1] + [0] * 38, [n - 9.5 for n in range(20)]]
)
def test_detectable_is_the_root_of_its_equation(gap: list[float]) -> None:
    two = saturation_of([[one, 0] for one in gap])
    assert two.detectable[0, 1] == two.detectable[1, 0] == pytest.approx(detectable(gap, 1))
    # Three models are three tests, and a third one that shares no item changes nothing.
    three = saturation_of([[one, 0, 0] for one in gap])
    assert three.detectable[0, 1] == pytest.approx(detectable(gap, 3))
    assert three.typical_detectable == pytest.approx(detectable(gap, 3))
    alone = saturation_of([[one, 0, NAN] for one in gap] + [[NAN, NAN, 1]])
    assert alone.detectable[0, 1] == pytest.approx(detectable(gap, 1))


def test_models_that_never_differ_have_a_bound_and_no_zero() -> None:
    result = saturation_of(np.ones((60, 3)))
    assert (result.agree.rate, result.n_constant_pairs) == (1, 3)
    assert np.isnan(result.detectable).all()
    assert math.isnan(result.typical_detectable)
    # The rule of three: nearly 3/60. Exactly, (1 − x)⁶⁰ = 0.05.
    assert (1 - result.unseen) ** 60 == pytest.approx(0.05)
    assert "3 of 3 pairs" in str(result.reason)
    assert "4.9%" in str(result.reason)


def test_a_constant_difference_is_not_detectable_by_formula() -> None:
    result = saturation_of([[1.0, 0.9, NAN]] * 8 + [[NAN, 0.9, 0.9 + 1e-15]] * 2)
    assert np.isnan(result.detectable).all()
    assert result.n_constant_pairs == 2
    assert result.unseen == pytest.approx(1 - 0.05 ** (1 / 2))  # the pair with two items


def test_the_luckiest_of_some_constant_pairs_is_bounded_by_all_pairs() -> None:
    result = saturation_of([[1, 1, 0]] * 10 + [[0, 0, 1]] * 20 + [[1, 1, 1]] * 10)
    assert result.n_constant_pairs == 1
    assert (1 - result.unseen) ** 40 == pytest.approx(0.05 / 3)


def test_one_model_and_models_without_a_common_item() -> None:
    result = saturation_of([[1.0], [0.0]])
    assert result.reason == Reason("one_model")
    assert math.isnan(result.unseen)
    lonely = saturation_of([[1, NAN], [NAN, 0.5]])
    assert lonely.order == (0, 1)
    assert np.isnan([lonely.detectable[0, 1], lonely.agree.rate]).all()


@pytest.mark.parametrize(
    ("native", "options", "message"),
    [
        ([1, 0], {}, "native must have shape"),
        (np.empty((3, 0)), {}, "there is no model"),
        ([[1, math.inf]], {}, "finite"),
        ([[1, 0]], {"level": 1}, "level and power must lie"),
        ([[1, 0]], {"power": 80}, "level and power must lie"),
    ],
)
def test_bad_input(native: Any, options: Any, message: str) -> None:
    with pytest.raises(RankingError, match=message):
        saturation_of(native, **options)


# --- The detectable difference is detected as often as it says --------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(("level", "power"), [(0.95, 0.8), (0.9, 0.6)])
def test_power_by_simulation(level: float, power: float) -> None:
    # Models share the difficulty of the items, so the pairing counts.
    generator = np.random.default_rng(3)

    def draw(runs: int, gap: float) -> FloatArray:
        items = generator.normal(size=(runs, 200, 1))
        return items + generator.normal(size=(runs, 200, 2)) * [1, 2] + [gap, 0]

    gap = float(
        np.mean(
            [saturation_of(x, level=level, power=power).typical_detectable for x in draw(60, 0)]
        )
    )
    scores = draw(4000, gap)
    found = stats.ttest_rel(scores[..., 0], scores[..., 1], axis=1).pvalue <= 1 - level
    # Standard error √(.8 · .2 / 4,000) = 0.6%.
    assert np.mean(found) == pytest.approx(power, abs=0.02)


# --- Properties -------------------------------------------------------------------------------

tables = arrays(
    np.float64,
    st.tuples(st.integers(1, 8), st.integers(2, 4)),
    elements=st.one_of(st.integers(0, 2).map(lambda x: x / 2), st.just(NAN)),
)


def facts(result: Saturation) -> list[float]:
    return [result.agree.rate, result.typical_detectable, result.unseen]


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(tables, st.permutations(range(8)))
def test_order_of_items_does_not_matter(native: FloatArray, order: list[int]) -> None:
    shuffled = native[[row for row in order if row < len(native)]]
    np.testing.assert_allclose(
        facts(saturation_of(native)), facts(saturation_of(shuffled)), rtol=1e-12
    )


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(tables)
def test_every_pair_is_detectable_constant_or_has_too_few_items(native: FloatArray) -> None:
    result = saturation_of(native, level=0.5)
    constant = 0
    there = ~np.isnan(native)
    needed = items_needed(int(np.sum(np.triu(there.T.astype(int) @ there, k=1) > 0)), 0.5)
    for i in range(native.shape[1]):
        for j in range(i):
            gap = native[:, i] - native[:, j]
            gap = gap[~np.isnan(gap)]
            alike = gap.size > 0 and len(set(gap)) == 1
            constant += alike
            assert np.isnan(result.detectable[i, j]) == (alike or gap.size < needed)
            if not np.isnan(result.detectable[i, j]):
                assert result.detectable[i, j] > 0
    assert result.n_constant_pairs == constant
