"""What every figure that users see holds, in simulated worlds whose truth is known.

Run `OPENBLAS_NUM_THREADS=1 python benchmarks/statistics.py` (some 15 minutes on 2 cores), or `make
bench`. It prints what each figure claims, what was measured and the Monte Carlo error, and exits
with 1 when a claim is missed. `--quick` draws a tenth of the worlds, `--only NAME` takes one module
of `benchmarks/claims/`, `--out docs/statistics.md` renews the table of that page.
"""

import sys
from pathlib import Path

sys.path.pop(0)  # of a script its own folder, whose statistics.py would stand for Python's
sys.path.insert(0, str(Path(__file__).parents[1]))

import argparse
import multiprocessing
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed

from rich.console import Console
from rich.table import Table

from benchmarks.claims import Claim, measure, modules, title

COLUMNS = ("figure", "setting", "claimed", "measured ± MC error", "runs", "met")
BEGIN, END = "<!-- written by benchmarks/statistics.py -->", "<!-- end -->"

Measured = Mapping[str, Sequence[Claim]]


def cells(claim: Claim) -> tuple[str, ...]:
    """A row of the table."""
    met = {True: "yes", False: "MISSED", None: ""}[claim.met]
    measured = f"{claim.measured:.3f} ± {claim.error:.3f}"
    return claim.figure, claim.setting, claim.claimed, measured, f"{claim.runs:,}", met


def run(names: Sequence[str], scale: float, jobs: int) -> Iterator[tuple[str, list[Claim], float]]:
    """Each module's claims and how long they took, as they come in."""
    # Not forked: threads of BLAS and of what is imported here would be copied half.
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


def markdown(measured: Measured) -> str:
    """The same, a heading and a table for each module."""
    lines = []
    for name, claims in measured.items():
        lines += ["", f"### {title(name).rstrip('.')}", ""]
        lines += [f"| {' | '.join(COLUMNS)} |", f"|{'---|' * len(COLUMNS)}"]
        for claim in claims:
            escaped = [cell.replace("|", r"\|") for cell in cells(claim)]
            lines.append(f"| {' | '.join(escaped)} |")
    return "\n".join([*lines, ""])


def beside_others(page: Path, text: str, begin: str = BEGIN, end: str = END) -> str:
    """The tables of `text`, among those of the page's other modules, in the order of modules."""
    found = page.read_text(encoding="utf-8").partition(begin)[2].partition(end)[0]
    parts = {}
    for part in (found + text).split("\n### ")[1:]:
        parts[part.partition("\n")[0]] = part.strip()
    order = [title(name).rstrip(".") for name in modules()]
    return "".join(f"\n### {parts[heading]}\n" for heading in order if heading in parts)


def renew(page: Path, text: str, begin: str = BEGIN, end: str = END) -> None:
    """Put `text` between the marks of `page`, and leave the rest as it is."""
    before, _, rest = page.read_text(encoding="utf-8").partition(begin)
    _, found, after = rest.partition(end)
    if not found:
        raise SystemExit(f"{page} has no lines {begin!r} and {end!r} to write between.")
    page.write_text(f"{before}{begin}\n{text}\n{end}{after}", encoding="utf-8")


def main() -> int:
    """Measure, print the table, return the exit code."""
    names = modules()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="a tenth of the worlds")
    parser.add_argument("--only", choices=names, action="append", help="this module (repeatable)")
    parser.add_argument("--jobs", type=int, default=2, help="modules measured at once")
    parser.add_argument("--out", type=Path, help="page whose tables are renewed")
    options = parser.parse_args()
    chosen = options.only or names
    progress, found = Console(stderr=True), {}
    for name, claims, seconds in run(chosen, 0.1 if options.quick else 1.0, options.jobs):
        found[name] = claims
        progress.print(f"{name}: {len(claims)} claims in {seconds:.0f} s", highlight=False)
    measured = {name: found[name] for name in chosen}
    Console(width=160).print(shown(measured))
    if options.out:
        renew(options.out, beside_others(options.out, markdown(measured)))
    missed = [claim for claims in measured.values() for claim in claims if claim.met is False]
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
