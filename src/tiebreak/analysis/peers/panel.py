"""A panel of reviewers: its ballots as arrays, items × reviewers × models, and its reliability.

All measures of a panel (views, agreement, alignment) are arithmetic on these arrays; its worth
consists of each reviewer's record and the agreement of all reviewers.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tiebreak.analysis.item_table import or_nan
from tiebreak.analysis.judge.biases import bound_warning
from tiebreak.analysis.judge.figures import JudgeReplies, judge_replies
from tiebreak.analysis.remarks import UNSCORED_TOLERANCE
from tiebreak.rankers.dependence import EffectiveVotes, effective_votes, pair_errors
from tiebreak.rankers.intervals import Estimate
from tiebreak.rankers.panel import (
    ReviewerAgreement,
    kendall_w,
    krippendorff_alpha,
    reviewer_agreement,
)
from tiebreak.rankers.profile import FloatArray
from tiebreak.rankers.reviewers import (
    LeaveOneOut,
    PresentationBias,
    leave_one_out,
    presentation_bias,
)
from tiebreak.rankers.uncertainty import Resampling
from tiebreak.ranking_logs.log import RankingLog, RankingLogError
from tiebreak.reason import Reason
from tiebreak.scorers.ballots import ItemBallots, Reviewer
from tiebreak.scorers.placement import review_ranks
from tiebreak.scorers.rules import RULES
from tiebreak.text import count


class NoPeerReviewError(RankingLogError):
    """None of the ranking logs is of a peer review."""


@dataclass(frozen=True, eq=False, slots=True)
class Panel:
    """One benchmark of one peer-review log: I rows, R reviewers, N models.

    A row is an item that was judged to the end, in one of its epochs; `items` numbers the item of
    each row. `ranks` has shape (I, R, N): lower is better, equal is tied, NaN is not ranked; models
    whose answers are identical are tied. `shown` has the same shape: the position at which a
    reviewer saw the answer, 1 = first, NaN = not shown. `native` has shape (I, N). `own` is the
    column of each reviewer's own answers, None for a reviewer that is not a candidate.

    `aggregator` is the method that the run asked for, `degree` the number of answers that each
    reviewer saw in sparse mode, None if it saw all.
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


def panels_among(logs: Sequence[RankingLog]) -> list[Panel]:
    """The panels of all peer-review logs among `logs`, in their order.

    Raises:
        NoPeerReviewError: no log is of a peer review, or none has an item judged to its end.
    """
    panels = [panel for log in logs for panel in panels_of(log)]
    if not panels:
        protocols = ", ".join(sorted({log.protocol for log in logs}))
        # The notes of a log without a judged item say how to continue its run.
        begun = [note for log in logs if log.protocol == "peer_review" for note in log.notes]
        raise NoPeerReviewError(
            f"No peer review with an item judged to its end among {count(len(logs), 'ranking log')}"
            f" ({protocols}). "
            + (
                "\n".join(begun)
                or "Make one:\n  inspect eval tiebreak/peer_review -T candidates=LOGS --model-role "
                "'peers=[MODEL, …]'"
            )
        )
    return panels


def panels_of(log: RankingLog) -> list[Panel]:
    """The panels of one log, by benchmark; empty if it is not a peer review."""
    reviewed = [item for item in log.items if RULES[item.placed_by].reviewed]
    benchmarks = sorted({item.benchmark for item in reviewed})
    return [_panel(log, [i for i in reviewed if i.benchmark == name]) for name in benchmarks]


def _panel(log: RankingLog, rows: Sequence[ItemBallots]) -> Panel:
    models = tuple(sorted({model for item in rows for model in item.models}))
    # Items with identical answers name no reviewers, so they are collected over all items.
    reviewers = tuple(dict.fromkeys(reviewer for item in rows for reviewer in item.reviewers))
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
        listing.model_copy(update={"groups": tuple((name,) for name in listing.shown)})
        for listing in item.listings
    ]
    return item.model_copy(update={"listings": tuple(listings)})


@dataclass(frozen=True, slots=True)
class ReviewRecord:
    """One reviewer: its replies, and its agreement with the others.

    `reviewer.candidate` is None if the reviewer is not a candidate. `replies` counts its reviews
    and those that stayed unscored, None if it was asked nothing; `reason` is the most frequent
    cause. `n_partial` of its scored reviews leave out an answer that was shown; in `n_cut` reviews,
    scored or not, `n_left_out` answers in total were not shown, so that the rest fit its context.

    `agreement` is the mean of Kendall's τ-b with each other reviewer; `distance` is the share of
    pairs that the consensus of the others orders the other way round, `errors` the share of
    pairs with different native scores that it orders wrongly. Without the reviewer the model
    `moved` falls by `shift` places (< 0: rises), the largest change of any model; 0 and None if no
    model moves, None and None if none is ranked. `first_changes`: another model is first then.
    """

    reviewer: Reviewer
    replies: JudgeReplies | None
    reason: str | None
    n_partial: int
    n_cut: int
    n_left_out: int
    agreement: Estimate
    distance: Estimate
    errors: Estimate
    shift: int | None
    moved: str | None
    first_changes: bool | None
    presentation: PresentationBias


