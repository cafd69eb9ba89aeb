"""Read results of finished runs of both harnesses, and scores of pools, into one table of scores.

Notes of the table say what was left out, which of several results counts, and what differs.

lm-eval's summary of a run is `results_<date>.json`: its `results` hold, for each task and group,
values by "metric,filter"; a group that has values itself stands for its tasks. Only the model's
name is taken from the run's configuration, because it may hold keys.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tiebreak.candidates.discover import discover, visible_files
from tiebreak.candidates.identity import benchmark_name
from tiebreak.candidates.lm_eval_runs import SCORED_KEY, model_in, summaries_of
from tiebreak.candidates.native import choose_metric
from tiebreak.candidates.records import ReadOptions
from tiebreak.json_text import parse_json
from tiebreak.packed import unpacked_name
from tiebreak.paths import AnyPath, Paths, path_list
from tiebreak.tables.delimited import read_bytes
from tiebreak.tables.errors import TableError, UnreadableFileError, first_line, require_path, shown
from tiebreak.tables.reading import (
    NO_SCORE,
    POOL,
    Note,
    Part,
    Result,
    Unscored,
    read_inspect_result,
)
from tiebreak.tables.scores import ScoreTable, score_table
from tiebreak.text import listed, natural_key

# `results_<date>.json`, or `<name>_<date>.json` for an --output_path that names a file.
_RESULTS_NAME = re.compile(r"results.*\.json|.+_\d{4}-\d\d-\d\dT[\d.:-]+\.json")
# Files that could hold scores; others in a folder are not worth a note.
_DATA = (
    ".csv",
    ".json",
    ".jsonl",
    ".parquet",
    ".zip",
    ".json.gz",
    ".json.zst",
    ".jsonl.gz",
    ".jsonl.zst",
)

_KINDS = ("of one model's items", "of items paired with other models'")
# Largest difference between two means of the same scores.
_ROUNDING = 1e-6
# No benchmark has so many items: larger numbers are errors in the file.
_MANY_ITEMS = 10**12
# lm-eval's placeholder for the metric of a task that only generates answers.
_NO_METRIC = "bypass"


def read_results(
    paths: Paths,
    *,
    metric: str | Sequence[str] | None = None,
    filter: str | None = None,
    rename: Mapping[str, str] | None = None,
) -> ScoreTable:
    """Read scores from Inspect logs, lm-eval's `results_*.json` and pools (`write_parquet`).

    Args:
        paths: files and folders, in any mix; folders are searched with their subfolders. Ranking
            logs of Tiebreak, unsuccessful runs, and other files that could hold scores are left out
            and noted.
        metric: name of the score that counts, or several in order of preference. Default: Inspect's
            headline metric (if the task declares none, accuracy or mean of the first score),
            lm-eval's first. Pools have one: with `metric` or `filter`, folders' pools are left out.
        filter: the lm-eval filter whose score counts. Default: the first.
        rename: names of benchmarks to replace, e.g. `{"gsm8k_cot": "gsm8k"}`.

    Returns:
        Models and benchmarks sorted by name. Of several runs of a model on a benchmark the newest
        counts. A pool takes precedence over a log, because its errors are for paired items, and of
        several pools the one with the most items. Metrics that are better when lower get a minus
        sign. The notes report all of this.

    Raises:
        TableError: a path does not exist; a file given by name is of another kind or damaged (in a
            folder it is noted); there is no result of a finished run, or none with the metric and
            filter that were asked for; a metric or filter is asked for and a pool given by name; a
            key of `rename` is not the name of a benchmark.
    """
    given = path_list(paths)
    wanted = (metric,) if isinstance(metric, str) else tuple(metric or ())
    options = ReadOptions(native=wanted, filter=filter, rename=dict(rename or {}))
    parts = list(_read(map(Path, given), options))
    results = [part for part in parts if isinstance(part, Result)]
    unscored = [part for part in parts if isinstance(part, Unscored)]
    remarks = [part for part in parts if isinstance(part, Note)]
    notes = sentences(note for note in remarks if not note.public)
    public = unscored_notes(unscored, results)
    public += sentences(note for note in remarks if note.public)
    if not results:
        lacking = dict.fromkeys(name for note in remarks for name in note.lacking)
        raise _no_result(lacking, [*notes, *public], given, options)
    _refuse_unknown_names([*results, *unscored], options.rename)
    counting = [runs[-1] for runs in cells_of(results).values()]
    models, benchmarks = (
        sorted({getattr(result, axis) for result in results}, key=natural_key)
        for axis in ("model", "benchmark")
    )
    scores, errors = np.full((2, len(models), len(benchmarks)), np.nan)
    row, column = ({name: n for n, name in enumerate(names)} for names in (models, benchmarks))
    for result in counting:
        cell = row[result.model], column[result.benchmark]
        scores[cell], errors[cell] = result.score, _error(result)
    return score_table(
        models,
        benchmarks,
        scores,
        sources=list(dict.fromkeys(result.source for result in counting)),
        notes=[*notes, *repeat_notes(results)],
        public_notes=[*public, *metric_notes(counting)],
        errors=errors,
    )


def _error(result: Result) -> float:
    """Standard error of a result; if logged as 0 for a score of 0 or 1, that of a share 1/(n + 2).

    If all n items are right, the next one need not be.
    """
    n = result.n_items
    if result.error == 0 and n and abs(result.score) in (0, 1):
        share = 1 / (n + 2)
        return math.sqrt(share * (1 - share) / n)
    return result.error


def _read(paths: Iterable[Path], options: ReadOptions) -> Iterator[Part]:
    """Yield the parts of the files, and of all files of a known kind in folders, each file once."""
    done: set[Path] = set()
    for path in paths:
        require_path(path)
        files, notes = results_in(path) if path.is_dir() else ([path], [])
        yield from notes
        for file in files:
            if file.resolve() in done:
                continue
            done.add(file.resolve())
            try:
                yield from [*_reader(file)(file, options)]  # a list: all parts of a file, or none
            except UnreadableFileError as error:
                if file is path:  # given by name
                    raise
                yield Note("", f"Left out: {error}")


def results_in(folder: Path) -> tuple[list[Path], list[Note]]:
    """Logs, summaries of lm-eval and pools in a folder; notes on other files that are left out."""
    files = discover([folder]).files
    logs = {file.path for file in files if file.kind != "lm-eval"}
    samples = {file.path for file in files if file.kind == "lm-eval"}
    data = [
        path for path in visible_files(folder) if path.name.endswith(_DATA) and path not in logs
    ]
    summaries = {path for path in data if _RESULTS_NAME.fullmatch(path.name)}
    alone = "samples without the results_*.json of their run"
    notes = [
        *(
            Note(path.as_posix(), f"{alone}; left out")
            for path in samples
            if not summaries_of(path)
        ),
        *(
            Note(path.as_posix(), "holds no results of a run; left out")
            for path in data
            if path not in samples | summaries
        ),
    ]
    if not (logs or summaries):
        notes.append(Note(folder.as_posix(), "no results of a run in this folder"))
    return sorted(logs | summaries), sorted(notes)


def _reader(path: Path) -> Callable[[Path, ReadOptions], Iterator[Part]]:
    if path.suffix.lower() == POOL:
        # Arrow is imported only if there is a pool.
        from tiebreak.tables.pool_scores import read_pool_results

        return read_pool_results
    if not unpacked_name(path.name).endswith((".eval", ".json")):
        raise TableError(
            f"{path}: results are read from Inspect logs (.eval, .json), lm-eval's results_*.json "
            "and pools (.parquet); a table of scores must be a .csv of its own"
        )
    return read_inspect_result if is_inspect(path) else read_lm_eval_results


def is_inspect(path: Path) -> bool:
    """Whether a file is an Inspect log, found out without importing Inspect."""
    return any(file.kind == "inspect" for file in discover([path]).files)


def _refuse_unknown_names(results: Sequence[Result | Unscored], rename: Mapping[str, str]) -> None:
    names = {benchmark_name(result.task) for result in results}
    known = names | {result.task for result in results}
    for name in rename:
        if name not in known:
            present = ", ".join(sorted(names))
            raise TableError(f"--rename: there is no benchmark {name!r}; there are: {present}")


def _no_result(
    lacking: Iterable[str],
    notes: Iterable[str],
    given: Sequence[AnyPath],
    options: ReadOptions,
) -> TableError:
    where = ", ".join(map(str, given)) or "no path was given"
    if lacking:
        asked = [*map(repr, options.native), *([repr(options.filter)] if options.filter else [])]
        return TableError(
            f"{where}: no result has {' or '.join(asked)}; choose out of {', '.join(lacking)}"
        )
    lines = "".join(f"\n  - {note}" for note in notes)
    return TableError(
        f"{where}: there is no result of a finished run; give Inspect logs (.eval, .json), "
        f"lm-eval's results_*.json, pools (.parquet), or folders of these{lines}"
    )


def sentences(notes: Iterable[Note]) -> list[str]:
    """One sentence for each text, beginning with all models or files that it is about."""
    about: dict[str, dict[str, None]] = {}
    for note in notes:
        about.setdefault(note.text, {})[note.about] = None
    return [
        f"{listed(names)}: {text}" if (names := [*filter(None, subjects)]) else text
        for text, subjects in about.items()
    ]


def unscored_notes(unscored: Iterable[Unscored], results: Iterable[Result]) -> list[str]:
    """Sentences on benchmarks that have no score for a model, or only that of an older run."""
    scored = {cell: runs[-1] for cell, runs in cells_of(results).items()}
    models: dict[tuple[str, str], list[str]] = {}
    for answers in unscored:
        result = scored.get((answers.model, answers.benchmark))
        if result is None:
            key = (f"{answers.benchmark} is left out for ", answers.reason)
        elif answers.when > result.when and not result.paired:
            key = (
                f"{answers.benchmark}: an earlier run counts for ",
                f"in the newest {answers.reason}",
            )
        else:
            continue
        models.setdefault(key, []).append(repr(answers.model))
    return [f"{begin}{_joined(names)}: {text}" for (begin, text), names in models.items()]


def cells_of(results: Iterable[Result]) -> dict[tuple[str, str], list[Result]]:
    """Results by model and benchmark; the last in each list is the one that counts."""
    cells: dict[tuple[str, str], list[Result]] = {}
    for result in sorted(results, key=_standing):
        cells.setdefault((result.model, result.benchmark), []).append(result)
    return cells


def _standing(result: Result) -> tuple[bool, float, int, str, str]:
    return result.paired, result.when, result.n_items or 0, result.source, result.task


def repeat_notes(results: Iterable[Result]) -> Iterator[str]:
    """Sentences on repeated runs: by which rule, and for which models, a run does not count."""
    rules: dict[str, dict[str, list[list[Result]]]] = {}
    apart = []
    cells = cells_of(results)
    for model, benchmark in sorted(cells, key=lambda cell: tuple(map(natural_key, cell))):
        *repeats, last = runs = cells[model, benchmark]
        if repeats:
            rules.setdefault(_rule(runs), {}).setdefault(last.source, []).append(runs)
        apart += [
            f"{benchmark} of {model!r} is {last.score:.4g} in {last.source} and {other.score:.4g} "
            f"in {other.source}"
            for other in repeats[-1:]
            if last.paired and last.n_items == other.n_items
            if abs(last.score - other.score) > _ROUNDING
        ]
    for rule, sources in rules.items():
        parts = [
            f"{_joined(repr(runs[-1].model) for runs in same)} on "
            f"{_joined(runs[-1].benchmark for runs in same)}: {source}, "
            f"not {_joined(run.source for runs in same for run in runs[:-1])}"
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


def _joined(names: Iterable[str]) -> str:
    return listed(list(dict.fromkeys(names)))


def metric_notes(results: Iterable[Result]) -> Iterator[str]:
    """Sentences on the metrics chosen, and on benchmarks whose results are not of one kind."""
    chosen: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    columns: dict[str, list[Result]] = {}
    for result in sorted(
        results, key=lambda result: (natural_key(result.benchmark), natural_key(result.model))
    ):
        columns.setdefault(result.benchmark, []).append(result)
        if len(result.choices) > 1:
            chosen.setdefault((result.metric, result.choices), []).append(result.benchmark)
    for (metric, choices), benchmarks in chosen.items():
        where = ", ".join(dict.fromkeys(benchmarks))
        yield f"{where}: the score is {metric}, out of {', '.join(choices)} (choose with --metric)"
    for benchmark, column in columns.items():
        yield from _difference_note(
            benchmark, "metric", {result.metric: result.model for result in column}
        )
        counts = {result.n_items: result.model for result in column if result.n_items is not None}
        yield from _difference_note(benchmark, "number of items", counts)
        kinds = {_KINDS[result.paired]: result.model for result in column}
        yield from _difference_note(benchmark, "kind of standard error", kinds)


def _difference_note(benchmark: str, feature: str, models: Mapping[Any, str]) -> Iterator[str]:
    if len(models) > 1:
        shown = ", ".join(f"{value} (such as {model!r})" for value, model in models.items())
        yield f"{benchmark}: the {feature} is not the same for all models: {shown}"


def read_lm_eval_results(path: Path, options: ReadOptions) -> Iterator[Part]:
    """Read the results of all tasks in one summary.

    By default a task's first metric under its first filter counts. `options.native` names metrics
    in order of preference, alone (`exact_match`) or with a filter (`exact_match,strict-match`);
    `options.filter` names a filter. A metric that is better when lower gets a minus sign.

    Raises:
        UnreadableFileError: the file is damaged or not a summary of lm-eval.
    """
    source = path.as_posix()
    summary = _parse(path)
    model, named_after_folder = _model(path)
    covered = _covered(summary)
    metrics = {
        task: _metrics(values) for task, values in summary["results"].items() if task not in covered
    }
    started = _number(summary.get("date"))
    when, groups = -math.inf if started is None else started, _groups(summary)
    for task, present in metrics.items():
        if present:
            yield from _read_task(summary, task, present, source, model, when, options)
        elif not groups.get(task):  # a group needs no values of its own: its tasks have them
            yield Unscored(model, task, options.benchmark(task), NO_SCORE, when)
    if named_after_folder:
        yield Note(source, f"names no model; it is called after its folder, {model!r}")
    for group, tasks in Counter(covered.values()).items():
        yield Note("", f"{group} stands for its {tasks} tasks", public=True)


_UNSAID = "unsaid"  # truthy, so that higher counts as better


def _read_task(
    summary: Mapping[str, Any],
    task: str,
    choices: list[str],
    source: str,
    model: str,
    when: float,
    options: ReadOptions,
) -> Iterator[Result | Note]:
    """Yield the result of a task and notes on it; only notes if it has no result."""
    about, name = repr(model), _choose(choices, options)
    if name is None:
        text = f"{task} has only {', '.join(choices)}; left out"
        yield Note(about, text, lacking=tuple(choices))
        return
    given = summary["results"][task][name]
    value = _number(given)
    metric = name.removesuffix(",none")  # lm-eval's name of no filter
    error = _number(summary["results"][task].get(name.replace(",", "_stderr,", 1)))
    up = _by_task(summary, "higher_is_better", task).get(name.partition(",")[0], _UNSAID)
    if value is None:
        yield Note(about, f"{task}: {metric} is {shown(given)}, not a finite number; left out")
        return
    if up is None:
        text = (
            f"{task}: lm-eval does not say whether a higher {metric} is better (its tasks "
            "disagree); left out (choose another with --metric)"
        )
        yield Note(about, text)
        return
    if up is _UNSAID:
        text = f"{task}: the file does not say whether a higher {metric} is better; taken so"
        yield Note(about, text, public=True)
    elif not up:
        text = f"{task}: a lower {metric} is better; its scores have a minus sign"
        yield Note("", text, public=True)
    # Answers that `tiebreak score-code` could not run; lm-eval scores all.
    counts = summary.get(SCORED_KEY)
    if isinstance(counts, dict) and counts.get("scored") != counts.get("answers"):
        text = f"{counts.get('scored')} of {counts.get('answers')} answers are scored"
        yield Note(about, f"{task}: {text}; the others are left out", public=True)
    n_items = _by_task(summary, "n-samples", task).get("effective")
    n_items = summary["results"][task].get("sample_len") if n_items is None else n_items
    yield Result(
        model=model,
        task=task,
        benchmark=options.benchmark(task),
        score=value if up else 0.0 - value,  # -value could be -0.0
        metric=metric,
        choices=tuple(choice.removesuffix(",none") for choice in choices),
        when=when,
        n_items=n_items if type(n_items) is int and 0 < n_items < _MANY_ITEMS else None,
        source=source,
        error=math.nan if error is None else error,
    )


def _by_task(summary: Mapping[str, Any], key: str, task: str) -> Mapping[str, Any]:
    """Values of a task in a part of the summary, empty if the part has another form.

    For `higher_is_better`: True or False for each metric, None if lm-eval cannot tell.
    """
    tasks = summary.get(key)
    values = tasks.get(task) if isinstance(tasks, dict) else None
    return values if isinstance(values, dict) else {}


def _parse(path: Path) -> dict[str, Any]:
    data = read_bytes(path)
    try:
        summary = parse_json(data)
    except ValueError as error:
        raise UnreadableFileError(
            f"{path} cannot be read as JSON ({first_line(str(error))}); remove it or run lm-eval "
            "again"
        ) from error
    tasks = summary.get("results") if isinstance(summary, dict) else None
    rows = list(tasks.values()) if isinstance(tasks, dict) else []
    if not rows or not all(isinstance(row, dict) for row in rows):
        raise UnreadableFileError(
            f"{path} is not a summary of lm-eval (no 'results' by task); give results_*.json, an "
            "Inspect log or a folder of these"
        )
    return dict(summary)


def _model(path: Path) -> tuple[str, bool]:
    """The model's name, and whether it is the name of the folder for want of another."""
    name = model_in(path)
    return (path.resolve().parent.name, True) if name is None else (name, False)


