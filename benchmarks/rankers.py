"""CPU time of the rankers, compared with peers or a reference in the same run.

Run `OPENBLAS_NUM_THREADS=1 python benchmarks/rankers.py` (needs the `bench` dependency group; a few
minutes), or `make bench`. It prints a table of medians and ratios and exits with 1 if a bound is
missed. `--quick` measures a fifth.

The peer of Kemeny is corankco's exact method by linear programming. CSD is compared with the speed
of the script of the paper's authors, and with drawing the random words that any simulation needs.
"""

import sys
from pathlib import Path

sys.path.pop(0)  # the script's own folder, whose statistics.py would hide Python's
sys.path.insert(0, str(Path(__file__).parents[1]))

import argparse
import math
import resource
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from statistics import median

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from tests.rankers.ballots import mallows, uniform
from tiebreak.analysis.contests import contest_report
from tiebreak.rankers import (
    Resampling,
    bootstrap_items,
    csd,
    kemeny_young,
    kemeny_young_batch,
)
from tiebreak.rankers.contests.engine import BLOCK, Draw, draw_block
from tiebreak.rankers.contests.expected_wins import CsdOptions
from tiebreak.rankers.contests.rounds import round_means, strengths
from tiebreak.rankers.contests.study import engine
from tiebreak.rankers.pairwise_tests import separation
from tiebreak.rankers.profile import majorities, margins
from tiebreak.tables.scores import ScoreTable

FloatArray = NDArray[np.float64]
BALLOTS = 11
CONTESTS = 100_000
# Contests a second by github.com/LJSthu/LLMSwissRound, M = 29, K = 12: measured as 222 to 229.
AUTHORS = 226


@dataclass(frozen=True)
class Row:
    work: str
    bound: str
    measured: str
    met: bool


def cpu_seconds(action: Callable[[], object]) -> float:
    """CPU time of one call, with that of child processes, e.g. a peer's solver."""
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
    """Time Kemeny on each profile; all must be proven, with the same costs as the peer's."""
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


def contests(repeats: int) -> Iterator[Row]:
    """Time CSD on M = 29 models and K = 12 rounds, T = 0, 1 and 2, in one process."""
    rng = np.random.default_rng(0)
    tables = {
        "models apart": rng.normal(size=(29, 12)) + rng.normal(size=(29, 1)),
        "models nearly equal": rng.normal(size=(29, 12)) + np.linspace(0, 1, 29)[:, None],
    }
    scores = tables["models apart"]
    cases = [
        ("NumPy", False, False, 2900),
        ("compiled", False, True, 5400),
        ("NumPy, control variate", True, False, None),
        ("compiled, control variate", True, True, None),
    ]
    for name, control, compiled, bound in cases:
        action = partial(study, scores, control, compiled)
        action()  # the first call compiles
        took = median(cpu_seconds(action) for _ in range(repeats))
        ratio = 3 * CONTESTS / took / AUTHORS
        yield Row(
            f"CSD, 3 × {CONTESTS:,} contests: {name}",
            "" if bound is None else f"≥ {bound:,} × the authors' script",
            f"{ratio:,.0f} × ({3 * CONTESTS / took / 1e3:,.0f} k contests/s)",
            bound is None or ratio >= bound,
        )
        if compiled and not control:
            # In turn, because the load of the machine varies over time.
            each = [(drawing(), played(scores), cpu_seconds(action)) for _ in range(repeats)]
            for column, part, most in ((1, "play", 1.25), (2, "whole call", 3)):
                ratio = median(times[column] / times[0] for times in each)
                yield Row(
                    f"CSD, compiled: {part} against drawing the random words",
                    f"≤ {most} ×",
                    f"{ratio:.2f} × ({shown(median(times[0] for times in each))})",
                    ratio <= most,
                )
    for name, table in tables.items():
        yield from precision(name, table)


def draws() -> Iterator[tuple[tuple[int, ...], Draw]]:
    """Yield the numbers eliminated per round, and the random words of `study`, by block."""
    for t in (0, 1, 2):
        for number, first in enumerate(range(0, CONTESTS, BLOCK)):
            size = min(BLOCK, CONTESTS - first)
            yield (t,) * 12, draw_block((number,), 0, size, 29, (t,) * 12)


def drawing() -> float:
    """CPU seconds to draw all random words."""
    return cpu_seconds(lambda: deque(draws(), maxlen=0))


def played(scores: FloatArray) -> float:
    """CPU seconds of the compiled engine for all contests, without drawing their words."""
    strength, (play, *_) = strengths(round_means(scores, None, "error")), engine(compiled=True)
    return sum(
        cpu_seconds(partial(play, draw.words, strength[:, draw.numbering], out))
        for out, draw in draws()
    )


