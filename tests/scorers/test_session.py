"""What a protocol of one's own can ask with, and that nothing which was asked is lost."""

from collections.abc import Callable
from typing import Any, TypeVar

import anyio
import pytest

from tests.scorers.judges import (
    NotingJudge,
    contest_of,
    judged,
    ladder,
    names,
    session_of,
)
from tiebreak.scorers.ballots import ItemBallots, Match
from tiebreak.scorers.budget import BudgetSpentError
from tiebreak.scorers.judge import Question, Reply
from tiebreak.scorers.match import Checklist, Swap
from tiebreak.scorers.placement import NotPlacedError, place
from tiebreak.scorers.protocols import find_protocol, judge_item
from tiebreak.scorers.questions import (
    MatchQuestion,
    RefineQuestion,
    ScoreQuestion,
)
from tiebreak.scorers.ranking import ballots_table

T = TypeVar("T")


class Refused(NotingJudge):
    """A judge that a chosen question is one too many for."""

    def __init__(self, n: int, refuse: Callable[[Question[Any]], bool]) -> None:
        super().__init__(ladder(n), silent=lambda q: False)
        self._refuse, self._turns = refuse, 50

    async def ask(self, question: Question[T], *, depth: int, attempt: int = 0) -> Reply[T]:
        if self._refuse(question):
            raise BudgetSpentError("custom", value=1, limit=1)
        # The others are still under way when one is refused, and the first ones end last.
        self._turns -= 1
        for _ in range(self._turns):
            await anyio.sleep(0)
        return await super().ask(question, depth=depth, attempt=attempt)


def test_lots_and_labels_come_from_the_seed() -> None:
    sessions = [session_of(contest_of(6, seed=s), NotingJudge(ladder(6))) for s in (1, 1, 2)]
    lots = [s.lots() for s in sessions]
    labels = [list(s.labelled(names(6)).values()) for s in sessions]
    assert lots[0] == lots[1] != lots[2]
    assert labels[0] == labels[1] != labels[2]
    assert lots[0] != labels[0]  # drawn for different purposes
    assert all(sorted(order) == names(6) for order in (*lots, *labels))


def test_fields_that_ballots_do_not_have_are_refused() -> None:
    session = session_of(contest_of(2), NotingJudge(ladder(2)))
    with pytest.raises(ValueError, match="ballots have no ordre"):
        session.keep(ordre=(("m00",),))


@pytest.mark.parametrize("protocol", ["full_pairwise", "seal", "swiss"])
def test_what_was_paid_for_is_kept_when_a_call_is_refused(protocol: str) -> None:
    def refuse(question: Question[Any]) -> bool:
        return isinstance(question, MatchQuestion) and "m03" in (question.left, question.right)

    judge = Refused(8, refuse)
    stages: list[ItemBallots] = []

    async def run() -> None:
        with pytest.raises(BudgetSpentError):
            await judge_item(find_protocol(protocol), contest_of(8), judge, stages.append)

    anyio.run(run)
    last = stages[-1]
    assert not last.complete
    assert len(last.calls) == len(judge.asked) > 1
    # All matches beside the refused one have ended, in the order in which they were wanted.
    wanted = {"full_pairwise": 28 - 7, "seal": 3, "swiss": 3}[protocol]
    assert len(last.matches) == wanted
    assert [m.slot for m in last.matches] == sorted(m.slot for m in last.matches)
    with pytest.raises(NotPlacedError, match="cut short"):
        place(last)
    assert "**Not ranked**: judging was cut short." in ballots_table(last)


@pytest.mark.parametrize(("given", "times"), [({}, 2), ({"again": True}, 2), ({"again": False}, 1)])
def test_what_stays_unscored_is_asked_once_more_unless_told_otherwise(
    given: dict[str, bool], times: int
) -> None:
    async def run() -> None:
        for side_by_side in (False, True):
            judge = NotingJudge(ladder(2), silent=lambda question: True)
            session = session_of(contest_of(2), judge)
            question = ScoreQuestion(session.contest, "m00")
            if side_by_side:
                await session.ask_all([question], **given)
            else:
                await session.ask(question, **given)
            assert len(judge.asked) == times

    anyio.run(run)


