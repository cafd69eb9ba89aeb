"""Options of verbs, declared as defaults of a function's parameters.

The signature of a verb defines its command line. A parameter with an `option` as default becomes an
option of the same name, read according to its type. One with a `family` as default is the result of
calling a function or dataclass whose own parameters become options. Any other is an argument of the
command.
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
    """Paths, addresses or names, passed on unchecked; shells complete them as files."""

    name = "file"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The text, but not "", which Python takes for the working folder."""
        if not value:
            self.fail("it is empty: give a path (. is the working folder)", param, ctx)
        return super().convert(value, param, ctx)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Ask the shell to complete files."""
        return [CompletionItem(incomplete, type=self.name)]


FILES = Files()
"""The type of arguments and options that name logs, pools, tables and folders."""


class Text(click.types.StringParamType):
    """A text whose type has a name of its own in help."""

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
        # A callback converts the text itself, so click must not convert it by type.
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
        help: the option's text in the help.
        flags: the option's names; by default the name of its parameter.
        default: the value without the option, or a text that is read as if it were given. By
            default None, empty or False, as the type allows; if it allows none of these, the
            option is required.
        settings: further arguments of `click.Option` that do not follow from the type.
    """
    given = {"help": help} | ({} if default is ... else {"default": default})
    return cast("T", _Option(flags, given | settings))


def family(made: Callable[..., T], *without: str) -> T:
    """The default of a parameter whose value is made from several options.

    The options are the parameters of `made` except those in `without`. An excluded one takes the
    value of the verb's own option of that name, or else None, False or empty.
    """
    return cast("T", _Family(made, without))


def _settings_of(annotation: object) -> dict[str, Any]:
    """Settings of click for a type; "| None" is ignored, and a tuple is a repeatable option."""
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
    """The value of this type if nothing is given: None, empty or False; `...` if there is none."""
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
                # An option that a family leaves out is not in `given`.
                arguments[name] = given.get(name, _empty_value(parameter.annotation))
            case _:
                arguments[name] = given[name]
    return function(**arguments)


def verb(
    name: str | None = None, *, metavar: str | None = None, **settings: Any
) -> Callable[[Callable[..., None]], Verb]:
    """Turn a function into a verb.

    The verb has the name of the function unless `name` is given. In help its first argument has the
    name of the parameter unless `metavar` is given.
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
    """The options of a family except these, as keyword arguments for the API."""
    return {name: value for name, value in vars(options).items() if name not in names}
