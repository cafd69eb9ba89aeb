"""Results of finished runs, of two harnesses, as one table of scores."""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tiebreak.candidates.discover import discover
from tiebreak.candidates.identity import benchmark_name
from tiebreak.candidates.records import ReadOptions, natural_key
from tiebreak.paths import AnyPath, Paths, path_list
from tiebreak.tables.errors import TableError, UnreadableFileError, missing_file
from tiebreak.tables.scores import ScoreTable, score_table

# `results_<date>.json`, or `<name>_<date>.json` for an --output_path that names a file.
_RESULTS_NAME = re.compile(r"results.*\.json|.+_\d{4}-\d\d-\d\dT[\d.:-]+\.json")


class Result(NamedTuple):
    """A score of a model on a benchmark, better when higher.

    `task` is the benchmark's name as the file has it. `metric` was chosen out of `choices`. `when`
    is the start of the run in seconds since 1970, −inf where the file does not say. `n_items` is
    the number of items scored, None where the file does not say. `error` is the score's standard
    error over items, NaN where the file does not say.
    """

    model: str
    task: str
    benchmark: str
    score: float
    metric: str
    choices: tuple[str, ...]
    when: float
    n_items: int | None
    source: str
    error: float = math.nan


@dataclass(frozen=True, slots=True)
class Reading:
    """What one file gave: results, and sentences on what it did not give and why.

    `lacking` lists the metrics of those tasks that have not the metric that was asked for.
    """

    results: tuple[Result, ...] = ()
    notes: tuple[str, ...] = ()
    lacking: tuple[str, ...] = ()


def read_results(
    paths: Paths,
    *,
    metric: str | Sequence[str] | None = None,
    filter: str | None = None,
    rename: Mapping[str, str] | None = None,
) -> ScoreTable:
    """Read the results of finished runs: Inspect logs and lm-eval's `results_*.json`.

    Args:
        paths: files and folders, in any mix; folders are searched with their subfolders. Ranking
            logs of Tiebreak, and runs that did not succeed, are left out and noted.
        metric: name of the score that counts, or several in order of preference. Default: Inspect's
            headline metric (accuracy or mean of the first score, where the task declares none),
            lm-eval's first.
        filter: the lm-eval filter whose score counts. Default: the first.
        rename: names of benchmarks to replace, such as `{"gsm8k_cot": "gsm8k"}`.

    Returns:
        Models and benchmarks sorted by name. Of several runs of a model on a benchmark the newest
        counts. Metrics that are better when lower have a minus sign. All of it is in the notes.

    Raises:
        TableError: a path does not exist; a file given by name is of another kind or damaged (one
            in a folder is noted); there is no result of a finished run, or none with the metric
            and filter that were asked for; a key of `rename` is not the name of a benchmark.
    """
    given = path_list(paths)
    wanted = (metric,) if isinstance(metric, str) else tuple(metric or ())
    options = ReadOptions(native=wanted, filter=filter, rename=dict(rename or {}))
    readings = [reading for path in map(Path, given) for reading in _read(path, options)]
    every = list(dict.fromkeys(one for reading in readings for one in reading.results))
    if not every:
        raise _no_result(readings, given, options)
    _refuse_unknown_names(every, options.rename)
    newest = _newest(every)
    models, benchmarks = (
        sorted({getattr(one, axis) for one in every}, key=natural_key)
        for axis in ("model", "benchmark")
    )
    scores, errors = np.full((2, len(models), len(benchmarks)), np.nan)
    for one in newest:
        cell = models.index(one.model), benchmarks.index(one.benchmark)
        scores[cell], errors[cell] = one.score, _error(one)
    notes = [note for reading in readings for note in reading.notes]
    return score_table(
        models,
        benchmarks,
        scores,
        sources=list(dict.fromkeys(one.source for one in newest)),
        notes=list(dict.fromkeys([*notes, *_repeat_notes(every), *_metric_notes(newest)])),
        errors=errors,
    )


def _error(result: Result) -> float:
    """The standard error; of a score of 0 or 1, which says 0, that of one item more of each kind.

    All items right does not mean that the next one is right for sure.
    """
    n = result.n_items
    if result.error == 0 and n and abs(result.score) in (0, 1):
        share = 1 / (n + 2)
        return math.sqrt(share * (1 - share) / n)
    return result.error


def _read(path: Path, options: ReadOptions) -> Iterator[Reading]:
    """Readings of a file, or of all files of a known kind in a folder."""
    if not path.exists():
        raise missing_file(path)
    if not path.is_dir():
        yield _reader(path)(path, options)
        return
    for file in _in_folder(path):
        try:
            yield _reader(file)(file, options)
        except UnreadableFileError as error:
            yield Reading(notes=(f"Left out: {error}",))


