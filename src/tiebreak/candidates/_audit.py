"""The audit of a pool: how much of a benchmark is saturated, before any judging."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, Any

from tiebreak.candidates.identity import identical_groups
from tiebreak.candidates.pool import Candidate, CandidatePool, Note

if TYPE_CHECKING:
    from rich.console import RenderableType

_SHOWN_PER_KIND = 5


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

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready; an undefined mean is None."""
        benchmarks = [asdict(benchmark) for benchmark in self.benchmarks]
        for benchmark in benchmarks:
            benchmark["models"] = [_json_ready(model) for model in benchmark["models"]]
        return {"benchmarks": benchmarks, "notes": [asdict(note) for note in self.notes]}


def _json_ready(model: dict[str, Any]) -> dict[str, Any]:
    mean = model["native_mean"]
    return model | {
        "native_mean": None if math.isnan(mean) else mean,
        "native_metrics": list(model["native_metrics"]),
    }


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


def audit_report(result: Audit) -> "RenderableType":
    """The audit as something `rich.console.Console.print` shows: tables, then notes."""
    from rich.console import Group
    from rich.text import Text

    parts: list[RenderableType] = []
    for benchmark in result.benchmarks:
        # Text, not str: a model name such as `a[b]` must not be read as markup.
        parts += [_table(benchmark), *(Text(line) for line in _facts(benchmark)), Text()]
    parts += [Text(line) for line in _note_lines(result.notes)]
    return Group(*parts)


def _table(benchmark: BenchmarkAudit) -> "RenderableType":
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(f"{benchmark.benchmark}: {benchmark.n_items} items"))
    table.add_column("model", overflow="fold")
    table.add_column("answers", justify="right")
    table.add_column("native score", justify="right")
    table.add_column("metric", overflow="fold")
    for model in benchmark.models:
        mean = "none" if math.isnan(model.native_mean) else f"{model.native_mean:.4f}"
        partly = f" (of {model.n_native})" if 0 < model.n_native < model.n else ""
        table.add_row(
            Text(model.model), str(model.n), mean + partly, Text(", ".join(model.native_metrics))
        )
    return table


def _facts(benchmark: BenchmarkAudit) -> list[str]:
    items, pairs = benchmark.n_items, benchmark.n_pairs
    facts = [
        f"saturated: {_share(benchmark.n_saturated, benchmark.n_native)} items "
        "have equal native scores for all models",
        f"identical: {_share(benchmark.n_identical_pairs, pairs)} pairs of answers; "
        f"in {_share(benchmark.n_all_identical, items)} items all answers",
        f"holes:     {benchmark.n_dropped} items left out",
    ]
    if benchmark.n_native < items:
        facts.append(f"undefined: {items - benchmark.n_native} items lack a native score")
    return facts


def _share(part: int, whole: int) -> str:
    return f"{part} of {whole}" + (f" ({part / whole:.1%})" if whole else "")


def _note_lines(notes: Sequence[Note]) -> list[str]:
    """Notes by kind, a few of each; the full list is in the pool."""
    lines: list[str] = []
    by_kind = sorted(notes, key=lambda note: note.kind)
    for kind, group in groupby(by_kind, key=lambda note: note.kind):
        listed = list(group)
        lines.append(f"{kind.replace('_', ' ')} ({len(listed)}):")
        lines += [f"  {note}" for note in listed[:_SHOWN_PER_KIND]]
        if len(listed) > _SHOWN_PER_KIND:
            lines.append(f"  and {len(listed) - _SHOWN_PER_KIND} more")
    return lines


def audit_text(result: Audit, width: int = 100) -> str:
    """The audit as plain text without colour, `width` columns wide."""
    from rich.console import Console

    console = Console(width=width, no_color=True, highlight=False)
    with console.capture() as capture:
        console.print(audit_report(result))
    return capture.get()
