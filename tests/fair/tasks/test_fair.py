"""The task `fair`: what it asks, what its log says, and what it refuses."""

from pathlib import Path
from typing import Any

import pytest
from inspect_ai import Task
from inspect_ai import eval as inspect_eval
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog
from sqlalchemy import update

from tests.cases import cases
from tests.fair.bank.builders import example_questions, make_bank
from tiebreak.candidates import load_candidates
from tiebreak.fair.bank.prompting import prompt
from tiebreak.fair.bank.schema import QUESTIONS
from tiebreak.fair.tasks import DESIGN_KEY
from tiebreak.fair.tasks.fair import fair
from tiebreak.prerequisite import PrerequisiteError

QUESTION = {question.uuid: question for question in example_questions()}


@pytest.fixture
def bank(tmp_path: Path) -> str:
    make_bank(tmp_path / "bank.db").dispose()
    return str(tmp_path / "bank.db")


def ids(task: Task) -> list[str]:
    return [str(sample.id) for sample in task.dataset]


def run(task: Task, log_dir: Path, name: str = "m") -> EvalLog:
    [log] = inspect_eval(
        task,
        model="candidate/0.5",
        log_dir=str(log_dir),
        metadata={"candidate": name},
        display="none",
        log_realtime=False,
    )
    assert log.status == "success"
    return log


def test_a_sample_is_the_question_with_its_key(bank: str) -> None:
    for sample in fair(bank, k=60).dataset:
        question = QUESTION[str(sample.id)]
        assert sample == Sample(
            id=question.uuid,
            input=question.question,
            choices=list(question.options) or None,
            target=question.answer,
            metadata={
                "category": question.category,
                "sub_category": question.sub_category,
                "raw_uuid": question.raw_uuid,
                "type": question.type,
                "source": question.source,
                "date": question.date,
            },
        )


def test_one_seed_is_one_sample_for_all_models(bank: str) -> None:
    assert ids(fair(bank, k=30)) == ids(fair(bank, k=30))
    assert ids(fair(bank, k=30)) != ids(fair(bank, k=30, seed=1))
    keys = [sample.target for sample in fair(bank, k=100, balanced=True).dataset]
    assert abs(keys.count("true") - keys.count("false")) <= 1


def test_sessions_are_linked_by_anchors(bank: str) -> None:
    one, other = (fair(bank, k=50, anchors=0.2, session=name) for name in (1, "x"))
    assert 10 <= len(set(ids(one)) & set(ids(other))) < 30
    assert one.metadata is not None
    assert one.metadata[DESIGN_KEY] == {
        **{"design": "linked", "k": 50, "seed": "0", "anchors": 0.2, "session": "1"},
        **{"balanced": False, "share": "equal", "prompting": "zero_shot"},
        "bank": one.metadata[DESIGN_KEY]["bank"],
    }


def test_the_log_knows_when_the_bank_was_another(bank: str, tmp_path: Path) -> None:
    engine = make_bank(tmp_path / "other.db")
    with engine.begin() as connection:
        one = update(QUESTIONS).where(QUESTIONS.c.uuid == example_questions()[0].uuid)
        connection.execute(one.values(status="draft"))
    marks = {(fair(name, k=9).metadata or {})[DESIGN_KEY]["bank"] for name in (bank, bank)}
    assert len(marks) == 1
    other = fair(str(tmp_path / "other.db"), k=9).metadata or {}
    assert other[DESIGN_KEY]["bank"] not in marks


@pytest.mark.slow
@pytest.mark.parametrize("prompting", ["zero_shot", "few_shot", "step_by_step"])
def test_a_log_is_a_candidate_log(bank: str, tmp_path: Path, prompting: Any) -> None:
    for name in "ab":
        log = run(fair(bank, k=12, prompting=prompting), tmp_path / "logs", name)
    for sample in log.samples or []:
        asked = prompt(str(sample.input), sample.choices or (), prompting)
        assert [message.text for message in sample.messages if message.role == "user"] == [asked]
        assert not sample.scores
    pool = load_candidates(tmp_path / "logs")
    assert pool.benchmarks == ({"zero_shot": "fair"}.get(prompting, f"fair_{prompting}"),)
    assert pool.models == ("a", "b")
    for item in pool.items:
        question = QUESTION[item.item_id]
        assert (item.prompt, item.target) == (question.question, question.answer)
        assert (item.choices, item.metadata["raw_uuid"]) == (question.options, question.raw_uuid)


def test_prompts() -> None:
    assert prompt("Why {question}?", (), "zero_shot") == "Why {question}?"
    assert prompt("Which?", ("x", "{question}"), "zero_shot") == "Which?\nA. x\nB. {question}"
    assert prompt("Why?", ("x",), "step_by_step") == (
        "Why?\nA. x\n\nPlease think step by step and provide the final answer."
    )
    assert prompt("Why?", (), "few_shot").endswith("\n\nQuestion:Why?\n\nAnswer:")
    assert prompt("?", (), "few_shot").count("Question:\n") == 4


@pytest.mark.parametrize(("arguments", "message"), cases(__file__, "what is refused"))
def test_what_is_refused(
    bank: str, arguments: dict[str, Any], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TIEBREAK_BANK", raising=False)
    monkeypatch.delenv("TIEBREAK_TOKEN", raising=False)
    if arguments.get("server") == "exam":
        monkeypatch.setenv("TIEBREAK_TOKEN", "t")
    with pytest.raises(PrerequisiteError, match=message):
        fair(**{"bank": bank, **arguments})


@pytest.mark.parametrize(
    ("server", "token", "message"), cases(__file__, "what could never be sent is said at once")
)
def test_what_could_never_be_sent_is_said_at_once(
    server: str, token: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIEBREAK_TOKEN", token)
    with pytest.raises(PrerequisiteError, match=message):
        fair(server=server, k=3)


def test_the_bank_of_the_environment(bank: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIEBREAK_BANK", bank)
    assert ids(fair(k=9)) == ids(fair(bank, k=9))
