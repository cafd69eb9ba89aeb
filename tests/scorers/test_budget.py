"""What a run may spend: never a call too many, no deadlock, items that end rather than begin."""

from collections.abc import Awaitable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.ranking_logs.builders import call
from tests.scorers.judges import ladder
from tests.scorers.tournament import planted_contest, play_all
from tiebreak.scorers.ballots import Call
from tiebreak.scorers.budget import Account, Budget, BudgetSpentError, Spent, UnknownPriceError
from tiebreak.scorers.model_judge import ModelJudge


class Step(NamedTuple):
    """A call: how many turns of the event loop it takes, and how it ends."""

    turns: int = 1
    cached: bool = False
    fails: bool = False
    cost: float | None = None


class Run:
    """Items that are judged at the same time; an item is a list of calls, one after the other."""

    def __init__(self, budget: Budget, max_calls: float = float("inf")) -> None:
        self.budget, self.max_calls = budget, max_calls
        self.at_once = self.most_at_once = self.paid = 0
        self.ended: list[int] = []
        self.refused: list[int] = []
        self.failed: list[int] = []
        self.begun: list[int] = []
        self.order: list[tuple[str, int]] = []
        self.messages: set[str] = set()

    async def call(self, account: Account, step: Step) -> None:
        async with account() as ended:
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
            # All that are under way could have to be paid for.
            assert self.paid + self.at_once <= self.max_calls
            try:
                for _ in range(step.turns):
                    await anyio.sleep(0)
                if step.fails:
                    raise RuntimeError("the provider fails")
            finally:
                self.at_once -= 1
            self.paid += not step.cached
            ended(Call(kind="match", role="j", model="m", cached=step.cached, cost=step.cost))

    async def item(self, number: int, steps: Sequence[Step]) -> None:
        async with self.budget.item() as account:
            self.begun.append(number)
            self.order.append(("begun", number))
            for step in steps:
                await self.call(account, step)
        self.order.append(("ended", number))

    async def tried(self, number: int, work: Awaitable[None]) -> None:
        try:
            await work
            self.ended.append(number)
        except BudgetSpentError as error:
            self.refused.append(number)
            self.messages.add(error.message)
        except RuntimeError:
            self.failed.append(number)

    def all_at_once(self, works: Sequence[Awaitable[None]]) -> "Run":
        async def run() -> None:
            with anyio.fail_after(120):  # a deadlock would last for ever
                async with anyio.create_task_group() as group:
                    for number, work in enumerate(works):
                        group.start_soon(self.tried, number, work)

        anyio.run(run)
        return self

    def items(self, items: Sequence[Sequence[Step]]) -> "Run":
        return self.all_at_once([self.item(number, steps) for number, steps in enumerate(items)])

    def side_by_side(self, steps: Sequence[Step]) -> "Run":
        """Calls of a single item, all at the same time."""
        account = partial(self.budget.call, Spent())
        return self.all_at_once([self.call(account, step) for step in steps])


STEPS = st.builds(
    Step,
    turns=st.integers(0, 4),
    cached=st.booleans(),
    fails=st.sampled_from([False, False, False, True]),
    cost=st.none(),
)
LONG = 99
"""Turns of a call that is still under way when all that have room have begun."""


# Calls.

COINS = [0.1, 0.1, 0.1, 0.1, 0.3, 0.1, 0.1, 0.1]
Limits = tuple[int | None, float | None]
# Calls and dollars at most, calls that want to run at the same time, and of these: how many ended,
# were refused and failed, how many were paid for, and the most at once.
SIDE_BY_SIDE: list[tuple[Limits, list[Step], tuple[int, int, int, int, int]]] = [
    # As many as there is room for; without a limit all.
    ((7, None), [Step(LONG)] * 20, (7, 13, 0, 7, 7)),
    ((None, None), [Step(LONG)] * 20, (20, 0, 0, 20, 20)),
    # Two cached calls hold both places; the other two wait, and are paid for.
    ((2, None), [Step(LONG, cached=True)] * 2 + [Step()] * 2, (4, 0, 0, 2, 2)),
    ((1, None), [Step(cached=True)] * 30, (30, 0, 0, 0, 1)),
    # A call that fails gives its room back.
    ((1, None), [Step(LONG, fails=True)] * 5 + [Step()] * 2, (1, 1, 5, 1, 1)),
    # Of one price as many as fit, the first alone; 0.1 + 0.1 + 0.1 > 0.3 in floats. Of 0.05 the
    # first shows that not even it would fit.
    *(
        ((None, limit), [Step(LONG, cost=0.1)] * 20, (n, 20 - n, 0, n, max(1, n - 1)))
        for limit, n in ((0.5, 5), (0.55, 5), (0.3, 3), (0.1, 1), (0.05, 1))
    ),
    # Only a call dearer than all before goes over the limit: 0.1, then room for 4 at 0.1 each; one
    # of them costs 0.3.
    ((None, 0.5), [Step(LONG, cost=cost) for cost in COINS], (5, 3, 0, 5, 4)),
    # 0.3, then one at a time, since two at 0.3 would not fit, until 0.6 leave no room for 0.3.
    ((None, 0.85), [Step(LONG, cost=c) for c in (0.3, *[0.1] * 9)], (4, 6, 0, 4, 1)),
    # A price that is known from the cache; a price of nothing.
    (
        (None, 0.5),
        [Step(1, cached=True, cost=0.1), *[Step(LONG, cost=0.1)] * 20],
        (6, 15, 0, 5, 5),
    ),
    ((None, 1), [Step(LONG, cost=0.0)] * 20, (20, 0, 0, 20, 19)),
]


