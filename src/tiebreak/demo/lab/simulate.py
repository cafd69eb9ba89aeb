"""The study: every protocol on the same planted pools, in the code that judges real answers.

For each number of items: how far does a protocol's leaderboard agree with that of full pairwise
judging, how far with the truth, and what does it ask? Hence how many items, and which protocol, it
takes to put these models in their right order.
"""

import math
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any, Final, NamedTuple, cast, get_args

import numpy as np

from tiebreak.demo.lab.planted import LabError, Pool, Traits, World, normal_qualities, require
from tiebreak.progress import tracked
from tiebreak.rankers import competition_ranks
from tiebreak.rankers.agreement import kendall_tau_many, spearman_many, top1_many
from tiebreak.rankers.profile import FloatArray, ratio
from tiebreak.scorers.ballots import CallKind, ItemBallots, Listing, Match, PointScore, Tiering
from tiebreak.scorers.catalogue import REFERENCE, STANDARD
from tiebreak.scorers.match import Swap
from tiebreak.scorers.placement import NotPlacedError, Placement, board_scores, place
from tiebreak.scorers.protocols import (
    Variant,
    in_event_loop,
    judge_item,
    read_variant,
    settings_of,
)
from tiebreak.scorers.session import ProtocolError


class Figure(NamedTuple):
    """A figure over repeated pools: mean, its standard error, and the worst pool.

    Pools in which it is undefined are left out and counted in `undefined`. NaN: no pool is left,
    or, for the standard error, a single one.
    """

    mean: float
    standard_error: float
    minimum: float
    undefined: int


class Agreement(NamedTuple):
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
class Simulation:
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
        needed: dict[str, int | None] = {}
        for row in sorted(self.rows, key=lambda row: row.n_items):
            if row.recovered < self.confidence:
                needed[row.protocol] = None
            elif needed.get(row.protocol) is None:
                needed[row.protocol] = row.n_items
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


_MUCH: Final = 4_000
"""Items, counted once for every protocol, from which on processes are worth their start."""

_ALL: Final = slice(None)

KINDS: Final[tuple[CallKind, ...]] = get_args(CallKind)


def simulate(
    models: int | Sequence[float] = 8,
    items: Sequence[int] = (50, 100, 200),
    *,
    spread: float = 0.2,
    ties: float = 0.0,
    pass_rate: float = 0.97,
    noise: float = 0.5,
    protocols: Sequence[str] = STANDARD,
    repeats: int = 10,
    swap: Swap | None = None,
    target: float = 0.9,
    confidence: float = 0.9,
    seed: int = 0,
    jobs: int | None = None,
    **traits: float,
) -> Simulation:
    """How many items, and which protocol, it takes to separate models that you describe.

    No model is called: planted answers are judged by a planted judge. A smaller number of items is
    the beginning of the same pools, so that rows of one protocol differ by items alone. Refinement
    and critique cost their calls here, but show a planted judge nothing new: what they gain in a
    real run is not simulated.

    Args:
        models: the quality of each model, in units of the spread of a model's answers; or how many
            there are.
        items: numbers of items.
        spread: of so many models, the standard deviation of their qualities.
        ties: share of answers that repeat another model's, in [0, 1).
        pass_rate: share of answers that pass the benchmark's own check, in (0, 1).
        noise: standard deviation of the judge's error on a pair.
        protocols: labels as for `scorers.variants`; full pairwise is run in any case.
        repeats: number of pools, each with answers of its own.
        swap: when pairs are asked in both orders; None: as every protocol does by default.
        target: ρ with the truth from which the order counts as found.
        confidence: share of the pools in which it must.
        seed: seed of all draws; the same seed gives the same numbers.
        jobs: worker processes; None: one per core where there is much to do, else none.
        traits: the judge's other traits, fields of `Traits`: `position_bias`, `resolution`, ….

    Raises:
        LabError: a number or a label is of no use; the message says which.
    """
    qualities = normal_qualities(models, spread) if isinstance(models, int) else tuple(models)
    judge = Traits(noise=noise, **cast("dict[str, Any]", traits))
    world = World(qualities, judge, ties=ties, pass_rate=pass_rate)
    sizes = tuple(sorted(set(items)))
    require(min(sizes, default=0) >= 1, "give numbers of items of 1 and more")
    require(repeats >= 1, f"{repeats} repeats: it takes one pool or more")
    labels = dict.fromkeys((*protocols, REFERENCE))
    for label in labels:
        # Before any work, so that a wrong label costs no time.
        _variant(label, swap, world.models)
    parts = [
        (world, sizes[-1], seed, repeat, label, swap)
        for repeat in range(repeats)
        for label in labels
    ]
    done = _play_all(parts, jobs)
    runs = [done[start : start + len(labels)] for start in range(0, len(done), len(labels))]
    boards = np.array(
        [[[run.leaderboard(slice(n)) for n in sizes] for run in per_pool] for per_pool in runs]
    )
    truth = np.array(world.qualities)
    reference = boards[:, list(labels).index(REFERENCE)]
    rows = tuple(
        _row(label, n, boards[:, v, s], reference[:, s], truth, [pool[v] for pool in runs], target)
        for v, label in enumerate(labels)
        for s, n in enumerate(sizes)
    )
    return Simulation(world, sizes, repeats, seed, target, confidence, rows)


