"""Several judges: what their verdicts come to, who takes whose turn, and what a failure costs."""

import math
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.scorers.judges import ONCE, NotingJudge, contest_of, judged, ladder, names
from tiebreak.scorers.ballots import Match
from tiebreak.scorers.judge import Judge, Jury, ModelFailedError, Question, Reply
from tiebreak.scorers.match import Swap, by_judge, in_one_order, one_verdict_an_order
from tiebreak.scorers.model_judge import ModelJudge
from tiebreak.scorers.questions import MatchQuestion

T = TypeVar("T")
N = 5
UP, DOWN = ladder(N, 0.1), dict(zip(names(N), ladder(N, 0.1).values().__reversed__(), strict=True))
# Votes of each in [-0.4, 0.4]: the mean of two against one has the sign of the two.
TASTES = {"a": UP, "b": UP, "c": DOWN}


class Bench(Judge):
    """Judges of different tastes, by name; what is asked of one judge is asked of the first."""

    def __init__(self, tastes: Mapping[str, Mapping[str, float]], jury: Jury, **own: Any) -> None:
        self.jury = jury
        self.all = {name: NotingJudge(taste, **own) for name, taste in tastes.items()}

    async def ask(self, question: Question[T], *, depth: int, attempt: int = 0) -> Reply[T]:
        judge = self.all[question.reviewer or next(iter(self.all))]
        return await judge.ask(question, depth=depth, attempt=attempt)

    async def side_by_side(self, tasks: Sequence[Callable[[], Awaitable[None]]]) -> None:
        await ModelJudge({}).side_by_side(tasks)


def bench(quorum: int = 2, rotate: bool = False, **own: Any) -> Bench:
    return Bench(TASTES, Jury(("a", "b", "c"), rotate, quorum), **own)


def margins(match: Match) -> dict[str, list[float | None]]:
    found: dict[str, list[float | None]] = {}
    for verdict in match.verdicts:
        sign = 1 if verdict.first == match.high else -1
        found.setdefault(verdict.judge, []).append(
            None if verdict.margin is None else sign * verdict.margin
        )
    return found


@pytest.mark.parametrize("protocol", ["seal", "swiss", "sorted", "round_robin", "full_pairwise"])
def test_the_mean_margin_decides(protocol: str) -> None:
    settings = ONCE[protocol] | {"swap": "always"}
    ballots = judged(protocol, contest_of(N), bench(), **settings)
    alone = judged(protocol, contest_of(N), NotingJudge(UP), **settings)
    assert ballots.matches
    for match in ballots.matches:
        own = margins(match)
        assert {name: len(said) for name, said in own.items()} == {"a": 2, "b": 2, "c": 2}
        means = [math.fsum(m or 0 for m in said) / 2 for said in own.values()]
        assert match.margin == pytest.approx(math.fsum(means) / 3)
        assert match.winner == min(match.high, match.low)
        assert (match.flipped, match.decided_by) == (False, "principles")
        # Each of them alone.
        assert by_judge(match, "c").winner == max(match.high, match.low)
        assert by_judge(match, "a").result == (means[0] > 0) != by_judge(match, "c").result
        assert [v.judge for v in one_verdict_an_order(match).verdicts] == ["", ""]
        assert in_one_order(match, 1).margin == pytest.approx(match.margin)
    assert [m.winner for m in ballots.matches] == [m.winner for m in alone.matches]
    of_matches = [call for call in ballots.calls if call.kind == "match"]
    assert Counter(call.reviewer for call in of_matches) == dict.fromkeys(
        "abc", sum(call.kind == "match" for call in alone.calls)
    )
    # They are asked side by side: no chain is longer than that of one judge.
    assert max(c.depth for c in ballots.calls) == max(c.depth for c in alone.calls)
    others = {call.reviewer for call in ballots.calls if call.kind != "match"}
    assert others <= {""}


@pytest.mark.parametrize("swap", ["never", "always"])
def test_a_judge_that_fails_is_left_out_by_name(swap: Swap) -> None:
    judge = bench(failing=["c"])
    ballots = judged("full_pairwise", contest_of(N), judge, swap=swap)
    for match in ballots.matches:
        assert match.result is not None
        gone = [v for v in match.verdicts if v.judge == "c"]
        assert {v.unscored for v in gone} == {"error: c is out of order"}
        assert match.margin == pytest.approx(by_judge(match, "a").margin)
    two = bench(failing=["b", "c"])
    ballots = judged("full_pairwise", contest_of(N), two, swap=swap)
    for match in ballots.matches:
        assert match.decided_by == "unscored"
        assert match.margin is None
        assert match.unscored == (
            "no quorum, 1 of 3 judges usable "
            "(b: error: b is out of order; c: error: c is out of order)"
        )
        assert in_one_order(match, 0).unscored is not None
    # Without a quorum the second order could not help.
    close = judged("full_pairwise", contest_of(N), bench(failing=["b", "c"]), swap="close")
    assert {len(match.verdicts) for match in close.matches} == {3}
    one = judged("full_pairwise", contest_of(N), bench(quorum=1, failing=["b", "c"]))
    assert all(match.result is not None for match in one.matches)
    with pytest.RaisesGroup(pytest.RaisesExc(ModelFailedError, match="a is out of order")):
        judged("full_pairwise", contest_of(N), bench(failing=["a", "b", "c"]))


