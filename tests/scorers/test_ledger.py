"""What a run has spent outlives its process, whatever was under way at its end."""

import anyio
import pytest
from inspect_ai.model import ModelOutput, ModelUsage, get_model

from tiebreak.scorers.ballots import Call
from tiebreak.scorers.budget import (
    Budget,
    Ledger,
    LedgerTotals,
    NotedCall,
    Spent,
)

# Without a usage it would be counted in tokens, by what is not there.
YES = ModelOutput.from_content("m", "Yes.").model_copy(update={"usage": ModelUsage()})


def spend(budget: Budget, n: int, *, cost: float | None = None, cached: bool = False) -> None:
    """Pay for so many calls, one after the other."""

    async def run() -> None:
        for _ in range(n):
            async with budget.call(Spent()) as ended:
                ended(Call(kind="match", role="j", model="m", cached=cached, cost=cost))

    anyio.run(run)


def attempt(max_calls: int | None = None, max_cost: float | None = None) -> Budget:
    """The budget of the next attempt at the only run."""
    budget = Budget(max_calls, max_cost)
    budget.begin_attempt(Ledger("run"))
    return budget


@pytest.mark.parametrize(
    ("lines", "noted"),
    [
        ([], LedgerTotals()),
        (["sent", "paid", "sent", "free"], LedgerTotals(calls=1)),
        (["sent", "paid 0.5", "sent", "sent", "paid 0.25"], LedgerTotals(2, 0.75, 1, 0.5)),
        # A line that the disk got a part of, and what nobody wrote.
        (["sent", "paid 1.5", "se"], LedgerTotals(1, 1.5, 0, 1.5)),
        (["\0\0\0", "sent", "paid ½"], LedgerTotals(open=1)),
        (["sent", "paid 1e-07"], LedgerTotals(1, 1e-7, 0, 1e-7)),
    ],
)
def test_what_was_noted(lines: list[str], noted: LedgerTotals) -> None:
    ledger = Ledger("run")
    assert ledger.begin() == LedgerTotals()
    for line in lines:
        ledger.note(line)
    assert Ledger("run").begin() == noted
    assert Ledger("another").begin() == LedgerTotals()
    ledger.end()
    assert Ledger("run").begin() == LedgerTotals()


def test_a_run_has_one_attempt_at_a_time() -> None:
    first = Ledger("run").lock()
    assert first is not None
    assert Ledger("run").lock() is None
    assert Ledger("another").lock() is not None
    first.release()
    assert Ledger("run").lock() is not None


def test_attempts_share_the_budget_until_the_run_ends() -> None:
    first = attempt(max_calls=5)
    spend(first, 3)
    spend(first, 4, cached=True)
    second = attempt(max_calls=5)
    assert second.paid == Spent(3)
    spend(second, 2)
    assert attempt(max_calls=5).paid == Spent(5)
    Ledger("run").end()
    assert attempt(max_calls=5).paid == Spent()


def killed_under_way(budget: Budget, n: int) -> None:
    """Send calls of which nothing more is heard."""
    ledger = Ledger("run")
    ledger.begin()
    for _ in range(n):
        NotedCall(ledger).leaves()


def test_a_call_under_way_at_the_end_counts_at_the_highest_price() -> None:
    first = attempt(max_cost=10)
    spend(first, 1, cost=1.0)
    spend(first, 1, cost=2.0)
    killed_under_way(first, 2)
    assert attempt(max_cost=10).paid == Spent(4, 1 + 2 + 2 * 2)


def test_its_price_may_be_known_only_later() -> None:
    killed_under_way(attempt(max_cost=10), 2)
    second = attempt(max_cost=10)
    assert second.paid == Spent(2)
    spend(second, 1, cost=3.0)
    assert second.paid == Spent(3, 9.0)


@pytest.mark.parametrize("left", [True, False])
def test_a_call_that_is_cancelled_on_its_way_counts(left: bool) -> None:
    budget = attempt(max_calls=5)
    model = get_model("mockllm/model", custom_outputs=[YES])

    async def call(on_its_way: anyio.Event) -> None:
        async with budget.call(Spent()):
            if left:
                await model.generate("?")
            on_its_way.set()
            await anyio.sleep_forever()

    async def run() -> None:
        on_its_way = anyio.Event()
        async with anyio.create_task_group() as group:
            group.start_soon(call, on_its_way)
            await on_its_way.wait()
            group.cancel_scope.cancel()

    anyio.run(run)
    assert budget.paid == attempt(max_calls=5).paid == Spent(left)


def test_a_call_whose_provider_fails_costs_nothing() -> None:
    budget = attempt(max_calls=5)

    async def run() -> None:
        async with budget.call(Spent()):
            raise RuntimeError("the provider fails")

    with pytest.raises(RuntimeError):
        anyio.run(run)
    assert budget.paid == attempt(max_calls=5).paid == Spent()
