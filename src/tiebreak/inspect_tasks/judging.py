"""Between Inspect and a protocol: a solver judges samples, and a task is built around it.

The solver asks and keeps the ballots in the sample's store; scoring is arithmetic on these. So an
interrupted run loses nothing, and scores can be recomputed for free.
"""

import gc
import hashlib
import json
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from logging import getLogger
from typing import Any, NamedTuple, Unpack

from inspect_ai import Task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import HeadlineMetric, transcript
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.viewer import SampleScoreView, SampleScoreViewSort, TaskSamplesView, ViewerConfig

import tiebreak
from tiebreak.candidates import (
    ANSWERS_KEY,
    CANARIES_KEY,
    CONTEST_KEY,
    PROMPTS_KEY,
    PROTOCOL_KEY,
    RUN_KEY,
    SHARD_KEY,
    CandidatePool,
    Shard,
)
from tiebreak.inspect_tasks.arguments import CommonArguments, checked
from tiebreak.inspect_tasks.contests import contest_samples, load_pools, models_of, restore_contest
from tiebreak.inspect_tasks.own_protocol import check_settings
from tiebreak.inspect_tasks.planting import planted, settings_for
from tiebreak.inspect_tasks.roles import FindRoles, Roles, as_jury, judges, require_roles
from tiebreak.inspect_tasks.settling import Attempt, Settling, drawn
from tiebreak.prerequisite import PrerequisiteError
from tiebreak.scorers.ballots import STORE_KEY, ItemBallots, ballots_text
from tiebreak.scorers.budget import Account, Budget, BudgetSpentError, UnknownPriceError
from tiebreak.scorers.contest import Contest
from tiebreak.scorers.judge import ModelFailedError
from tiebreak.scorers.model_judge import ModelJudge
from tiebreak.scorers.probation import Probation
from tiebreak.scorers.prompt import fingerprint
from tiebreak.scorers.protocols import Protocol, judge_item, nothing_shared
from tiebreak.scorers.ranking import ballots_table, ranking
from tiebreak.scorers.session import Record

logger = getLogger(__name__)

HOW_TO_GO_ON = (
    "%s: no further call is made. Items that were judged to the end are ranked. To go on, run the "
    "same command again, as it is or with more to spend: what is paid for comes from the cache."
)

STOPPED = "{}; nothing more is asked of it. Look at {}, and give the same command again"

# Arguments that do not affect the results, or enter the run's fingerprint in another form.
_WHERE = (
    *("candidates", "rubric", "task_type", "mode", "same_settings", "shard", "max_calls"),
    *("max_cost", "canaries", "media", "without_key"),
)
# Arguments that determine the items and how they are judged.
_OF_ITEMS = ("task_type", "rubric", "seed", "saturated_only", "merge_identical")


Complete = Callable[[Contest, Account], Awaitable[Contest]]
"""Adds missing answers to a contest; `Account` is what may be spent on them."""
CompleteIn = Callable[[TaskState, Contest, Account], Awaitable[Contest]]


class Unanswered(NamedTuple):
    """Items whose models answer during the run.

    `pool` holds them with an empty answer by each model; `prepare` turns samples for a judge into
    samples that a model can be asked, and `complete` adds the answers to a contest. `models` maps
    the models to their configurations; `metadata` is for the log.
    """

    pool: CandidatePool
    models: Mapping[str, Any]
    metadata: Mapping[str, Any]
    prepare: Callable[[list[Sample]], list[Sample]]
    complete: CompleteIn