@dataclass(frozen=True, eq=False, slots=True)
class PanelWorth:
    """Records of the reviewers, in the order of the panel, and the reliability of all together.

    `votes` estimates the number of independent votes that they equal, `errors` how often they put
    a wrong answer before a right one, and `majority_errors` how often a majority of them does,
    which is close to `errors` if all make the same errors. `without` has the rankings without each
    of them, by its own `method`.
    """

    reviewers: tuple[ReviewRecord, ...]
    agreement: ReviewerAgreement
    alpha: Estimate
    kendall_w: Estimate
    votes: EffectiveVotes
    errors: Estimate
    majority_errors: Estimate
    without: LeaveOneOut


def panel_worth(panel: Panel, how: Resampling) -> PanelWorth:
    """The reliability of a panel of at least one reviewer."""
    ranks, items = panel.ranks, panel.items
    agreement = reviewer_agreement(ranks, items=items, how=how)
    without = leave_one_out(ranks, items=items, how=how)
    errors, together, majority = pair_errors(ranks, panel.native, items=items, how=how)
    presentation = presentation_bias(ranks, panel.shown, items=items, how=how)
    replies = {row.model: row for row in judge_replies(panel.ballots, level=how.level)}
    records = [
        _record(panel, number, replies.get(reviewer.name), agreement, without, errors, bias)
        for number, (reviewer, bias) in enumerate(zip(panel.reviewers, presentation, strict=True))
    ]
    return PanelWorth(
        reviewers=tuple(records),
        agreement=agreement,
        alpha=krippendorff_alpha(ranks, items=items, how=how),
        kendall_w=kendall_w(ranks, items=items, how=how)[1],
        votes=effective_votes(ranks, panel.native, items=items, how=how),
        errors=together,
        majority_errors=majority,
        without=without,
    )


def panel_warnings(worth: PanelWorth) -> Iterator[Reason]:
    """Warnings about reviewers that cannot be trusted, the most serious kind first."""
    for record in worth.reviewers:
        yield from filter(None, [_unscored(record)])
    for record in worth.reviewers:
        if record.presentation.bound:
            yield bound_warning(record.reviewer.name, record.presentation)
    for record in worth.reviewers:
        if record.n_cut and record.replies is not None:
            yield Reason(
                "answers_cut",
                reviewer=record.reviewer.name,
                n=record.n_cut,
                of=record.replies.n_questions,
                n_left_out=record.n_left_out,
            )


def _record(
    panel: Panel,
    number: int,
    replies: JudgeReplies | None,
    agreement: ReviewerAgreement,
    without: LeaveOneOut,
    errors: Sequence[Estimate],
    presentation: PresentationBias,
) -> ReviewRecord:
    reviewer = panel.reviewers[number]
    listings = [
        listing
        for item in panel.ballots
        for listing in item.listings
        if listing.reviewer == reviewer.name
    ]
    reasons = [listing.unscored for listing in listings if listing.unscored is not None]
    shifts = without.shifts[number]
    most = None if np.isnan(shifts).all() else int(np.nanargmax(np.abs(shifts)))
    shift = None if most is None else int(shifts[most])
    return ReviewRecord(
        reviewer=reviewer,
        replies=replies,
        reason=max(dict.fromkeys(reasons), key=reasons.count) if reasons else None,
        n_partial=sum(
            listing.unscored is None and sum(map(len, listing.groups)) < len(listing.shown)
            for listing in listings
        ),
        n_cut=sum(bool(listing.left_out) for listing in listings),
        n_left_out=sum(len(listing.left_out) for listing in listings),
        agreement=agreement.reviewers[number],
        distance=without.distances[number],
        errors=errors[number],
        shift=shift,
        moved=panel.models[most] if most is not None and shift else None,
        first_changes=without.first_changes[number],
        presentation=presentation,
    )


def _unscored(record: ReviewRecord) -> Reason | None:
    replies = record.replies
    if replies is None or replies.unscored_rate.value <= UNSCORED_TOLERANCE:
        return None
    failed = (record.reason or "").startswith("error:")
    reviewer = record.reviewer.name
    common = Reason("failed_calls" if failed else "commonest", reason=record.reason)
    if replies.n_unscored == replies.n_questions:
        return Reason("mute_reviewer", reviewer=reviewer, n=replies.n_questions, common=common)
    return Reason(
        "unscored_reviews",
        reviewer=reviewer,
        n=replies.n_unscored,
        of=replies.n_questions,
        share=replies.unscored_rate.value,
        common=common,
    )


def largest_shift(records: Sequence[ReviewRecord]) -> ReviewRecord | None:
    """The reviewer without whom some model moves by most places, None if no model ever moves.

    Of equal changes one that puts another model first is preferred.
    """

    def change(record: ReviewRecord) -> tuple[int, bool]:
        return abs(record.shift or 0), bool(record.first_changes)

    return max((record for record in records if record.shift), key=change, default=None)
