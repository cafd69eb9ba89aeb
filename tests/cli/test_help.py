"""Help texts: by stage, nothing clipped, no line too wide; and what a shell completes."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.shell_completion import BashComplete, FishComplete, ZshComplete
from click.testing import CliRunner
from rich.cells import cell_len

from tests.cases import cases
from tests.cli.test_interface import verbs
from tiebreak.cli._help import Stages
from tiebreak.cli.verbs import main

VERBS = dict(verbs(main, "tiebreak"))
GROUPS = {path: one for path, one in VERBS.items() if isinstance(one, Stages)}


def help_of(path: str, width: int = 80) -> str:
    args = [*path.split()[1:], "--help"]
    done = CliRunner().invoke(main, args, env={"COLUMNS": str(width)}, terminal_width=width)
    assert done.exit_code == 0
    return done.output


@pytest.mark.parametrize("path", GROUPS)
def test_a_group_lists_every_command_once_by_stage_and_whole(path: str) -> None:
    group = GROUPS[path]
    staged = [one for stage in group.stages for one in stage.commands]
    assert sorted(str(one.name) for one in staged) == sorted(group.commands)
    shown = help_of(path)
    assert "..." not in shown.replace("[ARGS]...", "")
    at = [shown.index(f"\n{stage.heading}:\n") for stage in group.stages]
    assert at == sorted(at)
    for one in staged:
        first = (one.help or "").split(".")[0]
        assert re.search(rf"^  {one.name} +{re.escape(first)}", shown, re.M)


@pytest.mark.parametrize("path", VERBS)
def test_only_a_command_to_copy_is_wider_than_80(path: str) -> None:
    shown = help_of(path)
    texts = re.sub(r"^    +(tiebreak|inspect|lm_eval) (.*\\\n)*.*$", "", shown, flags=re.M)
    assert [line for line in texts.splitlines() if cell_len(line) > 80] == []
    assert not re.search(r"\[default:$", shown, re.M)


@pytest.mark.parametrize("path", [path for path in VERBS if path != "tiebreak"])
def test_every_verb_has_an_example(path: str) -> None:
    assert re.search(rf"^  Examples?:\n(    .*\n)*?    .*{path} ?", help_of(path), re.M)


SHELLS = {"bash": BashComplete, "zsh": ZshComplete, "fish": FishComplete}
COMPLETED = cases(__file__, "completed")


def completed(shell: str, line: str) -> list[tuple[str, str]]:
    """What the shell is told for the last word of a line: kind and word."""
    *before, last = line.split(" ")
    made = SHELLS[shell](main, {}, "tiebreak", "_TIEBREAK_COMPLETE")
    return [(one.type, one.value) for one in made.get_completions(before[1:], last)]


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(("line", "words"), COMPLETED)
def test_verbs_options_and_choices_complete(shell: str, line: str, words: list[str]) -> None:
    assert completed(shell, line) == [("plain", word) for word in words]


@pytest.mark.parametrize("path", [path for path, one in VERBS.items() if one.params])
def test_what_is_a_file_completes_as_one(path: str) -> None:
    for param in VERBS[path].params:
        named = param.make_metavar(click.Context(VERBS[path]))
        if re.search("FILE|LOGS|PATHS|FOLDER|DIRECTORY|SCORES|RANKING_LOG", named):
            found = {one.type for one in param.shell_complete(click.Context(VERBS[path]), "lo")}
            assert found & {"file", "dir"}, f"{path}: {named}"


@pytest.mark.slow
def test_a_shell_completes_by_the_documented_line() -> None:
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("there is no bash here")
    # Bash is asked as it asks itself when the tab key is pressed.
    script = """
        eval "$(_TIEBREAK_COMPLETE=bash_source tiebreak)"
        COMP_WORDS=(tiebreak bank ex); COMP_CWORD=2
        $(complete -p tiebreak | sed 's/.*-F \\([^ ]*\\).*/\\1/') tiebreak
        printf '%s\\n' "${COMPREPLY[@]}"
    """
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        [bash, "-c", script], capture_output=True, text=True, env={**os.environ, "PATH": path}
    )
    assert done.stdout.split() == ["expand", "export"], done.stderr
