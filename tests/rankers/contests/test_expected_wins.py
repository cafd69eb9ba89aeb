import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest

from tests.rankers.contests.cases import Case
from tiebreak.rankers.contests import engine, study
from tiebreak.rankers.contests.expected_wins import _rank_interval, csd, mean_and_covariance
from tiebreak.rankers.contests.rounds import win_rates
from tiebreak.rankers.contests.study import SUM_BITS, Study, unit_sums
from tiebreak.rankers.errors import MissingScoreError
from tiebreak.reason import Reason

NAN, INF = float("nan"), float("inf")
TABLE = np.array([[0.9, 0.2, 0.5, 0.5], [0.8, 0.9, 0.1, 0.5], [0.1, 0.4, 0.6, 0.9]])
LARGE = np.random.default_rng(0).normal(size=(12, 6))

GOLDEN = json.loads(Path(__file__).with_name("golden.json").read_text("utf-8"))


def same(first: object, second: object) -> None:
    for field in first.__slots__:  # type: ignore[attr-defined]
        np.testing.assert_array_equal(getattr(first, field), getattr(second, field))


def test_win_rates_by_hand() -> None:
    # Round 0: 0.9, 0.8, 0.1. Round 1, means: 0.35, 0.5, 0.5.
    wins = win_rates(TABLE, [[0], [1, 2]])
    assert wins[:, :, 0].tolist() == [[0.5, 1, 1], [0, 0.5, 1], [0, 0, 0.5]]
    assert wins[:, :, 1].tolist() == [[0.5, 0, 0], [1, 0.5, 0.5], [1, 0.5, 0.5]]


def test_rounding_is_no_win() -> None:
    assert win_rates([[0.1 + 0.2], [0.3]])[0, 1, 0] == 0.5
    assert win_rates([[0.3 + 1e-11], [0.3]])[0, 1, 0] == 1


def test_missing_scores() -> None:
    table = np.array([[0.9, NAN], [0.5, 0.4], [NAN, NAN], [NAN, NAN]])
    with pytest.raises(MissingScoreError, match="model 0 has no score in benchmark 1"):
        win_rates(table)
    with pytest.raises(MissingScoreError, match="model 2 has no score in any benchmark of round 0"):
        win_rates(table, [[0, 1]], missing="available")
    assert win_rates(table[:2], [[0, 1]], missing="available")[0, 1, 0] == 1  # 0.9 to 0.45
    wins = win_rates(table, [[0, 1]], missing="worst")[:, :, 0]
    assert wins[2].tolist() == [0, 0, 0.5, 0.5]


def test_golden() -> None:
    """The same bytes on every machine and in every version."""
    case = Case(6, 5, 3, 1)
    plain = csd(case.scores, eliminate=1, iterations=1234, control_variate=False)
    fine = csd(case.scores, eliminate=1, iterations=1234)
    assert plain.expected_wins.tolist() == GOLDEN[0]
    assert fine.expected_wins.tolist() == GOLDEN[1]
    assert fine.standard_error.tolist() == GOLDEN[2]


