"""Inspect's error for user-facing messages without a traceback, and tasks that raise it.

Inspect's own evals raise it for a missing key or a wrong argument, but it is not public: this is
the only private name of Inspect that Tiebreak uses, and it is imported only here.
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
    """Decorator for an Inspect task that shows a PrerequisiteError's message unchanged."""
    return inspect_ai.task(show_message_only()(function))


def model_named(name: str | Model, refusal: Callable[[str], Exception], **how: Any) -> Model:
    """Get a model by Inspect's `get_model`; `how` are its other arguments.

    Raises the exception that `refusal` makes if Inspect does not know the provider, a key or
    package is missing, or the provider does not accept the arguments.
    """
    try:
        return get_model(name, **how)
    except (ValueError, TypeError, PrerequisiteError) as error:
        raise refusal(f"{name} cannot be used: {unmarked(error)}") from error


def unmarked(error: Exception) -> str:
    """The text of an Inspect error, without display markup and empty lines."""
    text = re.sub(r"\[/?\w+\]", "", str(error)).strip()
    return re.sub(r"\n\s*\n", "\n", re.sub(r"^error: ", "", text, flags=re.IGNORECASE))


@contextmanager
def show_message_only() -> Iterator[None]:
    """Let an uncaught PrerequisiteError end the process with just its message on stderr.

    Inspect would print it to standard output and interpret it as rich markup, although it contains
    text such as 'peers=[a, b]'; with `--display none` it would print nothing.
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
