"""Load paths into one aligned pool, and audit how much of a pool is saturated before judging."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import fspath
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import get_args

from tiebreak.candidates.align import align, align_by_models, in_order
from tiebreak.candidates.answers import read_answers
from tiebreak.candidates.arena_logs import joined
from tiebreak.candidates.discover import CandidateFile, discover
from tiebreak.candidates.errors import CandidateError
from tiebreak.candidates.hub import is_on_hub, read_published
from tiebreak.candidates.identity import benchmark_name, identical_groups
from tiebreak.candidates.lm_eval_runs import task_of
from tiebreak.candidates.lm_eval_samples import read_lm_eval_samples
from tiebreak.candidates.parquet import read_pool_file
from tiebreak.candidates.pool import Candidate, CandidatePool, Mode, Note
from tiebreak.candidates.records import Epochs, LogRecord, Reading, ReadOptions, place, places_of
from tiebreak.paths import Paths, path_list
from tiebreak.progress import tracked


def load_candidates(
    paths: Paths,
    mode: Mode = "strict",
    *,
    epochs: Epochs = "first",
    native: str | Sequence[str] | None = None,
    filter: str | None = None,
    rename: Mapping[str, str] | None = None,
    names: Mapping[str, str] | None = None,
    same_settings: bool = False,
    alone: bool = False,
) -> CandidatePool:
    """Read the answers that models gave and align them, item by item.

    Args:
        paths: files and folders, in any mix: Inspect logs (`.eval`, `.json`), lm-eval output
            folders or `samples_*.jsonl`, each also with `.gz` or `.zst`, pools written by
            `write_parquet`, rows with `prompt`, `model` and `answer` (JSON lines, CSV or Parquet;
            see `answers`), and `.zip` archives of all these. Folders are searched with their
            subfolders. Tiebreak's own ranking logs are left out and noted, except those of an
            arena, which also hold the answers. Addresses that fsspec knows, such as
            `s3://BUCKET/LOGS`, are fetched.
            `hf://datasets/OWNER/NAME[@REVISION][/FILE]`: candidates published on the Hub.
        mode: `strict`: raise an error that lists everything missing, damaged or contradictory.
            `intersect`: keep the items that all models of a benchmark answered; `pool.notes` says
            what was left out.
        epochs: `first` keeps epoch 1 (and notes that there were more), `all` makes one candidate
            per item, model and epoch. lm-eval's repeats share one score; the first is kept.
        native: name of the native score, or several in order of preference. Default: the first
            that all logs of a benchmark have. The parts of a score with several values are named
            `name.part`. Pools keep the score they were written with.
        filter: name of the lm-eval filter whose score is taken. Default: the first in the file.
        rename: benchmark names to replace, e.g. `{"gsm8k_cot": "gsm8k"}`.
        names: names of models, by the file or folder of their logs.
        same_settings: whether it is an error if models were asked in different ways (shots,
            temperature, solver …); this is noted in any case.
        alone: whether a benchmark may have a single model, whose answers can only be graded.

    Returns:
        The pool, in an order that does not depend on the order of paths or rows.

    Raises:
        CandidateError: something is wrong; the message lists all problems with their places, and
            `kind` is the earliest ("hole": nothing is wrong but missing answers to some items).
        ValueError: an unknown `mode` or `epochs`.
    """
    _check("mode", mode, get_args(Mode))
    read = _read_all(paths, epochs, native, filter, rename, names)
    return align(
        read.records,
        mode,
        notes=read.notes,
        problems=read.problems,
        alone=alone,
        same_settings=same_settings,
    )


def load_by_models(
    paths: Paths,
    *,
    epochs: Epochs = "first",
    native: str | Sequence[str] | None = None,
    filter: str | None = None,
    rename: Mapping[str, str] | None = None,
    names: Mapping[str, str] | None = None,
) -> tuple[CandidatePool, ...]:
    """Load the answers of models that answered different items: a pool for each set of models.

    Each answer is in one pool, with those of all other models that answered its item; a model that
    is the only one to answer an item has a pool of its own. Unreadable files are left out and
    noted, as in `intersect`. For the arguments see `load_candidates`.

    Raises:
        CandidateError: nothing can be read, a model has two logs, or an item has two questions.
    """
    return align_by_models(_read_all(paths, epochs, native, filter, rename, names))


def _read_all(
    paths: Paths,
    epochs: Epochs,
    native: str | Sequence[str] | None,
    filter: str | None,
    rename: Mapping[str, str] | None,
    models: Mapping[str, str] | None,
) -> Reading:
    _check("epochs", epochs, get_args(Epochs))
    wanted = (native,) if isinstance(native, str) else tuple(native or ())
    by_place = {place(path): model for path, model in (models or {}).items()}
    options = ReadOptions(epochs, wanted, filter, dict(rename or {}), by_place)
    given = path_list(paths)
    if not given:
        raise CandidateError.of("empty_folder", "paths", "no path was given")
    names = [fspath(path) for path in given]
    with TemporaryDirectory(prefix="tiebreak-", ignore_cleanup_errors=True) as scratch:
        discovery = discover((name for name in names if not is_on_hub(name)), Path(scratch))
        options = replace(options, roots=discovery.roots)
        readings = [_read(file, options) for file in tracked(discovery.files, "reading answers")]
        readings = _with_shared_metrics(discovery.files, _without_retried(readings), options)
    readings += [read_published(name, options) for name in dict.fromkeys(names) if is_on_hub(name)]
    records = joined(record for reading in readings for record in reading.records)
    notes = [*discovery.notes, *(note for reading in readings for note in reading.notes)]
    problems = [
        *discovery.problems,
        *(problem for reading in readings for problem in reading.problems),
    ]
    # Tasks without written answers often lie beside others. They are a problem only if no other
    # task was loaded, or if another log of the same task has written answers.
    benchmarks = {record.benchmark for record in records}
    passed_over = [
        problem
        for problem in problems
        if problem.kind == "not_written"
        and benchmarks - {options.benchmark(task_of(Path(problem.where)))} == benchmarks != set()
    ]
    notes += passed_over
    problems = [problem for problem in problems if problem not in passed_over]
    return Reading(
        records, tuple(notes), (*problems, *_unused_names(options, models or {}, records))
    )


def _without_retried(readings: Iterable[Reading]) -> list[Reading]:
    """Turn the problems of failed runs into notes if a retry succeeded."""
    readings = list(readings)
    succeeded = {reading.run for reading in readings if reading.records}
    return [
        replace(
            reading,
            notes=tuple(
                Note("retried", note.where, f"{note.what}; its retry is used instead")
                for note in reading.problems
            ),
            problems=(),
        )
        if not reading.records and reading.run in succeeded - {""}  # "" is unknown
        else reading
        for reading in readings
    ]


def _with_shared_metrics(
    files: Sequence[CandidateFile], readings: Sequence[Reading], options: ReadOptions
) -> list[Reading]:
    """Read logs again with the first score that all logs of their benchmark and harness have."""
    if options.native:
        return list(readings)
    groups: dict[tuple[str, str], list[tuple[str, ...]]] = defaultdict(list)
    all_records = (record for reading in readings for record in reading.records)
    for scored in in_order(all_records):
        if scored.metrics:
            groups[scored.benchmark, scored.harness].append(scored.metrics)
    shared = {
        group: [name for name in metrics[0] if all(name in other for other in metrics)]
        for group, metrics in groups.items()
    }
    again = []
    for file, reading in zip(files, readings, strict=True):
        record = next(iter(reading.records), None)
        wanted = shared.get((record.benchmark, record.harness), []) if record else []
        if record and record.metrics and wanted and record.metrics[0] != wanted[0]:
            reading = _read(file, replace(options, native=(wanted[0],)))
        again.append(reading)
    return again


def _check(name: str, value: str, allowed: Sequence[str]) -> None:
    if value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, allowed))}, not {value!r}")


def _read(file: CandidateFile, options: ReadOptions) -> Reading:
    try:
        if file.kind == "inspect":
            # Importing Inspect takes seconds, which lm-eval users do not need.
            from tiebreak.candidates.inspect_logs import read_inspect_log

            return read_inspect_log(file.path, options)
        if file.kind == "answers":
            return read_answers(file.path, options)
        if file.kind == "pool":
            return read_pool_file(file.path, options)
        return read_lm_eval_samples(file.path, options)
    except OSError as error:
        message = f"cannot be opened ({error.strerror or error})"
        return Reading(problems=(Note("unreadable_log", options.shown(file.path), message),))


def _unused_names(
    options: ReadOptions, models: Iterable[str], records: Sequence[LogRecord]
) -> list[Note]:
    """Problems: keys of `rename` that match no benchmark, and paths in `names` without a log."""
    tasks = {record.task for record in records}
    known = tasks | {benchmark_name(task) for task in tasks}
    shown = ", ".join(sorted({benchmark_name(task) for task in tasks})) or "none"
    # Pools keep the names that they were written with.
    sources = {record.source for record in records if not record.source.endswith(".parquet")}
    logs = [places_of(source) for source in sources]
    return [
        Note("rename", "rename", f"no benchmark {name!r}; there are: {shown}")
        for name in options.rename
        if name not in known
    ] + [
        Note("rename", "name", f"no log at {path!r}")
        for path in models
        if not any(place(path) in places for places in logs)
    ]


@dataclass(frozen=True)
class ModelAudit:
    """One model on one benchmark.

    `native_mean` is the mean native score over the `n_native` answers that have one, NaN if none
    has; `native_metrics` are the names of these scores.
    """

    model: str
    n: int
    n_native: int
    native_mean: float
    native_metrics: tuple[str, ...]


@dataclass(frozen=True)
class BenchmarkAudit:
    """One benchmark of a pool. Counts are of items; an item counts once in each epoch.

    `intersect` left out `n_dropped` items because an answer was missing. `n_native` items have a
    native score for every model; in `n_saturated` of these all scores are equal and distinguish no
    models. Of the `n_pairs` pairs of answers to the same item, `n_identical_pairs` are equal after
    normalisation and need no judge. To `n_all_identical` items all models gave the same answer.
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
    """Counts of a pool by benchmark, and the notes of loading."""

    benchmarks: tuple[BenchmarkAudit, ...]
    notes: tuple[Note, ...] = field(repr=False)


def audit(pool: CandidatePool) -> Audit:
    """Compute a pool's native accuracy, saturated items, identical answers and dropped items."""
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
