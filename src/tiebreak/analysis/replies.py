"""How often a judge gave no usable reply."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tiebreak.rankers import wilson
from tiebreak.scorers.ballots import CallKind, ItemBallots


@dataclass(frozen=True, slots=True)
class JudgeReplies:
    """Questions that decide rankings (matches, points, lists), by who was asked.

    `model` is the model that judged, in peer review the reviewer's name.

    `n_unscored` of the `n_questions` stayed without a usable reply, after the repair turn and the
    repetition (which reviews do not have); `unscored_rate` is their share with its Wilson interval.
    A match that is asked in both orders is two questions.
    """

    model: str
    n_questions: int
    n_unscored: int
    unscored_rate: float
    lower: float
    upper: float


def judge_replies(items: Iterable[ItemBallots], *, level: float = 0.95) -> tuple[JudgeReplies, ...]:
    """Count usable replies by judge or reviewer, in order of names.

    A run has one judge. Should the calls of an item name several, they are counted together, since
    only reviews say whose each of them is.
    """
    asked: dict[str, list[bool]] = {}
    for item in items:
        for kind, reviewer, usable in _questions(item):
            models = [reviewer] if reviewer else _models(item, kind)
            # Nobody was asked: without its rubric `fixed_rubric` leaves all answers unscored.
            if models:
                asked.setdefault(", ".join(models), []).append(usable)
    rows = []
    for model, replies in sorted(asked.items()):
        missing = wilson(replies.count(False), len(replies), level=level)
        rows.append(
            JudgeReplies(
                model=model,
                n_questions=missing.n,
                n_unscored=missing.successes,
                unscored_rate=missing.rate,
                lower=missing.lower,
                upper=missing.upper,
            )
        )
    return tuple(rows)


def _models(item: ItemBallots, kind: CallKind) -> list[str]:
    return sorted({call.model for call in item.calls if call.kind == kind})


def _questions(item: ItemBallots) -> Iterator[tuple[CallKind, str, bool]]:
    """Every deciding question: of which kind, who was asked, and whether its reply could be used.

    Who was asked is empty where it is the run's judge.
    """
    for match in item.matches:
        for verdict in match.verdicts:
            yield "match", "", verdict.unscored is None
    for points in item.scores:
        yield "score", "", points.unscored is None
    for listing in item.listings:
        yield "list", listing.reviewer, listing.unscored is None
