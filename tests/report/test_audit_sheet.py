import math
from pathlib import Path

import pytest

from tests.candidates.builders import audited_pool, write_inspect_log
from tests.expected import check
from tests.report.showing import printed, round_trip
from tiebreak.candidates import audit, load_candidates
from tiebreak.report.sheets.audit import data_of, sheets_of


def test_data_are_json_and_undefined_is_none(tmp_path: Path) -> None:
    for model in "ab":
        write_inspect_log(tmp_path, model, [{"id": 1, "question": "q", "answer": "x"}])
    (found,) = audit(load_candidates(tmp_path)).benchmarks
    assert math.isnan(found.models[0].native_mean)
    assert (found.n_native, found.n_saturated) == (0, 0)
    data = round_trip(data_of(audit(load_candidates(tmp_path))))
    assert data["benchmarks"][0]["models"][0]["native_mean"] is None
    assert data["notes"][0]["kind"] == "native_choice"


def test_what_an_audit_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names as they are, every count, and of long lists of notes the beginning."""
    monkeypatch.chdir(tmp_path)
    rows = [{"id": i, "question": f"q{i}", "answer": "x", "native": 1} for i in range(9)]
    write_inspect_log(Path("cut"), "a", rows)
    write_inspect_log(Path("cut"), "b", rows[:1])
    pools = (audited_pool(Path("pool")), load_candidates(Path("cut"), "intersect"))
    text = "\n".join(printed(sheets_of(audit(pool)), 100) for pool in pools)
    check(__file__, "audit.txt", text)
