"""The protocols that SEAL is compared with: points, one call that ranks all, and all pairs."""

import math
import random
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
    silent_about,
    silent_on,
)
from tests.scorers.tournament import planted_contest
from tiebreak.scorers.baselines import SAMPLE_TASKS, share_rubric
from tiebreak.scorers.match import CLOSE_MARGIN
from tiebreak.scorers.placement import NotPlacedError, place
from tiebreak.scorers.questions import ListQuestion, RubricQuestion, ScoreQuestion
from tiebreak.scorers.rubric import load_rubric

# Points for each candidate on its own, with and without a rubric that is written first.


def is_rubric(question: object) -> bool:
    return isinstance(question, RubricQuestion)


def test_points_are_grades_over_ten_and_equal_ones_are_tied() -> None:
    quality = {"a": 9.0, "b": 7.0, "c": 7.0, "d": 10.0}
    ballots = judged("pointwise", planted_contest(quality), NotingJudge(quality))
    assert {one.candidate: one.score for one in ballots.scores} == pytest.approx(
        {"a": 0.9, "b": 0.7, "c": 0.7, "d": 1.0}
    )
    assert place(ballots).order == (("d",), ("a",), ("b", "c"))


def test_who_is_unscored_has_no_rank() -> None:
    ballots = judged("pointwise", contest_of(4), NotingJudge(ladder(4), silent=silent_on("m00")))
    assert place(ballots).order == (("m01",), ("m02",), ("m03",))
    [unscored] = [one for one in ballots.scores if one.unscored]
    assert (unscored.candidate, unscored.score, unscored.grades) == ("m00", None, {})
    assert len(ballots.calls) == 3 + 4  # two tries and two repairs for it


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


# One call that ranks all.


@settings(deadline=None, max_examples=50)
@given(st.permutations(range(6)), st.integers(0, 9))
def test_labels_are_turned_back_into_names(order: list[int], seed: int) -> None:
    quality = {name: float(level) for name, level in zip(names(6), order, strict=True)}
    judge = NotingJudge(quality)
    ballots = judged("listwise", planted_contest(quality, seed=seed), judge)
    best_first = sorted(quality, key=lambda name: -quality[name])
    assert place(ballots).order == tuple((name,) for name in best_first)
    [question] = judge.asked
    assert isinstance(question, ListQuestion)
    assert list(question.labelled) == [f"R{i}" for i in range(1, 7)]
    assert sorted(question.labelled.values()) == names(6)


def test_responses_that_share_a_place_are_tied() -> None:
    class Tying(NotingJudge):
        def _says(self, question):  # type: ignore[no-untyped-def]
            place = {"m00": 2, "m01": 5, "m02": 2, "m03": 1, "m04": 5}
            return {"places": {label: place[name] for label, name in question.labelled.items()}}

    ballots = judged("listwise", contest_of(5), Tying(ladder(5)))
    # Only the order of the numbers counts: 1, then 2 twice, then 5 twice.
    assert place(ballots).order == (("m03",), ("m00", "m02"), ("m01", "m04"))
    assert place(ballots).ranks == {"m03": 1, "m00": 2.5, "m02": 2.5, "m01": 4.5, "m04": 4.5}


def test_an_unscored_call_is_repeated_once_and_then_no_ranking() -> None:
    judge = NotingJudge(ladder(3), silent=lambda question: True)
    ballots = judged("listwise", contest_of(3), judge)
    assert [(c.attempt, c.repair, c.depth) for c in ballots.calls] == [
        (0, False, 0),
        (0, True, 1),
        (1, False, 2),
        (1, True, 3),
    ]
    with pytest.raises(NotPlacedError, match=r"ranking call gave no usable reply \(silent\)"):
        place(ballots)


# All pairs: what is asked, and Borda from win rates.


@pytest.mark.parametrize("n", range(2, 11))
def test_close_pairs_are_asked_in_both_orders(n: int) -> None:
    # Margins are gap / 10: with gaps of 1, 2, 3 … the pairs at most 2 places apart are close
    # (0.1 and 0.2 < 0.25 ≤ 0.3): n - 1 neighbours and n - 2 next ones.
    assert 0.2 < CLOSE_MARGIN <= 0.3
    judge = NotingJudge(ladder(n), scale=10)
    ballots = judged("full_pairwise", contest_of(n), judge, swap="close")
    assert len(ballots.calls) == n * (n - 1) // 2 + (n - 1) + max(0, n - 2)
    # The second order waits for the first.
    assert {call.depth for call in ballots.calls} == {0, 1}


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(0, 5), min_size=2, max_size=9))
def test_a_consistent_judge_gives_the_true_order_with_its_ties(levels: list[int]) -> None:
    quality = {name: float(level) for name, level in zip(names(len(levels)), levels, strict=True)}
    placement = place(judged("full_pairwise", planted_contest(quality), NotingJudge(quality)))
    truth = [
        tuple(name for name in quality if quality[name] == level)
        for level in sorted(set(quality.values()), reverse=True)
    ]
    assert placement.order == tuple(truth)


