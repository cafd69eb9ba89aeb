"""What every verb takes, as `interface.txt` has it: a change there is one that users see.

A line of it is an option with what may be given, what holds when nothing is, and how often.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from tests.expected import renewed
from tests.harness import ROOT
from tiebreak.cli.verbs import main

HELP = ("--help", "-h")


def verbs(command: click.Command, path: str) -> Iterator[tuple[str, click.Command]]:
    yield path, command
    if isinstance(command, click.Group):
        for name, inner in sorted(command.commands.items()):
            yield from verbs(inner, f"{path} {name}")


def line(param: click.Parameter) -> str:
    told = param.to_info_dict()
    names = "/".join((*param.opts, *param.secondary_opts))
    words = [names if param.param_type_name == "option" else f"<{names}>", kind(told)]
    words += [word for word in ("required", "multiple", "count", "hidden") if told.get(word)]
    if told["nargs"] != 1:
        words.append(f"{told['nargs']} values")
    default = told["default"] is not None and told["default"] is not False
    if default:
        words.append(f"default {told['default']}")
    if told.get("envvar"):
        words.append(f"or ${told['envvar']}")
    if default and isinstance(param, click.Option) and param.show_default is not False:
        words.append("shown")
    return ", ".join(words)


def kind(told: dict[str, Any]) -> str:
    given = told["type"]
    if told.get("is_flag"):
        return "flag"
    match given["param_type"]:
        case "Choice":
            return "|".join(map(str, given["choices"]))
        case "IntRange" | "FloatRange":
            low = (
                "" if given["min"] is None else f"{given['min']}{'<' if given['min_open'] else ''}"
            )
            high = (
                "" if given["max"] is None else f"{'<' if given['max_open'] else ''}{given['max']}"
            )
            return f"{given['name']} {low}..{high}{' clamped' if given['clamp'] else ''}"
        case "Path":
            allowed = [name for name in ("file", "dir") if given[f"{name}_okay"]]
            there = "existing " if given["exists"] else ""
            return there + " or ".join(allowed) + (" or -" if given["allow_dash"] else "")
        case _:
            return str(given["name"])


def test_what_every_verb_takes() -> None:
    options = [
        f"{path}: {text}"
        for path, command in verbs(main, "tiebreak")
        for text in ("", *(line(param) for param in command.params))
    ]
    kept = Path(__file__).with_name("interface.txt")
    renewed(kept, "".join(f"{text.rstrip()}\n" for text in options))


# The modules that run each verb by its name, of a group's verbs that within the group; or the texts
# of commands that a module runs.
TESTED = {
    "cli/expected/handed.txt": (
        *("aggregate", "align", "calibrate", "canary", "candidates", "compare", "contamination"),
        *("csd", "demo", "diagnose", "estimate", "peers", "publish", "rank", "report"),
        *("score-code", "serve-local", "simulate", "stability", "write-back", "bank serve"),
    ),
    "cli/test_lm_eval.py": ("lm-eval-cache", "lm-eval-tasks"),
    "cli/expected/pairs.txt": ("pairs",),
    "cli/test_rubric.py": ("rubric",),
    "study/test_run.py": ("run",),
    "cli/test_vote.py": ("vote",),
    "fair/cli/test_bank_verbs.py": (
        *("bank check", "bank close", "bank expand", "bank export", "bank import", "bank quota"),
        *("bank release", "bank review", "bank revoke", "bank sample", "bank sessions"),
        *("bank stats", "bank token"),
    ),
}


def test_every_verb_is_run_by_a_test() -> None:
    names = {
        path.removeprefix("tiebreak ")
        for path, command in verbs(main, "tiebreak")
        if not isinstance(command, click.Group)
    }
    assert names == {name for tested in TESTED.values() for name in tested}
    for module, tested in TESTED.items():
        text = (ROOT / "tests" / module).read_text(encoding="utf-8")
        for name in tested:
            called = f'(^|"|[$] )({name}|{name.removeprefix("bank ")})([ "]|$)'
            assert re.search(called, text, re.M), f"{module} does not run {name}"


def test_verbs_without_a_word_say_what_they_do_and_none_is_hidden() -> None:
    for path, command in verbs(main, "tiebreak"):
        assert command.help, path
        assert not command.hidden, path


def test_help_by_a_letter_and_no_wider_than_100(monkeypatch: pytest.MonkeyPatch) -> None:
    # click keeps the option that it made when a verb was first run, by some tests without `main`.
    monkeypatch.setattr(main.commands["align"], "_help_option", None)
    wide = {"COLUMNS": "300"}
    long, short = (CliRunner().invoke(main, ["align", one], env=wide).output for one in HELP)
    assert long == short
    assert max(map(len, long.splitlines())) <= 100
