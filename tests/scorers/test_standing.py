"""Metrics of ranks that were written back."""

import math

import pytest
from inspect_ai._util.registry import registry_info
from inspect_ai.scorer import Metric, SampleScore, Score

from tiebreak.scorers import ranking
from tiebreak.scorers.ranking import board_place, borda, borda_stderr


def computed(metric: Metric, *bordas: float) -> float:
    scores = [
        SampleScore(score=Score(value={"rank": 1.0, "borda": one}), sample_id=str(number))
        for number, one in enumerate(bordas)
    ]
    value = metric(scores)  # type: ignore[arg-type]
    assert isinstance(value, float)
    return value


def test_mean_and_its_standard_error() -> None:
    # Mean 1/2; squared deviations 1/4, 0, 1/4 over 3 - 1 give variance 1/4, so √(1/4)/√3.
    assert computed(borda(), 1.0, 0.5, 0.0) == 0.5
    assert computed(borda_stderr(), 1.0, 0.5, 0.0) == pytest.approx(0.5 / math.sqrt(3))


def test_what_is_undefined_is_no_zero() -> None:
    assert math.isnan(computed(borda()))
    assert math.isnan(computed(borda_stderr()))
    assert computed(borda(), 0.25) == 0.25
    assert math.isnan(computed(borda_stderr(), 0.25))
    assert math.isnan(computed(board_place(None, 3), 0.25))


def test_inspect_can_tell_them_from_the_metrics_of_a_ranking_log() -> None:
    """It computes them again by their names alone."""
    ours = {registry_info(metric).name for metric in (borda(), borda_stderr(), board_place(1, 2))}
    others = (
        ranking.spread,
        ranking.borda_by_model,
        ranking.stderr_by_model,
        ranking.least_squares,
    )
    assert ours.isdisjoint(registry_info(metric()).name for metric in others)
