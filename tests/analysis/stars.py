"""Stars that judges gave, as ballots and logs."""

from collections.abc import Mapping
from typing import Any

from inspect_ai.log import EvalSample

from tests.ranking_logs.builders import sample
from tests.ranking_logs.builders import starred as rated
from tiebreak.candidates import CONTEST_KEY
from tiebreak.scorers.ballots import Call, ItemBallots

Given = Mapping[str, int | None]


def starred(
    item_id: str, stars: Given | Mapping[str, Given], *, judge: str = "j/judge", **fields: Any
) -> ItemBallots:
    """An item whose answers have stars, by model; or by judge and model, of a jury."""
    judges = [name for name, own in stars.items() if isinstance(own, Mapping)] or [judge]
    calls = [Call(kind="score", role="judge", model=name) for name in judges]
    made = rated(item_id, stars, **{"benchmark": "fair", "calls": calls} | fields)
    copied: ItemBallots = made.model_copy(update={"native": dict.fromkeys(made.models)})
    return copied


def answered(ballots: ItemBallots, answers: Mapping[str, str], epoch: int = 1) -> EvalSample:
    """The sample of an item, whose metadata holds the answers."""
    made = sample(ballots, f"{ballots.item_id}#{epoch}")
    made.metadata = {CONTEST_KEY: {"answers": dict(answers)}}
    return made
