"""Imports follow need: what verbs load, in a fresh process.

Reading a table of ballots or scores must not load a harness: Inspect alone takes two seconds.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.analysis.peers.builders import reviews
from tests.analysis.test_preference_pairs import study
from tests.cases import cases
from tests.ranking_logs.builders import bracket, write_log
from tests.tables.builders import preflib, task_values, write, write_summary

HARNESS = ("inspect_ai", "lm_eval", "huggingface_hub")
FRAMES = ("pandas", "pyarrow", "datasets")
PLOTS = ("matplotlib",)
ARITHMETIC = ("numpy", "scipy")

RUN = """
import json, sys
from click.testing import CliRunner
from tiebreak.cli.verbs import main
loaded = {}
for call in json.loads(sys.argv[1]):
    done = CliRunner().invoke(main, call)
    assert done.exit_code == 0, (call, done.output)
    loaded[" ".join(call)] = [name for name in json.loads(sys.argv[2]) if name in sys.modules]
print(json.dumps(loaded))
"""


def loaded_by(calls: list[list[str]], modules: tuple[str, ...]) -> dict[str, list[str]]:
    """Which of the modules are there after each call of `tiebreak` in one fresh process."""
    given = (json.dumps(calls), json.dumps(modules))
    done = subprocess.run([sys.executable, "-c", RUN, *given], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.slow
def test_help_loads_no_package() -> None:
    from tiebreak.cli.verbs import main

    calls = [["--help"], ["--version"], *([verb, "--help"] for verb in main.commands)]
    loaded = loaded_by(calls, (*HARNESS, *FRAMES, *PLOTS, *ARITHMETIC))
    assert {call: names for call, names in loaded.items() if names} == {}


TABLES = cases(__file__, "tables")


@pytest.mark.slow
def test_tables_load_neither_a_harness_nor_frames_nor_plots(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "ballots.csv", "a,b,c\n1,2,3\n2,1,3\n")
    write(tmp_path / "reviews.csv", "item,reviewer,a,b\nq1,r1,1,2\nq2,r1,2,1\n")
    write(tmp_path / "ballots.toi", preflib("2: 2,{1,3}"))
    write(tmp_path / "scores.csv", "model,maths,code,law\nx,9,8,7\ny,8,9,6\nz,1,2,3\n")
    write(tmp_path / "rounds.yaml", "- [maths, code]\n- law\n")
    for model in ("org/x", "org/y"):
        values = {"gsm8k": task_values(acc=0.5)}
        write_summary(tmp_path / "lm" / f"results_{model[-1]}.json", model, values)
    loaded = loaded_by([call.split() for call in TABLES], (*HARNESS, *FRAMES, *PLOTS))
    assert {call: names for call, names in loaded.items() if names} == {}


@pytest.mark.slow
def test_logs_load_neither_plots_nor_datasets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "seal"
    for protocol in ("seal", "flat_bracket"):
        items = [bracket(f"q{k}", "a", "b", "c", protocol=protocol) for k in range(3)]
        write_log(folder / f"{protocol}.eval", items, eval_id=protocol, task_id=protocol)
    write_log(tmp_path / "judged" / "log.eval", study(3)[0])
    panel = [reviews(f"q{k}", {"a": "abc", "b": "bac", "c": "cba"}) for k in range(3)]
    write_log(tmp_path / "peers" / "b.eval", panel)
    write(tmp_path / "human.csv", "model,rank\na,1\nb,2\nc,3\n")
    write(tmp_path / "pairs.csv", "item,model_a,model_b,winner\nq0,a,b,a\nq1,a,b,b\n")
    calls = [
        "rank seal --draws 100",
        "rank seal --draws 100 --csv",
        "compare seal --reference seal --draws 100",
        "stability seal --seeds 1",
        "peers peers --draws 100",
        "align peers --human human.csv --draws 100",
        "calibrate seal --human pairs.csv",
        "pairs judged --out p.jsonl",
        "aggregate seal peers",
    ]
    loaded = loaded_by([call.split() for call in calls], ("datasets", "lm_eval", *PLOTS))
    assert {call: names for call, names in loaded.items() if names} == {}
