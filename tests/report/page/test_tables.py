"""The terminal's tables as tables of a page: the same cells, and what they sort by."""

import io
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console
from rich.table import Table

from tests.report.page.logs import whole
from tiebreak.analysis.comparison import compare
from tiebreak.analysis.leaderboard import Leaderboard, leaderboards
from tiebreak.rankers import Resampling
from tiebreak.report.board_tables import kinds_table, rows_table, usage_table, views_table
from tiebreak.report.comparison_view import agreement_table, judge_table, price_table
from tiebreak.report.page.tables import FILTERABLE, number_in, table_view
from tiebreak.report.page.view import TableView

TABLES: dict[str, Callable[[Leaderboard], Table | None]] = {
    "rows": lambda board: rows_table(board, wide=True),
    "views": lambda board: views_table(board, wide=True),
    "kinds": lambda board: kinds_table(board.receipt),
    "usage": lambda board: usage_table(board.receipt),
}


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return whole(tmp_path_factory.mktemp("logs"))


@pytest.fixture(scope="module")
def boards(logs: Path) -> list[Leaderboard]:
    return leaderboards([logs], how=Resampling(draws=100))


def printed(table: Table) -> list[str]:
    """The lines of a table on a terminal as wide as it likes, without headings and rules."""
    console = Console(file=io.StringIO(), width=1000, highlight=False)
    table.show_header = False
    console.print(table)
    assert isinstance(console.file, io.StringIO)
    lines = console.file.getvalue().splitlines()
    return [line for line in lines if line.strip(" ─╶╴")]


def assert_same_cells(view: TableView, table: Table) -> None:
    lines = printed(table)
    assert len(view.rows) == len(lines) > 0
    for row, line in zip(view.rows, lines, strict=True):
        assert len(row) == len(view.columns)
        # The terminal aligns cells with blanks; a cell's own blanks stay.
        assert "".join("".join(cell.text for cell in row).split()) == "".join(line.split())


@pytest.mark.parametrize("name", TABLES)
def test_the_cells_are_those_of_the_terminal(boards: list[Leaderboard], name: str) -> None:
    tables = [table for board in boards if (table := TABLES[name](board)) and table.row_count]
    assert tables
    for table in tables:
        assert_same_cells(table_view(table, "t", "A table"), table)


def test_comparisons_too(logs: Path) -> None:
    comparison = compare([logs], how=Resampling(draws=100))
    [one] = comparison.benchmarks
    for table in (
        agreement_table(one, 0.95, wide=True),
        price_table(one.logs, wide=True),
        judge_table(one.logs, 0.95, wide=True),
    ):
        assert_same_cells(table_view(table, "t", "A table"), table)


def test_a_leaderboards_columns(boards: list[Leaderboard]) -> None:
    [board] = [board for board in boards if board.protocol == "seal"]
    view = table_view(rows_table(board, wide=True), "t", "Ranking")
    found = {column.title: column.numeric for column in view.columns}
    assert found == {
        **{"#": True, "Model": False, "Borda": True, "95% interval": True, "Ranks": True},
        **{"P(first)": True, "Native": True, "W–L–T": True, "Unscored": True},
    }
    # a is first in three items and second in one: (3 × 1 + ½) / 4; q1 and q2 change the others.
    assert next([cell.text for cell in row][:3] for row in view.rows) == ["1", "a", "0.875"]
    assert [row[1].sort for row in view.rows] == ["a", "b", "c"]
    assert view.rows[0][2].sort == 0.875


def test_headings_that_occur_twice_are_named_apart() -> None:
    table = Table("#", "Model", "ρ", "95%", "τ", "95%", "Un-\nscored", "Bradley–\nTerry", "#")
    assert [column.title for column in table_view(table, "t", "").columns] == [
        *("#", "Model", "ρ", "ρ 95%", "τ", "τ 95%", "Unscored", "Bradley–Terry"),
        "Bradley–Terry #",
    ]


@pytest.mark.parametrize(
    ("texts", "numeric", "keys"),
    [
        (["0.5", "–", "1,200"], True, [0.5, None, 1200]),
        (["none", "–", "Kept"], False, ["none", None, "kept"]),
        # A name that looks like a number among numbers makes no number of a word.
        (["1", "two"], False, ["1", "two"]),
        (["", "0.25"], True, [None, 0.25]),
    ],
)
def test_keys(texts: list[str], numeric: bool, keys: list[object]) -> None:
    table = Table()
    table.add_column("Gap", justify="right")
    for text in texts:
        table.add_row(text)
    view = table_view(table, "t", "")
    assert view.columns[0].numeric is numeric
    assert [row[0].sort for row in view.rows] == keys


def test_names_are_never_numbers() -> None:
    table = Table()
    table.add_column("Model", overflow="fold")
    table.add_row("4o-mini")
    table.add_row("0.5b")
    assert not table_view(table, "t", "").columns[0].numeric


@pytest.mark.parametrize(
    ("text", "number"),
    [
        *(("0.700–0.812", 0.7), ("-0.28 to 1.11", -0.28), ("+0.12", 0.12), ("1–4", 1)),
        *(("85%", 85), ("$1,234.50", 1234.5), ("12–3–1", 12), ("0.733 (of 12)", 0.733)),
        *(("2.1×", 2.1), ("3 of 12", 3), ("–", None), ("", None), ("no", None), ("2/3 (67%)", 2)),
    ],
)
def test_the_number_in_a_cell(text: str, number: float | None) -> None:
    assert number_in(text) == number


def test_little_less_and_little_more() -> None:
    texts = ["0%", "<1%", "1%", "99%", ">99%", "100%"]
    keys = [number_in(text) for text in texts]
    assert keys == sorted(keys, key=lambda key: key or 0)
    assert len(set(keys)) == 6
    assert number_in("<$0.0001") < 0.0001  # type: ignore[operator]


def test_rules_are_those_of_the_terminal(boards: list[Leaderboard]) -> None:
    kinds = kinds_table(next(board.receipt for board in boards if board.protocol == "seal"))
    view = table_view(kinds, "t", "")
    *parts, [total] = view.bodies
    assert total[0].text == "all"
    assert [row for part in parts for row in part] == list(view.rows[:-1])
    table = Table("Rater")
    for name, ends in (("a", False), ("b", True), ("c", True), ("d", True)):
        table.add_row(name, end_section=ends)
    # The last row has nothing below it.
    assert table_view(table, "t", "").rules == (2, 3)
    found = [[row[0].text for row in body] for body in table_view(table, "t", "").bodies]
    assert found == [["a", "b"], ["c"], ["d"]]


@pytest.mark.parametrize(("rows", "filterable"), [(FILTERABLE - 1, False), (FILTERABLE, True)])
def test_long_tables_can_be_filtered(rows: int, filterable: bool) -> None:
    table = Table("Model")
    for row in range(rows):
        table.add_row(f"m{row}")
    assert table_view(table, "t", "").filterable is filterable
