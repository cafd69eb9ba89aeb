"""What a bank of the paper's size costs: 220,000 questions imported into SQLite, with bounds.

Run `python benchmarks/bank.py`. It writes 220,000 made-up questions (two thirds Chinese, statements
of 75,000 raw questions, as in LLMEval-Fair, table 6; some of them nearly twice) as JSON lines into
a temporary folder, imports them in a process of its own, and prints CPU time and the largest
resident set. Exits with 1 when a bound is missed:

- below 60 s of CPU time,
- below 500 MB.
"""

import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path.pop(0)  # of a script its own folder, whose statistics.py would stand for Python's
sys.path.insert(0, str(Path(__file__).parents[1]))

import json
import random
import resource
import subprocess
import tempfile
from collections.abc import Iterator

from rich.console import Console
from rich.table import Table

N_QUESTIONS = 220_000
N_RAW = 75_000
NEARLY = 0.03
"""Share of a third of the raw questions that repeat an earlier one with a character more."""

SECONDS_BOUND = 60.0
MEGABYTES_BOUND = 500.0

_SUBJECTS = ("Medicine", "Law", "Economics", "Engineering", "Education", "History", "Literature")
_ASKED = (
    "{} Is it correct to place the answer “{}” in the provided space?",
    "{}在空格处填入“{}”，对吗？",
)
_SYLLABLES = (
    *("an", "be", "cor", "di", "el", "fro", "gen", "hu", "in", "jo", "ka", "lim", "mo", "nu", "or"),
    *("pra", "qui", "ren", "sta", "tor", "un", "ver", "wa", "zy"),
)
_WORDS = ["".join(random.Random(k).choices(_SYLLABLES, k=1 + k % 4)) for k in range(4_000)]
_FIRST, _SIGNS = 0x4E00, 3_000


def questions(seed: int = 0) -> Iterator[dict[str, object]]:
    """The rows of the file: each raw question gives two to four statements with one key."""
    rng = random.Random(seed)
    earlier: list[tuple[str, list[str]]] = []
    made = 0
    for raw in range(N_RAW):
        chinese = raw % 3 != 0
        n = min(4, max(2, round((N_QUESTIONS - made) / (N_RAW - raw))))
        stem, fills = _stem(rng, chinese), [_fill(rng, chinese) for _ in range(n)]
        if raw % 3 == 1 and earlier and rng.random() < NEARLY:
            stem, fills = rng.choice(earlier)
            stem = f"{stem[:20]}的{stem[20:]}"
        elif raw % 3 == 1:
            earlier = [*earlier[-999:], (stem, fills)]
        right = rng.randrange(len(fills))
        for option, fill in enumerate(fills):
            made += 1
            yield {
                "category": _SUBJECTS[raw % len(_SUBJECTS)],
                "sub_category": "",
                "raw_uuid": f"raw-{raw}",
                "question_uuid": f"question-{raw}-{option}",
                "dialog": [{"role": "user", "content": _ASKED[chinese].format(stem, fill)}],
                "hint": "true" if option == right else "false",
            }


def _fill(rng: random.Random, chinese: bool) -> str:
    return _stem(rng, chinese)[: 4 if chinese else 12]


def _stem(rng: random.Random, chinese: bool) -> str:
    if chinese:
        return "".join(chr(_FIRST + int(_SIGNS * rng.random() ** 2)) for _ in range(45))
    return " ".join(rng.choices(_WORDS, k=22))


def write(path: Path) -> None:
    with path.open("w", encoding="utf-8") as file:
        for row in questions():
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


def measured(folder: Path, file: Path) -> tuple[float, float, dict[str, object]]:
    """CPU seconds and megabytes of an import in a process of its own, and its report."""
    code = "from tiebreak.cli import main; main()"
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
