"""Refinement: close matches sharpen the checklist for the matches to come (SEAL, §2.2 and A.5).

A proposal joins the checklist unless it says what an item already says.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

from tiebreak.scorers.ballots import Match, Refinement
from tiebreak.scorers.match import is_close, summarise
from tiebreak.scorers.questions import RefineQuestion
from tiebreak.scorers.replies import RefineReply
from tiebreak.scorers.rubric import ChecklistItem, Demonstration
from tiebreak.scorers.session import Session
from tiebreak.text import words_of

MOST_REFINEMENTS: Final = 2
"""New checklist items a round, at most."""

LONGEST_SNIPPET: Final = 400
"""Characters of an example that later prompts show."""

SAME_WORDS: Final = 0.7
"""Two items are duplicates when their words overlap (Jaccard) at least this much."""

SAME_PAIRS: Final = 0.75
"""They are as well when their pairs of neighbouring characters do: other endings in German or
Arabic, another particle in Japanese, or one word more in Thai, which sets no spaces. Of 37 made-up
pairs that say the same in eight languages the rules find 32, and of 40 others they take 3 for one;
words between spaces alone found 11 and took 2."""


async def refine(judge: Session, number: int, remaining: Sequence[str]) -> None:
    """Ask the meta-judge for a new checklist item for each of the closest matches of a round.

    It reads what round `number` has shown, and the answers of the others that remain where these
    are few; without them where it cannot read so much.
    """
    contest, matches = judge.contest, judge.ballots.matches
    chosen = closest(matches, number)
    weights = contest.rubric.weights
    summary = summarise(matches, number, weights, remaining, len(contest.answers))
    new_id = next_id(judge.checklist)
    questions = [
        RefineQuestion(contest, judge.checklist, match, new_id, summary, summary.others(match))
        for match in chosen
    ]
    replies = await judge.ask_all(questions, again=False)
    for at, question in enumerate(questions):
        if replies[at].too_long and question.others:
            replies[at] = await judge.ask(replace(question, others=()), again=False)
    checklist = list(judge.checklist)
    refinements: list[Refinement] = []
    for match, reply in zip(chosen, replies, strict=True):
        if reply.value is None:
            refinements.append(Refinement(round=number, slot=match.slot, unscored=reply.unscored))
            continue
        twin = duplicate_of(reply.value.description, checklist)
        new = item_of(reply.value, next_id(checklist))
        if twin is None:
            checklist.append(new)
        refinements.append(
            Refinement(
                round=number,
                slot=match.slot,
                item_id=new.id,
                duplicate_of=twin,
                **reply.value.model_dump(),
            )
        )
    judge.checklist = tuple(checklist)
    judge.keep(refinements=(*judge.ballots.refinements, *refinements))


def closest(matches: Sequence[Match], number: int) -> list[Match]:
    """The close matches of a round, closest first, at most `MOST_REFINEMENTS`.

    A match without a verdict shows nothing to refine on.
    """
    margins = [
        (abs(match.margin or 0.0), match.slot, match)
        for match in matches
        if match.round == number and is_close(match)
    ]
    return [match for *_, match in sorted(margins, key=lambda m: m[:2])[:MOST_REFINEMENTS]]


def item_of(proposed: RefineReply, id: str) -> ChecklistItem:
    """The checklist item that a reply proposes; without a demonstration where half of it is blank.

    Of an example later prompts show `LONGEST_SNIPPET` characters; the ballots keep all of it.
    """
    higher, lower = (_shortened(s) for s in (proposed.higher_snippet, proposed.lower_snippet))
    shown = None
    if higher and lower:
        shown = Demonstration(
            anchor_split=proposed.anchor_split, higher_snippet=higher, lower_snippet=lower
        )
    return ChecklistItem(
        id=id,
        principle=proposed.principle_id,
        description=proposed.description,
        demonstration=shown,
    )


def _shortened(snippet: str) -> str:
    text = snippet.strip()
    return text if len(text) <= LONGEST_SNIPPET else f"{text[:LONGEST_SNIPPET].rstrip()} …"


def duplicate_of(description: str, checklist: Sequence[ChecklistItem]) -> str | None:
    """Id of the first item that the description repeats, or None.

    The rule: |A ∩ B| / |A ∪ B| is at least `SAME_WORDS` over the sets of words, or `SAME_PAIRS`
    over those of neighbouring characters.
    """
    new = words_of(description)
    for item in checklist:
        old = words_of(item.description)
        same = _overlap(new, old) >= SAME_WORDS
        if same or _overlap(_character_pairs(new), _character_pairs(old)) >= SAME_PAIRS:
            return item.id
    return None


def _overlap(first: Iterable[str], other: Iterable[str]) -> float:
    """Jaccard's index of two sets, in [0, 1]; 0 of empty ones."""
    a, b = set(first), set(other)
    return len(a & b) / len(a | b) if a or b else 0.0


def _character_pairs(words: Sequence[str]) -> Iterator[str]:
    """Neighbouring characters, across words as well: who sets spaces is a matter of script."""
    text = "".join(words)
    return map("".join, pairwise(text))


def next_id(checklist: Sequence[ChecklistItem]) -> str:
    """The first free id of the form `C<number>`."""
    taken = {item.id for item in checklist}
    number = len(checklist) + 1
    while f"C{number}" in taken:
        number += 1
    return f"C{number}"
