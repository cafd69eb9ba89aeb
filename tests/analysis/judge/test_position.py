import math
from collections.abc import Sequence
from random import Random

import numpy as np
import pytest
from scipy.stats import binom, binomtest

from tests.cases import cases
from tests.ranking_logs.builders import item, listed, match
from tiebreak.analysis.judge.biases import (
    ALARM,
    ENOUGH_VERDICTS,
    flips_of,
    length_of,
    place_of,
    position_of,
)
from tiebreak.scorers.ballots import ItemBallots, Listing, Match, Verdict
from tiebreak.scorers.bracket import Pairing
from tiebreak.scorers.match import settle


def swapped(*firsts: bool) -> list[Match]:
    """Matches in both orders: the answer shown first won (or lost) in the first, in the second."""
    first, second = ((0.3 if won else -0.3) for won in firsts)
    return [match("a", "b", first, second_order=-second)]


def items(matches: Sequence[Match]) -> list[ItemBallots]:
    """One item for each match."""
    return [item(f"q{n}", [one]) for n, one in enumerate(matches)]


def test_from_enough_verdicts_on_60_to_40_is_found_in_half_of_the_runs() -> None:
    def power(n: int) -> float:
        wins = np.arange(n + 1)
        p = np.minimum(1, 2 * binom.cdf(np.minimum(wins, n - wins), n, 0.5))
        return float(binom.pmf(wins, n, 0.6)[p <= ALARM].sum())

    assert power(ENOUGH_VERDICTS - 1) < 0.5
    assert min(power(n) for n in range(ENOUGH_VERDICTS, 400)) >= 0.5


@pytest.mark.parametrize(("n", "won", "bound"), cases(__file__, "position"))
def test_when_a_judge_goes_by_position(n: int, won: int, bound: bool) -> None:
    one, other = match("a", "b", 0.3), match("a", "b", -0.3)
    found = position_of(items([one] * won + [other] * (n - won)))
    assert (found.n, found.enough) == (n, n >= 180)
    assert found.rate.value == pytest.approx(won / n)
    assert found.p == pytest.approx(binomtest(won, n).pvalue)
    assert found.bound == bound


def test_only_the_first_verdict_of_two_answers_counts() -> None:
    # In both orders; met again in the item; and again in another epoch.
    twice = [*swapped(True, False), match("b", "a", -0.3, round=2, first="a")]
    found = position_of([item("q", twice), item("q", twice)])
    assert (found.n, found.rate.value) == (1, 1.0)
    # The first answer is the left one, whoever is the better seed.
    assert position_of(items([match("a", "b", -0.5, first="b")])).rate.value == 1


def test_nothing_observed_is_undefined() -> None:
    nothing = [match("a", "b", None), match("a", "b", 0.0)]
    found, flips = position_of(items(nothing)), flips_of(nothing)
    assert (found.n, found.enough, found.bound, flips.n) == (0, False, False, 0)
    assert all(
        map(math.isnan, (found.rate.value, found.p, flips.rate.value, flips.p, flips.coin_p))
    )


def test_flips_for_the_first_are_tested_against_those_for_the_second() -> None:
    matches = 9 * swapped(True, True) + swapped(False, False) + 30 * swapped(True, False)
    flips = flips_of(matches)
    assert (flips.n, flips.both_first, flips.both_second, flips.n_flipped) == (40, 9, 1, 10)
    assert flips.rate.value == pytest.approx(0.25)
    assert flips.p == pytest.approx(binomtest(9, 10).pvalue)
    # A coin flips in half: 10 of 40 or fewer.
    assert flips.coin_p == pytest.approx(binom.cdf(10, 40, 0.5))


def test_a_judge_that_flips_only_where_it_is_unsure_is_no_coin() -> None:
    """Eight clear matches in one order of answers, four close ones that flip: signs by hand."""
    clear = swaps([(0.9, -0.9)] * 8)
    flips = flips_of([*clear, *swaps([(0.1, 0.1)] * 4)])
    # 0.81 is more than four times 0.01, so no sum is as large unless all eight clear ones agree.
    assert flips.coin_p == pytest.approx(1 / 2**8)
    assert binom.cdf(4, 12, 0.5) > 0.19
    # Those that flip where they are sure contradict themselves, however often they do not.
    assert flips_of([*swaps([(0.9, 0.9)] * 4), *swaps([(0.1, -0.1)] * 8)]).coin_p == 1


