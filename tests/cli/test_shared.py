"""What the verbs share: the forms in which they print, and how they say what they are doing."""

from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from tiebreak.cli.verbs import main

SHEETS = (
    *("aggregate", "align", "candidates", "compare", "csd", "diagnose", "estimate", "peers"),
    *("rank", "simulate", "stability"),
)


@pytest.mark.parametrize("verb", SHEETS)
def test_every_verb_with_tables_prints_them_in_three_more_forms(verb: str) -> None:
    [option] = [one for one in main.commands[verb].params if "--format" in one.opts]
    assert isinstance(option.type, click.Choice)
    assert list(option.type.choices) == ["markdown", "latex", "html"]


@pytest.mark.parametrize(
    ("form", "row"),
    [
        ("markdown", "| 1 | a&#124;b | 1.000 |"),
        ("latex", r"1 & a\textbar{}b & 1.000 \\"),
        ("html", '<th scope="row" data-sort="a|b"><bdi>a|b</bdi></th>'),
    ],
)
def test_forms(tmp_path: Path, form: str, row: str) -> None:
    ballots = tmp_path / "ballots.csv"
    ballots.write_text("a|b,c\n1,2\n1,2\n")
    done = CliRunner().invoke(main, ["aggregate", str(ballots), "--format", form])
    assert done.exit_code == 0, done.output
    assert row in done.output.splitlines()


class Terminal:
    """Standard error as a terminal."""

    def __init__(self) -> None:
        self.text = ""

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self.text += text
        return len(text)

    def flush(self) -> None:
        pass
