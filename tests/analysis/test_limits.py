"""Limits that decide what is told of a judge, at both sides of each."""

import math
from dataclasses import replace

import pytest

from tests.analysis.judge.test_position import met
from tests.analysis.test_stars import items_of, log_of
from tests.analysis.test_trust import CYCLES, FAIR, FLIPS, LENGTH, POSITION
from tests.cases import cases
from tests.ranking_logs.builders import listed
from tiebreak.analysis.judge.biases import length_of, place_of
from tiebreak.analysis.judge.canaries import Canaries
from tiebreak.analysis.judge.figures import JudgeReplies, Juror
from tiebreak.analysis.star_table import rounds_of
from tiebreak.analysis.trust import faults, juror_faults, trust_of
from tiebreak.rankers.intervals import Estimate
from tiebreak.scorers.ballots import ItemBallots, Listing
from tiebreak.scorers.rules import RULES

NAN = math.nan


@pytest.mark.parametrize(
    ("p", "gain", "bound"),
    cases(__file__, "bound")
)  # fmt: skip
def test_from_one_percent_and_five_points_on_a_judge_is_bound(
    p: float, gain: float, bound: bool
) -> None:
    assert replace(POSITION, p=p, rate=Estimate(0.5 + gain, 0, 1, 30)).bound is bound
    assert replace(LENGTH, p=p, gain=Estimate(gain, 0, 1, 30)).bound is bound
    # Attacks that put a judge off do not persuade it.
    share = Estimate(0.3, 0.1, 0.5, 30)
    canaries = Canaries(share, 30, 9, 0, Estimate(gain, 0, 1, 30), p, (), ())
    assert canaries.bound is (bound and gain > 0)


@pytest.mark.parametrize(
    ("p", "rate", "firsts", "said"),
    cases(__file__, "flips")
)  # fmt: skip
def test_flips_that_go_one_way(p: float, rate: float, firsts: int, said: list[str]) -> None:
    flips = replace(FLIPS, p=p, both_first=firsts, both_second=15 - firsts)
    judge = replace(FAIR, flips=flips, position=replace(POSITION, rate=Estimate(rate, 0, 1, 30)))
    assert list(map(str, faults(judge))) == said


def shown(number: int, order: str) -> ItemBallots:
    given = Listing(groups=(("a",), ("b",), ("c",)), shown=tuple(order))
    return listed(f"q{number}", ["a", "b", "c"]).model_copy(update={"listings": (given,)})


@pytest.mark.parametrize(("n", "tested"), [(9, False), (10, True)])
def test_ten_lists_are_tested(n: int, tested: bool) -> None:
    found = place_of([shown(k, "abc" if k else "cba") for k in range(n)])
    # A list against all others: 2 · (1 + n) of 2ⁿ signs are as far.
    assert found.p == pytest.approx(2 * (1 + n) / 2**n if tested else NAN, nan_ok=True)
    assert math.isnan(found.rate.lower) is not tested
    assert found.n == n
    assert found.rate.value == pytest.approx(1 - 1 / n)


@pytest.mark.parametrize(("n", "interval"), [(9, False), (10, True)])
def test_ten_items_give_length_an_interval(n: int, interval: bool) -> None:
    found = length_of([met(f"q{k}", ("ab", k % 2, 1 - k % 2, 0.3)) for k in range(n)])
    assert (math.isnan(found.gain.lower), found.gain.n_items) == (not interval, n)
    assert math.isnan(found.p)


@pytest.mark.parametrize(("n", "tested"), [(39, False), (40, True)])
def test_length_is_tested_where_both_are_longer_often_enough(n: int, tested: bool) -> None:
    found = length_of(
        [met(f"q{k}", ("ab", k % 2, 1 - k % 2, 0.3 if k % 3 else -0.3)) for k in range(n)]
    )
    assert math.isnan(found.p) is not tested


@pytest.mark.parametrize(("share", "p", "unscored", "said"), cases(__file__, "jurors"))
def test_what_makes_a_juror_doubtful(
    share: float, p: float, unscored: int, said: list[str]
) -> None:
    replies = (JudgeReplies("a", 20, unscored, Estimate(unscored / 20, 0, 1, 20)),)
    juror = Juror("a", replace(FAIR, replies=replies), Estimate(share, 0, 1, 20), p)
    assert list(map(str, juror_faults(juror))) == said
    found = trust_of(FAIR, RULES["win_rate"], unscored=None, jury=[juror, replace(juror, name="b")])
    assert tuple(map(str, found.reasons)) == tuple(
        f"{name}: {one}" for name in "ab" for one in said
    )


@pytest.mark.parametrize(
    ("coin_p", "state"), [(0.01, "fine"), (0.011, "unknown"), (NAN, "unknown")]
)
def test_more_than_a_coin(coin_p: float, state: str) -> None:
    found = trust_of(replace(FAIR, coin_p=coin_p, cycles=CYCLES), RULES["win_rate"], unscored=None)
    assert found.state == state


@pytest.mark.parametrize(("same", "n_rounds"), [(18, 2), (19, 1)])
def test_more_than_nine_tenths_of_the_questions_are_the_same_round(
    same: int, n_rounds: int
) -> None:
    stars = [{"a": 3, "b": 1}] * 20
    first, second = log_of(items_of(stars)), log_of(items_of(stars, 20 - same))
    assert len(rounds_of([first, second])) == n_rounds
    # Models that the round lacks join it with any questions.
    other = log_of(items_of([{"c": 2}] * 3, 500))
    assert rounds_of([first, other, second])[0][:2] == [first, other]
