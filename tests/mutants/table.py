"""The table of `docs/reference/faults.md`: mutation scores by room and in total."""

from collections.abc import Sequence
from pathlib import Path

from scipy.stats import binomtest

HEAD = ("room", "mutants", "noticed", "score", "95 % interval")
START, END = "<!-- mutants: begin -->\n", "<!-- mutants: end -->"


def table(results: Sequence[tuple[str, bool]], rooms: Sequence[str]) -> str:
    """Return Markdown: mutants noticed in each room, with exact (Clopper–Pearson) intervals.

    `results` are pairs of a mutant's room and whether a test noticed it.
    """
    rows = [(room, [noticed for other, noticed in results if other == room]) for room in rooms]
    rows = [*(row for row in rows if row[1]), ("all", [noticed for _, noticed in results])]
    lines = [HEAD, ["---"] * len(HEAD), *(_cells(name, noticed) for name, noticed in rows)]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def write_table(page: Path, text: str) -> None:
    """Put the table into the page, between its comments `START` and `END`."""
    before, _, rest = page.read_text("utf-8").partition(START)
    page.write_text(f"{before}{START}{text}{END}{rest.partition(END)[2]}", "utf-8")


def _cells(name: str, noticed: Sequence[bool]) -> tuple[str, ...]:
    total, found = len(noticed), sum(noticed)
    if not total:
        return name, "0", "0", "–", "–"
    interval = binomtest(found, total).proportion_ci(0.95, "exact")
    bounds = f"{100 * interval.low:.1f}–{100 * interval.high:.1f} %"
    return name, f"{total}", f"{found}", f"{100 * found / total:.1f} %", bounds