def test_borda_from_win_rates_with_ties_half() -> None:
    # a beats b and c and is even with d; b beats c and d; c beats d.
    #   a: (1 + 1 + ½) / 3 = 5/6    b: (0 + 1 + 1) / 3 = 4/6
    #   c: (0 + 0 + 1) / 3 = 2/6    d: (½ + 0 + 0) / 3 = 1/6
    gaps = {("a", "b"): 1.0, ("a", "c"): 1.0, ("a", "d"): 0.0,
            ("b", "c"): 1.0, ("b", "d"): 1.0, ("c", "d"): 1.0}  # fmt: skip
    flat = dict.fromkeys("abcd", 0.0)
    ballots = judged("full_pairwise", planted_contest(flat), NotingJudge(flat, gaps=gaps))
    assert place(ballots).order == (("a",), ("b",), ("c",), ("d",))
    assert [m.result for m in ballots.matches] == [1, 1, 0.5, 1, 1, 1]


def test_an_unscored_pair_is_left_out_of_the_rates() -> None:
    # a-d has no verdict: a 2/2, b 2/3, c 1/3, d 0/2.
    judge = NotingJudge(ladder(4), silent=silent_about("m00", "m03"))
    ballots = judged("full_pairwise", contest_of(4), judge)
    assert place(ballots).order == tuple((name,) for name in names(4))
    # The same for c-d: c 0/2, d 0/2, although c would have won. No verdict decides nothing.
    judge = NotingJudge(ladder(4), silent=silent_about("m02", "m03"))
    assert place(judged("full_pairwise", contest_of(4), judge)).order == (
        ("m00",),
        ("m01",),
        ("m02", "m03"),
    )


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


@pytest.mark.parametrize("n", range(2, 11))
def test_number_of_calls_without_ties(n: int) -> None:
    # Between the fewest and the most comparisons for a place among k: ⌊log2 k⌋ and ⌈log2 k⌉.
    contest, judge = contest_of(n), NotingJudge(ladder(n))
    calls = len(judged("sorted", contest, judge, swap="never").calls)
    _, exact = insertion_by_hand(session_of(contest, judge).lots(), ladder(n))
    assert calls == exact
    assert sum(int(math.log2(k)) for k in range(1, n + 1)) <= calls
    assert calls <= sum(math.ceil(math.log2(k)) for k in range(1, n + 1))


@pytest.mark.slow
def test_eight_candidates_take_about_sixteen_calls() -> None:
    # Mean over all orders of 8: Σ over k of the mean depth of a binary search among k places,
    # 1 + 5/3 + 2 + 12/5 + 16/6 + 20/7 + 3 = 15.590 for k = 2 … 8.
    calls = [
        len(judged("sorted", contest_of(8, seed=seed), NotingJudge(ladder(8)), swap="never").calls)
        for seed in range(60)
    ]
    assert sum(calls) / 60 == pytest.approx(15.59, abs=0.5)


def test_an_unscored_match_is_marked_and_the_newcomer_goes_below() -> None:
    contest = contest_of(3)
    judge = NotingJudge(ladder(3))
    first, second, third = session_of(contest, judge).lots()
    ballots = judged("sorted", contest, NotingJudge(ladder(3), silent=silent_about(first, second)))
    [unscored] = [m for m in ballots.matches if m.unscored]
    assert (unscored.high, unscored.low, unscored.result) == (first, second, None)
    assert [group for group in ballots.order if group != (third,)] == [(first,), (second,)]


def test_who_has_no_scored_match_has_no_rank() -> None:
    contest = contest_of(3)
    loner = session_of(contest, NotingJudge(ladder(3))).lots()[-1]
    judge = NotingJudge(ladder(3), silent=silent_on(loner))
    ranks = place(judged("sorted", contest, judge)).ranks
    assert sorted(ranks) == sorted(set(names(3)) - {loner})


def test_the_order_so_far_is_kept_on_the_way() -> None:
    lots = random.Random(0).sample(names(5), 5)
    quality = {name: float(i) for i, name in enumerate(lots)}
    ballots = judged("sorted", planted_contest(quality), NotingJudge(quality), swap="always")
    assert all(len(m.verdicts) == 2 for m in ballots.matches)
    assert [name for [name] in ballots.order] == lots[::-1]
