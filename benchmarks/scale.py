"""CPU time and memory of the verbs that read logs, and how they grow with the number of items.

Run `OPENBLAS_NUM_THREADS=1 python benchmarks/scale.py --out docs/growth.md` (ten minutes), or
`make bench`. `--full` goes to 14,000 items, the size of MMLU. The logs are those of
`benchmarks/made/logs.py`: 8 models, a SEAL and a full_pairwise log of the same items, stars, and a
peer review. Every row of ROWS runs in a process of its own; time and memory grow as items to the
power of the exponent, taken between one size and the next.

It exits with 1 if time or memory of a row grows with an exponent over 1.1 between the two largest
sizes, or if one of these is missed: `rank` of 14,000 items within 60 s of CPU and 2 GB; reading
a SEAL log of the least size within 2 × what zip and JSON take for its samples; the scorer's metrics
for 1,000 items and all pairs of 100 models within 30 s of CPU for the five passes of a run;
`estimate` of three protocols for 1,000 items and 100 models within 20 s of CPU.
"""

import sys
from pathlib import Path

sys.path.pop(0)  # the script's own folder, whose statistics.py would hide Python's
sys.path.insert(0, str(Path(__file__).parents[1]))

import argparse
import json
import math
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations, pairwise
from random import Random
from zipfile import ZipFile

from inspect_ai.scorer import SampleScore
from rich.console import Console
from rich.table import Table

from benchmarks.made.logs import DISTINCT, words, write_all
from tests.ranking_logs.builders import item, match
from tests.scorers.tournament import planted_contest
from tiebreak.ranking_logs import read_ranking_logs
from tiebreak.scorers.ballots import ballots_text
from tiebreak.scorers.ranking import (
    borda_by_model,
    least_squares,
    score_ballots,
    spread,
    stderr_by_model,
)
from tiebreak.study.estimate.cost import read_protocols
from tiebreak.study.estimate.dry_judge import token_counter
from tiebreak.study.estimate.estimate import Judges, estimate
from tools.marks import renew

INPUTS = ("pool", "lm_eval", "rankings", "stars", "reviews", "replays", "order", "pairs")
ROWS = {
    "candidates": "{pool}",
    "candidates, lm-eval": "{lm_eval}",
    "diagnose": "{pool}",
    "estimate": "{pool} --judge openai/gpt-5",
    "canary": "{pool} --judge openai/gpt-5 --estimate",
    "rank": "{rankings}",
    "rank, stars": "{stars}",
    "compare": "{rankings}",
    "stability": "{rankings}",
    "peers": "{reviews}",
    "align": "{reviews} --human {order}.csv",
    "align, a judge": "{rankings} --human {order}.csv",
    "calibrate": "{rankings} --human {pairs}.csv",
    "calibrate, stars": "{stars} --human {stars}.csv",
    "contamination": "{replays} --baseline ours",
    "report": "{rankings} --output {out}",
    "publish": "{rankings} --dry-run --out {out}",
    "pairs": "{rankings} --any-order --out {out}.parquet",
    "write-back": "{rankings} --into {pool} --dry-run",
    "aggregate": "{rankings}",
    "csd": "{pool}.parquet --tiers 10",
}
"""Command lines by name: a verb (and its input) and its arguments; {out} is a new folder."""

SIZES = (250, 1000, 4000)
STEEPEST = 1.1
BOUNDS = {"rank": (60.0, 2.0)}  # CPU seconds and GB, at 14,000 items
MARKS = ("<!-- written by benchmarks/scale.py -->", "<!-- end -->")
HEADS = ("verb", "CPU, s", "exponents", "ms an item more", "peak, MB", "exponents")


# A small process starts the verb, because a child's peak memory includes that of its parent.
WATCH = """
import resource, subprocess, sys
done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime, used.ru_maxrss / 1e6)
sys.exit(done.returncode)
"""
VERB = "from tiebreak.cli.verbs import main; main()"