def test_a_judge_without_a_usable_reply_counts_against_the_quorum() -> None:
    judge = bench(quorum=3)
    judge.all["b"] = NotingJudge(UP, silent=lambda q: isinstance(q, MatchQuestion))
    ballots = judged("full_pairwise", contest_of(N), judge, swap="never")
    for match in ballots.matches:
        assert match.unscored == "no quorum, 2 of 3 judges usable (b: silent)"
        assert [v.judge for v in match.discarded] == ["b"]


def test_the_checklist_is_asked_of_all_where_their_mean_is_even() -> None:
    tastes = {"a": UP, "b": DOWN}
    always, ties = (
        judged(
            "full_pairwise",
            contest_of(N),
            Bench(tastes, Jury(("a", "b"), quorum=2)),
            swap="always",
            checklist=when,
        )
        for when in ("always", "ties")
    )
    assert [m.verdicts for m in ties.matches] == [m.verdicts for m in always.matches]
    assert {m.decided_by for m in ties.matches} == {"tie"}
    sure = Bench(dict.fromkeys("ab", UP), Jury(("a", "b"), quorum=2))
    ties = judged("full_pairwise", contest_of(N), sure, checklist="ties")
    assert {v.checklist_margin for m in ties.matches for v in m.verdicts} == {None}


def test_in_turns_the_next_one_takes_over() -> None:
    whole = judged("full_pairwise", contest_of(N), bench(1, True), swap="always")
    ballots = judged("full_pairwise", contest_of(N), bench(1, True, failing=["b"]), swap="always")
    turn = [match.verdicts[0].judge for match in whole.matches]
    assert set(turn) == {"a", "b", "c"}
    for match, meant in zip(ballots.matches, turn, strict=True):
        took = "c" if meant == "b" else meant
        assert [v.judge for v in match.verdicts] == [took] * 2  # both orders by the same
        assert [v.judge for v in match.discarded] == ["b"] * 2 * (meant == "b")
        assert match.result is not None
    graded = judged("pointwise", contest_of(N), bench(1, True, failing=["b"]))
    assert {p.judge or p.parts[-1].judge for p in graded.scores} == {"a", "c"}
    assert all(p.score is not None for p in graded.scores)


def contests(n: int, n_items: int) -> list[Any]:
    return [replace(contest_of(n), position=i, n_items=n_items) for i in range(n_items)]


@settings(max_examples=60, deadline=None)
@given(
    st.integers(2, 8),
    st.integers(1, 90),
    st.integers(2, 5),
    st.randoms(use_true_random=False),
)
def test_turns_are_balanced(n: int, n_items: int, k: int, rng: Any) -> None:
    """Over items, for every number of rounds: pairs and sides before each judge, but for one."""
    jury = Jury(tuple("abcde"[:k]), rotate=True)
    shuffled = Jury(tuple(rng.sample(jury.names, k)), rotate=True)
    every = contests(n, n_items)
    pairs, sides, all_of = (Counter[Any]() for _ in range(3))
    for rounds in range(1, len(every[0].schedule.rounds) + 1):
        for contest in every:
            load = Counter[str]()
            for pair in contest.schedule.of(contest.position)[rounds - 1]:
                who = jury.of_match(contest, pair)
                assert sorted(who) == sorted(jury.names)
                assert who == shuffled.of_match(contest, pair)
                pairs[pair, who[0]] += 1
                sides[pair, contest.first[pair], who[0]] += 1
                all_of[who[0]] += 1
                load[who[0]] += 1
            assert spread(load, jury.names) <= 1
        for pair in (p for each in every[0].schedule.rounds for p in each):
            assert spread(pairs, [(pair, name) for name in jury.names]) <= 1
            for first in pair:
                assert spread(sides, [(pair, first, name) for name in jury.names]) <= 1
        assert spread(all_of, jury.names) <= 3


def spread(counts: Mapping[Any, int], keys: Sequence[Any]) -> int:
    found = [counts[key] for key in keys]
    return max(found) - min(found)
