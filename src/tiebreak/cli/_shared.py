"""What several verbs need."""

import json
from collections.abc import Iterator
from contextlib import contextmanager

import click


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
