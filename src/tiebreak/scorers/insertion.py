"""SORTED: a full order by binary insertion with the same pairwise judge, about N·log₂N calls.

Every candidate is compared with the middle of those that are in order already, then with the
middle of the half it belongs to, until its place is found. A tie ends the search: the two share
their place. It is exact for a judge that never contradicts itself; one wrong verdict can carry a
candidate far from where it belongs.
"""

from collections.abc import Sequence

from tiebreak.scorers.ballots import ItemBallots
from tiebreak.scorers.contest import Contest
from tiebreak.scorers.match import Checklist, Swap
from tiebreak.scorers.protocols import protocol
from tiebreak.scorers.session import Session


@protocol("sorted", placed_by="insertion")
async def insertion(
    item: Contest,
    candidates: Sequence[str],
    judge: Session,
    *,
    swap: Swap = "sample",
    checklist: Checklist = "always",
) -> ItemBallots:
    """Insert the candidates one by one, in an order drawn by lot.

    A match without a verdict counts as if the newcomer had lost it, so that the search can go on;
    such a match is marked. `swap` says which matches are judged in the second order of presentation
    as well: by default, where these two meet, the match that lots name; `checklist` says when the
    checklist is voted on.
    """
    order: list[list[str]] = []
    for newcomer in judge.lots():
        low, high = 0, len(order)
        while low < high:
            middle = (low + high) // 2
            match = await judge.match(order[middle][0], newcomer, swap=swap, checklist=checklist)
            if match.tied:
                order[middle].append(newcomer)
                break
            if match.winner == newcomer:
                high = middle
            else:
                low = middle + 1
        else:
            order.insert(low, [newcomer])
        judge.keep(order=tuple(map(tuple, order)))
    return judge.ballots
