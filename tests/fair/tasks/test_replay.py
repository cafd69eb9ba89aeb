"""tiebreak/replay: what is asked, and a real run with a model that knows half of the questions."""

import json
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import Task

from tests.cases import cases
from tests.fair.bank.questions import keep
from tests.harness import run_here
from tiebreak.candidates import REPLAY_KEY
from tiebreak.fair.analysis.contamination import contamination
from tiebreak.fair.bank.question import BankQuestion
from tiebreak.fair.bank.schema import open_bank
from tiebreak.fair.report.contamination import verdict_of
from tiebreak.fair.tasks.replay import BLANK, replay
from tiebreak.prerequisite import PrerequisiteError

NOUNS = cases(__file__, "nouns")


def write_questions(path: Path, n: int, what: str) -> Path:
    """Questions of which each is a sentence of its own."""
    lines = [
        {"id": f"{what}-{k}", "question": f"Why is the {NOUNS[k % 8]} of district{k}{what} famous?"}
        for k in range(n)
    ]
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return path


def ids(task: Task) -> list[object]:
    return [sample.id for sample in task.dataset]


def test_what_is_asked(tmp_path: Path) -> None:
    path = write_questions(tmp_path / "own.jsonl", 30, "x")
    task = replay(str(path), k=10)
    assert len(task.dataset) == 10
    assert task.dataset.name == "own"
    assert task.epochs == 3
    assert task.metadata == {
        REPLAY_KEY: {"data": "own", "mask": "word", "seed": 0, "questions": "all", "k": 10}
    }
    for sample in task.dataset:
        assert isinstance(sample.input, str)
        assert sample.input.count(BLANK) == 2
        assert isinstance(sample.target, str)
        assert sample.target.casefold() not in sample.input.casefold()
        assert sample.metadata == {"raw_uuid": sample.id}
    assert ids(replay(str(path), k=10)) == ids(task)
    assert ids(replay(str(path), k=10, seed=1)) != ids(task)
    assert set(ids(replay(str(path), k=10))) < set(ids(replay(str(path), k=20)))


def test_options(tmp_path: Path) -> None:
    rows = [
        {"question": f"Number {k}?", "choices": [f"first{k}", f"second{k}"], "raw_uuid": "o"}
        for k in range(3)
    ]
    path = tmp_path / "own.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    [first, *_] = replay(str(path), mask="option", name="mine").dataset
    assert isinstance(first.input, str)
    assert f") {BLANK}" in first.input
    assert first.metadata == {"raw_uuid": "o"}


def test_a_bank(tmp_path: Path) -> None:
    made: Any = {"category": "law", "type": "true_false", "answer": "true"}
    questions = [
        BankQuestion(uuid="u1", raw_uuid="r1", question="Does the tribunal sit on Sunday?", **made),
        BankQuestion(uuid="u2", raw_uuid="r1", parent="u1", made_by="statements",
                     question="Only the senate sits on Monday morning.", **made),
        BankQuestion(uuid="u3", raw_uuid="r3", status="draft",
                     question="Is this finished yet?", **made),
    ]  # fmt: skip
    keep(open_bank(tmp_path / "bank.db", create=True), *questions)
    path = str(tmp_path / "bank.db")
    assert sorted(map(str, ids(replay(path)))) == ["u1", "u2"]
    assert ids(replay(f"sqlite:///{path}", questions="expanded")) == ["u2"]
    assert ids(replay(path, questions="originals")) == ["u1"]
    assert replay(path, questions="originals").dataset.name == "bank, originals"


@pytest.mark.parametrize(("arguments", "words"), cases(__file__, "wrong use"))
def test_wrong_use(tmp_path: Path, arguments: dict[str, str], words: str) -> None:
    own = write_questions(tmp_path / "own.jsonl", 3, "x")
    lines: dict[str, list[dict[str, object]]] = {
        "empty": [{"id": "a"}],
        "twice": [{"id": "a", "question": "Who?"}] * 2,
        "options": [{"question": "Who?", "choices": [1]}],
    }
    paths = {"own": own} | {name: tmp_path / f"{name}.jsonl" for name in lines}
    for name, rows in lines.items():
        paths[name].write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    given = {
        name: value.format(**paths) if isinstance(value, str) else value
        for name, value in arguments.items()
    }
    with pytest.raises(PrerequisiteError) as error:
        replay(**given)  # type: ignore[arg-type]
    assert words in str(error.value.message)


@pytest.mark.slow
def test_a_model_that_knows_half_of_the_questions(tmp_path: Path) -> None:
    public = write_questions(tmp_path / "public.jsonl", 24, "public")
    write_questions(tmp_path / "private.jsonl", 24, "private")
    lines = public.read_text(encoding="utf-8").splitlines()
    (tmp_path / "known.jsonl").write_text("\n".join(lines[:12]), encoding="utf-8")
    for name in ("public", "private"):
        told = ["-T", f"data={name}.jsonl", "--model", "memory/x", "-M", "knows=known.jsonl"]
        run_here("inspect", "eval", "tiebreak/replay", *told, "--log-dir", "logs", cwd=tmp_path)
    found = contamination(tmp_path / "logs", baselines=["private"])
    known, unknown = found.cell("memory/x", "public"), found.cell("memory/x", "private")
    assert known is not None
    assert unknown is not None
    assert (known.recalled, known.n, unknown.recalled, unknown.n) == (12, 24, 0, 24)
    assert verdict_of(found) == "public: memory/x recalls more than of private."
    told = ["contamination", "logs", "--baseline", "private"]
    printed = run_here("tiebreak", *told, cwd=tmp_path)
    assert "public: memory/x recalls more than of private." in printed
