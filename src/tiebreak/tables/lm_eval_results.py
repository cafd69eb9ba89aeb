"""Results of lm-eval: its summary of a run, `results_<date>.json`.

`results` holds, for each task and group, values by "metric,filter"; a group that has values of its
own stands for its tasks. Nothing but the model's name is taken from the run's configuration: it may
hold keys.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from tiebreak.candidates.json_text import parse_json
from tiebreak.candidates.lm_eval_runs import SCORED_KEY, model_in
from tiebreak.candidates.native import choose_metric
from tiebreak.candidates.records import ReadOptions
from tiebreak.tables.delimited import read_bytes
from tiebreak.tables.errors import UnreadableFileError, first_line, shown
from tiebreak.tables.reading import NO_SCORE, Note, Reading, Result, Unscored

# No benchmark has as many.
_MANY_ITEMS = 10**12
# lm-eval's placeholder where answers are written and nothing is measured.
_NO_METRIC = "bypass"


def read_lm_eval_results(path: Path, options: ReadOptions) -> Reading:
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
    chosen = {task: _choose(present, options) for task, present in metrics.items() if present}
    started = _number(summary.get("date"))
    when = -math.inf if started is None else started
    read = partial(_read_task, summary, source=source, model=model, when=when, options=options)
    parts = [part for task, name in chosen.items() for part in read(task, name, metrics[task])]
    notes = [part for part in parts if isinstance(part, Note)]
    if named_after_folder:
        notes.append(Note(source, f"names no model; it is called after its folder, {model!r}"))
    groups = _groups(summary)
    return Reading(
        results=tuple(part for part in parts if isinstance(part, Result)),
        notes=(*notes, *_group_notes(covered)),
        lacking=tuple(name for task in chosen if chosen[task] is None for name in metrics[task]),
        unscored=tuple(
            Unscored(model, task, options.benchmark(task), NO_SCORE, when)
            for task, present in metrics.items()
            if not (present or groups.get(task))  # a group may well leave values to its tasks
        ),
    )


_UNSAID = "unsaid"  # truthy: higher is taken as better


def _read_task(
    summary: Mapping[str, Any],
    task: str,
    name: str | None,
    choices: list[str],
    *,
    source: str,
    model: str,
    when: float,
    options: ReadOptions,
) -> Iterator[Result | Note]:
    """The result of a task, and notes about it; notes alone where it has no result."""
    about = repr(model)
    if name is None:
        yield Note(about, f"{task} has only {', '.join(choices)}; left out")
        return
    given = summary["results"][task][name]
    value = _number(given)
    metric = name.removesuffix(",none")
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
        score=value if up else 0.0 - value,
        metric=metric,
        choices=tuple(choice.removesuffix(",none") for choice in choices),
        when=when,
        n_items=n_items if type(n_items) is int and 0 < n_items < _MANY_ITEMS else None,
        source=source,
        error=math.nan if error is None else error,
    )


def _by_task(summary: Mapping[str, Any], key: str, task: str) -> Mapping[str, Any]:
    """What a part of the summary has on a task, nothing where its form is another.

    Of `higher_is_better`: for each metric True or False, None where lm-eval cannot say.
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
    """The model's name, and whether it is only that of the folder."""
    name = model_in(path)
    return (path.resolve().parent.name, True) if name is None else (name, False)


def _number(value: Any) -> float | None:
    """A finite number; None for anything else."""
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
    """The wanted metric under the wanted filter, or the first."""
    names: dict[str, str] = {}
    for key in present:
        metric, _, after = key.partition(",")
        if options.filter in (None, after):
            names.setdefault(metric, key)
            names.setdefault(key, key)
    chosen = choose_metric(list(names), options.native)
    return None if chosen is None else names[chosen]


def _groups(summary: Mapping[str, Any]) -> Mapping[str, list[str]]:
    """Names of tasks by group; a task alone has none."""
    groups = summary.get("group_subtasks")
    return {
        group: [task for task in tasks if isinstance(task, str)]
        for group, tasks in (groups if isinstance(groups, dict) else {}).items()
        if isinstance(tasks, list)
    }


def _covered(summary: Mapping[str, Any]) -> dict[str, str]:
    """Tasks that a group with values of its own stands for, each with the topmost such group."""
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
    for task in covered:  # a group inside another may have come first
        way = [task]
        while way[-1] in covered and way[-1] not in topmost:
            way.append(covered[way[-1]])
        topmost |= dict.fromkeys(way[:-1], topmost.get(way[-1], way[-1]))
    return topmost


def _group_notes(covered: Mapping[str, str]) -> list[Note]:
    return [
        Note("", f"{group} stands for its {tasks} tasks", public=True)
        for group, tasks in Counter(covered.values()).items()
    ]
