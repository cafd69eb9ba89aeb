"""Runs that stop judging once their ranking is decided."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import eval_retry
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog, write_eval_log

from tests.inspect_tasks.runs import (
    ballots_of,
    boards_by_protocol,
    judge_in_process,
    real_calls,
    write_pool,
)
from tiebreak.analysis.leaderboard import leaderboards
from tiebreak.candidates import CONTEST_KEY
from tiebreak.inspect_tasks import settling as settling_module
from tiebreak.inspect_tasks.arguments import checked
from tiebreak.inspect_tasks.settling import Settling
from tiebreak.rankers import Resampling
from tiebreak.scorers.ballots import Skipped

N, ITEMS, AT_ONCE = 4, 60, 3


def mostly_in_order(model: int, item: int) -> str:
    """On every thirtieth item the worst model is the best."""
    best = model == 0 and item % 30 == 0
    return f"It is {item}. quality={9 if best else model + 1}"


def decision(log: EvalLog) -> Skipped:
    """What every skipped item says."""
    decisions = {item.skipped for item in ballots_of(log).values() if item.skipped}
    [only] = decisions
    return only


@pytest.mark.slow
def test_what_is_decided_need_not_be_judged(tmp_path: Path, calls: Path) -> None:
    pool = write_pool(tmp_path / "logs", N, ITEMS, mostly_in_order)
    at_once: dict[str, Any] = {"eval_args": {"max_samples": AT_ONCE}}
    [settled] = judge_in_process("listwise", pool, tmp_path / "settled", settle=True, **at_once)
    paid = len(real_calls(calls))
    [top] = judge_in_process(
        "listwise", pool, tmp_path / "top", settle=1, settle_for="these", repeat=2, **at_once
    )
    [whole] = judge_in_process("listwise", pool, tmp_path / "whole")

    for log, places, settle_for in ((settled, None, "new"), (top, 1, "these")):
        said = decision(log)
        assert (said.of, said.error, said.top) == (ITEMS, 0.05, places)
        assert said.settle_for == settle_for
        judged = [item.skipped is None for item in ballots_of(log).values()]
        # The order of the items is the order of the test, so what is judged is its prefix and
        # those that were under way when it was decided.
        assert all(judged[: said.after])
        assert said.after <= sum(judged) <= said.after + AT_ONCE
        assert log.results is not None
        assert log.results.early_stopping is not None
        assert log.results.early_stopping.metadata == {"settled": said.model_dump()}
        assert [sample for sample in log.samples or [] if sample.error] == []
    assert paid == sum(item.skipped is None for item in ballots_of(settled).values()) < ITEMS - 10
    # The items come in an order drawn by lot.
    order = [*ballots_of(settled)]
    assert order != [*ballots_of(whole)]
    assert sorted(order) == sorted(ballots_of(whole))

    board = boards_by_protocol(tmp_path / "settled")["listwise"]
    everything = boards_by_protocol(tmp_path / "whole")["listwise"]
    assert [row.model for row in board.rows] == [row.model for row in everything.rows]
    assert board.settled is not None
    assert board.settled.n_skipped == ITEMS - paid
    assert board.settled.calls_saved == ITEMS - paid
    assert board.unranked == ()
    assert everything.settled is None


@pytest.mark.slow
def test_a_decision_survives_an_interruption(tmp_path: Path, calls: Path) -> None:
    pool = write_pool(tmp_path / "logs", N, ITEMS)
    [log] = judge_in_process(
        "listwise", pool, tmp_path / "out", settle=True, eval_args={"max_samples": 1}
    )
    after = decision(log).after
    # Killed after the first ten items, which the retry takes over.
    order = [*ballots_of(log)]
    first = [sample for sample in log.samples or [] if str(sample.id) in order[:10]]
    assert len(first) == 10 < after
    killed = log.model_copy(update={"samples": first, "status": "started", "results": None})
    killed.location = str(tmp_path / "killed.eval")
    write_eval_log(killed, killed.location)
    [again] = eval_retry(killed.location, log_dir=str(tmp_path / "again"), max_samples=1)
    assert again.status == "success"
    assert decision(again) == decision(log)
    assert sum(item.skipped is None for item in ballots_of(again).values()) == after
    # All of it was in the cache, and the ten were not even asked for.
    assert len(real_calls(calls)) == after

    # A retry of what was settled judges nothing more.
    [more] = eval_retry(log.location, log_dir=str(tmp_path / "more"), log_realtime=False)
    assert ballots_of(more) == ballots_of(log)
    assert len(real_calls(calls)) == after


@pytest.mark.slow
def test_what_cannot_be_judged_does_not_stand_in_the_way(tmp_path: Path) -> None:
    def answer(model: int, item: int) -> str:
        return f"quality={model + 1}" + (" PROVIDER FAILS" if item % 20 == 0 else "")

    pool = write_pool(tmp_path / "logs", N, ITEMS, answer)
    [log] = judge_in_process(
        "listwise", pool, tmp_path / "out", settle=True, eval_args={"max_samples": 1}
    )
    # Those that failed come before the decision, and are missing only.
    assert log.status == "error"
    order = [*ballots_of(log)]
    failed = [str(sample.id) for sample in log.samples or [] if sample.error]
    assert failed
    after = decision(log).after
    assert all(order.index(name) < after for name in failed)
    [board] = leaderboards([tmp_path / "out"], how=Resampling(draws=100))
    assert board.n_items == after - len(failed)
    assert [row.model for row in board.rows] == ["m3", "m2", "m1", "m0"]


@pytest.mark.slow
def test_equal_models_are_never_told_apart(tmp_path: Path) -> None:
    # Each is the best equally often.
    pool = write_pool(tmp_path / "logs", 3, 30, lambda model, item: f"quality={(model + item) % 3}")
    [log] = judge_in_process("listwise", pool, tmp_path / "out", settle=True)
    assert all(item.complete for item in ballots_of(log).values())
    board = boards_by_protocol(tmp_path / "out")["listwise"]
    assert board.settled is None
    assert board.n_items == 30


def settling(n_items: int) -> Settling:
    samples = [
        Sample(id=f"q{i}", input="?", metadata={CONTEST_KEY: {"benchmark": "b"}})
        for i in range(n_items)
    ]
    return Settling(["a", "b"], samples, checked({"settle": True}))


def test_items_count_in_their_order_however_they_finish() -> None:
    def decided_after(finished: list[int], result: dict[str, float]) -> int | None:
        test = settling(60)
        for number in finished:
            test.judged(f"q{number}", result)
        return test.decided.after if test.decided else None

    forward = [*range(60)]
    clear = {"a": 1.0, "b": 0.0}
    after = decided_after(forward, clear)
    assert after is not None
    assert after < 30
    # Backward, the first item comes last, and with it the decision.
    assert decided_after(forward[::-1], clear) == after
    assert decided_after(forward[1:], clear) is None
    assert decided_after(forward[:after], clear) == after
    assert decided_after(forward[: after - 1], clear) is None
    # Items without a score decide nothing.
    assert decided_after(forward, {}) is None
    assert decided_after(forward, {"a": 1.0}) is None


def test_an_item_counts_once() -> None:
    """Of several epochs, and of several attempts, the first one counts."""
    test = settling(60)
    for _ in range(100):
        test.judged("q0", {"a": 1.0, "b": 0.0})
    assert test.decided is None


def test_an_item_waits_for_what_earlier_attempts_judged_before_it() -> None:
    """A retry takes over what was judged while it begins what was not."""
    clear = {"a": 1.0, "b": 0.0}
    test = settling(60)

    async def attempt() -> None:
        await test.schedule_sample("q1", 1)
        waits = asyncio.create_task(test.earlier_items_done("q3"))
        for number in (0, 2):
            await asyncio.sleep(0.03)
            assert not waits.done()
            test.judged(f"q{number}", clear)
        await asyncio.wait_for(waits, timeout=120)
        # Once all is decided nothing is waited for.
        for number in range(1, 58):
            test.judged(f"q{number}", clear)
        assert test.decided
        await asyncio.wait_for(test.earlier_items_done("q59"), timeout=120)

    asyncio.run(attempt())


def test_an_item_that_never_comes_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settling_module, "_PATIENCE", 0.05)
    asyncio.run(asyncio.wait_for(settling(60).earlier_items_done("q2"), timeout=120))
