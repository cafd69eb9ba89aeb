"""The scorer and its metric, without a harness."""

import math

import pytest
from inspect_ai.scorer import SampleScore, Score

from tests.report.builders import item, match
from tiebreak.scorers.ranking import score_ballots, spread
from tiebreak.scorers.table import ballots_table


def test_every_model_of_the_run_has_a_value() -> None:
    ballots = item("q", [match("a", "b", 0.5)], groups=(("a",), ("b",)))
    score = score_ballots(ballots.model_dump(mode="json"), ["a", "b", "elsewhere"])
    assert isinstance(score.value, dict)
    assert score.value == {"a": 1.0, "b": 0.0, "elsewhere": pytest.approx(math.nan, nan_ok=True)}
    assert list(score.value) == ["a", "b", "elsewhere"]
    assert score.answer == "a"


@pytest.mark.parametrize(
    ("stored", "reason"),
    [
        (None, "no_ballots"),
        ({"protocol": "seal"}, "no_ballots"),
        (item("q", complete=False).model_dump(mode="json"), "not_placed"),
        (item("q", [match("a", "b", None)]).model_dump(mode="json"), "not_placed"),
    ],
)
def test_what_has_no_ranking_is_unscored(stored: object, reason: str) -> None:
    score = score_ballots(stored, ["a", "b"])
    assert isinstance(score.value, float)
    assert math.isnan(score.value)
    assert score.reason == reason


def test_spread_leaves_out_what_is_undefined() -> None:
    values = [{"a": 1.0, "b": 0.0, "c": math.nan}, {"a": 0.5, "b": 0.5, "c": 0.5}]
    samples = [SampleScore(score=Score(value=value)) for value in values]
    # Means 0.75, 0.25 and 0.5: gaps 0.5, 0.25 and 0.25.
    assert spread()(samples) == pytest.approx(1 / 3)  # type: ignore[arg-type]


def test_a_name_cannot_break_out_of_the_table() -> None:
    name = "a|b\n# <img src=x>"
    table = ballots_table(item("q", [match(name, "c", 0.5)], groups=((name,), ("c",))))
    rows = [line for line in table.splitlines() if "img" in line]
    assert len(rows) == 2
    assert all(line.startswith("| ") and "\\|" in line and "&lt;img" in line for line in rows)
