"""Planted worlds have the properties that are asked for, and planted judges their errors."""

import asyncio
import statistics
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cases import cases
from tiebreak.demo.lab.planted import LabError, PlantedJudge, Pool, Traits, World, normal_qualities
from tiebreak.scorers.ballots import ItemBallots
from tiebreak.scorers.placement import NotPlacedError, place
from tiebreak.scorers.protocols import find_protocol, judge_item
from tiebreak.scorers.questions import ListQuestion, MatchQuestion, ScoreQuestion, TiersQuestion


def judged(pool: Pool, item: int, protocol: str, **options: Any) -> ItemBallots:
    """Judge an item without an event loop: with a planted judge the coroutine never suspends."""
    judge = pool.judge(item, protocol)
    run = judge_item(find_protocol(protocol), pool.contests[item], judge, settings=options)
    with pytest.raises(StopIteration) as stopped:
        run.send(None)
    ballots: ItemBallots = stopped.value.value
    return ballots


def judge_of(gap: float, **traits: Any) -> PlantedJudge:
    return PlantedJudge(
        gaps={("a", "b"): gap, ("b", "a"): -gap},
        tiers={},
        places={},
        points={},
        rubric_points={},
        traits=Traits(**traits),
        seed="0",
    )


POOL = Pool(World((1.0, 0.0, -1.0)), 4, 0)


@pytest.mark.parametrize(
    ("n", "sd", "expected"),
    [
        (2, 1.0, (1.0, -1.0)),
        # Quantiles 5/6, 3/6, 1/6: ±0.967; three values (q, 0, −q) have sd q·√(2/3).
        (3, 2.0, (2 / (2 / 3) ** 0.5, 0.0, -2 / (2 / 3) ** 0.5)),
    ],
)
def test_spread_out(n: int, sd: float, expected: tuple[float, ...]) -> None:
    assert normal_qualities(n, sd) == pytest.approx(expected)


@given(st.integers(2, 40), st.floats(0.01, 5))
@settings(deadline=None, max_examples=30)
def test_spread_out_has_the_sd_that_is_asked_for(n: int, sd: float) -> None:
    values = normal_qualities(n, sd)
    assert list(values) == sorted(values, reverse=True)
    assert len(set(values)) == n
    assert statistics.pstdev(values) == pytest.approx(sd)
    assert sum(values) == pytest.approx(0, abs=1e-9)


def test_gaps_have_the_planted_mean_and_spread() -> None:
    n_items = 4000
    pool = Pool(World((0.5, 0.0), Traits(noise=0.7)), n_items, 1)
    gaps = [pool.judge(item).gaps["m1", "m2"] for item in range(n_items)]
    # Var = 1 + 1 for two answers, and 0.7² for the error on the pair.
    sd = (2 + 0.49) ** 0.5
    assert statistics.fmean(gaps) == pytest.approx(0.5, abs=4 * sd / n_items**0.5)
    assert statistics.stdev(gaps) == pytest.approx(sd, rel=0.05)


def test_errors_and_lengths_have_nothing_to_do_with_each_other() -> None:
    n_items = 2000
    pool = Pool(World((0.0, 0.0)), n_items, 2)
    rows = []
    for judge, contest in zip(map(pool.judge, range(n_items)), pool.contests, strict=True):
        gap = judge.gaps["m1", "m2"]
        errors = (
            reading["m1"] - reading["m2"] - gap
            for reading in (judge.tiers, judge.places, judge.points, judge.rubric_points)
        )
        rows.append([gap, *errors, len(contest.answers["m1"])])
    correlation = np.corrcoef(rows, rowvar=False)
    assert np.abs(correlation - np.eye(6)).max() < 0.1


def test_half_of_the_length_is_the_models_habit() -> None:
    pool = Pool(World(normal_qualities(150, 0.2)), 40, 0)
    z = np.log([[len(c.answers[m]) / 400 for m in pool.models] for c in pool.contests]) / 0.3
    # Var of a model's mean over 40 items: 0.5 + 0.5 / 40; of all lengths: 1.
    assert z.mean(axis=0).var() == pytest.approx(0.5125, rel=0.35)
    assert z.var() == pytest.approx(1, rel=0.2)


def test_fresh_errors_are_none_of_the_pairs_own() -> None:
    fresh, none = Traits(noise=5.0, fresh=True), Traits()
    gaps = [Pool(World((0.2, 0.0), traits), 1, 0).judge(0).gaps for traits in (fresh, none)]
    assert gaps[0] == gaps[1]


def test_a_pair_is_seen_alike_from_both_sides() -> None:
    gaps = Pool(World(normal_qualities(5, 0.2), Traits(noise=1.0)), 3, 0).judge(2).gaps
    assert all(gaps[a, b] == -gaps[b, a] for a, b in gaps)


