"""Binary insertion: exact for a consistent judge, at the number of calls that the algorithm has."""

import math
import random
from itertools import groupby

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.scorers.judges import (
    NotingJudge,
    contest_of,
    judged,
    ladder,
    names,
    session_of,
    silent_about,
    silent_on,
)
from tests.scorers.tournament import planted_contest
from tiebreak.scorers.placement import place


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
