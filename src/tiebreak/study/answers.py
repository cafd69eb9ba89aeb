"""Answers that are missing, by Inspect's `eval_set`: what lies in the folder is used.

Models answer a benchmark side by side; one with a name of its own has a run of its own, for a log
names its model by what the run says. A model that still fails after retries is left out.
"""

import json
import os
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
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

from tiebreak.prerequisite import PrerequisiteError
from tiebreak.progress import watch
from tiebreak.study import StudyError
from tiebreak.study.design import OURS, Benchmark, ModelChoice, Study, unmarked
from tiebreak.study.folder import StudyFolder
from tiebreak.text import count

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
    dollars: float | None = None,
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
        with cost_limit(dollars) as limit:
            finished = run_eval_set(
                benchmark.task,
                place,
                model=[model.build() for model in alike],
                model_roles={role: model.build() for role, model in study.roles.items()} or None,
                task_args={**benchmark.args, **alike[0].task_args},
                metadata={"candidate": alike[0].name} if alike[0].name else None,
                **_items(study, n_items),
                epochs=study.epochs,
                cache=CachePolicy(expiry=None),
            )
        spent = dollars is not None and limit.usage >= dollars
        dollars = None if dollars is None else max(0.0, dollars - limit.usage)
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
    return {"limit": n_items, "sample_shuffle": shuffle_seed(study)}


def shuffle_seed(study: Study) -> int:
    """The seed by which Inspect draws items: its command line takes 0 for none, and -1 for any."""
    return 1 + abs(study.seed)


def answering_commands(
    study: Study, benchmark: Benchmark, folder: StudyFolder, n_items: int | None
) -> list[str]:
    """What to type to have the same answers."""
    return [
        shlex.join(_words(study, benchmark, models, _place(folder, benchmark, models), n_items))
        for models in _runs(study.models)
    ]


def _words(
    study: Study,
    benchmark: Benchmark,
    models: Sequence[ModelChoice],
    place: Path,
    n_items: int | None,
) -> Iterator[str]:
    yield from ("inspect", "eval-set", benchmark.task)
    yield from task_words({**benchmark.args, **models[0].task_args})
    yield from ("--model", ",".join(model.model for model in models))
    for name, value in models[0].args.items():
        yield from ("-M", f"{name}={value}")
    for name, value in models[0].config.items():
        given = json.dumps(value) if isinstance(value, dict) else value
        text = ",".join(map(str, given)) if isinstance(given, list) else str(given)
        yield from (f"--{name.replace('_', '-')}", text)
    for role, model in study.roles.items():
        yield from ("--model-role", f"{role}={role_text(model)}")
    if models[0].name:
        yield from ("--metadata", f"candidate={models[0].name}")
    for option, value in {**_items(study, n_items), "epochs": study.epochs}.items():
        if value is not None:
            yield from (f"--{option.replace('_', '-')}", str(value))
    yield from ("--log-dir", str(place))


def task_words(arguments: Mapping[str, Any]) -> Iterator[str]:
    """Arguments of a task as options of Inspect's command line."""
    for name, value in arguments.items():
        yield from ("-T", f"{name}={value if isinstance(value, str) else json.dumps(value)}")


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
    lines = log.error.message.strip().splitlines() if log.error else []
    return lines[-1] if lines else f"its run ended as {log.status}"


def run_eval_set(task: str, place: Path, **options: Any) -> list[EvalLog]:
    """Run what is left of an eval set; the headers of its logs.

    Inspect shows how far it is, where there is no terminal in plain lines on standard error.
    """
    shown = os.environ.get("INSPECT_DISPLAY") or (None if sys.stdout.isatty() else "plain")
    try:
        with watch(None), off_stdout():
            _, logs = eval_set(
                task,
                log_dir=str(place),
                log_dir_allow_dirty=True,
                retry_attempts=RETRIES,
                display=shown,  # type: ignore[arg-type]
                **options,
            )
    except PrerequisiteError as error:
        reason = unmarked(error)
        if reason.startswith("No inspect tasks"):
            reason = f"{reason} Give {', '.join(OURS)}, a file of prompts, or a task: FILE.py@NAME"
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
