"""What an earlier ranking log says about a judge: its tokens, and how often two are close to it."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean, stdev

from tiebreak.estimate import EstimateError
from tiebreak.estimate.totals import ERRORS, Range
from tiebreak.scorers.ballots import Call, CallKind, ItemBallots
from tiebreak.scorers.match import CLOSE_MARGIN, decide


@dataclass(frozen=True, slots=True)
class Experience:
    """What is known about a judge; intervals are about 95%.

    `tokens` has input and output tokens of a question by kind, its repair turns and repetitions
    included, for kinds with two calls and more; `repairs` is the number of those per question.
    `reviews` has the same for rankings in peer review, by the reviewer's model. `close` and `tie`
    are shares of the scored verdicts, None without any. `models` answered.
    """

    models: tuple[str, ...]
    n_calls: int
    tokens: Mapping[CallKind, tuple[Range, Range]]
    repairs: float
    close: Range | None
    tie: Range | None
    reviews: Mapping[str, tuple[Range, Range]] = field(default_factory=dict)


def experience_of(items: Iterable[ItemBallots]) -> Experience:
    """Learn from ballots.

    Raises:
        EstimateError: the ballots hold no call.
    """
    ballots = list(items)
    calls = [call for item in ballots for call in item.calls]
    if not calls:
        raise EstimateError("It holds no call, so it says nothing about a judge.")
    by_kind: dict[CallKind, list[Call]] = {}
    by_reviewer: dict[str, list[Call]] = {}
    for call in calls:
        if call.reviewer:
            by_reviewer.setdefault(call.model, []).append(call)
        else:
            by_kind.setdefault(call.kind, []).append(call)
    verdicts = [v for item in ballots for match in item.matches for v in match.verdicts]
    margins = [(v.margin, v.checklist_margin or 0.0) for v in verdicts if v.margin is not None]
    return Experience(
        models=tuple(sorted({call.model for call in calls})),
        n_calls=len(calls),
        tokens={kind: _tokens(own) for kind, own in by_kind.items() if len(own) > 1},
        repairs=len(calls) / _questions(calls) - 1,
        close=_share([abs(margin) < CLOSE_MARGIN for margin, _ in margins]),
        tie=_share([decide(*pair)[1] is None for pair in margins]),
        reviews={model: _tokens(own) for model, own in by_reviewer.items() if len(own) > 1},
    )


def _tokens(calls: Sequence[Call]) -> tuple[Range, Range]:
    """Input and output tokens of a question, from its calls."""
    per_question = len(calls) / _questions(calls)
    return (
        _mean([call.input_tokens * per_question for call in calls]),
        _mean([call.output_tokens * per_question for call in calls]),
    )


def _questions(calls: Iterable[Call]) -> int:
    """Number of questions behind some calls: repair turns and repetitions belong to one."""
    return max(1, sum(not (call.attempt or call.repair) for call in calls))


def _mean(values: Sequence[float]) -> Range:
    """Mean of two values and more."""
    mean, half = fmean(values), ERRORS * stdev(values) / math.sqrt(len(values))
    return Range(max(0.0, mean - half), mean, mean + half)


def _share(found: Sequence[bool]) -> Range | None:
    """A proportion with its "plus four" interval (Agresti and Coull, doi:10.2307/2685469)."""
    if not found:
        return None
    n = len(found) + 4
    adjusted = (sum(found) + 2) / n
    half = ERRORS * math.sqrt(adjusted * (1 - adjusted) / n)
    return Range(max(0.0, adjusted - half), fmean(found), min(1.0, adjusted + half))
