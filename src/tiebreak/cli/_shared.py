"""Helpers of several verbs: errors as messages, and printing findings."""

import json
import re
import sys
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from tiebreak.cli._bar import progress_bar
from tiebreak.errors import TiebreakError
from tiebreak.paths import problem_of
from tiebreak.text import visible

if TYPE_CHECKING:
    from tiebreak.tables.human import HumanLabels

_BEYOND_ASCII = re.compile(r"[^ -~\n]")

SCORES_LIMIT = 60.0
"""Default time limit, in seconds, of a method that ranks models by scores.

Kemeny–Young takes one second for 126 models on 23 benchmarks, and half a minute if half of the
scores are missing.
"""


def refuse_given(names: Collection[str], why: str) -> None:
    """Raise an error if an option of the running verb with one of these `names` was given.

    Raises:
        click.UsageError: one was given; the message is the option and `why`.
    """
    context = click.get_current_context()
    for option in context.command.params:
        given = context.get_parameter_source(option.name or "") is ParameterSource.COMMANDLINE
        if given and option.name in names:
            raise click.UsageError(f"{option.opts[0]} {why}")


def labels_of(people: str | None, *, skip_faulty: bool) -> "str | HumanLabels | None":
    """The path of people's labels, or with `skip_faulty` the labels in it that can be read."""
    if not skip_faulty:
        return people
    if people is None:
        raise click.UsageError("--skip-faulty goes with --people")
    from tiebreak.tables.human import read_human_labels

    return read_human_labels(people, skip_faulty=True)


class Verb(click.Command):
    """A command that shows its progress and prints Tiebreak's errors as one message."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        with plain_errors():
            return super().invoke(ctx)


@contextmanager
def plain_errors() -> Iterator[None]:
    """Run a block with a progress bar, and turn expected errors into one message.

    Tiebreak's errors, Inspect's `PrerequisiteError` and `OSError` end with exit code 1. Messages
    contain foreign names of models, items and files, so control characters are made visible.
    """
    try:
        with progress_bar():
            yield
    except BrokenPipeError:  # the reader of our output, e.g. `head`, has closed it
        raise
    except Exception as error:
        if not isinstance(error, (TiebreakError, OSError, *_prerequisites())):
            raise
        text = problem_of(error) if isinstance(error, OSError) else str(error)
        raise click.ClickException(visible(text, keep="\n")) from error


def _prerequisites() -> tuple[type[Exception], ...]:
    """Inspect's error that is shown as a message, if Inspect is loaded."""
    if "inspect_ai" not in sys.modules:
        return ()
    from tiebreak.prerequisite import PrerequisiteError

    return (PrerequisiteError,)


def echo_json(data: object) -> None:
    """Print data as indented JSON; characters that are not printable are escaped."""
    text = json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False)
    click.echo(_BEYOND_ASCII.sub(_readable, text))


def _readable(match: re.Match[str]) -> str:
    return match[0] if match[0].isprintable() else json.dumps(match[0]).strip('"')


def show(
    form: str | None, finding: object, made_by: ModuleType | None = None, **details: object
) -> None:
    """Print a finding, or several of one kind, in this form, or for the terminal if it is None.

    `made_by` is the module that makes the finding's sheets, data and rows, if it is not listed in
    `tiebreak.report.sheets`; `details` are passed on to its `data_of`.
    """
    from tiebreak.report import csv, html, latex, markdown, terminal
    from tiebreak.report.sheets import module_of

    if made_by is None:
        made_by = module_of(finding[0] if isinstance(finding, Sequence) else finding)
    if form == "json":
        echo_json(made_by.data_of(finding, **details))
    elif form == "csv":
        columns = made_by.columns_of(finding) if hasattr(made_by, "columns_of") else None
        shown = visible if sys.stdout.isatty() else str
        text = csv.text(made_by.rows_of(finding), columns, shown=shown)
        # `color` keeps click from removing escape sequences from names in a file.
        click.echo(text, nl=False, color=True)
    elif form is None:
        terminal.show(made_by.sheets_of(finding))
    else:
        write = {"markdown": markdown.text, "latex": latex.text, "html": html.fragment}[form]
        click.echo(write(made_by.sheets_of(finding)), nl=False)
