import json
import math
from pathlib import Path

import pytest

from tests.candidates.builders import write_inspect_log
from tiebreak.candidates import Audit, audit, audit_text, load_candidates

# item: answers and native scores of a, b, c
TABLE = {
    "q0": (("x", 1.0), ("x ", 1.0), ("x", 1.0)),  # all the same, saturated
    "q1": (("x", 1.0), ("y", 1.0), ("z", 1.0)),  # saturated, three answers
    "q2": (("x", 1.0), ("x", 1.0), ("y", 0.0)),  # one pair of three
    "q3": (("x", 0.0), ("y", 0.5), ("z", "odd")),  # no native score for c
}


@pytest.fixture
def result(tmp_path: Path) -> Audit:
    for number, model in enumerate(["a", "b", "[red]c"]):
        rows = [
            {"id": item, "question": item, "answer": row[number][0], "native": row[number][1]}
            for item, row in TABLE.items()
        ]
        rows += [{"id": "q4", "question": "q4", "answer": "x", "native": 1.0}] * (model == "a")
        write_inspect_log(tmp_path / f"{number}.eval", model, rows)
    return audit(load_candidates(tmp_path, "intersect"))


def test_counts(result: Audit) -> None:
    (found,) = result.benchmarks
    assert found.benchmark == "gsm8k"
    assert (found.n_items, found.n_dropped) == (4, 1)
    assert (found.n_native, found.n_saturated) == (3, 2)
    assert (found.n_pairs, found.n_identical_pairs) == (12, 3 + 0 + 1 + 0)
    assert found.n_all_identical == 1


def test_native_means_skip_what_is_undefined(result: Audit) -> None:
    models = result.benchmarks[0].models
    counts = [(m.model, m.n, m.n_native) for m in models]
    assert counts == [("[red]c", 4, 3), ("a", 4, 4), ("b", 4, 4)]
    assert [m.native_mean for m in models] == pytest.approx([2 / 3, 3 / 4, 3.5 / 4])
    assert result.benchmarks[0].models[1].native_metrics == ("match",)


def test_as_dict_is_json_and_undefined_is_none(tmp_path: Path) -> None:
    for model in "ab":
        write_inspect_log(tmp_path, model, [{"id": 1, "question": "q", "answer": "x"}])
    (found,) = audit(load_candidates(tmp_path)).benchmarks
    assert math.isnan(found.models[0].native_mean)
    assert (found.n_native, found.n_saturated) == (0, 0)
    data = json.loads(json.dumps(audit(load_candidates(tmp_path)).as_dict(), allow_nan=False))
    assert data["benchmarks"][0]["models"][0]["native_mean"] is None
    assert data["notes"][0]["kind"] == "native_choice"


def test_text_shows_names_as_they_are_and_every_count(result: Audit) -> None:
    text = audit_text(result)
    for words in (
        "gsm8k: 4 items",
        "[red]c",
        "0.6667 (of 3)",
        "saturated: 2 of 3 (66.7%)",
        "identical: 4 of 12 (33.3%) pairs",
        "in 1 of 4 (25.0%) items all answers",
        "holes:     1 items left out",
        "undefined: 1 items lack a native score",
        "item 'q4' left out, no answer by [red]c, b",
    ):
        assert words in text
    assert "\x1b" not in text


def test_long_lists_of_notes_are_cut(tmp_path: Path) -> None:
    rows = [{"id": i, "question": f"q{i}", "answer": "x", "native": 1} for i in range(9)]
    write_inspect_log(tmp_path, "a", rows)
    write_inspect_log(tmp_path, "b", rows[:1])
    text = audit_text(audit(load_candidates(tmp_path, "intersect")))
    assert "hole (8):" in text
    assert "and 3 more" in text
