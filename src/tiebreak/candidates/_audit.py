"""The audit of a pool: how much of a benchmark is saturated, before any judging."""

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from tiebreak.candidates.identity import identical_groups
from tiebreak.candidates.pool import Candidate, CandidatePool, Note


@dataclass(frozen=True)
class ModelAudit:
    """One model on one benchmark.

    `native_mean` is the mean native score over the `n_native` answers that have one, NaN when none
    has; `native_metrics` are the names of those scores.
    """

    model: str
    n: int
    n_native: int
    native_mean: float
    native_metrics: tuple[str, ...]


@dataclass(frozen=True)
class BenchmarkAudit:
    """One benchmark of a pool. Counts are of items, an item in another epoch counts again.

    Attributes:
        benchmark: Name.
        n_items: Items in the pool.
        n_dropped: Items that `intersect` left out for lack of an answer.
        n_native: Items with a native score for every model.
        n_saturated: Of these, items whose native scores are all equal: they do not
            distinguish any two models.
        n_pairs: Pairs of answers to one item, over all items.
        n_identical_pairs: Of these, pairs that are the same after normalisation; they need no
            judge.
        n_all_identical: Items to which all models gave the same answer.
        models: One entry per model, by name.
    """

    benchmark: str
    n_items: int
    n_dropped: int
    n_native: int
    n_saturated: int
    n_pairs: int
    n_identical_pairs: int
    n_all_identical: int
    models: tuple[ModelAudit, ...]


@dataclass(frozen=True)
class Audit:
    """What a pool holds, benchmark by benchmark, and the notes of loading."""

    benchmarks: tuple[BenchmarkAudit, ...]
    notes: tuple[Note, ...] = field(repr=False)


def audit(pool: CandidatePool) -> Audit:
    """Count what a pool holds: native accuracy, saturated items, identical answers, holes."""
    benchmarks = tuple(_benchmark_audit(pool, name) for name in pool.benchmarks)
    return Audit(benchmarks, pool.notes)


def is_saturated(candidates: Iterable[Candidate]) -> bool:
    """Whether all native scores of an item are known and equal, so that they rank no model."""
    scores = {candidate.native_score for candidate in candidates}
    return len(scores) == 1 and not any(map(math.isnan, scores))


def _benchmark_audit(pool: CandidatePool, benchmark: str) -> BenchmarkAudit:
    rows = [pool.candidates[item.key] for item in pool.items_of(benchmark)]
    known = [row for row in rows if not any(math.isnan(c.native_score) for c in row.values())]
    groups = [identical_groups(row) for row in rows]
    return BenchmarkAudit(
        benchmark=benchmark,
        n_items=len(rows),
        n_dropped=sum(note.kind == "hole" and note.where == benchmark for note in pool.notes),
        n_native=len(known),
        n_saturated=sum(is_saturated(row.values()) for row in rows),
        n_pairs=sum(math.comb(len(row), 2) for row in rows),
        n_identical_pairs=sum(math.comb(len(group), 2) for item in groups for group in item),
        n_all_identical=sum(len(item) == 1 for item in groups),
        models=tuple(_model_audit(pool, benchmark, name) for name in pool.models_of(benchmark)),
    )


def _model_audit(pool: CandidatePool, benchmark: str, model: str) -> ModelAudit:
    answers = [pool.candidates[item.key][model] for item in pool.items_of(benchmark)]
    scores = [a.native_score for a in answers if not math.isnan(a.native_score)]
    metrics = Counter(answer.native_metric for answer in answers if answer.native_metric)
    mean = math.fsum(scores) / len(scores) if scores else math.nan
    return ModelAudit(model, len(answers), len(scores), mean, tuple(sorted(metrics)))
