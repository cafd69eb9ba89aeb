"""Peer review: every reviewer ranks all answers, its own among them (Peer review, §3.2).

Each reviewer sees the answers without names, in an order drawn for it by lot. In sparse mode it
sees only a few answers of others, chosen by a random regular graph that is drawn anew for every
item (appendix A); then it never sees its own answer.
"""

from collections.abc import Mapping, Sequence

from tiebreak.rankers.aggregators import Method
from tiebreak.rankers.errors import ReviewGraphError
from tiebreak.rankers.expander import review_graph
from tiebreak.scorers.ballots import ItemBallots
from tiebreak.scorers.contest import Contest
from tiebreak.scorers.protocols import protocol
from tiebreak.scorers.session import ProtocolError, Session


@protocol("peer_review", placed_by="consensus")
async def peer_review(
    item: Contest,
    candidates: Sequence[str],
    judge: Session,
    *,
    degree: int | None = None,
    method: Method = "kemeny_young",
) -> ItemBallots:
    """Let every reviewer rank the candidates.

    `degree` is the number of others' answers that a reviewer ranks, from 2 on; None: all, including
    its own. If an item has too few answers, or no such graph connects them (e.g. all reviewers gave
    the same answer), reviewers rank all. `method` is the name in `rankers.AGGREGATORS` of the
    method that merges the rankings.

    Raises:
        ProtocolError: the judge has no reviewers.
    """
    if not judge.reviewers:
        raise ProtocolError("peer_review asks a panel of reviewers, but the judge has none.")
    judge.keep(aggregator=method)
    await judge.reviews(_slates(item, candidates, judge, degree))
    return judge.ballots


def _slates(
    item: Contest, candidates: Sequence[str], judge: Session, degree: int | None
) -> Mapping[str, Sequence[str]]:
    names = [reviewer.name for reviewer in judge.reviewers]
    if degree is None or degree > len(candidates) - 1:
        return dict.fromkeys(names, candidates)
    column = {model: candidates.index(group[0]) for group in item.groups for model in group}
    columns = [
        None if reviewer.candidate is None else column.get(reviewer.candidate)
        for reviewer in judge.reviewers
    ]
    try:
        graph = review_graph(len(candidates), degree, columns, judge.rng("reviews"))
    except ReviewGraphError:
        # If all answers differ there is a graph, or the run would have been refused.
        return dict.fromkeys(names, candidates)
    return {
        name: [candidates[number] for number in chosen]
        for name, chosen in zip(names, graph, strict=True)
    }
