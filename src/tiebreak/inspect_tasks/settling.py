"""Stop judging once the ranking is decided: the sequential test between the samples of a run.

Items are judged in an order drawn by lot. The test uses them in that order, not in the order in
which they finish: the cause of an early finish could also make an item easy.

Inspect tells an early stopping manager when an attempt begins and ends. At these points the attempt
also locks its run, connects the budget to its ledger, and lets the ledger know that nothing is left
to retry: `Attempt` is the manager, and passes every event on to `Settling`.
"""

import math
import random
from collections.abc import Callable, Mapping, Sequence
from logging import getLogger
from typing import Final

import anyio
import click
from filelock import FileLock
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalSpec
from inspect_ai.scorer import SampleScore
from inspect_ai.util import EarlyStop
from pydantic import JsonValue

from tiebreak.candidates import CONTEST_KEY
from tiebreak.inspect_tasks.arguments import CommonArguments
from tiebreak.prerequisite import PrerequisiteError
from tiebreak.rankers.settlement import RankingTest
from tiebreak.scorers.ballots import Skipped
from tiebreak.scorers.budget import Budget, Ledger
from tiebreak.scorers.ranking import exact_values

logger = getLogger(__name__)

GOES_ON = "Earlier attempts at this run paid for %s: they count against its budget."
_UNDER_WAY: Final = "These items are being judged already, by another process or task"
AT_ONCE = (
    f"{_UNDER_WAY}: what both ask may be paid for twice. Wait for its end, or share the items: "
    "-T shard=1/2 and -T shard=2/2."
)
ONE_BUDGET = (
    f"{_UNDER_WAY}, and one budget cannot hold for both: wait for its end, or share the items, "
    "-T shard=1/2 and -T shard=2/2; each shard has a budget of its own, so divide yours."
)

_POLL: Final = 0.01
_PATIENCE: Final = 5.0
"""Seconds to wait for an item that an earlier attempt should have judged."""


def drawn(samples: Sequence[Sample], seed: int) -> list[Sample]:
    """Return the samples in an order drawn by lot."""
    order = list(samples)
    random.Random(f"settle {seed}").shuffle(order)
    return order


class Settling:
    """Decides during a run whether its ranking is settled.

    It is an early stopping manager of Inspect because those are told of every completed sample,
    including those that a retry takes over from an earlier attempt. It stops no sample itself: a
    skipped item stays a sample, and its log says why.

    Of the task's arguments `settle` is True for the whole ranking, k for its first k places;
    `settle_error` is the probability of a wrong decision, and `settle_for` says for which items, as
    in `RankingTest`.

    Raises:
        PrerequisiteError: there are not more than k models, or several benchmarks, each of which
            has its own ranking.
    """

    def __init__(
        self, models: Sequence[str], samples: Sequence[Sample], common: CommonArguments
    ) -> None:
        top = None if common["settle"] is True else common["settle"]
        if top is not None and top >= len(models):
            raise PrerequisiteError(
                f"settle is {top}: there are {len(models)} models, so at most "
                f"{len(models) - 1} places can be told from the rest; -T settle=true decides all."
            )
        benchmarks = {(sample.metadata or {})[CONTEST_KEY]["benchmark"] for sample in samples}
        if len(benchmarks) > 1:
            raise PrerequisiteError(
                "settle decides one ranking, and these candidates hold several benchmarks: "
                f"{', '.join(sorted(benchmarks))}. Run one benchmark at a time."
            )
        self._models = tuple(models)
        self._top, self._error = top, common["settle_error"]
        self._settle_for = common["settle_for"]
        self._begin(samples)

    def _begin(self, samples: Sequence[Sample]) -> None:
        samples = [
            sample for sample in samples if not (sample.metadata or {})[CONTEST_KEY].get("canary")
        ]
        total = len(samples)
        self.decided: Skipped | None = None
        self._test = RankingTest(
            len(self._models),
            total,
            settle_for=self._settle_for,
            error=self._error,
            top_k=self._top,
        )
        self._turns = {sample.id: number for number, sample in enumerate(samples)}
        self._scores: dict[int, list[float]] = {}
        self._begun: set[int] = set()
        self._known = self._next = 0

    async def start_task(self, task: EvalSpec, samples: list[Sample], epochs: int) -> str:
        """Inspect begins an attempt at the run, with these samples in this order."""
        self._begin(samples)
        return "tiebreak"

    async def schedule_sample(self, id: str | int, epoch: int) -> None:
        """Inspect may start the sample; whether it needs judging is decided later."""
        if id in self._turns:
            self._begun.add(self._turns[id])

    async def earlier_items_done(self, sample_id: str | int) -> None:
        """Wait until every item before this one has been judged or has begun.

        A retry starts new items while it still takes over those of earlier attempts. Without
        waiting it would judge items that an uninterrupted attempt skips.
        """
        turn, waited = self._turns.get(sample_id, 0), 0.0
        while self.decided is None and (missing := self._first_missing()) < turn:
            await anyio.sleep(_POLL)
            waited = waited + _POLL if missing == self._first_missing() else 0.0
            if waited >= _PATIENCE:
                self._begun.add(missing)

    def _first_missing(self) -> int:
        while self._known in self._scores or self._known in self._begun:
            self._known += 1
        return self._known

    async def complete_sample(
        self, id: str | int, epoch: int, scores: Mapping[str, SampleScore]
    ) -> None:
        """Record the scores of a completed sample."""
        values = [exact_values(score.score) for score in scores.values()]
        self.judged(id, next(filter(None, values), {}))

    async def complete_task(self) -> dict[str, JsonValue]:
        """Return the decision for the log's header."""
        return {"settled": self.decided.model_dump() if self.decided else None}

    def judged(self, sample_id: str | int, scores: Mapping[str, object]) -> None:
        """Record an item's scores; an item that could not be judged has none."""
        if sample_id not in self._turns:  # e.g. a canary
            return
        values = [scores.get(model) for model in self._models]
        row = [float(value) if isinstance(value, int | float) else math.nan for value in values]
        self._scores.setdefault(self._turns[sample_id], row)
        while self.decided is None and self._next in self._scores:
            self._test.update(self._scores[self._next])
            self._next += 1
            if self._test.settled:
                self.decided = Skipped(
                    after=self._next,
                    of=len(self._turns),
                    error=self._error,
                    top=self._top,
                    settle_for=self._settle_for,
                )


