"""Bradley–Terry with covariates: against a second method, planted data, and what has no fit."""

import builtins
import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize

from tiebreak.rankers.covariates import controlled_bradley_terry
from tiebreak.rankers.errors import MissingPackageError, NoFitError, RankingError
from tiebreak.rankers.strength import bradley_terry
from tiebreak.rankers.uncertainty import Resampling
from tiebreak.reason import Reason

FloatArray = NDArray[np.float64]
FEW = Resampling(draws=10)


def judged(
    strengths: FloatArray, taste: float, n_items: int, seed: int, *, longer: float = 0.0
) -> tuple[dict[str, Any], FloatArray]:
    """All pairs in every item, some tied; each model writes e^longer more than the one before."""
    rng, n = np.random.default_rng(seed), len(strengths)
    one, two = np.triu_indices(n, k=1)
    words = np.exp(longer * np.arange(n) + 0.6 * rng.normal(size=(n_items, n)))
    more = (words[:, one] - words[:, two]) / (words[:, one] + words[:, two])
    odds = strengths[one] - strengths[two] + taste * more
    result = (rng.random(odds.shape) < 1 / (1 + np.exp(-odds))).astype(np.float64)
    result[rng.random(odds.shape) < 0.1] = 0.5
    columns = {
        "first": np.tile(one, n_items),
        "second": np.tile(two, n_items),
        "result": result.ravel(),
        "items": np.repeat(np.arange(n_items), len(one)),
    }
    return columns, more.reshape(-1, 1)


def most_likely(columns: dict[str, Any], covariates: FloatArray, n: int) -> FloatArray:
    """The likelihood, maximised by SciPy."""
    first, second, result = columns["first"], columns["second"], columns["result"]

    def loss(x: FloatArray) -> float:
        odds = x[first] - x[second] + covariates @ x[n:]
        chance = result * np.logaddexp(0, -odds) + (1 - result) * np.logaddexp(0, odds)
        return float(chance.sum())

    best = minimize(loss, np.zeros(n + covariates.shape[1]), options={"gtol": 1e-8}).x
    return np.concatenate([best[:n] - best[:n].mean(), best[n:]])


@pytest.mark.parametrize("n_models", [2, 5])
def test_against_scipy(n_models: int) -> None:
    columns, length = judged(np.linspace(1, -1, n_models), 1.5, 40, seed=n_models)
    style = np.random.default_rng(1).normal(size=length.shape)
    both = np.hstack([length, style])
    fitted, effects = controlled_bradley_terry(
        **columns, covariates=both, n_models=n_models, how=FEW
    )
    expected = most_likely(columns, both, n_models)
    assert fitted.score == pytest.approx(expected[:n_models], abs=1e-5)
    assert [effect.value for effect in effects] == pytest.approx(expected[n_models:], abs=1e-5)
    assert fitted.score.sum() == pytest.approx(0, abs=1e-6)


def test_a_taste_for_length_is_taken_from_equal_models() -> None:
    columns, length = judged(np.zeros(4), 2.0, 120, seed=0, longer=0.5)
    plain = bradley_terry(**columns, n_models=4, how=FEW)
    fitted, [effect] = controlled_bradley_terry(
        **columns, covariates=length, n_models=4, how=Resampling(draws=100)
    )
    # Each model writes 1.65 times as much as the one before, and wins more than it.
    assert np.all(np.diff(plain.score) > 0.2)
    assert np.abs(fitted.score).max() < 0.2
    assert np.all((fitted.lower < 0) & (fitted.upper > 0))
    assert 0.8 < effect.lower < effect.value < effect.upper < 2.5


def test_a_blind_judge_gives_the_same_both_ways() -> None:
    columns, length = judged(np.array([0.8, 0.3, -0.3, -0.8]), 0.0, 120, seed=0, longer=0.5)
    plain = bradley_terry(**columns, n_models=4, how=FEW)
    fitted, [effect] = controlled_bradley_terry(
        **columns, covariates=length, n_models=4, how=Resampling(draws=100)
    )
    assert fitted.score == pytest.approx(plain.score, abs=0.2)
    assert effect.lower < 0 < effect.upper


