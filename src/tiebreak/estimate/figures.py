"""An estimate, and what goes into it about judges and their pace."""

from collections.abc import Mapping
from dataclasses import dataclass

from tiebreak.estimate.experience import Experience
from tiebreak.estimate.prices import Price, PricedModel
from tiebreak.estimate.totals import Range
from tiebreak.scorers.ballots import Reviewer


@dataclass(frozen=True, slots=True)
class Judges:
    """Who would answer, at what price (None: unknown); the meta-judge is the judge by default.

    Without a `judge` there are only `peers`, who answer in peer review and nowhere else.
    """

    judge: str | None = None
    price: Price | None = None
    meta_judge: str | None = None
    meta_price: Price | None = None
    peers: tuple[PricedModel, ...] = ()

    @property
    def prices(self) -> dict[str, Price | None]:
        """All models that may be asked, and their prices."""
        judges = ((self.judge, self.price), (self.meta_judge, self.meta_price))
        named = {model: price for model, price in judges if model is not None}
        return named | {peer.model: peer.price for peer in self.peers}

    @property
    def answering(self) -> dict[str, set[str]]:
        """Who answers, by the role of a call."""
        asked = {role: {one.model} for role, one in self.by_role.items()}
        return {**asked, "peers": {peer.model for peer in self.peers}}

    @property
    def by_role(self) -> dict[str, PricedModel]:
        """Who is billed, by role."""
        if self.judge is None:
            return {}
        judge = meta_judge = PricedModel(self.judge, self.price)
        if self.meta_judge is not None:
            meta_judge = PricedModel(self.meta_judge, self.meta_price)
        return {"judge": judge, "meta_judge": meta_judge}


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast calls are made.

    `connections` calls run side by side and take `seconds` each; no more than `per_minute` are
    begun in a minute (None: as many as fit). Inspect begins with 20 connections and is at its 100
    after 140 calls, unless a provider refuses so many.
    """

    connections: int = 100
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
    largest. `longest` is the number of tokens of the longest prompt that a model gets, by model;
    `by_peers` tells that these models are reviewers.
    """

    label: str
    calls: Range
    calls_per_item: Range
    tokens_in: Range
    tokens_out: Range
    cost: Range | None
    depth: Range
    hours: Range
    longest: Mapping[str, int]
    by_peers: bool = False

    @property
    def fixed(self) -> bool:
        """Whether the number of calls is the same whatever the judge replies."""
        return self.calls.low == self.calls.high


@dataclass(frozen=True, slots=True)
class Estimate:
    """What some protocols would ask about the same items.

    `n_identical` items need no call, because all answers are identical; prompts were counted on
    `n_sampled` items, and on more where a protocol asks less. `counted_by` says how. `reviewers`
    are the peers of `judges`, in their order. `n_media` items have images or files.
    """

    judges: Judges
    reviewers: tuple[Reviewer, ...]
    benchmarks: tuple[str, ...]
    models: tuple[str, ...]
    n_items: int
    n_identical: int
    n_sampled: int
    counted_by: str
    reasoning_tokens: int
    pace: Pace
    words: Range
    close: Range
    ties: Range
    experience: Experience | None
    protocols: tuple[ProtocolEstimate, ...]
    n_media: int = 0
