"""The questions that protocols ask, as prompts with all foreign text inside fences."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from inspect_ai.model import ResponseSchema
from typing_extensions import override

from tiebreak.scorers import replies
from tiebreak.scorers.ballots import Criterion, Match
from tiebreak.scorers.contest import Contest
from tiebreak.scorers.judge import Prompt, Question
from tiebreak.scorers.match import RoundSummary
from tiebreak.scorers.prompt import Fence, fill, slots_of, template
from tiebreak.scorers.replies import CritiqueReply, PairReply, RefineReply
from tiebreak.scorers.rubric import ChecklistItem, Rubric
from tiebreak.text import count


@dataclass(frozen=True)
class TiersQuestion(Question[dict[str, int]]):
    """Seeding: put all responses into k tiers. `labelled` maps anonymous labels to candidates."""

    contest: Contest
    labelled: Mapping[str, str]
    k: int
    kind = "seed"

    @override
    def prompt(self) -> Prompt:
        schema = replies.levels_schema("tiers", list(self.labelled), self.k)
        fence, slots = _slate(self.contest, self.labelled)
        return _prompt("seed", self.contest, fence, schema, **slots, k=str(self.k))

    @override
    def parse(self, text: str) -> dict[str, int]:
        return replies.parse_levels(text, "tiers", list(self.labelled), self.k)


@dataclass(frozen=True)
class ListQuestion(Question[dict[str, int]]):
    """Rank all responses in one call; tied responses share a place."""

    contest: Contest
    labelled: Mapping[str, str]
    kind = "list"

    @override
    def prompt(self) -> Prompt:
        n = len(self.labelled)
        fence, slots = _slate(self.contest, self.labelled)
        schema = replies.levels_schema("places", list(self.labelled), n)
        return _prompt("list", self.contest, fence, schema, **slots, n=str(n))

    @override
    def parse(self, text: str) -> dict[str, int]:
        return replies.parse_levels(text, "places", list(self.labelled), len(self.labelled))


@dataclass(frozen=True)
class ReviewQuestion(ListQuestion):
    """Rank responses as one of several reviewers, who may leave some out."""

    reviewer: str = ""
    role = "peers"

    @override
    def parse(self, text: str) -> dict[str, int]:
        return replies.parse_places(text, list(self.labelled))


Votes = Literal["both", "principles", "checklist"]
"""What a match's question asks votes for. The judge sees the checklist in any case."""


@dataclass(frozen=True)
class MatchQuestion(Question[PairReply]):
    """Compare two responses by votes; in a jury `reviewer` names the judge.

    `differences` is the critique of each candidate, if there was one.
    """

    contest: Contest
    checklist: Sequence[ChecklistItem]
    left: str
    right: str
    differences: Mapping[str, str] | None = None
    votes: Votes = "both"
    reviewer: str = ""
    kind = "match"

    @property
    def principle_ids(self) -> tuple[str, ...]:
        """Ids of the principles to vote on."""
        return () if self.votes == "checklist" else tuple(self.contest.rubric.weights)

    @property
    def checklist_ids(self) -> tuple[str, ...]:
        """Ids of the checklist items to vote on."""
        return () if self.votes == "principles" else tuple(item.id for item in self.checklist)

    @override
    def prompt(self) -> Prompt:
        contest, about = self.contest, self.differences
        noted = [about[self.left], about[self.right]] if about else []
        grown = _added_items(self.checklist, contest.rubric)
        fence, slots = _shared(contest, [*noted, *_texts(grown)])
        asked = {"principles": self.principle_ids, "checklist items": self.checklist_ids}
        return _prompt(
            "match",
            contest,
            fence,
            replies.votes_schema(self.principle_ids, self.checklist_ids),
            **slots,
            left=fence(contest.answers[self.left]),
            right=fence(contest.answers[self.right]),
            differences=(
                f"\nNoted about the left response:\n{fence(noted[0])}\n\n"
                f"Noted about the right response:\n{fence(noted[1])}\n"
                if noted
                else ""
            ),
            further=_added_criteria(grown, fence),
            asked=" and on ".join(
                f"the {name} {', '.join(ids)}" for name, ids in asked.items() if ids
            ),
        )

    @override
    def parse(self, text: str) -> PairReply:
        return replies.parse_votes(text, self.principle_ids, self.checklist_ids)


