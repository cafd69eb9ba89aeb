"""The protocols that SEAL is compared with (SEAL, §3); its FLATBRK is in `seal`.

The rubric of FIXEDRUB is one call for the whole benchmark, shared by all its items: the first item
that needs it asks, and the others wait for the reply.

`sorted` builds a full order by binary insertion with the same pairwise judge, about N·log₂N calls.
Every candidate is compared with the middle of the sorted ones, then with the middle of the half
that it belongs to, until its place is found. A tie ends the search: the two share a place. The
order is exact for a judge that never contradicts itself; one wrong verdict can put a candidate far
from where it belongs.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations

import anyio

from tiebreak.scorers.ballots import Criterion, ItemBallots, PointScore
from tiebreak.scorers.bracket import Pairing
from tiebreak.scorers.contest import Contest
from tiebreak.scorers.judge import Reply
from tiebreak.scorers.match import Checklist, Swap
from tiebreak.scorers.protocols import protocol
from tiebreak.scorers.questions import RubricQuestion
from tiebreak.scorers.session import Session

SAMPLE_TASKS = 5
"""Number of a benchmark's tasks that the author of its rubric sees."""


@protocol("original", placed_by="native")
async def original(item: Contest, candidates: Sequence[str], judge: Session) -> ItemBallots:
    """ORIGINAL: the benchmark's own metric, without a call."""
    return judge.ballots


@protocol("listwise", placed_by="listing")
async def listwise(item: Contest, candidates: Sequence[str], judge: Session) -> ItemBallots:
    """LISTWISE: rank all candidates in one call, in a presentation order drawn by lot."""
    await judge.listing(candidates)
    return judge.ballots


@protocol("full_pairwise", placed_by="win_rate")
async def full_pairwise(
    item: Contest,
    candidates: Sequence[str],
    judge: Session,
    *,
    swap: Swap = "sample",
    checklist: Checklist = "always",
) -> ItemBallots:
    """FULLPAIR: judge all N(N − 1) / 2 pairs side by side, the reference of high resolution.

    `swap` says which pairs are also judged in the second order of presentation: by default one pair
    of each item, drawn by lot, which shows whether the judge has a position bias. `checklist` says
    when the checklist is voted on.
    """
    pairings = [Pairing(1, slot, *pair) for slot, pair in enumerate(combinations(candidates, 2))]
    await judge.matches(pairings, swap=swap, checklist=checklist)
    return judge.ballots


@protocol("pointwise", placed_by="grades")
async def pointwise(item: Contest, candidates: Sequence[str], judge: Session) -> ItemBallots:
    """POINTWISE: grade each candidate on its own, by the rubric's principles."""
    await judge.scores(candidates)
    return judge.ballots


class SharedRubric:
    """Writes one rubric for each benchmark; `tasks` are some tasks of each benchmark."""

    def __init__(self, tasks: Mapping[str, Sequence[str]]) -> None:
        self._tasks = tasks
        self._written: dict[str, Reply[tuple[Criterion, ...]]] = {}
        self._writing: dict[str, anyio.Lock] = {}

    async def of(self, judge: Session) -> Reply[tuple[Criterion, ...]]:
        """Return the rubric for the benchmark of the judge's item."""
        contest = judge.contest
        # Another task type has other principles, and so needs another rubric.
        key = f"{contest.benchmark}\x1f{contest.rubric_name}"
        async with self._writing.setdefault(key, anyio.Lock()):
            if key not in self._written:
                tasks = self._tasks.get(contest.benchmark, (contest.unseen or contest.task,))
                self._written[key] = await judge.ask(
                    RubricQuestion(contest.benchmark, contest.rubric, tuple(tasks))
                )
        return self._written[key]


def share_rubric(contests: Sequence[Contest]) -> dict[str, SharedRubric]:
    """The state that items of a run share: the rubrics, and the tasks shown to their author."""
    tasks: dict[str, list[str]] = {}
    for contest in contests:
        seen = tasks.setdefault(contest.benchmark, [])
        if len(seen) < SAMPLE_TASKS:
            seen.append(contest.unseen or contest.task)
    return {"shared": SharedRubric(tasks)}


@protocol("fixed_rubric", placed_by="grades", prepare=share_rubric)
async def fixed_rubric(
    item: Contest, candidates: Sequence[str], judge: Session, *, shared: SharedRubric
) -> ItemBallots:
    """FIXEDRUB: grade each candidate by a rubric that is first written for the benchmark.

    Without a rubric all candidates stay unscored; the reason names the rubric call.
    """
    reply = await shared.of(judge)
    judge.depth = max(judge.depth, reply.depth)
    if reply.value is None:
        why = f"the rubric call gave no usable reply ({reply.unscored})"
        judge.keep(scores=tuple(PointScore(candidate=name, unscored=why) for name in candidates))
        return judge.ballots
    judge.keep(criteria=reply.value)
    await judge.scores(candidates, criteria=reply.value)
    return judge.ballots


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

    A match without a verdict is marked and counts as a loss of the newcomer, so that the search can
    continue. `swap` says which matches are also judged in the second order of presentation: by
    default the match drawn by lot, if it is played; `checklist` says when the checklist is voted
    on.
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
