"""One descriptor for every column of a leaderboard: a field without one is named here."""

from pathlib import Path

import pytest

from tests.cases import some
from tests.ranking_logs.builders import bracket, graded, write_log
from tests.report.showing import texts
from tiebreak.analysis.leaderboard import Leaderboard, LeaderboardRow, leaderboards
from tiebreak.rankers import Resampling
from tiebreak.report.columns import COLUMNS, METRICS, NOT_SHOWN
from tiebreak.report.json import keys_of
from tiebreak.report.sheets.leaderboard import board_sheet


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


@pytest.fixture
def boards(tmp_path: Path) -> list[Leaderboard]:
    brackets = [bracket(f"q{n}", "a", "b", "c") for n in range(2)]
    points = [graded("q", {"a": 0.9, "b": 0.5, "c": None})]
    paths = [
        write_log(tmp_path / "1.eval", brackets),
        write_log(tmp_path / "2.eval", points, task_id="T2"),
    ]
    return leaderboards(paths, how=Resampling(level=0.9, draws=100))


def test_the_columns_of_a_protocol(boards: list[Leaderboard]) -> None:
    matches, points = (some(board_sheet(board).sections[0].table) for board in boards)
    both = ("#", "Model", "Borda", "90% interval", "Ranks", "Native")
    assert matches.headings == (*both, "W–L–T", "Unscored")
    assert points.headings == (*both, "Points", "Unscored")
    numeric = {column.heading: column.numeric for column in matches.columns}
    assert numeric == {heading: heading != "Model" for heading in matches.headings}
    assert [row[:3] for row in texts(matches)] == [
        *(["1", "a", "1.000"], ["2", "b", "0.500"], ["3", "c", "0.000"]),
    ]
    assert [row[1].key for row in matches.rows] == ["a", "b", "c"]
    assert matches.rows[0][2].key == 1
    # Undefined sorts as nothing.
    assert [(row[1].text, row[-2].key) for row in points.rows][-1] == ("c", None)
    assert all(column.meaning for column in matches.columns[2:])
