"""What a comparison looks like: on terminals of all widths, as JSON and as CSV."""

import csv
from pathlib import Path

import pytest
from rich.cells import cell_len

from tests.analysis.test_comparison import NATIVE, Folder, full, lists
from tests.ranking_logs.builders import by_native, call
from tests.report.showing import printed as show
from tests.report.showing import round_trip
from tiebreak.analysis.comparison import Comparison
from tiebreak.report.csv import text as csv_text
from tiebreak.report.sheets.comparison import data_of, rows_of, sheets_of

MARKUP = "[bold red]x[/]"


def printed(comparison: Comparison, width: int) -> str:
    return show(sheets_of(comparison), width)


def line(text: str, start: str, number: int = 0) -> list[str]:
    # Cells are two blanks apart, at least; sentences may begin a line with a name as well.
    found = [row for row in text.splitlines() if row.startswith(start) and "  " in row]
    return found[number].split()


@pytest.fixture(scope="module")
def comparison(tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    folder = Folder(tmp_path_factory.mktemp("logs"))
    priced = [call(cost=0.02, depth=depth) for depth in range(2)] * 3
    folder.add(*full(12, swapped="bacd", native=NATIVE, calls=priced))
    folder.add(*(by_native(f"q{k}", NATIVE) for k in range(12)))
    folder.add(*lists(12, "bacd", native=NATIVE, calls=[call("list", cost=0.03)]))
    folder.add(*full(12, "abdc", native=NATIVE, calls=priced), repeat=2)
    folder.add(*lists(12, "abcd", native=NATIVE, protocol=MARKUP))
    return folder.compare()


@pytest.mark.parametrize("width", [80, 100, 109, 110, 120, 200])
def test_no_line_is_too_long_and_nothing_is_cut(comparison: Comparison, width: int) -> None:
    text = printed(comparison, width)
    assert max(cell_len(row) for row in text.splitlines()) <= width
    assert "…" not in text
    # Columns that there is no room for are named.
    assert "Items" in text
    for word in ("gsm8k · against full_pairwise · 12 items · 4 models", "95% interval", MARKUP):
        assert word in text


def test_the_tables_by_hand(comparison: Comparison) -> None:
    text = printed(comparison, 120)
    # In both orders together a and b tie: 1.5 1.5 3 4. Against 1.5 1.5 3.5 3.5: 4 / sqrt(4.5 · 4).
    assert line(text, "original")[:2] == ["original", "0.94"]
    # Against 2 1 3 4: 4.5 / sqrt(4.5 · 5); one of two first ones; gain 5/9 over 1/3.
    own = line(text, "listwise")
    assert (own[:2], own[-4:-2], own[-1]) == (["listwise", "0.95"], ["0.50", "1.67×"], "12")
    # The same lists in all items: no noise that could excuse a ρ below 1.
    assert "listwise 0.95 (about 1.00)" in " ".join(text.split())
    # 1 call of 6, 3 cents of 12, 110 tokens of 660.
    assert line(text, "listwise", 1) == [
        *("listwise", "1.0", "0.17", "1.0", "110", "0.17", "$30.00", "0.25"),
    ]
    assert line(text, "listwise", 2) == ["listwise", "12", "1,200", "120", "1,320", "$0.3600"]
    assert line(text, "full_pairwise", 1)[:7] == [
        *("full_pairwise", "6.0", "1.00", "2.0", "660", "1.00", "$120.00"),
    ]
    assert "noise ceiling: full_pairwise · run 2" in text
    assert "noise ceiling: each order" in text


def test_ranks_and_scores_side_by_side(comparison: Comparison) -> None:
    """Table 9 of SEAL, on 80 characters; a and b tie in both orders together: results of ½."""
    text = printed(comparison, 80)
    table = text[text.index("Rank and score") :].splitlines()
    assert table[0].split()[:6] == ["Rank", "and", "score", "original", "listwise", "full_pairwise"]
    assert table[2].split() == ["a", "#1", "1.00", "#2", ".667", "#1", ".833", "#1", "1.00"]
    assert table[3].split() == ["1–1", ".67–.67", ".83–.83", "1–1"]
    assert "run 2" not in "".join(table[:10])
    [one] = round_trip(data_of(comparison))["benchmarks"]
    listwise = next(log for log in one["logs"] if log["name"] == "listwise")
    assert [row["model"] for row in listwise["places"]] == ["b", "a", "c", "d"]
    assert listwise["places"][1] == pytest.approx(
        {"rank": 2, "model": "a", "score": 2 / 3, "lower": 2 / 3, "upper": 2 / 3}
    )


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


def test_protocols_without_matches_are_not_in_the_judge_table(comparison: Comparison) -> None:
    text = printed(comparison, 80)
    table = text[text.index("Judge  ") : text.index("Top-1: the same")]
    assert "full_pairwise" in table
    assert "listwise" not in table
    # In 12 items a and b changed places when the order was swapped, of 6 pairs in each.
    assert "17% of 72" in table


def test_totals_are_printed(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.add(*full(2), *full(2, benchmark="mmlu"))
    folder.add(*lists(2, "bacd"), *lists(2, "abcd", benchmark="mmlu"))
    text = printed(folder.compare(), 80)
    assert "All 2 benchmarks" in text
    together = text[text.index("All 2 benchmarks") :]
    assert line(together, "listwise") == ["listwise", "0.90", "0.83", "1/2", "0.0", "–"]
    # Tables 1 and 4 of SEAL: protocols by benchmark.
    assert line(together, "listwise", 1) == ["listwise", "0.80", "1.00"]
    assert "0.80 to 0.80" in together
    assert line(together, "listwise", -1) == ["listwise", "no", "yes"]
    assert line(together, "full_pairwise", -1) == ["full_pairwise", "–", "–"]


def test_json_holds_the_figures(comparison: Comparison) -> None:
    data = round_trip(data_of(comparison))
    assert (data["format"], data["version"], data["reference"]) == (
        "tiebreak/comparison",
        2,
        "full_pairwise",
    )
    [one] = data["benchmarks"]
    logs = {log["name"]: log for log in one["logs"]}
    assert logs["full_pairwise"]["agreement"] is None
    assert logs["full_pairwise · run 2"]["role"] == "ceiling"
    assert logs["listwise"]["price"]["relative_cost"] == pytest.approx(0.25)
    assert logs["listwise"]["total"]["n_calls"] == 12
    assert logs["listwise"]["judge"]["position"]["rate"] is None
    assert logs["full_pairwise"]["judge"]["flips"]["rate"] == pytest.approx(1 / 6)
    found = comparison.benchmarks[0].logs[1].agreement
    assert found is not None
    assert logs["listwise"]["agreement"]["spearman"]["value"] == found.spearman.value
    assert one["orders"]["n_items"] == 12
    # The reference has no agreement with itself, and the same lists in all items no noise.
    expected = {log["name"]: log["expected"] for log in one["logs"]}
    assert expected["full_pairwise"] is None
    assert expected["listwise"] == pytest.approx(1)


def test_csv_has_a_line_per_log(comparison: Comparison) -> None:
    rows = {row["name"]: row for row in csv.DictReader(csv_text(rows_of(comparison)).splitlines())}
    assert list(rows) == [log.name for log in comparison.benchmarks[0].logs]
    listwise, reference = rows["listwise"], rows["full_pairwise"]
    assert (listwise["benchmark"], listwise["role"], listwise["calls"]) == (
        *("gsm8k", "protocol", "1.0"),
    )
    assert (reference["spearman"], reference["top1"], listwise["first_rate"]) == ("", "", "")
    assert (listwise["n_items"], listwise["n_judged"]) == ("12", "12")
    assert float(reference["flip_rate"]) == pytest.approx(1 / 6)
