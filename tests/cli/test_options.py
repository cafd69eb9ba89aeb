"""Options that several verbs share: what they take, what holds without them, what they become."""

import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Literal, TypeVar

import click
import pytest
from click.testing import CliRunner

from tests.cases import cases
from tiebreak.analysis.errors import AnalysisError
from tiebreak.cli import _shared
from tiebreak.cli._families import CandidateOptions, bank_option, method_option
from tiebreak.cli._options import File, Share, family, option, verb
from tiebreak.cli.estimate import estimate
from tiebreak.cli.vote import vote
from tiebreak.prerequisite import PrerequisiteError
from tiebreak.rankers.aggregators import AGGREGATORS
from tiebreak.ranking_logs import UnreadableLogError
from tiebreak.report.sheet import Section, Sheet

T = TypeVar("T")


def asked(options: T, *arguments: str, **env: str) -> T:
    """What a verb whose parameter has this default is given."""
    given: list[T] = []

    @verb("verb")
    def command(name: T = options) -> None:
        given.append(name)

    done = CliRunner().invoke(command, arguments, env=env, catch_exceptions=False)
    assert (done.exit_code, done.output) == (0, "")
    [value] = given
    return value


@pytest.mark.parametrize(("verb", "modes"), [(vote, "intersect"), (estimate, "union")])
def test_the_help_of_a_mode_names_those_there_are(verb: click.Command, modes: str) -> None:
    [mode] = (param for param in verb.params if param.name == "mode")
    assert isinstance(mode, click.Option)
    assert isinstance(mode.type, click.Choice)
    assert mode.type.choices[-1] == modes
    assert ("union: keep all, for stars." in str(mode.help)) is (modes == "union")


def test_a_verb_takes_its_parameters() -> None:
    """As a flag, a number, texts, one of several and a family, of which one is left out."""

    def size(
        low: int | None = option(), high: int = option(None, "--most", default=2)
    ) -> tuple[int | None, int]:
        return low, high

    @verb("verb")
    def command(
        files: tuple[File, ...] = (),
        *,
        kind: Literal["a", "b"] = option(),
        names: tuple[str, ...] = option(None, "--name"),
        is_new: bool = option(),
        share: Share | None = option(),  # noqa: B008
        sizes: tuple[int | None, int] = family(size, "low"),
    ) -> None:
        click.echo((files, kind, names, is_new, share, sizes))

    def printed(arguments: str) -> str:
        return CliRunner().invoke(command, arguments).output.splitlines()[-1]

    assert printed("--kind a") == "((), 'a', (), False, None, (None, 2))"
    assert (
        printed("x y --kind b --name c --name d --is-new --share 0.5 --most 3")
        == "(('x', 'y'), 'b', ('c', 'd'), True, 0.5, (None, 3))"
    )
    assert "Missing option '--kind'" in CliRunner().invoke(command).output
    for wrong in ("--kind c", "--kind a --share 2", "--kind a --low 1"):
        assert printed(wrong).startswith(("Error: Invalid value for", "Error: No such option"))


def test_all_stands_for_the_methods_that_are_not_named() -> None:
    methods = asked(method_option("How"), "--method", "all", "--method", "irv")
    assert methods == ("irv", *(method for method in AGGREGATORS if method != "irv"))


def test_a_bank_by_a_variable() -> None:
    assert asked(bank_option, TIEBREAK_BANK="y.db") == "y.db"
    assert asked(bank_option, "--bank", "x.db", TIEBREAK_BANK="y.db") == "x.db"


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
    assert asked(family(CandidateOptions), "--name", text).names == {path: model}


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
    @verb()
    def fails() -> None:
        raise error

    done = CliRunner().invoke(fails)
    assert (done.exit_code, done.stderr) == (1, f"Error: {error}\n")


def test_an_error_that_nobody_wrote_for_users_keeps_its_traceback() -> None:
    @verb()
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