def leaderboard() -> Iterator[Row]:
    """Time what `tiebreak csd` computes for 126 models × 23 benchmarks with standard errors."""
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(126, 23)) / 10 + rng.normal(size=(126, 1)) / 5
    names = tuple(map(str, range(126)))

    def report(n_models: int, contests: int, n_jobs: int | None) -> tuple[float, float]:
        """CPU seconds of this process, and seconds by the clock."""
        errors = np.full((n_models, 23), 0.02)
        table = ScoreTable(names[:n_models], names[:23], scores[:n_models], errors=errors)
        options: CsdOptions = {"iterations": contests, "n_jobs": n_jobs, "compiled": True}
        began = time.perf_counter()
        used = cpu_seconds(lambda: contest_report(table, eliminate=(0, 1, 2), options=options))
        return used, time.perf_counter() - began

    report(8, CONTESTS // 10, 1)  # compiles
    fewer, shorter = report(63, CONTESTS, 1)[0], report(126, CONTESTS // 2, 1)[0]
    (took, alone), (_, spread) = report(126, CONTESTS, 1), report(126, CONTESTS, None)
    yield Row(
        "csd, 126 models × 23 benchmarks × three T, intervals, compiled",
        "< 20 s (10 s on 2 cores)",
        f"{shown(took)}; passed {shown(alone)}, on all cores {shown(spread)}",
        took < 20,
    )
    yield Row(
        "csd: exponents of that time",
        "",
        f"models {math.log2(took / fewer):.2f}, contests {math.log2(took / shorter):.2f}",
        True,
    )


def study(scores: FloatArray, control: bool, compiled: bool) -> None:
    for t in (0, 1, 2):
        csd(
            scores,
            eliminate=t,
            iterations=CONTESTS,
            control_variate=control,
            n_jobs=1,
            compiled=compiled,
        )


def precision(name: str, scores: FloatArray) -> Iterator[Row]:
    """Standard errors, and the gain of the control variate net of its own time."""
    variances, times = np.zeros((2, 3)), np.zeros((2, 3))
    for t in (0, 1, 2):
        for row, control in enumerate((False, True)):
            run = partial(
                csd, scores, eliminate=t, iterations=CONTESTS, control_variate=control, n_jobs=1
            )
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


def bootstrap(repeats: int) -> Iterator[Row]:
    rng = np.random.default_rng(0)
    scores = rng.random((1000, 30))
    times = [
        cpu_seconds(lambda: bootstrap_items(scores, how=Resampling(draws=1000)))
        for _ in range(repeats)
    ]
    yield Row(
        "bootstrap, 1,000 draws of 1,000 items × 30 models",
        "< 500 ms",
        shown(median(times)),
        median(times) < 0.5,
    )
    scores = rng.random((8000, 8))

    def counted() -> None:
        for _ in range(2000):
            np.bincount(rng.integers(8000, size=8000), minlength=8000)

    pairs = [
        (cpu_seconds(counted), cpu_seconds(lambda: bootstrap_items(scores))) for _ in range(repeats)
    ]
    ratio = median(took / plain for plain, took in pairs)
    yield Row(
        "bootstrap, 8,000 different items × 8 models, against drawing integers and counting",
        "≤ 2 ×",
        f"{ratio:.2f} × ({shown(median(plain for plain, _ in pairs))})",
        ratio <= 2,
    )


def pairwise(repeats: int) -> Row:
    """Time tests of all pairs of 200 models, against the largest statistics of the sign flips."""
    rng = np.random.default_rng(1)
    scores = rng.random((1000, 200)) + 0.02 * rng.normal(size=200)
    first, second = np.triu_indices(200, 1)
    root = np.sqrt(np.sum((scores[:, first] - scores[:, second]) ** 2, axis=0))

    def largest() -> None:
        for size in [100] * 99 + [99]:
            signs = 1.0 - 2 * rng.integers(0, 2, size=(size, 1000), dtype=np.int8)
            sums = signs @ scores
            np.max(np.abs(sums[:, first] - sums[:, second]) / root, axis=1)

    times = [
        (cpu_seconds(largest), cpu_seconds(lambda: separation(scores, range(200))))
        for _ in range(repeats)
    ]
    ratio = median(took / plain for plain, took in times)
    return Row(
        "separation, 200 models × 1,000 items, against a plain max-T",
        "≤ 3 ×",
        f"{ratio:.2f} × ({shown(median(plain for plain, _ in times))})",
        ratio <= 3,
    )


def rows(quick: bool) -> Iterator[Row]:
    rng = np.random.default_rng(5)
    n = 5 if quick else 25
    for size, limit in ((5, 0.0003), (8, 0.0004)):
        few = (uniform(rng, BALLOTS, size) for _ in range(20 * n))
        circular = [ranks for ranks in few if majorities(margins(ranks))[1]]
        yield from exact(f"Kemeny N = {size}, with majority cycles", circular, limit)
    rng = np.random.default_rng(2026)
    random_30 = [uniform(rng, BALLOTS, 30) for _ in range(n)]
    yield from exact("Kemeny N = 30, random ballots", random_30, 0.05, corankco)
    random_50 = [uniform(rng, BALLOTS, 50) for _ in range(n)]
    yield from exact("Kemeny N = 50, random ballots", random_50, 0.5)
    mallows_100 = [mallows(rng, BALLOTS, 100, 0.95) for _ in range(n)]
    yield from exact("Kemeny N = 100, Mallows φ = 0.95", mallows_100, 0.5)
    yield batch(6, 0.005, 5 * n)
    yield batch(10, 0.025, 5 * n)
    yield from contests(5 if quick else 15)
    yield from leaderboard()
    yield from bootstrap(n)
    yield pairwise(3)


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
