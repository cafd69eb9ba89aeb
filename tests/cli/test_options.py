"""Options that several verbs share: what they take, what holds without them, what they become."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import click
import pytest
from click.testing import CliRunner

from tests.cases import cases
from tiebreak.analysis.errors import AnalysisError
from tiebreak.cli import _shared
from tiebreak.prerequisite import PrerequisiteError
from tiebreak.rankers.aggregators import AGGREGATORS
from tiebreak.ranking_logs import UnreadableLogError
from tiebreak.report.sheet import Section, Sheet


def asked(options: Callable[[Any], Any], *arguments: str, **env: str) -> dict[str, Any]:
    """What a verb with these options is given."""
    given: dict[str, Any] = {}
    command = click.command("verb")(options(lambda **values: given.update(values)))
    done = CliRunner().invoke(command, arguments, env=env, catch_exceptions=False)
    assert (done.exit_code, done.output) == (0, "")
    return given


@pytest.mark.parametrize("modes", [("strict", "intersect"), ("strict", "intersect", "union")])
def test_the_help_of_a_mode_names_those_there_are(modes: tuple[str, ...]) -> None:
    [mode, *_] = click.command()(_shared.loading_options(modes)(lambda: None)).params
    assert isinstance(mode, click.Option)
    assert ("union: keep all, for stars." in str(mode.help)) is ("union" in modes)


def test_all_stands_for_the_methods_that_are_not_named() -> None:
    methods = asked(_shared.method_option("How"), "--method", "all", "--method", "irv")["methods"]
    assert methods == ("irv", *(method for method in AGGREGATORS if method != "irv"))


def test_a_bank_by_a_variable() -> None:
    assert asked(_shared.bank_option, TIEBREAK_BANK="y.db") == {"url": "y.db"}
    assert asked(_shared.bank_option, "--bank", "x.db", TIEBREAK_BANK="y.db") == {"url": "x.db"}


@pytest.mark.parametrize(
    ("text", "path", "model"),
    cases(__file__, "names"),
)
def test_a_path_and_a_model_may_have_an_equals_sign(
    text: str, path: str, model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x=y").mkdir()
    (tmp_path / "x=y" / "z=1.eval").touch()
    names = asked(_shared.loading_options(), "--name", text)["loading"]["names"]
    assert names == {path: model}


def test_errors_become_one_message() -> None:
    with pytest.raises(click.ClickException) as raised, _shared.plain_errors():
        raise OSError("a\x1b[1m\nb")
    assert (raised.value.message, raised.value.exit_code) == ("a\\x1b[1m\nb", 1)
    with pytest.raises(TypeError), _shared.plain_errors():
        raise TypeError("another")


@pytest.mark.parametrize(
    "error",
    [AnalysisError("no log"), PrerequisiteError("no key"), UnreadableLogError("damaged")],
    ids=lambda error: type(error).__name__,
)
def test_errors_of_every_room_become_messages_of_any_verb(error: Exception) -> None:
    @_shared.verb()
    def fails() -> None:
        raise error

    done = CliRunner().invoke(fails)
    assert (done.exit_code, done.stderr) == (1, f"Error: {error}\n")


def test_an_error_that_nobody_wrote_for_users_keeps_its_traceback() -> None:
    @_shared.verb()
    def fails() -> None:
        raise ValueError("math domain error")

    with pytest.raises(ValueError, match="math domain error"):
        CliRunner().invoke(fails, catch_exceptions=False)


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    """Indented; what cannot be seen is escaped, and the rest stays as it is."""
    data = {"b": [1, None], "a": "é中\u202e\x1b\U0001f600\U000e0041"}
    _shared.echo_json(data)
    printed = capsys.readouterr().out
    assert printed == (
        '{\n  "b": [\n    1,\n    null\n  ],\n'
        '  "a": "é中\\u202e\\u001b\U0001f600\\udb40\\udc41"\n}\n'
    )
    assert json.loads(printed) == data
    with pytest.raises(ValueError, match="nan"):
        _shared.echo_json(float("nan"))


class Made(ModuleType):
    """As a module of sheets."""

    def __init__(self, columns: list[str] | None = None) -> None:
        super().__init__("made")
        if columns:
            self.columns_of = lambda finding: columns

    def data_of(self, finding: object, **details: object) -> object:
        return {"finding": finding, **details}

    def rows_of(self, finding: object) -> list[dict[str, object]]:
        return [{"x": "a\x1b[1m", "y": finding}]

    def sheets_of(self, finding: object) -> object:
        return [Sheet(f"T{finding}", sections=(Section.of(lines=["one"]),))]


@pytest.mark.parametrize(
    ("form", "columns", "printed"),
    [
        ("json", None, '{\n  "finding": 1,\n  "items": true\n}\n'),
        ("csv", None, "x,y\na\x1b[1m,1\n"),
        ("csv", ["y", "z", "x"], "y,z,x\n1,,a\x1b[1m\n"),
        (None, None, "T1\n\none\n"),
        ("markdown", None, "## T1\n\n- one\n"),
    ],
)
def test_a_finding_is_printed(
    capsys: pytest.CaptureFixture[str],
    form: str | None,
    columns: list[str] | None,
    printed: str,
) -> None:
    _shared.show(form, 1, Made(columns), items=True)
    assert capsys.readouterr().out == printed


def test_a_terminal_is_not_steered_by_csv(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    _shared.show("csv", 1, Made())
    assert capsys.readouterr().out.splitlines() == ["x,y", "a\\x1b[1m,1"]


@pytest.mark.parametrize("form", ["markdown", "latex", "html"])
def test_a_text_ends_once(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    _shared.show(form, 1, Made())
    printed = capsys.readouterr().out
    assert printed.endswith("\n")
    assert not printed.endswith("\n\n")