@pytest.mark.parametrize(("limits", "steps", "expected"), SIDE_BY_SIDE)
def test_calls_side_by_side(limits: Limits, steps: list[Step], expected: tuple[int, ...]) -> None:
    calls, dollars = limits
    run = Run(Budget(calls, dollars), calls or float("inf")).side_by_side(steps)
    counts = (len(run.ended), len(run.refused), len(run.failed), run.paid, run.most_at_once)
    assert counts == expected
    cost = sum(steps[number].cost or 0 for number in run.ended if not steps[number].cached)
    assert run.budget.paid.cost == pytest.approx(cost)
    spent = f"{run.paid} of {calls} calls" if calls else f"${cost:.2f} of ${dollars or 0:.2f}"
    assert run.messages == ({f"The budget is spent ({spent})"} if run.refused else set())


def test_one_that_is_cancelled_takes_no_room() -> None:
    async def run() -> None:
        budget = Budget(max_calls=1)
        account = partial(budget.call, Spent())
        with anyio.move_on_after(0.01):
            async with account():  # cancelled under way
                await anyio.sleep(60)
        async with anyio.create_task_group() as group:

            async def holder() -> None:
                async with account() as ended:
                    await anyio.sleep(0.05)
                    ended(Call(kind="match", role="j", model="m", cached=True))

            group.start_soon(holder)
            await anyio.sleep(0)
            with anyio.move_on_after(0.01):
                async with account():  # cancelled while it waits
                    raise AssertionError("there was no room")
        async with account() as ended:
            ended(Call(kind="match", role="j", model="m"))
        assert budget.paid.calls == 1

    anyio.run(run)


def test_one_budget_serves_one_event_loop_after_the_other() -> None:
    budget = Budget(max_calls=5)
    for paid in (3, 5):
        Run(budget, 5).side_by_side([Step(turns=2)] * 3)
        assert budget.paid.calls == paid


# Dollars.


@pytest.mark.slow
@settings(deadline=None, max_examples=100)
@given(st.lists(st.integers(1, 9), max_size=15), st.integers(1, 60))
def test_what_goes_over_the_limit_is_the_surprise(cents: list[int], limit: int) -> None:
    run = Run(Budget(max_cost=limit / 100))
    run.side_by_side([Step(i % 3, cost=c / 100) for i, c in enumerate(cents)])
    paid = [cents[number] for number in run.ended]
    # Every call was foreseen at the price of the dearest one before it began; the surprise is at
    # most what each cost above the cheapest.
    surprise = sum(cost - min(cents) for cost in paid)
    assert sum(paid) <= max(limit, paid[0] if paid else 0) + surprise


def test_a_model_without_a_price_cannot_be_held_to_dollars() -> None:
    async def ask(budget: Budget, cached: bool) -> None:
        async with budget.call(Spent()) as ended:
            ended(Call(kind="match", role="judge", model="acme/free", cached=cached))

    budget = Budget(max_cost=1)
    anyio.run(ask, budget, True)  # nothing was paid
    with pytest.raises(UnknownPriceError, match=r"acme/free.*--model-cost-config.*max_calls=N"):
        anyio.run(ask, budget, False)
    anyio.run(ask, Budget(max_calls=1), False)  # without a limit in dollars it does not matter


# Items.

ITEM = [Step()] * 11
BAD = [Step(), Step(fails=True), Step()]
UNEVEN = [[Step(LONG)] * calls for calls in (10, 2, 10, 10)]
# Calls that may be made, items, and of these: how many began, ended and failed, what was paid for,
# and the most calls at once.
ITEMS: list[tuple[int, list[list[Step]], tuple[int, int, int, int, int]]] = [
    # 40 = 3 · 11 + 7: three end; the fourth begins with what is left; the others ask nobody.
    (40, [ITEM] * 12, (4, 3, 0, 40, 2)),
    # After the first item 49 calls are left, room for 4 more of 11 at the same time.
    (60, [[Step(LONG)] * 11] * 12, (6, 5, 0, 60, 4)),
    # Beside an item of which 10 are expected there is no room for a third, but there is when it has
    # ended after 2; with 30 calls both run at the same time.
    (22, UNEVEN[:3], (3, 3, 0, 22, 1)),
    (30, UNEVEN[:3], (3, 3, 0, 22, 2)),
    # 10, 2 and 10 end; 5 are left for the last. Were 2 expected, it would have begun beside the
    # third, and neither had come to its end.
    (27, UNEVEN, (4, 3, 0, 27, 1)),
    # An item of identical answers needs no call, and says nothing about the others.
    (40, [[], *[ITEM] * 12], (5, 4, 0, 40, 2)),
    # Items that fail make room: 1 + 1 + 11 + 11, and one of the last.
    (25, [BAD, BAD, ITEM, ITEM, ITEM], (5, 2, 2, 25, 1)),
]


