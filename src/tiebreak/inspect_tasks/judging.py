"""Between Inspect and a protocol: a pool becomes samples, a solver judges them.

The solver asks and keeps the ballots in the sample's store, stage by stage; scoring is arithmetic
on what it kept. So a run that is stopped loses nothing, and scores can be computed again for free.
"""

import json
import math
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

from inspect_ai.dataset import Sample
from inspect_ai.log import transcript
from inspect_ai.model import Model, get_model, model_roles
from inspect_ai.solver import Generate, Solver, TaskState, solver

from tiebreak.candidates import (
    CandidateError,
    CandidatePool,
    Item,
    identical_groups,
    is_saturated,
)
from tiebreak.candidates import load_candidates as load
from tiebreak.prerequisite import PrerequisiteError
from tiebreak.scorers.ballots import STORE_KEY, ItemBallots
from tiebreak.scorers.contest import Contest
from tiebreak.scorers.judge import Judge
from tiebreak.scorers.ranking import ROSTER_KEY
from tiebreak.scorers.rubric import (
    Rubric,
    RubricError,
    builtin_rubrics,
    load_rubric,
    rubric_for,
)
from tiebreak.scorers.table import bracket_table

CONTEST_KEY = "contest"
NO_JUDGE = (
    "No judge: nothing says which model is to judge. Add --model-role judge=MODEL, for example\n"
    "  --model-role judge=openai/gpt-5\n"
    "and, for a meta-judge of its own, --model-role meta_judge=MODEL."
)
NO_CANDIDATES = (
    "No candidates: add -T candidates=PATH, the folder (or files, separated by commas) with the "
    "Inspect logs or lm-eval samples of the models to be ranked."
)


class ItemProtocol(Protocol):
    """How one item is judged: from a contest and a judge to ballots, recorded on the way."""

    async def __call__(
        self, contest: Contest, judge: Judge, record: Callable[[ItemBallots], None]
    ) -> ItemBallots:
        """Judge one item."""


