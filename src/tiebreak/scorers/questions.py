"""The four questions that judging asks, as prompts with everything foreign inside fences."""

from collections import Counter
from collections.abc import Mapping, Sequence

from tiebreak.scorers.ballots import Match, Vote
from tiebreak.scorers.contest import Contest
from tiebreak.scorers.judge import Question
from tiebreak.scorers.prompt import Fence, fill, template
from tiebreak.scorers.replies import (
    CritiqueReply,
    PairReply,
    RefineReply,
    critique_schema,
    parse_critique,
    parse_refinement,
    parse_tiers,
    parse_votes,
    refinement_schema,
    tiers_schema,
    votes_schema,
)
from tiebreak.scorers.rubric import ChecklistItem


def tiers_question(
    contest: Contest, labelled: Mapping[str, str], k: int
) -> Question[dict[str, int]]:
    """Seeding: put all responses into k tiers. `labelled` maps anonymous labels to candidates."""
    texts = {label: contest.answers[candidate] for label, candidate in labelled.items()}
    fence = _fence(contest)
    labels = list(texts)
    return Question(
        kind="seed",
        role="judge",
        system=fill(template("seed.system"), k=str(k), fence_rule=fence.rule),
        user=fill(
            template("seed.user"),
            task=fence(contest.task),
            principles=_principles(contest),
            responses="\n\n".join(f"{label}:\n{fence(text)}" for label, text in texts.items()),
            labels=", ".join(labels),
            k=str(k),
        ),
        schema=tiers_schema(labels, k),
        parse=lambda text: parse_tiers(text, labels, k),
    )


def match_question(
    contest: Contest,
    checklist: Sequence[ChecklistItem],
    left: str,
    right: str,
    differences: Mapping[str, str] | None,
) -> Question[PairReply]:
    """A match: votes of one judge. `differences` is a critique, by candidate."""
    noted = [differences[left], differences[right]] if differences else []
    fence = _fence(contest, noted)
    principle_ids = [p.id for p in contest.rubric.principles]
    checklist_ids = [c.id for c in checklist]
    return Question(
        kind="match",
        role="judge",
        system=fill(template("match.system"), fence_rule=fence.rule),
        user=fill(
            template("match.user"),
            task=fence(contest.task),
            principles=_principles(contest),
            checklist=_checklist(checklist),
            left=fence(contest.answers[left]),
            right=fence(contest.answers[right]),
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
        parse=lambda text: parse_votes(text, principle_ids, checklist_ids),
    )


def critique_question(contest: Contest, left: str, right: str) -> Question[CritiqueReply]:
    """A local critique: observable differences, before a late match is judged."""
    fence = _fence(contest)
    return Question(
        kind="critique",
        role="meta_judge",
        system=fill(template("critique.system"), fence_rule=fence.rule),
        user=fill(
            template("critique.user"),
            task=fence(contest.task),
            principles=_principles(contest),
            left=fence(contest.answers[left]),
            right=fence(contest.answers[right]),
        ),
        schema=critique_schema(),
        parse=parse_critique,
    )


def refine_question(
    contest: Contest, checklist: Sequence[ChecklistItem], match: Match, new_id: str
) -> Question[RefineReply]:
    """Refinement: one new checklist item from a close match."""
    evidence = _evidence(match)
    loser, winner = contest.answers[match.loser], contest.answers[match.winner]
    fence = _fence(contest, [evidence])
    principle_ids = [p.id for p in contest.rubric.principles]
    items = Counter(item.principle for item in checklist)
    return Question(
        kind="refine",
        role="meta_judge",
        system=fill(template("refine.system"), fence_rule=fence.rule),
        user=fill(
            template("refine.user"),
            task=fence(contest.task),
            loser=fence(loser),
            winner=fence(winner),
            evidence=fence(evidence),
            principles=_principles(contest),
            checklist=_checklist(checklist),
            coverage=", ".join(f"{p} {items[p]}" for p in principle_ids),
            new_id=new_id,
        ),
        schema=refinement_schema(principle_ids),
        parse=lambda text: parse_refinement(text, principle_ids),
    )


def _fence(contest: Contest, more: Sequence[str] = ()) -> Fence:
    return Fence([contest.task, *contest.answers.values()], more)


def _principles(contest: Contest) -> str:
    return "\n".join(
        f"{p.id} {p.name} (weight {p.weight:g}): {p.description}" for p in contest.rubric.principles
    )


def _checklist(checklist: Sequence[ChecklistItem]) -> str:
    return "\n".join(f"{item.id} ({item.principle}): {item.description}" for item in checklist)


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
