"""Answers that are missing, by Inspect's `eval_set`: what lies in the folder is used.

Models answer a benchmark side by side; one with a name of its own has a run of its own, for a log
names its model by what the run says. A model that still fails after retries is left out.
"""

import json
import math
import os
import re
import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from inspect_ai import eval_set
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

from tiebreak.prerequisite import PrerequisiteError, unmarked
from tiebreak.progress import watch
from tiebreak.study import StudyError
from tiebreak.study.design import OURS, Benchmark, ModelChoice, Study
from tiebreak.study.folder import StudyFolder
from tiebreak.text import count

_AN_ERROR: Final = re.compile(r"[\w.]+: ")

RETRIES: Final = 2
"""How often a task that failed is tried again, each time from what it has."""


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
    for alike in _runs(study.models if models is None else models):
        place = _place(folder, benchmark, alike)
        with cost_limit(dollars if dollars < math.inf else None) as limit:
            finished = run_eval_set(
                benchmark.task,
                place,
                # As the command gives them, which then finds these logs.
                model=[model.model for model in alike],
                model_args=alike[0].args,
                model_roles={role: model.build() for role, model in study.roles.items()} or None,
                task_args={**benchmark.args, **alike[0].task_args},
                metadata={"candidate": alike[0].name} if alike[0].name else None,
                **_items(study, n_items),
                epochs=study.epochs,
                **{**alike[0].config, "cache": CachePolicy(expiry=None)},
            )
        spent, dollars = limit.usage >= dollars, max(0.0, dollars - limit.usage)
        for log in finished:
            name = alike[0].name or str(log.eval.model)
            if log.status == "success":
                logs[name] = str(place / Path(log.location).name)
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


def _items(study: Study, n_items: int | None) -> dict[str, int | None]:
    """Which items are answered: those of the study's limit, or so many that are drawn by lot."""
    if n_items is None or study.limit is not None:
        return {"limit": n_items or study.limit}
    return drawn(study, n_items)


def drawn(study: Study, n_items: int) -> dict[str, int | None]:
    """So many items by lot, as options of Inspect's: 0 is no seed there, and -1 any."""
    return {"limit": n_items, "sample_shuffle": 1 + abs(study.seed)}


def answering_commands(
    study: Study, benchmark: Benchmark, folder: StudyFolder, n_items: int | None
) -> list[str]:
    """What to type to have the same answers."""
    commands = []
    for alike in _runs(study.models):
        first = alike[0]
        options = [
            ("model", [model.model for model in alike]),
            *(("M", f"{name}={value}") for name, value in first.args.items()),
            *first.config.items(),
            *(("model_role", f"{role}={role_text(model)}") for role, model in study.roles.items()),
            ("metadata", f"candidate={first.name}" if first.name else None),
            *_items(study, n_items).items(),
            ("epochs", study.epochs),
            ("log_dir", _place(folder, benchmark, alike)),
            ("log_dir_allow_dirty", True),
        ]
        arguments = {**benchmark.args, **first.task_args}
        commands.append(inspect_command("eval-set", benchmark.task, arguments, options))
    return commands


def inspect_command(
    verb: str, task: str, arguments: Mapping[str, Any], options: Iterable[tuple[str, Any]]
) -> str:
    """A command line of Inspect: arguments of its task, then options."""
    words = ["inspect", verb, task]
    for name, value in arguments.items():
        words += ["-T", f"{name}={value if isinstance(value, str) else json.dumps(value)}"]
    return shlex.join([*words, *option_words(options)])


def option_words(options: Iterable[tuple[str, Any]]) -> Iterator[str]:
    """Options of a command line: flags from booleans, and nothing from None."""
    for name, value in options:
        option = name.replace("_", "-")
        if isinstance(value, bool):
            yield f"--{option}" if value else f"--no-{option}"
        elif value is not None:
            yield f"-{option}" if len(option) == 1 else f"--{option}"
            text = ",".join(map(str, value)) if isinstance(value, list) else str(value)
            yield json.dumps(value) if isinstance(value, dict) else text


def role_text(*models: ModelChoice) -> str:
    """One model, or several, as `--model-role` takes them."""
    texts = [
        json.dumps({"model": model.model, **model.config, **model.args})
        if model.config or model.args
        else model.model
        for model in models
    ]
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"


def _runs(models: Sequence[ModelChoice]) -> Iterator[tuple[ModelChoice, ...]]:
    """Models that are asked alike, in one run."""
    alike = tuple(m for m in models if not (m.name or m.config or m.args))
    if alike:
        yield alike
    for model in models:
        if model not in alike:
            yield (model,)


def _place(folder: StudyFolder, benchmark: Benchmark, models: Sequence[ModelChoice]) -> Path:
    place = folder.answers(benchmark.name)
    return place / models[0].name.replace("/", "_") if models[0].name else place


def _reason(log: EvalLog) -> str:
    message = log.error.message if log.error else ""
    if log.error and message.startswith("RetryError"):
        # It says only where it lies in memory; the traceback begins with what was tried again.
        message = next(filter(_AN_ERROR.match, log.error.traceback.splitlines()), message)
    lines = message.strip().splitlines()
    return lines[-1] if lines else f"its run ended as {log.status}"


def run_eval_set(task: str, place: Path, **options: Any) -> list[EvalLog]:
    """Run what is left of an eval set; the headers of its logs.

    Inspect shows how far it is, where there is no terminal in plain lines on standard error. Logs
    have the form that they have of the command.
    """
    shown = os.environ.get("INSPECT_DISPLAY") or (None if sys.stdout.isatty() else "plain")
    form = os.environ.get("INSPECT_LOG_FORMAT", "").lower() or None
    try:
        with watch(None), off_stdout():
            _, logs = eval_set(
                task,
                log_dir=str(place),
                log_dir_allow_dirty=True,
                retry_attempts=RETRIES,
                display=shown,  # type: ignore[arg-type]
                log_format=form,  # type: ignore[arg-type]
                **options,
            )
    except (PrerequisiteError, NotImplementedError) as error:
        reason = unmarked(error)
        # Python has no patterns that are absolute paths, where Inspect looks for one.
        if reason.startswith(("No inspect tasks", "Non-relative patterns")):
            reason = "No inspect tasks were found at the specified paths."
            reason += f" Give {', '.join(OURS)}, a file of prompts, or a task: FILE.py@NAME"
            reason += " or PACKAGE/NAME of an installed package"
        raise StudyError(f"{task}: {reason}") from error
    return logs


@contextmanager
def off_stdout() -> Iterator[None]:
    """Leave standard output to the verdict where it is no terminal."""
    if sys.stdout.isatty():
        yield
        return
    with redirect_stdout(sys.stderr):
        yield
