"""Error rates and power of every figure that users see, in simulated worlds with known truth.

Run `OPENBLAS_NUM_THREADS=1 python benchmarks/statistics.py` (some 15 minutes on 2 cores), or `make
bench`. It prints what each figure claims, what was measured (error rates and power) and the Monte
Carlo error, and exits with 1 if a claim is missed. `--only NAME` runs one module of
`benchmarks/claims/`. `--out docs/statistics.csv` writes the measurements to the data file of the
pages, in which the lines of other modules stay; `python -m tools.statistics` then says which
sentences of docs/statistics.md have to be renewed. `--quick` draws a tenth of the worlds, which are
too few to be kept.
"""

import sys
from pathlib import Path

sys.path.pop(0)  # the script's own folder, whose statistics.py would hide Python's
sys.path.insert(0, str(Path(__file__).parents[1]))

import argparse
import multiprocessing
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed

from rich.console import Console
from rich.table import Table

from benchmarks.claims import Claim, measure, modules
from tools.statistics import COLUMNS, Measured, cells, read, write


def run(names: Sequence[str], scale: float, jobs: int) -> Iterator[tuple[str, list[Claim], float]]:
    """Yield each module's name, claims and seconds, in the order in which they finish."""
    # Spawned, because a fork has the locks of BLAS and other libraries without their threads.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=context) as pool:
        waiting = {pool.submit(timed, name, scale): name for name in names}
        for done in as_completed(waiting):
            yield waiting[done], *done.result()


def timed(name: str, scale: float) -> tuple[list[Claim], float]:
    start = time.perf_counter()
    return measure(name, scale), time.perf_counter() - start


def shown(measured: Measured) -> Table:
    """All claims as one table, a section for each module."""
    table = Table(title="figures in worlds whose truth is known")
    for column in COLUMNS:
        table.add_column(column)
    for claims in measured.values():
        for claim in claims:
            table.add_row(*cells(claim))
        table.add_section()
    return table


def main() -> int:
    """Measure, print the table, return the exit code."""
    names = modules()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    worlds = parser.add_mutually_exclusive_group()
    worlds.add_argument("--quick", action="store_true", help="a tenth of the worlds")
    worlds.add_argument("--out", type=Path, help="data file that keeps what was measured")
    parser.add_argument("--only", choices=names, action="append", help="this module (repeatable)")
    parser.add_argument("--jobs", type=int, default=2, help="modules measured at once")
    options = parser.parse_args()
    chosen = options.only or names
    progress, found = Console(stderr=True), {}
    for name, claims, seconds in run(chosen, 0.1 if options.quick else 1.0, options.jobs):
        found[name] = claims
        progress.print(f"{name}: {len(claims)} claims in {seconds:.0f} s", highlight=False)
    measured = {name: found[name] for name in chosen}
    Console(width=160).print(shown(measured))
    if options.out:
        write(read(options.out) | measured, options.out)
    missed = [claim for claims in measured.values() for claim in claims if claim.met is False]
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
