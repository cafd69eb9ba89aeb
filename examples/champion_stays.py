"""A protocol of your own: the champion stays until somebody beats it.

inspect eval tiebreak/own -T protocol=examples/champion_stays.py@champion_stays \
    -T candidates=logs/ --model-role judge=openai/gpt-5

A protocol is one function from (item, candidates, judge) to ballots. It asks through the judge,
which keeps every ballot, counts calls and tokens and uses the cache; `placed_by` says how the
ballots become a ranking. Beside matches a judge gives `scores` and a `listing`.
"""

from collections.abc import Sequence

from tiebreak.scorers import Contest, ItemBallots, Session, protocol


@protocol("champion_stays", placed_by="win_rate")
async def champion_stays(
    item: Contest, candidates: Sequence[str], judge: Session, *, lives: int = 1
) -> ItemBallots:
    """Every candidate challenges the current champion, `lives` times over."""
    order = judge.lots()
    champion = order[0]
    for challenger in order * lives:
        if challenger != champion:
            champion = (await judge.match(champion, challenger)).winner
    return judge.ballots
