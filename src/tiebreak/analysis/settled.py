"""A run that stopped early because its ranking was decided."""

from collections.abc import Sequence
from dataclasses import dataclass

from tiebreak.analysis.receipt import Receipt
from tiebreak.rankers.settlement import SettleFor
from tiebreak.scorers.ballots import ItemBallots


@dataclass(frozen=True, slots=True)
class Settled:
    """A run that stopped because its ranking was decided, after `after` of `of` items.

    `error` is the probability of a wrong decision that was allowed; `top` the number of first
    places that were to be decided, None for all. `settle_for` tells whether it was decided for
    `new` items as well, or only for `these`, those of the run: other items may then rank the models
    differently. `n_skipped` items were not judged; at the calls of a judged item that saved about
    `calls_saved`, NaN where no item was judged.

    The board's pairwise tests and its intervals are about new items. In simulation they separate
    every pair of a ranking settled for new items (1,242 settled runs of five worlds). That the
    sequential test or one of these tests puts two equal models in an order has a probability of at
    most `error` plus theirs. At 5% each 7% of the runs with 2 equal models did, and 4% with 7
    or 8 of 8 equal (`benchmarks/claims/settling.py`).
    """

    after: int
    of: int
    error: float
    top: int | None
    settle_for: SettleFor
    n_skipped: int
    calls_saved: float

    @property
    def sentence(self) -> str:
        """What was decided, and how sure that is."""
        what = "the ranking" if self.top is None else f"the top {self.top}"
        only = " for these items" if self.settle_for == "these" else ""
        return (
            f"A sequential test stopped the run when {what} was decided{only} "
            f"(error rate {self.error * 100:g}%)."
        )


def settled_of(skipped: Sequence[ItemBallots], receipt: Receipt) -> Settled | None:
    """Why items were skipped, by the latest decision (a run that was repeated may have several)."""
    decisions = [item.skipped for item in skipped if item.skipped is not None]
    if not decisions:
        return None
    last = max(decisions, key=lambda decision: decision.after)
    return Settled(
        after=last.after,
        of=last.of,
        error=last.error,
        top=last.top,
        settle_for=last.settle_for,
        n_skipped=len(decisions),
        calls_saved=len(decisions) * receipt.calls_per_item,
    )
