"""FULLPAIR: every candidate meets every other one (SEAL, §3), the reference of high resolution."""

from collections.abc import Sequence
from itertools import combinations

from tiebreak.scorers.ballots import ItemBallots
from tiebreak.scorers.bracket import Pairing
from tiebreak.scorers.contest import Contest
from tiebreak.scorers.match import Swap
from tiebreak.scorers.protocols import protocol
from tiebreak.scorers.session import Session


@protocol("full_pairwise", placed_by="win_rate")
async def full_pairwise(
    item: Contest, candidates: Sequence[str], judge: Session, *, swap: Swap = "never"
) -> ItemBallots:
    """Judge all N(N − 1) / 2 pairs side by side, by the rubric's own checklist.

    Args:
        item: the item.
        candidates: who plays.
        judge: the item's judge.
        swap: when a pair is asked in the second order of presentation as well.
    """
    pairs = combinations(candidates, 2)
    await judge.matches([Pairing(1, slot, *pair) for slot, pair in enumerate(pairs)], swap=swap)
    return judge.ballots
