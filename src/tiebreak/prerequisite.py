"""The error that Inspect prints as one plain message, without a traceback.

Inspect's own evals raise it for a missing key or a wrong argument, but it is not part of the public
namespace: this is the only private name of Inspect that is used, and the only place that names it.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from inspect_ai._util.error import PrerequisiteError
from rich.markup import escape

from tiebreak.words import visible

__all__ = ["PrerequisiteError", "shown_as_it_is"]


@contextmanager
def shown_as_it_is() -> Iterator[None]:
    """Let Inspect print what a PrerequisiteError says as it is, though it reads markup of rich's.

    It names models and items, and an option such as 'peers=[a, b]', which would not be printed.
    Only `message`, which Inspect prints, is escaped; `str` of the error is what was said.
    """
    try:
        yield
    except PrerequisiteError as error:
        error.message = escape(visible(str(error), keep="\n"))
        raise
