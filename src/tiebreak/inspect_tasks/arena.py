"""Answers and verdicts in one run: contestants answer each prompt, and the judge compares them.

inspect eval tiebreak/arena -T prompts=prompts.jsonl --model-role 'contestants=[A, B]'
    --model-role judge=J

Its log is an ordinary ranking log that also contains the answers. Repeated answers and verdicts
come from Inspect's cache: another run with one more contestant pays only for what that one adds.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from logging import getLogger
from typing import Any, Final, Unpack

from inspect_ai import Task
from inspect_ai.dataset import Sample
from inspect_ai.model import Model, ModelOutput
from inspect_ai.solver import TaskState

from tiebreak.candidates import (
    ANSWERS_KEY,
    CONTEST_KEY,
    OWN_ANSWERS,
    Candidate,
    CandidatePool,
    ItemKey,
    Note,
)
from tiebreak.candidates.inspect_logs import how_asked, items_of
from tiebreak.candidates.inspect_types import LogSample
from tiebreak.candidates.prompts import BENCHMARK
from tiebreak.inspect_tasks import generate
from tiebreak.inspect_tasks.arguments import CommonArguments, of_type
from tiebreak.inspect_tasks.contests import judged_answers, restore_contest
from tiebreak.inspect_tasks.judging import Unanswered, judging_task
from tiebreak.inspect_tasks.own_protocol import load_protocol
from tiebreak.inspect_tasks.roles import (
    CONTESTANTS,
    FindRoles,
    contestants,
    judges,
    peers,
    require_readable,
)
from tiebreak.prerequisite import PrerequisiteError, task
from tiebreak.scorers.ballots import Call
from tiebreak.scorers.budget import Account
from tiebreak.scorers.catalogue import PROTOCOLS
from tiebreak.scorers.contest import Contest
from tiebreak.scorers.judge import ModelFailedError
from tiebreak.scorers.model_judge import ModelJudge, call_model
from tiebreak.scorers.protocols import Protocol, settings_of
from tiebreak.text import listed

logger = getLogger(__name__)

_OF_A_POOL: Final = (
    *("candidates", "saturated_only", "stratify", "without_key", "mode", "same_settings"),
    "canaries",
)
"""Arguments that apply only to answers from before the run."""

_KEPT: Final = {"choices", "completion", "usage"}


@task
def arena(
    prompts: str | None = None,
    name: str = BENCHMARK,
    protocol: str = "round_robin",
    **given: Unpack[CommonArguments],
) -> Task:
    """Let the models behind the role `contestants` answer prompts, and judge the answers at once.

    Args:
        prompts: a file or a dataset of prompts, as for tiebreak/prompts.
        name: name of these prompts on boards.
        protocol: how answers are judged: the name of a judging task, whose own arguments can be
            given too, or FILE.py@NAME.
    """
    how = load_protocol(protocol)
    settings = {name: value for name, value in given.items() if name in settings_of(how)}
    common: CommonArguments = {name: value for name, value in given.items() if name not in settings}  # type: ignore[assignment]
    _check(how, protocol, settings, common)
    find = _find_roles(how, settings)
    merged = bool(common.get("merge_identical", True))
    unanswered = _unanswered(generate.prompts(prompts, name), find, merge_identical=merged)
    return judging_task(how, settings, find, unanswered=unanswered, **common)


def _check(
    how: Protocol, protocol: str, settings: Mapping[str, Any], common: Mapping[str, Any]
) -> None:
    """Refuse arguments about existing answers, and a protocol that cannot judge new answers."""
    rule = how.rule
    if of_a_pool := [name for name in common if name in _OF_A_POOL]:
        raise PrerequisiteError(
            f"An arena takes no {listed(of_a_pool)}: for answers that are there judge its log by "
            f"tiebreak/{how.name} -T candidates=LOG, with all its arguments."
        )
    if not rule.asks:
        raise PrerequisiteError(
            f"{how.name} ranks by the benchmark's own score, and an arena has none: name another "
            "protocol, such as -T protocol=round_robin."
        )
    for name, wanted in settings_of(how).items() if protocol in PROTOCOLS else ():
        if name in settings:
            of_type(name, settings[name], wanted)
    names = list(contestants())
    if len(names) == 1 and not rule.judges_one:
        raise PrerequisiteError(f"{names[0]} is the only contestant: {how.name} compares several.")


def _find_roles(how: Protocol, settings: Mapping[str, Any]) -> FindRoles:
    if how.name != "peer_review":
        return judges
    require_readable(settings.get("method", ""), settings.get("degree"))
    return peers(None, settings.get("degree"))


def _unanswered(asking: Task, find: FindRoles, *, merge_identical: bool) -> Unanswered:
    """The prompts of a task as items without answers from the contestants."""
    models, prompts = contestants(), list(asking.dataset)
    items = items_of(list(map(_as_logged, prompts)), asking.name, as_it_stands=True)
    roles = find(list(models))
    judging = set() if roles.reviewers else set(map(str, roles.models.values()))
    both = judging & set(map(str, models.values()))
    notes = tuple(Note("own_answers", name, OWN_ANSWERS) for name in sorted(both))
    for note in notes:
        logger.warning("%s", note)
    configs = {name: model.config.model_dump(exclude_none=True) for name, model in models.items()}
    return Unanswered(
        CandidatePool(
            tuple(items),
            {item.key: {name: Candidate(item.key, name, "") for name in models} for item in items},
            notes,
            {(asking.name, name): how_asked(config) for name, config in configs.items()},
        ),
        configs,
        {ANSWERS_KEY: list(models), **(asking.metadata or {})},
        partial(_with_contests, prompts),
        partial(_answered, merge_identical),
    )


def _as_logged(sample: Sample) -> LogSample:
    """A sample in the form that it will have in its log."""
    fields = sample.model_dump(
        mode="json", include={"id", "input", "choices", "target", "metadata"}, exclude_none=True
    )
    return LogSample.model_validate({**fields, "epoch": 1, "files": list(sample.files or ())})


def _with_contests(prompts: Sequence[Sample], contests: Sequence[Sample]) -> list[Sample]:
    """The original prompts with their contests, still without answers, in the metadata."""
    samples = []
    for prompt, judged in zip(prompts, contests, strict=True):
        metadata = judged.metadata or {}
        contest = {**metadata[CONTEST_KEY], "groups": [], "answers": {}}
        metadata = {**(prompt.metadata or {}), **metadata, CONTEST_KEY: contest}
        samples.append(prompt.model_copy(update={"id": judged.id, "metadata": metadata}))
    return samples


async def _answered(
    merge_identical: bool, state: TaskState, contest: Contest, account: Account
) -> Contest:
    """Ask all contestants; return the contest with their answers, which the log keeps.

    Raises:
        ModelFailedError: contestants failed; the message says which and why. All have been asked.
        BudgetSpentError: a contestant was refused its call; the others have been asked.
    """
    replies: dict[str, ModelOutput] = {}
    failed: dict[str, ModelFailedError] = {}
    judge = ModelJudge({})
    scopes = {"epoch": str(state.epoch)} if state.epoch > 1 else {}

    async def ask(name: str, model: Model) -> None:
        async with judge.section(name, "contestant"):
            try:
                async with account() as paid:
                    reply, cached = await call_model(model, list(state.messages), None, scopes)
                    cost = reply.usage.total_cost if reply.usage else None
                    bill: dict[str, Any] = {"model": str(model), "cached": cached, "cost": cost}
                    paid(Call(kind="answer", role=CONTESTANTS, **bill))
                if not reply.choices:
                    raise ModelFailedError(f"{name}: an empty reply")
                replies[name] = reply
            except ModelFailedError as error:
                failed[name] = error

    try:
        await judge.side_by_side([partial(ask, *bound) for bound in contestants().items()])
    finally:
        state.metadata[ANSWERS_KEY] = {
            name: reply.model_dump(mode="json", include=_KEPT, exclude_none=True)
            for name, reply in replies.items()
        } | {name: {"error": str(error)} for name, error in failed.items()}
    if failed:
        raise ModelFailedError(
            f"No answer: {'; '.join(map(str, failed.values()))}. Ask again, or leave it out of the "
            "contestants: the other answers are in the cache",
            look_at=next((error.look_at for error in failed.values() if error.look_at), ""),
        )
    key = ItemKey(contest.benchmark, contest.item_id)
    candidates = {name: Candidate(key, name, replies[name].completion) for name in contest.models}
    state.metadata[CONTEST_KEY] |= judged_answers(candidates, merge_identical=merge_identical)
    return restore_contest(state.metadata, state.input)
