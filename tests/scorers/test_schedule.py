from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiebreak.scorers.schedule import Schedule, circle_method, n_rounds


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


def test_another_model_leaves_the_order_in_which_the_others_are_shown() -> None:
    few, more = (Schedule(models(n), 10_000, "0") for n in (7, 9))
    assert few.first(5).items() <= more.first(5).items()


def test_lots_decide_who_meets_first() -> None:
    first = {Schedule(models(8), 100, str(seed)).of(0)[0] for seed in range(20)}
    assert len(first) > 10
