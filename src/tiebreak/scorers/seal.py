"""SEAL: seeded elimination with a meta-judge that sharpens the checklist (SEAL, §2 and appendix A).

Per item: one listwise call seeds the bracket; every match is one pairwise call; after each round
the meta-judge adds a checklist item per close match, at most two. With `refine` and `critique` off
this is the paper's FlatBrk. A proposed item that duplicates an existing one is dropped (§2.2, A.5).

The paper asks a match once (its 11.9 calls are 1 seeding, 7 matches, 3 critiques and 0.9
refinements). So do we, except for a sample in both orders that shows whether the judge has a
position bias: calls are better spent on further items than on second orders (docs/protocols.md).

SWISS is SEAL's judge, seeding and growing checklist without elimination, in which half of the
candidates play a single match. In SWISS all play in every round, against one with about as many
points, and no two meet twice. The item's ranking is a least-squares fit of all results
(`tiebreak.scorers.rules`). For eight candidates two rounds take one match more than a bracket.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

from tiebreak.scorers.ballots import ItemBallots, Match, Refinement, Tiering
from tiebreak.scorers.bracket import Pairing, first_round, next_round, round_name, rounds
from tiebreak.scorers.contest import Contest
from tiebreak.scorers.match import Checklist, Swap, is_close, summarise
from tiebreak.scorers.protocols import protocol
from tiebreak.scorers.questions import RefineQuestion, TiersQuestion
from tiebreak.scorers.replies import RefineReply
from tiebreak.scorers.rubric import ChecklistItem, Demonstration
from tiebreak.scorers.session import Session
from tiebreak.text import words_of

MOST_TIERS: Final = 4

MOST_REFINEMENTS: Final = 2
"""Maximum number of new checklist items per round."""

LONGEST_SNIPPET: Final = 400
"""Characters of an example that later prompts quote."""

SAME_WORDS: Final = 0.7
"""Two items are duplicates if the Jaccard index of their words is at least this."""

SAME_PAIRS: Final = 0.75
"""Or if the Jaccard index of their pairs of neighbouring characters is at least this: other endings
in German or Arabic, another particle in Japanese, or one word more in Thai, which has no spaces. Of
37 made-up paraphrases in eight languages the two rules detect 32, with 3 false alarms in 40 other
pairs; words between spaces alone detected 11, with 2 false alarms."""


@protocol("seal", placed_by="elimination")
async def seal(
    item: Contest,
    candidates: Sequence[str],
    judge: Session,
    *,
    tiers: int | None = None,
    swap: Swap = "sample",
    checklist: Checklist = "always",
    refine: bool = True,
    critique: bool = True,
) -> ItemBallots:
    """Play the tournament of one item.

    `tiers` is the number of seeding tiers (None: min(4, N); 1 seeds by lot, without a call); `swap`
    says when a match is also judged in the second order of presentation, `checklist` when the
    checklist is voted on. With `refine` close matches add checklist items; with `critique` the
    meta-judge lists differences before semi-final and final matches, except in the first round,
    when no match has been close yet.
    """
    seeds = await seed(judge, tiers)
    total = rounds(len(candidates))
    entrants = list(seeds)
    for number in range(1, total + 1):
        places = first_round(seeds) if number == 1 else next_round(number, entrants, seeds)
        pairings = [place for place in places if isinstance(place, Pairing)]
        late = number > max(total - 2, 1)
        async with judge.section(round_name(number, total), "round"):
            played = await judge.matches(
                pairings, swap=swap, checklist=checklist, critique=critique and late
            )
            winner = {match.slot: match.winner for match in played}
            entrants = [winner.get(place.slot, place.high) for place in places]
            if refine and number < total:
                await refine_checklist(judge, number, entrants)
    return judge.ballots


@protocol("flat_bracket", placed_by="elimination")
async def flat_bracket(
    item: Contest,
    candidates: Sequence[str],
    judge: Session,
    *,
    tiers: int | None = None,
    swap: Swap = "sample",
    checklist: Checklist = "always",
) -> ItemBallots:
    """SEAL's bracket with a fixed checklist (SEAL, §3: FLATBRK)."""
    return await seal(
        item,
        candidates,
        judge,
        tiers=tiers,
        swap=swap,
        checklist=checklist,
        refine=False,
        critique=False,
    )


async def seed(judge: Session, tiers: int | None = None) -> tuple[str, ...]:
    """Seed all candidates, best first.

    `tiers` is the number of tiers; None: min(4, N). With one tier or a single candidate there is no
    call, and seeds are drawn by lot, as they are if the call stays unscored.
    """
    lots = judge.lots()
    k = min(tiers or MOST_TIERS, len(lots))
    if len(lots) == 1 or k == 1:
        judge.keep(seeds=tuple(lots))
        return tuple(lots)
    labelled = judge.labelled(judge.candidates)
    async with judge.section("Seeding", "seeding"):
        reply = await judge.ask(TiersQuestion(judge.contest, labelled, k))
    given = (reply.value or {}).items()
    tiering = Tiering(tiers={labelled[k]: tier for k, tier in given}, unscored=reply.unscored)
    # The sort is stable: within a tier the lots decide.
    seeds = tuple(sorted(lots, key=lambda name: tiering.tiers.get(name, 0)))
    judge.keep(tiering=tiering, seeds=seeds)
    return seeds


