"""Speed of a board of two million votes on 200 models, beside evalica's Bradley–Terry fit.

Run `OPENBLAS_NUM_THREADS=1 python benchmarks/votes.py` (needs the `bench` dependency group; a
minute), or `make bench`. Both read the same Parquet file, each in a process of its own, whose CPU
time and peak memory count. evalica gives scores alone; `tiebreak rank` prints the board: errors,
tests of all 19,900 pairs, tiers and ranks. It exits with 1 when the board takes more than 60 s or
3 GB, or when the two fits differ. `--quick` draws a tenth of the votes.
"""

import sys
from pathlib import Path

sys.path.pop(0)  # the script's own folder, whose statistics.py would hide Python's
sys.path.insert(0, str(Path(__file__).parents[1]))

import argparse
import json
import os
import subprocess
import tempfile
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from rich.console import Console
from rich.table import Table

MODELS, VOTES, ITEMS = 200, 2_000_000, 100_000
MOST_SECONDS, MOST_GIGABYTES = 60.0, 3.0
WINNERS = np.array(["model_a", "model_b", "tie", "tie (bothbad)"])

RANK = "from tiebreak.cli import main; main()"
EVALICA = """
import json, sys
import evalica
import numpy as np
import pyarrow.parquet as pq

table = pq.read_table(sys.argv[1], columns=["model_a", "model_b", "winner"])
a, b, winner = (table.column(name).to_pylist() for name in table.column_names)
outcomes = {"model_a": evalica.Winner.X, "model_b": evalica.Winner.Y}
outcomes = [outcomes.get(word, evalica.Winner.Draw) for word in winner]
scores = evalica.bradley_terry(a, b, outcomes, tolerance=1e-9, limit=1000).scores.map(np.log)
print(json.dumps((scores - scores.mean()).to_dict()))
"""


@dataclass(frozen=True)
class Spent:
    """CPU seconds and peak memory of a process, and what it printed."""

    seconds: float
    gigabytes: float
    printed: str


def write_votes(path: Path, n_votes: int, by: str) -> None:
    """Write votes on models of unequal popularity, a quarter of them ties, as Parquet."""
    rng = np.random.default_rng(0)
    strength, popular = rng.normal(0, 0.8, MODELS), rng.dirichlet(np.full(MODELS, 2.0))
    first = rng.choice(MODELS, n_votes, p=popular)
    second = (first + rng.integers(1, MODELS, n_votes)) % MODELS
    chance, drawn = 1 / (1 + np.exp(strength[second] - strength[first])), rng.random(n_votes)
    won = np.where(drawn < chance, 0, 1)
    winner = np.where(rng.random(n_votes) < 0.25, rng.integers(2, 4, n_votes), won)
    names = np.array([f"model-{number:03}" for number in range(MODELS)])
    items = rng.integers(ITEMS, size=n_votes) if by == "item" else np.arange(n_votes)
    columns: dict[str, Any] = {
        "question_id": [f"{item:032x}" for item in items.tolist()],
        "model_a": names[first],
        "model_b": names[second],
        "winner": WINNERS[winner],
        "judge": [f"arena_user_{user}" for user in rng.integers(300_000, size=n_votes).tolist()],
    }
    pq.write_table(pa.table(columns), path)


def spent(*command: str) -> Spent:
    """Run a command, and measure its CPU time and memory."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        printed = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command[:3])} ended with {process.returncode}")
    return Spent(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1e6, printed)


def main() -> int:
    """Measure, print the table, return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the votes")
    n_votes = VOTES // (10 if parser.parse_args().quick else 1)
    table = Table("votes", "by", "work", "CPU s", "GB", title=f"{MODELS} models")
    missed = False
    with tempfile.TemporaryDirectory() as folder:
        for by in ("vote", "item"):
            path = Path(folder) / f"{by}.parquet"
            # In another process, because a child's peak memory includes that of this one.
            writer = get_context("spawn").Process(target=write_votes, args=(path, n_votes, by))
            writer.start()
            writer.join()
            fit = spent(sys.executable, "-c", EVALICA, str(path))
            board = spent(sys.executable, "-c", RANK, "rank", str(path), "--json")
            for work, took in (("evalica: scores", fit), ("tiebreak rank: board", board)):
                figures = f"{took.seconds:.1f}", f"{took.gigabytes:.2f}"
                table.add_row(f"{n_votes:,}", by, work, *figures)
            rows = json.loads(board.printed)["boards"][0]["rows"]
            theirs = json.loads(fit.printed)
            apart = max(abs(row["strength"]["value"] - theirs[row["model"]]) for row in rows)
            missed |= board.seconds > MOST_SECONDS or board.gigabytes > MOST_GIGABYTES
            missed |= apart > 0.01
    Console(width=100).print(table)
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
