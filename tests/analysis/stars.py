"""Stars that judges gave, as ballots and logs."""

from collections.abc import Mapping, Sequence
from typing import Any

from inspect_ai.log import EvalSample

from tests.ranking_logs.builders import item, sample
from tiebreak.candidates import CONTEST_KEY
from tiebreak.scorers.ballots import Call, ItemBallots, PointScore

Given = Mapping[str, int | None]


def starred(
    item_id: str,
    stars: Given | Mapping[str, Given],
    *,
    judge: str = "j/judge",
    groups: Sequence[Sequence[str]] | None = None,
    benchmark: str = "fair",
    subject: str = "",
    cluster: str = "",
) -> ItemBallots:
    """An item whose answers have stars, by model; or by judge and model, of a jury."""
    by_judge = {name: one for name, one in stars.items() if isinstance(one, Mapping)}
    if not by_judge:
        by_judge = {"": {name: one for name, one in stars.items() if not isinstance(one, Mapping)}}
    candidates = list(next(iter(by_judge.values())))
    shown = groups or [[name] for name in candidates]
    scores = tuple(
        PointScore.of_jury([_points(name, own[name], who) for who, own in by_judge.items()], 1)
        for name in candidates
    )
    models = tuple(sorted(model for group in shown for model in group))
    calls = [Call(kind="score", role="judge", model=who or judge) for who in by_judge]
    about: dict[str, Any] = {"protocol": "stars", "benchmark": benchmark, "calls": calls}
    made = item(item_id, groups=shown, native=dict.fromkeys(models), **about)
    update = {"placed_by": "stars", "scores": scores, "subject": subject, "cluster": cluster}
    return made.model_copy(update=update | {"tiering": None, "seeds": ()})


def _points(candidate: str, stars: int | None, judge: str) -> PointScore:
    return PointScore(
        candidate=candidate,
        stars=stars,
        score=None if stars is None else stars / 3,
        unscored="no JSON in the reply" if stars is None else None,
        judge=judge,
    )


def answered(ballots: ItemBallots, answers: Mapping[str, str], epoch: int = 1) -> EvalSample:
    """The sample of an item, whose metadata holds the answers."""
    made = sample(ballots, f"{ballots.item_id}#{epoch}")
    made.metadata = {CONTEST_KEY: {"answers": dict(answers)}}
    return made
