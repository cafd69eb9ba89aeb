"""The task `fair` with a server: one question after the other, and nothing twice."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from inspect_ai import eval as inspect_eval
from inspect_ai import eval_retry
from inspect_ai.log import EvalLog, list_eval_logs, read_eval_log
from sqlalchemy import select

from tests.fair.bank import serving
from tests.fair.bank.fake_exam import TOKEN, FakeExam, running
from tests.harness import kill_once, run
from tiebreak.fair.bank.errors import BankError
from tiebreak.fair.bank.export import pool_of
from tiebreak.fair.bank.schema import ACCESS_LOG, SESSION_QUESTIONS, SESSIONS
from tiebreak.fair.server.settings import Settings
from tiebreak.fair.tasks import DESIGN_KEY, fair
from tiebreak.fair.tasks.fair import Turns

K = 6
ONCE = {("s1", place): 1 for place in range(1, K + 1)}


@pytest.fixture
def exam(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeExam]:
    monkeypatch.setenv("TIEBREAK_TOKEN", TOKEN)
    with running(FakeExam()) as found:
        yield found


def answer(exam: FakeExam, log_dir: Path, model: str = "candidate/0.5", **more: Any) -> EvalLog:
    given = {"server": exam.address, "k": K, **more.pop("task_args", {})}
    [log] = inspect_eval(
        "tiebreak/fair",
        model=model,
        task_args=given,
        log_dir=str(log_dir),
        display="none",
        log_realtime=False,
        **more,
    )
    return log


def in_order(exam: FakeExam) -> list[int]:
    return [int(call.rsplit("/", 1)[1]) for call in exam.calls if call.startswith("PUT")]


@pytest.mark.slow
@pytest.mark.parametrize("how", [{"max_samples": 1}, {"max_samples": K}, {"sample_shuffle": 1}])
def test_questions_come_in_order_and_once(
    exam: FakeExam, tmp_path: Path, how: dict[str, Any]
) -> None:
    # Shuffled, the first question comes last, as the one at which a run was killed may in a retry.
    log = answer(exam, tmp_path, task_args={"prompting": "step_by_step", "session": 7}, **how)
    assert (log.status, log.eval.task) == ("success", "fair_step_by_step")
    assert exam.asked == ONCE
    assert in_order(exam) == list(range(1, K + 1))
    assert log.eval.metadata is not None
    assert log.eval.metadata[DESIGN_KEY]["session"] == "s1"
    for sample in sorted(log.samples or [], key=lambda one: int(one.id)):
        asked = f"What is {sample.id}?\nA. x\nB. y\n\nPlease think step by step"
        assert sample.messages[0].text.startswith(asked)
        assert sample.input == f"Question {sample.id} of session s1"
        assert (sample.target, sample.choices, sample.metadata["category"]) == ("", None, "Law")
        assert sample.output.completion == exam.answers["s1"][int(sample.id)]


@pytest.mark.slow
def test_a_model_that_fails_is_tried_again_at_its_question(
    exam: FakeExam, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    down = tmp_path / "down"
    monkeypatch.setenv("CANDIDATE_FAILS", str(down))
    ask = exam.reply

    def reply(method: str, path: str, headers: Any, body: dict[str, Any]) -> Any:
        if path.endswith("questions/4"):
            down.touch()
        return ask(method, path, headers, body)

    exam.reply = reply  # type: ignore[method-assign]
    log = answer(exam, tmp_path / "logs", "candidate/0.5+fails", max_samples=3)
    assert log.status == "error"
    assert list(exam.answers["s1"]) == [1, 2, 3]
    down.unlink()
    exam.reply = ask  # type: ignore[method-assign]
    [again] = eval_retry(log, log_dir=str(tmp_path / "logs"), display="none")
    assert again.status == "success"
    assert exam.asked == {**ONCE, ("s1", 4): 2}
    assert [bool(sample.output.completion) for sample in again.samples or []] == [True] * K


@pytest.mark.slow
def test_the_same_command_goes_on_and_another_name_starts_anew(
    exam: FakeExam, tmp_path: Path
) -> None:
    assert answer(exam, tmp_path / "a", limit=4).status == "success"
    assert list(exam.answers["s1"]) == [1, 2, 3, 4]
    rest = answer(exam, tmp_path / "b")
    assert exam.asked == ONCE
    told = [sample.metadata.get("answered") for sample in rest.samples or []]
    assert told == ["in an earlier run"] * 4 + [None] * 2
    assert answer(exam, tmp_path / "c").status == "success"
    assert exam.asked == ONCE
    assert answer(exam, tmp_path / "d", task_args={"session": "2"}).status == "success"
    assert exam.asked == {**ONCE, **{("s2", place): 1 for place in range(1, K + 1)}}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"sample_id": [3]}, "question 3 comes after question 1, which is not in this run"),
        ({"epochs": 2}, "leave out --epochs"),
    ],
)
def test_what_an_exam_does_not_allow(
    exam: FakeExam,
    tmp_path: Path,
    more: dict[str, Any],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(fair, "GRACE", 0.1)
    log = answer(exam, tmp_path, **more)
    assert log.status == "error"
    assert log.error is not None
    assert message in log.error.message
    assert exam.asked == ({} if "sample_id" in more else Counter(exam.asked.keys()))


def test_turns_whatever_comes_first() -> None:
    order: list[int] = []

    async def main() -> None:
        turns = Turns(2)

        async def take(place: int) -> None:
            async with turns.of(place):
                await anyio.sleep(0)
                order.append(place)

        async with anyio.create_task_group() as group:
            for place in (5, 3, 7, 4, 6):
                group.start_soon(take, place)

    anyio.run(main)
    assert order == [3, 4, 5, 6, 7]


def test_who_waits_long_is_patient_while_questions_are_answered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A place gives up when nobody is answering, not when the answers before it take long."""
    monkeypatch.setattr(fair, "GRACE", 0.05)
    order: list[int] = []

    async def main() -> None:
        turns = Turns(0)

        async def take(place: int) -> None:
            async with turns.of(place):
                await anyio.sleep(0.03 if place % 2 else 0.08)
                order.append(place)

        async with anyio.create_task_group() as group:
            for place in (5, 4, 3, 2, 1):
                group.start_soon(take, place)
        began = anyio.current_time()
        with pytest.raises(BankError, match="question 8 comes after question 6, which is not in"):
            async with turns.of(8):
                pass
        assert 0.04 < anyio.current_time() - began < 1

    anyio.run(main)
    assert order == [1, 2, 3, 4, 5]


