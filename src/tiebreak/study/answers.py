"""Answers that are missing, by Inspect's `eval_set`: what lies in the folder is used.

Models answer a benchmark side by side; one with a name of its own has a run of its own, for a log
names its model by what the run says. A model that still fails after retries is left out.
"""

import math
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from inspect_ai.log import (
    EvalLog,
    ProvenanceData,
    invalidate_samples,
    read_eval_log,
    read_eval_log_sample_summaries,
    write_eval_log,
)
from inspect_ai.model import CachePolicy
from inspect_ai.util import cost_limit

from tiebreak.study import StudyError
from tiebreak.study.design import Benchmark, ModelChoice, Study
from tiebreak.study.folder import StudyFolder
from tiebreak.study.tasks import TaskRun, drawn
from tiebreak.text import count

_AN_ERROR: Final = re.compile(r"[\w.]+: ")


def say(text: str) -> None:
    """Print a line where the verdict does not go."""
    print(text, file=sys.stderr, flush=True)


@dataclass(frozen=True)
class Answers:
    """The logs of a benchmark by model, and why models are left out."""

    logs: Mapping[str, str]
    left_out: Mapping[str, str]


def answer(
    study: Study,
    benchmark: Benchmark,
    folder: StudyFolder,
    n_items: int | None = None,
    *,
    models: Sequence[ModelChoice] | None = None,
    dollars: float = math.inf,
) -> Answers:
    """Let models answer what they have not answered: so many items, or all.

    Not more than so many `dollars` are paid, as far as prices are registered. What Inspect stopped
    there is asked again by another run, which may pay more.

    Raises:
        StudyError: no such task, or the dollars are spent.
    """
    logs: dict[str, str] = {}
    left_out: dict[str, str] = {}
    for alike, run in _runs(study, benchmark, folder, n_items, models):
        with cost_limit(dollars if dollars < math.inf else None) as limit:
            finished = run.finish(cache=CachePolicy(expiry=None))
        spent, dollars = limit.usage >= dollars, max(0.0, dollars - limit.usage)
        for log in finished:
            name = alike[0].name or str(log.eval.model)
            if log.status == "success":
                logs[name] = f"{run.log_dir}/{Path(log.location).name}"
                if spent:
                    _refuse_stopped(name, benchmark, logs[name])
            else:
                left_out[name] = _reason(log)
    return Answers(logs, left_out)


def _refuse_stopped(name: str, benchmark: Benchmark, path: str) -> None:
    """Have Inspect ask again, in another run, what it stopped because the budget was spent."""
    summaries = read_eval_log_sample_summaries(path)
    stopped = [sample.uuid for sample in summaries if sample.limit == "cost" and sample.uuid]
    if stopped:
        why = ProvenanceData(author="tiebreak", reason="the budget of the study was spent")
        write_eval_log(invalidate_samples(read_eval_log(path), stopped, why), path)
        raise StudyError(
            f"{benchmark.name}: the budget is spent, and {name} still owes "
            f"{count(len(stopped), 'answer')}: give a larger one to go on."
        )


def require_two(answers: Answers, benchmark: Benchmark, folder: StudyFolder) -> None:
    """Refuse answers that nobody can be compared by.

    Raises:
        StudyError: fewer than two models have any.
    """
    logs, left_out = answers.logs, answers.left_out
    if len(logs) < 2:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in left_out.items())
        raise StudyError(
            f"{benchmark.name}: a ranking takes the answers of two models, and these failed: "
            f"{reasons}. Their logs are in {folder.answers(benchmark.name)}; the same command "
            "tries again."
        )


def answering_commands(
    study: Study, benchmark: Benchmark, folder: StudyFolder, n_items: int | None
) -> list[str]:
    """What to type to have the same answers."""
    return [run.command("eval-set") for _, run in _runs(study, benchmark, folder, n_items)]


def _runs(
    study: Study,
    benchmark: Benchmark,
    folder: StudyFolder,
    n_items: int | None,
    models: Sequence[ModelChoice] | None = None,
) -> Iterator[tuple[Sequence[ModelChoice], TaskRun]]:
    """The runs in which models answer: those that are asked alike together."""
    items = {"limit": n_items or study.limit}
    if n_items is not None and study.limit is None:
        items = drawn(study.seed, n_items)
    for alike in _alike(study.models if models is None else models):
        first = alike[0]
        options = {
            # As the command gives them, which then finds these logs.
            "model": [model.model for model in alike],
            "model_args": first.args,
            **first.config,
            "model_roles": {role: (model,) for role, model in study.roles.items()},
            "metadata": {"candidate": first.name} if first.name else None,
            **items,
            "epochs": study.epochs,
        }
        place = folder.answers(benchmark.name) / (first.name or "").replace("/", "_")
        arguments = {**benchmark.args, **first.task_args}
        yield alike, TaskRun(benchmark.task, place, arguments, options)


def _alike(models: Sequence[ModelChoice]) -> Iterator[Sequence[ModelChoice]]:
    plain = [model for model in models if not (model.name or model.config or model.args)]
    if plain:
        yield plain
    for model in models:
        if model not in plain:
            yield (model,)


def _reason(log: EvalLog) -> str:
    message = log.error.message if log.error else ""
    if log.error and message.startswith("RetryError"):
        # It says only where it lies in memory; the traceback begins with what was tried again.
        message = next(filter(_AN_ERROR.match, log.error.traceback.splitlines()), message)
    lines = message.strip().splitlines()
    return lines[-1] if lines else f"its run ended as {log.status}"
