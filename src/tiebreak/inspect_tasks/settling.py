"""Stop judging once the ranking is decided: the sequential test between the samples of a run.

Items are judged in an order drawn by lot. The test looks at them in that order, not in the order
in which they happen to finish: whatever makes an item finish early could make it easy as well.
"""

import random
from collections.abc import Sequence

import numpy as np
from inspect_ai.dataset import Sample
from numpy.typing import NDArray

from tiebreak.inspect_tasks.contests import CONTEST_KEY
from tiebreak.prerequisite import PrerequisiteError
from tiebreak.rankers import normalized_borda
from tiebreak.rankers.settlement import RankingTest
from tiebreak.scorers.ballots import ItemBallots, Skipped
from tiebreak.scorers.placement import NotPlacedError, place


class Settling:
    """Decides, while a run is going on, whether its ranking is settled.

    Args:
        models: all models of the run.
        samples: all samples of the run.
        settle: True for the whole ranking, k for its first k places.
        error: probability of a wrong decision.

    Raises:
        PrerequisiteError: there are not more than k models, or several benchmarks, which have a
            ranking each.
    """

    def __init__(
        self, models: Sequence[str], samples: Sequence[Sample], settle: bool | int, error: float
    ) -> None:
        top = None if settle is True else settle
        if top is not None and top >= len(models):
            raise PrerequisiteError(
                f"settle is {top}: there are {len(models)} models, so at most "
                f"{len(models) - 1} places can be told from the rest; settle=true decides all."
            )
        benchmarks = {(sample.metadata or {})[CONTEST_KEY]["benchmark"] for sample in samples}
        if len(benchmarks) > 1:
            raise PrerequisiteError(
                "settle decides one ranking, and these candidates hold several benchmarks: "
                f"{', '.join(sorted(benchmarks))}. Run one benchmark at a time."
            )
        self.decided: Skipped | None = None
        self._models = tuple(models)
        self._samples = samples
        self._test = RankingTest(len(models), len(samples), error=error, top_k=top)
        self._rule = Skipped(after=0, of=len(samples), error=error, top=top)
        self._turns: dict[str | int | None, int] = {}
        self._waiting: dict[int, ItemBallots] = {}
        self._next = 0

    def drawn(self, seed: int) -> list[Sample]:
        """The samples in an order drawn by lot; the test takes them in this order."""
        order = list(self._samples)
        random.Random(f"settle {seed}").shuffle(order)
        self._turns = {sample.id: number for number, sample in enumerate(order)}
        return order

    def judged(self, sample_id: str | int, ballots: ItemBallots) -> None:
        """Take note of an item that was judged to the end."""
        self._waiting[self._turns[sample_id]] = ballots
        while self.decided is None and self._next in self._waiting:
            self._test.update(self._scores(self._waiting.pop(self._next)))
            self._next += 1
            if self._test.settled:
                self.decided = self._rule.model_copy(update={"after": self._next})

    def _scores(self, ballots: ItemBallots) -> NDArray[np.float64]:
        """Normalized Borda of every model on an item; NaN for those that it does not rank."""
        try:
            ranks = place(ballots).ranks
        except NotPlacedError:
            ranks = {}
        scores: NDArray[np.float64] = normalized_borda(
            [[ranks.get(model, np.nan) for model in self._models]]
        )[0]
        return scores