def test_even_principles_leave_it_to_the_checklist_whether_a_judge_contradicts_itself() -> None:
    def verdict(first: str, items: float) -> Verdict:
        return Verdict(first=first, margin=0.0, checklist_margin=items)

    played = [
        settle(Pairing(1, slot, "a", "b"), [verdict("a", 0.5), verdict("b", -0.5)])
        for slot in range(10)
    ]
    assert flips_of(played).coin_p == pytest.approx(1 / 2**10)


def test_which_matches_were_asked_twice() -> None:
    once, close = match("a", "b", 0.5), match("a", "b", 0.2, second_order=0.5)
    clear = match("a", "b", 0.5, second_order=0.5)
    assert flips_of([clear, close]).asked == "all"
    assert flips_of([once, close]).asked == "close"
    assert flips_of([once, close, clear]).asked == "sample"


@pytest.mark.parametrize("swap", ["always", "close"])
@pytest.mark.parametrize("bias", [0.0, 0.4])
def test_expected_flips_are_those_of_the_judge_without_the_bias(swap: str, bias: float) -> None:
    rng = np.random.default_rng(1)

    def flip_rates(bias: float) -> tuple[float, float]:
        gap, errors = rng.normal(0, 0.7, 4000), rng.normal(0, 0.3, (2, 4000))
        one, two = gap + bias + errors[0], gap - bias + errors[1]
        asked = (swap == "always") | (np.abs(one) < 0.25)
        played = [
            match("a", "b", x, second_order=y)
            for x, y in zip(one[asked].tolist(), two[asked].tolist(), strict=True)
        ]
        once = [] if swap == "always" else [match("a", "b", 0.9)]
        flips = flips_of([*played, *once])
        return flips.expected, flips.rate.value

    expected, observed = flip_rates(bias)
    _, fair = flip_rates(0.0)
    assert expected == pytest.approx(fair, abs=0.04)
    assert (observed > fair + 0.02) == (bias > 0)


def test_lists_in_the_order_shown() -> None:
    def shown(n: int, order: str, given: str) -> ItemBallots:
        listing = Listing(groups=tuple((name,) for name in given), shown=tuple(order))
        return listed(f"q{n}", [[name] for name in given]).model_copy(
            update={"listings": (listing,)}
        )

    orders = ["abc", "bca", "cab", "acb", "bac", "cba"] * 4
    same = place_of([shown(n, order, order) for n, order in enumerate(orders)])
    assert (same.kind, same.rate.value, same.n, same.bound) == ("lists", 1.0, 24, True)
    against = place_of([shown(n, order, order[::-1]) for n, order in enumerate(orders)])
    assert (against.rate.value, against.bound) == (0.0, True)
    fixed = place_of([shown(n, order, "abc") for n, order in enumerate(orders)])
    assert (fixed.rate.value, fixed.bound) == (0.5, False)


def swaps(margins: Sequence[tuple[float, float]]) -> list[Match]:
    """Matches in both orders, by the margins of the answer that is shown first in each."""
    return [match("a", "b", one, second_order=-other) for one, other in margins]


def test_a_second_order_that_is_the_first_turned_is_all_of_the_margin() -> None:
    exact = flips_of(swaps([(k / 20, -k / 20) for k in range(1, 6)] * 2))
    assert (exact.n, exact.rate.value, exact.expected) == (10, 0, 0)
    alike = flips_of(swaps([(0.1, 0.1)] * 5 + [(0.2, 0.1)] * 5))
    assert (alike.both_first, alike.both_second, alike.expected) == (10, 0, 0.5)
    assert (alike.p, alike.coin_p) == pytest.approx((2 / 2**10, 1))
    # One margin shows no slope, and nine are too few.
    for margins in ([(0.1, 0.1)] * 10, [(0.1, 0.1)] * 4 + [(0.2, 0.1)] * 5):
        assert math.isnan(flips_of(swaps(margins)).expected)


# --- Length.


def met(item_id: str, *matches: tuple[str, int, int, float | None]) -> ItemBallots:
    """Matches of one item: two one-letter models, the length of each, the first one's margin."""
    lengths: dict[str, int] = {}
    played = []
    for pair, one, other, margin in matches:
        lengths |= {pair[0]: one, pair[1]: other}
        played.append(match(pair[0], pair[1], margin))
    groups = tuple((name,) for name in lengths)
    return item(item_id, played, groups=groups).model_copy(update={"lengths": lengths})


