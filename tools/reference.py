"""Writes the pages of `docs/reference` that are made from the code: `make docs` runs it.

command-line.md   the verbs by stage; command-line/STAGE.md has their options, from click
tasks.md          every task and its `-T` arguments, from signatures and docstrings
data-frames.md    the columns of the data frames
json.md           the JSON documents and their versions
"""

import ast
import inspect
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import is_dataclass
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from types import ModuleType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import click

from tiebreak.cli._help import Stage
from tiebreak.rankers.intervals import Estimate
from tiebreak.report.json import keys_of

ROOT = Path(__file__).parent.parent
COMMAND = re.compile(r"[A-Z_]+=|export |(tiebreak|inspect eval|lm_eval run) ")
FOLDER = ROOT / "docs" / "reference"
PACKAGE = ROOT / "src" / "tiebreak"
TASKS = {
    "inspect_tasks.rerank": "Judge answers",
    "inspect_tasks.generate": "Generate answers",
    "inspect_tasks.arena": "Answer and judge in one run",
    "fair.tasks.fair": "Ask unseen questions",
    "fair.tasks.replay": "Look for contamination",
}
"""Modules with tasks, and the heading of each."""


def prose(text: str) -> str:
    """Turn a docstring or help text into one line of Markdown, also for a cell of a table.

    Signs that Markdown would interpret are escaped, except in code between backticks.
    """
    parts = re.split(r"`+([^`]+)`+", " ".join(text.split()))
    parts[::2] = (
        re.sub(r"([\\*_|\[\]])", r"\\\1", part).replace("<", "&lt;") for part in parts[::2]
    )
    parts[1::2] = map(code, parts[1::2])
    return "".join(parts)


def code(text: str) -> str:
    """Text as code; in it Python-Markdown does not take a bar for the end of a table's cell."""
    return f"`{text}`"