@pytest.mark.parametrize("name", ["full_pairwise", "sorted"])
def test_a_sample_of_matches_is_asked_in_both_orders(name: str) -> None:
    drawn = set()
    for seed in range(12):
        contest = contest_of(5, seed=seed)
        ballots = judged(name, contest, NotingJudge(ladder(5)))
        twice = [match for match in ballots.matches if len(match.verdicts) == 2]
        met = {tuple(sorted((match.high, match.low))) for match in ballots.matches}
        # The same pair in every protocol, whatever the judge says.
        assert [tuple(sorted((m.high, m.low))) for m in twice] == [
            pair for pair in [contest.sampled] if pair in met
        ]
        drawn.add(contest.sampled)
    assert len(drawn) > 4
    assert contest_of(1).sampled is None


# `checklist=ties` gives the results of `checklist=always`, for fewer votes.

PROTOCOLS = ["seal", "flat_bracket", "swiss", "sorted", "full_pairwise"]
QUALITIES = {f"m{i:02}": float(i // 3) for i in range(6)}
"""Two groups of three: inside of them the principles are even."""


class TwoLayers(NotingJudge):
    """Votes on principles by quality and position, on the checklist by name."""

    def __init__(self, bias: float = 0.0, silent: str = "") -> None:
        super().__init__(QUALITIES, silent=lambda q: getattr(q, "votes", None) == (silent or "-"))
        self.bias = bias

    def _votes(self, question: MatchQuestion) -> dict[str, Any]:
        left, right = question.left, question.right
        gap = self._qualities[left] - self._qualities[right] + self.bias
        sides = {
            "principles": "left" if gap > 0 else "right" if gap < 0 else "tie",
            "checklist": "left" if left < right else "right",
        }
        asked = {"principles": question.principle_ids, "checklist": question.checklist_ids}
        return {
            part: {"vote": [sides[part]] * len(ids), "confidence": [0.5] * len(ids)}
            for part, ids in asked.items()
            if ids
        }


def play(protocol: str, checklist: Checklist, swap: Swap, bias: float) -> ItemBallots:
    judge = TwoLayers(bias)
    return judged(protocol, contest_of(6), judge, checklist=checklist, swap=swap)


def result(match: Match) -> tuple[object, ...]:
    return (match.high, match.low, match.winner, match.decided_by, match.margin, match.flipped)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("swap", ["always", "close", "never"])
@pytest.mark.parametrize("bias", [0.0, 0.1])
def test_the_result_is_that_of_asking_always(protocol: str, swap: Swap, bias: float) -> None:
    always, ties = (play(protocol, when, swap, bias) for when in ("always", "ties"))
    # With a bias the two orders are even in the mean: no single verdict is.
    flipped = {m.flipped for m in always.matches}
    assert ("checklist" in {m.decided_by for m in always.matches}) == (not bias or True in flipped)
    assert list(map(result, ties.matches)) == list(map(result, always.matches))
    for before, match in zip(always.matches, ties.matches, strict=True):
        for verdict, same in zip(match.verdicts, before.verdicts, strict=True):
            assert verdict.principles == same.principles
            if match.decided_by == "checklist":
                assert verdict == same
            else:
                assert (verdict.checklist, verdict.checklist_margin) == ({}, None)
        expected = before.checklist_margin if match.decided_by == "checklist" else None
        assert match.checklist_margin == expected
    asked = sum(len(m.verdicts) for m in always.matches)
    again = sum(len(m.verdicts) for m in ties.matches if m.decided_by == "checklist")
    assert [c.kind for c in always.calls].count("match") == asked
    assert [c.kind for c in ties.calls].count("match") == asked + again


def test_refinements_are_asked_once_and_matches_again() -> None:
    def silent(question: Question[Any]) -> bool:
        return isinstance(question, RefineQuestion)

    judge = NotingJudge(ladder(4), scale=100, silent=silent)
    ballots = judged("seal", contest_of(4), judge, swap="never", critique=False)
    assert [r.unscored for r in ballots.refinements] == ["silent", "silent"]
    assert sum(call.kind == "refine" for call in ballots.calls) == 4  # a try and its repair each
    assert {len(m.verdicts[0].checklist) for m in ballots.matches} == {4}
