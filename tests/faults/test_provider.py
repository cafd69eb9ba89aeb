"""Judges whose provider fails: Inspect's real client asks an OpenAI API on loopback."""

from pathlib import Path

import pytest
from inspect_ai import eval_retry
from inspect_ai.log import EvalLog

from tests.faults.openai_server import FakeOpenAI
from tests.inspect_tasks.runs import ballots_of, judge_in_process, write_pool

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_API_KEY", "none")


def judged(api: FakeOpenAI, pool: Path, log_dir: Path) -> EvalLog:
    """`inspect eval tiebreak/round_robin` with the API's model as the judge."""
    args = {"model_roles": {"judge": api.model()}, "max_retries": 0}
    [log] = judge_in_process("round_robin", pool, log_dir, eval_args=args, swap="never")
    return log


def test_no_choice_at_all_is_asked_about_and_never_served_again(tmp_path: Path) -> None:
    pool = write_pool(tmp_path / "pool", 2, 8)
    passing = FakeOpenAI(lambda item, before: "" if before or item == 7 else "empty choices")
    with passing.running() as api:
        log = judged(api, pool, tmp_path / "out")
        assert log.status == "success"
        assert api.asked == {"empty choices": 7, "": 8}
        items = ballots_of(log)
        assert [len(item.matches) for item in items.values()] == [1] * 8
        # The reply counted was that of the repair turn; the same again asks for the first one anew.
        again = judged(api, pool, tmp_path / "again")
        assert api.asked == {"empty choices": 7, "": 15}
        repaired = [call.repair for item in ballots_of(again).values() for call in item.calls]
        assert repaired == [False] * 8
        judged(api, pool, tmp_path / "third")
        assert api.asked.total() == 22


def test_what_inspect_gives_up_on_is_asked_afresh_and_then_left_for_a_retry(tmp_path: Path) -> None:
    pool = write_pool(tmp_path / "pool", 2, 6)
    faults = {0: "400", 1: "401", 2: "truncated", 3: "503", 4: "dropped"}
    with FakeOpenAI(lambda item, before: faults.get(item, "")).running() as api:
        log = judged(api, pool, tmp_path / "out")
        assert log.status == "error"
        # What is refused is not asked again.
        assert api.by_item == {0: 1, 1: 1, 2: 3, 3: 3, 4: 3, 5: 1}
        errors = {s.id: s.error.message for s in log.samples or [] if s.error}
        assert sorted(errors) == ["q0", "q1", "q2", "q3", "q4"]
        assert "Fault 503" in errors["q3"]
        assert "InternalServerError" in errors["q3"]
        assert not any("0x" in message for message in errors.values())
        faults.clear()
        [retried] = eval_retry(log, log_dir=str(tmp_path / "out"), log_realtime=False)
        assert retried.status == "success"
        assert api.by_item == {0: 2, 1: 2, 2: 4, 3: 4, 4: 4, 5: 1}
