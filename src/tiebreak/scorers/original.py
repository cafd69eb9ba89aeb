"""ORIGINAL: the benchmark's own metric, without a call (SEAL, §3)."""

from collections.abc import Sequence

from tiebreak.scorers.ballots import ItemBallots
from tiebreak.scorers.contest import Contest
from tiebreak.scorers.protocols import protocol
from tiebreak.scorers.session import Session


@protocol("original", placed_by="native")
async def original(item: Contest, candidates: Sequence[str], judge: Session) -> ItemBallots:
    """Rank by native scores."""
    return judge.ballots
