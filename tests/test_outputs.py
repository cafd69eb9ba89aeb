"""What pages show as the output of a command is what the command prints on the shipped data.

A block of text after a block of one command is its output. Where it is abridged, a line "…" stands
between parts. With TIEBREAK_RENEW=1 whole outputs are written anew into the pages. The tutorial is
a notebook, which `make docs` runs and compares.
"""

import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.cases import cases
from tests.harness import ROOT
from tiebreak.cli.verbs import main

PAGES = [ROOT / "README.md", ROOT / "docs" / "reading.md"]
SHOWN = re.compile(r"```sh\n(tiebreak [^\n]*)\n```\n\n```text\n(.*?)```", re.S)


def blocks() -> Iterator[tuple[Path, str, str]]:
    """Page, command and output of every block."""
    for page in PAGES:
        for command, output in SHOWN.findall(page.read_text(encoding="utf-8")):
            yield page, command, output


def printed(command: str) -> str:
    """What a command prints, without blanks at the ends of lines."""
    words = shlex.split(command, comments=True)[1:]
    done = CliRunner().invoke(main, words, env={"COLUMNS": "80"})
    assert done.exit_code == 0, done.output
    return "\n".join(line.rstrip() for line in done.output.strip("\n").split("\n")) + "\n"


def missing(shown: str, output: str) -> list[str]:
    """The parts of what is shown that are not in the output, in this order."""
    found, at = [], 0
    for part in re.split(r"^…\n", shown, flags=re.M):
        place = output.find(part.strip("\n"), at)
        if place < 0:
            found.append(part)
        at = max(at, place)
    return found


@pytest.mark.pages
@pytest.mark.parametrize(
    ("page", "command", "shown"), list(blocks()), ids=lambda value: getattr(value, "name", None)
)
def test_outputs(page: Path, command: str, shown: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    output = printed(command)
    if os.environ.get("TIEBREAK_RENEW") and "\n…\n" not in f"\n{shown}":
        text = page.read_text(encoding="utf-8")
        head = f"```sh\n{command}\n```\n\n```text\n"
        page.write_text(text.replace(head + shown, head + output), encoding="utf-8")
        shown = output
    whole = [] if "\n…\n" in f"\n{shown}" else [shown]
    assert whole in ([], [output])
    assert missing(shown, output) == []


def test_there_are_outputs() -> None:
    assert {page for page, _, _ in blocks()} == set(PAGES)


@pytest.mark.parametrize(("shown", "parts"), cases(__file__, "what is not printed is found"))
def test_what_is_not_printed_is_found(shown: str, parts: list[str]) -> None:
    assert missing(shown, "a\nb\nc\n") == parts
