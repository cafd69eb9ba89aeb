"""Agreement of every protocol with the truth at equal calls, and its calls, on planted models.

Run `OPENBLAS_NUM_THREADS=1 python benchmarks/protocols.py` (some five minutes on 2 cores), or `make
bench`. It prints tables and exits with 1 if a bound is missed. `--quick` runs a tenth of the pools,
`--out docs/reference/protocols.md` renews the tables of that page.

Pools have eight nearly tied models: qualities have sd 0.2, the answers of one model sd 1.
Refinement and critique have no effect on a planted judge, so protocols are measured without them
(SEAL without both is flat_bracket), but the calls of SEAL are counted with both.

- On the same 162 items: agreement with full_pairwise placed by points.
- Against the population: each protocol judges as many items as 400, 800 and 1,600 calls allow. The
  truth is the order by expected points in endless matches of all pairs, which in the planted worlds
  is the order of the qualities; intervals are compared with the expected points themselves.
- `swap`: the same with a judge that has a position bias, asked in both orders or in one.
"""

import sys
from pathlib import Path

sys.path.pop(0)  # the script's own folder, whose statistics.py would hide Python's
sys.path.insert(0, str(Path(__file__).parents[1]))

import argparse
import math
import multiprocessing
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from statistics import NormalDist, fmean

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.claims.worlds import Array, true_borda
from tiebreak.demo.lab import simulate as lab
from tiebreak.demo.lab.planted import Traits, World
from tiebreak.rankers import Resampling, bootstrap_items
from tiebreak.rankers.agreement import spearman_many, top1_many
from tiebreak.scorers.catalogue import STANDARD
from tiebreak.scorers.match import Swap
from tiebreak.scorers.placement import place
from tools.marks import renew

MARKS = ("<!-- written by benchmarks/protocols.py -->", "<!-- end -->")
MODELS, ITEMS, SPREAD = 8, 162, 0.2
CALLS = (400, 800, 1600)
REFERENCE = "full_pairwise"
BEST = "round_robin"
MATCHES_ONLY = (
    BEST,
    "round_robin:rounds=2",
    "round_robin:rounds=4",
    "flat_bracket:tiers=1",
    "swiss:tiers=1,refine=false",
    "sorted",
    REFERENCE,
)
WITH_LISTS = ("flat_bracket", "seal", "swiss:refine=false", "swiss:rounds=3,refine=false")
PROTOCOLS = (*MATCHES_ONLY, *WITH_LISTS, "listwise", "pointwise")
SWAPS: Sequence[Swap] = ("never", "sample", "close", "always")
SWAPPED = ("round_robin", "flat_bracket", "swiss:refine=false", "sorted", REFERENCE)


def first_wins(rate: float, noise: float) -> float:
    """Position bias with which, of two equal models, the one shown first wins at this rate."""
    return NormalDist().inv_cdf(rate) * math.sqrt(2 + noise**2)


JUDGES: Mapping[str, Traits] = {
    "no noise": Traits(),
    "noisy matches": Traits(noise=1.5),
    "noisy, 60:40 for the first": Traits(noise=1.5, position_bias=first_wins(0.6, 1.5)),
    "noisy matches, sharp lists": Traits(noise=1.5, reading_noise=0.5),
    "noisy, lists favour models": Traits(noise=1.5, reading_noise=0.5, list_taste=0.3),
}
RATES = (0.5, 0.6, 0.75)


@dataclass(frozen=True)
class Row:
    """A row of a table; `met` is None if it has no bound."""

    work: str
    measured: Sequence[str]
    to_reach: str = ""
    met: bool | None = None


