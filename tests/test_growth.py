"""The table of how verbs grow: every verb that reads logs is in it, and it is what was measured."""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks import scale
from benchmarks.made.logs import write_all
from tests.harness import ROOT
from tiebreak.cli.verbs import main

READ = {"logs", "paths", "ranking_logs", "files", "scores"}
"""Arguments of verbs that are logs, or tables beside them."""
NOT_MEASURED = {"score-code", "vote"}
"""One runs programs of others, one waits for people."""


def table() -> tuple[list[int], list[list[str]]]:
    """The sizes and the rows of the page."""
    page = (ROOT / "docs/growth.md").read_text(encoding="utf-8")
    written = page.partition(scale.MARKS[0])[2].partition(scale.MARKS[1])[0].strip()
    first, _, lines = written.partition("\n\n")
    sizes = [int(size.replace(",", "")) for size in re.findall(r"[\d,]+", first)]
    return sizes, [line.strip("| ").split(" | ") for line in lines.splitlines()]


def test_every_verb_that_reads_logs_is_measured() -> None:
    reading = {
        name
        for name, command in main.commands.items()
        if READ & {param.name for param in command.params if param.param_type_name == "argument"}
    }
    assert {row.partition(",")[0] for row in scale.ROWS} == reading - NOT_MEASURED


def test_the_page_has_the_rows_of_the_script_and_none_grows_too_fast() -> None:
    sizes, (heads, _, *lines) = table()
    assert len(sizes) == len(scale.SIZES)
    assert tuple(heads) == scale.HEADS
    assert [line[0] for line in lines] == [*scale.ROWS]
    for line in lines:
        _, seconds, steps, _, peaks, _ = line
        assert len(seconds.split(" / ")) == len(peaks.split(" / ")) == len(sizes)
        assert float(steps.split(" / ")[-1]) <= scale.STEEPEST, line


def test_growth_is_that_of_powers() -> None:
    sizes = [10, 20, 80]
    assert scale.exponents(sizes, [3 * n**1.5 for n in sizes]) == pytest.approx([1.5, 1.5])
    assert scale.cells("rank", sizes, [1, 2, 8], [0.1, 0.1, 0.2]) == [
        "rank",
        "1.0 / 2.0 / 8.0",
        "1.00 / 1.00",
        "100.0",
        "100 / 100 / 200",
        "0.00 / 0.50",
    ]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("growth") / "logs"
    write_all(folder, 12)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("row", scale.ROWS)
def test_every_row_runs(row: str, folder: Path, tmp_path: Path) -> None:
    done = CliRunner().invoke(main, scale.arguments(row, folder, tmp_path / "out"))
    assert done.exit_code == 0, (done.output, done.exception)


@pytest.mark.slow
def test_time_and_memory_are_those_of_the_verb(folder: Path) -> None:
    seconds, peak = scale.spent("rank", folder)
    assert 0.1 < seconds < 60
    assert 0.02 < peak < 1