def arguments(row: str, folder: Path, out: Path) -> list[str]:
    """The arguments of `tiebreak` for a row of `ROWS`; `out` must not exist."""
    places = {name: str(folder / name) for name in INPUTS} | {"out": str(out)}
    return [row.partition(",")[0], *(word.format(**places) for word in ROWS[row].split())]


def spent(row: str, folder: Path) -> tuple[float, float]:
    """Run a row of `ROWS`; returns CPU seconds and peak GB."""
    with tempfile.TemporaryDirectory() as out:
        command = [sys.executable, "-c", VERB, *arguments(row, folder, Path(out) / "out")]
        watched = [sys.executable, "-c", WATCH, *command]
        done = subprocess.run(watched, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{row} failed: {done.stderr}")
    seconds, peak = map(float, done.stdout.split())
    return seconds, peak


def cpu(work: Callable[[], object]) -> float:
    """CPU seconds, the minimum of three runs."""
    seconds = []
    for _ in range(3):
        began = time.process_time()
        work()
        seconds.append(time.process_time() - began)
    return min(seconds)


def reading(log: Path) -> tuple[float, float, float]:
    """CPU seconds to read a log, to unzip and parse its samples, and to unzip and parse stores."""

    def texts() -> list[bytes]:
        with ZipFile(log) as held:
            return [held.read(name) for name in held.namelist() if name.startswith("samples/")]

    stores = [json.dumps(json.loads(text)["store"]) for text in texts()]
    return (
        cpu(lambda: read_ranking_logs([log])),
        cpu(lambda: [json.loads(text) for text in texts()]),
        cpu(texts) + cpu(lambda: [json.loads(text) for text in stores]),
    )


def metric_pass(n_models: int, n_items: int = 1000) -> float:
    """CPU seconds to compute the scorer's metrics once, for matches of all pairs."""
    names = [f"maker/model-{number}" for number in range(n_models)]
    matches = [match(first, second, 0.3) for first, second in combinations(names, 2)]
    ballots = item("q", matches, groups=[(name,) for name in names])
    stored = ballots_text(ballots.model_copy(update={"placed_by": "win_rate"}))
    score = score_ballots(stored, names)
    scores = [SampleScore(score=score, sample_id=number) for number in range(n_items)]
    metrics = (spread(), borda_by_model(), stderr_by_model(), least_squares())
    began = time.process_time()
    for metric in metrics:
        metric(scores)  # type: ignore[arg-type]
    return time.process_time() - began


def estimating(n_models: int, n_items: int = 1000) -> float:
    """CPU seconds to estimate three protocols, one of which asks about all pairs."""
    names = [f"maker/model-{number}" for number in range(n_models)]
    random = Random(0)
    texts = [words(random, 1500) for _ in range(DISTINCT)]
    contest = planted_contest(dict.fromkeys(names, 0.0))
    contests = [
        replace(
            contest,
            item_id=str(n),
            answers={name: f"{texts[(n + 7 * k) % DISTINCT]} {k}" for k, name in enumerate(names)},
        )
        for n in range(n_items)
    ]
    variants = read_protocols("round_robin,seal,full_pairwise")
    judge = Judges("openai/gpt-5")
    began = time.process_time()
    estimate(contests, variants, judge, token_counter(list(judge.prices)))
    return time.process_time() - began


def exponents(sizes: Sequence[int], values: Sequence[float]) -> list[float]:
    """Exponents of the growth from each size to the next."""
    return [
        math.log(value / before) / math.log(size / smaller)
        for (smaller, size), (before, value) in zip(pairwise(sizes), pairwise(values), strict=True)
    ]


def cells(
    row: str, sizes: Sequence[int], seconds: Sequence[float], peaks: Sequence[float]
) -> list[str]:
    """The cells of a row of the table."""
    return [
        row,
        " / ".join(f"{value:.1f}" for value in seconds),
        " / ".join(f"{value:.2f}" for value in exponents(sizes, seconds)),
        f"{1000 * (seconds[-1] - seconds[-2]) / (sizes[-1] - sizes[-2]):.1f}",
        " / ".join(f"{1000 * value:.0f}" for value in peaks),
        " / ".join(f"{value:.2f}" for value in exponents(sizes, peaks)),
    ]


def grown(rows: Sequence[str], sizes: Sequence[int], kept: Path) -> tuple[list[list[str]], bool]:
    """Measure the rows of the table; returns them, and whether one misses a bound."""
    spent_by_row: dict[str, list[tuple[float, float]]] = {row: [] for row in rows}
    for size in sizes:
        folder = kept / str(size)
        if not folder.exists():
            write_all(folder, size)
        for row in rows:
            spent_by_row[row].append(spent(row, folder))
    missed, lines = False, []
    for row, measured in spent_by_row.items():
        seconds, peaks = zip(*measured, strict=True)
        lines.append(cells(row, sizes, seconds, peaks))
        steepest = max(exponents(sizes, values)[-1] for values in (seconds, peaks))
        most = BOUNDS.get(row, (math.inf, math.inf)) if sizes[-1] == 14000 else (math.inf,) * 2
        missed |= steepest > STEEPEST or seconds[-1] > most[0] or peaks[-1] > most[1]
    return lines, missed


def other_bounds(log: Path, size: int) -> Iterator[tuple[str, bool]]:
    """Measure the other bounds; yields a sentence about each, and whether it is missed."""
    seconds, samples, stores = reading(log)
    yield (
        f"Reading a SEAL log of {size} items: {seconds:.2f} s, {seconds / samples:.1f} × zip and "
        f"JSON of its samples (bound 2), {seconds / stores:.1f} × of their stores alone",
        seconds > 2 * samples,
    )
    passes = {n: metric_pass(n) for n in (8, 30, 100)}
    yield (
        "The scorer's metrics, full_pairwise, 1,000 items, five passes: "
        + ", ".join(f"{5 * seconds:.1f} s for {n} models" for n, seconds in passes.items())
        + " (bound 30)",
        5 * passes[100] > 30,
    )
    asked = {n: estimating(n) for n in (8, 30, 100)}
    power = exponents([*asked], [*asked.values()])[-1]
    yield (
        "`estimate` of round_robin, seal and full_pairwise, 1,000 items: "
        + ", ".join(f"{seconds:.1f} s for {n} models" for n, seconds in asked.items())
        + f" (bound 20), models to the power of {power:.2f}",
        asked[100] > 20,
    )


def markdown(sizes: Sequence[int], lines: Sequence[Sequence[str]]) -> str:
    """The table in Markdown."""
    table = [HEADS, ["---"] * len(HEADS), *lines]
    rows = "\n".join(f"| {' | '.join(line)} |" for line in table)
    return f"Items: {' / '.join(f'{size:,}' for size in sizes)}.\n\n{rows}"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--full", action="store_true", help="1,000, 4,000 and 14,000 items")
    parser.add_argument("--sizes", type=int, nargs="+", help="numbers of items, two or more")
    parser.add_argument("--rows", nargs="+", choices=ROWS, default=[*ROWS])
    parser.add_argument("--keep", type=Path, help="write logs here, and take those that are there")
    parser.add_argument("--out", type=Path, help="page to write the table into")
    given = parser.parse_args()
    sizes = given.sizes or ((1000, 4000, 14000) if given.full else SIZES)
    console = Console(width=130)
    with tempfile.TemporaryDirectory() as temporary:
        kept = given.keep or Path(temporary)
        lines, missed = grown(given.rows, sizes, kept)
        table = Table(*HEADS, title=" / ".join(f"{size:,}" for size in sizes) + " items")
        for line in lines:
            table.add_row(*line)
        console.print(table)
        if given.out:
            renew(given.out, markdown(sizes, lines), *MARKS)
        for sentence, is_missed in other_bounds(
            kept / str(sizes[0]) / "rankings" / "seal.eval", sizes[0]
        ):
            console.print(sentence)
            missed |= is_missed
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
