"""Judges planted candidates through a real Inspect eval, and hands back the ballots."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import get_model
from inspect_ai.solver import Generate, Solver, TaskState, solver

from tiebreak.scorers.ballots import STORE_KEY, ItemBallots, ballots_text, restore_ballots
from tiebreak.scorers.budget import Budget
from tiebreak.scorers.contest import Contest
from tiebreak.scorers.model_judge import ModelJudge
from tiebreak.scorers.protocols import find_protocol, judge_item
from tiebreak.scorers.rubric import load_rubric


def planted_contest(
    qualities: Mapping[str, float],
    *,
    item_id: str = "item",
    seed: int = 0,
    twins: Mapping[str, Sequence[str]] | None = None,
) -> Contest:
    """A contest whose answers give their quality away; `twins` gave the answer of another model."""
    groups = tuple((model, *(twins or {}).get(model, ())) for model in qualities)
    models = tuple(sorted(model for group in groups for model in group))
    return Contest(
        benchmark="planted",
        item_id=item_id,
        input_hash="0" * 16,
        task=f"Which is best? (item {item_id})",
        rubric_name="math_reasoning",
        rubric=load_rubric("math_reasoning"),
        seed=seed,
        models=models,
        native=dict.fromkeys(models, 1.0),
        groups=groups,
        answers={model: f"An answer. quality={quality}" for model, quality in qualities.items()},
    )


def play_all(
    contests: Sequence[Contest],
    log_dir: Path,
    *,
    protocol: str = "seal",
    settings: Mapping[str, Any] | None = None,
    judge: str = "planted/judge",
    stages: list[ItemBallots] | None = None,
    budget: Budget | None = None,
) -> list[ItemBallots]:
    """Ballots of every contest, in order; `stages` collects what was recorded on the way.

    An item that the budget has no room for gives the ballots that were recorded until then.
    """
    found = find_protocol(protocol)
    own = {**(settings or {}), **found.prepare(contests)}
    spending = budget or Budget()

    @solver
    def tournament() -> Solver:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            def record(ballots: ItemBallots) -> None:
                state.store.set(STORE_KEY, ballots_text(ballots))
                if stages is not None:
                    stages.append(ballots)

            contest = contests[int(state.sample_id)]
            record(contest.ballots(protocol, found.placed_by))
            model = get_model(judge)
            async with spending.item() as account:
                judges = ModelJudge({"judge": model, "meta_judge": model}, account)
                await judge_item(found, contest, judges, record, own)
            return state

        return solve

    samples = [Sample(id=number, input="planted") for number in range(len(contests))]
    task = Task(dataset=samples, solver=tournament(), name="tournament")
    [log] = eval(task, model="none/none", log_dir=str(log_dir), log_level="warning")
    assert log.status == "success", log.error
    return [
        restore_ballots(sample.store[STORE_KEY])
        for sample in sorted(log.samples or [], key=lambda s: int(s.id))
    ]