@protocol("swiss", placed_by="least_squares")
async def swiss(
    item: Contest,
    candidates: Sequence[str],
    judge: Session,
    *,
    rounds: int = 2,
    tiers: int | None = None,
    swap: Swap = "sample",
    checklist: Checklist = "always",
    refine: bool = True,
) -> ItemBallots:
    """Play a Swiss-system tournament on one item.

    It ends before `rounds` if not all candidates can get a new opponent. Other settings are SEAL's.
    """
    seeds = await seed(judge, tiers)
    for number in range(1, rounds + 1):
        pairs = pair_up(seeds, judge.ballots.matches)
        if not pairs:
            break
        async with judge.section(f"Round {number}", "round"):
            await judge.matches(
                [Pairing(number, slot, *pair) for slot, pair in enumerate(pairs)],
                swap=swap,
                checklist=checklist,
            )
            if refine and number < rounds:
                await refine_checklist(judge, number, remaining=seeds)
    return judge.ballots


def points(seeds: Sequence[str], matches: Sequence[Match]) -> dict[str, float]:
    """Points of each candidate: 1 for a win, ½ for a tie, none for a match without a verdict."""
    total = dict.fromkeys(seeds, 0.0)
    for match in matches:
        if match.result is not None:
            total[match.high] += match.result
            total[match.low] += 1 - match.result
    return total


def pair_up(seeds: Sequence[str], matches: Sequence[Match]) -> list[tuple[str, str]]:
    """The pairs of the next round, better seed first; empty if not all can get a new opponent.

    In the first round the best seed meets the last, as in a bracket. Later candidates are ordered
    by points, then by seed, and each meets the next one below that it has not met. With an odd
    number the middle seed sits out first, then the lowest of those that have played most.
    """
    if not matches:
        half = len(seeds) // 2
        return list(zip(seeds[:half], reversed(seeds), strict=False))
    score = points(seeds, matches)
    seed_of = {name: number for number, name in enumerate(seeds)}
    met = {frozenset((match.high, match.low)) for match in matches}
    table = sorted(seeds, key=lambda name: (-score[name], seed_of[name]))
    played = Counter(name for match in matches for name in (match.high, match.low))
    from_below = table[::-1]
    by_need = sorted(from_below, key=lambda name: -played[name])
    for waiting in by_need if len(table) % 2 else [None]:  # nobody sits out of an even number
        pairs = _pairs([name for name in table if name != waiting], met)
        if pairs is not None:
            return [(a, b) if seed_of[a] < seed_of[b] else (b, a) for a, b in pairs]
    return []


def _pairs(table: Sequence[str], met: Collection[frozenset[str]]) -> list[tuple[str, str]] | None:
    """Pair off neighbours that have not met; None if a candidate would be left over."""
    if not table:
        return []
    first, *below = table
    for second in below:
        if frozenset((first, second)) not in met:
            rest = _pairs([name for name in below if name != second], met)
            if rest is not None:
                return [(first, second), *rest]
    return None


async def refine_checklist(judge: Session, number: int, remaining: Sequence[str]) -> None:
    """Ask the meta-judge for a new checklist item for each of the closest matches of a round.

    Its prompt contains the summary of round `number` and, if only a few candidates remain, their
    answers; those are dropped if the prompt exceeds its context.
    """
    contest, matches = judge.contest, judge.ballots.matches
    chosen = closest(matches, number)
    weights = contest.rubric.weights
    summary = summarise(matches, number, weights, remaining, len(contest.answers))
    # The questions of a round, asked side by side, share an id; accepted items are numbered below.
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

    A match without a verdict offers nothing to refine, and is not close.
    """
    margins = [
        (abs(match.margin or 0.0), match.slot, match)
        for match in matches
        if match.round == number and is_close(match)
    ]
    return [match for *_, match in sorted(margins, key=lambda m: m[:2])[:MOST_REFINEMENTS]]


def item_of(proposed: RefineReply, id: str) -> ChecklistItem:
    """The checklist item that a reply proposes; without a demonstration if half of it is blank.

    Later prompts quote `LONGEST_SNIPPET` characters of an example; the ballots keep all of it.
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
    """Jaccard index of two sets, in [0, 1]; 0 if both are empty."""
    a, b = set(first), set(other)
    return len(a & b) / len(a | b) if a or b else 0.0


def _character_pairs(words: Sequence[str]) -> Iterator[str]:
    """Neighbouring characters, also across words, because not every script separates words."""
    text = "".join(words)
    return map("".join, pairwise(text))


def next_id(checklist: Sequence[ChecklistItem]) -> str:
    """The first unused id of the form `C<number>`."""
    taken = {item.id for item in checklist}
    number = len(checklist) + 1
    while f"C{number}" in taken:
        number += 1
    return f"C{number}"
