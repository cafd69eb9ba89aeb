"""Options that several verbs share: what they take, what holds without them, what they become."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from tiebreak.analysis.errors import AnalysisError
from tiebreak.cli import _contest, _shared
from tiebreak.prerequisite import PrerequisiteError
from tiebreak.rankers.aggregators import AGGREGATORS
from tiebreak.ranking_logs import UnreadableLogError
from tiebreak.report.sheet import Section, Sheet

Decorator = Callable[[Any], Any]


def verb(*decorators: Decorator) -> tuple[click.Command, list[dict[str, Any]]]:
    """A verb that only keeps what it is given."""
    given: list[dict[str, Any]] = []

    def keep(**arguments: Any) -> None:
        given.append(arguments)

    command: Any = keep
    for decorator in reversed(decorators):
        command = decorator(command)
    return click.command("verb")(command), given


def asked(decorator: Decorator, *arguments: str, **env: str) -> dict[str, Any]:
    """What a verb with these options is given."""
    command, given = verb(decorator)
    done = CliRunner().invoke(command, arguments, env=env, catch_exceptions=False)
    assert (done.exit_code, done.output) == (0, "")
    [found] = given
    return found


def refused(decorator: Decorator, *arguments: str) -> str:
    """The last line of what a verb says that refuses these arguments."""
    command, given = verb(decorator)
    done: Result = CliRunner().invoke(command, arguments, env={"COLUMNS": "200"})
    assert (done.exit_code, given, done.stdout) == (2, [], "")
    return done.stderr.splitlines()[-1]


@pytest.mark.parametrize("modes", [("strict", "intersect"), ("strict", "intersect", "union")])
def test_the_help_of_a_mode_names_those_there_are(modes: tuple[str, ...]) -> None:
    command, _ = verb(_shared.loading_options(modes))
    text = " ".join(CliRunner().invoke(command, ["--help"]).output.split())
    assert ("union: keep all, for stars." in text) is ("union" in modes)


def test_all_stands_for_the_methods_that_are_not_named() -> None:
    methods = asked(_shared.method_option("How"), "--method", "all", "--method", "irv")["methods"]
    assert methods == ("irv", *(method for method in AGGREGATORS if method != "irv"))


def test_a_bank_by_a_variable() -> None:
    assert asked(_shared.bank_option, TIEBREAK_BANK="y.db") == {"url": "y.db"}
    assert asked(_shared.bank_option, "--bank", "x.db", TIEBREAK_BANK="y.db") == {"url": "x.db"}


ITEMS = "for rounds of benchmarks; with --tiers the items are rounds."


@pytest.mark.parametrize(
    ("decorator", "arguments", "said"),
    [
        (
            _contest.contest_options,
            "--rounds r --order a",
            "Give --rounds, whose order counts, or --order.",
        ),
        (
            _contest.contest_options,
            "--benchmark b",
            "--benchmark goes with --tiers; --order chooses benchmarks.",
        ),
        (_contest.contest_options, "--tiers 2 --rounds r", f"--rounds: {ITEMS}"),
        (_contest.contest_options, "--tiers 2 --missing available", f"--missing: {ITEMS}"),
        (
            _contest.contest_options,
            "--tiers 2 --order a --spoil b=c --missing worst",
            f"--order, --spoil, --missing: {ITEMS}",
        ),
        (
            _contest.contest_options,
            "--eliminate 0;1",
            "Invalid value for '--eliminate': '0;1' is not a list of whole numbers such as 0,1,2",
        ),
        *(
            (
                _shared.scores_options,
                f"--rename {text}",
                f"Invalid value for --rename: {text!r} is not of the form OLD=NEW",
            )
            for text in ("a", "=b", "a=")
        ),
        *(
            (
                _shared.loading_options(),
                f"--name {text}",
                f"Invalid value for --name: {text!r} is not of the form PATH=MODEL",
            )
            for text in ("logs/a.eval", "=m", "a=", "=", "==m")
        ),
    ],
)
def test_what_is_refused(decorator: Decorator, arguments: str, said: str) -> None:
    assert refused(decorator, *arguments.split()) == f"Error: {said}"


@pytest.mark.parametrize(
    ("text", "path", "model"),
    [
        ("a=b=c", "a", "b=c"),  # nothing is there
        ("x=y=m", "x=y", "m"),  # a folder of lm-eval is named after arguments
        ("x=y/z=1.eval=m", "x=y/z=1.eval", "m"),
        ("x=y/z=1.eval=m=n", "x=y/z=1.eval", "m=n"),
        ("x=y", "x", "y"),  # that folder, without a model
    ],
)
def test_a_path_and_a_model_may_have_an_equals_sign(
    text: str, path: str, model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x=y").mkdir()
    (tmp_path / "x=y" / "z=1.eval").touch()
    found = asked(_shared.loading_options(), "--name", text)["loading"]["names"]
    assert found == {path: model}


@pytest.mark.parametrize(
    ("text", "found"), [("1", (1,)), ("3,-2,0", (3, -2, 0)), ("", None), ("1,", None), ("x", None)]
)
def test_numbers(text: str, found: tuple[int, ...] | None) -> None:
    option = click.option("--n", callback=_shared.numbers(int, "whole numbers"))
    if found is None:
        said = f"Invalid value for '--n': {text!r} is not a list of whole numbers"
        assert refused(option, "--n", text) == f"Error: {said}"
    else:
        assert asked(option, "--n", text) == {"n": found}
    assert asked(option) == {"n": None}


@pytest.mark.parametrize(("text", "fine"), [("1,2", True), ("1,0", False), ("0", False)])
def test_every_number_must_be_valid(text: str, fine: bool) -> None:
    read = _shared.numbers(int, "numbers above 0", lambda number: number > 0)
    option = click.option("--n", callback=read)
    if fine:
        assert asked(option, "--n", text) == {"n": (1, 2)}
    else:
        assert "is not a list of numbers above 0" in refused(option, "--n", text)


def test_how_long_methods_take_for_scores() -> None:
    assert _shared.SCORES_LIMIT == 60


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
    _shared.show(form, Made(columns), 1, items=True)
    assert capsys.readouterr().out == printed


def test_a_terminal_is_not_steered_by_csv(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    _shared.show("csv", Made(), 1)
    assert capsys.readouterr().out.splitlines() == ["x,y", "a\\x1b[1m,1"]


@pytest.mark.parametrize("form", ["markdown", "latex", "html"])
def test_a_text_ends_once(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    _shared.show(form, Made(), 1)
    printed = capsys.readouterr().out
    assert printed.endswith("\n")
    assert not printed.endswith("\n\n")
