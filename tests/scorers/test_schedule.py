from collections import Counter
from dataclasses import replace
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiebreak.scorers.schedule import (
    SAMPLED_ROUNDS,
    Schedule,
    circle_method,
    n_rounds,
)


def models(n: int) -> tuple[str, ...]:
    return tuple(f"m{number:02}" for number in range(n))


@pytest.mark.parametrize("n", range(2, 14))
def test_in_all_rounds_each_pair_meets_once_and_in_a_round_nobody_twice(n: int) -> None:
    rounds = circle_method(n)
    assert len(rounds) == n_rounds(n)
    met = [frozenset(pair) for pairs in rounds for pair in pairs]
    assert sorted(map(sorted, met)) == [list(pair) for pair in combinations(range(n), 2)]
    for pairs in rounds:
        players = [player for pair in pairs for player in pair]
        assert len(players) == len(set(players)) == n - n % 2


@given(st.integers(2, 12), st.integers(1, 60), st.integers(0, 3))
def test_for_every_number_of_rounds_pairs_and_sides_are_balanced(
    n: int, n_items: int, seed: int
) -> None:
    schedule = Schedule(models(n), n_items, str(seed))
    met = Counter(dict.fromkeys(combinations(models(n), 2), 0))
    shown_first = Counter[tuple[str, str]]()
    for rounds in range(n_rounds(n)):
        for item in range(n_items):
            first = schedule.first(item)
            for pair in schedule.of(item)[rounds]:
                met[pair] += 1
                shown_first[pair] += 1 if first[pair] == pair[0] else -1
        assert max(met.values()) - min(met.values()) <= 1
        assert max(map(abs, shown_first.values())) <= 1


@given(st.integers(2, 12), st.integers(1, 60))
def test_an_item_plays_each_round_once(n: int, n_items: int) -> None:
    schedule = Schedule(models(n), n_items, "")
    for item in range(n_items):
        assert sorted(schedule.of(item)) == sorted(schedule.rounds)


def test_more_items_change_the_last_ones_only() -> None:
    short, long = (Schedule(models(8), n_items, "0") for n_items in (100, 1000))
    assert [short.of(item) for item in range(98)] == [long.of(item) for item in range(98)]
    assert [short.first(item) for item in range(98)] == [long.first(item) for item in range(98)]


@given(st.integers(2, 12), st.integers(1, 60), st.integers(0, 60))
def test_more_items_keep_the_first_rounds_that_were_asked(n: int, few: int, more: int) -> None:
    short, long = (Schedule(models(n), n_items, "0") for n_items in (few, few + more))
    for item in range(few):
        [played] = {plan.of(item)[0] for plan in (short, long)}
        assert [short.first(item)[pair] for pair in played] == [
            long.first(item)[pair] for pair in played
        ]
        for model in models(n):
            assert short.against(model, item)[0] == long.against(model, item)[0]


def test_another_model_leaves_the_order_in_which_the_others_are_shown() -> None:
    few, more = (Schedule(models(n), 10_000, "0") for n in (7, 9))
    assert few.first(5).items() <= more.first(5).items()


@given(st.integers(2, 12), st.integers(0, 20), st.integers(0, 9))
def test_a_sample_is_drawn_from_each_of_the_first_rounds_as_often(
    n: int, block: int, seed: int
) -> None:
    plan = Schedule(models(n), 200, str(seed))
    size = min(n_rounds(n), SAMPLED_ROUNDS)
    own = [plan.sampled(item) for item in range(block * size, (block + 1) * size)]
    assert sorted(own) == list(range(size))
    assert own == [
        replace(plan, n_items=7).sampled(block * size + place) for place in range(size)
    ]  # however many items there are


def test_lots_decide_who_meets_first() -> None:
    first = {Schedule(models(8), 100, str(seed)).of(0)[0] for seed in range(20)}
    assert len(first) > 10


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6])
@pytest.mark.parametrize("n_items", [1, 4, 7, 24])
def test_against_one_model_the_others_come_equally_often(n: int, n_items: int) -> None:
    schedule = Schedule(models(n), n_items, "s")
    for model in models(n):
        met = Counter[tuple[str, str]]()
        for matches in range(n - 1):
            for item in range(n_items):
                pairs = schedule.against(model, item)
                assert len({*pairs}) == n - 1
                assert all(model in pair and pair[0] < pair[1] for pair in pairs)
                met[pairs[matches]] += 1
            every = [met[tuple(sorted((model, one)))] for one in models(n) if one != model]  # type: ignore[index]
            assert max(every) - min(every) <= 1
