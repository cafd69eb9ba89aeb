"""Records for Every Eval Ever, before its own validator, which lies apart from the environment."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.analysis.peers.builders import reviews
from tests.publish import test_contests
from tests.publish.judged_runs import run_of
from tests.publish.test_whole_records import judged_twice, pool_of
from tests.ranking_logs.builders import all_pairs, bracket, by_native, graded
from tiebreak.analysis.contests import contest_report
from tiebreak.candidates import CandidatePool
from tiebreak.publish.contests import contest_of
from tiebreak.publish.records import contest_records, records
from tiebreak.scorers.ballots import ItemBallots

APART = Path(sys.prefix) / "every-eval-ever"
HOSTILE = {
    "a": "openai/gpt-5",
    "b": 'CON/<script>"alert(1)"\x1b[31m|\u202edetrever../..',
    "c": "data",
    "d": "hf/org/model:v1. ",
}
RUNS: Mapping[str, list[ItemBallots]] = {
    "brackets of two benchmarks": [
        *(bracket(f"q{n}", "a", "b", "c") for n in range(12)),
        *(bracket(f"m{n}", "c", "a", "b", benchmark="mmlu") for n in range(1)),
    ],
    "points, one missing": [graded("q1", {"a": 0.5, "b": None, "c": 0.9})],
    "nobody asked": [by_native("q1", {"a": 1.0, "b": 0.0, "c": None})],
    "peer review": [
        reviews(f"q{n}", {"a": "abc", "b": "bac", "c": "cab", "Panel": "b=ac"}) for n in range(4)
    ],
}


@pytest.fixture(scope="module", autouse=True)
def _validator_is_there() -> None:
    if not APART.is_dir():
        if os.environ.get("CI"):
            pytest.fail(f"no validator in {APART}: `make test` installs it")
        pytest.skip("Every Eval Ever's validator is not installed (make test does)")


def validate(folder: Path, files: Mapping[str, bytes]) -> list[dict[str, Any]]:
    """What the validator says of files, one by one; warnings are as bad as errors."""
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    paths = [str(folder / path) for path in files]
    done = subprocess.run(
        [sys.executable, "-m", "every_eval_ever.validator.validate", "--format=json", *paths],
        env={**os.environ, "PYTHONPATH": str(APART)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout, done.stderr
    reports: list[dict[str, Any]] = json.loads(done.stdout)
    return [report for report in reports if report["errors"] or report["warnings"]]


def aggregates(files: Mapping[str, bytes]) -> list[dict[str, Any]]:
    return [json.loads(content) for path, content in files.items() if path.endswith(".json")]


@pytest.mark.slow
@pytest.mark.parametrize("name", RUNS)
def test_its_validator_accepts_what_is_written(name: str, tmp_path: Path) -> None:
    files = records(run_of(tmp_path, *RUNS[name]), organization="somebody")
    schema = json.loads((APART / "every_eval_ever/schemas/eval.schema.json").read_text())
    # Where there is no native score to go by, a model has no place and no record.
    assert len(files) == (2 if name == "nobody asked" else 3)
    for record in aggregates(files):
        jsonschema.validate(record, schema)
    assert validate(tmp_path, files) == []


@pytest.mark.slow
def test_the_validator_would_find_something(tmp_path: Path) -> None:
    assert validate(tmp_path, {"data/x/y/z/no-uuid.json": b"{}"})


def renamed(items: list[ItemBallots], names: Mapping[str, str]) -> list[ItemBallots]:
    def put(value: Any) -> Any:
        if isinstance(value, dict):
            return {names.get(key, key): put(inner) for key, inner in value.items()}
        if isinstance(value, list | tuple):
            return [put(inner) for inner in value]
        return names.get(value, value) if isinstance(value, str) else value

    return [ItemBallots.model_validate(put(item.model_dump())) for item in items]


@pytest.mark.slow
def test_hostile_names_stay_in_their_folder(tmp_path: Path) -> None:
    items = renamed([all_pairs(f"q{n}", "abcd") for n in range(2)], HOSTILE)
    files = records(run_of(tmp_path, *items), organization="o")
    assert len(files) == 4
    assert validate(tmp_path, files) == []
    for path in files:
        assert len((tmp_path / path).resolve().relative_to(tmp_path.resolve()).parts) == 5


@pytest.mark.slow
def test_the_validator_accepts_lines_of_answers_that_no_encoding_has(tmp_path: Path) -> None:
    run = judged_twice(tmp_path)
    pool = pool_of(run)
    rows = {
        key: {model: replace(one, text=f"\ud800 {one.text}") for model, one in row.items()}
        for key, row in pool.candidates.items()
    }
    files = records(run, organization="o", pool=CandidatePool(pool.items, rows))
    assert any("\\ud800 a says" in content.decode() for content in files.values())
    assert validate(tmp_path, files) == []


@pytest.mark.slow
def test_the_validator_accepts_records_of_a_contest(tmp_path: Path) -> None:
    # One wins every round, one loses every round; one score is missing.
    table = test_contests.table_of(tmp_path, "model,x,y\norg/a,9,9\nCON/../b,1,1\nc d,5,\n")
    report = contest_report(table, options={"iterations": 2000, "missing": "worst"})
    assert validate(tmp_path, contest_records(contest_of(report), organization="me")) == []
