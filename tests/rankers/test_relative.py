"""Relative scores: the paper's columns, a named reference, and the best whoever it is."""

import csv
import math
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import t

from tiebreak.rankers import RankingError
from tiebreak.rankers.linked import relative_scores
from tiebreak.reason import Reason

PAPER = Path(__file__).parent.parent / "analysis" / "llmeval_fair_table_8.csv"
NAN = float("nan")


def paper() -> list[dict[str, str]]:
    with PAPER.open(encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def test_the_relative_scores_of_the_paper() -> None:
    """All names of tables 1 and 8 but one: 87.57 of 93.67 are 93.49 percent, printed as 93.48."""
    rows = paper()
    names = [row["model"] for row in rows]
    scores = np.array([float(row["S"]) for row in rows])
    best = names.index("Doubao-1.5-Thinking-Pro")
    none = np.full((len(rows), len(rows)), NAN)
    found = relative_scores(scores, none, 1000, reference=best)
    off = [
        name
        for name, one, row in zip(names, found, rows, strict=True)
        if round(100 * one.value, 2) != float(row["R"])
    ]
    assert off == ["Claude-Sonnet-4.5-Thinking"]


def test_a_named_reference_has_the_interval_of_a_ratio() -> None:
    rng = np.random.default_rng(0)
    scores = rng.beta(9, 1, size=(400, 2))
    mean, spread = scores.mean(axis=0), np.cov(scores.T) / 400
    one, other = relative_scores(mean, spread, 400, reference=0)
    assert (one.value, one.lower, one.upper) == (1, 1, 1)
    draws = rng.integers(400, size=(4000, 400))
    ratios = scores[draws, 1].mean(axis=1) / scores[draws, 0].mean(axis=1)
    assert (other.lower, other.upper) == pytest.approx(
        np.quantile(ratios, [0.025, 0.975]), abs=2e-3
    )
    assert other.value == pytest.approx(mean[1] / mean[0])


def test_a_named_reference_near_the_ceiling() -> None:
    """Two of 50 items differ: what they show is not all that may differ."""
    scores = np.ones((50, 2))
    scores[:2, 1] = 2 / 3
    mean, spread = scores.mean(axis=0), np.cov(scores.T) / 50
    _, alone = relative_scores(mean, spread, 50, reference=0)
    base, other = relative_scores(mean, spread, 50, reference=0, pseudo=scores)
    assert (base.lower, base.upper) == (1, 1)
    # One item more that differs by a star moves the mean of 50 by 1/150.
    error = math.hypot(math.log(alone.upper / alone.value), t.ppf(0.975, 49) / 150 / mean[1])
    assert math.log(other.upper / other.value) == pytest.approx(error)
    assert math.log(other.value / other.lower) == pytest.approx(error)
    same, _ = relative_scores(
        [1.0, 1.0], np.zeros((2, 2)), 50, reference=1, pseudo=np.ones((50, 2))
    )
    assert same.upper == pytest.approx(math.exp(t.ppf(0.975, 49) / 50))


def test_against_the_best_intervals_allow_for_luck() -> None:
    """Of near-equal models any may be the best: the first one's interval is not 100 to 100."""
    mean, spread = np.array([0.91, 0.909, 0.8]), np.eye(3) * 0.01**2
    first, second, last = relative_scores(mean, spread, 1000)
    assert first.value == 1
    assert first.lower < 0.99
    assert first.upper == second.upper == 1
    named = relative_scores(mean, spread, 1000, reference=0)[1]
    assert second.lower == pytest.approx(named.lower)
    assert last.upper < 0.92


def test_what_is_undefined() -> None:
    mean = np.array([NAN, 0.5, 0.0])
    spread = np.diag([NAN, 1e-4, 1e-4])
    found = relative_scores(mean, spread, 10)
    assert np.isnan(found[0].value)
    assert found[0].reason == Reason("no_scored_item")
    assert found[2].value == 0
    assert np.isnan(found[2].lower)
    assert relative_scores(mean, spread, 10, reference=2)[1].reason
    assert relative_scores([0.0, 0.0], np.eye(2), 10)[0].reason
    assert np.isnan(relative_scores([0.5], [[NAN]], 1)[0].lower)
    with pytest.raises(RankingError, match="no model 3"):
        relative_scores(mean, spread, 10, reference=3)