@dataclass(slots=True)
class Run:
    """A protocol's rankings in a pool, and its calls: one, or a number, for each item.

    `items` of its methods are those looked at, by default all.
    """

    models: tuple[str, ...]
    ranked: list[tuple[ItemBallots, Placement] | None] = field(default_factory=list)
    calls: list[Counter[str]] = field(default_factory=list)
    depth: list[int] = field(default_factory=list)
    verdicts: list[list[bool]] = field(default_factory=list)

    def add(self, ballots: ItemBallots) -> None:
        """Take down one item."""
        try:
            self.ranked.append((ballots, place(ballots)))
        except NotPlacedError:
            self.ranked.append(None)
        self.calls.append(Counter(call.kind for call in ballots.calls))
        self.depth.append(max((call.depth + 1 for call in ballots.calls), default=0))
        replies: list[Match | PointScore | Listing | Tiering] = [
            *ballots.matches,
            *ballots.scores,
            *ballots.listings,
            *([ballots.tiering] if ballots.tiering else []),
        ]
        self.verdicts.append([reply.unscored is None for reply in replies])

    def table(self, items: slice = _ALL) -> FloatArray:
        """Ranked items × models, whose column means are the leaderboard's scores."""
        ranked = [placed for placed in self.ranked[items] if placed is not None]
        return board_scores([b for b, _ in ranked], [p for _, p in ranked], self.models)

    def leaderboard(self, items: slice = _ALL) -> FloatArray:
        """Minus the ranks in some items, by mean Borda, then mean margin (SEAL, §2.3)."""
        placements = [placed[1] for placed in self.ranked[items] if placed is not None]
        borda = self.table(items)
        cells = [
            [placement.margins.get(m, math.nan) for m in self.models] for placement in placements
        ]
        margins = np.array(cells, np.float64).reshape(borda.shape)
        return -competition_ranks(_means(borda), _means(margins))

    def unranked(self, n_items: int) -> float:
        """The share of places without a rank in the first items."""
        places = sum(len(placed[1].ranks) for placed in self.ranked[:n_items] if placed is not None)
        return 1 - places / (n_items * len(self.models))


Part = tuple[World, int, int, int, str, Swap | None]
"""World, number of items, seed, pool, label of a protocol, swap: what one process plays."""


def _play_all(parts: Sequence[Part], jobs: int | None) -> list[Run]:
    """Play all parts, in several processes where that pays; the same numbers either way."""
    work = sum(n_items for _, n_items, *_ in parts)
    workers = min(len(parts), jobs or (os.cpu_count() or 1 if work >= _MUCH else 1))
    with ProcessPoolExecutor(workers) if workers > 1 else nullcontext() as pool:
        runs = pool.map(play, parts) if pool else map(play, parts)
        return list(tracked(runs, "judging planted items", len(parts)))


def play(part: Part) -> Run:
    """One protocol on all items of a pool."""
    world, n_items, seed, repeat, label, swap = part
    pool = _pool(world, n_items, seed, repeat)
    variant = _variant(label, swap, world.models)

    async def judged() -> Run:
        settings = {**variant.protocol.prepare(pool.contests), **variant.settings}
        run = Run(pool.models)
        for number, contest in enumerate(pool.contests):
            judge = pool.judge(number, label)
            run.add(await judge_item(variant.protocol, contest, judge, settings=settings))
        return run

    return in_event_loop(judged)


# The protocols of a repeat have their pool in common.
_pool = lru_cache(maxsize=1)(Pool)


def _variant(label: str, swap: Swap | None, models: Sequence[str]) -> Variant:
    """A protocol and its settings from a label; `swap` holds where the label does not say.

    Raises:
        LabError: no such protocol, no such setting of it, or not with these models.
    """
    try:
        variant = read_variant(label)
        variant.protocol.check(variant.settings, models)
    except ProtocolError as error:
        raise LabError(str(error)) from error
    require(
        not variant.protocol.keyed,
        f"{variant.protocol.name} judges by the key of an item, and planted items have none",
    )
    if swap is None or "swap" not in settings_of(variant.protocol):
        return variant
    return replace(variant, settings={"swap": swap, **variant.settings})


def _row(
    label: str,
    n_items: int,
    boards: FloatArray,
    reference: FloatArray,
    truth: FloatArray,
    runs: Sequence[Run],
    target: float,
) -> Row:
    calls = sum((counts for run in runs for counts in run.calls[:n_items]), Counter[str]())
    scored = [usable for run in runs for item in run.verdicts[:n_items] for usable in item]
    reached = spearman_many(boards, truth) >= target
    return Row(
        protocol=label,
        n_items=n_items,
        reference=_agreement(boards, reference),
        truth=_agreement(boards, truth),
        calls={k: calls[k] / (n_items * len(runs)) for k in KINDS if calls[k]},
        depth=float(np.mean([run.depth[:n_items] for run in runs])),
        unscored=1 - sum(scored) / len(scored) if scored else math.nan,
        unranked=float(np.mean([run.unranked(n_items) for run in runs])),
        recovered=float(reached.mean()),
    )


def _agreement(boards: FloatArray, other: FloatArray) -> Agreement:
    """Figures over pools: boards of shape (repeats, N), the other one (repeats, N) or (N,)."""
    measures = (spearman_many, kendall_tau_many, top1_many)
    return Agreement(*(_figure(measure(boards, other)) for measure in measures))


def _figure(values: FloatArray) -> Figure:
    defined = values[~np.isnan(values)]
    n = defined.size
    return Figure(
        mean=float(defined.mean()) if n else math.nan,
        standard_error=float(defined.std(ddof=1) / math.sqrt(n)) if n > 1 else math.nan,
        minimum=float(defined.min()) if n else math.nan,
        undefined=int(values.size - n),
    )


def _means(table: FloatArray) -> FloatArray:
    """Mean of every column over the cells that are there."""
    return ratio(np.nansum(table, axis=0), np.sum(~np.isnan(table), axis=0))
