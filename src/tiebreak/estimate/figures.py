"""What an estimate says, and what it is told about judges and their pace."""

from dataclasses import dataclass

from tiebreak.estimate.dry_judge import Payer
from tiebreak.estimate.experience import Experience
from tiebreak.estimate.prices import Price
from tiebreak.estimate.totals import Interval


@dataclass(frozen=True, slots=True)
class Judges:
    """Who would answer, at what price (None: unknown); the meta-judge is the judge by default."""

    judge: str
    price: Price | None = None
    meta_judge: str | None = None
    meta_price: Price | None = None

    @property
    def payers(self) -> dict[str, Payer]:
        """Who is billed, by role."""
        meta = (self.judge, self.price)
        if self.meta_judge is not None:
            meta = (self.meta_judge, self.meta_price)
        return {"judge": _payer(self.judge, self.price), "meta_judge": _payer(*meta)}


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast calls are made.

    `connections` calls run side by side and take `seconds` each; no more than `per_minute` are
    begun in a minute (None: as many as fit).
    """

    connections: int = 10
    seconds: float = 10.0
    per_minute: float | None = None

    def hours(self, calls: float, depth: float) -> float:
        """How long it takes: the calls of an item that wait for each other set the least."""
        side_by_side = calls * self.seconds / self.connections
        begun = 60 * calls / self.per_minute if self.per_minute else 0.0
        return max(side_by_side, begun, depth * self.seconds) / 3600


@dataclass(frozen=True, slots=True)
class ProtocolEstimate:
    """What one protocol would ask.

    `calls` and tokens are totals over all items, `cost` is in US dollars, None where a price is
    unknown. `depth` is the number of calls that wait for each other, in the item where it is
    largest. `longest` is the number of tokens of the longest prompt.
    """

    label: str
    calls: Interval
    calls_per_item: Interval
    tokens_in: Interval
    tokens_out: Interval
    cost: Interval | None
    depth: Interval
    hours: Interval
    longest: int

    @property
    def fixed(self) -> bool:
        """Whether the number of calls is the same whatever the judge replies."""
        return self.calls.low == self.calls.high


@dataclass(frozen=True, slots=True)
class Estimate:
    """What some protocols would ask about the same items.

    `n_identical` items need no call, because all answers are identical; prompts were counted on
    `n_sampled` items. `counted_by` says how.
    """

    judges: Judges
    benchmarks: tuple[str, ...]
    models: tuple[str, ...]
    n_items: int
    n_identical: int
    n_sampled: int
    counted_by: str
    reasoning_tokens: int
    pace: Pace
    words: Interval
    close: Interval
    ties: Interval
    experience: Experience | None
    protocols: tuple[ProtocolEstimate, ...]


def _payer(model: str, price: Price | None) -> Payer:
    if price is None:
        return Payer(model)
    return Payer(model, price.input / 1e6, price.output / 1e6)
