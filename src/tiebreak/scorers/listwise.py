"""LISTWISE: all candidates are ranked in one call (SEAL, §3)."""

from collections.abc import Sequence

from tiebreak.scorers.ballots import ItemBallots
from tiebreak.scorers.contest import Contest
from tiebreak.scorers.protocols import protocol
from tiebreak.scorers.session import Session


@protocol("listwise", placed_by="listing")
async def listwise(item: Contest, candidates: Sequence[str], judge: Session) -> ItemBallots:
    """Rank all candidates at once, in an order of presentation that is drawn by lot."""
    await judge.listing(candidates)
    return judge.ballots