def judging_task(
    protocol: Protocol,
    settings: Mapping[str, Any],
    roles: FindRoles = judges,
    *,
    only_canaries: bool = False,
    unanswered: Unanswered | None = None,
    **given: Unpack[CommonArguments],
) -> Task:
    """A task that judges the items of a pool with a protocol, or only canaries planted among them.

    `settings` are the protocol's own arguments; `roles` finds the judges. The pool comes from the
    argument `candidates`, or is `unanswered`.

    Raises:
        PrerequisiteError: an argument is invalid; the message says which and why.
    """
    # The only upward import: the verdict at the end of a run needs the rooms that compute it.
    from tiebreak.publish.write_back.verdict import watch_runs

    common, rule = checked(given, settings), protocol.rule
    watch_runs()
    # With a pool and all of Inspect in memory, garbage collection after every 700 new objects
    # (Python's default) would take a fifth of a run.
    gc.set_threshold(max(50_000, gc.get_threshold()[0]), 20, 100)
    if protocol.keyed:
        require_no_rubric(protocol, common["task_type"], common["rubric"])
    if common["canaries"] and not rule.asks:
        raise PrerequisiteError(f"{protocol.name} asks no judge: leave canaries out.")
    pools = (unanswered.pool,) if unanswered else load_pools(common, protocol)
    models = models_of(pools)
    roles = as_jury(roles, common["jury"], common["quorum"], rule)
    bound = None
    if rule.asks:
        bound = require_roles(roles, models, priced=common["max_cost"] is not None)
    samples = contest_samples(
        *pools,
        **{name: common[name] for name in _OF_ITEMS},  # type: ignore[literal-required]
        keyed=protocol.keyed,
        stratified=common["stratify"] == "auto",
        # Without a judge nobody reads the task, so its media need not be refused.
        media=common["media"] if rule.asks else "mark",
    )
    if unanswered:
        samples = unanswered.prepare(samples)
    # Contests are restored when they are judged; only shared state needs all of them earlier.
    shared: Mapping[str, Any] = {}
    if protocol.prepare is not nothing_shared:
        shared = protocol.prepare([restore_contest(sample.metadata or {}) for sample in samples])
    check_settings(protocol, {**settings, **shared}, models)
    answering = {ANSWERS_KEY: unanswered.models} if unanswered else {}
    identify = partial(
        run_id, protocol, {**settings, **answering}, common, samples, lambda: roles(models)
    )
    run = identify()
    budget = Budget(common["max_calls"], common["max_cost"])
    settling = None
    if common["settle"]:
        settling = Settling(models, samples, common)
        samples = drawn(samples, common["seed"])
    attempt = None
    if rule.asks:
        # The judges are unknown outside of an eval, so the run is identified when the eval begins.
        part = "canaries" if only_canaries else common["shard"] or "whole"
        attempt = Attempt(budget, lambda: f"{identify()}-{part.replace('/', '-of-')}", settling)
        attempt.check()
    samples, canaries = _items_of_shard(samples, common, only_canaries)
    solver = judge_items(
        protocol,
        {**settings, **shared},
        budget,
        common["repeat"],
        settling,
        attempt,
        lambda: roles(models),
        unanswered.complete if unanswered else as_it_is,
    )
    return Task(
        dataset=MemoryDataset(
            [*samples, *canaries],
            name=", ".join(dict.fromkeys(name for pool in pools for name in pool.benchmarks)),
        ),
        solver=solver,
        scorer=ranking(),
        # Without a model Inspect would limit concurrent items by a model that is never called, and
        # model options on the command line would reach no judge.
        model=bound.task_model if bound else None,
        name=protocol.name,
        headline_metric=HeadlineMetric(metric="spread"),
        early_stopping=attempt or settling,
        metadata=_log_metadata(protocol, pools, common, run)
        | (dict(unanswered.metadata) if unanswered else {})
        | ({CANARIES_KEY: [sample.id for sample in canaries]} if canaries else {}),
        viewer=viewer(models),
        # A failed item does not end the run, but a run that lacks items does not count as a
        # success: `inspect eval-retry` then judges the missing ones.
        fail_on_error=True,
        continue_on_fail=True,
    )


def _items_of_shard(
    samples: list[Sample], common: CommonArguments, only_canaries: bool
) -> tuple[list[Sample], list[Sample]]:
    """The items that this run or shard judges, and the canaries planted among them."""
    canaries = planted(samples, common["canaries"], common["seed"])
    if only_canaries:
        samples = []
    elif common["shard"] is not None:
        shard = Shard.parse(common["shard"])
        if shard.total > len(samples):
            raise PrerequisiteError(
                f"shard is {shard}: there are only {len(samples)} items, so at most as many shards."
            )
        samples, canaries = shard.part_of(samples), shard.part_of(canaries)
    return samples, [sample for pair in canaries for sample in pair]


