"""Does a ranking depend on the choice of items, or on the run? SEAL, tables 2 and 3.

For every log `stability` compares leaderboards of random parts of the items with that of all items,
and the leaderboards of repeated runs with each other, if there are any.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tiebreak.analysis.entries import (
    Entry,
    Shared,
    left_out,
    paper_order,
    read_entries,
    same_contest,
    shared,
)
from tiebreak.analysis.finding import Finding
from tiebreak.paths import Paths
from tiebreak.progress import tracked
from tiebreak.rankers.stability import RunStability, Stability, run_to_run, subsample_stability
from tiebreak.rankers.uncertainty import Resampling
from tiebreak.reason import Reason, Remark
from tiebreak.text import count


@dataclass(frozen=True, slots=True)
class SubsampledLog:
    """Leaderboards of random parts of a log's items against that of all items (SEAL, table 2)."""

    benchmark: str
    name: str
    log: str
    share: float
    n_models: int
    stability: Stability


@dataclass(frozen=True, slots=True)
class RepeatedRun:
    """Runs of one protocol over one pool compared with each other (SEAL, table 3).

    The comparison is on the `n_items` and `n_models` that all runs ranked.
    """

    benchmark: str
    label: str
    logs: tuple[str, ...]
    n_items: int
    n_models: int
    stability: RunStability


@dataclass(frozen=True, slots=True, repr=False)
class StabilityReport(Finding):
    """Subsampled logs and repeated runs; subsample k of a log is drawn by seed k < `n_seeds`."""

    subsampled: tuple[SubsampledLog, ...]
    repeated: tuple[RepeatedRun, ...]
    n_seeds: int
    notes: tuple[Remark, ...]

    def __str__(self) -> str:
        parts = count(len(self.subsampled), "subsampled log")
        return f"{parts}, {count(len(self.repeated), 'repeated run')}"


def stability(
    paths: Paths, *, shares: Sequence[float] = (0.5,), n_seeds: int = 30
) -> StabilityReport:
    """Stability of the ranking logs in some files and folders.

    Subsamples hold `shares` of the items, each in (0, 1], and are drawn by the seeds 0 to
    `n_seeds` − 1.

    Raises:
        RankingLogError: a path holds no ranking log.
        RankingError: a share is out of range, or there is no seed.
    """
    # Intervals of the leaderboards themselves are not needed here.
    entries, notes = read_entries(paths, how=Resampling(draws=1))
    return stability_of(entries, shares=shares, n_seeds=n_seeds, notes=notes)


def stability_of(
    entries: Sequence[Entry],
    *,
    shares: Sequence[float] = (0.5,),
    n_seeds: int = 30,
    notes: Iterable[Remark] = (),
) -> StabilityReport:
    """Stability of logs read already, as `stability`; `notes` come before those it adds."""
    by_benchmark = sorted(entries, key=lambda entry: (entry.board.benchmark, paper_order(entry)))
    ranked = [entry for entry in by_benchmark if entry.keys]
    remarks = [
        Reason("no_item_ranked_on", name=entry.name, benchmark=entry.board.benchmark)
        for entry in entries
        if not entry.keys
    ]
    subsampled = [
        _subsampled(entry, share, n_seeds)
        for entry in tracked(ranked, "ranking parts of the items")
        for share in shares
    ]
    repeated = []
    for runs in _repeated(ranked):
        common = shared(runs)
        if common.items and common.models:
            repeated.append(_run_to_run(runs, common))
        remarks += _run_notes(runs, common)
    return StabilityReport(
        subsampled=tuple(subsampled),
        repeated=tuple(repeated),
        n_seeds=n_seeds,
        notes=(*notes, *remarks, *_undefined(subsampled, repeated)),
    )


def _subsampled(entry: Entry, share: float, n_seeds: int) -> SubsampledLog:
    items, models = tuple(dict.fromkeys(entry.keys)), sorted(entry.ranked_models)
    return SubsampledLog(
        benchmark=entry.board.benchmark,
        name=entry.name,
        log=entry.board.log,
        share=share,
        n_models=len(models),
        stability=subsample_stability(
            entry.statistic(items, models), len(items), share=share, seeds=range(n_seeds)
        ),
    )


def _repeated(entries: Sequence[Entry]) -> Iterator[list[Entry]]:
    """Groups of two or more entries that are runs of one another, the oldest first."""
    for entry in entries:
        rivals = [other for other in entries if other.board.benchmark == entry.board.benchmark]
        runs = [other for other in rivals if same_contest(entry, other)]
        if len(runs) > 1 and entry is runs[0]:
            yield runs


def _run_to_run(runs: Sequence[Entry], common: Shared) -> RepeatedRun:
    weights = np.ones((1, len(common.items)))
    scores = [run.statistic(common.items, common.models)(weights)[0] for run in runs]
    return RepeatedRun(
        benchmark=runs[0].board.benchmark,
        label=runs[0].label,
        logs=tuple(run.board.log for run in runs),
        n_items=len(common.items),
        n_models=len(common.models),
        stability=run_to_run(scores),
    )


def _run_notes(runs: Sequence[Entry], common: Shared) -> Iterator[Reason]:
    label, benchmark = runs[0].label, runs[0].board.benchmark
    if not (common.items and common.models):
        yield Reason("nothing_in_common", n=len(runs), label=label, benchmark=benchmark)
    elif kept := left_out(runs, common):
        yield Reason("runs_compared_on", label=label, benchmark=benchmark, kept=kept)
    for run in runs[1:]:
        if run.repeats(runs):
            receipt = run.board.receipt
            yield Reason(
                "no_second_opinion",
                name=run.name,
                benchmark=run.board.benchmark,
                n=receipt.n_cached,
                of=receipt.n_calls,
                repeat=len(runs),
            )


def _undefined(
    subsampled: Iterable[SubsampledLog], repeated: Iterable[RepeatedRun]
) -> Iterator[Reason]:
    for part in subsampled:
        at = {"name": part.name, "benchmark": part.benchmark, "share": part.share}
        if part.stability.reason:
            yield Reason("undefined_part", **at, reason=part.stability.reason)
        if part.stability.n_drawn == part.stability.n_items:
            yield Reason("part_of_all", **at)
    for runs in repeated:
        if runs.stability.reason:
            yield Reason(
                "undefined_run_to_run",
                label=runs.label,
                benchmark=runs.benchmark,
                reason=runs.stability.reason,
            )
