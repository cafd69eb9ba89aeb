"""The protocols that SEAL is compared with: points, one call that ranks all, and all pairs."""

import math
from dataclasses import replace
from itertools import groupby

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.scorers.judges import (
    NotingJudge,
    contest_of,
    judged,
    judged_all,
    ladder,
    names,
    session_of,
)
from tests.scorers.tournament import planted_contest
from tiebreak.scorers.baselines import SAMPLE_TASKS, share_rubric
from tiebreak.scorers.placement import NotPlacedError, place
from tiebreak.scorers.questions import RubricQuestion, ScoreQuestion
from tiebreak.scorers.rubric import load_rubric

# Points for each candidate on its own, with and without a rubric that is written first.


def is_rubric(question: object) -> bool:
    return isinstance(question, RubricQuestion)


@pytest.mark.parametrize("n_items", [1, 2, 7])
def test_one_rubric_for_all_items_that_are_judged_at_the_same_time(n_items: int) -> None:
    contests = [contest_of(3, item_id=str(i)) for i in range(n_items)]
    judge = NotingJudge(ladder(3))
    items = judged_all("fixed_rubric", contests, judge)
    [written] = [question for question in judge.asked if is_rubric(question)]
    assert isinstance(written, RubricQuestion)
    assert written.tasks == tuple(c.task for c in contests[:SAMPLE_TASKS])
    # The item that needed it first holds the call; all others waited, and hold what came of it.
    assert sorted(len(item.calls) for item in items) == [3] * (n_items - 1) + [4]
    for item in items:
        assert len(item.criteria) == 4
        assert {call.depth for call in item.calls if call.kind == "score"} == {1}
    graded = [question for question in judge.asked if isinstance(question, ScoreQuestion)]
    assert len(graded) == 3 * n_items
    assert all(question.criteria == items[0].criteria for question in graded)


def test_every_benchmark_and_task_type_has_a_rubric_of_its_own() -> None:
    one = contest_of(2, item_id="1")
    other = replace(contest_of(2, item_id="2"), benchmark="other")
    typed = replace(
        contest_of(2, item_id="3"), rubric_name="general_qa", rubric=load_rubric("general_qa")
    )
    judge = NotingJudge(ladder(2))
    judged_all("fixed_rubric", [one, other, typed, one], judge)
    written = [question for question in judge.asked if isinstance(question, RubricQuestion)]
    assert sorted((q.benchmark, q.rubric.task_type) for q in written) == [
        ("other", "math_reasoning"),
        ("planted", "general_qa"),
        ("planted", "math_reasoning"),
    ]


def test_without_a_rubric_nobody_is_graded_and_all_are_told_why() -> None:
    contests = [contest_of(3, item_id=str(i)) for i in range(4)]
    judge = NotingJudge(ladder(3), silent=is_rubric)
    items = judged_all("fixed_rubric", contests, judge)
    assert all(map(is_rubric, judge.asked))
    assert len(judge.asked) == 2  # asked again once, and not for every item
    assert sum(len(item.calls) for item in items) == 4
    for item in items:
        assert item.complete
        assert item.criteria == ()
        assert [one.candidate for one in item.scores] == names(3)
        reasons = {one.unscored for one in item.scores}
        assert reasons == {"the rubric call gave no usable reply (silent)"}
        with pytest.raises(NotPlacedError, match="rubric call gave no usable reply"):
            place(item)


def test_when_the_first_item_fails_the_next_one_asks_for_the_rubric() -> None:
    contests = [contest_of(2, item_id=str(i)) for i in range(2)]
    [shared] = share_rubric(contests).values()
    asked = []

    class Failing(NotingJudge):
        async def ask(self, question, *, depth, attempt=0):  # type: ignore[no-untyped-def]
            asked.append(question)
            await anyio.sleep(0)
            if len(asked) == 1:
                raise RuntimeError("the provider fails")
            return await super().ask(question, depth=depth, attempt=attempt)

    async def run() -> None:
        judge = Failing(ladder(2))
        with pytest.raises(RuntimeError):
            await shared.of(session_of(contests[0], judge))
        assert (await shared.of(session_of(contests[1], judge))).value is not None

    anyio.run(run)
    assert len(asked) == 2


# Binary insertion: exact for a consistent judge, at the number of calls that the algorithm has.


def insertion_by_hand(lots: list[str], quality: dict[str, float]) -> tuple[list[list[str]], int]:
    """Order and number of comparisons: halve [low, high) until it is empty or a tie is met."""
    order: list[list[str]] = []
    comparisons = 0
    for newcomer in lots:
        places = range(len(order))
        tied = False
        start = 0
        while places and not tied:
            half = len(places) // 2
            gap = quality[newcomer] - quality[order[places[half]][0]]
            comparisons += 1
            if gap == 0:
                order[places[half]].append(newcomer)
                tied = True
            elif gap > 0:
                places = places[:half]
            else:
                start = places[half] + 1
                places = places[half + 1 :]
        if not tied:
            order.insert(start, [newcomer])
    return order, comparisons


@pytest.mark.slow
@settings(deadline=None, max_examples=80)
@given(st.lists(st.integers(0, 6), min_size=2, max_size=10), st.integers(0, 1000))
def test_order_and_calls_are_those_of_binary_insertion(levels: list[int], seed: int) -> None:
    quality = {name: float(level) for name, level in zip(names(len(levels)), levels, strict=True)}
    contest = planted_contest(quality, seed=seed)
    judge = NotingJudge(quality)
    lots = session_of(contest, judge).lots()
    ballots = judged("sorted", contest, judge, swap="never")
    order, comparisons = insertion_by_hand(lots, quality)
    assert ballots.order == tuple(tuple(group) for group in order)
    assert len(ballots.calls) == len(ballots.matches) == comparisons
    # A place among k - 1 others takes at most ⌈log2 k⌉ questions.
    assert comparisons <= sum(math.ceil(math.log2(k)) for k in range(1, len(levels) + 1))
    # One question after the other.
    assert [call.depth for call in ballots.calls] == list(range(comparisons))
    # Nobody is asked about the same two twice.
    assert len(set(judge.met)) == len(judge.met)
    # The true order, ties included.
    best_first = sorted(quality, key=lambda name: -quality[name])
    truth = [sorted(group) for _, group in groupby(best_first, key=quality.__getitem__)]
    assert [sorted(group) for group in place(ballots).order] == truth