class Attempt:
    """The early stopping manager of an attempt at a run, of which only one runs at a time.

    It starts no sample once the judge is unusable; `stopped` then says why. It connects the budget
    to its ledger; without a limit a concurrent attempt causes only a warning. `run` returns the id
    of the run, once its judges are known. `settling`, which may end the run early, receives all
    events.
    """

    def __init__(self, budget: Budget, run: Callable[[], str], settling: Settling | None) -> None:
        self._budget = budget
        self._run = run
        self._settling = settling
        self._lock: FileLock | None = None
        self._ledger: Ledger | None = None
        self._left = 0
        self.stopped: str | None = None

    def check(self) -> None:
        """Refuse a budget that another attempt is spending, before there is a log.

        A command that runs its tasks at once keeps the lock until then.

        Raises:
            PrerequisiteError: as in `start_task`.
        """
        if self._budget.limited:
            self._begin()
            command = click.get_current_context(silent=True)
            if command is None or command.command.name not in ("eval", "eval-retry"):
                self._unlock()

    async def start_task(self, task: EvalSpec, samples: list[Sample], epochs: int) -> str:
        """Inspect begins an attempt.

        Raises:
            PrerequisiteError: there is a budget, and another attempt is in progress or the spending
                cannot be recorded.
        """
        self._left, self.stopped = len(samples) * epochs, None
        if self._lock is None or not self._lock.is_locked:
            self._begin()
        if self._ledger is not None and self._budget.paid.calls:
            logger.warning(GOES_ON, self._budget.paid)
        if self._settling is not None:
            await self._settling.start_task(task, samples, epochs)
        return "tiebreak"

    def _begin(self) -> None:
        ledger, limited = Ledger(self._run()), self._budget.limited
        try:
            self._lock = ledger.lock()
            if self._lock is None and limited:
                raise PrerequisiteError(ONE_BUDGET)
            if limited:
                self._ledger = ledger
                self._budget.begin_attempt(ledger)
        except OSError as error:
            if limited:
                raise PrerequisiteError(
                    "What a run with a budget spends is noted beside Inspect's cache, and that "
                    f"cannot be done: {error}"
                ) from error
            return  # without a budget the lock only serves a warning
        if self._lock is None:
            logger.warning(AT_ONCE)

    def _unlock(self) -> None:
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    async def schedule_sample(self, id: str | int, epoch: int) -> EarlyStop | None:
        """Inspect is about to start a sample."""
        if self.stopped is not None:
            return EarlyStop(id=id, epoch=epoch, reason=self.stopped)
        if self._settling is not None:
            await self._settling.schedule_sample(id, epoch)
        return None

    async def complete_sample(
        self, id: str | int, epoch: int, scores: Mapping[str, SampleScore]
    ) -> None:
        """A sample was completed, in this attempt or in an earlier one."""
        self._left -= 1
        if self._settling is not None:
            await self._settling.complete_sample(id, epoch, scores)

    async def complete_task(self) -> dict[str, JsonValue]:
        """Return the summary for the log's header: with a budget, the spending of all attempts."""
        summary: dict[str, JsonValue] = {}
        if self._settling is not None:
            summary |= await self._settling.complete_task()
        if self._ledger is not None:
            if self._left == 0:
                self._ledger.end()
            paid = self._budget.paid
            summary["paid"] = {"calls": paid.calls, "cost": paid.cost}
        self._unlock()
        return summary
