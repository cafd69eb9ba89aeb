"""CSV is one table with the columns that its page says, or an error that names the tables."""

import re
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

import pytest

from tests.analysis import (
    test_anchored,
    test_votes,
    test_whole_boards,
    test_whole_peers,
    test_whole_stars,
    test_whole_tables,
)
from tests.analysis.test_comparison import Folder, full
from tests.harness import ROOT
from tests.ranking_logs.builders import write_log
from tests.tables.test_matches import written
from tiebreak.analysis.anchored import anchored_boards, labels_needed
from tiebreak.analysis.comparison import compare
from tiebreak.analysis.ranking import rank_logs
from tiebreak.analysis.stability import stability
from tiebreak.analysis.stars import star_report
from tiebreak.analysis.votes import vote_board
from tiebreak.fair import report as fair_sheets
from tiebreak.report import ReportError, csv, sheets

HOW = test_whole_boards.HOW


def rounds(folder: Path) -> Any:
    return rank_logs(test_whole_stars.two_rounds(folder), how=HOW)


def both(folder: Path) -> Any:
    test_whole_boards.seal(folder)
    return rounds(folder)


def parts(folder: Path) -> Any:
    made = Folder(folder)
    made.add(*full(4))
    return stability(made.path, shares=(0.5,), n_seeds=3)


def anchored(folder: Path) -> Any:
    write_log(folder / "log.eval", test_anchored.judged("points", "round_robin"))
    return anchored_boards(folder, test_anchored.votes(range(20)))


def matches(folder: Path) -> Any:
    return [vote_board(written(folder, "m.csv", test_votes.votes()))]


def needed(folder: Path) -> Any:
    write_log(folder / "log.eval", test_anchored.judged("points", "round_robin"))
    return labels_needed(folder, test_anchored.votes(range(20)))


# The verb of a line of the page, the module of sheets, and what makes a finding of that.
ONE: list[tuple[str, str, Callable[[Path], Any]]] = [
    ("`rank`", "leaderboard", test_whole_boards.seal),
    ("`rank`, logs of `stars`", "stars", lambda f: star_report(test_whole_stars.two_rounds(f))),
    ("`rank`, logs of `stars`", "ranking", rounds),
    ("`rank --pair`", "pairs", test_whole_boards.CASES["pairs"]),
    ("`rank --people`", "anchored", anchored),
    ("`rank`, a file of matches", "votes", matches),
    ("`compare`", "comparison", lambda f: compare(test_whole_boards.compared(f), how=HOW)),
    ("`stability`", "stability", parts),
    ("`stability --people`", "labels_needed", needed),
    ("`align`", "alignment", lambda f: test_whole_peers.aligned(f, "abcd")),
    ("`calibrate`", "calibration", test_whole_tables.stars_labelled),
    ("`contamination`", "contamination", lambda f: test_whole_tables.recalled()),
]
SEVERAL: list[tuple[str, Callable[[Path], Any], str]] = [
    ("ranking", both, "2 (leaderboards, star boards)"),
    ("stability", test_whole_boards.CASES["stability"], "2 (parts of the items, run against run)"),
    (
        "star_stability",
        test_whole_stars.whole_stability,
        "5 (samples, --elo, --dates, --against, --causes)",
    ),
]


def test_every_module_with_rows_is_held_here() -> None:
    with_rows = {
        found.name
        for room in (sheets, fair_sheets)
        for found in iter_modules(room.__path__)
        if hasattr(import_module(f"{room.__name__}.{found.name}"), "rows_of")
    }
    assert with_rows == {module for _, module, _ in ONE} | {module for module, *_ in SEVERAL}


def sheets_module(name: str) -> Any:
    room = fair_sheets if name in ("contamination", "star_stability") else sheets
    return import_module(f"{room.__name__}.{name}")


def columns_on_the_page(verb: str) -> str:
    page = (ROOT / "docs" / "reference" / "output.md").read_text(encoding="utf-8")
    [line] = [line for line in page.splitlines() if line.startswith(f"| {verb} |")]
    return ",".join(re.findall(r"`(\w+)`", line.split("|")[3]))


@pytest.mark.slow
@pytest.mark.parametrize(("verb", "module", "make"), ONE, ids=[module for _, module, _ in ONE])
def test_columns_are_those_of_the_page(
    verb: str, module: str, make: Callable[[Path], Any], tmp_path: Path
) -> None:
    rows = sheets_module(module).rows_of(make(tmp_path))
    header, *lines = csv.text(rows).splitlines()
    assert len(lines) >= 1
    # What is named after subjects and baselines is there as often as there are such.
    header = header.replace("law", "SUBJECT").replace("_private", "_BASELINE")
    header = re.sub(r",medicine\w*|,\w+_from_ours", "", header)
    assert header == columns_on_the_page(verb)


@pytest.mark.slow
@pytest.mark.parametrize(("module", "make", "named"), SEVERAL, ids=[case[0] for case in SEVERAL])
def test_several_tables_are_refused_by_name(
    module: str, make: Callable[[Path], Any], named: str, tmp_path: Path
) -> None:
    found = make(tmp_path)
    with pytest.raises(ReportError, match=re.escape(f"CSV is one table, and here are {named}")):
        sheets_module(module).rows_of(found)


def test_without_a_row_or_a_header_there_is_no_table() -> None:
    with pytest.raises(ReportError, match="No row"):
        csv.text([])
    with pytest.raises(ReportError, match=re.escape("here are 0 (none)")):
        csv.one_table({"a": [], "b": []})
