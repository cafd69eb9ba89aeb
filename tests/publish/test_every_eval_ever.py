"""Records for Every Eval Ever, before its own validator, which lies apart from the environment."""

import json
import math
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.analysis.peers.builders import reviews
from tests.ranking_logs.builders import CREATED, all_pairs, bracket, by_native, graded, write_log
from tiebreak.candidates import Candidate, CandidatePool, Item, ItemKey
from tiebreak.publish.records import records
from tiebreak.publish.runs import Run, read_runs
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


@pytest.fixture
def run_of(tmp_path: Path) -> Callable[[list[ItemBallots]], Run]:
    def make(items: list[ItemBallots]) -> Run:
        runs, _ = read_runs([write_log(tmp_path / "logs" / "ranking.eval", items)])
        return runs[0]

    return make


@pytest.fixture(scope="module", autouse=True)
def _validator_is_there() -> None:
    if not APART.is_dir():
        if os.environ.get("CI"):
            pytest.fail(f"no validator in {APART}: `make test` installs it")
        pytest.skip("Every Eval Ever's validator is not installed (make test does)")


def write(folder: Path, files: Mapping[str, bytes]) -> list[Path]:
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    return [folder / path for path in files]


def validate(paths: list[Path]) -> list[dict[str, Any]]:
    """What the validator says, file by file; warnings are as bad as errors."""
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


def metric(record: dict[str, Any], benchmark: str, name: str) -> dict[str, Any]:
    found: list[dict[str, Any]] = [
        result
        for result in record["evaluation_results"]
        if result["evaluation_result_id"] == f"{benchmark}/{name}"
    ]
    assert len(found) == 1
    return found[0]


@pytest.mark.slow
@pytest.mark.parametrize("name", RUNS)
def test_its_validator_accepts_what_is_written(
    name: str, run_of: Callable[[list[ItemBallots]], Run], tmp_path: Path
) -> None:
    files = records(run_of(RUNS[name]), organization="somebody")
    schema = json.loads((APART / "every_eval_ever/schemas/eval.schema.json").read_text())
    # Where there is no native score to go by, a model has no place and no record.
    assert len(files) == (2 if name == "nobody asked" else 3)
    for record in aggregates(files):
        jsonschema.validate(record, schema)
    assert validate(write(tmp_path, files)) == []


@pytest.mark.slow
def test_the_validator_would_find_something(tmp_path: Path) -> None:
    assert validate(write(tmp_path, {"data/x/y/z/no-uuid.json": b"{}"}))


def test_scores_are_those_of_the_leaderboard(run_of: Callable[[list[ItemBallots]], Run]) -> None:
    run = run_of(RUNS["brackets of two benchmarks"])
    record = next(
        one for one in aggregates(records(run, organization="o")) if one["model_info"]["id"] == "a"
    )
    # Model a is first in 12 of 12 items of gsm8k, and second of three in all of mmlu.
    first, second = (metric(record, name, "seal.normalized_borda") for name in ("gsm8k", "mmlu"))
    assert first["score_details"]["score"] == 1.0
    assert second["score_details"]["score"] == 0.5
    assert first["score_details"]["uncertainty"]["num_samples"] == 12
    board = next(board for board in run.boards if board.benchmark == "gsm8k")
    [row] = [row for row in board.rows if row.model == "a"]
    bounds = first["score_details"]["uncertainty"]["confidence_interval"]
    assert (bounds["lower"], bounds["upper"]) == (row.lower, row.upper)
    # One item is too few for an interval: there is none, not one of made-up width.
    assert "confidence_interval" not in second["score_details"]["uncertainty"]
    assert record["retrieved_timestamp"] == "1767225600", CREATED
    native = metric(record, "gsm8k", "tiebreak.native_score")
    assert native["score_details"]["score"] == 1.0
    assert "llm_scoring" not in native["metric_config"]


@pytest.mark.slow
def test_a_place_in_a_consensus_is_a_rank(run_of: Callable[[list[ItemBallots]], Run]) -> None:
    run = run_of(RUNS["peer review"])
    by_model = {
        one["model_info"]["id"]: metric(one, "gsm8k", "kemeny.consensus_rank")
        for one in aggregates(records(run, organization="o"))
    }
    [review] = run.reviews
    assert {model: one["score_details"]["score"] for model, one in by_model.items()} == {
        row.model: row.mean_rank for row in review.ranking.rows
    }
    config = by_model["a"]["metric_config"]
    assert config["lower_is_better"] is True
    assert (config["min_score"], config["max_score"]) == (1.0, 3.0)