def require_no_rubric(protocol: Protocol, task_type: str | None, rubric: str | None) -> None:
    """Refuse a rubric if answers are judged by the key, because it would be ignored."""
    if task_type or rubric:
        given = f"task_type={task_type}" if task_type else f"rubric={rubric}"
        raise PrerequisiteError(
            f"{protocol.name} judges by the key of an item and reads no rubric: leave out {given}."
        )


async def as_it_is(state: TaskState, contest: Contest, account: Account) -> Contest:
    """The default `complete`: the contest has its answers already."""
    return contest


@solver
def judge_items(
    protocol: Protocol,
    settings: Mapping[str, Any],
    budget: Budget,
    repeat: int,
    settling: Settling | None,
    attempt: Attempt | None,
    roles: Callable[[], Roles],
    complete: CompleteIn = as_it_is,
) -> Solver:
    """Judge each sample's contest with a protocol, and keep the ballots in its store."""
    run = _Run(protocol, settings, budget, repeat, settling, attempt, roles)

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        latest: ItemBallots | None = None

        def record(ballots: ItemBallots) -> None:
            nonlocal latest
            latest = ballots

        if settling is not None:
            await settling.earlier_items_done(state.sample_id)
        try:
            contest = restore_contest(state.metadata, state.input)
            ballots = await run.judge(contest, record, partial(complete, state))
        except Exception:
            if settling is not None:
                settling.judged(state.sample_id, {})
            raise
        finally:
            # Stored only here because Inspect copies and compares the whole store at every span. If
            # the process is killed, the replies are still in the cache.
            if latest is not None:
                state.store.set(STORE_KEY, ballots_text(latest))
        table = ballots_table(ballots)
        transcript().info(table, source="tiebreak")
        state.output.completion = table
        state.completed = True
        return state

    return solve


@dataclass
class _Run:
    """State that the items of a run share."""

    protocol: Protocol
    settings: Mapping[str, Any]
    budget: Budget
    repeat: int
    settling: Settling | None
    attempt: Attempt | None
    roles: Callable[[], Roles]
    probation: dict[str, Probation] = field(default_factory=dict)
    warned: bool = False

    async def judge(self, contest: Contest, record: Record, complete: Complete) -> ItemBallots:
        """Judge an item, unless the ranking is settled without it."""
        empty = contest.ballots(self.protocol.name, self.protocol.placed_by)
        record(empty)
        ballots = await self._judged(contest, record, complete)
        if ballots is None:
            assert self.settling is not None
            ballots = empty.model_copy(update={"skipped": self.settling.decided})
            record(ballots)
        return ballots

    async def _judged(
        self, contest: Contest, record: Record, complete: Complete
    ) -> ItemBallots | None:
        settled = self._settled if contest.canary is None else lambda: False
        if settled():
            return None
        rule = self.protocol.rule
        if not rule.asks or (len(contest.answers) == 1 and not rule.judges_one):
            # Without calls there is no need to wait for the budget.
            return await judge_item(self.protocol, contest, ModelJudge({}), record, self.settings)
        roles = self.roles()
        try:
            async with self.budget.item() as account:
                if settled():  # decided while the item waited
                    return None
                judge = ModelJudge(
                    roles.models,
                    account,
                    self.repeat,
                    roles.reviewers,
                    roles.jury,
                    self._on_probation(roles, contest.n_items),
                )
                return await self._asked(await complete(contest, account), judge, record)
        except ModelFailedError as error:
            raise self._stopped(error) from error
        except UnknownPriceError as error:
            raise PrerequisiteError(str(error)) from error
        except BudgetSpentError as error:
            if not self.warned:
                logger.warning(HOW_TO_GO_ON, error.message)
            self.warned = True
            raise

    async def _asked(self, contest: Contest, judge: ModelJudge, record: Record) -> ItemBallots:
        latest = contest.ballots(self.protocol.name, self.protocol.placed_by)

        def note(ballots: ItemBallots) -> None:
            nonlocal latest
            latest = ballots
            record(ballots)

        settings = self.settings
        if contest.canary:
            settings = settings_for(self.protocol.name, settings)
        try:
            return await judge_item(self.protocol, contest, judge, note, settings)
        except BaseException:  # also when the run is cancelled
            # Record calls of unfinished matches too: they were paid for.
            record(latest.model_copy(update={"calls": tuple(judge.calls)}))
            raise

    def _stopped(self, error: ModelFailedError) -> ModelFailedError:
        """The error for every item, once a judge is unusable."""
        if self.attempt is None:
            return error
        if error.look_at and self.attempt.stopped is None:
            self.attempt.stopped = STOPPED.format(error, error.look_at)
        return ModelFailedError(self.attempt.stopped or str(error))

    def _on_probation(self, roles: Roles, n_items: int) -> Mapping[str, Probation]:
        """The probation of each model by its role or name; a model with several roles has one."""
        if not self.probation:
            # Keyed by id, not name: two judges may be the same model in two configurations.
            models = {id(model): Probation(str(model), n_items) for model in roles.models.values()}
            self.probation = {name: models[id(model)] for name, model in roles.models.items()}
        return self.probation

    def _settled(self) -> bool:
        return self.settling is not None and self.settling.decided is not None


