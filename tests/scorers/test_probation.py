"""A judge that gives nothing usable is stopped by the rule, and a poor one is not."""

import random
from collections.abc import Callable, Sequence

import anyio
import pytest

from tiebreak.scorers.judge import ModelFailedError
from tiebreak.scorers.probation import QUESTIONS, REPLIES, Probation

Usable = Callable[[int, int], bool]
"""From a question's number, and how often it was asked before, to whether the reply is usable."""


def run(n_items: int, width: int, usable: Usable) -> tuple[int, ModelFailedError | None]:
    """How many calls were made about items of one question each, and what stopped them."""
    return anyio.run(judged, n_items, width, usable)


async def judged(
    n_items: int, width: int, usable: Usable, first_only: bool = False
) -> tuple[int, ModelFailedError | None]:
    """`run`, up to the first usable reply at will.

    `width` items are judged side by side. A question is asked, sent back, and both once more.
    """
    probation = Probation("judge", n_items)
    calls = 0
    errors: list[ModelFailedError] = []

    async def ask(item: int) -> None:
        nonlocal calls
        for before in range(4):
            async with probation.call(f"question {item}") as replied:
                calls += 1
                await anyio.lowlevel.checkpoint()
                works = usable(item, before)
                replied("I would rather not say.", None if works else "it holds no JSON object")
            if works:
                if first_only:
                    items.clear()
                return

    async def work() -> None:
        while items:
            try:
                await ask(items.pop(0))
            except ModelFailedError as error:
                errors.append(error)
                items.clear()

    items = list(range(n_items))
    async with anyio.create_task_group() as group:
        for _ in range(width):
            group.start_soon(work)
    return calls, errors[0] if errors else None


@pytest.mark.parametrize("width", [1, 2, 3, 7, 20, 100])
@pytest.mark.parametrize("n_items", [6, 8, 15, 20, 30, 300])
def test_a_dead_judge_costs_no_more_than_planned(n_items: int, width: int) -> None:
    calls, error = run(n_items, width, lambda item, before: False)
    assert error is not None
    assert "'I would rather not say.' (it holds no JSON object)" in str(error)
    assert "JSON schemas" in error.look_at
    # 5 questions asked four times, and one once.
    assert calls <= 4 * (QUESTIONS - 1) + 1
    if n_items >= 18 or width >= n_items:
        assert calls <= 1.2 * n_items


@pytest.mark.parametrize("width", [1, 3, 20])
def test_a_judge_with_one_usable_reply_is_asked_to_the_end(width: int) -> None:
    last = 5 if width < 20 else REPLIES - 1
    calls, error = run(40, width, lambda item, before: item == last)
    assert error is None
    assert calls == 39 * 4 + 1


def test_few_items_stop_nothing() -> None:
    assert run(QUESTIONS - 1, 3, lambda item, before: False) == (4 * (QUESTIONS - 1), None)


@pytest.mark.slow
@pytest.mark.parametrize("width", [1, 4, 20])
@pytest.mark.parametrize("by_question", [False, True])
def test_a_judge_that_fails_30_percent_is_not_stopped(width: int, by_question: bool) -> None:
    async def false_alarms() -> int:
        alarms = 0
        for seed in range(1500):
            rng = random.Random(seed)
            fate = [rng.random() >= 0.3 for _ in range(30)]

            def usable(
                item: int, before: int, rng: random.Random = rng, fate: Sequence[bool] = fate
            ) -> bool:
                return fate[item] if by_question else rng.random() >= 0.3

            # Nothing stops it after its first usable reply, as another test has it.
            alarms += (await judged(30, width, usable, first_only=True))[1] is not None
        return alarms

    # 0.3 ** 6 of 1,500 are 1.1; more than 6 happen by chance in 1 of 7,000 tests.
    assert anyio.run(false_alarms) <= 6


def test_what_every_call_meets_stops_at_once() -> None:
    probation = Probation("judge", 30)

    async def main() -> None:
        async with probation.call("question 1"):
            raise ModelFailedError("judge: unknown key", look_at="its key")

    with pytest.raises(ModelFailedError, match="judge: unknown key"):
        anyio.run(main)


def test_a_provider_that_is_away_is_no_usable_reply_either() -> None:
    probation, failures = Probation("judge", 6), []

    async def main() -> None:
        for number in range(10):
            try:
                async with probation.call(f"question {number}"):
                    raise ModelFailedError(f"judge: away ({number})")
            except ModelFailedError as error:
                failures.append(error)

    anyio.run(main)
    assert [bool(error.look_at) for error in failures] == [False] * 5 + [True] * 5
