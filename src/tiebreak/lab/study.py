"""What a simulation found: figures, rows, and how many items which protocol needs."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from tiebreak.lab.planted import World


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure over repeated pools: mean, its standard error, and the worst pool.

    Pools in which it is undefined are left out and counted in `undefined`. NaN: no pool is left,
    or, for the standard error, a single one.
    """

    mean: float
    standard_error: float
    minimum: float
    undefined: int


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement with another leaderboard: Spearman's ρ, Kendall's τ-b, and the same first model."""

    spearman: Figure
    kendall: Figure
    top1: Figure


@dataclass(frozen=True, slots=True)
class Row:
    """One protocol with one number of items.

    `reference` is the agreement with full pairwise judging of the same answers by the same judge,
    `truth` that with the planted qualities. `calls` are calls per item by kind, `depth` those of an
    item that wait for each other, both means. `unscored` is the share of verdicts, tierings,
    rankings and points without a usable reply (NaN: nothing was asked), `unranked` the share of
    places without a rank. `recovered` is the share of the pools whose ρ with the truth reaches the
    study's target; a leaderboard that ties all models has no ρ, and recovers nothing.
    """

    protocol: str
    n_items: int
    reference: Agreement
    truth: Agreement
    calls: Mapping[str, float]
    depth: float
    unscored: float
    unranked: float
    recovered: float

    @property
    def calls_per_item(self) -> float:
        """All calls per item."""
        return math.fsum(self.calls.values())

    @property
    def total_calls(self) -> float:
        """All calls, of all items."""
        return self.calls_per_item * self.n_items


@dataclass(frozen=True)
class Study:
    """All rows, and the smallest number of items at which a protocol finds the planted order.

    Found: ρ with the truth is at least `target` in at least the share `confidence` of the pools,
    with this and with every larger number of items that was tried.
    """

    world: World
    items: tuple[int, ...]
    repeats: int
    seed: int
    target: float
    confidence: float
    rows: tuple[Row, ...]

    def row(self, protocol: str, n_items: int) -> Row:
        """The row of a protocol with this number of items."""
        return next(r for r in self.rows if (r.protocol, r.n_items) == (protocol, n_items))

    @cached_property
    def needed(self) -> Mapping[str, int | None]:
        """The number of items by protocol, None where no number that was tried suffices."""
        return {
            label: self._needed(label) for label in dict.fromkeys(r.protocol for r in self.rows)
        }

    def _needed(self, label: str) -> int | None:
        needed = None
        for row in sorted((r for r in self.rows if r.protocol == label), key=lambda r: -r.n_items):
            if row.recovered < self.confidence:
                break
            needed = row.n_items
        return needed

    @property
    def answer(self) -> str:
        """How many items, and which protocol, in words."""
        goal = (
            f"ρ ≥ {self.target:g} with the truth in at least {self.confidence:.0%} of "
            f"{self.repeats} pools"
        )
        enough = [row for row in self.rows if self.needed[row.protocol] == row.n_items]
        if not enough:
            best = max(self.rows, key=lambda row: (row.recovered, -row.total_calls))
            return (
                f"No protocol finds the order of these models with up to {self.items[-1]:,} items "
                f"({goal}); nearest is {best.protocol} with {best.n_items:,}, in "
                f"{best.recovered:.0%} of the pools. Try more items."
            )
        cheapest = min(enough, key=lambda row: (row.total_calls, row.n_items))
        fewest = min(enough, key=lambda row: (row.n_items, row.calls_per_item))
        text = f"To find the order of these models ({goal}), the cheapest is {_bill(cheapest)}"
        if fewest.n_items < cheapest.n_items:
            return f"{text}; the fewest items takes {_bill(fewest)}."
        return f"{text}."


def _bill(row: Row) -> str:
    calls = row.total_calls
    cost = f"about {calls:,.0f} calls" if calls else "no call: the native scores suffice"
    return f"{row.protocol} with {row.n_items:,} items ({cost})"
