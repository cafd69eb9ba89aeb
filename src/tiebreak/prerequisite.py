"""The error that Inspect prints as one plain message, without a traceback, and tasks that raise it.

Inspect's own evals raise it for a missing key or a wrong argument, but it is not part of the public
namespace: this is the only private name of Inspect that is used, and the only place that names it.
"""

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ParamSpec

import inspect_ai
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.model import Model, get_model

from tiebreak.text import visible

__all__ = ["PrerequisiteError", "model_named", "show_message_only", "task", "unmarked"]

P = ParamSpec("P")


def task(function: Callable[P, inspect_ai.Task]) -> Callable[P, inspect_ai.Task]:
    """A task of Inspect's; a PrerequisiteError in it is shown as it is."""
    return inspect_ai.task(show_message_only()(function))


def model_named(name: str | Model, refusal: Callable[[str], Exception], **how: Any) -> Model:
    """A model, as Inspect's `get_model` takes it; `how` are its other arguments.

    Raises a `refusal`: Inspect does not know its provider, a key or a package is missing, or it
    does not take its arguments.
    """
    try:
        return get_model(name, **how)
    except (ValueError, TypeError, PrerequisiteError) as error:
        raise refusal(f"{name} cannot be used: {unmarked(error)}") from error


def unmarked(error: Exception) -> str:
    """The text of an error of Inspect's, without markup for its displays and empty lines."""
    text = re.sub(r"\[/?\w+\]", "", str(error)).strip()
    return re.sub(r"\n\s*\n", "\n", re.sub(r"^error: ", "", text, flags=re.IGNORECASE))


@contextmanager
def show_message_only() -> Iterator[None]:
    """Let a PrerequisiteError that nobody catches end the process with what it says, on stderr.

    Inspect would print it to standard output and read markup of rich's in it, though it names
    models, items and options such as 'peers=[a, b]'; with `--display none` it prints nothing.
    """
    try:
        yield
    except PrerequisiteError as error:
        ours, hook = error, sys.excepthook

        def shown(kind: Any, uncaught: BaseException, trace: Any) -> None:
            if uncaught is ours:
                print(f"\n{visible(str(ours), keep=chr(10))}\n", file=sys.stderr)
            else:
                hook(kind, uncaught, trace)

        sys.excepthook = shown
        raise