@pytest.mark.parametrize(("most", "items", "expected"), ITEMS)
def test_items_end_rather_than_begin(
    most: int, items: list[list[Step]], expected: tuple[int, ...]
) -> None:
    run = Run(Budget(max_calls=most), most).items(items)
    counts = (len(run.begun), len(run.ended), len(run.failed), run.paid, run.most_at_once)
    assert counts == expected
    assert len(run.refused) == len(items) - len(run.ended) - len(run.failed)


@pytest.mark.slow
@settings(deadline=None, max_examples=150)
@given(st.lists(st.lists(STEPS, max_size=6), max_size=8), st.integers(1, 25))
def test_no_deadlock_whatever_happens(items: list[list[Step]], most: int) -> None:
    run = Run(Budget(max_calls=most), most).items(items)
    assert len(run.ended) + len(run.refused) + len(run.failed) == len(items)
    assert run.budget.paid.calls == run.paid <= most
    if run.refused:
        assert run.paid == most
    if sum(not step.cached for steps in items for step in steps) < most:
        assert not run.refused


# With real calls.


@pytest.mark.slow
def test_what_comes_from_the_cache_is_told_apart_however_much_runs_at_once(tmp_path: Path) -> None:
    contest = planted_contest(ladder(14))
    for run in ("paid", "cached"):
        [ballots] = play_all([contest], tmp_path / run, protocol="full_pairwise")
        assert [call.cached for call in ballots.calls] == [run == "cached"] * (91 + 1)


# Side by side.


def test_those_under_way_go_on_when_one_is_refused() -> None:
    done = []

    async def refused() -> None:
        await anyio.sleep(0)
        raise BudgetSpentError("custom", value=1, limit=1)

    async def paid() -> None:
        await anyio.sleep(0.01)
        done.append("paid")

    with pytest.raises(BudgetSpentError):
        anyio.run(ModelJudge({}).side_by_side, [paid, refused, refused, paid])
    assert done == ["paid", "paid"]


def test_any_other_error_ends_all_and_comes_alone() -> None:
    done = []

    async def fails() -> None:
        raise RuntimeError("the provider fails")

    async def refused() -> None:
        raise BudgetSpentError("custom", value=1, limit=1)

    async def other() -> None:
        await anyio.sleep(60)
        done.append("other")

    with pytest.raises(RuntimeError, match="the provider fails"):
        anyio.run(ModelJudge({}).side_by_side, [other, refused, fails])
    assert done == []


# Sums of what was spent, as they are compared and as people read them.


def test_sums() -> None:
    assert [str(spent) for spent in (Spent(1200), Spent(3, 1234.5))] == [
        "1,200 calls",
        "3 calls ($1,234.50)",
    ]
    one, other = Spent(3, 0.5), Spent(1, 0.75)
    assert one.plus(other) == Spent(4, 1.25)
    assert one.minus(other) == Spent(2, 0)
    assert other.minus(one) == Spent(0, 0.25)
    assert one.larger(other) == other.larger(one) == Spent(3, 0.75)
    one.add(call(cost=0.25))
    one.add(call(cost=None))
    assert one == Spent(5, 0.75)


@pytest.mark.parametrize(
    ("spent", "below", "within"),
    [
        (Spent(1, 0.5), True, True),
        (Spent(2, 0.5), False, True),
        (Spent(1, 1.0), False, True),
        (Spent(1, 1.0 + 1e-10), False, True),
        (Spent(1, 1.001), False, False),
        (Spent(3, 0.5), False, False),
    ],
)
def test_against_a_limit(spent: Spent, below: bool, within: bool) -> None:
    """Two calls and a dollar: room for one more below both; no more than both is within them."""
    limit = Spent(2, 1.0)
    assert (spent.below(limit), spent.within(limit)) == (below, within)


def test_what_an_item_took_already_is_not_expected_of_it_again() -> None:
    # 32 calls, 10 of them paid. The short item ends after 1 call when the long one has made k: then
    # 11 + k are paid and 10 - k still expected, and there is room for 10 more beside it.
    long, short = [Step(LONG)] * 10, [Step(5 * LONG)]
    run = Run(Budget(max_calls=32), 32).items([[Step()] * 10, long, short, long])
    assert len(run.ended) == 4
    begun = [number for what, number in run.order if what == "begun"]
    assert run.order.index(("begun", begun[3])) < run.order.index(("ended", 1))
