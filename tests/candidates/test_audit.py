from pathlib import Path

import pytest

from tests.candidates.builders import write_inspect_log
from tiebreak.candidates import Audit, audit, load_candidates

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