def run_id(
    protocol: Protocol,
    settings: Mapping[str, Any],
    common: CommonArguments,
    samples: Sequence[Sample],
    roles: Callable[[], Roles],
) -> str:
    """Fingerprint of items, judges and settings, which all shards of a run share."""
    try:
        judges_by_role = {name: str(model) for name, model in roles().models.items()}
    except (ValueError, PrerequisiteError):
        judges_by_role = {}  # outside of an eval, or if no judge is asked
    how = {name: value for name, value in common.items() if name not in _WHERE}
    # A rubric counts by its content, because its path may differ on another machine.
    contests = [{**(sample.metadata or {})[CONTEST_KEY], "rubric_name": ""} for sample in samples]
    parts = [protocol.name, dict(settings), how, judges_by_role, *contests]
    digest = hashlib.sha256()
    for part in parts:
        digest.update(json.dumps(part, sort_keys=True).encode())
    return digest.hexdigest()[:16]


def _log_metadata(
    protocol: Protocol, pools: Sequence[CandidatePool], common: CommonArguments, run: str
) -> dict[str, Any]:
    """Metadata of a ranking log: protocol, version, seed, and how the answers were obtained.

    `PROTOCOL_KEY` distinguishes ranking logs from candidates' logs.
    """
    settings: dict[str, dict[str, Mapping[str, str]]] = defaultdict(dict)
    for (benchmark, model), asked in chain(*(pool.settings.items() for pool in pools)):
        settings[benchmark][model] = asked
    sources = sorted({c.source for pool in pools for _, row in pool for c in row.values()} - {""})
    return {
        PROTOCOL_KEY: protocol.name,
        "tiebreak_version": tiebreak.__version__,
        "seed": common["seed"],
        RUN_KEY: run,
        PROMPTS_KEY: fingerprint(keyed=protocol.keyed),
        **({} if common["shard"] is None else {SHARD_KEY: common["shard"]}),
        "candidate_sources": sources,
        "candidate_notes": [str(note) for pool in pools for note in pool.notes],
        "candidate_settings": settings,
    }


def viewer(models: Sequence[str]) -> ViewerConfig:
    """Inspect View: one coloured column per model, best score first in a sample."""
    return ViewerConfig(
        sample_score_view=SampleScoreView(
            default="grid", sort=SampleScoreViewSort(column="value", dir="desc")
        ),
        task_samples_view=TaskSamplesView(
            name="ranking",
            compact_scores=False,  # compact columns have room for one decimal
            score_color_scales=dict.fromkeys(models, "good-high"),
            color_scales_enabled=True,
        ),
    )