def test_an_undefined_score_is_left_out(run_of: Callable[[list[ItemBallots]], Run]) -> None:
    run = run_of(RUNS["nobody asked"])
    assert math.isnan(next(row for row in run.boards[0].rows if row.model == "c").native)
    found = aggregates(records(run, organization="o"))
    assert [record["model_info"]["name"] for record in found] == ["a", "b"]
    for result in (result for record in found for result in record["evaluation_results"]):
        assert "llm_scoring" not in result["metric_config"]


@pytest.mark.slow
def test_the_same_log_gives_the_same_bytes(tmp_path: Path) -> None:
    log = write_log(tmp_path / "ranking.eval", RUNS["peer review"])
    once, again = (records(read_runs([log])[0][0], organization="o") for _ in range(2))
    assert once == again


def renamed(items: list[ItemBallots], names: Mapping[str, str]) -> list[ItemBallots]:
    def put(value: Any) -> Any:
        if isinstance(value, dict):
            return {names.get(key, key): put(inner) for key, inner in value.items()}
        if isinstance(value, list | tuple):
            return [put(inner) for inner in value]
        return names.get(value, value) if isinstance(value, str) else value

    return [ItemBallots.model_validate(put(item.model_dump())) for item in items]


@pytest.mark.slow
def test_hostile_names_stay_in_their_folder(
    run_of: Callable[[list[ItemBallots]], Run], tmp_path: Path
) -> None:
    items = renamed([all_pairs(f"q{n}", "abcd") for n in range(2)], HOSTILE)
    files = records(run_of(items), organization="o")
    assert len(files) == 4
    for path in write(tmp_path, files):
        assert len(path.resolve().relative_to(tmp_path.resolve()).parts) == 5
    assert validate(write(tmp_path, files)) == []


@pytest.mark.slow
def test_lines_per_item_where_the_native_score_says_right_or_wrong(
    run_of: Callable[[list[ItemBallots]], Run], tmp_path: Path
) -> None:
    natives: list[dict[str, float | None]] = [
        {"a": 1.0, "b": 0.0, "c": 1.0},
        {"a": 0.5, "b": None, "c": 1.0},
    ]
    items = [bracket(f"q{n}", "a", "b", "c", native=own) for n, own in enumerate(natives)]
    files = records(run_of(items), organization="o", pool=pool_of(items))
    assert validate(write(tmp_path, files)) == []
    lines = [
        json.loads(line)
        for path, content in files.items()
        if path.endswith("_samples.jsonl")
        for line in content.decode().splitlines()
    ]
    found = {
        (line["model_id"], line["sample_id"], line["evaluation_result_id"].split("/")[1]): (
            line["evaluation"]["score"],
            line["evaluation"]["is_correct"],
        )
        for line in lines
    }
    # By hand: places 1, 2, 3 of three are Borda 1, ½, 0; half right and unknown are left out.
    borda, own = "seal.normalized_borda", "tiebreak.native_score"
    assert found == {
        ("a", "q0", own): (1.0, True),
        ("a", "q0", borda): (1.0, True),
        ("b", "q0", own): (0.0, False),
        ("b", "q0", borda): (0.5, False),
        ("c", "q0", own): (1.0, True),
        ("c", "q0", borda): (0.0, True),
        ("c", "q1", own): (1.0, True),
        ("c", "q1", borda): (0.0, True),
    }
    answers = {line["output"]["raw"][0] for line in lines}
    assert answers == {f"\ud800 answer of {model}" for model in "abc"}


def pool_of(items: list[ItemBallots]) -> CandidatePool:
    keys = {item.item_id: ItemKey(item.benchmark, item.item_id) for item in items}
    return CandidatePool(
        tuple(Item(keys[i.item_id], i.input_hash, "What is 1 + 1?", "2") for i in items),
        {
            keys[i.item_id]: {
                m: Candidate(keys[i.item_id], m, f"\ud800 answer of {m}") for m in i.models
            }
            for i in items
        },
    )