def table(heads: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    """A table in Markdown."""
    lines = [heads, tuple("---" for _ in heads), *rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in lines)


def command_line() -> str:
    """The page of the command line: every verb, with a link to the page of its stage."""
    parts = [
        "# Command line",
        "Every verb, as `tiebreak VERB --help` prints it, on a page for each step of the work. An "
        "error that says what to do ends with exit code 1, a command that cannot be read with 2; "
        "[more about exit codes](output.md#exit-codes).",
    ]
    for stage in stages():
        page = f"command-line/{slug(stage.heading)}.md"
        rows = [
            (
                f"[`tiebreak {command.name}`]({page}#tiebreak-{command.name})",
                prose(command.get_short_help_str(200)),
            )
            for command in stage.commands
        ]
        parts += [f"## {stage.heading}", table(("verb", "what it does"), rows)]
    return "\n\n".join(parts) + "\n"


def verbs(stage: Stage) -> str:
    """The page of a stage: each verb with its options."""
    parts = [f"# {stage.heading}", *([stage.lead.replace("*", "")] if stage.lead else [])]
    for command in stage.commands:
        parts += sections(f"tiebreak {command.name}", command, 2)
    return "\n\n".join(parts) + "\n"


def stages() -> tuple[Stage, ...]:
    """The verbs by stage."""
    from tiebreak.cli.verbs import main

    return main.stages


def slug(heading: str) -> str:
    """A heading as the name of a file."""
    return "-".join(heading.lower().split())


def sections(name: str, command: click.Command, level: int) -> Iterator[str]:
    """Yield the usage, help and options of a command, then those of its subcommands."""
    yield f"{'#' * level} {name}"
    with click.Context(command, info_name=name) as context:
        yield f"```text\n{name} {' '.join(command.collect_usage_pieces(context))}\n```"
        yield from paragraphs(inspect.cleandoc(command.help or ""))
        options = (param for param in command.params if isinstance(param, click.Option))
        found = (option.get_help_record(context) for option in options)
        rows = [(code(names), prose(meaning)) for names, meaning in filter(None, found)]
    if rows:
        yield table(("option", "meaning"), rows)
    if isinstance(command, click.Group):
        for below, one in command.commands.items():
            yield from sections(f"{name} {below}", one, level + 1)


def paragraphs(text: str) -> Iterator[str]:
    """Yield a help text as Markdown; what click is told not to wrap becomes a block of code."""
    for part in text.split("\n\n"):
        lines = part.split("\n")
        if lines[0].strip() != "\b":
            yield prose(part)
            continue
        head, *rest = lines[1:]
        # Either a heading ("Examples:") with commands below it, or words with their meanings.
        headed = head.endswith(":")
        kept = textwrap.dedent("\n".join(rest if headed else lines[1:]))
        if headed:
            yield prose(head)
        if kept:
            lines = kept.replace("\\\n", "").split("\n")
            sh = all(map(COMMAND.match, lines))
            yield f"```{'sh' if sh else 'text'}\n{kept}\n```"


def tasks() -> str:
    """The page of the tasks."""
    from tiebreak.inspect_tasks.arguments import DEFAULTS, CommonArguments

    said = [
        "# Tasks and their arguments",
        "Every task is run by `inspect eval tiebreak/NAME`; an argument is given as "
        "`-T argument=value`.",
        "## Arguments of every judging task",
        arguments(inspect.getdoc(CommonArguments) or "", CommonArguments.__annotations__, DEFAULTS),
    ]
    for name, heading in TASKS.items():
        module = import_module(f"tiebreak.{name}")
        said.append(f"## {heading}")
        for task in tasks_of(module):
            said += one_task(task, getattr(module, task))
    return "\n\n".join(said) + "\n"


def tasks_of(module: ModuleType) -> list[str]:
    """The names of a module's tasks, in its order."""
    return re.findall(r"^@task\ndef (\w+)\(", inspect.getsource(module), re.M)


def one_task(name: str, function: Any) -> Iterator[str]:
    """Yield the heading, docstring and table of arguments of a task."""
    parameters = inspect.signature(function).parameters.values()
    own = {p.name: p for p in parameters if p.kind is not p.VAR_KEYWORD}
    text = inspect.getdoc(function) or ""
    yield f"### tiebreak/{name}"
    yield from (prose(part) for part in text.partition("\nArgs:")[0].strip().split("\n\n"))
    if own:
        kinds = {name: parameter.annotation for name, parameter in own.items()}
        yield arguments(text, kinds, {name: p.default for name, p in own.items()})


def arguments(docstring: str, kinds: Mapping[str, Any], defaults: Mapping[str, Any]) -> str:
    """A table of arguments with types and defaults; a KeyError if the docstring lacks one."""
    meanings = described(docstring)
    rows = []
    for name, kind in kinds.items():
        default = defaults[name]
        shown = "" if default is None else code(str(default).lower())
        rows.append((code(name), code(written(kind)), shown, prose(meanings[name])))
    return table(("argument", "type", "default", "meaning"), rows)


def described(docstring: str) -> dict[str, str]:
    """Read the arguments' meanings from a docstring: `name: text`, further lines deeper."""
    found: dict[str, str] = {}
    for entry in re.finditer(
        r"^( *)(\w+): (.*(?:\n\1 +\S.*)*)", docstring.partition("Raises:")[0], re.M
    ):
        found[entry[2]] = entry[3]
    return found


def written(kind: Any) -> str:
    """A type as it is written for users of the command line, e.g. `int`, `equal | proportional`."""
    parts = [part for part in get_args(kind) if part is not type(None)]
    if get_origin(kind) is Literal:
        return " | ".join(map(str, parts))
    if get_origin(kind) in (Union, UnionType):
        return " | ".join(map(written, parts))
    name = getattr(kind, "__name__", str(kind))
    return f"{name}[{', '.join(map(written, parts))}]" if parts else name


def data_frames() -> str:
    """The page of the data frames; a column's meaning is the comment beside it in the source."""
    from tiebreak.analysis import frames

    source = inspect.getsource(frames)
    meant = dict(re.findall(r'^ +"(\w+)": _\w+,  # (.*)$', source, re.M))
    said = [
        "# Data frames",
        "`tiebreak.leaderboard_df`, `rankings_df` and `ballots_df` read ranking logs as pandas "
        "data frames. The columns and their dtypes are these, whatever the logs hold. A cell is "
        "missing (`NaN`, `<NA>` or None) where there is nothing to say: it is never 0 instead.",
    ]
    for name, row in (
        ("leaderboard", "each leaderboard and model"),
        ("rankings", "each ranked item and model"),
        ("ballots", "each verdict of a judge"),
    ):
        columns: Mapping[str, str] = getattr(frames, name.upper())
        own = source.partition(f"\n{name.upper()}: ")[2].partition("\n}")[0]
        means = {**meant, **dict(re.findall(r'^ +"(\w+)": _\w+,  # (.*)$', own, re.M))}
        rows = [(code(key), code(kind), prose(means.get(key, ""))) for key, kind in columns.items()]
        said += [f"## {name}_df", f"A row for {row}.", table(("column", "dtype", "meaning"), rows)]
    return "\n\n".join(said) + "\n"


@cache
def documents() -> dict[str, tuple[int, str, str]]:
    """Find every call of `document` in the package, whose first arguments are format and version.

    Returns the version, docstring and keys of each document, by format; the keys are those of the
    finding that the function around the call takes.
    """
    found: dict[str, tuple[int, str, str]] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        for function in ast.walk(ast.parse(source)) if "document(" in source else ():
            if not isinstance(function, ast.FunctionDef):
                continue
            for call in ast.walk(function):
                if not isinstance(call, ast.Call) or getattr(call.func, "id", "") != "document":
                    continue
                head = [ast.literal_eval(argument) for argument in call.args[:2]]
                made_of = get_type_hints(getattr(module_of(path), function.name))
                shown = shape(next(kind for name, kind in made_of.items() if name != "return"))
                if shown.startswith("["):
                    shown = f'{{"{call.keywords[0].arg}": {shown}}}'
                found[head[0]] = (head[1], ast.get_docstring(function) or "", shown)
    return found


def module_of(path: Path) -> ModuleType:
    """Import the module of the package in a file."""
    return import_module(".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts))


def json_documents() -> str:
    """The page of the JSON documents."""
    found = sorted(documents().items())
    rows = [(code(name), str(version)) for name, (version, *_) in found]
    said = [
        "# JSON documents",
        "`--json` prints a finding as data, and published datasets hold some. A document says "
        "what it is (`format`) and in which version (`version`). **The version is raised when a "
        "key is renamed, removed or changes its meaning; new keys do not raise it**, so read the "
        "keys that you need and pass over others. Undefined is `null`, never 0 and never `NaN`. "
        "The keys are the fields of the dataclasses of [Python](python.md).",
        table(("format", "version"), rows),
        "JSON without these two keys, that of verbs that write files, promises nothing: its keys "
        "may change with any release.",
    ]
    for name, (_, text, keys) in found:
        said += [f"## {name}", *described_document(text)]
        if text.startswith("The fields of") and "The shape::" not in text:
            said.append(f"```text\n{textwrap.fill(keys, 96)}\n```")
    return "\n\n".join(said) + "\n"


def shape(kind: Any) -> str:
    """The keys of a type, as its JSON has them; empty for a type without keys."""
    if is_dataclass(kind):
        # Modules that work without NumPy import Estimate under TYPE_CHECKING alone.
        hints = get_type_hints(kind, localns={"Estimate": Estimate})
        parts = {key: shape(hints.get(key)) for key in keys_of(kind)}
        keys = (f'"{key}"' + (f": {below}" if below else "") for key, below in parts.items())
        return f"{{{', '.join(keys)}}}"
    parts_of = [part for part in get_args(kind) if part not in (type(None), ...)]
    if get_origin(kind) in (Union, UnionType):
        return next(filter(None, map(shape, parts_of)), "")
    if isinstance(get_origin(kind), type) and issubclass(get_origin(kind), Mapping):
        return f"{{NAME: {shape(parts_of[1])}}}" if shape(parts_of[1]) else "{…}"
    if isinstance(get_origin(kind), type) and issubclass(get_origin(kind), Iterable):
        return f"[{shape(parts_of[0])}]"
    return ""


def described_document(text: str) -> Iterator[str]:
    """Yield the paragraphs of a document's docstring; those that are indented become code."""
    for part in text.partition("\n\nArgs:")[0].split("\n\n"):
        if part.startswith((" ", "{")):
            yield f"```text\n{inspect.cleandoc(part)}\n```"
        else:
            yield prose(part.replace("::", ":"))


PAGES: Mapping[str, Callable[[], str]] = {
    "command-line.md": command_line,
    **{f"command-line/{slug(stage.heading)}.md": partial(verbs, stage) for stage in stages()},
    "tasks.md": tasks,
    "data-frames.md": data_frames,
    "json.md": json_documents,
}
"""The pages that this module writes."""


def main() -> None:
    """Write all pages."""
    for name, page in PAGES.items():
        (FOLDER / name).parent.mkdir(exist_ok=True)
        (FOLDER / name).write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
