"""SEAL: seeded elimination with a meta-judge that sharpens the checklist (SEAL, §2 and appendix A).

Per item: one listwise call seeds the bracket; every match is one pairwise call; after each round
the meta-judge adds a checklist item per close match, at most two. With `refine` and `critique`
off this is the paper's FlatBrk.

The paper asks a match once (its 11.9 calls are 1 seeding, 7 matches, 3 critiques and 0.9
refinements). So do we, but for a sample that shows whether the judge goes by position: calls for
second orders are worth more on further items (docs/protocols.md).
"""

from collections.abc import Sequence
from typing import Final

from tiebreak.scorers.ballots import ItemBallots, Tiering
from tiebreak.scorers.bracket import Pairing, first_round, next_round, round_name, rounds
from tiebreak.scorers.contest import Contest
from tiebreak.scorers.match import Checklist, Swap
from tiebreak.scorers.protocols import protocol
from tiebreak.scorers.questions import TiersQuestion
from tiebreak.scorers.refinement import refine as sharpen
from tiebreak.scorers.session import Session

MOST_TIERS: Final = 4


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

    `tiers` are seeding tiers (None: min(4, N); 1 seeds by lot, without a call); `swap` says when a
    match is judged in the second order of presentation as well, `checklist` when the checklist is
    voted on. With `refine` close matches add checklist items; with `critique` the meta-judge lists
    differences before semi-final and final matches, except in a first round: no match has been
    close yet.
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
                await sharpen(judge, number, entrants)
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
    """SEAL's bracket with a checklist that stays as it is (SEAL, §3: FLATBRK)."""
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

    `tiers` is the number of tiers; None: min(4, N). With 1, and for a single candidate, there is no
    call: seeds are drawn by lot, as they are when the call stays unscored.
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
    # The sort is stable: inside a tier the lots decide.
    seeds = tuple(sorted(lots, key=lambda name: tiering.tiers.get(name, 0)))
    judge.keep(tiering=tiering, seeds=seeds)
    return seeds
