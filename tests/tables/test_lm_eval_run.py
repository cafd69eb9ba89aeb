"""Results of a real run of lm-eval, not of a summary written for the test."""

import json
from pathlib import Path

import pytest

from tests.cases import cases
from tests.harness import run_lm_eval
from tests.tables.builders import cells, write
from tiebreak.tables import TableError
from tiebreak.tables.results import read_results


@pytest.mark.slow
def test_a_real_run_of_lm_eval(tmp_path: Path) -> None:
    tasks = tmp_path / "tasks"
    files = dict(cases(__file__, "files"))
    task = files.pop("task")
    files["up.yaml"] = task.format(name="tiny_up", up="true")
    files["down.yaml"] = task.format(name="tiny_down", up="false")
    for name, text in files.items():
        write(tasks / name, text)
    given = ("--tasks", "tiny", "--include_path", str(tasks))
    out = ("--output_path", str(tmp_path / "out"))
    run_lm_eval((*given, "--model_args", "pretrained=org/m:1", *out), cwd=tmp_path)
    [path] = (tmp_path / "out").rglob("results_*.json")
    summary = json.loads(path.read_text())
    assert summary["results"]["tiny"]["exact_match,whole"] == 0.75
    # In the group one task is better when higher and one when lower: lm-eval cannot say.
    with pytest.raises(TableError, match=r"tiny: .*its tasks disagree"):
        read_results(tmp_path / "out")
    del summary["results"]["tiny"]
    path.write_text(json.dumps(summary))
    table = read_results(tmp_path / "out")
    assert cells(table) == {("org/m:1", "tiny_down"): -0.75, ("org/m:1", "tiny_up"): 0.75}
