"""Savings and losses of sparse peer review, and CPU time of the report of a peer review.

Run `OPENBLAS_NUM_THREADS=1 python benchmarks/peer_review.py` (some six minutes), or `make bench`.
`--quick` runs a fifth of the pools. There are no bounds: the tables help to choose the mode.

Panels of N planted models review each other on 200 items. The models' qualities have sd 0.2, the
answers of one model sd 1, and a reviewer's error on an answer sd 1; every model adds 0.5 to its own
answers. ρ is Spearman's, of the ranking by mean Kemeny–Young rank. In full mode every reviewer sees
all N answers; in sparse mode it sees some, with the same errors.
"""

import sys
from pathlib import Path

sys.path.pop(0)  # the script's own folder, whose statistics.py would hide Python's
sys.path.insert(0, str(Path(__file__).parents[1]))

import argparse
import tempfile
import time
from collections.abc import Callable
from random import Random
from statistics import fmean, stdev
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from tests.analysis.peers.builders import reviews
from tests.ranking_logs.builders import write_log
from tiebreak.analysis.peers.review import peer_report
from tiebreak.rankers import aggregate_items, mean_rank, review_graph, spearman
from tiebreak.ranking_logs.read import read_ranking_logs

FloatArray = NDArray[np.float64]

ITEMS, SPREAD, ERROR, SELF = 200, 0.2, 1.0, 0.5
DEGREES = {6: (3,), 8: (3, 5), 16: (3, 6), 30: (3, 6)}


def planted(n: int, pool: int) -> tuple[FloatArray, FloatArray]:
    """Draw n models' qualities, and how reviewers read their answers: (items, reviewer, model)."""
    generator = np.random.default_rng((2026, n, pool))
    qualities = generator.normal(0, SPREAD, n)
    answers = qualities + generator.normal(0, 1, (ITEMS, n))
    read = answers[:, None, :] + generator.normal(0, ERROR, (ITEMS, n, n)) + SELF * np.eye(n)
    return qualities, read


def sparse(read: FloatArray, degree: int, pool: int) -> FloatArray:
    """Return readings with NaN for the answers that the item's review graph does not show."""
    n = read.shape[1]
    shown = np.full(read.shape, np.nan)
    for item in range(len(read)):
        graph = review_graph(n, degree, range(n), Random(f"{pool} {item}"))
        for reviewer, columns in enumerate(graph):
            shown[item, reviewer, list(columns)] = read[item, reviewer, list(columns)]
    return shown


def agreement_table(n_pools: int) -> Table:
    table = Table("N", "degree", "answers read", "with full", "with truth", "… by average", "full")
    table.title = f"ρ of sparse and full mode, {ITEMS} items, {n_pools} pools (± standard error)"
    for n, degrees in DEGREES.items():
        found: dict[int, list[tuple[float, ...]]] = {degree: [] for degree in degrees}
        for pool in range(n_pools):
            qualities, read = planted(n, pool)
            full = macro(read)
            for degree in degrees:
                part = sparse(read, degree, pool)
                by_kemeny, by_average = macro(part), macro(part, "average")
                pairs = [
                    (full, by_kemeny),
                    *((-qualities, x) for x in (by_kemeny, by_average, full)),
                ]
                found[degree].append(tuple(spearman(*pair).value for pair in pairs))
        for degree, rows in found.items():
            cells = map(_mean, zip(*rows, strict=True))
            table.add_row(str(n), str(degree), f"{degree / n:.0%}", *cells)
    return table


def macro(scores: FloatArray, method: str = "kemeny_young") -> FloatArray:
    """Mean over items of each model's rank in the item's consensus."""
    return mean_rank(aggregate_items(-scores, method))


def speed_table() -> Table:
    table = Table("items × reviewers × models", "reading the log", "the report", "ratio")
    table.title = "Report of a peer review, CPU seconds"
    for n_items, n in ((1000, 8), (200, 16)):
        with tempfile.TemporaryDirectory() as folder:
            log = _log(Path(folder) / "peers.eval", n_items, n)
            reading = _cpu(read_ranking_logs, [log])
            report = _cpu(peer_report, [log]) - reading
        table.add_row(
            f"{n_items:,} × {n} × {n}", f"{reading:.1f}", f"{report:.1f}", f"{report / reading:.1f}"
        )
    return table


def _log(path: Path, n_items: int, n: int) -> Path:
    names = "abcdefghijklmnopqrstuvwxyz"[:n]
    _, read = planted(n, 0)
    orders = ["".join(names[c] for c in np.argsort(-row)) for row in read.reshape(-1, n)]
    items = [
        reviews(
            f"q{item}",
            {name: orders[(item % ITEMS) * n + number] for number, name in enumerate(names)},
        )
        for item in range(n_items)
    ]
    return write_log(path, items)


def _cpu(work: Callable[..., Any], *arguments: Any) -> float:
    began = time.process_time()
    work(*arguments)
    return time.process_time() - began


def _mean(values: tuple[float, ...]) -> str:
    error = stdev(values) / len(values) ** 0.5 if len(values) > 1 else float("nan")
    return f"{fmean(values):.3f} ± {error:.3f}"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="a fifth of the pools")
    console = Console(width=100)
    console.print(agreement_table(2 if parser.parse_args().quick else 10))
    console.print(speed_table())
    return 0


if __name__ == "__main__":
    sys.exit(main())
