"""Between Inspect and a protocol: a solver judges samples, and a task is built around it.

The solver asks and keeps the ballots in the sample's store, stage by stage; scoring is arithmetic
on what it kept. So a run that is stopped loses nothing, and scores can be computed again for free.
"""

import difflib
import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, TypedDict, Unpack

from inspect_ai import Task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import HeadlineMetric, transcript
from inspect_ai.model import Model, get_model, model_roles
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.viewer import SampleScoreView, SampleScoreViewSort, TaskSamplesView, ViewerConfig

import tiebreak
from tiebreak.candidates import PROTOCOL_KEY, RUN_KEY, SHARD_KEY, CandidatePool, Shard
from tiebreak.inspect_tasks.contests import (
    CONTEST_KEY,
    contest_samples,
    load_pool,
    restore_contest,
)
from tiebreak.inspect_tasks.settling import Settling
from tiebreak.prerequisite import PrerequisiteError
from tiebreak.scorers.ballots import STORE_KEY, ItemBallots
from tiebreak.scorers.budget import Budget, UnknownPriceError
from tiebreak.scorers.model_judge import ModelJudge
from tiebreak.scorers.protocols import Protocol, judge_item
from tiebreak.scorers.ranking import ranking
from tiebreak.scorers.table import ballots_table

NO_JUDGE = (
    "No judge: nothing says which model is to judge. Add --model-role judge=MODEL, for example\n"
    "  --model-role judge=openai/gpt-5\n"
    "and, for a meta-judge of its own, --model-role meta_judge=MODEL."
)


class Common(TypedDict, total=False):
    """Arguments of every judging task.

    candidates: Folder or files with the candidates' logs, several separated by commas.
    task_type: Rubric by task type: code_generation, math_reasoning, general_qa or tool_calling.
        Guessed from the benchmark's name when not given, else general_qa.
    rubric: Path of a rubric file of your own; goes before `task_type`.
    saturated_only: Judge only items whose native scores are all equal.
    seed: Seed of every random draw.
    merge_identical: Judge identical answers once; they share their rank.
    mode: strict (any hole is an error) or intersect (keep items that all models answered).
    shard: "k/n": judge every n-th item, from the k-th on; read n such logs as one run.
    repeat: Runs with another number get fresh replies, not those in the cache.
    settle: Stop when the ranking is decided (true), or its first k places (k).
    settle_error: Probability of a wrong decision that `settle` may have.
    max_calls: Stop before more judge calls than this are paid for.
    max_cost: Stop before more US dollars than this are spent.
    """

    candidates: str | list[str] | None
    task_type: str | None
    rubric: str | None
    saturated_only: bool
    seed: int
    merge_identical: bool
    mode: str
    shard: str | None
    repeat: int
    settle: bool | int
    settle_error: float
    max_calls: int | None
    max_cost: float | None


# Arguments that do not change what a run finds, or that its fingerprint holds in another form.
_WHERE = ("candidates", "rubric", "task_type", "mode", "shard", "max_calls", "max_cost")

DEFAULTS: Common = {
    "candidates": None,
    "task_type": None,
    "rubric": None,
    "saturated_only": False,
    "seed": 0,
    "merge_identical": True,
    "mode": "strict",
    "shard": None,
    "repeat": 1,
    "settle": False,
    "settle_error": 0.05,
    "max_calls": None,
    "max_cost": None,
}


def judging_task(protocol: Protocol, settings: Mapping[str, Any], **given: Unpack[Common]) -> Task:
    """A task that judges the items of a pool with a protocol.

    Args:
        protocol: how an item is judged.
        settings: the protocol's own arguments.
        given: see `Common`.

    Raises:
        PrerequisiteError: an argument that cannot be used; the message says which and why.
    """
    common = checked(given)
    if protocol.placed_by != "native":
        require_judge()
    pool = load_pool(common["candidates"], common["mode"])
    samples = contest_samples(
        pool,
        task_type=common["task_type"],
        rubric=common["rubric"],
        seed=common["seed"],
        saturated_only=common["saturated_only"],
        merge_identical=common["merge_identical"],
    )
    run = run_id(protocol, settings, common, samples)
    shared = protocol.prepare([restore_contest(sample.metadata or {}) for sample in samples])
    settling = None
    if common["settle"]:
        settling = Settling(pool.models, samples, common["settle"], common["settle_error"])
        samples = settling.drawn(common["seed"])
    if common["shard"] is not None:
        samples = _part(samples, Shard.parse(common["shard"]))
    return Task(
        dataset=MemoryDataset(samples, name=", ".join(pool.benchmarks)),
        solver=judge_items(
            protocol,
            {**settings, **shared},
            Budget(common["max_calls"], common["max_cost"]),
            common["repeat"],
            settling,
        ),
        scorer=ranking(),
        name=protocol.name,
        headline_metric=HeadlineMetric(metric="spread"),
        metadata=log_metadata(protocol.name, pool, common["seed"], run, common["shard"]),
        viewer=viewer(pool),
        # One bad item never ends the run, but a run that lacks items is not called a success:
        # `inspect eval-retry` then judges what is missing.
        fail_on_error=True,
        continue_on_fail=True,
    )


