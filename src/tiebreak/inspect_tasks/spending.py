"""The budget of a run over all attempts at it.

Inspect tells an early stopping manager when an attempt begins and when it ends. That is how a
budget gets the ledger of its run, and how the ledger learns that nothing is left to be retried.
"""

from collections.abc import Callable, Mapping
from logging import getLogger

from inspect_ai.dataset import Sample
from inspect_ai.log import EvalSpec
from inspect_ai.scorer import SampleScore
from pydantic import JsonValue

from tiebreak.inspect_tasks.settling import Settling
from tiebreak.prerequisite import PrerequisiteError
from tiebreak.scorers.budget import Budget, Ledger

logger = getLogger(__name__)

GOES_ON = "Earlier attempts at this run paid for %s: they count against its budget."


class Spending:
    """An early stopping manager that stops nothing, and keeps the ledger of a budget.

    Args:
        budget: what the run may spend.
        run: finds what tells the run from others, once its judges are known.
        settling: the manager that may end the run early, and gets to know all that this one does.
    """

    def __init__(self, budget: Budget, run: Callable[[], str], settling: Settling | None) -> None:
        self._budget = budget
        self._run = run
        self._settling = settling
        self._ledger: Ledger | None = None
        self._left = 0

    async def start_task(self, task: EvalSpec, samples: list[Sample], epochs: int) -> str:
        """Inspect begins an attempt.

        Raises:
            PrerequisiteError: what is spent cannot be noted.
        """
        self._left = len(samples) * epochs
        name = self._run()
        try:
            self._ledger = Ledger(name)
            self._budget.go_on(self._ledger)
        except OSError as error:
            raise PrerequisiteError(
                f"What a run with a budget spends is noted beside Inspect's cache, and that cannot "
                f"be done: {error}"
            ) from error
        if self._budget.paid.calls:
            logger.warning(GOES_ON, self._budget.paid)
        if self._settling is not None:
            await self._settling.start_task(task, samples, epochs)
        return "tiebreak"

    async def schedule_sample(self, id: str | int, epoch: int) -> None:
        """A sample begins; nothing is stopped here."""
        if self._settling is not None:
            await self._settling.schedule_sample(id, epoch)

    async def complete_sample(
        self, id: str | int, epoch: int, scores: Mapping[str, SampleScore]
    ) -> None:
        """A sample is complete, in this attempt or in an earlier one."""
        self._left -= 1
        if self._settling is not None:
            await self._settling.complete_sample(id, epoch, scores)

    async def complete_task(self) -> dict[str, JsonValue]:
        """What the log's header says about it: what all attempts paid."""
        if self._left == 0 and self._ledger is not None:
            self._ledger.end()
        paid: dict[str, JsonValue] = {
            "calls": self._budget.paid.calls,
            "cost": self._budget.paid.cost,
        }
        more = await self._settling.complete_task() if self._settling is not None else {}
        return {**more, "paid": paid}
