"""The command lines of README and of all pages in docs/: verbs, options, tasks exist.

Nothing is run, and no file is looked for; `test_examples.py` and the tests of the verbs do that.
"""

import importlib
import inspect
import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

import click
import pytest

from tests.cases import cases
from tests.harness import ROOT
from tiebreak.cli.verbs import main
from tiebreak.inspect_tasks.arguments import CommonArguments

DOCS = ROOT / "docs"
# Pages with command lines, and how many they have at least.
FEWEST = {
    **{"README.md": 2, "docs/how-to/run.md": 8, "docs/papers.md": 11},
    **{"docs/fair.md": 11, "docs/organisers.md": 11},
}
OURS = re.compile(r"(tiebreak|inspect eval tiebreak/|python examples/)")
# export NAME=$(COMMAND), and COMMAND &
AROUND = re.compile(r"export \w+=\$\((.*)\)$|(.*) &$")


def command_lines(page: Path) -> Iterator[str]:
    """Those in blocks of shell, continued lines joined; of some pages also those in backticks."""
    text = page.read_text(encoding="utf-8")
    for block in re.findall(r"```sh\n(.*?)```", text, re.S):
        bare = (AROUND.sub(r"\1\2", line) for line in block.replace("\\\n", "").splitlines())
        yield from (line for line in bare if OURS.match(line))
    if page.name in ("papers.md", "recipes.md"):
        rest = re.sub(r"```.*?```", "", text, flags=re.S)
        yield from (code for code in re.findall(r"`([^`]+)`", rest) if OURS.match(f"{code} "))


PAGES = [
    page
    for page in (ROOT / "README.md", *sorted(DOCS.rglob("*.md")))
    if page.relative_to(ROOT).as_posix() in FEWEST or any(command_lines(page))
]


def check(line: str) -> None:
    """Fails where a verb, an option, a choice, a task or an argument of a task does not exist."""
    words = shlex.split(line, comments=True)
    if words[-2:-1] == [">"]:  # which is the shell's
        words = words[:-2]
    if words[0] == "tiebreak":
        parse(main.commands[words[1]], words[2:])
    elif words[0] == "python":
        assert (ROOT / words[1]).is_file()
        own = importlib.import_module(words[1].removesuffix(".py").replace("/", ".")).main
        if isinstance(own, click.Command):
            parse(own, words[2:])
    else:
        given = [words[n + 1].split("=")[0] for n, word in enumerate(words) if word == "-T"]
        tasks = [word for word in words if word.startswith("tiebreak/")]
        for name in (word.removeprefix("tiebreak/") for word in tasks):
            assert set(given) <= arguments(name), (name, given)


def parse(command: click.Command, words: Sequence[str]) -> None:
    while isinstance(command, click.Group):
        command, words = command.commands[words[0]], words[1:]
    with click.Context(command) as context:
        found, left, _ = command.make_parser(context).parse_args(list(words))
        assert not left, f"too much: {left}"
        for param in command.params:
            value = found.get(param.name or "")
            # What was not given is None, nothing, or a sign of click's own.
            given = value not in (None, ()) and "UNSET" not in repr(value)
            assert given or not param.required, f"{param.name} is missing"
            if given and isinstance(param.type, click.Choice | click.IntRange | click.FloatRange):
                param.type_cast_value(context, value)


def arguments(name: str) -> set[str]:
    """What a task takes with -T."""
    rooms = {
        "inspect_tasks": ("rerank", "generate", "arena"),
        "fair.tasks": ("fair", "replay"),
    }
    for module in (
        f"tiebreak.{room}.{module}" for room, names in rooms.items() for module in names
    ):
        task = getattr(importlib.import_module(module), name, None)
        if task is not None:
            passed_on = arguments("round_robin") if name == "arena" else ()
            return {
                *inspect.signature(task).parameters,
                *CommonArguments.__annotations__,
                *passed_on,
            }
    raise AssertionError(f"no task tiebreak/{name}")


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_command_exists(page: Path) -> None:
    lines = list(command_lines(page))
    assert len(lines) >= FEWEST.get(page.relative_to(ROOT).as_posix(), 1)
    wrong = []
    for line in lines:
        try:
            check(line)
        except (click.ClickException, AssertionError, KeyError, AttributeError) as error:
            wrong.append(f"{line}\n    {error!r} {error}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("line", cases(__file__, "what does not exist is found"))
def test_what_does_not_exist_is_found(line: str) -> None:
    with pytest.raises((click.ClickException, AssertionError, KeyError)):
        check(line)
