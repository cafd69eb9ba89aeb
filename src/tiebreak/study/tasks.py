"""An Inspect task with all its options: run as an eval set, or written as a command."""

import json
import os
import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from inspect_ai import eval_set
from inspect_ai.log import EvalLog

from tiebreak.inspect_tasks.arguments import one_of
from tiebreak.prerequisite import PrerequisiteError, unmarked
from tiebreak.progress import watch
from tiebreak.study import StudyError
from tiebreak.study.design import OURS, ModelChoice

RETRIES: Final = 2
"""Number of times a failed task is tried again, each time continuing from its logs."""

_ASSIGNED: Final = {"model_args": "M", "metadata": "metadata"}
"""Options that are mappings, and the name of the command's option for one of their entries."""


class TaskRun(NamedTuple):
    """A task and the folder of its logs.

    `arguments` are those of the task, `options` those of `eval_set`, except that `model_roles` has
    one or more `ModelChoice`s per role, which are not built yet.
    """

    task: str
    log_dir: Path | None
    arguments: Mapping[str, Any]
    options: Mapping[str, Any]

    def command(self, verb: str) -> str:
        """The command that makes the same logs; `verb` is eval or eval-set."""
        words = ["inspect", verb, self.task]
        for name, value in self.arguments.items():
            paths = name == "candidates" and isinstance(value, list)
            words += ["-T", f"{name}={','.join(map(str, value)) if paths else _text(value)}"]
        where = (("log_dir", self.log_dir), ("log_dir_allow_dirty", verb == "eval-set" or None))
        return shlex.join([*words, *option_words([*self._typed_options(), *where])])

    def _typed_options(self) -> Iterator[tuple[str, Any]]:
        for name, value in self.options.items():
            if name == "model_roles":
                for role, models in value.items():
                    yield "model_role", f"{role}={_role_text(models)}"
            elif name in _ASSIGNED:
                for key, part in (value or {}).items():
                    yield _ASSIGNED[name], f"{key}={part}"
            else:
                yield name, value

    def finish(self, **more: Any) -> list[EvalLog]:
        """Run the rest of the eval set, with `more` options; returns the headers of its logs.

        Inspect shows its progress, without a terminal as plain lines on standard error. The log
        format is that of the command, from INSPECT_LOG_FORMAT.

        Raises:
            StudyError: no such task, a model or an argument is invalid, or the run was stopped.
            PrerequisiteError: there is no such log format.
        """
        roles: dict[str, Any] = {}
        for role, choices in self.options["model_roles"].items():
            models = [choice.build() for choice in choices]
            roles[role] = models if role == "peers" or len(models) > 1 else models[0]
        shown = os.environ.get("INSPECT_DISPLAY") or (None if sys.stdout.isatty() else "plain")
        form = os.environ.get("INSPECT_LOG_FORMAT", "").lower() or None
        if form is not None:
            one_of("INSPECT_LOG_FORMAT", form, ("eval", "json"))
        try:
            with watch(None):
                _, logs = eval_set(
                    self.task,
                    log_dir=str(self.log_dir),
                    log_dir_allow_dirty=True,
                    log_format=form,  # type: ignore[arg-type]
                    retry_attempts=RETRIES,
                    display=shown,  # type: ignore[arg-type]
                    task_args=dict(self.arguments),
                    **{**self.options, "model_roles": roles or None, **more},
                )
        except (PrerequisiteError, NotImplementedError) as error:
            reason = unmarked(error)
            # Inspect globs for the task, and Python raises for an absolute path as a pattern.
            if reason.startswith(("No inspect tasks", "Non-relative patterns")):
                reason = "No inspect tasks were found at the specified paths."
                reason += f" Give {', '.join(OURS)}, a file of prompts, or a task: FILE.py@NAME"
                reason += " or PACKAGE/NAME of an installed package"
            raise StudyError(f"{self.task}: {reason}") from error
        if not logs:  # after Ctrl-C
            raise StudyError(f"{self.task} was stopped. The same command goes on from what it has.")
        return logs


def drawn(seed: int, n_items: int | None) -> dict[str, Any]:
    """Options for a random sample of `n_items`, or all; Inspect reads seed 0 as none, -1 as any."""
    return {"limit": n_items, "sample_shuffle": 1 + abs(seed)}


def option_words(options: Iterable[tuple[str, Any]]) -> Iterator[str]:
    """Options as words of a command line; booleans become flags, and None is left out."""
    for name, value in options:
        option = name.replace("_", "-")
        if isinstance(value, bool):
            yield f"--{option}" if value else f"--no-{option}"
        elif value is not None:
            yield f"-{option}" if len(option) == 1 else f"--{option}"
            yield ",".join(map(str, value)) if isinstance(value, list) else _text(value)


def _text(value: Any) -> str:
    return str(value) if isinstance(value, str | Path) else json.dumps(value)


def _role_text(models: Iterable[ModelChoice]) -> str:
    """One model or a list of several, in the form of `--model-role`."""
    texts = [
        json.dumps({"model": model.model, **model.config, **model.args})
        if model.config or model.args
        else model.model
        for model in models
    ]
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
