"""What several verbs need."""

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
"""Seconds that a method has to rank models by scores, if no other number is asked for.

Kemeny–Young takes one for 126 models on 23 benchmarks, and half a minute where half of the scores
are missing.
"""


def refuse_given(names: Collection[str], why: str) -> None:
    """Refuse options of the running verb, by their parameters, that were given; `why` follows it.

    Raises:
        click.UsageError: one was.
    """
    context = click.get_current_context()
    for option in context.command.params:
        given = context.get_parameter_source(option.name or "") is ParameterSource.COMMANDLINE
        if given and option.name in names:
            raise click.UsageError(f"{option.opts[0]} {why}")


def labels_of(people: str | None, *, skip_faulty: bool) -> "str | HumanLabels | None":
    """The file of people's labels, or the labels in it that are not faulty."""
    if not skip_faulty:
        return people
    if people is None:
        raise click.UsageError("--skip-faulty goes with --people")
    from tiebreak.tables.human import read_human_labels

    return read_human_labels(people, skip_faulty=True)


class Verb(click.Command):
    """A command that shows how far it is, and for which an error of Tiebreak's is one message."""

    def invoke(self, ctx: click.Context) -> Any:
        """Do the work."""
        with plain_errors():
            return super().invoke(ctx)


@contextmanager
def plain_errors() -> Iterator[None]:
    """Do some work: a bar shows how far it is, and what goes wrong is one message.

    Tiebreak's errors, Inspect's `PrerequisiteError` and those of files end with exit code 1. They
    name models, items and files: what would steer the terminal is made visible.
    """
    try:
        with progress_bar():
            yield
    except BrokenPipeError:  # whoever read the output has enough of it
        raise
    except Exception as error:
        if not isinstance(error, (TiebreakError, OSError, *_prerequisites())):
            raise
        text = problem_of(error) if isinstance(error, OSError) else str(error)
        raise click.ClickException(visible(text, keep="\n")) from error


def _prerequisites() -> tuple[type[Exception], ...]:
    """The error that Inspect shows as a message, where Inspect is loaded."""
    if "inspect_ai" not in sys.modules:
        return ()
    from tiebreak.prerequisite import PrerequisiteError

    return (PrerequisiteError,)


def echo_json(data: object) -> None:
    """Print data as JSON, indented; what cannot be seen is escaped, as JSON may always do."""
    text = json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False)
    click.echo(_BEYOND_ASCII.sub(_readable, text))


def _readable(match: re.Match[str]) -> str:
    return match[0] if match[0].isprintable() else json.dumps(match[0]).strip('"')


def show(
    form: str | None, finding: object, made_by: ModuleType | None = None, **details: object
) -> None:
    """Print a finding, or several of one kind, in this form; for the terminal where it is None.

    `made_by` is the module that makes its sheets, its data and its rows, where it is none of
    `tiebreak.report.sheets`; `details` are options of its data.
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
        # In a file names stay as they are, where click would take escape sequences out of them.
        click.echo(text, nl=False, color=True)
    elif form is None:
        terminal.show(made_by.sheets_of(finding))
    else:
        write = {"markdown": markdown.text, "latex": latex.text, "html": html.fragment}[form]
        click.echo(write(made_by.sheets_of(finding)), nl=False)
