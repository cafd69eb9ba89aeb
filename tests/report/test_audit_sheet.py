import math
from pathlib import Path

import pytest

from tests.candidates.builders import audited_pool, write_inspect_log
from tests.report.showing import printed, round_trip
from tiebreak.candidates import Audit, audit, load_candidates
from tiebreak.report.sheets.audit import data_of, sheets_of


@pytest.fixture
def result(tmp_path: Path) -> Audit:
    return audit(audited_pool(tmp_path))


def test_data_are_json_and_undefined_is_none(tmp_path: Path) -> None:
    for model in "ab":
        write_inspect_log(tmp_path, model, [{"id": 1, "question": "q", "answer": "x"}])
    (found,) = audit(load_candidates(tmp_path)).benchmarks
    assert math.isnan(found.models[0].native_mean)
    assert (found.n_native, found.n_saturated) == (0, 0)
    data = round_trip(data_of(audit(load_candidates(tmp_path))))
    assert data["benchmarks"][0]["models"][0]["native_mean"] is None
    assert data["notes"][0]["kind"] == "native_choice"


def test_text_shows_names_as_they_are_and_every_count(result: Audit) -> None:
    text = printed(sheets_of(result), 100)
    for words in (
        "gsm8k: 4 items",
        "[red]c",
        "0.6667 (of 3)",
        "saturated: 2 of 3 (66.7%)",
        "identical: 4 of 12 (33.3%) pairs",
        "in 1 of 4 (25.0%) items all answers",
        "holes: 1 item left out",
        "undefined: 1 item without a native score for every model",
        "item 'q4' left out, no answer by [red]c, b",
    ):
        assert words in text
    assert "\x1b" not in text


def test_long_lists_of_notes_are_cut(tmp_path: Path) -> None:
    rows = [{"id": i, "question": f"q{i}", "answer": "x", "native": 1} for i in range(9)]
    write_inspect_log(tmp_path, "a", rows)
    write_inspect_log(tmp_path, "b", rows[:1])
    text = printed(sheets_of(audit(load_candidates(tmp_path, "intersect"))), 100)
    assert "hole (8):" in text
    assert "and 3 more" in text