@dataclass(frozen=True)
class CritiqueQuestion(Question[CritiqueReply]):
    """A local critique: list observable differences before a late match is judged."""

    contest: Contest
    left: str
    right: str
    kind = "critique"
    role = "meta_judge"

    @override
    def prompt(self) -> Prompt:
        answers = self.contest.answers
        fence, slots = _shared(self.contest)
        return _prompt(
            "critique",
            self.contest,
            fence,
            replies.critique_schema(),
            **slots,
            left=fence(answers[self.left]),
            right=fence(answers[self.right]),
        )

    @override
    def parse(self, text: str) -> CritiqueReply:
        return replies.parse_object(CritiqueReply, text)


@dataclass(frozen=True)
class RefineQuestion(Question[RefineReply]):
    """Refinement: one new checklist item from a close match, after a round (SEAL, §2.2 and A.5).

    `others` are remaining candidates besides the two of the match; their answers are shown too.
    """

    contest: Contest
    checklist: Sequence[ChecklistItem]
    match: Match
    new_id: str
    summary: RoundSummary
    others: Sequence[str] = ()
    kind = "refine"
    role = "meta_judge"

    @override
    def prompt(self) -> Prompt:
        contest = self.contest
        evidence = _evidence(self.match)
        grown = _added_items(self.checklist, contest.rubric)
        fence, slots = _shared(contest, [evidence, *_texts(grown)])
        items = Counter(item.principle for item in self.checklist)
        return _prompt(
            "refine",
            contest,
            fence,
            replies.refinement_schema(list(contest.rubric.weights)),
            **slots,
            loser=fence(contest.answers[self.match.loser]),
            winner=fence(contest.answers[self.match.winner]),
            others=_remaining([fence(contest.answers[name]) for name in self.others]),
            evidence=fence(evidence),
            summary=_summary(self.summary),
            further=_added_criteria(grown, fence),
            coverage=", ".join(f"{id} {items[id]}" for id in contest.rubric.weights),
            new_id=self.new_id,
        )

    @override
    def parse(self, text: str) -> RefineReply:
        return replies.parse_refinement(text, list(self.contest.rubric.weights))


@dataclass(frozen=True)
class ScoreQuestion(Question[dict[str, int]]):
    """Grade one response on its own; `criteria` define the grades, if given."""

    contest: Contest
    candidate: str
    criteria: Sequence[Criterion] = ()
    reviewer: str = ""
    kind = "score"

    @override
    def prompt(self) -> Prompt:
        contest, earned = self.contest, _grade_meanings(self.criteria)
        fence, slots = _shared(contest, [earned])
        return _prompt(
            "score",
            contest,
            fence,
            replies.grades_schema(tuple(contest.rubric.weights)),
            **slots,
            criteria=f"\nWhat earns which grade:\n{fence(earned)}\n" if earned else "",
            response=fence(contest.answers[self.candidate]),
            principle_ids=", ".join(contest.rubric.weights),
        )

    @override
    def parse(self, text: str) -> dict[str, int]:
        return replies.parse_grades(text, list(self.contest.rubric.weights))


@dataclass(frozen=True)
class RubricQuestion(Question[tuple[Criterion, ...]]):
    """For a whole benchmark: define what earns full, half and no marks for each principle."""

    benchmark: str
    rubric: Rubric
    tasks: Sequence[str]
    kind = "rubric"

    @override
    def prompt(self) -> Prompt:
        fence = Fence(self.tasks)
        return _prompt(
            "rubric",
            self.rubric,
            fence,
            replies.rubric_schema(list(self.rubric.weights)),
            tasks="\n\n".join(map(fence, self.tasks)),
            principle_ids=", ".join(self.rubric.weights),
        )

    @override
    def parse(self, text: str) -> tuple[Criterion, ...]:
        return replies.parse_rubric(text, list(self.rubric.weights))


def _prompt(
    name: str, about: Contest | Rubric, fence: Fence, schema: ResponseSchema, /, **slots: str
) -> Prompt:
    """Fill the two templates of a question; all items with this rubric share the system prompt."""
    rubric, images = (about, ()) if isinstance(about, Rubric) else (about.rubric, about.images)
    return Prompt(
        system=_system(name, rubric),
        user=fill(template(f"{name}.user"), mark=fence.line, **slots),
        schema=schema,
        images=images,
    )