def test_order_and_sides_of_matches_do_not_matter() -> None:
    columns, length = judged(np.array([0.5, 0, -0.5]), 1.0, 20, seed=3)
    order = np.random.default_rng(0).permutation(len(length))
    turned = {
        "first": columns["second"][order],
        "second": columns["first"][order],
        "result": 1 - columns["result"][order],
        "items": columns["items"][order],
    }
    one, [effect] = controlled_bradley_terry(**columns, covariates=length, n_models=3, how=FEW)
    other, [same] = controlled_bradley_terry(
        **turned, covariates=-length[order], n_models=3, how=FEW
    )
    np.testing.assert_allclose([one.score, one.lower], [other.score, other.lower], atol=1e-6)
    assert effect.value == pytest.approx(same.value, abs=1e-6)
    assert effect.upper == pytest.approx(same.upper, abs=1e-6)


def test_one_item_has_no_interval() -> None:
    fitted, [effect] = controlled_bradley_terry(
        [0] * 6, [1] * 6, [1, 0, 1, 0, 1, 0], ["q"] * 6, [[1], [1], [2], [3], [0], [0]],
        n_models=2, how=FEW,
    )  # fmt: skip
    assert fitted.reason == effect.reason == Reason("one_item")
    assert math.isfinite(effect.value)
    assert math.isnan(effect.lower)


@pytest.mark.parametrize(
    ("result", "covariates", "message"),
    [
        # The first model won all.
        ([1, 1, 1, 1], [1, 2, -1, -2], "0 never lost to or tied with any of 1"),
        # The longer answer won all.
        ([1, 1, 0, 0], [1, 2, -1, -2], "decide all matches"),
        # Whoever is first writes more, always by the same.
        ([1, 0, 1, 0.5], [1, 1, 1, 1], "follow from which models meet"),
    ],
)
def test_no_fit(result: list[float], covariates: list[float], message: str) -> None:
    with pytest.raises(NoFitError, match=message):
        controlled_bradley_terry(
            [0] * 4, [1] * 4, result, range(4), np.array(covariates)[:, None], n_models=2, how=FEW
        )


def test_draws_without_a_fit_are_left_out_and_counted() -> None:
    # The longer answer lost in one item only: every third draw does not hold it.
    fitted, [effect] = controlled_bradley_terry(
        [0] * 6, [1] * 6, [1, 1, 0, 0, 0, 1], range(6),
        np.array([[1, 2, -1, -2, 3, 0.5]]).T, n_models=2, how=Resampling(draws=100),
    )  # fmt: skip
    left_out = int(fitted.undefined.min())
    assert 15 < left_out < 85
    assert fitted.reason == effect.reason
    assert str(left_out) in str(fitted.reason)
    assert effect.lower < effect.value < effect.upper


@pytest.mark.parametrize(
    ("covariates", "message"),
    [
        ([[1], [2]], "covariates of 4 matches"),
        ([1, 2, 3, 4], "covariates of 4 matches"),
        ([[1], [2], [3], [math.nan]], "finite"),
    ],
)
def test_bad_input(covariates: Any, message: str) -> None:
    with pytest.raises(RankingError, match=message):
        controlled_bradley_terry([0] * 4, [1] * 4, [1, 0, 1, 0], range(4), covariates, n_models=2)


def test_without_scikit_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def no_sklearn(name: str, *rest: Any, **more: Any) -> Any:
        if name.startswith("sklearn"):
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", no_sklearn)
    with pytest.raises(MissingPackageError, match=r"pip install '\.\[rankings\]'"):
        controlled_bradley_terry([0], [1], [1], [0], [[1]], n_models=2)
