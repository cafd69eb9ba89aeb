"""A real lm-eval run of a tiny task with its built-in dummy model."""

import shutil
from pathlib import Path

import pytest

from tests.candidates.builders import write_inspect_log
from tests.cases import cases
from tests.harness import run_lm_eval
from tiebreak.candidates import load_candidates


@pytest.mark.slow
def test_a_real_run_aligns_with_an_inspect_log(tmp_path: Path) -> None:
    tasks = tmp_path / "tasks"
    tasks.mkdir()
    shutil.copy(Path(__file__).with_name("tiny.yaml"), tasks)
    (tasks / "tiny.py").write_text(cases(__file__, "tiny.py"))
    out = tmp_path / "out"
    given = ("--tasks", "tiebreak_tiny", "--log_samples", "--include_path", str(tasks))
    args = ("--model_args", "pretrained=org/m:1", "--output_path", str(out))
    run_lm_eval((*given, *args), cwd=tmp_path)
    rows = [
        {"id": f"i{i}", "question": f"Café {i}?", "answer": "lol", "native": "C"} for i in (2, 0, 1)
    ]
    write_inspect_log(tmp_path / "logs", "openai/gpt", rows, task="tiebreak/tiny")
    pool = load_candidates([out, tmp_path / "logs"])
    assert pool.models == ("openai/gpt", "org/m:1")
    assert [item.item_id for item in pool.items] == ["i0", "i1", "i2"]
    answers = [row["org/m:1"] for _, row in pool]
    assert [answer.text for answer in answers] == ["lol"] * 3
    assert [answer.native_score for answer in answers] == [0.0, 1.0, 1.0]
    assert {answer.native_metric for answer in answers} == {"exact_match"}
