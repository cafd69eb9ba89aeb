"""ROUND_ROBIN: every item plays some rounds of a round robin, the next item the next rounds.

Over the items every pair of models meets equally often, each in both orders of presentation. Calls
are so spent on many items rather than on many pairs of few; nothing is seeded, no round waits for
another, and no result decides who meets whom. So the scores (rule `points`) are an unbiased
estimate of those of exhaustive judging; with all rounds they are these scores.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from tiebreak.scorers.ballots import ItemBallots
from tiebreak.scorers.bracket import Pairing
from tiebreak.scorers.contest import Contest
from tiebreak.scorers.match import Checklist, Swap
from tiebreak.scorers.protocols import ProtocolError, protocol
from tiebreak.scorers.schedule import Pair, n_rounds
from tiebreak.scorers.session import Session


def check_rounds(settings: Mapping[str, Any], n_models: int) -> None:
    """Refuse a number of rounds that a round robin does not have.

    Raises:
        ProtocolError: says how many it has.
    """
    rounds = settings.get("rounds", 1)
    if not 1 <= rounds <= n_rounds(n_models):
        raise ProtocolError(
            f"rounds is {rounds}: a round robin of {n_models} models has 1 to {n_rounds(n_models)} "
            "rounds, the last of which judges all pairs."
        )


@protocol("round_robin", placed_by="points", check=check_rounds)
async def round_robin(
    item: Contest,
    candidates: Sequence[str],
    judge: Session,
    *,
    rounds: int = 1,
    swap: Swap = "sample",
    checklist: Checklist = "always",
) -> ItemBallots:
    """Play the first `rounds` rounds of this item, all side by side.

    `swap` and `checklist` are those of full_pairwise.

    Models with identical answers are tied without a match. Pairs with the same two answers as
    another pair share its match.
    """
    check_rounds({"rounds": rounds}, len(item.models))
    played = item.schedule.of(item.position)
    if rounds < len(played):
        judge.keep(scheduled=tuple(pair for pairs in played[:rounds] for pair in pairs))
    leader = {model: group[0] for group in item.groups for model in group}
    matches: dict[Pair, Pairing] = {}
    for number, pairs in enumerate(played[:rounds], start=1):
        for slot, (a, b) in enumerate(pairs):
            one, other = sorted((leader[a], leader[b]))
            if one != other:
                matches.setdefault((one, other), Pairing(number, slot, one, other))
    await judge.matches(list(matches.values()), swap=swap, checklist=checklist)
    return judge.ballots
