"""The study: every protocol on the same planted pools, by the code that judges real answers.

For each number of items it measures a protocol's agreement with full pairwise judging and with the
truth, and its calls. From these follow the protocol and the number of items needed to rank the
models.
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
    """A figure over repeated pools: mean, standard error of the mean, and the worst pool.

    Pools in which it is undefined are left out and counted in `undefined`. NaN if no pool is left,
    or, for the standard error, only one.
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
    """Results of a protocol with a number of items.

    `reference` is the agreement with full pairwise judging of the same answers by the same judge,
    `truth` that with the planted qualities. `calls` are mean calls per item by kind, `depth` is the
    mean number of calls of an item that must follow one another. `unscored` is the share of
    verdicts, tierings, rankings and points without a usable reply (NaN: nothing was asked),
    `unranked` the share of places without a rank. `recovered` is the share of the pools whose ρ
    with the truth reaches the study's target; a leaderboard that ties all models has no ρ, and
    recovers nothing.
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
        """Calls of all kinds per item."""
        return math.fsum(self.calls.values())

    @property
    def total_calls(self) -> float:
        """Calls for all items together."""
        return self.calls_per_item * self.n_items


@dataclass(frozen=True)
class Simulation:
    """Results of all protocols, and the numbers of items at which they find the planted order.

    The order counts as found if ρ with the truth is at least `target` in at least the share
    `confidence` of the pools, with this and every larger number of items tried.
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
        """The number of items needed by each protocol, None if no number tried is enough."""
        needed: dict[str, int | None] = {}
        for row in sorted(self.rows, key=lambda row: row.n_items):
            if row.recovered < self.confidence:
                needed[row.protocol] = None
            elif needed.get(row.protocol) is None:
                needed[row.protocol] = row.n_items
        return needed

    @property
    def answer(self) -> str:
        """A sentence with the cheapest protocol and the number of items that it needs."""
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
"""Items × protocols × pools from which on worker processes are worth starting."""

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
    """Estimate how many items, and which protocol, are needed to separate models that you describe.

    No model is called: a planted judge judges planted answers. Smaller numbers of items are the
    first items of the same pools, so that rows of a protocol differ only in items. Refinement and
    critique cost calls here, but tell a planted judge nothing: their benefit in real runs is not
    simulated.

    Args:
        models: each model's quality, in units of the spread of a model's answers; or their number.
        items: numbers of items.
        spread: the standard deviation of the models' qualities, if `models` is a number.
        ties: share of answers that repeat another model's, in [0, 1).
        pass_rate: share of answers that pass the benchmark's own check, in (0, 1).
        noise: standard deviation of the judge's error on a pair.
        protocols: labels as for `scorers.protocols.read_variant`; full pairwise is always added.
        repeats: number of pools, each with its own answers.
        swap: when pairs are asked in both orders; None: as every protocol does by default.
        target: ρ with the truth from which the order counts as found.
        confidence: share of the pools in which ρ must reach `target`.
        seed: seed of all draws; the same seed gives the same numbers.
        jobs: number of worker processes; None: one per core if there is much work, else none.
        traits: the judge's other traits, fields of `Traits`: `position_bias`, `resolution`, ….

    Raises:
        LabError: a number or a label cannot be used; the message says which.
    """
    qualities = normal_qualities(models, spread) if isinstance(models, int) else tuple(models)
    judge = Traits(noise=noise, **cast("dict[str, Any]", traits))
    world = World(qualities, judge, ties=ties, pass_rate=pass_rate)
    sizes = tuple(sorted(set(items)))
    require(min(sizes, default=0) >= 1, "give numbers of items of 1 and more")
    require(repeats >= 1, f"{repeats} repeats: it takes one pool or more")
    labels = dict.fromkeys((*protocols, REFERENCE))
    for label in labels:
        # Check labels before any work, so that a wrong one costs no time.
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
    """A protocol's rankings of a pool's items, and its calls, with an entry for each item.

    Methods take the `items` to evaluate, by default all.
    """

    models: tuple[str, ...]
    ranked: list[tuple[ItemBallots, Placement] | None] = field(default_factory=list)
    calls: list[Counter[str]] = field(default_factory=list)
    depth: list[int] = field(default_factory=list)
    verdicts: list[list[bool]] = field(default_factory=list)

    def add(self, ballots: ItemBallots) -> None:
        """Record the ballots of an item."""
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
        """Negative ranks over `items`, by mean Borda, then mean margin (SEAL, §2.3)."""
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
"""World, number of items, seed, pool, label of a protocol, swap: a task for a process."""


def _play_all(parts: Sequence[Part], jobs: int | None) -> list[Run]:
    """Run all parts, in several processes if that pays; the results are the same either way."""
    work = sum(n_items for _, n_items, *_ in parts)
    workers = min(len(parts), jobs or (os.cpu_count() or 1 if work >= _MUCH else 1))
    with ProcessPoolExecutor(workers) if workers > 1 else nullcontext() as pool:
        runs = pool.map(play, parts) if pool else map(play, parts)
        return list(tracked(runs, "judging planted items", len(parts)))


def play(part: Part) -> Run:
    """Run a protocol on all items of a pool."""
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


# Cache one pool, because the protocols of a repeat share it.
_pool = lru_cache(maxsize=1)(Pool)


def _variant(label: str, swap: Swap | None, models: Sequence[str]) -> Variant:
    """Read a protocol and its settings from a label; `swap` applies if the label has none.

    Raises:
        LabError: the protocol or a setting does not exist, or it cannot be used with these models.
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
    """Figures over pools; `boards` have shape (repeats, N), `other` (repeats, N) or (N,)."""
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
    """Mean of every column over its defined cells."""
    return ratio(np.nansum(table, axis=0), np.sum(~np.isnan(table), axis=0))
