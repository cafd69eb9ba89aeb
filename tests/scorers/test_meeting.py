"""`checklist=ties` gives the results of `checklist=always`, for fewer votes."""

from typing import Any

import anyio
import pytest

from tests.scorers.judges import NotingJudge, contest_of, judged, ladder, session_of
from tiebreak.scorers.ballots import ItemBallots, Match
from tiebreak.scorers.bracket import Pairing
from tiebreak.scorers.judge import Question
from tiebreak.scorers.match import Checklist, Swap
from tiebreak.scorers.questions import MatchQuestion

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


def one_match(judge: NotingJudge, swap: Swap) -> tuple[Match, ItemBallots]:
    async def run() -> tuple[Match, ItemBallots]:
        session = session_of(contest_of(6), judge)
        pairing = Pairing(1, 0, "m00", "m01")
        [match] = await session.matches([pairing], swap=swap, checklist="ties")
        return match, session.ballots

    return anyio.run(run)


def test_an_even_match_without_a_usable_checklist_is_unscored_and_no_tie() -> None:
    match, ballots = one_match(TwoLayers(silent="checklist"), "never")
    assert (match.decided_by, match.result) == ("unscored", None)
    assert match.unscored == "silent"
    [verdict] = match.verdicts
    assert (verdict.margin, verdict.principles) == (None, {})
    assert len(match.discarded) == 1
    # The votes on principles, then the checklist and its repair, twice.
    assert [call.depth for call in ballots.calls] == [0, 1, 2, 3, 4]


def test_without_votes_on_principles_the_checklist_is_not_asked() -> None:
    judge = TwoLayers(silent="principles")
    match, _ = one_match(judge, "always")
    assert match.decided_by == "unscored"
    assert {q.votes for q in judge.asked if isinstance(q, MatchQuestion)} == {"principles"}


def test_all_that_differs_is_what_is_asked_for() -> None:
    """So a judge has read the checklist when it votes on principles, and caches serve the rest."""
    item = contest_of(6)
    checklist = item.rubric.checklist
    asked: list[Question[Any]] = [
        MatchQuestion(item, checklist, "m00", "m01", votes=votes)
        for votes in ("both", "principles", "checklist")
    ]
    prompts = [question.prompt() for question in asked]
    assert len({(p.system, p.user.rpartition("\n")[0]) for p in prompts}) == 1
    assert [p.user.rpartition("\n")[2] for p in prompts] == [
        "Vote on the principles P1, P2, P3, P4 and on the checklist items C1, C2, C3, C4.",
        "Vote on the principles P1, P2, P3, P4.",
        "Vote on the checklist items C1, C2, C3, C4.",
    ]
    reasons = [
        [
            part
            for part, own in (p.schema.json_schema.properties or {}).items()
            if own.properties and "reasoning" in own.properties
        ]
        for p in prompts
    ]
    assert reasons == [["principles"], ["principles"], ["checklist"]]


def test_the_default_asks_for_both() -> None:
    judge = NotingJudge(ladder(4))
    judged("full_pairwise", contest_of(4), judge)
    assert {q.votes for q in judge.asked if isinstance(q, MatchQuestion)} == {"both"}
