"""Speed of the rankers: CPU time, against peers or a reference in the same run.

Run `OPENBLAS_NUM_THREADS=1 python benchmarks/rankers.py` (needs the `bench` dependency group; a few
minutes), or `make bench`. It prints a table of medians and ratios and exits with 1 when a bound is
missed. `--quick` measures a fifth.

Peers: corankco's exact method by linear programming for Kemeny, and a plain Python loop of the
paper's algorithm 1 for CSD.
"""

import sys
from pathlib import Path

sys.path.pop(0)  # of a script its own folder, whose statistics.py would stand for Python's
sys.path.insert(0, str(Path(__file__).parents[1]))

import argparse
import random
import resource
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from statistics import median

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from tests.rankers.ballots import mallows, uniform
from tests.rankers.contests.reference import contest
from tiebreak.rankers import (
    Resampling,
    bootstrap_items,
    csd,
    kemeny_young,
    kemeny_young_batch,
    win_rates,
)
from tiebreak.rankers.pairwise import majorities, margins

FloatArray = NDArray[np.float64]
BALLOTS = 11
CONTESTS = 100_000


@dataclass(frozen=True)
class Row:
    work: str
    bound: str
    measured: str
    met: bool


def cpu_seconds(action: Callable[[], object]) -> float:
    """CPU time of one call, that of child processes (a peer's solver) included."""
    before = _cpu()
    action()
    return _cpu() - before


def _cpu() -> float:
    both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(used.ru_utime + used.ru_stime for used in both)


def shown(seconds: float) -> str:
    return f"{seconds * 1e3:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"


def exact(
    work: str,
    profiles: list[FloatArray],
    limit: float,
    peer: Callable[[FloatArray], int] | None = None,
) -> Iterator[Row]:
    """Kemeny's time on each profile; all must be proven, and the costs agree with the peer's."""
    times, results = [], []
    for ranks in profiles:
        times.append(cpu_seconds(lambda ranks=ranks: results.append(kemeny_young(ranks))))  # type: ignore[misc]
    proven = sum(result.optimal for result in results)
    yield Row(
        work,
        f"< {shown(limit)}, proven",
        f"{shown(median(times))} (max {shown(max(times))}), {proven} of {len(profiles)} proven",
        median(times) < limit and proven == len(profiles),
    )
    if peer is None:
        return
    costs: list[int] = []
    slow = [cpu_seconds(lambda ranks=ranks: costs.append(peer(ranks))) for ranks in profiles[:3]]  # type: ignore[misc]
    agree = costs == [result.cost for result in results[: len(costs)]]
    ratio = median(slow) / median(times)
    yield Row(
        f"{work}: against corankco",
        "≥ 50 ×, same cost",
        f"{ratio:.0f} × ({shown(median(slow))}), {'same cost' if agree else 'OTHER COST'}",
        ratio >= 50 and agree,
    )


def corankco(ranks: FloatArray) -> int:
    """Kemeny cost of strict, complete ballots by corankco's linear program."""
    from corankco.algorithms.exact.exactalgorithmpulp import ExactAlgorithmPulp
    from corankco.dataset import Dataset
    from corankco.scoringscheme import ScoringScheme

    ballots = [[[int(column)] for column in np.argsort(ballot)] for ballot in ranks]
    scheme = ScoringScheme.get_unifying_scoring_scheme_p(1.0)
    consensus = ExactAlgorithmPulp().compute_consensus_rankings(
        Dataset.from_raw_list(ballots), scheme, False
    )
    return int(consensus.kemeny_score)


def batch(n: int, limit: float, repeats: int) -> Row:
    rng = np.random.default_rng(n)
    profiles = rng.random((1000, 6, n)).argsort(axis=-1).astype(np.float64)
    kemeny_young_batch(profiles)
    times = [cpu_seconds(lambda: kemeny_young_batch(profiles)) for _ in range(repeats)]
    return Row(
        f"Kemeny batch, 1,000 × 6 ballots × {n} candidates",
        f"< {shown(limit)}",
        shown(median(times)),
        median(times) < limit,
    )