@solver
def judge_items(
    protocol: Protocol,
    settings: Mapping[str, Any],
    budget: Budget | None = None,
    repeat: int = 1,
    settling: Settling | None = None,
) -> Solver:
    """Judge each sample's contest with a protocol and keep the ballots in its store."""
    spending = budget or Budget()

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        def record(ballots: ItemBallots) -> None:
            state.store.set(STORE_KEY, ballots.model_dump(mode="json"))

        contest = restore_contest(state.metadata)
        if settling is not None and settling.decided is not None:
            empty = contest.ballots(protocol.name, protocol.placed_by)
            ballots = empty.model_copy(update={"skipped": settling.decided})
            record(ballots)
        else:
            models = judge_models() if protocol.placed_by != "native" else {}
            try:
                async with spending.item() as account:
                    judge = ModelJudge(models, account, repeat)
                    ballots = await judge_item(protocol, contest, judge, record, settings)
            except UnknownPriceError as error:
                raise PrerequisiteError(str(error)) from error
            if settling is not None:
                settling.judged(state.sample_id, ballots)
        table = ballots_table(ballots)
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


def checked(given: Common) -> Common:
    """The arguments of every judging task, with defaults, once they can be used.

    Raises:
        PrerequisiteError: an argument that does not exist, or a value that it cannot have.
    """
    for name in given:
        if name not in DEFAULTS:
            near = difflib.get_close_matches(name, DEFAULTS, n=1)
            hint = f" Did you mean {near[0]}?" if near else ""
            raise PrerequisiteError(f"There is no argument {name!r} (-T {name}=…).{hint}")
    common: Common = {**DEFAULTS, **given}
    # Arguments of the command line come as whatever YAML makes of them.
    whole("seed", common["seed"])
    whole("repeat", common["repeat"], 1)
    if common["max_calls"] is not None:
        whole("max_calls", common["max_calls"], 1)
    cost, error = common["max_cost"], common["settle_error"]
    if cost is not None and not (_number(cost) and cost > 0):
        raise PrerequisiteError(f"max_cost is {cost!r}: it must be a number of dollars above 0.")
    if not (_number(error) and 0 < error < 1):
        raise PrerequisiteError(f"settle_error is {error!r}: it must be between 0 and 1.")
    if not isinstance(common["settle"], bool):
        whole("settle", common["settle"], 1)
    if common["shard"] is not None:
        if common["settle"]:
            raise PrerequisiteError(
                "settle and shard do not go together: a shard cannot know what the others saw."
            )
        try:
            Shard.parse(common["shard"])
        except ValueError as problem:
            raise PrerequisiteError(f"{problem}.") from problem
    return common


def whole(name: str, value: object, lowest: int | None = None) -> None:
    """Refuse what is no whole number, or too small.

    Raises:
        PrerequisiteError: says which argument, and what it must be.
    """
    fits = isinstance(value, int) and not isinstance(value, bool)
    if not fits or (lowest is not None and int(str(value)) < lowest):
        least = "" if lowest is None else f" of at least {lowest}"
        raise PrerequisiteError(f"{name} is {value!r}: it must be a whole number{least}.")


def run_id(
    protocol: Protocol, settings: Mapping[str, Any], common: Common, samples: Sequence[Sample]
) -> str:
    """Fingerprint of what is judged, by whom and how: the shards of a run have it in common."""
    try:
        judges = {role: str(model) for role, model in judge_models().items()}
    except (ValueError, PrerequisiteError):
        judges = {}  # outside of an eval, and where nobody is asked
    how = {name: value for name, value in common.items() if name not in _WHERE}
    # A rubric counts by its content: on another machine its path may be another.
    contests = [{**(sample.metadata or {})[CONTEST_KEY], "rubric_name": ""} for sample in samples]
    parts = [protocol.name, dict(settings), how, judges, *contests]
    digest = hashlib.sha256()
    for part in parts:
        digest.update(json.dumps(part, sort_keys=True).encode())
    return digest.hexdigest()[:16]


def log_metadata(
    protocol: str, pool: CandidatePool, seed: int, run: str, shard: str | None
) -> dict[str, Any]:
    """What a ranking log says about itself: protocol, version, seed, and where answers came from.

    `PROTOCOL_KEY` is how ranking logs are told from candidates' logs.
    """
    sources = sorted({c.source for _, row in pool for c in row.values()})
    return {
        PROTOCOL_KEY: protocol,
        "tiebreak_version": tiebreak.__version__,
        "seed": seed,
        RUN_KEY: run,
        **({} if shard is None else {SHARD_KEY: shard}),
        "candidate_sources": sources,
        "candidate_notes": [str(note) for note in pool.notes],
    }


def viewer(pool: CandidatePool) -> ViewerConfig:
    """Inspect View: one coloured column per model, best score first in a sample."""
    return ViewerConfig(
        sample_score_view=SampleScoreView(
            default="grid", sort=SampleScoreViewSort(column="value", dir="desc")
        ),
        task_samples_view=TaskSamplesView(
            name="ranking",
            compact_scores=True,
            score_color_scales=dict.fromkeys(pool.models, "good-high"),
            color_scales_enabled=True,
        ),
    )


def _part(samples: list[Sample], shard: Shard) -> list[Sample]:
    if shard.total > len(samples):
        raise PrerequisiteError(
            f"shard is {shard}: there are only {len(samples)} items, so at most as many shards."
        )
    return shard.part_of(samples)


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
