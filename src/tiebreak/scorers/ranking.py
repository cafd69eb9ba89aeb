"""The scorer: ballots in the sample's store → `{model: normalized Borda}`.

It asks nobody anything, so `inspect score LOG --scorer tiebreak/ranking --action overwrite`
computes all scores again from the ballots that are there.
"""

import math
from typing import Any

import numpy as np
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, mean, metric, scorer
from inspect_ai.scorer import stderr as standard_error
from inspect_ai.solver import TaskState
from pydantic import ValidationError

from tiebreak.rankers import normalized_borda
from tiebreak.rankers import spread as mean_gap
from tiebreak.scorers.ballots import STORE_KEY, ItemBallots
from tiebreak.scorers.placement import NotPlacedError, place
from tiebreak.scorers.table import bracket_table

ROSTER_KEY = "roster"
"""Sample metadata: all models of the run. A model that is absent from an item scores NaN there."""


@metric
def spread() -> Metric:
    """Mean absolute gap between the models' mean scores, over all pairs (SEAL, table 1)."""

    def compute(scores: list[SampleScore]) -> float:
        values: dict[str, list[float]] = {}
        for sample in scores:
            if isinstance(sample.score.value, dict):
                for model, value in sample.score.value.items():
                    if isinstance(value, int | float) and not math.isnan(value):
                        values.setdefault(model, []).append(float(value))
        return mean_gap([float(np.mean(column)) for column in values.values()])

    return compute


@scorer(metrics=[spread(), {"*": [mean(), standard_error()]}])
def ranking() -> Scorer:
    """Normalized Borda of every model on this item; unscored where the ballots give no ranking."""

    async def score(state: TaskState, target: Target) -> Score:
        return score_ballots(state.store.get(STORE_KEY), state.metadata.get(ROSTER_KEY, ()))

    return score


def score_ballots(stored: Any, roster: tuple[str, ...] | list[str]) -> Score:
    """Score of one item from what its store holds; `roster` lists all models of the run."""
    try:
        ballots = ItemBallots.model_validate(stored)
    except ValidationError:
        return Score.unscored(reason="no_ballots", explanation="The sample holds no ballots.")
    table = bracket_table(ballots)
    try:
        ranks = place(ballots).ranks
    except NotPlacedError as error:
        return Score.unscored(reason="not_placed", explanation=f"{error}\n\n{table}")
    borda = normalized_borda([[ranks[model] for model in ballots.models]])[0]
    value = dict.fromkeys(roster, math.nan) | dict(
        zip(ballots.models, map(float, borda), strict=True)
    )
    best = min(ranks, key=ranks.__getitem__)
    return Score(value=value, answer=best, explanation=table)
