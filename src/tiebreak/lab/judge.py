"""A judge with stated faults: it answers by what it reads in planted answers, and asks no model."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from random import Random
from typing import Any, TypeVar

import numpy as np
from typing_extensions import override

from tiebreak.scorers.ballots import Call, CallKind, Criterion, Side, Vote
from tiebreak.scorers.judge import Judge, Question, Reply
from tiebreak.scorers.questions import (
    CritiqueQuestion,
    ListQuestion,
    MatchQuestion,
    RefineQuestion,
    RubricQuestion,
    ScoreQuestion,
    TiersQuestion,
)
from tiebreak.scorers.replies import CritiqueReply, PairReply, RefineReply

T = TypeVar("T")


class LabError(ValueError):
    """A simulation cannot be run on these numbers; the message says which and why."""


def require(met: bool | np.bool_, problem: str) -> None:
    """Raise `LabError` with this problem, as a sentence, unless the condition is met."""
    if not met:
        raise LabError(problem[0].upper() + problem[1:] + ".")


@dataclass(frozen=True, slots=True)
class Traits:
    """What a planted judge can and cannot see; all in units of the spread of answers, 1.

    `resolution`: two answers whose gap looks smaller are even to it. `noise`: sd of its error on a
    pair. The error belongs to the pair, so whoever asks gets the same verdict, unless `fresh` draws
    it anew for every call. `position_bias` is what being shown first is worth, `verbosity_bias`
    what one sd of length is worth. `malformed` is the probability that a reply is of no use; the
    repair turn draws again.

    `reading_noise` is the sd of the error on each answer in a listwise call (seeding, listwise),
    `grading_noise` that of the error on an answer that is graded on its own. Their default is 1:
    half of what tells the answers to an item apart is then the error of the judge, which reads
    eight answers at once, or one without another to hold it against. `list_taste` is the sd of what
    listwise calls favour a model by, the same in all items: no number of items takes it away.

    A pairwise vote has the confidence min(1, |gap| / `scale`), so that matches below a quarter of
    `scale` are close. With the default and eight nearly tied models SEAL asks for 0.8 to 0.95 new
    checklist items per item; the paper's figure is 0.9 (SEAL, table 5: 11.9 calls = 1 seeding +
    7 matches + 3 critiques + 0.9).

    Raises:
        LabError: a number is out of range.
    """

    resolution: float = 0.0
    noise: float = 0.0
    fresh: bool = False
    position_bias: float = 0.0
    verbosity_bias: float = 0.0
    malformed: float = 0.0
    reading_noise: float = 1.0
    grading_noise: float = 1.0
    scale: float = 1.0
    list_taste: float = 0.0

    def __post_init__(self) -> None:
        for name in ("resolution", "noise", "reading_noise", "grading_noise", "list_taste"):
            require(getattr(self, name) >= 0, f"{name} is {getattr(self, name)}: it is 0 or more")
        for name in self.__slots__:
            require(np.isfinite(getattr(self, name)), f"{name} is not a finite number")
        require(self.scale > 0, f"scale is {self.scale}: it must be greater than 0")
        require(
            0 <= self.malformed <= 1,
            f"malformed is {self.malformed}: a probability lies between 0 and 1",
        )


@dataclass(frozen=True)
class PlantedJudge(Judge):
    """Answers the questions about one item by what it reads in the answers; never suspends.

    `gaps` are by pair, `tiers`, `places`, `points` and `rubric_points` by candidate. A malformed
    reply costs a call and gets one repair turn, as in a real run. `asker` only matters for what is
    drawn anew for every call.
    """

    gaps: Mapping[tuple[str, str], float]
    tiers: Mapping[str, float]
    places: Mapping[str, float]
    points: Mapping[str, int]
    rubric_points: Mapping[str, int]
    traits: Traits
    seed: str
    asker: str = ""

    @cached_property
    def _rng(self) -> Random:
        # Only few judges draw anything, and a generator takes as long to seed as ten calls.
        return Random(f"{self.seed} {self.asker}")

    @override
    async def ask(self, question: Question[T], *, depth: int, attempt: int = 0) -> Reply[T]:
        calls: list[Call] = []
        for repair in (False, True):
            calls.append(_call(question.kind, question.role, attempt, repair, depth))
            depth += 1
            if not (self.traits.malformed and self._rng.random() < self.traits.malformed):
                return Reply(self._answer(question), None, tuple(calls), depth)
        return Reply(None, "malformed", tuple(calls), depth)

    def _answer(self, question: Question[T]) -> Any:
        match question:
            case MatchQuestion():
                return self._votes(question)
            case TiersQuestion():
                return _levels(question.labelled, self.tiers, question.k)
            case ListQuestion():
                return _levels(question.labelled, self.places, len(question.labelled))
            case ScoreQuestion():
                points = self.rubric_points if question.criteria else self.points
                return dict.fromkeys(question.contest.rubric.weights, points[question.candidate])
            case CritiqueQuestion():
                return _CRITIQUE
            case RefineQuestion():
                return _refinement(question)
            case RubricQuestion():
                return tuple(
                    Criterion(principle_id=p, full="all", half="half", none="none")
                    for p in question.rubric.weights
                )
        raise TypeError(f"a planted judge has no answer to a {type(question).__name__}")

    def _votes(self, question: MatchQuestion) -> PairReply:
        traits = self.traits
        gap = self.gaps[question.left, question.right] + traits.position_bias
        if traits.fresh:
            gap += self._rng.gauss(0, traits.noise)
        size = abs(gap)
        side: Side = "left" if gap > 0 else "right"
        if size < traits.resolution or gap == 0:
            side = "tie"
        confidence = min(1.0, size / traits.scale)
        return _same_votes(side, confidence, question.principle_ids, question.checklist_ids)


_CRITIQUE = CritiqueReply(left="It is as good as it is.", right="It is as good as it is.")


def _levels(labelled: Mapping[str, str], reading: Mapping[str, float], k: int) -> dict[str, int]:
    """The best go to level 1, and all k levels get as many, or one more or less."""
    order = sorted(labelled, key=lambda label: -reading[labelled[label]])
    return {label: 1 + place * k // len(order) for place, label in enumerate(order)}


def _refinement(question: RefineQuestion) -> RefineReply:
    """A new item, unlike all others. It sharpens nothing: a planted judge has no checklist."""
    match = question.match
    return RefineReply(
        principle_id=question.contest.rubric.principles[0].id,
        # Two ideographs are two words, so that no item looks like another.
        description=chr(0x4E00 + match.round) + chr(0x5000 + match.slot),
        differentiator="planted",
        anchor_split="5 vs 4",
        higher_snippet="planted",
        lower_snippet="planted",
    )


# All protocols ask about the same pairs, so that most replies and calls have been made before.
@lru_cache(maxsize=4096)
def _same_votes(
    side: Side, confidence: float, principles: tuple[str, ...], checklist: tuple[str, ...]
) -> PairReply:
    vote = Vote(vote=side, confidence=confidence)
    return PairReply(
        principles=dict.fromkeys(principles, vote), checklist=dict.fromkeys(checklist, vote)
    )


@lru_cache(maxsize=4096)
def _call(kind: CallKind, role: str, attempt: int, repair: bool, depth: int) -> Call:
    return Call(kind=kind, role=role, model="planted", attempt=attempt, repair=repair, depth=depth)
