"""A judge without a harness, which replies at once and writes down what it was asked."""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar

import anyio

from tests.scorers.tournament import planted_contest
from tiebreak.scorers.ballots import Call, ItemBallots, Reviewer
from tiebreak.scorers.contest import Contest
from tiebreak.scorers.judge import Judge, ModelFailedError, Prompt, Question, Reply
from tiebreak.scorers.model_judge import ModelJudge
from tiebreak.scorers.protocols import find_protocol, judge_item
from tiebreak.scorers.questions import (
    CritiqueQuestion,
    ListQuestion,
    MatchQuestion,
    RefineQuestion,
    ReviewQuestion,
    RubricQuestion,
    ScoreQuestion,
    TiersQuestion,
)
from tiebreak.scorers.session import Session

T = TypeVar("T")
ONCE: dict[str, dict[str, Any]] = {
    "flat_bracket": {"swap": "never"},
    "seal": {"swap": "never", "refine": False, "critique": False},
    "swiss": {"swap": "never", "refine": False},
    "sorted": {"swap": "never"},
    "round_robin": {"swap": "never"},
    "full_pairwise": {"swap": "never"},
}
"""Settings with which every protocol asks every question once."""


class NotingJudge(Judge):
    """Votes by quality, with full confidence at a gap of `scale`; `asked` holds all questions.

    Args:
        qualities: quality of each candidate; rounded, it is also its grade.
        gaps: pairs whose gap is another one than the difference of their qualities.
        tiers: what the seeding reads, where that is not the quality.
        places: what the ranking call reads, where that is not the quality.
        silent: questions that get no usable reply; every one takes a call and its repair.
        scale: difference of quality at which a vote has full confidence.
        tastes: what a reviewer reads, by its name, where that is not the quality: equal numbers
            share a place, and what has none is left out.
        reviewers: who can be asked for reviews.
        failing: reviewers whose provider refuses.
        fits: whether a question fits into the context of the one who is asked.
    """

    def __init__(
        self,
        qualities: Mapping[str, float],
        *,
        gaps: Mapping[tuple[str, str], float] | None = None,
        tiers: Mapping[str, float] | None = None,
        places: Mapping[str, float] | None = None,
        silent: Callable[[Question[Any]], bool] = lambda question: False,
        scale: float = 1.0,
        tastes: Mapping[str, Mapping[str, float]] | None = None,
        reviewers: Sequence[Reviewer] = (),
        failing: Sequence[str] = (),
        fits: Callable[[Question[Any]], bool] = lambda question: True,
    ) -> None:
        self.asked: list[Question[Any]] = []
        self._qualities, self._gaps = qualities, dict(gaps or {})
        self._gaps |= {(b, a): -gap for (a, b), gap in self._gaps.items()}
        self._tiers, self._places = tiers or qualities, places or qualities
        self._silent, self._scale = silent, scale
        self.reviewers = tuple(reviewers)
        self._tastes, self._failing, self._fits = tastes or {}, failing, fits

    async def ask(self, question: Question[T], *, depth: int, attempt: int = 0) -> Reply[T]:
        self.asked.append(question)
        question.prompt()  # whatever is asked can be put into words
        await anyio.sleep(0)
        usual: dict[str, Any] = {"role": question.role, "model": "noting", "attempt": attempt}
        usual["reviewer"] = question.reviewer
        if question.reviewer in self._failing:
            raise ModelFailedError(f"{question.reviewer} is out of order")
        first = Call(kind=question.kind, depth=depth, **usual)
        if not self._fits(question):
            return Reply(None, "it is empty", (first,), depth + 1, too_long=True)
        if self._silent(question):
            repair = Call(kind=question.kind, depth=depth + 1, repair=True, **usual)
            return Reply(None, "silent", (first, repair), depth + 2)
        # Through the parser, so that what it says is what a model could say.
        return Reply(question.parse(json.dumps(self._says(question))), None, (first,), depth + 1)

    async def side_by_side(self, tasks: Sequence[Callable[[], Awaitable[None]]]) -> None:
        await ModelJudge({}).side_by_side(tasks)

    def _says(self, question: Question[Any]) -> dict[str, Any]:
        match question:
            case MatchQuestion():
                return self._votes(question)
            case TiersQuestion():
                return {"tiers": _levels(question.labelled, self._tiers, question.k)}
            case ReviewQuestion():
                read = self._tastes.get(question.reviewer, self._qualities)
                named = {label: read[c] for label, c in question.labelled.items() if c in read}
                best_first = sorted(set(named.values()), reverse=True)
                places = {label: 1 + best_first.index(own) for label, own in named.items()}
                return {"places": places}
            case ListQuestion():
                n = len(question.labelled)
                return {"places": _levels(question.labelled, self._places, n)}
            case ScoreQuestion():
                grade = max(0, min(10, round(self._qualities[question.candidate])))
                return {"grade": [grade] * len(question.contest.rubric.weights)}
            case CritiqueQuestion():
                return {"left": "It is what it is.", "right": "It is what it is."}
            case RubricQuestion():
                levels = {"full": "All.", "half": "Half.", "none": "Nothing."}
                return dict.fromkeys(question.rubric.weights, levels)
            case RefineQuestion():
                return {
                    "principle_id": question.contest.rubric.principles[0].id,
                    "description": f"new{question.match.round}x{question.match.slot}",
                    "differentiator": "",
                    "anchor_split": "5 vs 4",
                    "higher_snippet": "",
                    "lower_snippet": "",
                }
        raise TypeError(f"nothing to say to {question}")

    def _votes(self, question: MatchQuestion) -> dict[str, Any]:
        left, right = question.left, question.right
        gap = self._gaps.get((left, right), self._qualities[left] - self._qualities[right])
        side = "left" if gap > 0 else "right" if gap < 0 else "tie"
        confidence = min(1.0, abs(gap) / self._scale)
        asked = {"principles": question.principle_ids, "checklist": question.checklist_ids}
        return {
            part: {"vote": [side] * len(ids), "confidence": [confidence] * len(ids)}
            for part, ids in asked.items()
        }

    @property
    def reviewed(self) -> list[ReviewQuestion]:
        """What reviewers were asked, in order."""
        return [q for q in self.asked if isinstance(q, ReviewQuestion)]

    @property
    def met(self) -> list[frozenset[str]]:
        """The pairs that were asked about, in order."""
        return [frozenset((q.left, q.right)) for q in self.asked if isinstance(q, MatchQuestion)]


