"""The questions that judging asks, as prompts with everything foreign inside fences."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from typing_extensions import override

from tiebreak.scorers.ballots import Criterion, Match, Vote
from tiebreak.scorers.contest import Contest
from tiebreak.scorers.judge import Prompt, Question
from tiebreak.scorers.prompt import Fence, fill, template
from tiebreak.scorers.replies import (
    CritiqueReply,
    PairReply,
    RefineReply,
    critique_schema,
    grades_schema,
    levels_schema,
    parse_critique,
    parse_grades,
    parse_levels,
    parse_places,
    parse_refinement,
    parse_rubric,
    parse_votes,
    refinement_schema,
    rubric_schema,
    votes_schema,
)
from tiebreak.scorers.rubric import ChecklistItem, Rubric


@dataclass(frozen=True)
class TiersQuestion(Question[dict[str, int]]):
    """Seeding: put all responses into k tiers. `labelled` maps anonymous labels to candidates."""

    contest: Contest
    labelled: Mapping[str, str]
    k: int
    kind = "seed"

    @override
    def prompt(self) -> Prompt:
        fence = _fence(self.contest)
        return Prompt(
            system=fill(template("seed.system"), k=str(self.k), fence_rule=fence.rule),
            user=fill(
                template("seed.user"), k=str(self.k), **_slate(self.contest, self.labelled, fence)
            ),
            schema=levels_schema("tiers", list(self.labelled), self.k),
        )

    @override
    def parse(self, text: str) -> dict[str, int]:
        return parse_levels(text, "tiers", list(self.labelled), self.k)


@dataclass(frozen=True)
class ListQuestion(Question[dict[str, int]]):
    """Rank all responses in one call; tied ones share a place."""

    contest: Contest
    labelled: Mapping[str, str]
    kind = "list"

    @override
    def prompt(self) -> Prompt:
        fence = _fence(self.contest)
        n = len(self.labelled)
        return Prompt(
            system=fill(template("list.system"), n=str(n), fence_rule=fence.rule),
            user=fill(
                template("list.user"), n=str(n), **_slate(self.contest, self.labelled, fence)
            ),
            schema=levels_schema("places", list(self.labelled), n),
        )

    @override
    def parse(self, text: str) -> dict[str, int]:
        return parse_levels(text, "places", list(self.labelled), len(self.labelled))


@dataclass(frozen=True)
class ReviewQuestion(ListQuestion):
    """The same, asked of one of several reviewers, who may leave responses out."""

    reviewer: str = ""
    role = "peers"

    @override
    def parse(self, text: str) -> dict[str, int]:
        return parse_places(text, list(self.labelled))


@dataclass(frozen=True)
class MatchQuestion(Question[PairReply]):
    """A match: votes of one judge. `differences` is a critique, by candidate."""

    contest: Contest
    checklist: Sequence[ChecklistItem]
    left: str
    right: str
    differences: Mapping[str, str] | None = None
    kind = "match"

    @override
    def prompt(self) -> Prompt:
        contest, told = self.contest, self.differences
        noted = [told[self.left], told[self.right]] if told else []
        fence = _fence(contest, noted)
        principle_ids, checklist_ids = self._ids()
        return Prompt(
            system=fill(template("match.system"), fence_rule=fence.rule),
            user=fill(
                template("match.user"),
                task=fence(contest.task),
                principles=_principles(contest.rubric),
                checklist=_checklist(self.checklist),
                left=fence(contest.answers[self.left]),
                right=fence(contest.answers[self.right]),
                differences=(
                    f"\nNoted about the left response:\n{fence(noted[0])}\n\n"
                    f"Noted about the right response:\n{fence(noted[1])}\n"
                    if noted
                    else ""
                ),
                principle_ids=", ".join(principle_ids),
                checklist_ids=", ".join(checklist_ids),
            ),
            schema=votes_schema(principle_ids, checklist_ids),
        )

    @override
    def parse(self, text: str) -> PairReply:
        return parse_votes(text, *self._ids())

    def _ids(self) -> tuple[list[str], list[str]]:
        return [p.id for p in self.contest.rubric.principles], [c.id for c in self.checklist]


@dataclass(frozen=True)
class CritiqueQuestion(Question[CritiqueReply]):
    """A local critique: observable differences, before a late match is judged."""

    contest: Contest
    left: str
    right: str
    kind = "critique"
    role = "meta_judge"

    @override
    def prompt(self) -> Prompt:
        contest = self.contest
        fence = _fence(contest)
        return Prompt(
            system=fill(template("critique.system"), fence_rule=fence.rule),
            user=fill(
                template("critique.user"),
                task=fence(contest.task),
                principles=_principles(contest.rubric),
                left=fence(contest.answers[self.left]),
                right=fence(contest.answers[self.right]),
            ),
            schema=critique_schema(),
        )

    @override
    def parse(self, text: str) -> CritiqueReply:
        return parse_critique(text)


@dataclass(frozen=True)
class RefineQuestion(Question[RefineReply]):
    """Refinement: one new checklist item from a close match."""

    contest: Contest
    checklist: Sequence[ChecklistItem]
    match: Match
    new_id: str
    kind = "refine"
    role = "meta_judge"

    @override
    def prompt(self) -> Prompt:
        contest = self.contest
        evidence = _evidence(self.match)
        fence = _fence(contest, [evidence])
        items = Counter(item.principle for item in self.checklist)
        return Prompt(
            system=fill(template("refine.system"), fence_rule=fence.rule),
            user=fill(
                template("refine.user"),
                task=fence(contest.task),
                loser=fence(contest.answers[self.match.loser]),
                winner=fence(contest.answers[self.match.winner]),
                evidence=fence(evidence),
                principles=_principles(contest.rubric),
                checklist=_checklist(self.checklist),
                coverage=", ".join(f"{p.id} {items[p.id]}" for p in contest.rubric.principles),
                new_id=self.new_id,
            ),
            schema=refinement_schema([p.id for p in contest.rubric.principles]),
        )

    @override
    def parse(self, text: str) -> RefineReply:
        return parse_refinement(text, [p.id for p in self.contest.rubric.principles])


@dataclass(frozen=True)
class ScoreQuestion(Question[dict[str, int]]):
    """Grade one response on its own; `criteria` say what earns which grade."""

    contest: Contest
    candidate: str
    criteria: Sequence[Criterion] = ()
    kind = "score"

    @override
    def prompt(self) -> Prompt:
        contest = self.contest
        fence = _fence(contest)
        return Prompt(
            system=fill(template("score.system"), fence_rule=fence.rule),
            user=fill(
                template("score.user"),
                task=fence(contest.task),
                principles=_principles(contest.rubric),
                criteria=_criteria(self.criteria),
                response=fence(contest.answers[self.candidate]),
                principle_ids=", ".join(p.id for p in contest.rubric.principles),
            ),
            schema=grades_schema([p.id for p in contest.rubric.principles]),
        )

    @override
    def parse(self, text: str) -> dict[str, int]:
        return parse_grades(text, [p.id for p in self.contest.rubric.principles])


@dataclass(frozen=True)
class RubricQuestion(Question[tuple[Criterion, ...]]):
    """For a whole benchmark: what earns full, half and no marks for each principle."""

    benchmark: str
    rubric: Rubric
    tasks: Sequence[str]
    kind = "rubric"

    @override
    def prompt(self) -> Prompt:
        fence = Fence(self.tasks)
        return Prompt(
            system=fill(template("rubric.system"), fence_rule=fence.rule),
            user=fill(
                template("rubric.user"),
                principles=_principles(self.rubric),
                tasks="\n\n".join(map(fence, self.tasks)),
                principle_ids=", ".join(p.id for p in self.rubric.principles),
            ),
            schema=rubric_schema([p.id for p in self.rubric.principles]),
        )

    @override
    def parse(self, text: str) -> tuple[Criterion, ...]:
        return parse_rubric(text, [p.id for p in self.rubric.principles])


def _fence(contest: Contest, more: Sequence[str] = ()) -> Fence:
    return Fence([contest.task, *contest.answers.values()], more)


def _slate(contest: Contest, labelled: Mapping[str, str], fence: Fence) -> dict[str, str]:
    """The slots of a prompt that shows all responses under anonymous labels."""
    return {
        "task": fence(contest.task),
        "principles": _principles(contest.rubric),
        "responses": "\n\n".join(
            f"{label}:\n{fence(contest.answers[candidate])}"
            for label, candidate in labelled.items()
        ),
        "labels": ", ".join(labelled),
    }


def _principles(rubric: Rubric) -> str:
    return "\n".join(
        f"{p.id} {p.name} (weight {p.weight:g}): {p.description}" for p in rubric.principles
    )


def _checklist(checklist: Sequence[ChecklistItem]) -> str:
    return "\n".join(f"{item.id} ({item.principle}): {item.description}" for item in checklist)


def _criteria(criteria: Sequence[Criterion]) -> str:
    lines = [f"{c.principle_id}: 10 = {c.full} 5 = {c.half} 0 = {c.none}" for c in criteria]
    return "".join(f"\n{line}" for line in ["", "What earns which grade:", *lines] if criteria)


def _evidence(match: Match) -> str:
    """The principle votes as seen from the loser: won, lost or even, and why."""
    lines = []
    for verdict in match.verdicts:
        outcome = {
            "left": "won" if verdict.first == match.loser else "lost",
            "right": "lost" if verdict.first == match.loser else "won",
            "tie": "even",
        }
        lines += [_line(p, vote, outcome[vote.vote]) for p, vote in verdict.principles.items()]
    return "\n".join(lines)


def _line(principle: str, vote: Vote, outcome: str) -> str:
    return f"{principle}: {outcome} (confidence {vote.confidence:g}) {vote.reasoning}".rstrip()