def test_by_hand() -> None:
    # a against b: longer, shorter, longer; won, lost, lost. x = 1, −1, 1 and y = 1, 0, 0:
    # Σxy − ΣxΣy/3 = 1 − 1/3 = 2/3; Σx² − (Σx)²/3 = 3 − 1/3 = 8/3. c is always longer than d.
    found = length_of(
        [
            met("q1", ("ab", 2, 1, 0.3), ("cd", 2, 1, 0.3)),
            met("q2", ("ab", 1, 2, -0.3), ("cd", 2, 1, -0.3)),
            met("q3", ("ba", 1, 2, 0.3), ("cd", 3, 1, None)),
        ]
    )
    assert found.gain.value == pytest.approx((2 / 3) / (8 / 3))
    assert (found.n_matches, found.gain.n_items) == (3, 3)
    assert math.isnan(found.gain.lower)
    assert not found.bound


def worlds(n_items: int, likes: float, seed: int, *, better: float = 0.0) -> list[ItemBallots]:
    """Three models; `likes` is what being longer is worth, `better` is what c's habit is worth."""
    rng = np.random.default_rng(seed)
    habit = np.array([0, 0.5, 1.0])
    built = []
    for n in range(n_items):
        size = rng.normal(0, 1, 3) + habit
        quality = rng.normal(0, 1, 3) + better * habit + likes * size
        length = (1000 * np.exp(0.3 * size)).astype(int).tolist()
        matches = [
            ("abc"[i] + "abc"[j], length[i], length[j], 0.1 * (quality[i] - quality[j]))
            for i, j in ((0, 1), (0, 2), (1, 2))
        ]
        built.append(met(f"q{n}", *matches))
    return built


@pytest.mark.slow
def test_a_blind_judge_of_models_with_longer_and_better_answers_is_not_flagged() -> None:
    alarms = [length_of(worlds(30, 0.0, seed, better=2.0)).p <= 0.01 for seed in range(400)]
    assert sum(alarms) <= 10  # 4 are expected; more than 10 in 3 of 1,000 runs


@pytest.mark.slow
def test_a_judge_that_likes_length_is_found_and_intervals_hold_its_gain() -> None:
    every = [length_of(worlds(40, 1.0, seed)) for seed in range(40)]
    assert sum(one.bound for one in every) >= 36
    truth = length_of(worlds(4000, 1.0, 1000)).gain.value
    assert sum(one.gain.lower <= truth <= one.gain.upper for one in every) >= 34


@pytest.mark.parametrize("seed", [15, 149, 309])
def test_a_gain_that_hangs_on_one_item_has_bounds(seed: int) -> None:
    """Without that item rounding leaves a little over nothing, which is no gain without end."""
    rng = Random(seed)
    n_items = rng.randint(10, 14)
    hinge = rng.randrange(n_items)
    items = []
    for n in range(n_items):
        pairs = ["ab", "cd", "ef"]
        pairs = ["ef", "ab", "cd"] if n == hinge else rng.sample(pairs, rng.randint(1, 3))
        longer = (1, 2) if n == hinge else (2, 1)
        items.append(
            met(f"q{n}", *((pair, *longer, rng.choice((0.3, 0.0, -0.3))) for pair in pairs))
        )
    gain = length_of(items).gain
    assert -1 < gain.lower <= gain.value <= gain.upper < 1


def test_naming_the_pair_the_other_way_round_changes_nothing() -> None:
    one = [met(f"q{n}", ("ab", n % 3, n % 2, 0.3 if n % 5 else -0.3)) for n in range(20)]
    other = [met(f"q{n}", ("ba", n % 2, n % 3, -0.3 if n % 5 else 0.3)) for n in range(20)]
    # As text, because a p-value that is undefined (NaN) is not equal to itself.
    assert repr(length_of(one)) == repr(length_of(other)) == repr(length_of(one[::-1]))


def test_the_jackknife_is_that_of_items_left_out_one_by_one() -> None:
    every = worlds(12, 1.0, 3)
    gain = length_of(every).gain
    gains = [length_of(every[:n] + every[n + 1 :]).gain.value for n in range(12)]
    error = math.sqrt(11 / 12 * np.sum((np.array(gains) - np.mean(gains)) ** 2))
    assert (gain.upper - gain.value) / 2.200985 == pytest.approx(error)  # t of 11 at 97.5%


@pytest.mark.parametrize(
    ("items", "reason"),
    [
        ([], "no match"),
        ([item("q", [match("a", "b", 0.1)])], "the log does not say how long answers are"),
        (
            [met(f"q{n}", ("ab", 2, 1, 0.3)) for n in range(12)],
            "of every two models the same one always gave the longer answer",
        ),
    ],
)
def test_why_there_is_no_gain(items: list[ItemBallots], reason: str) -> None:
    found = length_of(items)
    assert (str(found.gain.reason), math.isnan(found.gain.value)) == (reason, True)
    assert not found.bound