def _in_folder(folder: Path) -> list[Path]:
    """Inspect logs and summaries of lm-eval; hidden files are skipped."""
    logs = {found.path for found in discover([folder]).files if found.kind == "inspect"}
    summaries = {
        path
        for path in folder.rglob("*.json")
        if _RESULTS_NAME.fullmatch(path.name)
        and not any(part.startswith(".") for part in path.relative_to(folder).parts)
        and path not in logs
    }
    return sorted(logs | summaries)


def _reader(path: Path) -> Callable[[Path, ReadOptions], Reading]:
    if path.suffix not in (".eval", ".json"):
        raise TableError(
            f"{path}: results are read from Inspect logs (.eval, .json) and lm-eval's "
            "results_*.json; a table of scores must be a .csv of its own"
        )
    # Importing Inspect takes seconds; lm-eval users need not wait.
    if any(found.kind == "inspect" for found in discover([path]).files):
        from tiebreak.tables.inspect_results import read_inspect_result

        return read_inspect_result
    from tiebreak.tables.lm_eval_results import read_lm_eval_results

    return read_lm_eval_results


def _refuse_unknown_names(results: Sequence[Result], rename: Mapping[str, str]) -> None:
    names = {benchmark_name(one.task) for one in results}
    known = names | {one.task for one in results}
    for name in rename:
        if name not in known:
            there = ", ".join(sorted(names))
            raise TableError(f"rename: there is no benchmark {name!r}; there are: {there}")


def _no_result(
    readings: Sequence[Reading], given: Sequence[AnyPath], options: ReadOptions
) -> TableError:
    where = ", ".join(map(str, given)) or "no path was given"
    lacking = dict.fromkeys(name for reading in readings for name in reading.lacking)
    if lacking:
        asked = [*map(repr, options.native), *([repr(options.filter)] if options.filter else [])]
        return TableError(
            f"{where}: no result has {' or '.join(asked)}; choose out of {', '.join(lacking)}"
        )
    notes = [note for reading in readings for note in reading.notes]
    listed = "".join(f"\n  - {note}" for note in dict.fromkeys(notes))
    return TableError(
        f"{where}: there is no result of a finished run; give Inspect logs (.eval, .json), "
        f"lm-eval's results_*.json, or folders of these{listed}"
    )


def _cells(results: Iterable[Result]) -> dict[tuple[str, str], list[Result]]:
    """Results by model and benchmark, the newest of a cell last."""
    cells: dict[tuple[str, str], list[Result]] = {}
    for one in sorted(results, key=lambda result: (result.when, result.source, result.task)):
        cells.setdefault((one.model, one.benchmark), []).append(one)
    return cells


def _newest(results: Iterable[Result]) -> list[Result]:
    return [runs[-1] for runs in _cells(results).values()]


def _repeat_notes(results: Iterable[Result]) -> Iterator[str]:
    for (model, benchmark), runs in _cells(results).items():
        if len(runs) > 1:
            older = ", ".join(run.source for run in runs[:-1])
            yield (
                f"{model!r} ran {benchmark!r} more than once: {runs[-1].source} is the newest and "
                f"counts, {older} does not"
            )


def _metric_notes(results: Iterable[Result]) -> Iterator[str]:
    """What was chosen, and where the results of a benchmark are not of one kind."""
    chosen: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    columns: dict[str, list[Result]] = {}
    for one in sorted(results, key=lambda result: natural_key(result.benchmark)):
        columns.setdefault(one.benchmark, []).append(one)
        if len(one.choices) > 1:
            chosen.setdefault((one.metric, one.choices), []).append(one.benchmark)
    for (metric, choices), benchmarks in chosen.items():
        where = ", ".join(dict.fromkeys(benchmarks))
        yield f"{where}: the score is {metric}, out of {', '.join(choices)} (choose with metric=)"
    for benchmark, column in columns.items():
        yield from _unlike(benchmark, "metric", {one.metric: one.model for one in column})
        counts = {one.n_items: one.model for one in column if one.n_items is not None}
        yield from _unlike(benchmark, "number of items", counts)


def _unlike(benchmark: str, what: str, models: Mapping[Any, str]) -> Iterator[str]:
    """A note where models differ in something that should be the same for all."""
    if len(models) > 1:
        each = ", ".join(f"{value} (such as {model!r})" for value, model in models.items())
        yield f"{benchmark}: the {what} is not the same for all models: {each}"
