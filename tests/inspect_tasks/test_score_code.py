"""The second step for lm-eval: native scores for programs that a pool holds."""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.candidates.builders import make_rows, write_inspect_log, write_lm_eval_run
from tiebreak.candidates import CandidatePool, load_candidates, read_parquet, write_parquet
from tiebreak.inspect_tasks import generate, unit_tests
from tiebreak.inspect_tasks import score_code as module
from tiebreak.inspect_tasks.score_code import runs_of, score_code
from tiebreak.prerequisite import PrerequisiteError

ITEMS = Path(generate.__file__).parent / "items" / "humaneval.jsonl"
ROWS = [json.loads(line) for line in ITEMS.read_text(encoding="utf-8").splitlines()[:3]]

WRONG = "```python\ndef {}(*_):\n    return 'wrong'\n```"
# Answers by model, by item: two models give the same programs in other words.
ANSWERS = {
    "body": [row["canonical_solution"] for row in ROWS],
    "whole": [f"So:\n```\n{row['prompt']}{row['canonical_solution']}```\nDone." for row in ROWS],
    "wrong": [WRONG.format(row["entry_point"]) for row in ROWS],
    "prose": [ROWS[0]["canonical_solution"], "I do not know.", "Nor do I."],
}


def write_runs(folder: Path) -> Path:
    for model, answers in ANSWERS.items():
        rows = [
            {
                "doc": row,
                "prompt": row["prompt"],
                "answer": answer,
                "target": row["canonical_solution"],
            }
            for row, answer in zip(ROWS, answers, strict=True)
        ]
        write_lm_eval_run(folder / "lm", model, rows, task="tiebreak_humaneval")
    return folder


def boxed(pool: CandidatePool, **options: Any) -> Any:
    return score_code(pool, "bubblewrap", **options)


def natives(pool: CandidatePool) -> Mapping[str, list[float]]:
    return {
        model: [pool.candidates[item.key][model].native_score for item in pool.items]
        for model in pool.models
    }


@pytest.mark.slow
def test_every_different_program_is_run_once(tmp_path: Path) -> None:
    pool = load_candidates(write_runs(tmp_path))
    # Of each item: body = whole, wrong, prose; in the first item prose gives the program, too.
    assert [run.models for run in runs_of(pool)] == [
        ("body", "prose", "whole"),
        ("wrong",),
        *([("body", "whole"), ("prose",), ("wrong",)] * 2),
    ]
    scores = boxed(pool, log_dir=tmp_path / "runs")
    assert (scores.n_runs, scores.unscored) == (6, ())
    assert natives(scores.pool) == {
        "body": [1, 1, 1],
        "whole": [1, 1, 1],
        "wrong": [0, 0, 0],
        "prose": [1, 0, 0],
    }
    assert scores.passed() == {
        "body": (3, 3, 3),
        "prose": (1, 3, 3),
        "whole": (3, 3, 3),
        "wrong": (0, 3, 3),
    }
    metrics = {c.native_metric for _, row in scores.pool for c in row.values()}
    assert metrics == {"unit_tests"}
    [log] = (tmp_path / "runs").iterdir()
    assert log.suffix == ".eval"
    # All else is as it was, and the way through Parquet changes nothing.
    assert scores.pool.items == pool.items
    assert {c.text for _, row in scores.pool for c in row.values()} == {
        c.text for _, row in pool for c in row.values()
    }
    there = read_parquet(write_parquet(scores.pool, tmp_path / "pool.parquet"))
    assert natives(there) == natives(scores.pool)
    assert boxed(there).n_runs == 0


def test_answers_without_a_program_are_wrong_and_need_no_sandbox(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "inspect_eval", None)
    for model in "ab":
        rows = [{"doc": ROWS[0], "answer": "I do not know.", "target": "x"}]
        write_lm_eval_run(tmp_path, model, rows, task="tiebreak_humaneval")
    pool = load_candidates(tmp_path)
    scores = score_code(pool)
    assert (scores.n_runs, scores.unscored) == (0, ())
    assert natives(scores.pool) == {"a": [0], "b": [0]}
    assert {c.native_metric for _, row in scores.pool for c in row.values()} == {"unit_tests"}
    assert all(math.isnan(values[0]) for values in natives(pool).values())