def _levels(labelled: Mapping[str, str], read: Mapping[str, float], k: int) -> dict[str, int]:
    """Equal numbers on every level, the best on the first."""
    order = sorted(labelled, key=lambda label: -read[labelled[label]])
    return {label: 1 + place * k // len(order) for place, label in enumerate(order)}


def silent_about(*pair: str) -> Callable[[Question[Any]], bool]:
    """Silence about the match of two candidates."""
    return lambda q: isinstance(q, MatchQuestion) and {q.left, q.right} == set(pair)


def silent_on(name: str) -> Callable[[Question[Any]], bool]:
    """Silence whenever one candidate is compared or graded."""

    def silent(question: Question[Any]) -> bool:
        match question:
            case MatchQuestion():
                return name in (question.left, question.right)
            case ScoreQuestion():
                return name == question.candidate
        return False

    return silent


def judged(protocol: str, contest: Contest, judge: Judge, **settings: Any) -> ItemBallots:
    """Ballots of one item that is judged alone."""
    [ballots] = judged_all(protocol, [contest], judge, **settings)
    return ballots


def judged_all(
    protocol: str, contests: list[Contest], judge: Judge, **settings: Any
) -> list[ItemBallots]:
    """Ballots of several items that are judged at the same time and share what a run shares."""
    found = find_protocol(protocol)
    shared = found.prepare(contests)
    done: dict[int, ItemBallots] = {}

    async def one(number: int) -> None:
        done[number] = await judge_item(
            found, contests[number], judge, settings={**settings, **shared}
        )

    async def all_at_once() -> None:
        async with anyio.create_task_group() as group:
            for number in range(len(contests)):
                group.start_soon(one, number)

    anyio.run(all_at_once)
    return [done[number] for number in range(len(contests))]


def session_of(
    contest: Contest, judge: Judge, *, stages: list[ItemBallots] | None = None
) -> Session:
    """A session of a protocol of one's own; `stages` collects what it records."""

    def record(ballots: ItemBallots) -> None:
        if stages is not None:
            stages.append(ballots)

    return Session(contest, judge, record, "own", "win_rate")


def names(n: int) -> list[str]:
    return [f"m{i:02}" for i in range(n)]


def ladder(n: int, gap: float = 1.0) -> dict[str, float]:
    """n candidates, the first the best, a gap apart from each other."""
    return {name: gap * (n - i) for i, name in enumerate(names(n))}


def contest_of(n: int, **more: Any) -> Contest:
    return planted_contest(ladder(n), **more)


def words(judge: NotingJudge) -> dict[frozenset[str], Prompt]:
    """What the judge was told about each pair; every pair in one order and once."""
    told: dict[frozenset[str], Prompt] = {}
    for question in judge.asked:
        if isinstance(question, MatchQuestion):
            pair = frozenset((question.left, question.right))
            assert pair not in told
            told[pair] = question.prompt()
    return told
