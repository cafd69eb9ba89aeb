"""Answers without a harness: the same pool as from logs, and the same strictness."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import eval as inspect_eval
from inspect_ai.model import ModelOutput, ModelUsage, get_model

from tests.candidates.test_prompts import FORMS, json_lines
from tests.harness import run_here
from tiebreak.candidates import CandidateError, CandidatePool, load_candidates, read_parquet
from tiebreak.inspect_tasks.generate import prompts

TALK = [
    {"role": "system", "content": "Be short."},
    {"role": "user", "content": "Hi"},
    {"role": "assistant", "content": "Hello"},
    {"role": "user", "content": "Name a\ncheese"},
]
ASKED: list[dict[str, Any]] = [
    {"prompt": "Write a\nmail", "category": "mail", "target": "1,000"},
    {"prompt": "Write another\nmail", "category": "mail", "id": "second"},
    {"messages": TALK, "category": "cheese"},
]
MODELS = ("mockllm/a", "mockllm/b")


def answer(model: str, number: int) -> str:
    return f"{model[-1]} says {number}."


ANSWERS = [
    {**asked, "model": model, "answer": answer(model, number)}
    for number, asked in enumerate(ASKED)
    for model in MODELS
]


def write(path: Path, rows: Sequence[Mapping[str, Any]] = ANSWERS) -> Path:
    json_lines(path, rows)
    return path


def bare(pool: CandidatePool) -> Any:
    """Items and answers, without what only a harness knows."""
    return pool.items, {
        key: {
            model: replace(
                c,
                source="",
                stop_reason=None,
                input_tokens=None,
                output_tokens=None,
                native_score=0,
            )
            for model, c in row.items()
        }
        for key, row in pool.candidates.items()
    }


def test_the_pool_is_that_of_logs(tmp_path: Path) -> None:
    file = write(tmp_path / "prompts.jsonl", ASKED)
    for model in MODELS:
        outputs = [ModelOutput.from_content(model, answer(model, n)) for n in range(len(ASKED))]
        for output in outputs:  # which are not counted then: that takes a download
            output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        [log] = inspect_eval(
            prompts(str(file)),
            model=get_model(model, custom_outputs=outputs),
            log_dir=str(tmp_path / "logs"),
            max_connections=1,
            max_samples=1,
        )
        assert log.status == "success"
    logged = load_candidates(tmp_path / "logs")
    pool = load_candidates(write(tmp_path / "answers.jsonl"))
    assert len(pool) == 3
    assert bare(pool) == bare(logged)
    assert all(math.isnan(c.native_score) for _, row in pool for c in row.values())
    # Together they are one pool as well: a model answered in a log, another in a file.
    write(tmp_path / "one.jsonl", [row | {"model": "c"} for row in ANSWERS[::2]])
    both = load_candidates([tmp_path / "logs", tmp_path / "one.jsonl"])
    assert both.models == ("c", *MODELS)
    assert both.items == pool.items


@pytest.mark.parametrize("name", FORMS)
def test_every_form_and_every_way_in(tmp_path: Path, name: str) -> None:
    """Named, in a folder (but for .json, of which folders are full), and written as Parquet."""
    folder = tmp_path / "answers"
    folder.mkdir()
    rows = [dict.fromkeys(("messages", "prompt")) | row for row in ANSWERS]
    if "csv" in name or "tsv" in name or "parquet" in name:
        rows = [{**row, "messages": json.dumps(row["messages"] or "")} for row in rows]
        rows = [{**row, "messages": None if row["prompt"] else row["messages"]} for row in rows]
    FORMS[name](folder / name, rows)
    pool = load_candidates(folder / name)
    assert bare(pool) == bare(load_candidates(write(tmp_path / "plain.jsonl")))
    if name != "p.json":
        assert bare(load_candidates(folder)) == bare(pool)
    run_here("tiebreak", "candidates", str(folder / name), "--out", "pool.parquet", cwd=tmp_path)
    assert bare(read_parquet(tmp_path / "pool.parquet")) == bare(pool)


def test_a_score_is_native_where_there_is_one(tmp_path: Path) -> None:
    scored = [row | {"score": n % 2} for n, row in enumerate(ANSWERS)]
    pool = load_candidates(write(tmp_path / "a.jsonl", scored))
    scores = [[c.native_score for c in row.values()] for _, row in pool]
    assert scores == [[0.0, 1.0]] * 3
    write(tmp_path / "a.jsonl", [*scored[:-1], ANSWERS[-1]])
    with pytest.raises(CandidateError, match="1 of 6 answers have no score"):
        load_candidates(tmp_path / "a.jsonl")


FIRST, LAST = ANSWERS[0], ANSWERS[-1]
BAD: dict[str, tuple[list[dict[str, Any]], str]] = {
    "hole": (ANSWERS[:-1], "has no answer by mockllm/b"),
    "twice": ([*ANSWERS, FIRST], r"a\.jsonl, mockllm/a: item '\w+' is there 2 times"),
    "null": ([*ANSWERS[:-1], LAST | {"answer": None}], "has no answer by mockllm/b that is a text"),
    "model": ([*ANSWERS, FIRST | {"model": " "}], "line 7: it names no model"),
    "prompt": ([*ANSWERS, FIRST | {"prompt": ""}], "line 7: its prompt, or message 1, is empty"),
    "question": (
        [*ANSWERS[:-1], {"prompt": "Another", "id": "second", "model": MODELS[1], "answer": "x"}],
        "second",
    ),
    "one model": (ANSWERS[::2], "mockllm/a"),
    "no answers": (ASKED, r"nor an answer \(prompt, model, answer\)"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_no_pool(tmp_path: Path, case: str) -> None:
    rows, words = BAD[case]
    with pytest.raises(CandidateError, match=words):
        load_candidates(write(tmp_path / "a.jsonl", rows))


def test_an_empty_answer_is_an_answer_as_in_logs(tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl", [*ANSWERS[:-1], LAST | {"answer": ""}])
    pool = load_candidates(tmp_path / "a.jsonl")
    assert "" in {c.text for _, row in pool for c in row.values()}


def test_models_are_not_named_anew(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl")
    with pytest.raises(CandidateError, match="names its models in a column"):
        load_candidates(path, names={str(path): "x"})
