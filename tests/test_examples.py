"""The examples and the README's code do what they say."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from tiebreak.cli import main

ROOT = Path(__file__).parent.parent


@pytest.mark.slow
def test_a_cluster_gives_the_same_numbers() -> None:
    script = ROOT / "examples" / "csd_on_a_cluster.py"
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, check=True, timeout=300
    )
    assert "the same, bit for bit" in done.stdout
    assert len(re.findall(r"^#\d+  model", done.stdout, re.MULTILINE)) == 5


def test_the_commands_of_the_readme(monkeypatch: pytest.MonkeyPatch) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    commands = re.findall(r"^tiebreak ((?:aggregate|csd) examples/\S.*?)(?:\s+#.*)?$", text, re.M)
    assert len(commands) == 2
    monkeypatch.chdir(ROOT)
    for command in commands:
        done = CliRunner().invoke(main, command.split())
        assert done.exit_code == 0, done.output


def test_the_code_of_the_readme(capsys: pytest.CaptureFixture[str]) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    [code] = [
        block for block in re.findall(r"```python\n(.*?)```", text, re.S) if "kemeny_young" in block
    ]
    exec(compile(code, "README.md", "exec"), {})
    # One ballot against "ada before ben", one against either order of ben and cleo.
    assert capsys.readouterr().out == "['ada', 'ben', 'cleo'] 2 False\n"


def test_rounds_that_read_logs_and_tables_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT / "examples")
    arguments = ["csd", "scores.csv", "--rounds", "rounds.yaml", "--iterations", "100"]
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 0, done.output
    assert "17 models · 6 rounds" in done.output
