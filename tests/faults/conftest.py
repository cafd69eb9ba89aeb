"""The table of faults: printed after the tests, and written where `make faults` keeps it."""

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

HEAD = ("fault", "tried", "survived", "lost", "repeated calls")
START, END = "<!-- faults: begin -->\n", "<!-- faults: end -->"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    rows = list(_rows(terminalreporter))
    if not rows:
        return
    table = "".join(f"| {' | '.join(cells)} |\n" for cells in (HEAD, ["---"] * len(HEAD), *rows))
    terminalreporter.write("\n" + table)
    if page := os.environ.get("TIEBREAK_FAULTS_PAGE"):
        path = Path(page)
        before, _, rest = path.read_text("utf-8").partition(START)
        path.write_text(f"{before}{START}{table}{END}{rest.partition(END)[2]}", "utf-8")


def _rows(reporter: pytest.TerminalReporter) -> Iterator[tuple[str, ...]]:
    tried = [
        value
        for reports in reporter.stats.values()
        for report in reports
        if isinstance(report, pytest.TestReport) and report.when == "call"
        for name, value in report.user_properties
        if name == "tried" and isinstance(value, dict)
    ]
    for row in sorted(tried, key=lambda row: str(row["fault"])):
        repeated = row["repeated_calls"]
        counts = (row["tried"], row["survived"], row["lost"])
        last = "–" if repeated is None else f"{repeated:,}"
        yield str(row["fault"]), *(f"{count:,}" for count in counts), last


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Callable[[int], Path]]:
    """Makes a small disk of so many KiB, or gives it another size."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted: list[int] = []

    def sized(kib: int) -> Path:
        options = f"{'remount,' if mounted else ''}size={kib}k"
        mount = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
        if subprocess.run(mount, capture_output=True, check=False).returncode:
            pytest.skip("only root may mount a small disk")
        mounted.append(kib)
        return folder

    yield sized
    if mounted:
        subprocess.run(["umount", str(folder)], check=True)
