"""What several verbs need."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


def loading_options(command: F) -> F:
    """The options that say how candidates are loaded: mode, rename, native, filter_name."""
    options = (
        click.option(
            "--mode",
            type=click.Choice(["strict", "intersect"]),
            default="strict",
            show_default=True,
            help="strict: any hole is an error. intersect: keep the items that all models "
            "answered.",
        ),
        click.option(
            "--rename",
            multiple=True,
            metavar="OLD=NEW",
            help="Read benchmark OLD under the name NEW, so that it aligns with other logs. "
            "Repeatable.",
        ),
        click.option(
            "--native", metavar="NAME", help="Scorer or metric to take native scores from."
        ),
        click.option(
            "--filter",
            "filter_name",
            metavar="NAME",
            help="lm-eval filter to take scores from.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


@contextmanager
def plain_errors(*kinds: type[Exception]) -> Iterator[None]:
    """Turn errors that explain themselves into one message and exit code 1."""
    try:
        yield
    except kinds as error:
        # Inspect's PrerequisiteError keeps its message to itself.
        raise click.ClickException(str(getattr(error, "message", error))) from error


def echo_json(data: object) -> None:
    """Print data as JSON, indented."""
    click.echo(json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False))


def renamed(option: str) -> tuple[str, str]:
    """OLD and NEW of an option `--rename OLD=NEW`."""
    old, separator, new = option.partition("=")
    if not (old and separator and new):
        raise click.BadParameter(f"{option!r} is not of the form OLD=NEW", param_hint="--rename")
    return old, new
