"""A planted world: models of known quality, their answers, and a judge with stated faults.

    u[t, i] = θ[i] + N(0, 1)                   quality of model i's answer to item t
    gap     = u[left] − u[right]               the gap that a pairwise judge sees
              + position bias + verbosity bias · (difference in length) + noise

The unit is the spread (sd) of a model's answers over items. θ that are 0.2 apart are nearly tied:
the better of two such models gives the better answer to 56% of the items. The judge computes its
replies from the planted qualities, and calls no model.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import product
from random import Random
from statistics import NormalDist
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from tiebreak.errors import TiebreakError
from tiebreak.rankers.profile import FloatArray
from tiebreak.scorers.ballots import Call, CallKind, Criterion, Side, Vote
from tiebreak.scorers.contest import Contest
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
from tiebreak.scorers.rubric import TOP_GRADE, ChecklistItem, Principle, Rubric

T = TypeVar("T")


class LabError(TiebreakError, ValueError):
    """A simulation cannot be run with these numbers; the message says which and why."""


def require(met: bool | np.bool_, problem: str) -> None:
    """Raise LabError with `problem` as a sentence unless `met`."""
    if not met:
        raise LabError(problem[0].upper() + problem[1:] + ".")


@dataclass(frozen=True, slots=True)
class Traits:
    """Abilities and faults of a planted judge, in units of the spread of answers.

    `resolution`: a smaller perceived gap between two answers is a tie. `noise`: sd of the error on
    a pair. The error is fixed for the pair, so that every protocol gets the same verdict, unless
    `fresh` draws it anew for every call. `position_bias` is the advantage of being shown first,
    `verbosity_bias` the advantage of one sd of length. `malformed` is the probability that a reply
    is unusable; the repair turn draws again.

    `reading_noise` is the sd of the error on each answer in a listwise call (seeding, listwise),
    `grading_noise` that of the error on an answer that is graded on its own. Their default is 1:
    half of the variance between an item's answers is then the judge's error, because it reads eight
    answers at once, or one without another for comparison. `list_taste` is the sd of listwise
    calls' bias for a model, the same in all items: no number of items removes it.

    A pairwise vote has confidence min(1, |gap| / `scale`), so matches with a gap below a quarter of
    `scale` are close. With the default and eight nearly tied models SEAL requests 0.8 to 0.95 new
    checklist items per item; the paper reports 0.9 (SEAL, table 5: 11.9 calls = 1 seeding + 7
    matches + 3 critiques + 0.9).

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
    """A judge of a single item that replies from known readings of the answers; never suspends.

    `gaps` are by pair, `tiers`, `places`, `points` and `rubric_points` by candidate. A malformed
    reply costs a call and gets a repair turn, as in a real run. `asker` affects only draws that are
    made anew for every call.
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
        # Made on demand: few judges draw anything, and seeding takes as long as ten calls.
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
    """Assign labels to k levels of (almost) equal size by reading; level 1 is the best."""
    order = sorted(labelled, key=lambda label: -reading[labelled[label]])
    return {label: 1 + place * k // len(order) for place, label in enumerate(order)}


def _refinement(question: RefineQuestion) -> RefineReply:
    """A checklist item unlike all others. It has no effect: a planted judge ignores checklists."""
    match = question.match
    return RefineReply(
        principle_id=question.contest.rubric.principles[0].id,
        # Two ideographs are two words, so that no item is dropped as a duplicate.
        description=chr(0x4E00 + match.round) + chr(0x5000 + match.slot),
        differentiator="planted",
        anchor_split="5 vs 4",
        higher_snippet="planted",
        lower_snippet="planted",
    )


# Cached, because all protocols ask about the same pairs and need the same replies and calls.
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


RUBRIC: Final = Rubric(
    version=1,
    task_type="planted",
    principles=(Principle(id="P1", name="Quality", description="It is better.", weight=1),),
    checklist=(ChecklistItem(id="C1", principle="P1", description="It is better."),),
)
"""A rubric with quality as its only principle, because planted answers differ in nothing else."""

TYPICAL_GRADE: Final = 7
"""Grade, of 10, of an answer of quality 0: strong models are near the top of the scale."""


def normal_qualities(n_models: int, sd: float) -> tuple[float, ...]:
    """Qualities of `n_models` models, best first: normal quantiles scaled to mean 0 and this sd.

    Raises:
        LabError: fewer than two models, or an sd that is not positive.
    """
    require(n_models >= 2, f"{n_models} models: a comparison takes two")
    require(sd > 0, f"a spread of {sd}: it must be greater than 0")
    normal = NormalDist()
    quantiles = [normal.inv_cdf((n_models - i - 0.5) / n_models) for i in range(n_models)]
    values = sd * np.array(quantiles) / np.std(quantiles)
    return tuple(float(value) for value in values.round(12))


@dataclass(frozen=True, slots=True)
class World:
    """Settings of a planted world.

    `qualities` are the θ of the models. `ties` is the share of answers to an item, in [0, 1), that
    repeat another model's: with 0.5 every answer has a twin, with 0.25 half of the answers have
    one. `pass_rate` is the probability that an answer with quality from N(0, 1) passes the native
    check, which only tells whether an answer is good enough.

    Raises:
        LabError: fewer than two models, or a number out of range.
    """

    qualities: tuple[float, ...]
    traits: Traits = field(default_factory=Traits)
    ties: float = 0.0
    pass_rate: float = 0.97

    def __post_init__(self) -> None:
        n = len(self.qualities)
        require(n >= 2, f"{n} models: a comparison takes two")
        require(bool(np.isfinite(self.qualities).all()), "a quality is not a finite number")
        require(0 <= self.ties < 1, f"ties are {self.ties}: a share of answers below 1")
        require(0 < self.pass_rate < 1, f"the pass rate is {self.pass_rate}, not between 0 and 1")

    @property
    def models(self) -> tuple[str, ...]:
        """Names of the models, in the order of `qualities`."""
        n = len(self.qualities)
        return tuple(f"m{number:0{len(str(n))}}" for number in range(1, n + 1))


class Pool:
    """The answers of a world's models to some items, with the judge's readings of them.

    Pools with the same seed share their first items. Answers do not depend on the judge's traits.

    `seed` may be several whole numbers.

    Raises:
        LabError: fewer than one item.
    """

    def __init__(self, world: World, n_items: int, *seed: int) -> None:
        require(n_items >= 1, f"{n_items} items: there is nothing to judge")
        self.world, self.models, self.seed = world, world.models, seed
        traits, n = world.traits, len(world.qualities)
        shape = (n_items, n)
        original = _originals(self._draw(0).random(shape), max(1, n - round(world.ties * n)))
        quality = np.array(world.qualities) + self._draw(1).standard_normal(shape)
        # Half of the variance of length is the model's habit.
        habit = self._draw(2).standard_normal(n)
        length = np.sqrt(0.5) * (habit + self._draw(3).standard_normal(shape))
        self._original = original
        self._quality, self._length = (
            np.take_along_axis(values, original, axis=1) for values in (quality, length)
        )
        self.passed = self._quality > NormalDist().inv_cdf(1 - world.pass_rate)
        seen = self._quality + traits.verbosity_bias * self._length
        error = self._draw(4).standard_normal((n_items, n, n))
        self._gaps = seen[:, :, None] - seen[:, None, :]
        if not traits.fresh:
            self._gaps += traits.noise * (np.triu(error, 1) - np.triu(error, 1).swapaxes(1, 2))
        taste = (traits.list_taste * self._draw(9).standard_normal(n))[original]
        self._tiers, self._places = (
            seen + taste + traits.reading_noise * self._draw(stream).standard_normal(shape)
            for stream in (5, 6)
        )
        self._points, self._rubric_points = (
            _grades(seen + traits.grading_noise * self._draw(stream).standard_normal(shape))
            for stream in (7, 8)
        )

    def __len__(self) -> int:
        return len(self._quality)

    @cached_property
    def contests(self) -> tuple[Contest, ...]:
        """The items as protocols receive them."""
        return tuple(map(self._contest, range(len(self))))

    def judge(self, item: int, asker: str = "") -> PlantedJudge:
        """The judge of an item, with separate draws for every `asker`."""
        names = self.models
        flat = self._gaps[item].ravel().tolist()
        return PlantedJudge(
            gaps=dict(zip(product(names, names), flat, strict=True)),
            tiers=dict(zip(names, self._tiers[item].tolist(), strict=True)),
            places=dict(zip(names, self._places[item].tolist(), strict=True)),
            points=dict(zip(names, self._points[item].tolist(), strict=True)),
            rubric_points=dict(zip(names, self._rubric_points[item].tolist(), strict=True)),
            traits=self.world.traits,
            seed=f"{self.seed} {item}",
            asker=asker,
        )

    def _draw(self, stream: int) -> np.random.Generator:
        """A generator for each purpose, so that changing a trait does not change other draws."""
        return np.random.default_rng((*self.seed, stream))

    def _contest(self, item: int) -> Contest:
        names = self.models
        original = self._original[item].tolist()
        groups = tuple(
            tuple(names[i] for i, source in enumerate(original) if source == leader)
            for leader in dict.fromkeys(original)
        )
        characters = (400 * np.exp(0.3 * self._length[item])).round().astype(int).tolist()
        length = dict(zip(names, characters, strict=True))
        return Contest(
            benchmark=f"planted {' '.join(map(str, self.seed))}",
            item_id=str(item),
            input_hash=f"{item:016x}",
            task=f"Item {item}",
            rubric_name=RUBRIC.task_type,
            rubric=RUBRIC,
            position=item,
            n_items=len(self),
            seed=0,
            models=names,
            native=dict(zip(names, self.passed[item].astype(float).tolist(), strict=True)),
            groups=groups,
            answers={group[0]: "x" * length[group[0]] for group in groups},
        )


def _originals(lots: FloatArray, n_distinct: int) -> NDArray[np.intp]:
    """The model whose answer each model gives, shape (items, N); `n_distinct` distinct per row.

    In a random order the first models give their own answers, and the others repeat these in turn,
    so that no answer is copied twice before all are copied once.
    """
    order = np.argsort(lots, axis=1)
    originals = np.empty_like(order)
    source = order[:, np.arange(order.shape[1]) % n_distinct]
    np.put_along_axis(originals, order, source, axis=1)
    return originals


def _grades(readings: FloatArray) -> NDArray[np.int64]:
    return np.clip(np.rint(TYPICAL_GRADE + readings), 0, TOP_GRADE).astype(np.int64)