@pytest.mark.parametrize("pass_rate", [0.5, 0.97])
def test_native_scores_see_only_whether_an_answer_is_good_enough(pass_rate: float) -> None:
    pool = Pool(World((0.0, 1.0), pass_rate=pass_rate), 4000, 0)
    first, second = (
        statistics.fmean(contest.native[model] or 0.0 for contest in pool.contests)
        for model in ("m1", "m2")
    )
    normal = statistics.NormalDist()
    assert first == pytest.approx(pass_rate, abs=0.03)
    assert second == pytest.approx(normal.cdf(normal.inv_cdf(pass_rate) + 1), abs=0.03)


def test_a_shorter_pool_is_the_beginning_of_a_longer_one() -> None:
    world = World(normal_qualities(4, 0.2), Traits(noise=0.3), ties=0.25)
    short, long = Pool(world, 3, 7), Pool(world, 9, 7)
    assert short.contests == tuple(replace(one, n_items=3) for one in long.contests[:3])
    assert [short.judge(i) for i in range(3)] == [long.judge(i) for i in range(3)]


def test_traits_leave_the_answers_alone() -> None:
    plain = Pool(World((0.2, 0.0), Traits()), 20, 0)
    biased = Pool(World((0.2, 0.0), Traits(noise=2, reading_noise=3, verbosity_bias=1)), 20, 0)
    assert plain.contests == biased.contests
    assert plain.judge(0).gaps != biased.judge(0).gaps


def test_a_taste_in_lists_is_the_same_in_all_items_and_in_no_match() -> None:
    world = World((0.0,) * 3, Traits(list_taste=0.5, reading_noise=0))
    tasteless = replace(world, traits=Traits(reading_noise=0))
    one, other = (Pool(each, 10, 0) for each in (world, tasteless))
    more = [
        [one.judge(i).places[m] - other.judge(i).places[m] for m in one.models] for i in range(10)
    ]
    assert np.ptp(more, axis=0) == pytest.approx([0, 0, 0], abs=1e-12)
    assert np.ptp(more[0]) > 0.1
    assert one.judge(3).gaps == other.judge(3).gaps
    assert one.judge(3).points == other.judge(3).points


def test_seeds_make_other_answers() -> None:
    world = World((0.2, 0.0))
    gaps = [Pool(world, 1, *seed).judge(0).gaps["m1", "m2"] for seed in ((0,), (1,), (0, 1))]
    assert len(set(gaps)) == 3


@pytest.mark.parametrize(("n", "ties", "sizes"), cases(__file__, "repeated"))
def test_repeated_answers_are_merged(n: int, ties: float, sizes: list[int]) -> None:
    pool = Pool(World(normal_qualities(n, 0.2), Traits(verbosity_bias=0.5), ties=ties), 30, 0)
    for number, contest in enumerate(pool.contests):
        assert sorted(map(len, contest.groups)) == sizes
        assert sorted(model for group in contest.groups for model in group) == list(pool.models)
        assert set(contest.answers) == {group[0] for group in contest.groups}
        judge = pool.judge(number)
        assert all(len({contest.native[m] for m in group}) == 1 for group in contest.groups)
        alike = {(a, b) for group in contest.groups for a in group for b in group}
        assert {pair for pair, gap in judge.gaps.items() if gap == 0} == alike
    if 0 < ties < 0.9:
        # Which models give the same answer differs between items.
        assert len({contest.groups for contest in pool.contests}) > 10


@pytest.mark.parametrize(("gap", "traits", "vote", "confidence"), cases(__file__, "votes"))
def test_votes(gap: float, traits: dict[str, float], vote: str, confidence: float) -> None:
    contest = POOL.contests[0]
    question = MatchQuestion(contest, contest.rubric.checklist, "a", "b")
    reply = asyncio.run(judge_of(gap, **traits).ask(question, depth=3))
    assert reply.value is not None
    for given_vote in (*reply.value.principles.values(), *reply.value.checklist.values()):
        assert given_vote.vote == vote
        assert given_vote.confidence == pytest.approx(confidence)
    assert (reply.depth, [call.depth for call in reply.calls]) == (4, [3])


def test_verbosity_bias_is_worth_its_length() -> None:
    even = Pool(World((0.0, 0.0), Traits()), 300, 0)
    biased = Pool(World((0.0, 0.0), Traits(verbosity_bias=0.8)), 300, 0)
    gained, longer = [], []
    for item, contest in enumerate(even.contests):
        pair = ("m1", "m2")
        gained.append(biased.judge(item).gaps[pair] - even.judge(item).gaps[pair])
        longer.append(np.log(len(contest.answers["m1"]) / len(contest.answers["m2"])) / 0.3)
    # Lengths are 400 · exp(0.3 z) characters, rounded.
    assert gained == pytest.approx(np.multiply(0.8, longer), abs=0.03)


