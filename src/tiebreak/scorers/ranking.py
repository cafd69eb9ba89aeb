"""The scorer: ballots in the sample's store → `{model: normalized Borda}`.

It makes no calls, so `inspect score LOG --scorer tiebreak/ranking --action overwrite`
computes all scores again from the ballots that are there.
"""

import math
from typing import Any

import numpy as np
from inspect_ai.scorer import (
    Metric,
    SampleScore,
    Score,
    Scorer,
    Target,
    Value,
    mean,
    metric,
    scorer,
)
from inspect_ai.scorer import stderr as standard_error
from inspect_ai.solver import TaskState

from tiebreak.rankers import Resampling, normalized_borda
from tiebreak.rankers import spread as mean_gap
from tiebreak.rankers.errors import RankingError
from tiebreak.rankers.massey import least_squares as fit_least_squares
from tiebreak.scorers.ballots import STORE_KEY, restore_ballots
from tiebreak.scorers.placement import NotPlacedError, place, results
from tiebreak.scorers.rules import RULES
from tiebreak.scorers.table import ballots_table

RESULTS_KEY = "results"
"""Score metadata: results of an item's matches, as [one, other, 1 / ½ / 0]."""

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


@metric
def least_squares() -> Metric:
    """Strength of every model by least squares over the results of all matches of all items.

    The second view of a log with matches: it uses every result, where a placement uses who went
    out when. Empty without matches, and where some models never met the others.
    """

    def compute(scores: list[SampleScore]) -> Value:
        played = [
            (str(sample.sample_id), *result)
            for sample in scores
            for result in (sample.score.metadata or {}).get(RESULTS_KEY, ())
        ]
        models = sorted({name for _, *pair, _ in played for name in pair})
        column = {model: number for number, model in enumerate(models)}
        try:
            fit = fit_least_squares(
                [column[one] for _, one, _, _ in played],
                [column[other] for _, _, other, _ in played],
                [result for *_, result in played],
                [item for item, *_ in played],
                n_models=len(models),
                how=Resampling(draws=1),
            )
        except RankingError:
            return {}
        # The prefix tells these rows from those of the Borda scores, which have the same names.
        return {f"least_squares:{m}": float(s) for m, s in zip(models, fit.score, strict=True)}

    return compute


@scorer(metrics=[spread(), least_squares(), {"*": [mean(), standard_error()]}])
def ranking() -> Scorer:
    """Normalized Borda of every model on this item; unscored where the ballots give no ranking."""

    async def score(state: TaskState, target: Target) -> Score:
        return score_ballots(state.store.get(STORE_KEY), state.metadata.get(ROSTER_KEY, ()))

    return score


def score_ballots(stored: Any, roster: tuple[str, ...] | list[str]) -> Score:
    """Score of one item from what its store holds; `roster` lists all models of the run."""
    try:
        ballots = restore_ballots(stored)
    except ValueError as error:
        return Score.unscored(reason="no_ballots", explanation=f"Not ranked: {error}.")
    table = ballots_table(ballots)
    try:
        ranks = place(ballots).ranks
    except NotPlacedError as error:
        return Score.unscored(reason="not_placed", explanation=f"{error}\n\n{table}")
    borda = normalized_borda([[ranks.get(model, math.nan) for model in ballots.models]])[0]
    value = dict.fromkeys(roster, math.nan) | dict(
        zip(ballots.models, map(float, borda), strict=True)
    )
    best = min(ranks, key=ranks.__getitem__)
    # An item whose answers are all identical has ties and no match; it counts where others have.
    by_matches = RULES[ballots.placed_by].by_matches
    played = [list(result) for result in results(ballots)] if by_matches else []
    return Score(value=value, answer=best, explanation=table, metadata={RESULTS_KEY: played})
