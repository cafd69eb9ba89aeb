"""SEAL: seeded elimination with a meta-judge that sharpens the checklist (SEAL, §2 and appendix A).

Per item: one listwise call seeds the bracket; every match is one pairwise call (two where the order
of presentation may matter); after each round the meta-judge adds a checklist item per close match,
at most two. With `refine` and `critique` off this is the paper's FlatBrk.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, TypeVar

import anyio
from inspect_ai.util import span

from tiebreak.scorers.ballots import Call, ItemBallots, Match, Refinement, Tiering
from tiebreak.scorers.bracket import Bye, Pairing, first_round, next_round, rounds
from tiebreak.scorers.checklist import duplicate_of, next_id
from tiebreak.scorers.contest import Contest
from tiebreak.scorers.judge import Judge
from tiebreak.scorers.match import Swap, play
from tiebreak.scorers.questions import refine_question, tiers_question
from tiebreak.scorers.rubric import ChecklistItem
from tiebreak.scorers.votes import CLOSE_MARGIN

MOST_TIERS: Final = 4
MOST_REFINEMENTS: Final = 2
"""New checklist items a round, at most."""

T = TypeVar("T")


@dataclass(frozen=True)
class SealSettings:
    """How SEAL is played.

    `tiers` is the number of seeding tiers (None: min(4, N); 1 seeds by lot and asks nobody).
    `swap` says when a match is asked in the second order of presentation as well.
    """

    tiers: int | None = None
    swap: Swap = "close"
    refine: bool = True
    critique: bool = True


@dataclass(frozen=True)
class _State:
    """Where a tournament stands; `depth` counts the calls that had to follow one another."""

    ballots: ItemBallots
    checklist: tuple[ChecklistItem, ...]
    depth: int = 0

    def add(self, depth: int, calls: Sequence[Call], **parts: object) -> "_State":
        """The state after something more was asked."""
        update = {**parts, "calls": self.ballots.calls + tuple(calls)}
        return replace(self, ballots=self.ballots.model_copy(update=update), depth=depth)


async def seal(
    contest: Contest,
    judge: Judge,
    record: Callable[[ItemBallots], None],
    *,
    settings: SealSettings,
) -> ItemBallots:
    """Play the tournament of one item.

    `record` is called after every stage with all ballots so far, so that a run that is stopped
    keeps what it has. An item whose answers are all identical asks nobody anything.
    """
    state = _State(contest.ballots("seal"), contest.rubric.checklist)
    async with span("Seeding", type="seeding"):
        state = await _seed(contest, judge, settings, state)
    record(state.ballots)
    seeds = state.ballots.seeds
    total = rounds(len(seeds))
    entrants = list(seeds)
    for number in range(1, total + 1):
        pairings = first_round(seeds) if number == 1 else next_round(number, entrants, seeds)
        async with span(round_name(number, total), type="round"):
            state, entrants = await _play_round(contest, judge, settings, state, pairings)
            record(state.ballots)
            if settings.refine and number < total:
                state = await _refine(contest, judge, state, number)
                record(state.ballots)
    finished = state.ballots.model_copy(update={"complete": True})
    record(finished)
    return finished


def round_name(number: int, total: int) -> str:
    """Name of a round: Final, Semi-final, or its number."""
    return {0: "Final", 1: "Semi-final"}.get(total - number, f"Round {number}")


async def _seed(contest: Contest, judge: Judge, settings: SealSettings, state: _State) -> _State:
    candidates = sorted(contest.answers)
    lots = list(candidates)
    contest.rng("lots").shuffle(lots)
    k = min(settings.tiers or MOST_TIERS, len(candidates))
    if len(candidates) == 1 or k == 1:
        return state.add(state.depth, (), seeds=tuple(lots))
    shuffled = list(candidates)
    contest.rng("labels").shuffle(shuffled)
    labelled = {f"R{number}": name for number, name in enumerate(shuffled, start=1)}
    reply, _ = await judge.ask_again(tiers_question(contest, labelled, k), depth=state.depth)
    if reply.value is None:
        tiering = Tiering(unscored=reply.unscored)
    else:
        tiering = Tiering(tiers={labelled[label]: tier for label, tier in reply.value.items()})
    # The sort is stable: inside a tier, and everywhere when the call is unscored, lots decide.
    seeds = tuple(sorted(lots, key=lambda name: tiering.tiers.get(name, 0)))
    return state.add(reply.depth, reply.calls, tiering=tiering, seeds=seeds)


async def _play_round(
    contest: Contest,
    judge: Judge,
    settings: SealSettings,
    state: _State,
    pairings: Sequence[Pairing | Bye],
) -> tuple[_State, list[str]]:
    """Play all matches of a round side by side; returns the state and the winners by slot."""
    late = pairings[0].round > rounds(len(state.ballots.seeds)) - 2
    played = await in_parallel(
        [
            partial(
                play,
                contest,
                judge,
                pairing,
                checklist=state.checklist,
                swap=settings.swap,
                critique=settings.critique and late,
                depth=state.depth,
            )
            for pairing in pairings
            if isinstance(pairing, Pairing)
        ]
    )
    calls = [call for one in played for call in one.calls]
    depth = max((one.depth for one in played), default=state.depth)
    new = tuple(one.match for one in played)
    winner = {match.slot: match.winner for match in new}
    state = state.add(depth, calls, matches=state.ballots.matches + new)
    return state, [winner.get(p.slot, p.high) for p in pairings]


async def _refine(contest: Contest, judge: Judge, state: _State, number: int) -> _State:
    """Ask for a new checklist item for each of the closest matches of a round."""
    chosen = closest(state.ballots.matches, number)
    new_id = next_id(state.checklist)
    asked = await in_parallel(
        [
            partial(
                judge.ask,
                refine_question(contest, state.checklist, match, new_id),
                depth=state.depth,
            )
            for match in chosen
        ]
    )
    checklist = list(state.checklist)
    refinements: list[Refinement] = []
    for match, reply in zip(chosen, asked, strict=True):
        if reply.value is None:
            refinements.append(Refinement(round=number, slot=match.slot, unscored=reply.unscored))
            continue
        twin = duplicate_of(reply.value.description, checklist)
        new = ChecklistItem(
            id=next_id(checklist),
            principle=reply.value.principle_id,
            description=reply.value.description,
        )
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
    depth = max((reply.depth for reply in asked), default=state.depth)
    calls = [call for reply in asked for call in reply.calls]
    state = state.add(depth, calls, refinements=state.ballots.refinements + tuple(refinements))
    return replace(state, checklist=tuple(checklist))


def closest(matches: Sequence[Match], number: int) -> list[Match]:
    """The close matches of a round, closest first, at most `MOST_REFINEMENTS`.

    Close: |margin| < `CLOSE_MARGIN`. A match without a verdict shows nothing to refine on.
    """
    margins = [
        (abs(match.margin), match.slot, match)
        for match in matches
        if match.round == number and match.margin is not None and abs(match.margin) < CLOSE_MARGIN
    ]
    return [match for *_, match in sorted(margins, key=lambda m: m[:2])[:MOST_REFINEMENTS]]


async def in_parallel(tasks: Sequence[Callable[[], Awaitable[T]]]) -> list[T]:
    """Run tasks side by side; results in the order of the tasks.

    Not `inspect_ai.util.collect`, which adds a span per task to the transcript's outline.
    """
    results: dict[int, T] = {}

    async def run(index: int, task: Callable[[], Awaitable[T]]) -> None:
        results[index] = await task()

    try:
        async with anyio.create_task_group() as group:
            for index, task in enumerate(tasks):
                group.start_soon(run, index, task)
    except BaseExceptionGroup as failed:
        # Inspect knows what to do with a limit or a provider's error, not with a group of them.
        raise failed.exceptions[0] from None
    return [results[index] for index in range(len(tasks))]
