"""The ballots of a peer-review log as arrays: items × reviewers × models.

All measures of a panel (views, agreement, alignment) are arithmetic on these.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tiebreak.analysis.item_table import or_nan
from tiebreak.paths import Paths
from tiebreak.rankers.profile import FloatArray
from tiebreak.ranking_logs.log import RankingLog, RankingLogError
from tiebreak.ranking_logs.read import read_ranking_logs
from tiebreak.scorers.ballots import ItemBallots, Reviewer
from tiebreak.scorers.placement import review_ranks
from tiebreak.scorers.rules import RULES
from tiebreak.words import count

HOW = "inspect eval tiebreak/peer_review -T candidates=LOGS --model-role 'peers=[MODEL, …]'"


class NoPeerReviewError(RankingLogError):
    """There are ranking logs, but none of a peer review."""


@dataclass(frozen=True, eq=False, slots=True)
class Panel:
    """One benchmark of one peer-review log: I rows, R reviewers, N models.

    A row is an item that was judged to the end, in one of its epochs; `items` numbers the item of
    each row. `ranks` has shape (I, R, N): lower is better, equal is tied, NaN is not ranked; models
    whose answers are identical are tied. `shown` has the same shape: the place in which a reviewer
    saw the answer, 1 = first, NaN = not shown. `native` has shape (I, N). `own` is the column of
    each reviewer's own answers, None for one that is not a candidate.

    `aggregator` is the method that the run asked for, `degree` the number of answers that each
    reviewer saw in sparse mode, None where it saw all.
    """

    benchmark: str
    log: str
    models: tuple[str, ...]
    reviewers: tuple[Reviewer, ...]
    own: tuple[int | None, ...]
    item_ids: tuple[str, ...]
    items: NDArray[np.int64]
    ranks: FloatArray
    shown: FloatArray
    native: FloatArray
    aggregator: str
    degree: int | None
    ballots: tuple[ItemBallots, ...]
    notes: tuple[str, ...]


def read_panels(paths: Paths) -> list[Panel]:
    """The panels of all peer-review logs among some files and folders, the oldest log first.

    Raises:
        RankingLogError: a path holds no ranking log, or no log has a review (NoPeerReviewError).
    """
    return panels_among(read_ranking_logs(paths))


def panels_among(logs: Sequence[RankingLog]) -> list[Panel]:
    """The panels of all peer-review logs among some ranking logs, in the order of the logs.

    Raises:
        NoPeerReviewError: no log is of a peer review, or none has an item judged to its end.
    """
    panels = [panel for log in logs for panel in panels_of(log)]
    if not panels:
        there = ", ".join(sorted({log.protocol for log in logs}))
        # The notes of a log without a judged item say how to go on.
        begun = [note for log in logs if log.protocol == "peer_review" for note in log.notes]
        raise NoPeerReviewError(
            f"No peer review with an item judged to its end among {count(len(logs), 'ranking log')}"
            f" ({there}). " + ("\n".join(begun) or f"Make one:\n  {HOW}")
        )
    return panels


def panels_of(log: RankingLog) -> list[Panel]:
    """The panels of one log, by benchmark; none where it is not a peer review."""
    reviewed = [item for item in log.items if RULES[item.placed_by].reviewed]
    benchmarks = sorted({item.benchmark for item in reviewed})
    return [_panel(log, [i for i in reviewed if i.benchmark == name]) for name in benchmarks]


def _panel(log: RankingLog, rows: Sequence[ItemBallots]) -> Panel:
    models = tuple(sorted({model for item in rows for model in item.models}))
    # Where all answers are identical no reviewer was called.
    reviewers = tuple(dict.fromkeys(one for item in rows for one in item.reviewers))
    paneled = [item.model_copy(update={"reviewers": reviewers}) for item in rows]
    column = {model: number for number, model in enumerate(models)}
    numbers = {item: n for n, item in enumerate(dict.fromkeys(item.item_id for item in rows))}
    degree = log.arguments.get("degree")
    return Panel(
        benchmark=rows[0].benchmark,
        log=log.path,
        models=models,
        reviewers=reviewers,
        own=tuple(column.get(r.candidate) if r.candidate else None for r in reviewers),
        item_ids=tuple(item.item_id for item in rows),
        items=np.array([numbers[item.item_id] for item in rows], dtype=np.int64),
        ranks=np.stack([review_ranks(item, models) for item in paneled]),
        shown=np.stack([review_ranks(_as_shown(item), models) for item in paneled]),
        native=np.array(
            [[or_nan(item.native.get(model)) for model in models] for item in rows], np.float64
        ),
        aggregator=next((item.aggregator for item in rows if item.reviewers), "kemeny_young"),
        degree=degree if isinstance(degree, int) else None,
        ballots=tuple(rows),
        notes=log.notes,
    )


def _as_shown(item: ItemBallots) -> ItemBallots:
    """The ballots of reviewers who repeat the order in which they saw the answers."""
    listings = [
        one.model_copy(update={"groups": tuple((name,) for name in one.shown)})
        for one in item.listings
    ]
    return item.model_copy(update={"listings": tuple(listings)})
