"""What an earlier ranking log says about a judge: its tokens, and how often two are close to it."""

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean, stdev
from typing import Final

from tiebreak.candidates import CandidatePool
from tiebreak.estimate import EstimateError
from tiebreak.estimate.totals import ERRORS, Range
from tiebreak.ranking_logs.log import RankingLogError
from tiebreak.ranking_logs.log_file import ranking_header, read_log_file
from tiebreak.scorers.ballots import Call, CallKind, ItemBallots
from tiebreak.scorers.match import CLOSE_MARGIN, decide
from tiebreak.scorers.questions import ReviewQuestion

FEWEST_ITEMS: Final = 10
"""Judged items from which on a log counts that nobody named."""

_Calls = list[tuple[int, Call]]
"""Calls, each with the number of its item."""


@dataclass(frozen=True, slots=True)
class Experience:
    """What is known about a judge; intervals are about 95%, over items.

    `tokens` has input and output tokens of a question by kind, its repair turns and repetitions
    included, for kinds with two calls and more; `repairs` is the number of those per question.
    `reviews` has the same for rankings in peer review, by the reviewer's model. `close` and `tie`
    are shares of the scored verdicts, None without any. `models` answered. `logs` were found beside
    the candidates; none are named where a user named the log.
    """

    models: tuple[str, ...]
    n_calls: int
    tokens: Mapping[CallKind, tuple[Range, Range]]
    repairs: float
    close: Range | None
    tie: Range | None
    reviews: Mapping[str, tuple[Range, Range]] = field(default_factory=dict)
    logs: tuple[str, ...] = ()


def experience_of(items: Iterable[ItemBallots]) -> Experience:
    """Learn from ballots.

    Raises:
        EstimateError: the ballots hold no call.
    """
    ballots = list(items)
    asked = [(number, call) for number, item in enumerate(ballots) for call in item.calls]
    calls = [call for _, call in asked]
    if not calls:
        raise EstimateError("It holds no call, so it says nothing about a judge.")
    by_kind: dict[CallKind, _Calls] = {}
    by_reviewer: dict[str, _Calls] = {}
    for number, call in asked:
        if call.role == ReviewQuestion.role:
            by_reviewer.setdefault(call.model, []).append((number, call))
        else:
            by_kind.setdefault(call.kind, []).append((number, call))
    margins = [
        (number, (verdict.margin, verdict.checklist_margin))
        for number, item in enumerate(ballots)
        for match in item.matches
        for verdict in match.verdicts
        if verdict.margin is not None
    ]
    return Experience(
        models=tuple(sorted({call.model for call in calls})),
        n_calls=len(calls),
        tokens={kind: _tokens(own) for kind, own in by_kind.items() if len(own) > 1},
        repairs=len(calls) / _questions(calls) - 1,
        close=_share([(number, abs(pair[0]) < CLOSE_MARGIN) for number, pair in margins]),
        tie=_share([(number, decide(*pair)[1] is None) for number, pair in margins]),
        reviews={model: _tokens(own) for model, own in by_reviewer.items() if len(own) > 1},
    )


def experience_beside(
    pools: Sequence[CandidatePool], answering: Mapping[str, Collection[str]]
) -> Experience | None:
    """What ranking logs say that lie beside the pools' own and are by the same models.

    A log counts where the models of `answering` answered all its calls, by role, and its items are
    of the pools' benchmarks; with fewer than `FEWEST_ITEMS` items it says too little. Logs that
    cannot be read say nothing.
    """
    ballots: list[ItemBallots] = []
    logs = []
    benchmarks = {benchmark for pool in pools for benchmark in pool.benchmarks}
    notes = (note for pool in pools for note in pool.notes)
    for file in dict.fromkeys(note.where for note in notes if note.kind == "ranking_log"):
        try:
            header = ranking_header(file)
            log = read_log_file(file, header, with_votes=False) if header else None
        except RankingLogError:
            continue
        items = (*log.items, *log.cut_short) if log else ()
        asked = {(call.role, call.model) for item in items for call in item.calls}
        here = {item.benchmark for item in items} <= benchmarks
        if asked and here and all(model in answering.get(role, ()) for role, model in asked):
            ballots += items
            logs.append(file)
    if sum(bool(item.calls) for item in ballots) < FEWEST_ITEMS:
        return None
    return replace(experience_of(ballots), logs=tuple(logs))


def _tokens(calls: _Calls) -> tuple[Range, Range]:
    """Input and output tokens of a question, from its calls."""
    per_question = len(calls) / _questions(call for _, call in calls)
    return (
        _mean([(number, call.input_tokens * per_question) for number, call in calls]),
        _mean([(number, call.output_tokens * per_question) for number, call in calls]),
    )


def _questions(calls: Iterable[Call]) -> int:
    """Number of questions behind some calls: repair turns and repetitions belong to one."""
    return max(1, sum(not (call.attempt or call.repair) for call in calls))


def _mean(values: Sequence[tuple[int, float]]) -> Range:
    """Mean of two values and more, each with the number of its item."""
    alone = [value for _, value in values]
    mean = fmean(alone)
    half = ERRORS * max(stdev(alone) / math.sqrt(len(alone)), _over_items(values, mean))
    return Range(max(0.0, mean - half), mean, mean + half)


def _share(found: Sequence[tuple[int, bool]]) -> Range | None:
    """A proportion with its "plus four" interval (Agresti and Coull, doi:10.2307/2685469)."""
    if not found:
        return None
    n, likely = len(found) + 4, fmean(one for _, one in found)
    adjusted = (len(found) * likely + 2) / n
    half = ERRORS * max(math.sqrt(adjusted * (1 - adjusted) / n), _over_items(found, likely))
    return Range(max(0.0, adjusted - half), likely, min(1.0, adjusted + half))


def _over_items(values: Sequence[tuple[int, float]], mean: float) -> float:
    """Standard error of a mean of values that come in items: those of an item are alike."""
    gaps: dict[int, float] = defaultdict(float)
    for number, value in values:
        gaps[number] += value - mean
    few = len(gaps) / max(1, len(gaps) - 1)
    return math.sqrt(few * math.fsum(gap**2 for gap in gaps.values())) / len(values)
