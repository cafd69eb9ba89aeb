"""The verb `diagnose`: the verdict and the next command."""

from functools import partial
from pathlib import Path

import pytest

from tests.candidates.builders import make_rows, write_inspect_log
from tests.cli.handed import tiebreak

run = partial(tiebreak, "diagnose")


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    folder = tmp_path / "two words"
    for model in ("a", "b"):
        rows = make_rows(8, answer=f"{model}: {{i}}")
        write_inspect_log(folder, model, rows)
    return folder


@pytest.mark.slow
def test_a_verdict_and_the_next_command(logs: Path) -> None:
    done = run(str(logs))
    assert done.exit_code == 0, done.output
    assert "gsm8k · 2 models · 8 items" in done.output
    assert "Saturated: native scores do not tell the 2 models apart" in done.output
    assert f"tiebreak estimate '{logs}' --judge MODEL" in done.output
