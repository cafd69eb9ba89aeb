import math
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit

from tests.cases import cases
from tests.rankers.ballots import FloatArray
from tests.rankers.rounds import ROUND, Match, columns
from tiebreak.rankers import strength
from tiebreak.rankers.errors import NoFitError
from tiebreak.rankers.matches import Matches
from tiebreak.rankers.strength import bradley_terry, controlled_bradley_terry, elo
from tiebreak.rankers.uncertainty import Resampling
from tiebreak.reason import Reason

matches_of_four = st.lists(
    st.tuples(
        st.integers(0, 3), st.integers(0, 3), st.sampled_from([0.0, 0.5, 1.0]), st.integers(0, 4)
    ).filter(lambda match: match[0] != match[1]),
    min_size=8,
    max_size=25,
)


@pytest.mark.slow
@settings(deadline=None, max_examples=40)
@given(matches_of_four)
def test_against_newton_and_connectivity_by_search(matches: list[Match]) -> None:
    edges = {(i, j) for i, j, result, _ in matches if result > 0}
    edges |= {(j, i) for i, j, result, _ in matches if result < 1}

    def reach(start: int) -> set[int]:
        seen, todo = {start}, [start]
        while todo:
            here = todo.pop()
            new = {j for i, j in edges if i == here} - seen
            seen |= new
            todo += new
        return seen

    arguments = columns(matches) | {"n_models": 4}
    if all(len(reach(model)) == 4 for model in range(4)):
        score = bradley_terry(**arguments, how=Resampling(draws=1)).score
        np.testing.assert_allclose(
            score, most_likely(arguments, np.zeros((len(matches), 0)), 4), atol=1e-5
        )
    else:
        with pytest.raises(NoFitError):
            bradley_terry(**arguments, how=Resampling(draws=1))


@pytest.mark.parametrize(("matches", "n_models", "message"), cases(__file__, "separable matches"))
def test_separable_matches_name_the_group(
    matches: list[Match], n_models: int, message: str
) -> None:
    with pytest.raises(NoFitError, match=message):
        bradley_terry(**columns(matches) | {"n_models": n_models})


def test_one_item_has_strengths_but_no_interval() -> None:
    result = bradley_terry(**columns([(0, 1, 0.5, 7), (1, 0, 1, 7)]), how=Resampling(draws=3))
    assert not np.isnan(result.score).any()
    assert np.isnan(result.lower).all()
    assert result.reason == Reason("one_item")


@example(5, [(0, 3, 0), (0, 4, 0.5), (1, 2, 0.5)], 4)
@example(6, [(0, 1, 0), (0, 4, 1), (3, 4, 0)], 4)
@given(
    st.integers(2, 8),
    st.lists(
        st.tuples(st.integers(0, 7), st.integers(0, 7), st.sampled_from([0, 0.5, 1])),
        max_size=60,
    ),
    st.integers(0, 4),
)
def test_strengths_are_those_of_evalica(
    n: int, played: list[tuple[int, int, float]], digits: int
) -> None:
    """Of matches that are repeated a thousand times, and of some that go the other way."""
    import evalica

    wins = np.roll(np.eye(n), 1, axis=1)  # who beats whom in a circle: finite strengths fit
    for first, second, result in played:
        wins[first % n, second % n] += result * 10**digits
        wins[second % n, first % n] += (1 - result) * 10**digits
    np.fill_diagonal(wins, 0)
    winner, loser = np.nonzero(wins)
    theirs = evalica.bradley_terry(
        winner.tolist(),
        loser.tolist(),
        [evalica.Winner.X] * len(winner),
        weights=wins[winner, loser].tolist(),
        tolerance=1e-12,
        limit=100_000,
    )
    [ours] = strength._fit(wins[None])
    # At the maximum of the likelihood everybody wins as often as is to be expected.
    expected = (wins + wins.T) * expit(ours[:, None] - ours)
    np.testing.assert_allclose(expected.sum(axis=1), wins.sum(axis=1), rtol=1e-6)
    if theirs.iterations < theirs.limit:  # its steps are small where few matches join groups
        logs = np.log(theirs.scores.sort_index().to_numpy())
        np.testing.assert_allclose(ours, logs - logs.mean(), atol=1e-6)


def test_a_fit_that_does_not_converge_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strength, "_MAX_ITERATIONS", 2)
    with pytest.raises(NoFitError, match="2 iterations"):
        bradley_terry(**columns(ROUND))


def plain_elo(matches: list[Match], n: int, k: float) -> FloatArray:
    ratings = np.full(n, 1000.0)
    for i, j, result, _ in matches:
        expected = 1 / (1 + 10 ** ((ratings[j] - ratings[i]) / 400))
        ratings[i] += k * (result - expected)
        ratings[j] -= k * (result - expected)
    return ratings


@pytest.mark.slow
def test_elo_is_the_mean_over_orders() -> None:
    from itertools import permutations

    exact = np.mean([plain_elo(list(order), 3, 32) for order in permutations(ROUND)], axis=0)
    single = np.std([plain_elo(list(order), 3, 32) for order in permutations(ROUND)], axis=0)
    result = elo(**columns(ROUND), k=32, permutations=600, how=Resampling(draws=1))
    # Four standard errors of the mean over 600 of the 120 orders.
    assert np.all(np.abs(result.score - exact) < 4 * single / math.sqrt(600))
    assert np.mean(result.score) == pytest.approx(1000)


def test_elo_draws_repeat_whole_items() -> None:
    # Two items: 0 beats 1 once, and 1 beats 0 once. A draw of the first item twice gives 0
    # two wins, at k = 40: 1020, then 40 · (1 − 1/(1 + 10^(−40/400))) = 17.7 more.
    matches = [(0, 1, 1.0, 0), (1, 0, 1.0, 1)]
    result = elo(**columns(matches), k=40, how=Resampling(draws=60), permutations=2)
    twice = 1020 + 40 * (1 - 1 / (1 + 10**-0.1))
    np.testing.assert_allclose(result.upper, [twice, twice])
    np.testing.assert_allclose(result.lower, [2000 - twice, 2000 - twice])


def test_elo_of_a_model_without_a_match_stays_where_it_started() -> None:
    result = elo(**columns(ROUND) | {"n_models": 4}, how=Resampling(draws=5))
    assert result.score[3] == 1000
    assert np.isnan(result.lower[3])
    assert (result.n_items == [2, 3, 3, 0]).all()


def test_elo_of_a_draw_without_a_match_is_where_all_started() -> None:
    """Where models answered different questions, few of which two of them share."""
    ratings = strength.elo_statistic(Matches.of([0], [1], [1.0], [0], 3))
    assert ratings(np.array([[0.0]])).tolist() == [[1000, 1000, 1000]]
    assert ratings(np.array([[1.0]])).tolist() == [[1002, 998, 1000]]


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
    first, second, result = (np.array(columns[name]) for name in ("first", "second", "result"))

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


def test_one_item_has_no_interval() -> None:
    fitted, [effect] = controlled_bradley_terry(
        [0] * 6, [1] * 6, [1, 0, 1, 0, 1, 0], ["q"] * 6, [[1], [1], [2], [3], [0], [0]],
        n_models=2, how=FEW,
    )  # fmt: skip
    assert fitted.reason == effect.reason == Reason("one_item")
    assert math.isfinite(effect.value)
    assert math.isnan(effect.lower)


@pytest.mark.parametrize(("result", "covariates", "message"), cases(__file__, "no fit"))
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