def test_levels_follow_the_readings() -> None:
    contest = POOL.contests[0]
    judge = PlantedJudge(
        gaps={},
        tiers={"a": 3.0, "b": 1.0, "c": 2.0, "d": 0.0, "e": -1.0},
        places={"a": 1.0, "b": 3.0},
        points={"a": 7},
        rubric_points={"a": 4},
        traits=Traits(),
        seed="0",
    )
    labelled = {"R1": "e", "R2": "a", "R3": "b", "R4": "c", "R5": "d"}
    tiers = asyncio.run(judge.ask(TiersQuestion(contest, labelled, 4), depth=0)).value
    # a c b d e by reading; place · 4 // 5 = 0 0 1 2 3.
    assert tiers == {"R2": 1, "R4": 1, "R3": 2, "R5": 3, "R1": 4}
    places = asyncio.run(judge.ask(ListQuestion(contest, {"R1": "a", "R2": "b"}), depth=0)).value
    assert places == {"R2": 1, "R1": 2}
    assert asyncio.run(judge.ask(ScoreQuestion(contest, "a"), depth=0)).value == {"P1": 7}


def test_grades_compress_what_they_grade() -> None:
    pool = Pool(World((9.0, 0.0, -9.0), Traits(grading_noise=0.0)), 50, 0)
    points = [pool.judge(item).points for item in range(50)]
    assert all(0 <= grade <= 10 for one in points for grade in one.values())
    assert all(one["m1"] == 10 and one["m3"] <= 1 for one in points)
    # 7 + N(0, 1), rounded.
    assert statistics.fmean(one["m2"] for one in points) == pytest.approx(7, abs=0.5)


def test_malformed_replies_cost_calls_and_are_never_a_tie() -> None:
    pool = Pool(World((1.0, 0.0), Traits(malformed=1.0)), 1, 0)
    ballots = judged(pool, 0, "full_pairwise", swap="never")
    # One match: two attempts, each with a repair turn.
    assert [(call.attempt, call.repair, call.depth) for call in ballots.calls] == [
        (0, False, 0),
        (0, True, 1),
        (1, False, 2),
        (1, True, 3),
    ]
    [match] = ballots.matches
    assert match.decided_by == "unscored"
    assert match.result is None
    with pytest.raises(NotPlacedError, match="malformed"):
        place(ballots)


@pytest.mark.slow
def test_malformed_rate() -> None:
    m, n_items = 0.3, 1500
    pool = Pool(World((1.0, 0.0), Traits(malformed=m)), n_items, 0)
    all_ballots = [judged(pool, item, "full_pairwise", swap="never") for item in range(n_items)]
    # An attempt takes 1 + m calls on average and fails with probability m²; there are at most two.
    calls = statistics.fmean(len(ballots.calls) for ballots in all_ballots)
    assert calls == pytest.approx((1 + m) * (1 + m**2), abs=0.06)
    unscored = statistics.fmean(bool(ballots.matches[0].unscored) for ballots in all_ballots)
    assert unscored == pytest.approx(m**4, abs=0.01)


def test_an_error_belongs_to_the_pair_unless_it_is_fresh() -> None:
    def margins(fresh: bool, asker: str) -> list[float | None]:
        world = World(normal_qualities(6, 0.2), Traits(noise=1.0, fresh=fresh))
        pool = Pool(world, 1, 0)
        judge = pool.judge(0, asker)
        run = judge_item(find_protocol("full_pairwise"), pool.contests[0], judge)
        with pytest.raises(StopIteration) as stopped:
            run.send(None)
        return [match.margin for match in stopped.value.value.matches]

    assert margins(False, "one") == margins(False, "other")
    assert margins(True, "one") == margins(True, "one")
    assert margins(True, "one") != margins(True, "other")


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda: Traits(noise=-1), r"^Noise is -1: it is 0 or more\.$"),
        (lambda: Traits(scale=0), "Scale is 0"),
        (lambda: Traits(malformed=1.5), "Malformed is 1.5"),
        (lambda: Traits(resolution=float("nan")), "Resolution is nan"),
        (lambda: Traits(position_bias=float("inf")), "Position_bias is not a finite number"),
        (lambda: World((1.0,)), "1 models: a comparison takes two"),
        (lambda: World((1.0, float("nan"))), "not a finite number"),
        (lambda: World((1.0, 0.0), ties=1.0), "Ties are 1.0"),
        (lambda: World((1.0, 0.0), pass_rate=1.0), "pass rate is 1.0"),
        (lambda: Pool(World((1.0, 0.0)), 0), "0 items"),
        (lambda: normal_qualities(1, 1.0), "1 models"),
        (lambda: normal_qualities(3, 0.0), "spread of 0.0"),
    ],
)
def test_bad_input(make: Any, problem: str) -> None:
    with pytest.raises(LabError, match=problem):
        make()


def test_its_new_checklist_items_repeat_none() -> None:
    pool = Pool(World(normal_qualities(16, 0.1), Traits(scale=100)), 2, 0)
    for item in range(2):
        refined = judged(pool, item, "seal").refinements
        assert len(refined) == 6  # two after each round but the last
        assert not any(one.duplicate_of for one in refined)
