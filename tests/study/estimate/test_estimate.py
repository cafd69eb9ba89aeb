"""Estimates without a run: exact counts, hand-worked bills, samples, the paper's own figures."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from tests.cases import cases
from tests.study.estimate.builders import LETTERS, ONE, contests, known
from tiebreak.prices import Price
from tiebreak.scorers.contest import Contest
from tiebreak.scorers.protocols import read_variant
from tiebreak.study.estimate.dry_judge import TokenCounter
from tiebreak.study.estimate.estimate import CLOSE, Judges, ProtocolEstimate, Throughput, estimate
from tiebreak.study.estimate.experience import Experience
from tiebreak.study.estimate.totals import Range


def one(label: str, items: Sequence[Contest], **options: Any) -> ProtocolEstimate:
    judges = options.pop("judges", Judges("j", Price(2, 17)))
    counter = options.pop("counter", ONE)
    [row] = estimate(items, [read_variant(label)], judges, counter, **options).protocols
    return row


FIXED: dict[str, Callable[[int], int]] = {
    "original": lambda n: 0,
    "pointwise": lambda n: n,
    "listwise": lambda n: 1,
    "full_pairwise": lambda n: n * (n - 1) // 2 + 1,
    "full_pairwise:swap=never": lambda n: n * (n - 1) // 2,
    "full_pairwise:swap=always": lambda n: n * (n - 1),
    "flat_bracket:swap=never": lambda n: 1 + n - 1,
    "flat_bracket:swap=always": lambda n: 1 + 2 * (n - 1),
    "flat_bracket:swap=never,tiers=1": lambda n: n - 1,
    "swiss:swap=never,refine=false": lambda n: 1 + min(2, n - (n + 1) % 2) * (n // 2),
}


@pytest.mark.parametrize("n", [2, 3, 5, 8])
@pytest.mark.parametrize("label", FIXED)
def test_calls_of_fixed_protocols_are_exact(label: str, n: int) -> None:
    row = one(label, contests(3, n))
    if label.startswith("swiss") and n == 3:
        return  # with three candidates the second round cannot always be paired
    assert row.calls == Range(*[3 * FIXED[label](n)] * 3)
    assert row.fixed


@pytest.mark.parametrize(("rounds", "swapped"), [(1, 12), (2, 24), (5, 60)])
def test_a_sample_knows_which_items_of_a_round_robin_are_asked_twice(
    rounds: int, swapped: int
) -> None:
    """Of five models four meet in a round; one item in five asks a match in both orders."""
    items = [replace(c, position=i, n_items=60) for i, c in enumerate(contests(60, 5))]
    row = one(f"round_robin:rounds={rounds}", items, sample=32)
    assert row.calls == Range(*[60 * 2 * rounds + swapped] * 3)


@pytest.mark.slow
def test_a_rubric_is_written_once_for_each_benchmark() -> None:
    items = [*contests(40, 4), *(replace(c, benchmark="other") for c in contests(2, 4))]
    for sample in (None, 4, 10):
        row = one("fixed_rubric", items, sample=sample)
        assert row.calls == Range(*[42 * 4 + 2] * 3)
        assert row.depth == (2, 2, 2)


@pytest.mark.slow
def test_identical_answers_are_judged_once() -> None:
    items = [*contests(5, 8), *contests(7, 8, distinct=3), *contests(9, 8, distinct=1)]
    found = estimate(items, [read_variant("full_pairwise")], Judges("j"), ONE)
    assert found.protocols[0].calls == Range(*[5 * (28 + 1) + 7 * (3 + 1)] * 3)
    assert (found.n_items, found.n_identical) == (21, 9)
    assert found.models == tuple(f"m{i}" for i in range(8))
    row = one("seal", contests(4, 3, distinct=1))
    assert row.calls == row.tokens_in == row.cost == row.depth == row.hours == (0, 0, 0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("label", "low", "high"),
    cases(__file__, "ranges"),
)
def test_range_of_adaptive_protocols(label: str, low: int, high: int) -> None:
    row = one(label, contests(6, 8))
    assert (row.calls.low, row.calls.high) == (6 * low, 6 * high)
    assert row.calls.low < row.calls.likely < row.calls.high
    assert not row.fixed


@pytest.mark.slow
def test_insertion_of_three() -> None:
    # The second candidate takes one match; the third one is the best of three with probability ⅓,
    # the middle one or the last: against the upper half first it takes 2, 2 or 1 matches.
    n = 150
    row = one("sorted:swap=never", contests(n, 3), sample=None)
    # The judge without ties: 1 + 5/3 on average, variance 2/9.
    assert row.calls.high == pytest.approx(n * 8 / 3 + 2 * math.sqrt(2 * n * 2 / 9), rel=0.03)
    assert row.calls.likely == pytest.approx(n * 8 / 3, rel=0.06)


def test_a_bill_by_hand() -> None:
    """Six pairs of four; every text is one token, and a reply has 9 hidden ones on top."""
    row = one("full_pairwise:swap=never", contests(1, 4), reasoning_tokens=9)
    # In the high case the schema of the reply is one more text.
    assert row.tokens_in == (6, 6, 12)
    assert row.tokens_out == (60, 60, 60)
    # $2 and $17 a million: 6·2 + 60·17 = 1,032 and 12·2 + 60·17 = 1,044 millionths.
    assert row.cost is not None
    assert row.cost == pytest.approx((1032e-6, 1032e-6, 1044e-6))


def test_the_tokenizers_own_error_widens_the_range() -> None:
    counter = TokenCounter("", lambda text: 100, low=0.5, high=2)
    row = one("full_pairwise:swap=never", contests(1, 4), counter=counter)
    assert row.tokens_in == (300, 600, 2400)
    assert row.tokens_out == (300, 600, 1200)


def test_longer_replies_cost_more() -> None:
    row = one("pointwise", contests(1, 2), counter=LETTERS)
    assert row.tokens_out.low < 0.6 * row.tokens_out.likely < 0.4 * row.tokens_out.high


def test_a_meta_judge_has_a_price_of_its_own() -> None:
    items = contests(1, 8)
    dear = Judges("j", Price(0, 0), "m", Price(0, 1e6))
    row = one("seal:refine=false,swap=never", items, judges=dear)
    assert row.cost == pytest.approx((3, 3, 3))  # three critiques of one token, a dollar each
    assert one("seal", items, judges=Judges("j", Price(1, 1), "m")).cost is None
    # A protocol that never asks the meta-judge needs no price of it.
    assert one("listwise", items, judges=Judges("j", Price(1, 1), "m")).cost is not None
    assert one("listwise", items, judges=Judges("j")).cost is None
    assert one("original", items, judges=Judges("j")).cost == (0, 0, 0)


@pytest.mark.slow
def test_depth_and_hours() -> None:
    items = contests(10, 8)
    pace = Throughput(connections=4, seconds=18)
    assert one("pointwise", items, pace=pace).depth == (1, 1, 1)
    # 80 calls, four at a time: 20 · 18 s = 0.1 h.
    assert one("pointwise", items, pace=pace).hours == pytest.approx((0.1, 0.1, 0.1))
    # Five a minute: 16 minutes.
    slow = replace(pace, per_minute=5)
    assert one("pointwise", items, pace=slow).hours.likely == pytest.approx(16 / 60)
    # However many run side by side: seeding, three rounds, two of them with a critique.
    wide = replace(pace, connections=1000)
    row = one("seal:refine=false,swap=never", items, pace=wide)
    assert row.depth == (6, 6, 6)
    assert row.hours.likely == pytest.approx(6 * 18 / 3600)


@pytest.mark.slow
@pytest.mark.parametrize("label", ["pointwise", "swiss:refine=false"])
def test_a_sample_is_as_good_as_all(label: str) -> None:
    items = [*contests(60, 6), *contests(40, 6, distinct=3)]
    part = one(label, items, counter=LETTERS, sample=12)
    whole = one(label, items, counter=LETTERS, sample=None)
    for figure in ("calls", "tokens_in", "tokens_out", "cost"):
        small, all_ = getattr(part, figure), getattr(whole, figure)
        assert small == pytest.approx(all_, rel=0.08), figure
        assert small.low <= all_.likely <= small.high


@pytest.mark.slow
def test_figures_of_the_paper() -> None:
    """SEAL, tables 5 and 6: calls for HumanEval, 162 items and eight candidates."""
    items = contests(162, 8)
    published = {
        "listwise": 162,
        "pointwise": 1296,
        "fixed_rubric": 1297,
        "flat_bracket:swap=never": 1296,
        "full_pairwise:swap=never": 4536,
    }
    for label, calls in published.items():
        assert one(label, items, sample=2).calls == Range(calls, calls, calls)
    # The verdicts of the paper's judge: 15% are close.
    known = Experience(("j",), 1, {}, 0.0, Range(0.0, 0.15, 1.0), tie=None)
    seal = one("seal:swap=never", items, sample=40, experience=known)
    assert seal.calls.likely == pytest.approx(1926, rel=0.03)
    assert (seal.calls.low, seal.calls.high) == (11 * 162, 15 * 162)


def test_experience_goes_before_what_is_counted() -> None:
    tokens = {"match": (Range(90, 100, 110), Range(9, 10, 11))}
    close, tie = Range(0.3, 0.4, 0.5), Range(0.0, 0.1, 0.2)
    learnt = known(tokens=tokens, repairs=0.5, close=close, tie=tie)
    row = one("full_pairwise:swap=never", contests(2, 4), experience=learnt, reasoning_tokens=1000)
    # Twelve questions; a call and a half for each.
    assert row.calls == (18, 18, 18)
    assert row.tokens_in == (12 * 90, 12 * 100, 12 * 110)
    assert row.tokens_out == (12 * 9, 12 * 10, 12 * 11)
    # Other kinds of questions are counted.
    assert one("listwise", contests(2, 4), experience=learnt).tokens_in == (2, 2, 4)
    for experience, expected in ((learnt, (close, tie)), (known(), (CLOSE, None))):
        found = estimate(contests(2, 4), [], Judges("j"), ONE, experience=experience)
        assert found.close == expected[0]
        assert expected[1] is None or found.ties == expected[1]
