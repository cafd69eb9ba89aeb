import numpy as np
import pytest

from tests.rankers.contests import exact
from tests.rankers.contests.cases import Case
from tiebreak.rankers.contests.expected_wins import CsdOptions, csd
from tiebreak.rankers.contests.sensitivity import (
    _labels,
    _side,
    failure_sensitivity,
    largest_elimination,
    perturb,
)

CASE = Case(6, 4, 100, 0)


def test_against_the_oracle() -> None:
    counts = (0, 1, 3)
    found = failure_sensitivity(CASE.scores, eliminate=counts, iterations=20_000)
    truth = np.array(
        [[float(v) for v in exact.expected_wins(CASE.wins, (t,) * CASE.rounds)] for t in counts]
    )
    slope = np.polyfit(counts, truth, 1)[0]
    for values, errors, expected in [
        (found.expected_wins, found.standard_error, truth),
        (found.slope, found.slope_error, slope),
        (found.delta, found.delta_error, truth[-1] - truth[0]),
    ]:
        assert np.all(np.abs(values - expected) <= 4.5 * errors + 1e-7)


def test_labels() -> None:
    # Both axes with their lines at 0 and ±1 / 0 where a model is above, below or too close.
    base = np.array([1, 1, 1, -1, -1, 0], dtype=np.int8)
    slope = np.array([1, -1, 0, 1, 0, 1], dtype=np.int8)
    assert _labels(base, slope) == (
        "generalist",
        "specialist",
        "undecided",
        "neither",
        "neither",
        "undecided",
    )


def test_sides() -> None:
    values = np.array([5.0, 1.0, 4.0, 2.0, 3.0])
    # The upper half of five is two models; the line is midway between 4 and 3.
    assert _side(values, np.full(5, 0.001), 1000, 0.95).tolist() == [1, -1, 1, -1, -1]
    # With an error of 0.1 of each, 0.5 from the line is less than z · 0.2, z = 2.8.
    assert _side(values, np.full(5, 0.1), 1000, 0.95).tolist() == [1, -1, 0, -1, 0]
    assert _side(values, np.full(5, 0.085), 1000, 0.95).tolist() == [1, -1, 1, -1, -1]
    assert _side(values, np.full(5, np.nan), 1, 0.95).tolist() == [0] * 5


SCORES = np.random.default_rng(0).normal(0.6, 0.05, size=(10, 8)) + np.linspace(0, 0.2, 10)[:, None]


def test_a_failed_round_hurts_the_mean_more() -> None:
    """Example 1 of the paper's §4.2, on synthetic scores: two zeros of a strong model."""
    found = perturb(SCORES, 9, [2, 3], iterations=5000)
    before = csd(SCORES, iterations=5000)
    np.testing.assert_array_equal(found.before.expected_wins, before.expected_wins)
    spoilt = SCORES.copy()
    spoilt[9, 2:4] = 0
    after = csd(spoilt, iterations=5000)
    np.testing.assert_array_equal(found.after.expected_wins, after.expected_wins)
    np.testing.assert_allclose(found.mean_after, spoilt.mean(axis=1))
    assert found.csd_ranks == (1, int(found.after.rank[9]))
    assert found.mean_ranks == (1, 9)
    assert found.csd_ranks[1] < 5
    np.testing.assert_array_equal(SCORES[9, 2:4] > 0, [True, True])  # the input is left alone


@pytest.mark.parametrize("n_models", [3, 4, 5, 8, 17])
@pytest.mark.parametrize("n_rounds", [2, 4, 10])
@pytest.mark.parametrize("most", [1, 2, 4])
def test_who_wins_everything_is_no_specialist(n_models: int, n_rounds: int, most: int) -> None:
    rng = np.random.default_rng((n_models, n_rounds, most))
    scores = rng.normal(size=(n_models, n_rounds))
    scores[0] = 9
    for table in scores, np.tile(np.arange(n_models)[::-1, None], (1, n_rounds)):
        found = failure_sensitivity(table, eliminate=(0, most), iterations=600)
        assert found.labels[0] != "specialist"
    # Where all rounds order the models alike, nobody is.
    assert "specialist" not in found.labels


def test_item_errors_leave_labels_undecided() -> None:
    rng = np.random.default_rng(4)
    scores = rng.normal(size=(12, 1)) + rng.normal(size=(12, 4))
    exact = np.repeat(scores[None], 100, axis=0)
    options: CsdOptions = {"iterations": 2000}
    plain = failure_sensitivity(scores, None, (0, 1), **options)
    sure = failure_sensitivity(scores, None, (0, 1), exact, **options)
    noise = exact + 9 * rng.normal(size=exact.shape)
    vague = failure_sensitivity(scores, None, (0, 1), noise, **options)
    assert {"generalist", "neither"} <= set(plain.labels)
    assert all(
        one in (other, "undecided") for one, other in zip(sure.labels, plain.labels, strict=True)
    )
    assert set(vague.labels) == {"undecided"}
    np.testing.assert_array_equal(vague.slope, plain.slope)


@pytest.mark.parametrize(
    ("n_models", "n_rounds", "largest"),
    [(5, 4, 0), (8, 4, 1), (29, 38, 0), (30, 4, 5), (76, 38, 1), (2, 1, None)],
)
def test_the_largest_elimination(n_models: int, n_rounds: int, largest: int | None) -> None:
    assert largest_elimination(n_models, n_rounds) == largest


@pytest.mark.slow
def test_errors_of_differences_are_calibrated() -> None:
    truth = np.array(
        [[float(v) for v in exact.expected_wins(CASE.wins, (t,) * CASE.rounds)] for t in (0, 1)]
    )
    z = []
    for seed in range(200):
        found = failure_sensitivity(
            CASE.scores, eliminate=(0, 1), iterations=300, seed=seed, control_variate=False
        )
        z.append((found.slope - (truth[1] - truth[0])) / found.slope_error)
    assert 0.9 < np.sqrt(np.mean(np.square(z))) < 1.1


def test_the_mean_is_over_the_benchmarks_of_the_rounds() -> None:
    found = perturb(SCORES, 0, [7], rounds=[[0, 1], [2]], iterations=100)
    np.testing.assert_allclose(found.mean_before, SCORES[:, :3].mean(axis=1))
    np.testing.assert_array_equal(found.mean_before, found.mean_after)
