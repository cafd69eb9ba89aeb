import math
from itertools import combinations

import numpy as np
import pytest
from scipy.stats import binom

from tests.ranking_logs.builders import all_pairs, item, match
from tiebreak.analysis.judge.figures import coin_p, cycles_of
from tiebreak.reason import Reason
from tiebreak.scorers.ballots import ItemBallots, Listing, Match, Tiering


def tournament(item_id: str, names: str, *lost: str) -> ItemBallots:
    """The first of every pair by name wins, except in the pairs of `lost`."""
    played: list[Match] = [
        match(one, other, -0.3 if one + other in lost else 0.3)
        for one, other in combinations(names, 2)
    ]
    return item(item_id, played, groups=[[name] for name in names])


def test_cycles_that_cannot_be() -> None:
    even = item("q", [match("a", "b", 0.0), match("b", "c", 0.3), match("a", "c", 0.3)])
    assert cycles_of([even]).share.reason == Reason("no_triple")
    assert math.isnan(cycles_of([]).coin_p)


def test_cycles_of_random_tournaments_are_counted_as_by_brute_force() -> None:
    rng = np.random.default_rng(1)
    pairs = ["".join(pair) for pair in combinations("abcdef", 2)]
    for n in range(20):
        lost = {pair for pair in pairs if rng.random() < 0.5}
        cyclic = 0
        for a, b, c in combinations("abcdef", 3):
            wins = [a + b not in lost, b + c not in lost, a + c in lost]
            cyclic += len(set(wins)) == 1
        assert cycles_of([tournament(f"q{n}", "abcdef", *lost)]).share.value == cyclic / 20


@pytest.mark.slow
def test_a_coin_shows_no_evidence() -> None:
    rng = np.random.default_rng(2)
    pairs = ["".join(pair) for pair in combinations("abcde", 2)]
    found = [
        [
            tournament(f"q{n}", "abcde", *(pair for pair in pairs if rng.random() < 0.5))
            for n in range(20)
        ]
        for _ in range(300)
    ]
    alarms = [coin_p(items, cycles_of(items).coin_p) <= 0.01 for items in found]
    assert sum(alarms) <= 8  # 3 are expected


def test_a_judge_that_always_says_the_same_is_no_coin() -> None:
    items = [all_pairs(f"q{n}", "abc") for n in range(20)]
    # a wins its first match in all items: 2 · 2⁻²⁰, times three models; cycles have p = .25 or so.
    cycles = cycles_of(items).coin_p
    assert coin_p(items, cycles) == pytest.approx(2 * 3 * 2 * 2.0**-20)


def test_a_judge_that_goes_with_its_own_seeding_is_no_coin() -> None:
    # Every model is once the better seed, so no model wins more often than others.
    better = ["ab", "ba"] * 20
    items = [
        item(f"q{n}", [match(pair[0], pair[1], 0.3)], groups=[[pair[0]], [pair[1]]]).model_copy(
            update={"tiering": Tiering(tiers={pair[0]: 1, pair[1]: 2})}
        )
        for n, pair in enumerate(better)
    ]
    assert coin_p(items) == pytest.approx(2 * binom.sf(39, 40, 0.5))
    lots = [one.model_copy(update={"tiering": None}) for one in items]
    assert coin_p(lots) == 1.0


def test_the_better_tier_by_hand() -> None:
    """Pairs of models that meet once, so that no model shows anything: 10 of 11 for the better."""

    def met(number: int, margin: float | None, tiers: tuple[int, int]) -> ItemBallots:
        names = f"x{number}", f"y{number}"
        tiering = Tiering(tiers=dict(zip(names, tiers, strict=True)))
        one = item(f"q{number}", [match(*names, margin)], groups=[[name] for name in names])
        return one.model_copy(update={"tiering": tiering})

    seeded = [met(k, 0.4, (1, 2)) for k in range(9)] + [met(9, -0.4, (3, 2)), met(10, -0.4, (1, 4))]
    # A tie, no verdict and two of one tier are no evidence, and neither is an item without tiers.
    silent = [met(11, 0.0, (1, 2)), met(12, None, (1, 2)), met(13, -0.4, (2, 2))]
    without = met(14, -0.4, (1, 2)).model_copy(update={"tiering": None})
    p = binom.sf(9, 11, 0.5)
    assert coin_p([*seeded, *silent, without]) == pytest.approx(2 * p)
    # Of four p-values that are known the smallest, times four.
    assert coin_p([*seeded, *silent], 0.5, 0.001, math.nan) == pytest.approx(0.004)
    assert coin_p(silent) == 1
    assert math.isnan(coin_p([], math.nan))
    assert coin_p([], 0.25) == 0.25
    # Second orders alone decide; beside other evidence they take most of what may be in error,
    # but where there is a seeding.
    assert coin_p([], flips=0.25) == 0.25
    assert coin_p([without], 0.5, 0.004, flips=0.004) == pytest.approx(0.005)
    assert coin_p([without], 0.5, 0.0001, flips=0.1) == pytest.approx(0.0003 / 0.2)
    assert coin_p([*seeded, *silent], 0.5, 0.004, flips=0.004) == pytest.approx(5 * 0.004)


def test_of_a_model_the_first_match_of_each_item_counts() -> None:
    """a wins its first match of eight items and loses the next one; epochs are one item."""

    def one(number: int) -> ItemBallots:
        played = [match("a", f"x{number}", 0.3), match(f"y{number}", "a", 0.3)]
        return item(f"q{number}", played, groups=[["a"], [f"x{number}"], [f"y{number}"]])

    items = [one(number) for number in range(8)]
    p = 2 / 2**8  # of a; its 16 opponents met once each
    assert coin_p(items) == pytest.approx(17 * p)
    assert coin_p([*items, *items]) == pytest.approx(17 * p)


def test_a_model_that_every_list_puts_first_is_evidence() -> None:
    def listed(number: int, ranked: str) -> ItemBallots:
        listing = Listing(reviewer="r", shown=tuple("abc"), groups=tuple((one,) for one in ranked))
        one = item(f"q{number}", groups=[["a"], ["b"], ["c"]])
        return one.model_copy(update={"listings": (listing,)})

    # By sign flips the first and the last of twelve lists have p = 2 / 2¹², and there are three.
    always = [listed(number, "abc") for number in range(12)]
    assert coin_p(always) == pytest.approx(3 * 2 / 2**12)
    turns = [listed(number, "abcabc"[number % 3 : number % 3 + 3]) for number in range(12)]
    assert coin_p(turns) == 1