def contests(quick: bool) -> Iterator[Row]:
    """CSD on M = 29 models and K = 12 rounds, T = 0, 1 and 2; the ratio is to the plain loop.

    The loop (`tests/rankers/contests/reference.py`) is the paper's algorithm 1 with lists, as short
    and as quick as plain Python gets. The script that the paper's authors published takes about ten
    times as long (it averages scores anew for every match) and is not measured here.
    """
    rng = np.random.default_rng(0)
    tables = {
        "models apart": rng.normal(size=(29, 12)) + rng.normal(size=(29, 1)),
        "models nearly equal": rng.normal(size=(29, 12)) + np.linspace(0, 1, 29)[:, None],
    }
    scores = tables["models apart"]
    wins = win_rates(scores).tolist()
    coin, n_plain = random.Random(0), 200 if quick else 1000
    plain = cpu_seconds(
        lambda: [contest(wins, t, coin) for t in (0, 1, 2) for _ in range(n_plain)]
    ) / (3 * n_plain)
    cases = [
        ("NumPy", False, False, 400),
        ("compiled", False, True, 1500),
        ("NumPy, control variate", True, False, None),
        ("compiled, control variate", True, True, None),
    ]
    for name, control, compiled, bound in cases:
        action = partial(study, scores, control, compiled)
        if compiled:
            action()  # the first call compiles
        took = median(cpu_seconds(action) for _ in range(5))
        ratio = plain * 3 * CONTESTS / took
        yield Row(
            f"CSD, 3 × {CONTESTS:,} contests: {name}",
            "" if bound is None else f"≥ {bound} × plain Python",
            f"{ratio:.0f} × ({3 * CONTESTS / took / 1e3:.0f} k contests/s; plain Python "
            f"{1 / plain:,.0f}/s)",
            bound is None or ratio >= bound,
        )
    for name, table in tables.items():
        yield from precision(name, table)


def study(scores: FloatArray, control: bool, compiled: bool) -> None:
    for t in (0, 1, 2):
        csd(scores, eliminate=t, iterations=CONTESTS, control_variate=control, compiled=compiled)


def precision(name: str, scores: FloatArray) -> Iterator[Row]:
    """Standard errors, and what the control variate saves net of its own time."""
    variances, times = np.zeros((2, 3)), np.zeros((2, 3))
    for t in (0, 1, 2):
        for row, control in enumerate((False, True)):
            run = partial(csd, scores, eliminate=t, iterations=CONTESTS, control_variate=control)
            error = run().standard_error
            variances[row, t] = np.mean(error**2)
            times[row, t] = median(cpu_seconds(run) for _ in range(5))
        yield Row(
            f"CSD standard error, {CONTESTS:,} contests, T = {t}, {name}",
            "mean ≤ 0.002",
            f"{error.mean():.5f} (variance / {variances[0, t] / variances[1, t]:.1f})",
            bool(error.mean() <= 0.002),
        )
    cost = variances * times
    gain = cost[0] / cost[1]
    total = variances[0].sum() / variances[1].sum() * times[0].sum() / times[1].sum()
    yield Row(
        f"CSD control variate, gain net of its time, {name}",
        "> 1 over T = 0, 1, 2",
        f"{total:.1f} (T = 0, 1, 2: {', '.join(f'{each:.1f}' for each in gain)})",
        bool(total > 1),
    )


def bootstrap(repeats: int) -> Row:
    scores = np.random.default_rng(0).random((1000, 30))
    times = [
        cpu_seconds(lambda: bootstrap_items(scores, how=Resampling(draws=1000)))
        for _ in range(repeats)
    ]
    return Row(
        "bootstrap, 1,000 draws of 1,000 items × 30 models",
        "< 500 ms",
        shown(median(times)),
        median(times) < 0.5,
    )


def rows(quick: bool) -> Iterator[Row]:
    rng = np.random.default_rng(5)
    n = 5 if quick else 25
    few = (uniform(rng, BALLOTS, 5) for _ in range(20 * n))
    circular = [ranks for ranks in few if majorities(margins(ranks)).cycles]
    yield from exact("Kemeny N = 5, with majority cycles", circular, 0.001)
    rng = np.random.default_rng(2026)
    random_30 = [uniform(rng, BALLOTS, 30) for _ in range(n)]
    yield from exact("Kemeny N = 30, random ballots", random_30, 0.05, corankco)
    random_50 = [uniform(rng, BALLOTS, 50) for _ in range(n)]
    yield from exact("Kemeny N = 50, random ballots", random_50, 0.5)
    mallows_100 = [mallows(rng, BALLOTS, 100, 0.95) for _ in range(n)]
    yield from exact("Kemeny N = 100, Mallows φ = 0.95", mallows_100, 0.5)
    yield batch(6, 0.005, 5 * n)
    yield batch(10, 0.025, 5 * n)
    yield from contests(quick)
    yield bootstrap(n)


def main() -> int:
    """Measure, print the table, return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="fewer repeats")
    warnings.simplefilter("ignore")
    table = Table(title="rankers: CPU time on one thread, medians")
    for column in ("work", "bound", "measured", ""):
        table.add_column(column)
    met = []
    for row in rows(parser.parse_args().quick):
        met.append(row.met)
        table.add_row(row.work, row.bound, row.measured, "ok" if row.met else "MISSED")
    Console(width=140).print(table)
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