def test_who_waits_for_a_question_that_failed_is_told() -> None:
    async def main() -> None:
        turns = Turns(0)
        with pytest.raises(RuntimeError):
            async with turns.of(1):
                raise RuntimeError
        with pytest.raises(BankError, match="question 2 was not asked, since question 1 failed"):
            async with turns.of(2):
                pass
        async with turns.of(1):
            pass
        async with turns.of(2):
            pass

    anyio.run(main)


@pytest.mark.slow
def test_killed_and_retried_nothing_is_asked_twice(tmp_path: Path) -> None:
    """A process of Inspect that is killed half-way, and the real server."""
    k = 30
    bank = tmp_path / "bank.db"
    engine = serving.make_bank(bank, 60)
    serving.grant(engine, "example.org", 30)
    token = serving.token(engine)

    def answered() -> int:
        with engine.connect() as connection:
            return connection.execute(select(SESSIONS.c.answered)).scalar_one_or_none() or 0

    with serving.served(Settings(bank=str(bank), keys=serving.KEYS)) as address:
        kill_once(
            lambda: answered() >= 8,
            *("inspect", "eval", "tiebreak/fair", "--model", "candidate/0.5", "-T", f"k={k}"),
            *("-T", f"server={address}", "--log-dir", "out"),
            cwd=tmp_path,
            TIEBREAK_TOKEN=token,
        )
        before = answered()
        assert 8 <= before < k
        [first] = list_eval_logs(str(tmp_path / "out"))
        retry = ("inspect", "eval-retry", first.name, "--log-dir", "out")
        run(*retry, cwd=tmp_path, TIEBREAK_TOKEN=token)
    retried = max(list_eval_logs(str(tmp_path / "out")), key=lambda info: info.mtime or 0)
    assert read_eval_log(retried, header_only=True).status == "success"
    with engine.connect() as connection:
        [session] = connection.execute(select(SESSIONS.c.id, SESSIONS.c.state)).all()
        paths = connection.execute(
            select(ACCESS_LOG.c.path).where(ACCESS_LOG.c.method == "GET")
        ).scalars()
        asked = Counter(path.rsplit("/", 1)[1] for path in paths)
        times = connection.execute(select(SESSION_QUESTIONS.c.answered_at)).scalars().all()
    assert session.state == "complete"
    # One question at most was under way when the process died.
    assert asked.keys() == {str(place) for place in range(1, k + 1)}
    assert sum(asked.values()) <= k + 1
    assert times == sorted(times)
    pool = pool_of(engine, session.id)
    assert (len(pool), pool.models) == (k, ("candidate/0.5",))
    assert serving.PRIVATE_TEXT not in read_eval_log(retried).model_dump_json()
