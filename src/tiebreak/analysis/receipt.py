"""Calls behind a ranking and their cost, in total and per item, and savings of stopped runs."""

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
    that ask again after a malformed reply) and `n_repeats` (new attempts of an unscored call; a
    repair inside one counts as a repair). `per_item` is the mean over the items that were judged to
    the end, NaN without any and for canaries.
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

    `reviewer` is its name in peer review, else empty. `cost` is the price of all calls in US
    dollars, and `paid` the price of those that were not cached; None if such a call has no price.
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
    """All calls behind a leaderboard, including those of unfinished items and of canaries.

    Means per item and depths are over the `n_items` that were judged to the end;
    `n_items_without_call` of them needed no call because all answers were identical (0 under a
    protocol without judges or one that also judges single answers). `depth_mean` and `depth_max`
    are the length of the longest chain of calls of an item that wait for each other; it bounds the
    time of judging however many calls run at once.
    `cost` and `paid` are the sums over `usage`, None if any price is missing; `unpriced_models` has
    the models without a price. Calls of `priced_models` had no price in the logs and were priced
    when the logs were read.
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
    """Add up the calls of some items, including unfinished items, because they cost as much.

    Calls of canaries count in the sums but not in the means per item.
    """
    planted = [call for item in items if item.canary for call in item.calls]
    items = [item for item in items if not item.canary]
    ranked = [call for item in items for call in item.calls]
    calls = [*ranked, *planted]
    complete = [item for item in items if item.complete]
    complete_calls = [call for item in complete for call in item.calls]
    depths = [max((call.depth + 1 for call in item.calls), default=0) for item in complete]
    # Only protocols whose judges are asked because answers differ; others never need a call.
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
    """The sum, or None if an amount is unknown: a partial sum would be taken for the total."""
    amounts = list(amounts)
    known = [amount for amount in amounts if amount is not None]
    return math.fsum(known) if len(known) == len(amounts) else None


@dataclass(frozen=True, slots=True)
class Price:
    """The price of an item: means over the `n_items` that were judged to the end.

    `cost` is the price of the calls in US dollars, cached or not; NaN if a price is unknown.
    `depth` is the longest chain of calls that wait for each other. The relative figures are ratios
    to another `Price`: NaN without one, or if either is unknown or the other is 0.
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
        """Input and output tokens together."""
        return self.input_tokens + self.output_tokens

    def relative_to(self, base: "Price") -> "Price":
        """This price with its ratios to `base`."""
        return replace(
            self,
            relative_calls=_ratio(self.calls, base.calls),
            relative_tokens=_ratio(self.tokens, base.tokens),
            relative_cost=_ratio(self.cost, base.cost),
        )


def price_of(items: Sequence[ItemBallots]) -> Price:
    """Price per item, without unfinished items and their cost."""
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

    `error` is the permitted probability of a wrong decision; `top` the number of first places to
    decide, None for all. `settle_for` is "new" if the decision also holds for new items, "these"
    if only for those of the run: other items may then rank the models differently. `n_skipped`
    items were not judged, which saved about `calls_saved` calls (the mean per judged item times
    `n_skipped`, NaN if no item was judged).

    The board's pairwise tests and its intervals are about new items. In simulation they separate
    every pair of a ranking settled for new items (1,242 settled runs of five worlds). The
    probability that the sequential test or one of these tests orders two equal models is at most
    `error` plus the level of the tests. At 5% each, this happened in 7% of the runs with 2 equal
    models, and in 4% with 7 or 8 of 8 equal (`benchmarks/claims/settling.py`).
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
        """The decision with its scope and error rate."""
        return Reason(
            "settled",
            decided=self.decided,
            only=Reason("for_these_items") if self.settle_for == "these" else "",
            rate=self.rate,
        )

    @property
    def decided(self) -> Reason:
        """The part of the ranking that was decided: all of it or the first places."""
        return Reason("settled_ranking") if self.top is None else Reason("settled_top", n=self.top)

    @property
    def rate(self) -> Reason:
        """The permitted error, at 5% also the error together with the tests of all pairs."""
        return Reason(
            "error_rate_at_five" if self.error == 0.05 else "error_rate", error=self.error * 100
        )


def settled_of(skipped: Sequence[ItemBallots], receipt: Receipt) -> Settled | None:
    """The latest decision that skipped items (a repeated run can have several), or None."""
    decisions = [item.skipped for item in skipped if item.skipped is not None]
    if not decisions:
        return None
    last = max(decisions, key=lambda decision: decision.after)
    return Settled(
        **last.model_dump(),
        n_skipped=len(decisions),
        calls_saved=len(decisions) * receipt.calls_per_item,
    )