@pytest.mark.parametrize("control_variate", [False, True])
def test_workers_change_nothing(control_variate: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(n_jobs: int | None) -> object:
        given = (LARGE, None, 1)
        return csd(*given, iterations=23_456, control_variate=control_variate, n_jobs=n_jobs)

    alone = run(1)
    with joblib.parallel_config(backend="threading"):
        same(run(3), alone)
        monkeypatch.setattr(study, "_WORK", 1)  # worth every core
        same(run(None), alone)


def test_all_cores_where_there_is_work(monkeypatch: pytest.MonkeyPatch) -> None:
    jobs: list[int] = []

    def parallel(n_jobs: int, return_as: str) -> Callable[[Any], list[int]]:
        jobs.append(n_jobs)
        assert return_as == "list"
        return lambda calls: [play(*given) for play, given, _ in calls]

    monkeypatch.setattr(joblib, "Parallel", parallel)
    monkeypatch.setattr(joblib, "effective_n_jobs", lambda _: 8)
    for work in (0, 99_999_999, 100_000_000, 10**12):
        assert study.spread(abs, [(-2,), (3,)], work, None, "testing") == [2, 3]
    assert jobs == [2, 8]
    monkeypatch.setitem(sys.modules, "joblib", None)
    assert study.spread(abs, [(-2,)], 10**12, None, "testing") == [2]
    assert jobs == [2, 8]


def test_fewer_contests_are_the_first_of_more() -> None:
    strength = np.array([[0, 1, 2, 3, 4], [4, 1, 1, 0, 2]])
    many, few = unit_sums([Study(strength, (1, 0), n, 7) for n in (2345, 1234)])
    np.testing.assert_array_equal(many[:1234], few)


def test_control_variate_saves() -> None:
    for t, least in [(0, 3), (1, 4), (2, 6)]:
        plain, fine = (
            csd(LARGE, eliminate=t, iterations=10_000, control_variate=flag).standard_error
            for flag in (False, True)
        )
        assert np.mean(plain**2) / np.mean(fine**2) > least


def test_covariance_is_numpys() -> None:
    rng = np.random.default_rng(0)
    sums = rng.integers(0, 2**SUM_BITS, (50, 3))
    mean, covariance = mean_and_covariance(sums, np.full(50, 4))
    np.testing.assert_allclose(mean, sums.mean(axis=0) / 4 / 2**SUM_BITS)
    np.testing.assert_allclose(covariance, np.cov(sums.T / 4 / 2**SUM_BITS) / 50, rtol=1e-6)


def test_covariance_with_a_smaller_last_unit_is_unbiased() -> None:
    # Contests score 0 or 1 with variance ¼: the variance of the mean of 7 of them is 1/28.
    every = np.array(np.meshgrid(*[[0, 1]] * 7)).reshape(7, -1).T
    sums = np.add.reduceat(every, [0, 3, 6], axis=1) << SUM_BITS
    sizes = np.array([3, 3, 1])
    found = [mean_and_covariance(row[:, None], sizes)[1][0, 0] for row in sums]
    assert np.mean(found) == pytest.approx(1 / 28)


def test_rank_intervals_by_hand() -> None:
    # Three pairs at 95%: z = 2.39 for 1 − 0.05 / 6. Errors of differences: 0 and 1 √(½ + ½ − 0.96)
    # = 0.2, 1 and 2 √(½ + ½ + 0.96) = 1.4, 0 and 2 √(½ + ½) = 1. They differ by 1, 1 and 2.
    covariance = np.array([[0.5, 0.48, 0], [0.48, 0.5, -0.48], [0, -0.48, 0.5]])
    lower, upper = _rank_interval(np.array([3.0, 2, 1]), covariance, 10**6, 10**6, 0.95)
    assert lower.tolist() == [1, 2, 1]
    assert upper.tolist() == [2, 3, 3]
    lower, upper = _rank_interval(np.array([3.4, 2, 1]), covariance, 10**6, 10**6, 0.95)
    assert lower.tolist() == [1, 2, 2]
    assert upper.tolist() == [1, 3, 3]


@pytest.mark.slow
def test_colliding_random_words_favour_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    # One random bit instead of 16: the numbering decides nearly every order.
    whole = engine.draw_block

    def draw_block(*args: object) -> engine.Draw:
        draw = whole(*args)  # type: ignore[arg-type]
        return engine.Draw(draw.numbering, draw.words & np.uint16(1 << 15), draw.orders)

    monkeypatch.setattr(study, "draw_block", draw_block)
    for module in (engine, study):
        monkeypatch.setattr(module, "BLOCK", 160)
    strength = np.zeros((1, 5), dtype=np.int64)
    [sums] = unit_sums([Study(strength, (0,), 160 * 2000, 3)])
    sums = sums / 2**SUM_BITS
    assert sums.shape == (16000, 5)  # a unit is 20 contests
    blocks = sums.reshape(2000, 8, 5).mean(axis=1) / 20
    error = blocks.std(axis=0) / np.sqrt(2000)
    # Two of five win, so everybody wins 0.4 a contest.
    assert np.all(np.abs(blocks.mean(axis=0) - 0.4) < 4 * error)
    assert np.all(error > 4 * np.sqrt(0.4 * 0.6 / 320_000))  # it was the numbering that decided


def test_few_contests() -> None:
    one = csd(TABLE, iterations=1)
    assert set(one.expected_wins) <= {0.0, 1, 2, 3, 4}
    assert np.isnan(one.standard_error).all()
    assert np.isnan(one.rank_lower).all()
    assert one.reason == Reason("one_contest")
    few = csd(TABLE, iterations=99)
    assert not np.isnan(few.standard_error).any()
    assert np.isnan(few.rank_upper).all()
    enough = csd(TABLE, iterations=100)
    assert not np.isnan(enough.rank_upper).any()
    assert enough.reason is None
    assert not enough.control_variate  # a pilot of ten contests knows nothing
