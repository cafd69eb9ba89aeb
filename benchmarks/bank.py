"""Cost of importing a bank of the paper's size, 220,000 questions, into SQLite, with bounds.

Run `python benchmarks/bank.py`. It writes 220,000 made-up questions (two thirds Chinese, statements
of 75,000 raw questions, as in LLMEval-Fair, table 6; some of them nearly twice) as JSON lines into
a temporary folder, imports them in a process of its own, and prints CPU time and the largest
resident set. Exits with 1 when a bound is missed:

- below 60 s of CPU time,
- below 500 MB.
"""

import sys
from pathlib import Path

sys.path.pop(0)  # the script's own folder, whose statistics.py would hide Python's
sys.path.insert(0, str(Path(__file__).parents[1]))

import json
import resource
import subprocess
import tempfile

from rich.console import Console
from rich.table import Table

from benchmarks.made.questions import N_QUESTIONS, questions

SECONDS_BOUND = 60.0
MEGABYTES_BOUND = 500.0


def write(path: Path) -> None:
    with path.open("w", encoding="utf-8") as file:
        for row in questions():
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


def measured(folder: Path, file: Path) -> tuple[float, float, dict[str, object]]:
    """Import a file in a process of its own; returns CPU seconds, peak megabytes and the report."""
    code = "from tiebreak.cli.verbs import main; main()"
    arguments = ["bank", "import", str(file), "--bank", str(folder / "bank.db"), "--json"]
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True
    )
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1_024, json.loads(done.stdout)


def main() -> int:
    """Measure, print the table, return the exit code."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file = folder / "questions.jsonl"
        write(file)
        size = file.stat().st_size / 1e6
        seconds, megabytes, report = measured(folder, file)
    fine = seconds < SECONDS_BOUND, megabytes < MEGABYTES_BOUND
    near = report["near"]
    assert isinstance(near, dict)
    table = Table(title=f"bank import, {N_QUESTIONS:,} questions in JSON lines ({size:.0f} MB)")
    for column in ("", "measured", "bound", " "):
        table.add_column(column, justify="left" if not column else "right")
    verdicts = ["ok" if ok else "MISSED" for ok in fine]
    table.add_row("CPU time", f"{seconds:.1f} s", f"< {SECONDS_BOUND:.0f} s", verdicts[0])
    table.add_row("resident set", f"{megabytes:.0f} MB", f"< {MEGABYTES_BOUND:.0f} MB", verdicts[1])
    table.add_row("imported", f"{report['n_imported']:,}", "", "")
    table.add_row("near duplicates", f"{near['total']:,}", "", "")
    Console(width=120).print(table)
    return 0 if all(fine) else 1


if __name__ == "__main__":
    sys.exit(main())
