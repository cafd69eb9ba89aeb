"""What a comparison looks like: on terminals of all widths, as JSON and as CSV."""

from pathlib import Path

from rich.cells import cell_len

from tests.analysis.test_comparison import Folder, full, lists
from tests.ranking_logs.builders import call
from tests.report.showing import printed as show
from tiebreak.analysis.comparison import Comparison
from tiebreak.report.sheets.comparison import sheets_of


def printed(comparison: Comparison, width: int) -> str:
    return show(sheets_of(comparison), width)


def test_more_protocols_than_there_is_room_for_go_below(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.add(*full(2))
    labels = [f"protocol_number_{k} " + "x" * k for k in range(12)]
    for label in labels:
        folder.add(*lists(2, "abcd", protocol=label))
    text = printed(folder.compare(), 80)
    assert max(cell_len(row) for row in text.splitlines()) <= 80
    assert text.count("Rank and") == 2
    # One cell for each log and model, and none is lost.
    assert text[text.index("Rank and") :].count("#1 1.00") == 13


def test_money_is_left_out_where_no_price_is_known(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.add(*full(2, calls=[call()]))
    folder.add(*lists(2, "abcd", calls=[call("list")]))
    text = printed(folder.compare(), 120)
    assert "$" not in text
    assert "No price known for j/judge" in text
