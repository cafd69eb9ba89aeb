"""The calls behind a ranking and their cost, in all and per item; what a run that stopped saved."""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import get_args

import numpy as np

from tiebreak.rankers.settlement import SettleFor
from tiebreak.reason import Reason
from tiebreak.scorers.ballots import Call, CallKind, ItemBallots
from tiebreak.scorers.rules import RULES


@dataclass(frozen=True, slots=True)
class KindCalls:
    """Calls of one kind: seed, match, critique, refine, rubric, score or list.

    All calls about planted answers are of the kind "canary". `n_calls` includes `n_repairs` (turns
    that asked for a malformed reply again) and `n_repeats` (further tries of an unscored call; a
    repair inside one counts as a repair). `per_item` is the mean over the items that were judged to
    the end, NaN without such an item and for canaries.
    """

    kind: str
    n_calls: int
    n_repairs: int
    n_repeats: int
    n_cached: int
    per_item: float


@dataclass(frozen=True, slots=True)
class Usage:
    """Calls and tokens of one model in one role, in peer review of one reviewer.

    `reviewer` is its name there, else empty. `cost` is what the calls are worth, in US dollars, and
    `paid` what was spent on them in this run (cached calls are free); None where a call that counts
    has no price.
    """

    role: str
    model: str
    n_calls: int
    n_cached: int
    input_tokens: int
    output_tokens: int
    cost: float | None
    paid: float | None
    reviewer: str = ""


@dataclass(frozen=True, slots=True)
class Receipt:
    """All calls behind a leaderboard, those of items that were cut short and of canaries included.

    Means per item and depths are over the `n_items` that were judged to the end;
    `n_items_without_call` of them needed no call because all answers were identical (0 under a
    protocol without judges, and where a single answer is judged, too). `depth_mean` and `depth_max`
    count the calls of an item that had to wait for each other: the longest chain, so the time that
    judging takes however many calls run at once.
    `cost` and `paid` are the sums over `usage`, None when any price is missing;
    `unpriced_models` says whose. What the logs do not know was priced by the reader for
    `priced_models`.
    """

    n_items: int
    n_items_cut_short: int
    n_items_without_call: int
    n_calls: int
    n_cached: int
    calls_per_item: float
    kinds: tuple[KindCalls, ...]
    usage: tuple[Usage, ...]
    input_tokens: int
    output_tokens: int
    cost: float | None
    paid: float | None
    unpriced_models: tuple[str, ...]
    priced_models: tuple[str, ...]
    depth_mean: float
    depth_max: int


def receipt_of(items: Sequence[ItemBallots]) -> Receipt:
    """Add up the calls of some items, those cut short included: they were paid for as well.

    Calls of canaries count in the sums, and in no mean per item.
    """
    planted = [call for item in items if item.canary for call in item.calls]
    items = [item for item in items if not item.canary]
    ranked = [call for item in items for call in item.calls]
    calls = [*ranked, *planted]
    complete = [item for item in items if item.complete]
    complete_calls = [call for item in complete for call in item.calls]
    depths = [max((call.depth + 1 for call in item.calls), default=0) for item in complete]
    # Where judges are asked because answers differ.
    without_call = [
        item
        for item in complete
        if not item.calls and len(item.groups) == 1
        if RULES[item.placed_by].asks is not None and not RULES[item.placed_by].judges_one
    ]
    asked = {call.kind for call in ranked}
    kinds = [
        _kind(kind, [call for call in ranked if call.kind == kind], complete_calls, len(complete))
        for kind in get_args(CallKind)
        if kind in asked
    ]
    if planted:
        kinds.append(_kind("canary", planted, [], 0))
    payers: dict[tuple[str, str, str], list[Call]] = defaultdict(list)
    for call in calls:
        payers[call.role, call.reviewer, call.model].append(call)
    usage = tuple(_usage(*payer, payers[payer]) for payer in sorted(payers))
    return Receipt(
        n_items=len(complete),
        n_items_cut_short=len(items) - len(complete),
        n_items_without_call=len(without_call),
        n_calls=len(calls),
        n_cached=sum(row.n_cached for row in usage),
        calls_per_item=_ratio(len(complete_calls), len(complete)),
        kinds=tuple(kinds),
        usage=usage,
        input_tokens=sum(row.input_tokens for row in usage),
        output_tokens=sum(row.output_tokens for row in usage),
        cost=_total(row.cost for row in usage),
        paid=_total(row.paid for row in usage),
        unpriced_models=tuple(sorted({row.model for row in usage if row.cost is None})),
        priced_models=tuple(sorted({call.model for call in calls if call.priced})),
        depth_mean=float(np.mean(depths)) if depths else math.nan,
        depth_max=max(depths, default=0),
    )


