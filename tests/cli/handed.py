"""What a verb hands on: the functions under it do not run, and tell what they were given."""

import inspect
import shlex
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext, suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from types import ModuleType
from typing import Any

import pytest
from click.testing import CliRunner
from click.testing import Result as Done

from tests import expected
from tiebreak.cli.verbs import main

A_FUNCTION = "a function"
MORE = {
    "plan_judging": "tiebreak.study.estimate.cost.estimate_cost",
    "simulate": "tiebreak.demo.lab.planted.Traits",
}
"""To which functions these hand on other arguments."""


class Result:
    """What a function came to, by a name, with as much of it as a verb looks at."""

    def __init__(self, name: str, **fields: Any) -> None:
        self.name = name
        vars(self).update(fields)

    def __repr__(self) -> str:
        return f"<{self.name}>"


ENGINE = Result("bank", connect=lambda: nullcontext(Result("connection")))
"""A bank that is open, where none is."""


class Enough(Exception):
    """A function was called, and nothing after it matters."""


@cache
def all_imported() -> None:
    """Import what verbs call: a module that is first imported later would keep a stand-in."""
    for room in ("analysis", "tables", "report", "candidates", "study", "publish", "fair"):
        package = import_module(f"tiebreak.{room}")
        for module in walk_packages(package.__path__, f"{package.__name__}."):
            import_module(module.name)


class Handed:
    """Functions that stand in for others.

    Attributes:
        made: what each was given, in the order of the calls; of a function, that it is one.
    """

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        all_imported()
        self.patch = patch
        self.made: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []

    def instead(self, target: str, result: object = None) -> None:
        """Let a function come to this result, or this error."""
        name = target.rpartition(".")[2]

        def stand_in(*args: Any, **kwargs: Any) -> object:
            given = {key: A_FUNCTION if callable(one) else one for key, one in kwargs.items()}
            self.made.append((name, args, given))
            if isinstance(result, Exception):
                raise result
            return result

        self.patch.setattr(target, stand_in)

    @property
    def names(self) -> list[str]:
        """The functions that were called, in their order."""
        return [name for name, *_ in self.made]

    def recorded(self, commands: Iterable[str], results: Mapping[str, object]) -> str:
        """Commands with the calls that each comes to, what it prints, ! and errors.

        An argument that is not there is what the function takes by default; nothing, None and
        empty, is None.

        Args:
            commands: each perhaps after a variable of the environment, NAME=VALUE.
            results: what functions come to; after an `Enough` nothing of a command matters.
        """
        more = {name: _function(target) for name, target in MORE.items()}
        functions: dict[str, list[Callable[..., object]]] = {}
        for target, result in results.items():
            functions.setdefault(target.rpartition(".")[2], []).append(_function(target))
            self.instead(target, result)
        texts = []
        for command in commands:
            words = shlex.split(command)
            env = dict([words.pop(0).split("=")] if "=" in words[0] else [])
            self.made.clear()
            printed = ""
            with suppress(Enough):
                done = tiebreak(*words, env=env)
                assert done.exit_code == 0, done.output
                printed = done.stdout + "".join(f"! {line}\n" for line in done.stderr.splitlines())
            calls = (
                _call(name, functions[name], args, given, more.get(name))
                for name, args, given in self.made
            )
            texts.append(f"$ {command}\n{''.join(calls)}{printed}")
        return "\n".join(texts)


def _function(target: str) -> Callable[..., object]:
    module, _, name = target.rpartition(".")
    function: Callable[..., object] = getattr(import_module(module), name)
    return function


def _call(
    name: str,
    functions: list[Callable[..., object]],
    args: Any,
    given: Mapping[str, Any],
    more: Callable[..., object] | None,
) -> str:
    """A call of one of the functions that have this name."""
    for function in functions:
        try:
            values = dict(inspect.signature(function).bind(*args, **given).arguments)
            break
        except TypeError:
            continue
    defaults = _defaults(function)
    for key, parameter in inspect.signature(function).parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD:
            defaults = (_defaults(more) if more else {}) | defaults
            values |= values.pop(key, {})
    plain, usual = (
        {key: None if value in ((), [], {}) else value for key, value in part.items()}
        for part in (values, defaults)
    )
    texts = (f"{key}={_shown(value)}" for key, value in plain.items() if value != usual.get(key))
    return f"  {name}({', '.join(texts)})\n"


def _defaults(function: Callable[..., object]) -> dict[str, object]:
    parameters = inspect.signature(function).parameters
    return {key: parameter.default for key, parameter in parameters.items()}


def _shown(value: object) -> str:
    if isinstance(value, ModuleType):
        return value.__name__
    shown = repr(value).replace("PosixPath", "Path")
    return shown if " at 0x" not in shown else type(value).__name__


def tiebreak(*arguments: str | Path, env: Mapping[str, str | None] | None = None) -> Done:
    """Run the command on a screen of 100 columns; what it fails with goes through."""
    width = {"COLUMNS": "100", **(env or {})}
    return CliRunner().invoke(main, [*map(str, arguments)], env=width, catch_exceptions=False)


def wrong_use(test: str, name: str) -> None:
    """Compare what commands print, or their errors, and exit codes with the text that has them."""
    texts = []
    for command in expected.commands(test, name):
        done = tiebreak(*shlex.split(command))
        printed = done.stderr if done.exit_code else done.output
        lines = (line.rstrip() for line in printed.splitlines())
        kept = (f"{line}\n" for line in lines if line and not line.startswith(("Usage:", "Try ")))
        texts.append(f"$ {command}\n{''.join(kept)}({done.exit_code})\n")
    expected.check(test, name, "\n".join(texts))


def bank(verb: str, *arguments: str, code: int = 0) -> str:
    """What a verb prints; nothing goes to the error stream."""
    done = tiebreak("bank", verb, *arguments)
    assert (done.exit_code, done.stderr) == (code, "")
    return done.stdout
