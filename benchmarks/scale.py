"""How the verbs grow with the number of items: CPU seconds, memory, exponents.

Run `OPENBLAS_NUM_THREADS=1 python benchmarks/scale.py` (two minutes), or `make bench`. `--full`
adds 4,000 and 14,000 items, the size of MMLU (half an hour). There are 8 models with answers of
1,500 characters, a SEAL and a full_pairwise log of a planted judge, votes with 110 characters of
reasoning, a quarter of the matches judged in both orders, and 6 kB of transcript for every call.
Time grows as items to the power of the exponent, taken between the two largest sizes.

To be reached at 14,000 items: `rank` within 60 s of CPU and 2 GB; reading a SEAL log of 100 items
within 2 × what zip and JSON take for its samples; the scorer's metrics for 1,000 items and all
pairs of 100 models within 30 s of CPU for the five passes of a run; `estimate` of three protocols
for 1,000 items and 100 models within 20 s of CPU.
"""

import sys
from pathlib import Path

sys.path.pop(0)  # of a script its own folder, whose statistics.py would stand for Python's
sys.path.insert(0, str(Path(__file__).parents[1]))

import argparse
import json
import math
import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations
from random import Random
from zipfile import ZipFile

from inspect_ai.scorer import SampleScore
from rich.console import Console
from rich.table import Table

from benchmarks.made.logs import DISTINCT, pool, rankings, words
from tests.ranking_logs.builders import item, match
from tests.scorers.tournament import planted_contest
from tiebreak.estimate.cost import read_protocols
from tiebreak.estimate.estimate import Judges, estimate
from tiebreak.estimate.tokens import token_counter
from tiebreak.ranking_logs import read_ranking_logs
from tiebreak.scorers.ballots import ballots_text
from tiebreak.scorers.ranking import borda, borda_stderr, least_squares, score_ballots, spread

VERBS = ("rank", "compare", "stability", "write-back", "candidates", "diagnose", "estimate")
BOUNDS = {"rank": (60.0, 2.0)}  # CPU seconds and GB, at 14,000 items


def spent(verb: str, logs: Path, candidates: Path) -> tuple[float, float]:
    """CPU seconds and peak GB of a verb, in a process of its own."""
    where = candidates if verb in ("candidates", "diagnose", "estimate") else logs
    into = ["--into", str(candidates), "--dry-run"] if verb == "write-back" else []
    into += ["--judge", "openai/gpt-5"] if verb == "estimate" else []
    command = [sys.executable, "-c", "from tiebreak.cli.verbs import main; main()", verb]
    process = subprocess.Popen(
        [*command, str(where), *into], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    assert process.stderr
    said = process.stderr.read().decode()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{verb} failed: {said}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1e6


def cpu(work: Callable[[], object]) -> float:
    """CPU seconds, the least of three times."""
    found = []
    for _ in range(3):
        began = time.process_time()
        work()
        found.append(time.process_time() - began)
    return min(found)


def reading(log: Path) -> tuple[float, float, float]:
    """CPU seconds to read a log; to unzip samples and parse their JSON; or only stores."""

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
    """CPU seconds of the scorer's metrics, once, for results of all pairs."""
    names = [f"maker/model-{number}" for number in range(n_models)]
    matches = [match(one, other, 0.3) for one, other in combinations(names, 2)]
    ballots = item("q", matches, groups=[(name,) for name in names])
    stored = ballots_text(ballots.model_copy(update={"placed_by": "win_rate"}))
    score = score_ballots(stored, names)
    scores = [SampleScore(score=score, sample_id=number) for number in range(n_items)]
    metrics = (spread(), borda(), borda_stderr(), least_squares())
    began = time.process_time()
    for metric in metrics:
        metric(scores)  # type: ignore[arg-type]
    return time.process_time() - began


def estimating(n_models: int, n_items: int = 1000) -> float:
    """CPU seconds of an estimate of three protocols, of which one asks about all pairs."""
    names = [f"maker/model-{number}" for number in range(n_models)]
    random = Random(0)
    texts = [words(random, 1500) for _ in range(DISTINCT)]
    one = planted_contest(dict.fromkeys(names, 0.0))
    contests = [
        replace(
            one,
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


def exponent(sizes: Sequence[int], seconds: Sequence[float]) -> str:
    """Of the growth between the two largest sizes."""
    if len(sizes) < 2:
        return "–"
    growth = math.log(seconds[-1] / seconds[-2]) / math.log(sizes[-1] / sizes[-2])
    return f"{growth:.2f}"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--full", action="store_true", help="4,000 and 14,000 items as well")
    parser.add_argument("--sizes", type=int, nargs="+", help="numbers of items")
    parser.add_argument("--verbs", nargs="+", choices=VERBS, default=VERBS)
    parser.add_argument("--keep", type=Path, help="write logs here, and take those that are there")
    given = parser.parse_args()
    sizes = given.sizes or [100, 250, 1000, *((4000, 14000) if given.full else ())]
    table = Table("items", *given.verbs, title="CPU seconds, GB at the peak")
    found: dict[str, list[float]] = {verb: [] for verb in given.verbs}
    missed = False
    console = Console(width=110)
    with tempfile.TemporaryDirectory() as temporary:
        for size in sizes:
            folder = (given.keep or Path(temporary)) / str(size)
            if not folder.exists():
                rankings(folder / "rankings", pool(folder / "pool", size))
            cells = []
            for verb in given.verbs:
                seconds, peak = spent(verb, folder / "rankings", folder / "pool")
                found[verb].append(seconds)
                most = BOUNDS.get(verb, (math.inf, math.inf)) if size == 14000 else (math.inf,) * 2
                missed |= seconds > most[0] or peak > most[1]
                cells.append(f"{seconds:.1f} s {peak:.2f} GB")
            table.add_row(f"{size:,}", *cells)
        table.add_row("exponent", *(exponent(sizes, found[verb]) for verb in given.verbs))
        console.print(table)
        log = (given.keep or Path(temporary)) / str(sizes[0]) / "rankings" / "seal.eval"
        whole, samples, stores = reading(log)
        missed |= whole > 2 * samples
        console.print(
            f"Reading a SEAL log of {sizes[0]} items: {whole:.2f} s, {whole / samples:.1f} × zip "
            f"and JSON of its samples (bound 2), {whole / stores:.1f} × of their stores alone"
        )
    passes = {n: metric_pass(n) for n in (8, 30, 100)}
    missed |= 5 * passes[100] > 30
    console.print(
        "The scorer's metrics, full_pairwise, 1,000 items, five passes: "
        + ", ".join(f"{5 * seconds:.1f} s for {n} models" for n, seconds in passes.items())
        + " (bound 30)"
    )
    asked = {n: estimating(n) for n in (8, 30, 100)}
    missed |= asked[100] > 20
    console.print(
        "`estimate` of round_robin, seal and full_pairwise, 1,000 items: "
        + ", ".join(f"{seconds:.1f} s for {n} models" for n, seconds in asked.items())
        + f" (bound 20), models to the power of {exponent([*asked], [*asked.values()])}"
    )
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
