"""`rubric`: over Inspect's real client, against a server on loopback."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.handed import tiebreak
from tests.inspect_tasks.anthropic_api import FakeAnthropic
from tests.inspect_tasks.runs import judge_in_process, write_pool
from tiebreak.scorers.rubric import load_rubric

MODEL = "anthropic/claude-opus-4-5"
PRINCIPLE = {
    **{"name": "Tone", "description": "The response is friendly.", "weight": 1},
    "checklist": ["It greets."],
}
REPLY = json.dumps({"principles": [PRINCIPLE, PRINCIPLE | {"name": "Length"}]})


@pytest.fixture(autouse=True)
def prompts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "none")
    rows = [json.dumps({"prompt": f"Write mail {n}."}) for n in range(3)]
    (tmp_path / "prompts.jsonl").write_text("\n".join(rows))


def ask(monkeypatch: pytest.MonkeyPatch, reply: str, *more: str) -> tuple[Any, FakeAnthropic]:
    with FakeAnthropic(lambda asked: reply).running() as api:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", api.url)
        given = ("--prompts", "prompts.jsonl", "--judge", MODEL)
        return tiebreak("rubric", "friendly mail", *given, *more), api


def test_a_rubric_to_judge_by(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    done, api = ask(monkeypatch, REPLY, "--sample", "2", "--seed", "5")
    assert done.exit_code == 0
    assert done.output.startswith(f"# A model wrote this rubric: {MODEL}, ")
    assert "of 2 of 3 prompts, seed 5" in done.output
    [asked] = api.direct
    assert str(asked).count("Write mail") == 2
    path = tmp_path / "rubric.yaml"
    path.write_text(done.output, encoding="utf-8")
    assert [p.name for p in load_rubric(str(path)).principles] == ["Tone", "Length"]
    # It is named in the log of the run that it judges.
    pool = write_pool(tmp_path / "pool", 2, 2)
    [log] = judge_in_process("round_robin", pool, tmp_path / "out", rubric=str(path))
    assert log.status == "success"
    assert log.eval.task_args["rubric"] == str(path)


def test_what_cannot_be_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    done, api = ask(monkeypatch, "I would rather not.")
    assert done.exit_code == 1
    assert "What came: I would rather not." in done.output
    assert len(api.direct) == 2
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    for given, code, words in [
        (("x", "--prompts", "prompts.jsonl"), 2, "Missing option '--judge'"),
        ((" ", "--prompts", "prompts.jsonl", "--judge", MODEL), 2, "DESCRIPTION is empty"),
        (("x", "--prompts", "none.jsonl", "--judge", MODEL), 1, "none.jsonl: does not exist"),
        (("x", "--prompts", "prompts.jsonl", "--judge", "nope/x"), 1, "nope/x cannot be used: "),
        (("x", "--prompts", "prompts.jsonl", "--judge", "openai/x"), 1, "No OPENAI_API_KEY, "),
    ]:
        done = tiebreak("rubric", *given)
        assert (done.exit_code, words in done.output) == (code, True), done.output
