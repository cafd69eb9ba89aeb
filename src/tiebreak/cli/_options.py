"""The options of verbs, each written once: as the default of a parameter.

What a verb takes is its signature. A parameter whose default is an `option` is one, called as the
parameter and read as its type says; one whose default is a `family` is what a function, or a
dataclass, makes of parameters of its own; and any other is an argument of the command.
"""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from types import EllipsisType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, cast, get_args, get_origin

import click
from click.shell_completion import CompletionItem

from tiebreak.cli._shared import Verb

T = TypeVar("T")


class Files(click.types.StringParamType):
    """Paths, addresses or names, taken as they are; a shell completes them as files."""

    name = "file"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The text, but not "", which Python takes for the working folder."""
        if not value:
            self.fail("it is empty: give a path (. is the working folder)", param, ctx)
        return super().convert(value, param, ctx)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Leave it to the shell, which knows its files."""
        return [CompletionItem(incomplete, type=self.name)]


FILES = Files()
"""What the arguments and options are that name logs, pools, tables and folders."""


class Text(click.types.StringParamType):
    """A text that help calls by what it is."""

    def __init__(self, name: str) -> None:
        self.name = name


File = Annotated[str, FILES]
Model = Annotated[str, Text("model")]
Name = Annotated[str, Text("name")]
Count = Annotated[int, click.IntRange(1)]
Share = Annotated[float, click.FloatRange(0, 1)]
NewFile = Annotated[Path, click.Path(path_type=Path, dir_okay=False)]
Folder = Annotated[Path, click.Path(path_type=Path, file_okay=False)]
Port = Annotated[int, click.IntRange(0, 65535)]


@dataclass(frozen=True)
class _Option:
    flags: tuple[str, ...]
    settings: dict[str, Any]

    def named(self, name: str, annotation: object) -> click.Option:
        flags = self.flags or (f"--{name.replace('_', '-')}",)
        # What a callback reads is text for click.
        read = {} if "callback" in self.settings else _settings_of(annotation)
        read["required"] = "default" not in self.settings and _empty_value(annotation) is ...
        return click.Option([*flags, name], **read | self.settings)


@dataclass(frozen=True)
class _Family:
    made: Callable[..., object]
    without: tuple[str, ...]


def option(
    help: str | None = None, *flags: str, default: T | str | EllipsisType = ..., **settings: Any
) -> T:
    """The default of a parameter that is an option.

    Args:
        help: Its line of the help.
        flags: How it is called; by default as its parameter.
        default: What the parameter is without the option, or a text that is read as if it were
            given. By default it is None, empty or false, as its type allows; where the type allows
            none of these the option is required.
        settings: What else `click.Option` takes, where the type does not say it.
    """
    given = {"help": help} | ({} if default is ... else {"default": default})
    return cast("T", _Option(flags, given | settings))


def family(made: Callable[..., T], *without: str) -> T:
    """The default of a parameter that is made of several options.

    They are those that `made` takes, but for some `without`: each of these is what the verb's own
    option of its name says, or None or empty.
    """
    return cast("T", _Family(made, without))


def _settings_of(annotation: object) -> dict[str, Any]:
    """How click reads a type: |None does not count, a tuple is an option that is repeated."""
    kind, parts = get_origin(annotation), get_args(annotation)
    if kind in (Union, UnionType):
        return _settings_of(parts[0])
    if kind is tuple:
        return _settings_of(parts[0]) | {"multiple": True}
    if kind is Literal:
        return {"type": click.Choice(parts)}
    if annotation is bool:
        return {"is_flag": True}
    if annotation is Path:
        return {"type": click.Path(path_type=Path)}
    return {"type": parts[1] if kind is Annotated else annotation}


def _empty_value(annotation: object) -> object:
    """What a value of this type is where nothing is given: None, empty, false; else `...`."""
    kinds: dict[object, object] = {Union: None, UnionType: None, tuple: (), dict: {}}
    return False if annotation is bool else kinds.get(get_origin(annotation), ...)


def _parameters(function: Callable[..., object]) -> Iterator[click.Parameter]:
    for name, parameter in inspect.signature(function).parameters.items():
        match parameter.default:
            case _Family(made, without):
                yield from (each for each in _parameters(made) if each.name not in without)
            case _Option() as option:
                yield option.named(name, parameter.annotation)
            case default:
                settings = _settings_of(parameter.annotation)
                if settings.pop("multiple", False):
                    settings |= {"nargs": -1, "required": default is parameter.empty}
                yield click.Argument([name], **settings)


def _call(function: Callable[..., T], given: dict[str, Any]) -> T:
    arguments = {}
    for name, parameter in inspect.signature(function).parameters.items():
        match parameter.default:
            case _Family(made):
                arguments[name] = _call(made, given)
            case _Option():
                arguments[name] = given.get(name, _empty_value(parameter.annotation))
            case _:
                arguments[name] = given[name]
    return function(**arguments)


def verb(
    name: str | None = None, *, metavar: str | None = None, **settings: Any
) -> Callable[[Callable[..., None]], Verb]:
    """Make a function a verb.

    It is called as the function unless a `name` is given, and its help names the first argument as
    its parameter unless a `metavar` is.
    """

    def made(function: Callable[..., None]) -> Verb:
        @wraps(function)
        def run(**given: Any) -> None:
            _call(function, given)

        params = [*_parameters(function)]
        if metavar:
            params[0].metavar = metavar
        return click.command(name, cls=Verb, params=params, **settings)(run)

    return made


def rest(options: object, *names: str) -> dict[str, Any]:
    """The options of a family but for these, which is what the function below a verb takes."""
    return {name: value for name, value in vars(options).items() if name not in names}
