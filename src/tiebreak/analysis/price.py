"""What an item costs under a protocol, by itself and beside another."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from tiebreak.analysis.receipt import receipt_of
from tiebreak.scorers.ballots import ItemBallots


@dataclass(frozen=True, slots=True)
class Price:
    """Means over the `n_items` that were judged to the end.

    `cost` is what the calls are worth in US dollars, cached or not; NaN where a price is unknown.
    `depth` is the longest chain of calls that wait for each other. The relative figures are ratios
    to another price, NaN where there is none, one is unknown, or the other's is 0.
    """

    n_items: int
    calls: float
    input_tokens: float
    output_tokens: float
    cost: float
    depth: float
    relative_calls: float = math.nan
    relative_tokens: float = math.nan
    relative_cost: float = math.nan

    @property
    def tokens(self) -> float:
        """Tokens read and written."""
        return self.input_tokens + self.output_tokens

    def beside(self, base: "Price") -> "Price":
        """This price, relative to another."""
        return replace(
            self,
            relative_calls=_ratio(self.calls, base.calls),
            relative_tokens=_ratio(self.tokens, base.tokens),
            relative_cost=_ratio(self.cost, base.cost),
        )


def price_of(items: Sequence[ItemBallots]) -> Price:
    """Price per item.

    Args:
        items: ballots; those cut short are left out, with what they cost.
    """
    receipt = receipt_of([item for item in items if item.complete])
    n = receipt.n_items

    def per_item(total: float | None) -> float:
        return math.nan if total is None or not n else total / n

    return Price(
        n_items=n,
        calls=per_item(receipt.n_calls),
        input_tokens=per_item(receipt.input_tokens),
        output_tokens=per_item(receipt.output_tokens),
        cost=per_item(receipt.cost),
        depth=receipt.depth_mean,
    )


def _ratio(own: float, base: float) -> float:
    return own / base if base > 0 else math.nan
