"""Runs that stop at their budget: nothing beyond it is paid for, and nothing is paid for twice."""

from pathlib import Path

import pytest
from inspect_ai.model import ModelCost, ModelInfo, set_model_info

from tests.harness import run_here
from tests.inspect_tasks.runs import (
    ballots_of,
    boards_by_protocol,
    judge_in_process,
    logs_in,
    real_calls,
    without_receipt,
    write_pool,
)
from tiebreak.prerequisite import PrerequisiteError

pytestmark = pytest.mark.slow

N, ITEMS = 5, 6
PER_ITEM = 11  # 5 · 4 / 2 pairs, one of them in both orders


def one_saturated(model: int, item: int) -> str:
    """All answers to q5 are identical."""
    return "five" if item == 5 else f"It is {item}. quality={model + 1}"


def test_a_budget_ends_a_run_well(
    tmp_path: Path, calls: Path, caplog: pytest.LogCaptureFixture
) -> None:
    pool = write_pool(tmp_path / "logs", N, ITEMS, one_saturated)
    said = run_here(
        *("inspect", "eval", "tiebreak/full_pairwise", "-T", "candidates=logs"),
        *("-T", "max_calls=38", "--model-role", "judge=planted/x", "--log-dir", "first"),
        cwd=tmp_path,
        INSPECT_LOG_LEVEL="warning",
    )
    words = " ".join(said.split())
    assert "Traceback" not in words
    # Where it is printed, Inspect decides when the first eval of a process begins.
    assert caplog.text.count("The budget is spent") == 1
    assert 3 * PER_ITEM <= len(real_calls(calls)) <= 38

    [log] = logs_in(tmp_path / "first")
    assert log.status == "success"
    board = boards_by_protocol(tmp_path / "first")["full_pairwise"]
    # Three items to their end, and the one about which nobody had to be asked.
    assert board.n_items == 4
    assert [row.model for row in board.rows] == [f"m{m}" for m in reversed(range(N))]
    assert len(board.unranked) == 2
    assert {item.benchmark for item in board.unranked} == {"gsm8k"}
    assert ballots_of(log)["q5"].complete
    printed = " ".join(run_here("tiebreak", "rank", "first", cwd=tmp_path).split())
    assert "4 of 6 items judged. Run the same `inspect eval` again" in printed
    for item in board.unranked:
        assert f"{item.item_id} ({item.reason})" in printed
        assert "budget" in item.reason

    # The same again pays for nothing that was paid for, and comes to the same as a run in one go.
    judge_in_process("full_pairwise", pool, tmp_path / "second", max_calls=1000)
    made = real_calls(calls)
    assert len(made) == len(set(made)) == 5 * PER_ITEM
    judge_in_process("full_pairwise", pool, tmp_path / "whole", "planted/again")
    second = boards_by_protocol(tmp_path / "second")["full_pairwise"]
    assert second.n_items == ITEMS
    assert second.rows == boards_by_protocol(tmp_path / "whole")["full_pairwise"].rows


@pytest.mark.parametrize("max_calls", [4, 11])
def test_no_call_beyond_the_budget(max_calls: int, tmp_path: Path, calls: Path) -> None:
    pool = write_pool(tmp_path / "logs", 4, 3)
    paid = 0
    # Again and again, until nothing is left to do.
    for number in range(10):
        [log] = judge_in_process(
            "seal", pool, tmp_path / f"{number}", swap="never", max_calls=max_calls
        )
        before, paid = paid, len(real_calls(calls))
        assert log.status == "success"
        assert paid - before <= max_calls
        if all(item.complete for item in ballots_of(log).values()):
            break
    made = real_calls(calls)
    # Per item a seeding, three matches and a critique.
    assert len(made) == len(set(made)) == 3 * (1 + 3 + 1)
    assert number + 1 >= len(made) / max_calls
    [whole] = judge_in_process("seal", pool, tmp_path / "whole", swap="never")
    for name, item in ballots_of(log).items():
        assert without_receipt(item) == without_receipt(ballots_of(whole)[name])


def test_a_budget_in_dollars_needs_prices(tmp_path: Path, calls: Path) -> None:
    pool = write_pool(tmp_path / "logs", 3, 2)
    with pytest.raises(PrerequisiteError, match="No price is known for planted/x"):
        judge_in_process("listwise", pool, tmp_path / "out", max_cost=1)
    assert not calls.exists()
    # Where nobody is asked there is nothing to pay for.
    [log] = judge_in_process("original", pool, tmp_path / "out", max_cost=1)
    assert log.status == "success"


def test_a_budget_in_dollars(tmp_path: Path, calls: Path) -> None:
    judge = "planted/priced"
    # Inspect takes prices for models that it knows; real ones need the second step only.
    set_model_info(judge, ModelInfo(organization="tests"))
    prices = ModelCost(input=1, output=2, input_cache_write=0, input_cache_read=0)
    pool = write_pool(tmp_path / "logs", 4, 6)
    args = {"model_cost_config": {judge: prices}}
    judge_in_process("listwise", pool, tmp_path / "whole", judge, eval_args=args, repeat=2)
    whole = boards_by_protocol(tmp_path / "whole")["listwise"].receipt
    assert whole.n_calls == 6
    assert whole.cost is not None
    assert whole.cost == pytest.approx(whole.input_tokens / 1e6 + 2 * whole.output_tokens / 1e6)

    # Enough for four of six calls; all cost about the same.
    limit = whole.cost * 4.5 / 6
    [log] = judge_in_process(
        "listwise", pool, tmp_path / "part", judge, eval_args=args, max_cost=limit
    )
    assert log.status == "success"
    board = boards_by_protocol(tmp_path / "part")["listwise"]
    assert board.n_items == 4
    assert board.receipt.paid == pytest.approx(board.receipt.cost)
    assert board.receipt.cost is not None
    assert board.receipt.cost <= limit
    # Cached calls are not paid for: the same budget is enough for the rest.
    judge_in_process("listwise", pool, tmp_path / "rest", judge, eval_args=args, max_cost=limit)
    assert boards_by_protocol(tmp_path / "rest")["listwise"].n_items == 6
    made = real_calls(calls)
    assert len(made) == 12  # six of another repetition before