def _number(value: Any) -> float | None:
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return None
    try:
        return float(value) if math.isfinite(value) else None
    except OverflowError:  # JSON has whole numbers of any length
        return None


def _metrics(values: Mapping[str, Any]) -> list[str]:
    """Names "metric,filter" in the order of the file, without standard errors."""
    split = {key: key.partition(",") for key in values}
    return [
        key
        for key, (metric, comma, _) in split.items()
        if comma and metric != _NO_METRIC and not metric.endswith("_stderr")
    ]


def _choose(present: list[str], options: ReadOptions) -> str | None:
    """The wanted metric under the wanted filter, or by default the first; None if absent."""
    names: dict[str, str] = {}
    for key in present:
        metric, _, after = key.partition(",")
        if options.filter in (None, after):
            names.setdefault(metric, key)
            names.setdefault(key, key)
    chosen = choose_metric(list(names), options.native)
    return None if chosen is None else names[chosen]


def _groups(summary: Mapping[str, Any]) -> Mapping[str, list[str]]:
    """Names of tasks by group; empty for a task that is no group."""
    groups = summary.get("group_subtasks")
    return {
        group: [task for task in tasks if isinstance(task, str)]
        for group, tasks in (groups if isinstance(groups, dict) else {}).items()
        if isinstance(tasks, list)
    }


def _covered(summary: Mapping[str, Any]) -> dict[str, str]:
    """Tasks that are replaced by a group with values of its own, each with its topmost group."""
    children = _groups(summary)
    covered: dict[str, str] = {}
    for group in children:
        if group in covered or not _metrics(summary["results"].get(group, {})):
            continue
        below = list(children[group])
        while below:
            task = below.pop()
            if task not in covered and task != group:
                covered[task] = group
                below += children.get(task, ())
    topmost: dict[str, str] = {}
    for task in covered:  # a nested group may have come before the group around it
        way = [task]
        while way[-1] in covered and way[-1] not in topmost:
            way.append(covered[way[-1]])
        topmost |= dict.fromkeys(way[:-1], topmost.get(way[-1], way[-1]))
    return topmost