def _kind(kind: str, calls: Sequence[Call], complete: Sequence[Call], n_items: int) -> KindCalls:
    return KindCalls(
        kind=kind,
        n_calls=len(calls),
        n_repairs=sum(call.repair for call in calls),
        n_repeats=sum(call.attempt > 0 and not call.repair for call in calls),
        n_cached=sum(call.cached for call in calls),
        per_item=_ratio(sum(call.kind == kind for call in complete), n_items),
    )


def _usage(role: str, reviewer: str, model: str, calls: Sequence[Call]) -> Usage:
    return Usage(
        role=role,
        model=model,
        n_calls=len(calls),
        n_cached=sum(call.cached for call in calls),
        input_tokens=sum(call.input_tokens for call in calls),
        output_tokens=sum(call.output_tokens for call in calls),
        cost=_total(call.cost for call in calls),
        paid=_total(call.cost for call in calls if not call.cached),
        reviewer=reviewer,
    )


def _total(amounts: Iterable[float | None]) -> float | None:
    """Sum; None when one amount is unknown, since the rest alone would look like the whole."""
    amounts = list(amounts)
    known = [amount for amount in amounts if amount is not None]
    return math.fsum(known) if len(known) == len(amounts) else None


@dataclass(frozen=True, slots=True)
class Price:
    """Means over the `n_items` that were judged to the end.

    `cost` is what the calls are worth in US dollars, cached or not; NaN where a price is unknown.
    `depth` is the longest chain of calls that wait for each other. The relative figures are ratios
    to another price, NaN without one, or where one is unknown or the other is 0.
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

    def relative_to(self, base: "Price") -> "Price":
        """This price, relative to another."""
        return replace(
            self,
            relative_calls=_ratio(self.calls, base.calls),
            relative_tokens=_ratio(self.tokens, base.tokens),
            relative_cost=_ratio(self.cost, base.cost),
        )


def price_of(items: Sequence[ItemBallots]) -> Price:
    """Price per item; ballots that were cut short are left out, and so is their cost."""
    receipt = receipt_of([item for item in items if item.complete])
    n = receipt.n_items
    return Price(
        n_items=n,
        calls=_ratio(receipt.n_calls, n),
        input_tokens=_ratio(receipt.input_tokens, n),
        output_tokens=_ratio(receipt.output_tokens, n),
        cost=math.nan if receipt.cost is None else _ratio(receipt.cost, n),
        depth=receipt.depth_mean,
    )


def _ratio(amount: float, base: float) -> float:
    return amount / base if base > 0 else math.nan


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
    def decision(self) -> Reason:
        """What was decided, and how sure that is."""
        return Reason(
            "settled",
            decided=self.decided,
            only=Reason("for_these_items") if self.settle_for == "these" else "",
            rate=self.rate,
        )

    @property
    def decided(self) -> Reason:
        """What was to be decided."""
        return Reason("settled_ranking") if self.top is None else Reason("settled_top", n=self.top)

    @property
    def rate(self) -> Reason:
        """The error rate, and that of a board which tests all pairs besides."""
        return Reason(
            "error_rate_at_five" if self.error == 0.05 else "error_rate", error=self.error * 100
        )


def settled_of(skipped: Sequence[ItemBallots], receipt: Receipt) -> Settled | None:
    """Why items were skipped, by the latest decision (a run that was repeated may have several)."""
    decisions = [item.skipped for item in skipped if item.skipped is not None]
    if not decisions:
        return None
    last = max(decisions, key=lambda decision: decision.after)
    return Settled(
        **last.model_dump(),
        n_skipped=len(decisions),
        calls_saved=len(decisions) * receipt.calls_per_item,
    )