@lru_cache
def _system(name: str, rubric: Rubric) -> str:
    """Fill a system template with a rubric; cached because all items of a benchmark share it."""
    system = template(f"{name}.system")
    constant = {
        "fence_rule": template("fence"),
        "principles": "\n".join(
            f"{p.id} {p.name} (weight {p.weight:g}): {p.description}" for p in rubric.principles
        ),
        "checklist": _checklist(rubric.checklist),
    }
    return fill(system, **{slot: constant[slot] for slot in slots_of(system)})


def _shared(contest: Contest, more: Sequence[str] = ()) -> tuple[Fence, dict[str, str]]:
    fence = contest.fence.around(more)
    return fence, {"task": fence(contest.task)}


def _slate(contest: Contest, labelled: Mapping[str, str]) -> tuple[Fence, dict[str, str]]:
    fence, slots = _shared(contest)
    shown = [f"{label}:\n{fence(contest.answers[name])}" for label, name in labelled.items()]
    return fence, slots | {"responses": "\n\n".join(shown), "labels": ", ".join(labelled)}


def _checklist(checklist: Sequence[ChecklistItem], fence: Fence | None = None) -> str:
    """Checklist as lines; a fence encloses texts that a model wrote, but not ids and levels."""
    return "\n".join(line for item in checklist for line in _item(item, fence))


def _item(item: ChecklistItem, fence: Fence | None) -> Iterator[str]:
    description = f"\n{fence(item.description)}" if fence else f" {item.description}"
    yield f"{item.id} ({item.principle}):{description}"
    for level, snippet in item.demonstration.levels if item.demonstration else ():
        yield f"Level {level} of 5, for example:\n{fence(snippet) if fence else snippet}"


def _added_items(checklist: Sequence[ChecklistItem], rubric: Rubric) -> list[ChecklistItem]:
    """Items added to the rubric's checklist, whose own items are in the system prompt."""
    return [item for item in checklist if item not in rubric.checklist]


def _texts(grown: Sequence[ChecklistItem]) -> list[str]:
    """Texts written by a model or copied from answers, for the fence."""
    shown = [item.demonstration for item in grown if item.demonstration]
    return [
        *(item.description for item in grown),
        *(snippet for demonstration in shown for _, snippet in demonstration.levels),
    ]


def _added_criteria(grown: Sequence[ChecklistItem], fence: Fence) -> str:
    return f"\nFurther checklist items:\n{_checklist(grown, fence)}\n" if grown else ""


def _grade_meanings(criteria: Sequence[Criterion]) -> str:
    """Definition of the grades, a line for each principle; fenced because a model wrote it."""
    return "\n".join(f"{c.principle_id}: 10 = {c.full} 5 = {c.half} 0 = {c.none}" for c in criteria)


def _remaining(enclosed: Sequence[str]) -> str:
    shown = "\n\n".join(enclosed)
    return f"\nOther responses that remain:\n{shown}\n" if enclosed else ""


def _summary(of: RoundSummary) -> str:
    """Summary of a round: only numbers and ids of principles, so it needs no fence."""
    votes = (
        f"{principle.id}: decisive in {principle.decided}, even in {principle.even}, "
        f"mean {principle.size:.2f} of {principle.weight:g}"
        for principle in of.principles
    )
    lines = [
        f"Round {of.number}: {count(of.n_matches, 'match', 'matches')}, {of.n_close} close.",
        *votes,
        f"Under-resolved: {', '.join(of.under_resolved) or 'none'}.",
        f"Remaining responses: {len(of.remaining)} of {of.n_candidates}.",
    ]
    return "\n".join(lines)


def _evidence(match: Match) -> str:
    """Principle votes from the loser's point of view: won, lost or even, and why."""
    lines = []
    for verdict in match.verdicts:
        outcome = {
            "left": "won" if verdict.first == match.loser else "lost",
            "right": "lost" if verdict.first == match.loser else "won",
            "tie": "even",
        }
        for principle, vote in verdict.principles.items():
            how = f"{outcome[vote.vote]} (confidence {vote.confidence:g})"
            lines.append(f"{principle}: {how} {vote.reasoning}".rstrip())
    return "\n".join(lines)
