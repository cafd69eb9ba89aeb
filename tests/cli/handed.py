"""What a verb hands on: the functions under it do not run, and tell what they were given."""

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

import pytest
from click.testing import CliRunner, Result

from tiebreak.cli.verbs import main

A_FUNCTION = "a function"
ENGINE = object()
"""A bank that is open, where none is."""


class Enough(Exception):
    """A function was called, and nothing after it matters."""


@cache
def all_imported() -> None:
    """Import what verbs call: a module that is first imported later would keep a stand-in."""
    for room in ("analysis", "tables", "report", "candidates", "estimate", "publish", "fair"):
        package = import_module(f"tiebreak.{room}")
        for module in walk_packages(package.__path__, f"{package.__name__}."):
            import_module(module.name)


class Handed:
    """Functions that stand in for others.

    Attributes:
        made: What each was given, in the order of the calls; of a function, that it is one.
    """

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        all_imported()
        self.patch = patch
        self.made: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []

    def instead(self, target: str, result: object = None) -> None:
        """Let a function come to this result, or this error."""
        name = target.rpartition(".")[2]

        def stand_in(*args: Any, **kwargs: Any) -> object:
            told = {key: A_FUNCTION if callable(one) else one for key, one in kwargs.items()}
            self.made.append((name, args, told))
            if isinstance(result, Exception):
                raise result
            return result

        self.patch.setattr(target, stand_in)

    @property
    def names(self) -> list[str]:
        """The functions that were called, in their order."""
        return [name for name, *_ in self.made]


def tiebreak(*arguments: str | Path, env: Mapping[str, str | None] | None = None) -> Result:
    """Run the command on a screen of 100 columns; what it fails with goes through."""
    width = {"COLUMNS": "100", **(env or {})}
    return CliRunner().invoke(main, [*map(str, arguments)], env=width, catch_exceptions=False)


def bank(verb: str, *arguments: str, code: int = 0) -> str:
    """What a verb prints; nothing goes to the error stream."""
    done = tiebreak("bank", verb, *arguments)
    assert (done.exit_code, done.stderr) == (code, "")
    return done.stdout
