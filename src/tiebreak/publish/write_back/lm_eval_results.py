"""Scores that lm-eval could not compute, in a results file beside its samples, where readers look.

lm-eval runs no code that a model wrote, so its summary of a run has no metric for HumanEval. Once
the programs have been run, a second summary in lm-eval's own format reports the result. It is newer
than the run's and contains this one task; the files of the run are left unchanged.
"""

import json
import math
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from tiebreak.candidates import Candidate, CandidatePool
from tiebreak.candidates.lm_eval_runs import SAMPLES_ENDS, SCORED_KEY, summaries_of, task_of
from tiebreak.candidates.lm_eval_samples import count_documents
from tiebreak.json_text import parse_json
from tiebreak.paths import problem_with, whole_file
from tiebreak.publish.write_back.run import Outcome


def write_lm_eval_results(pool: CandidatePool, metric: str) -> list[Outcome]:
    """Write the mean of a native score beside the lm-eval samples of each model that has it.

    A file that was written earlier for the same samples is replaced if it differs, unless it covers
    more answers. No other file is changed.

    `metric` names the score; the `source` of each candidate names its samples file.

    Returns:
        An outcome for each samples file whose answers have the score, with how many of its
            `n_items` answers have it: the path is the results file or, if none was written, the
            samples, with the reason in `why`.
    """
    answers: dict[str, list[Candidate]] = {}
    for _, row in pool:
        for candidate in row.values():
            if candidate.source.endswith(SAMPLES_ENDS):
                answers.setdefault(candidate.source, []).append(candidate)
    return [
        _write(Path(source), candidates, metric)
        for source, candidates in sorted(answers.items())
        if any(candidate.native_metric == metric for candidate in candidates)
    ]


def _write(samples: Path, answers: Sequence[Candidate], metric: str) -> Outcome:
    model = answers[0].model
    none = Outcome(samples.as_posix(), "left_alone", model, answers[0].key.benchmark, metric)
    metrics = {str(answer.native_metric) for answer in answers}
    if mixed := ", ".join(sorted(metrics - {metric, "None"})):
        return replace(none, why=f"some of its answers have another native score ({mixed})")
    try:
        n_answers = count_documents(samples)
    except (OSError, ValueError):
        return replace(none, why="the samples that its answers come from are not where they were")
    scores = [answer.native_score for answer in answers if not math.isnan(answer.native_score)]
    none = replace(none, n_scored=len(scores), n_items=n_answers)
    earlier, summary = _earlier(samples)
    scored = _of(summary, SCORED_KEY).get("scored")
    if isinstance(scored, int) and scored > len(scores):
        return replace(none, why=f"{earlier} covers more answers ({scored}) and stays")
    run = next(filter(None, map(_parsed, summaries_of(samples))), {})
    task = task_of(samples)
    counts = {"samples": samples.name, "answers": n_answers, "scored": len(scores)}
    content = {"results": {task: _values(task, metric, scores)}, SCORED_KEY: counts}
    if earlier and all(summary.get(key) == value for key, value in content.items()):
        return replace(none, path=earlier.as_posix(), state="unchanged")
    # Readers take the newest file, even if the clocks of two machines disagree.
    date = max(time.time(), _date(run) + 1, _date(summary) + 1)
    path = earlier or _free_name(samples.parent, datetime.fromtimestamp(date))
    try:
        about = {**content, **_about(task, metric, model, counts, run), "date": date}
        with whole_file(path) as draft:
            draft.write_text(json.dumps(about, indent=2, ensure_ascii=False), encoding="utf-8")
    except OSError as error:
        why = f"{samples.parent} cannot be written to ({error.strerror or error})"
        return replace(none, why=why)
    return replace(none, path=path.as_posix(), state="written")


def _values(task: str, metric: str, scores: Sequence[float]) -> dict[str, Any]:
    n = len(scores)
    return {
        "name": task,
        "alias": task,
        "sample_len": n,
        f"{metric},none": fmean(scores),
        f"{metric}_stderr,none": stdev(scores) / math.sqrt(n) if n > 1 else "N/A",
    }


def _about(
    task: str, metric: str, model: str, counts: Mapping[str, Any], run: Mapping[str, Any]
) -> dict[str, Any]:
    """The other parts of an lm-eval summary about a task and its run.

    Of the run's configuration only the model's name is included: the rest may contain keys.
    """
    measure = {"metric": metric, "aggregation": "mean", "higher_is_better": True}
    original = _of(run, "n-samples", task).get("original", counts["answers"])
    return {
        "group_subtasks": {task: []},
        "configs": {task: {"task": task, "metric_list": [measure]}},
        "versions": {task: _of(run, "versions").get(task)},
        "n-shot": {task: _of(run, "n-shot").get(task)},
        "higher_is_better": {task: {metric: True}},
        "n-samples": {task: {"original": original, "effective": counts["scored"]}},
        "config": {"model": run.get("model_source"), "model_args": {"model": model}},
        "model_source": run.get("model_source"),
        "model_name": model,
        "model_name_sanitized": re.sub(r'["<>:/|\\?*\[\]]+', "__", model),  # same rule as lm-eval's
    }


def _earlier(samples: Path) -> tuple[Path | None, Mapping[str, Any]]:
    """The newest file written earlier for some samples, and its content; (None, {}) if none."""
    summaries = [
        (path, summary)
        for path in sorted(samples.parent.glob("results_*.json"))
        if _of(summary := _parsed(path), SCORED_KEY).get("samples") == samples.name
    ]
    return max(summaries, key=lambda earlier: _date(earlier[1]), default=(None, {}))


def _parsed(path: Path) -> Mapping[str, Any]:
    try:
        summary = {} if problem_with(path) else parse_json(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return summary if isinstance(summary, dict) else {}


def _of(summary: Mapping[str, Any], *keys: str) -> Mapping[str, Any]:
    """A nested mapping in a summary, empty if it is missing."""
    for key in keys:
        value = summary.get(key)
        summary = value if isinstance(value, dict) else {}
    return summary


def _date(summary: Mapping[str, Any]) -> float:
    date = summary.get("date")
    # Any value may be there; larger numbers are no times.
    return float(date) if isinstance(date, (int, float)) and 0 <= date < 2**32 else 0.0


def _free_name(folder: Path, date: datetime) -> Path:
    """An unused name in lm-eval's style; a folder may contain runs of several models."""
    while True:
        stamp = date.isoformat(timespec="microseconds").replace(":", "-")
        if not list(folder.glob(f"*_{stamp}.json*")):
            return folder / f"results_{stamp}.json"
        date += timedelta(microseconds=1)