@solver
def judge_items(protocol: ItemProtocol) -> Solver:
    """Judge each sample's contest with a protocol and keep the ballots in its store."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        contest = restore_contest(state.metadata)
        judge = Judge(judge_models())

        def record(ballots: ItemBallots) -> None:
            state.store.set(STORE_KEY, ballots.model_dump(mode="json"))

        table = bracket_table(await protocol(contest, judge, record))
        transcript().info(table, source="tiebreak")
        state.output.completion = table
        state.completed = True
        return state

    return solve


def judge_models() -> dict[str, Model]:
    """The models behind the roles `judge` and `meta_judge`.

    The judge falls back to the task's own model, the meta-judge to the judge.

    Raises:
        PrerequisiteError: there is no judge, or a role is bound to several models.
    """
    roles = model_roles()
    for role in ("judge", "meta_judge"):
        if isinstance(roles.get(role), list):
            raise PrerequisiteError(f"The role {role!r} takes one model, not a list of them.")
    judge = get_model(role="judge")
    if judge.api.model_name == "none":
        raise PrerequisiteError(NO_JUDGE)
    return {"judge": judge, "meta_judge": get_model(role="meta_judge", default=judge)}


def require_judge() -> None:
    """Refuse to build a task when an eval is under way in which nobody can judge.

    Raises:
        PrerequisiteError: neither a judge nor a model is bound. Outside of an eval nothing is
            raised: a task that is built in Python gets its roles later, from `eval()`.
    """
    try:
        judge_models()
    except ValueError:
        return


def load_pool(candidates: str | Sequence[str] | None, mode: str) -> CandidatePool:
    """The pool behind the task argument `candidates`.

    Raises:
        PrerequisiteError: no path, a mode that does not exist, or candidates that cannot be
            judged; the message says what and where.
    """
    if not candidates:
        raise PrerequisiteError(NO_CANDIDATES)
    given = candidates.split(",") if isinstance(candidates, str) else candidates
    paths = [from_working_directory(path) for path in given]
    if mode not in ("strict", "intersect"):
        raise PrerequisiteError(f"mode is {mode!r}: it must be strict or intersect.")
    try:
        return load(paths, mode="strict" if mode == "strict" else "intersect")
    except CandidateError as error:
        raise PrerequisiteError(str(error)) from error


def from_working_directory(path: str) -> str:
    """A path as the user meant it: relative to where the command was given.

    While Inspect loads a task file by path it works in that file's folder; the shell's folder is
    then only to be had from PWD.
    """
    loading_by_path = Path.cwd() == Path(__file__).resolve().parent
    return str(Path(os.environ.get("PWD", "")) / path) if loading_by_path else path


def contest_samples(
    pool: CandidatePool,
    *,
    task_type: str | None,
    rubric: str | None,
    seed: int,
    saturated_only: bool,
    merge_identical: bool,
) -> list[Sample]:
    """One sample per item: what is to be judged stands in its metadata, ready to be logged.

    Raises:
        PrerequisiteError: an unknown rubric or task type, or no saturated item.
    """
    several = len(pool.benchmarks) > 1
    roster = list(pool.models)
    samples = []
    for item, candidates in pool:
        if saturated_only and not is_saturated(candidates.values()):
            continue
        name, chosen = _rubric(rubric, task_type, item.benchmark)
        groups = (
            identical_groups(candidates) if merge_identical else tuple((m,) for m in candidates)
        )
        contest = {
            "benchmark": item.benchmark,
            "item_id": item.item_id,
            "input_hash": item.input_hash,
            "task": task_text(item),
            "rubric_name": name,
            "rubric": chosen.model_dump(mode="json"),
            "seed": seed,
            "models": sorted(candidates),
            "native": {m: _finite(candidates[m].native_score) for m in sorted(candidates)},
            "groups": [list(group) for group in groups],
            "answers": {group[0]: candidates[group[0]].answer for group in groups},
        }
        samples.append(
            Sample(
                id=sample_id(item, with_benchmark=several),
                input=item.prompt,
                target=item.target,
                metadata={CONTEST_KEY: contest, ROSTER_KEY: roster},
            )
        )
    if not samples:
        raise PrerequisiteError(
            "No item is saturated (all native scores known and equal): "
            "leave out -T saturated_only=true to judge all items."
        )
    return samples


def restore_contest(metadata: dict[str, Any]) -> Contest:
    """The contest that a sample's metadata describes; the log holds all that is needed for it."""
    stored = dict(metadata[CONTEST_KEY])
    stored["rubric"] = Rubric.model_validate(stored["rubric"])
    stored["models"] = tuple(stored["models"])
    stored["groups"] = tuple(tuple(group) for group in stored["groups"])
    return Contest(**stored)


def sample_id(item: Item, *, with_benchmark: bool) -> str:
    """Id of an item's sample: its own id; with the benchmark and the epoch where they matter."""
    epoch = f"#{item.key.epoch}" if item.key.epoch > 1 else ""
    return (f"{item.benchmark}:" if with_benchmark else "") + item.item_id + epoch


def _rubric(path: str | None, task_type: str | None, benchmark: str) -> tuple[str, Rubric]:
    """Name and content of the rubric for an item: the user's own, else by type, else guessed."""
    if path is None and task_type is not None and task_type not in builtin_rubrics():
        raise PrerequisiteError(
            f"task_type is {task_type!r}: it must be one of {', '.join(builtin_rubrics())}. "
            "A rubric file of your own goes into -T rubric=FILE."
        )
    name = from_working_directory(path) if path else task_type or rubric_for(benchmark)
    try:
        return name, load_rubric(name)
    except RubricError as error:
        raise PrerequisiteError(str(error)) from error


def _finite(score: float) -> float | None:
    return None if math.isnan(score) else score


def task_text(item: Item) -> str:
    """What judges read as the task: the question, its choices and the functions on offer."""
    parts = [item.prompt]
    if item.choices:
        letters = (chr(ord("A") + i) for i in range(len(item.choices)))
        parts.append("\n".join(f"{a}) {c}" for a, c in zip(letters, item.choices, strict=False)))
    if item.tools:
        parts.append(
            "Available functions:\n"
            + "\n".join(json.dumps(tool, ensure_ascii=False) for tool in item.tools)
        )
    return "\n\n".join(parts)
