"""How many labels tell two models apart: brute force, what more labels bring, limits."""

import math
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.rankers.test_anchored import anchored
from tiebreak.rankers.anchored import Anchored, labels_needed
from tiebreak.rankers.intervals import student_quantile

N = 400


def world(seed: int, n_labelled: int, *, noise: float = 0.5, shift: float = 0.3) -> Anchored:
    """Grades of three models by people, and by a judge who sees them with an error."""
    rng = np.random.default_rng(seed)
    quality = np.array([shift, 0.0, -1.0]) + rng.standard_normal((N, 1))
    people = quality + rng.standard_normal((N, 3))
    judge = people + noise * rng.standard_normal((N, 3))
    labelled = np.arange(N) < n_labelled
    return anchored(people / 16 + 0.5, judge / 16 + 0.5, labelled)


def variances(board: Anchored) -> tuple[float, float, float]:
    gap = np.array([1.0, -1.0, 0.0])
    tables = (board.alone, board.by_labels, board.by_items)
    alone, by_labels, by_items = (float(gap @ table @ gap) for table in tables)
    return alone, by_labels, by_items


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n_labelled=st.integers(20, 200),
    noise=st.sampled_from([0.2, 1.0, 5.0]),
    power=st.sampled_from([0.5, 0.8, 0.95]),
)
def test_by_brute_force(seed: int, n_labelled: int, noise: float, power: float) -> None:
    board = world(seed, n_labelled, noise=noise)
    alone, by_labels, by_items = variances(board)
    gap = abs(board.scores[0].value - board.scores[1].value)
    wanted = NormalDist().inv_cdf(0.975) + NormalDist().inv_cdf(power)
    numbers = np.arange(1, 200_000)
    enough = {
        "alone": np.sqrt(alone * n_labelled / numbers) * wanted <= gap,
        "judge": (
            np.sqrt(np.maximum(by_labels * n_labelled / numbers + by_items, 0)) * wanted <= gap
        )
        & (numbers <= N),
    }
    enough["judge"] |= enough["alone"]
    found = labels_needed(board, (0, 1), power=power)
    for needed, name in zip(found, ("judge", "alone"), strict=True):
        if enough[name].any():
            assert math.ceil(needed.value) == max(6, numbers[enough[name]][0])
        else:
            assert needed.value > numbers[-1]
        assert needed.lower <= needed.value <= needed.upper
    assert found[0].value <= found[1].value
    turned = labels_needed(board, (1, 0), power=power)
    assert turned[0].value == pytest.approx(found[0].value)


def test_parts_add_up_to_the_error_of_the_scores() -> None:
    board = world(1, 50)
    covariance = board.by_labels + board.by_items
    for score, variance in zip(board.scores, np.diag(covariance), strict=True):
        reach = student_quantile(score.n_items, 0.95) * math.sqrt(variance)
        assert score.upper - score.value == pytest.approx(reach)


def test_more_models_take_more_labels() -> None:
    board = world(2, 100)
    numbers = [labels_needed(board, (0, 1), n_models=k)[1].value for k in (2, 3, 8)]
    assert numbers == sorted(numbers)
    # Tukey's 3.03 of 8 models beside 1.96 of 2, each with 0.84 for the power.
    assert numbers[2] / numbers[0] == pytest.approx(
        ((3.03 + 0.8416) / (1.96 + 0.8416)) ** 2, rel=1e-3
    )


def test_no_difference_takes_labels_without_end() -> None:
    board = world(3, 50, shift=0.0)
    found = labels_needed(board, (0, 0))
    assert [(one.value, one.upper) for one in found] == [(math.inf, math.inf)] * 2