@dataclass(frozen=True)
class Section:
    """A table: its title, the headings of its measured columns, its rows."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Row]


@dataclass(frozen=True)
class Seen:
    """A protocol in a pool: calls per item, and by board ρ and agreement on the first model."""

    calls: float
    rho: tuple[float, ...]
    top1: tuple[float, ...]
    # Share of intervals that hold the expected points; mean excess of the better half's points.
    held: float = math.nan
    over: float = math.nan


def world_of(pool: int, traits: Traits, *, ties: float = 0.0) -> World:
    """Draw the models of a pool, which are the same for every judge."""
    drawn = np.random.default_rng((2026, pool)).normal(0, SPREAD, MODELS)
    return World(tuple(map(float, drawn)), traits, ties=ties)


def calls_of(run: lab.Run) -> float:
    """Mean number of calls per item."""
    return fmean(counts.total() for counts in run.calls)


def by_points(run: lab.Run) -> lab.Run:
    """Return a run of all pairs with its items placed by points."""
    placed = lab.Run(run.models)
    for one in run.ranked:
        if one is not None:
            ballots = one[0].model_copy(update={"placed_by": "points"})
            placed.ranked.append((ballots, place(ballots)))
    return placed


def same_items(pool: int, traits: Traits, *, ties: float = 0.0) -> dict[str, Seen]:
    """Compare every protocol with all pairs on the same items."""
    world = world_of(pool, traits, ties=ties)
    runs = {
        label: lab.play((world, ITEMS, pool, 0, label, "never"))
        for label in dict.fromkeys((REFERENCE, *PROTOCOLS))
    }
    reference = by_points(runs[REFERENCE])
    board, points = reference.leaderboard()[None], reference.table().mean(axis=0)
    better = np.argsort(-np.array(world.qualities))[: MODELS // 2]
    found = {}
    for label, run in runs.items():
        own = run.leaderboard()[None]
        over = run.table().mean(axis=0) - points
        found[label] = Seen(
            calls_of(run),
            tuple(spearman_many(own, board)),
            tuple(top1_many(own, board)),
            over=float(over[better].mean()),
        )
    return found


def population(
    pool: int,
    traits: Traits,
    labels: Sequence[str] = PROTOCOLS,
    swap: Swap | None = "never",
    budgets: Sequence[int] = CALLS,
) -> dict[str, Seen]:
    """Compare every protocol, on as many items as its calls allow, with the truth.

    For smaller budgets the items of the largest are cut into several runs.
    """
    world = world_of(pool, traits)
    truth, points = np.array(world.qualities), expected_points(world)
    found = {}
    for label in labels:
        price = calls_of(lab.play((world, 25, pool, 1, label, swap)))
        run = lab.play((world, round(budgets[-1] / price), pool, 2, label, swap))
        rho, top1 = [], []
        for calls in budgets:
            parts, size = budgets[-1] // calls, round(calls / price)
            starts = [part * size for part in range(parts) if (part + 1) * size <= len(run.ranked)]
            boards = np.array([run.leaderboard(slice(at, at + size)) for at in starts])
            rho.append(float(np.nanmean(spearman_many(boards, truth))))
            top1.append(float(top1_many(boards, truth).mean()))
        held = math.nan
        if label.startswith(BEST):
            interval = bootstrap_items(run.table(), how=Resampling(draws=500))
            held = float(np.mean((interval.lower <= points) & (points <= interval.upper)))
        found[label] = Seen(calls_of(run), tuple(rho), tuple(top1), held=held)
    return found


def expected_points(world: World) -> Array:
    """Expected points of each model against the others, each side being shown first as often."""
    noise, shown_first = world.traits.noise, world.traits.position_bias
    if not shown_first:
        return true_borda(world.qualities, noise=noise)
    ahead = np.subtract.outer(world.qualities, world.qualities)
    cdf = np.vectorize(NormalDist(0, math.sqrt(2 + noise**2)).cdf, otypes=[np.float64])
    wins = (cdf(ahead + shown_first) + cdf(ahead - shown_first)) / 2
    found: Array = (wins.sum(axis=1) - 0.5) / (MODELS - 1)
    return found


def figure(values: Sequence[float]) -> tuple[float, float]:
    """Mean and standard error over the pools in which the value is defined."""
    known = np.array(values, np.float64)
    known = known[~np.isnan(known)]
    return float(known.mean()), float(known.std(ddof=1) / math.sqrt(known.size))


def words(values: Sequence[float], digits: int = 3) -> str:
    """Mean ± standard error."""
    mean, error = figure(values)
    return f"{mean:.{digits}f} ± {error:.{digits}f}"


def of_same_items(name: str, pools: Sequence[Mapping[str, Seen]]) -> Section:
    """Table of ρ, agreement on the first model and bias of the points, by calls per item."""
    rows = []
    for label in sorted(PROTOCOLS, key=lambda one: pools[0][one].calls):
        own = [pool[label] for pool in pools]
        rho, calls = [one.rho[0] for one in own], fmean(one.calls for one in own)
        over, first = [one.over for one in own], fmean(one.top1[0] for one in own)
        to_reach, met = "", None
        if label.startswith(BEST):
            mean, error = figure(over)
            to_reach, met = "bias within 2 SE of 0", abs(mean) <= 2 * error
        elif label == "seal":
            to_reach, met = "≤ 11.9 calls", round(calls, 1) <= 11.9
        cells = (f"{calls:.1f}", words(rho), f"{first:.0%}", words(over, 4))
        rows.append(Row(label, cells, to_reach, met))
    title = f"The same {ITEMS} items, {name}: agreement with full_pairwise placed by points"
    columns = ("calls an item", "ρ", "same first", "points too many, better half")
    return Section(title, columns, rows)


def of_population(name: str, pools: Sequence[Mapping[str, Seen]]) -> Section:
    """Table of ρ with the truth at equal calls; only protocols that ask only matches have a bound.

    The round robin is to be the best of these, and its intervals are to hold 93 to 97%.
    """
    rows = []
    for label in PROTOCOLS:
        own = [pool[label] for pool in pools]
        cells = [f"{fmean(one.calls for one in own):.1f}"]
        cells += [words([one.rho[at] for one in own]) for at in range(len(CALLS))]
        cells.append(f"{fmean(one.top1[-1] for one in own):.0%}")
        to_reach, met = "", None
        if label.startswith(BEST):
            mean, error = figure([one.held for one in own])
            to_reach = f"95% interval holds 93–97%: {mean:.1%} ± {error:.1%}"
            met = 0.93 - 2 * error <= mean <= 0.97 + 2 * error
        elif label in MATCHES_ONLY:
            ahead = [
                figure([pool[BEST].rho[at] - pool[label].rho[at] for pool in pools])
                for at in range(len(CALLS))
            ]
            to_reach = "not above round_robin by more than an SE"
            met = all(mean >= -error for mean, error in ahead)
        rows.append(Row(label, cells, to_reach, met))
    title = f"Against the population, {name}: ρ with the truth at equal calls"
    columns = ("calls an item", *(f"{calls:,} calls" for calls in CALLS), "first, 1,600")
    return Section(title, columns, rows)


def of_swap(
    label: str, measured: Mapping[float, Mapping[Swap, Sequence[Mapping[str, Seen]]]]
) -> list[Row]:
    """Rows of ρ with the truth at 800 calls, one for each `swap`, by rate of wins shown first."""
    rows = []
    for swap in SWAPS:
        runs = {rate: [pool[label] for pool in own[swap]] for rate, own in measured.items()}
        cells = [f"{fmean(one.calls for one in runs[RATES[0]]):.1f}"]
        cells += [words([one.rho[0] for one in runs[rate]]) for rate in RATES]
        rows.append(Row(f"{label}, swap={swap}", cells))
    return rows


def identical_answers(pools: Sequence[int], workers: ProcessPoolExecutor) -> Section:
    """Table of calls if answers repeat each other, in percent of the calls if none does."""
    asked = {
        ties: list(workers.map(partial(same_items, traits=Traits(), ties=ties), pools))
        for ties in (0.0, 0.25, 0.5)
    }
    rows = []
    for label in (*MATCHES_ONLY, *WITH_LISTS):
        alone, some, twins = (fmean(one[label].calls for one in asked[t]) for t in asked)
        cells = (f"{twins / alone:.0%}", f"{some / alone:.0%}")
        # A pair of twins meets in only one of the seven possible rounds, so few calls are saved.
        met = twins / alone <= 0.9 if label.startswith(BEST) else twins / alone <= 0.6
        rows.append(Row(label, cells, "fewer" if label.startswith(BEST) else "≤ 60%", met))
    return Section(
        "Calls where answers repeat each other", ("8 answers are 4 pairs", "4 of 8 are 2"), rows
    )


def speed() -> Section:
    """CPU time of the lab itself."""
    qualities = np.linspace(SPREAD, -SPREAD, MODELS).tolist()
    lab.simulate(qualities, (5,), noise=0.0, repeats=1, swap="never", jobs=1)
    start = time.process_time()
    lab.simulate(qualities, (1000,), noise=0.0, repeats=1, swap="never", jobs=1)
    spent = time.process_time() - start
    work = f"1,000 items × {MODELS} models × {len(STANDARD)} protocols"
    return Section("The lab", ("CPU",), [Row(work, (f"{spent:.1f} s",), "< 10 s", spent < 10)])


def sections(scale: float, workers: ProcessPoolExecutor) -> Iterator[Section]:
    """Measure all tables; `scale` is the share of the full number of pools."""
    few, many = range(round(24 * scale)), range(round(40 * scale))
    yield speed()
    yield swaps(range(round(30 * scale)), workers)
    for name, traits in JUDGES.items():
        yield of_population(name, list(workers.map(partial(population, traits=traits), many)))
    for name in ("no noise", "noisy matches"):
        run = partial(same_items, traits=JUDGES[name])
        yield of_same_items(name, list(workers.map(run, few)))
    yield identical_answers(range(max(2, round(5 * scale))), workers)


def swaps(pools: Sequence[int], workers: ProcessPoolExecutor) -> Section:
    """Table of the gain from asking in both orders rather than about more items, by bias."""
    noise = 1.0
    measured: dict[float, dict[Swap, list[dict[str, Seen]]]] = {rate: {} for rate in RATES}
    for rate in RATES:
        judge = Traits(noise=noise, fresh=True, position_bias=first_wins(rate, noise))
        for swap in SWAPS:
            run = partial(population, traits=judge, labels=SWAPPED, swap=swap, budgets=(800,))
            measured[rate][swap] = list(workers.map(run, pools))
    return Section(
        "`swap`: ρ with the truth at 800 calls, by how often the first of two equal answers wins",
        ("calls an item", *(f"{rate:.0%}" for rate in RATES)),
        [row for label in SWAPPED for row in of_swap(label, measured)],
    )


def cells_of(row: Row) -> tuple[str, ...]:
    """The cells of a row."""
    word = {True: "yes", False: "MISSED", None: ""}[row.met]
    return row.work, *row.measured, row.to_reach, word


def shown(section: Section) -> Table:
    """A section for the terminal."""
    table = Table(title=section.title)
    for column in ("", *section.columns, "to reach", "met"):
        table.add_column(column)
    for row in section.rows:
        table.add_row(*cells_of(row))
    return table


def markdown(section: Section) -> str:
    """A section for the page."""
    columns = ("", *section.columns, "to reach", "met")
    lines = ["", f"### {section.title}", "", f"| {' | '.join(columns)} |"]
    lines.append(f"|{'---|' * len(columns)}")
    lines += [f"| {' | '.join(cells_of(row))} |" for row in section.rows]
    return "\n".join(lines)


def main() -> int:
    """Measure, print the tables, return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="a tenth of the pools")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes")
    parser.add_argument("--out", type=Path, help="page to write the tables into")
    options = parser.parse_args()
    found = []
    # Spawned, because a fork has the locks of BLAS and other libraries without their threads.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(options.jobs, mp_context=context) as workers:
        for section in sections(0.1 if options.quick else 1.0, workers):
            found.append(section)
            Console(width=160).print(shown(section))
    if options.out:
        renew(options.out, "\n".join(map(markdown, found)) + "\n", *MARKS)
    missed = [row for section in found for row in section.rows if row.met is False]
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
