"""How often a judge or a reviewer gives no usable reply."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tiebreak.rankers.intervals import design_effect, wilson
from tiebreak.scorers.ballots import CallKind, ItemBallots
from tiebreak.scorers.match import judges_in


@dataclass(frozen=True, slots=True)
class JudgeReplies:
    """Questions that decide rankings (matches, points, lists), by who was asked.

    `model` is the model that judged, in peer review and in a jury the name of who was asked.

    `n_unscored` of the `n_questions` stayed without a usable reply, after the repair turn and the
    repetition (which reviews do not have); `unscored_rate` is their share with its Wilson interval,
    widened as far as they come in items rather than one by one (in simulation a 95% interval
    covered 95% where they came alone or in whole items, 90% where they did both). A match that is
    asked in both orders is two questions.
    """

    model: str
    n_questions: int
    n_unscored: int
    unscored_rate: float
    lower: float
    upper: float


def judge_replies(items: Iterable[ItemBallots], *, level: float = 0.95) -> tuple[JudgeReplies, ...]:
    """Count usable replies by judge or reviewer, in order of names.

    Where a run has one judge and yet the calls of an item name several models, they are counted
    together: only those of a jury and of reviewers say whose each of them is.
    """
    by_judge: dict[str, list[list[bool]]] = defaultdict(list)
    for item in items:
        own: dict[str, list[bool]] = defaultdict(list)
        for kind, reviewer, usable in _questions(item):
            # Without its rubric `fixed_rubric` calls no judge and leaves all answers unscored.
            if name := reviewer or judges_of(item, kind):
                own[name].append(usable)
        for name, replies in own.items():
            by_judge[name].append(replies)
    rows = []
    for model, by_item in sorted(by_judge.items()):
        n = [len(replies) for replies in by_item]
        unusable = [replies.count(False) for replies in by_item]
        effect = design_effect(unusable, n)
        missing = wilson(sum(unusable), sum(n), level=level, effect=effect)
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


def judges_of(item: ItemBallots, kind: CallKind) -> str:
    """The models behind an item's calls of one kind, with commas between them."""
    return ", ".join(sorted({call.model for call in item.calls if call.kind == kind}))


def _questions(item: ItemBallots) -> Iterator[tuple[CallKind, str, bool]]:
    """Every deciding question: its kind, who of several was asked, whether the reply is usable."""
    for match in item.matches:
        judges = judges_in(match)
        replaced = [v for v in match.discarded if v.judge not in judges]
        for verdict in (*match.verdicts, *replaced):
            yield "match", verdict.judge, verdict.unscored is None
    for points in (part for one in item.scores for part in one.parts or (one,)):
        yield "score", points.judge, points.unscored is None
    for listing in item.listings:
        yield "list", listing.reviewer, listing.unscored is None
