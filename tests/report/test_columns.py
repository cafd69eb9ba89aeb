"""One descriptor for every column of a leaderboard: a field without one is named here."""

import pytest

from tiebreak.analysis.leaderboard import LeaderboardRow
from tiebreak.report.columns import COLUMNS, METRICS, NOT_SHOWN
from tiebreak.report.json import keys_of


@pytest.mark.parametrize("field", keys_of(LeaderboardRow))
def test_every_field_is_in_a_column_or_stated_not_to_be(field: str) -> None:
    columns = [column for column in COLUMNS if field in column.fields]
    assert len(columns) + (field in NOT_SHOWN) == 1, (
        f"{field}: give it an entry in COLUMNS of report/columns.py, or say in NOT_SHOWN why not"
    )


def test_no_column_shows_what_is_no_field() -> None:
    shown = {field for column in COLUMNS for field in column.fields} | set(NOT_SHOWN)
    assert shown == set(keys_of(LeaderboardRow))


def test_every_metric_has_a_meaning_and_a_direction() -> None:
    assert next(iter(METRICS)) == "normalized_borda"
    assert list(METRICS)[-1] == "native_score"
    for name, metric in METRICS.items():
        ends = {True: "higher is better", False: "lower is better", None: metric.range}
        assert metric.direction.endswith(ends[metric.higher_is_better])
        assert (metric.name, bool(metric.meaning)) == (name, True)
    assert METRICS["mean_rank"].direction == "1 to N, lower is better"
    assert METRICS["mean_rank"]._replace(higher_is_better=None).direction == "1 to N"
