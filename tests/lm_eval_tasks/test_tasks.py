"""The lm-eval tasks in a real `lm_eval run`, and what the loader makes of its output."""

import json
from pathlib import Path

import pytest

from tests.candidates.builders import write_inspect_log
from tests.harness import ROOT, run
from tiebreak.candidates import load_candidates

pytestmark = pytest.mark.slow

ITEMS = ROOT / "examples" / "items" / "gsm8k.jsonl"


def test_a_dummy_run_aligns_with_an_inspect_log_of_the_same_questions(tmp_path: Path) -> None:
    docs = [json.loads(line) for line in ITEMS.read_text().splitlines()][:3]
    data = tmp_path / "three.jsonl"
    data.write_text("\n".join(map(json.dumps, docs)))
    run("lm_eval", "run", "--model", "dummy", "--include_path", str(ROOT / "lm_eval_tasks"),
        "--tasks", "tiebreak_gsm8k", "--metadata", json.dumps({"data": str(data)}),
        "--log_samples", "--output_path", "out/lm", cwd=tmp_path)  # fmt: skip
    rows = [
        {"id": f"gsm8k_{number}", "question": doc["question"], "answer": "#### 7", "native": "C"}
        for number, doc in reversed(list(enumerate(docs)))
    ]
    write_inspect_log(tmp_path / "out" / "a.eval", "acme/a", rows, task="inspect_evals/gsm8k")
    pool = load_candidates(tmp_path / "out")
    assert pool.benchmarks == ("gsm8k",)
    assert [item.item_id for item in pool.items] == ["gsm8k_0", "gsm8k_1", "gsm8k_2"]
    [other] = set(pool.models) - {"acme/a"}
    for item, row in pool:
        assert row[other].text == "lol"
        assert row[other].native_score == 0.0
        assert row[other].native_metric == "exact_match,last_number"
        assert item.prompt == docs[int(item.item_id[-1])]["question"]