@pytest.mark.slow
def test_answers_that_need_what_is_not_there_are_named(tmp_path: Path) -> None:
    answers = {
        "csv": "    import csv\n    assert list(csv.reader(['a,b']))\n    return a + b\n",
        "fork": "    import os\n    return os.fork()\n",
        "numpy": "    import numpy\n    return numpy.add(a, b)\n",
        "torch": "    import numpy\n    return numpy.add(a, b)\n",
        "wrong": "    return 'wrong'\n",
    }
    for model, answer in answers.items():
        rows = [{"doc": ROWS[0], "answer": answer, "target": "x"}]
        write_lm_eval_run(tmp_path, model, rows, task="tiebreak_humaneval")
    scores = boxed(load_candidates(tmp_path))
    assert natives(scores.pool) == {
        "csv": [1],
        "fork": [0],
        "numpy": [0],
        "torch": [0],
        "wrong": [0],
    }
    assert [(model, why) for _, model, why in scores.not_there] == [
        ("fork", "os.fork is refused here"),
        ("numpy", "import numpy is refused here"),
        ("torch", "import numpy is refused here"),
    ]


@pytest.mark.slow
def test_a_program_is_looked_for_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unit_tests, "complete_program", None)
    scores = boxed(load_candidates(write_runs(tmp_path)))
    assert scores.unscored == ()


def test_what_has_a_score_keeps_it(tmp_path: Path) -> None:
    folder = write_runs(tmp_path)
    rows = [
        {
            "id": row["task_id"],
            "question": row["prompt"],
            "target": row["canonical_solution"],
            "answer": WRONG.format(row["entry_point"]),
            "metadata": {"test": row["test"], "entry_point": row["entry_point"]},
            "native": 1.0,
        }
        for row in ROWS
    ]
    write_inspect_log(folder / "inspect", "scored", rows, task="humaneval", scorer="other")
    for model in "ab":
        write_inspect_log(folder / "inspect", model, make_rows(2, native=0.5), task="gsm8k")
    pool = load_candidates(folder)
    # An answer that has a score is not run, though its program is wrong.
    assert all("scored" not in run.models for run in runs_of(pool))
    assert {run.models for run in runs_of(pool, again=True)} >= {("scored", "wrong")}
    # Other benchmarks hold no programs.
    assert all(run.item.benchmark == "humaneval" for run in runs_of(pool, again=True))


@pytest.mark.slow
def test_a_broken_sandbox_leaves_the_score_undefined(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def verdict(order: Mapping[str, Any]) -> Mapping[str, Any]:
        if "wrong" in order["program"]:
            return {"error": "no room"}
        return {"passed": True, "why": ""}

    monkeypatch.setattr(unit_tests, "_verdict", verdict)
    scores = boxed(load_candidates(write_runs(tmp_path)))
    assert [(model, why) for _, model, why in scores.unscored] == [
        ("wrong", "The sandbox is broken: no room")
    ] * 3
    assert all(map(math.isnan, natives(scores.pool)["wrong"]))
    assert scores.passed()["wrong"] == (0, 0, 3)
    assert natives(scores.pool)["prose"] == [1, 0, 0]
    assert [run.models for run in runs_of(scores.pool)] == [("wrong",)] * 3


def test_what_cannot_be_run_is_said_before(tmp_path: Path) -> None:
    pool = load_candidates(write_runs(tmp_path / "code"))
    with pytest.raises(PrerequisiteError, match="--confirm-run-unsafe-code"):
        score_code(pool, "local")
    for model in "ab":
        write_inspect_log(tmp_path / "other", model, make_rows(2), task="gsm8k")
    with pytest.raises(PrerequisiteError, match="No item has tests"):
        boxed(load_candidates(tmp_path / "other"))
