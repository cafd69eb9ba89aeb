"""Seeding: one listwise call puts candidates into tiers; inside one lots decide (SEAL, §2.1)."""

from typing import Final

from tiebreak.scorers.ballots import Tiering
from tiebreak.scorers.questions import TiersQuestion
from tiebreak.scorers.session import Session

MOST_TIERS: Final = 4


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
