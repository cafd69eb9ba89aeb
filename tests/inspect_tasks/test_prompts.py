"""Own prompts: answered by `inspect eval`, judged and ranked like any benchmark."""

import json
from pathlib import Path

import pytest

from tests.cases import cases
from tests.harness import run, run_here
from tests.inspect_tasks.runs import boards_by_protocol, judge_in_process
from tiebreak.candidates import load_candidates, read_prompts
from tiebreak.inspect_tasks.generate import prompts
from tiebreak.prerequisite import PrerequisiteError

# The category stands on a line of its own in two prompts, as a column of a dataset would.
ROWS = cases(__file__, "rows")


def write_prompts(folder: Path) -> Path:
    path = folder / "prompts.jsonl"
    path.write_text("\n".join(map(json.dumps, ROWS)), encoding="utf-8")
    return path


def test_own_prompts_are_answered_judged_and_ranked(tmp_path: Path) -> None:
    file = write_prompts(tmp_path)
    for model in ("candidate/0.2", "candidate/0.9"):
        run(
            *("inspect", "eval", "tiebreak/prompts", "-T", "prompts=prompts.jsonl"),
            *("--model", model, "--log-dir", "logs"),
            cwd=tmp_path,
        )
    pool = load_candidates(tmp_path / "logs")
    asked = read_prompts(file)
    assert pool.benchmarks == ("prompts",)
    assert {item.item_id: item.prompt for item in pool.items} == {p.id: p.text for p in asked}
    assert {item.item_id: item.target for item in pool.items} == {p.id: p.target for p in asked}
    assert all(c.native_metric is None for _, row in pool for c in row.values())
    # The last words of the user are what was answered, with everything before them sent along.
    answers = pool.candidates[next(i.key for i in pool.items if i.item_id == "cheese")]
    assert answers["candidate/0.9"].text == "quality=0.9 of an answer to 14 characters"
    [log] = judge_in_process("round_robin", tmp_path / "logs", tmp_path / "ranks")
    assert log.status == "success"
    board = boards_by_protocol(tmp_path / "ranks")["round_robin"]
    assert board.benchmark == "prompts"
    assert [row.model for row in board.rows] == ["candidate/0.9", "candidate/0.2"]
    shown = run_here("tiebreak", "rank", "ranks", cwd=tmp_path)
    assert "prompts · round_robin · 3 items" in shown


def test_prompts_of_several_files_have_names_of_their_own(tmp_path: Path) -> None:
    task = prompts(str(write_prompts(tmp_path)), name="emails")
    assert task.name == "emails"
    assert task.scorer is None
    first, second, third = task.dataset
    assert first.input == "Write to a customer about a\nmail"
    assert first.metadata == {"category": "mail"}
    assert isinstance(second.input, list)
    assert [message.role for message in second.input] == ["system", "user"]
    assert third.id == "cheese"


@pytest.mark.parametrize(
    ("arguments", "words"),
    cases(__file__, "cannot_be_answered"),
)
def test_what_cannot_be_answered(
    arguments: dict[str, str], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bad.jsonl").write_text('{"prompt": ""}')
    monkeypatch.chdir(tmp_path)
    with pytest.raises(PrerequisiteError, match=words.replace(" does", ":? does")):
        prompts(**arguments)
