"""What is to be said of results: what was left out, what counts, and what is unlike."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from tiebreak.tables.errors import listed
from tiebreak.tables.reading import Note, Result, Unscored
from tiebreak.words import natural_key

_KINDS = ("of one model's items", "of items paired with other models'")
# How far apart two means of the same scores can be.
_ROUNDING = 1e-6


def sentences(notes: Iterable[Note]) -> list[str]:
    """Each thing that is to be said once, with all that it is said of."""
    about: dict[str, dict[str, None]] = {}
    for note in notes:
        about.setdefault(note.what, {})[note.about] = None
    return [
        f"{listed(names)}: {what}" if (names := [*filter(None, who)]) else what
        for what, who in about.items()
    ]


def unscored_notes(unscored: Iterable[Unscored], results: Iterable[Result]) -> list[str]:
    """What no file gives a score for, and what only an older one does: a sentence for each kind."""
    scored = {cell: runs[-1] for cell, runs in cells_of(results).items()}
    models: dict[tuple[str, str], list[str]] = {}
    for one in unscored:
        result = scored.get((one.model, one.benchmark))
        if result is None:
            key = (f"{one.benchmark} is left out for ", one.what)
        elif one.when > result.when and not result.paired:
            key = (f"{one.benchmark}: an earlier run counts for ", f"in the newest {one.what}")
        else:
            continue
        models.setdefault(key, []).append(repr(one.model))
    return [f"{begin}{_each(names)}: {what}" for (begin, what), names in models.items()]


def cells_of(results: Iterable[Result]) -> dict[tuple[str, str], list[Result]]:
    """Results by model and benchmark, that which counts last."""
    cells: dict[tuple[str, str], list[Result]] = {}
    for one in sorted(results, key=_standing):
        cells.setdefault((one.model, one.benchmark), []).append(one)
    return cells


def _standing(result: Result) -> tuple[bool, float, int, str, str]:
    return result.paired, result.when, result.n_items or 0, result.source, result.task


def repeat_notes(results: Iterable[Result]) -> Iterator[str]:
    """A sentence for each rule on all runs that do not count, by the file that does instead."""
    rules: dict[str, dict[str, list[list[Result]]]] = {}
    apart = []
    cells = cells_of(results)
    for model, benchmark in sorted(cells, key=lambda cell: tuple(map(natural_key, cell))):
        *others, one = runs = cells[model, benchmark]
        if others:
            rules.setdefault(_rule(runs), {}).setdefault(one.source, []).append(runs)
        apart += [
            f"{benchmark} of {model!r} is {one.score:.4g} in {one.source} and {other.score:.4g} in "
            f"{other.source}"
            for other in others[-1:]
            if one.paired and one.n_items == other.n_items
            if abs(one.score - other.score) > _ROUNDING
        ]
    for rule, sources in rules.items():
        parts = [
            f"{_each(repr(runs[-1].model) for runs in same)} on "
            f"{_each(runs[-1].benchmark for runs in same)}: {source}, "
            f"not {_each(run.source for runs in same for run in runs[:-1])}"
            for source, same in sources.items()
        ]
        yield f"{rule}: {listed(parts, '; ')}"
    if apart:
        yield f"Scores differ over as many items: {listed(apart, '; ', most=3)}"


def _rule(runs: Sequence[Result]) -> str:
    if not runs[-1].paired:
        return "Of several runs the newest counts"
    if runs[-2].paired:
        return "Of several pools the one with the most items counts"
    return "A pool counts rather than a log, since its errors are of paired items"


def _each(names: Iterable[str]) -> str:
    return listed(list(dict.fromkeys(names)))


def metric_notes(results: Iterable[Result]) -> Iterator[str]:
    """What was chosen, and where the results of a benchmark are not of one kind."""
    chosen: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    columns: dict[str, list[Result]] = {}
    for one in sorted(
        results, key=lambda one: (natural_key(one.benchmark), natural_key(one.model))
    ):
        columns.setdefault(one.benchmark, []).append(one)
        if len(one.choices) > 1:
            chosen.setdefault((one.metric, one.choices), []).append(one.benchmark)
    for (metric, choices), benchmarks in chosen.items():
        where = ", ".join(dict.fromkeys(benchmarks))
        yield f"{where}: the score is {metric}, out of {', '.join(choices)} (choose with --metric)"
    for benchmark, column in columns.items():
        yield from _unlike(benchmark, "metric", {one.metric: one.model for one in column})
        counts = {one.n_items: one.model for one in column if one.n_items is not None}
        yield from _unlike(benchmark, "number of items", counts)
        kinds = {_KINDS[one.paired]: one.model for one in column}
        yield from _unlike(benchmark, "kind of standard error", kinds)


def _unlike(benchmark: str, what: str, models: Mapping[Any, str]) -> Iterator[str]:
    """A note where models differ in something that should be the same for all."""
    if len(models) > 1:
        each = ", ".join(f"{value} (such as {model!r})" for value, model in models.items())
        yield f"{benchmark}: the {what} is not the same for all models: {each}"
