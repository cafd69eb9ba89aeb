"""Plans: what a budget buys, or what a precision costs, and the command to run it.

Calls are better spent on items than on pairs, so a planned round robin has one round on as many
items as possible, then more rounds, up to all pairs:

    half-width = t · √(v / n),   v = σ² (1 + (k − 1) ρ) / k

for n items and k rounds; σ² = (1 − ties) / 4 is the variance of a result, ρ the correlation of two
results of a model on one item (they are about the same answer). Ties, ρ and the differences between
models are estimated from a ranking log of the same judge.
"""

import math
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final, NamedTuple

import numpy as np

from tiebreak.candidates import CandidatePool, identical_groups, load_candidates
from tiebreak.paths import Paths, path_list
from tiebreak.scorers.schedule import n_rounds
from tiebreak.study.estimate import EstimateError
from tiebreak.study.estimate.cost import estimate_cost
from tiebreak.study.estimate.estimate import TIES, Estimate
from tiebreak.study.estimate.experience import (
    Evidence,
    by_schedule,
    cheaper_protocol,
    find_evidence,
    native_evidence,
)
from tiebreak.study.tasks import TaskRun, drawn, option_words

LEVEL: Final = 0.95
RHO: Final = 1 / 3
"""Correlation of two results of a model on an item, for equal models and a judge without noise:
(2 / π) arcsin ½. Noise makes it smaller, so more rounds then gain more than planned."""
# A pair is listed as told apart from this power on.
PROBABLY: Final = 0.5
BATCH: Final = 0.5
"""Price of a call in a batch as a share of its direct price, at all large providers."""
HIDDEN: Final = 1_000
"""Assumed maximum of reasoning tokens per call if their number is unknown."""
FEWEST: Final = 6
"""Smallest number of items with which two models can be told apart."""


class Goal(NamedTuple):
    """The goal of a plan: dollars, calls, or the half-width of a score's 95% interval."""

    dollars: float | None = None
    calls: int | None = None
    precision: float | None = None

    @property
    def sentence(self) -> str:
        """The goal in words."""
        if self.dollars is not None:
            return f"a budget of ${self.dollars:,.2f}"
        if self.calls is not None:
            return f"a budget of {self.calls:,} calls"
        return f"scores within ±{self.precision:g}"


class Rate(NamedTuple):
    """The cost of one item under a protocol: calls and direct dollars (None: no price).

    `most` are the dollars with `HIDDEN` reasoning tokens per call if the judge may reason; for
    peers the high end of the estimate.
    """

    calls: float
    dollars: float | None
    most: float | None


class PairPower(NamedTuple):
    """Two models, the better one first, and the probability that the run tells them apart."""

    first: str
    second: str
    power: float


@dataclass(frozen=True, slots=True)
class Option:
    """One way to spend the budget. `dollars` is the direct price, `batch` the price in batches.

    If a judge may reason to an unknown extent, these are without hidden tokens, and `dollars_most`
    and `batch_most` are with `HIDDEN` per call; otherwise both are the same. `half_width` is that
    of a score's 95% interval, NaN if unknown; `pairs` has all pairs of models, those most likely
    told apart first, empty if nothing is known about their differences.
    """

    label: str
    n_items: int
    calls: float
    dollars: float | None
    dollars_most: float | None
    half_width: float
    pairs: tuple[PairPower, ...]

    @property
    def batch(self) -> float | None:
        """Dollars if all calls are made in batches."""
        return None if self.dollars is None else BATCH * self.dollars

    @property
    def batch_most(self) -> float | None:
        """Dollars in batches with hidden tokens."""
        return None if self.dollars_most is None else BATCH * self.dollars_most

    @property
    def apart(self) -> tuple[PairPower, ...]:
        """The pairs that the run will probably tell apart."""
        return tuple(pair for pair in self.pairs if pair.power >= PROBABLY)


@dataclass(frozen=True, slots=True)
class Plan:
    """A plan of judging. The first of `options` is recommended, for the reason in `why`.

    `estimate` has one round and all rounds; a budget in dollars is kept even with `HIDDEN` tokens.
    `rests_on` names the sources of noise and differences; `command` runs the recommended option.
    """

    benchmark: str
    models: tuple[str, ...]
    n_items: int
    judge: str
    goal: Goal
    options: tuple[Option, ...]
    why: str
    rests_on: tuple[str, ...]
    command: str
    estimate: Estimate


class Noise(NamedTuple):
    """Variance of a result, and the correlation of two results of a model on an item."""

    result: float
    rho: float

    def of_item(self, rounds: float) -> float:
        """Variance of a model's score in an item of a round robin with `rounds` rounds."""
        return self.result * (1 + (rounds - 1) * self.rho) / rounds


def noise_of(identical: float, tie: float, seen: Evidence | None) -> Noise:
    """The noise of matches; the share `identical` of pairs has identical answers and is tied.

    `tie` is the assumed share of even verdicts without a log; `seen` is the evidence of the same
    judge from a protocol whose pairings do not depend on results.
    """
    result = (1 - identical) * (1 - (tie if seen is None else seen.tie)) / 4
    if seen is None or seen.met < 1.5 or result <= 0:
        return Noise(result, RHO)
    rho = (seen.met * seen.noise / result - 1) / (seen.met - 1)
    return Noise(result, min(1.0, max(0.0, rho)))


def half_width(noise: float, n_items: int) -> float:
    """Half-width of the 95% interval of a mean over `n_items`; NaN below two."""
    from scipy.stats import t

    if n_items < 2:
        return math.nan
    return float(t.ppf((1 + LEVEL) / 2, n_items - 1)) * math.sqrt(noise / n_items)


def powers(seen: Evidence | None, noise: float, n_items: int) -> tuple[PairPower, ...]:
    """The probability of telling each pair apart, the largest first; empty without evidence.

    It is averaged over the posterior of the true scores (`Evidence.shrunk`). The test is a normal
    test with a Bonferroni correction for all pairs, a little more cautious than the tests of a
    leaderboard.
    """
    from scipy.stats import norm

    if seen is None or n_items < FEWEST:
        return ()
    n = len(seen.models)
    # Scores of an item sum to a constant, so the difference of two varies more than if independent.
    error = math.sqrt(2 * noise / n_items * n / (n - 1))
    critical = float(norm.isf((1 - LEVEL) / (n * (n - 1)))) * error
    scores, open_ = seen.shrunk()
    pairs = []
    for first, other in combinations(range(n), 2):
        gap = abs(float(scores[first] - scores[other]))
        spread = math.sqrt(error**2 + open_[first] ** 2 + open_[other] ** 2)
        power = norm.sf((critical - gap) / spread) + norm.cdf((-critical - gap) / spread)
        ahead, behind = (first, other) if scores[first] >= scores[other] else (other, first)
        pairs.append(PairPower(seen.models[ahead], seen.models[behind], float(power)))
    return tuple(sorted(pairs, key=lambda pair: (-pair.power, pair.first, pair.second)))


def spend(goal: Goal, n_pool: int, rates: Sequence[Rate], noise: Noise) -> tuple[int, int]:
    """Rounds and items of a round robin for a goal; `rates` are for 1, 2, … rounds.

    Raises:
        EstimateError: the budget does not buy enough items, or no price is known.
    """
    if goal.precision is not None:
        for rounds in range(1, len(rates) + 1):
            n_items = _items_for(goal.precision, noise.of_item(rounds), n_pool)
            if n_items is not None:
                return rounds, n_items
        return len(rates), n_pool
    affordable = [_items(goal, rate) for rate in rates]
    if affordable[0] < FEWEST:
        least = _least(goal, rates[0])
        raise EstimateError(
            f"{goal.sentence[0].upper()}{goal.sentence[1:]} judges {affordable[0]} items, and "
            f"below {FEWEST} no two models can be told apart: it takes {least}."
        )
    if affordable[0] < n_pool:
        return 1, affordable[0]
    return max(k for k, n_items in enumerate(affordable, start=1) if n_items >= n_pool), n_pool


def _items_for(precision: float, noise: float, n_pool: int) -> int | None:
    """The fewest items with a half-width of at most `precision`, None if all are too few."""
    if half_width(noise, n_pool) > precision:
        return None
    low, high = 2, n_pool
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if half_width(noise, middle) <= precision else (middle + 1, high)
    return max(low, min(FEWEST, n_pool))


def _items(goal: Goal, rate: Rate) -> int:
    if goal.calls is not None:
        # An item without calls sets no limit.
        return math.floor(goal.calls / rate.calls) if rate.calls else 10**9
    if rate.most is None:
        raise EstimateError(
            "No price of the judge is known: add --price IN,OUT (dollars per million tokens) or "
            "--model-cost-config FILE, or give --calls instead of --budget."
        )
    return math.floor((goal.dollars or 0) / rate.most) if rate.most else 10**9


def _least(goal: Goal, rate: Rate) -> str:
    if goal.calls is not None:
        return f"{math.ceil(FEWEST * rate.calls)} calls or more"
    hidden = f", at {HIDDEN:,} reasoning tokens a call; --reasoning-tokens says how many it takes"
    least = f"${FEWEST * (rate.most or 0):,.2f} or more"
    return least if rate.most == rate.dollars else least + hidden


def _options(
    goal: Goal,
    n_pool: int,
    rates: Sequence[Rate],
    noise: Noise,
    evidence: Sequence[Evidence],
    gaps: Evidence | None,
) -> tuple[list[Option], str]:
    """The options, the recommended one first, and the reason for it.

    It is a round robin, unless logs of this judge show that another protocol gives the same board
    for clearly fewer calls: seeding and listwise calls are informative if lists are precise and
    matches are noisy, and misleading if lists have preferences of their own.
    """

    def option(label: str, n: int, calls: float, rate: Rate, times: float, noise: float) -> Option:
        dollars, most = (None if per is None else times * per for per in (rate.dollars, rate.most))
        return Option(label, n, calls, dollars, most, half_width(noise, n), powers(gaps, noise, n))

    rounds, n_items = spend(goal, n_pool, rates, noise)
    rate, label = rates[rounds - 1], f"round_robin:rounds={rounds}"
    robin = option(label, n_items, n_items * rate.calls, rate, n_items, noise.of_item(rounds))
    board = by_schedule(evidence)
    if board is None:
        why = (
            "Calls on more items find more than calls on more pairs, and a round robin needs no "
            "seeding and no calls that wait; no log of this judge shows otherwise"
        )
        return [robin], why
    needed = rates[0].calls * noise.of_item(1) / board.signal if board.signal > 0 else math.inf
    rival = cheaper_protocol(evidence, board, needed)
    if rival is None:
        return [robin], "No log of this judge shows a protocol that finds the same for fewer calls"
    if goal.precision is None:
        calls = goal.calls if goal.calls is not None else robin.calls
        n = min(n_pool, math.floor(calls / rival.calls))
    else:
        n = _items_for(goal.precision, rival.noise, n_pool) or n_pool
    why = (
        f"In {rival.log} {rival.protocol} finds what all pairs find for "
        f"{rival.needed / needed:.0%} of a round robin's calls"
    )
    calls = n * rival.calls
    times = calls / rates[0].calls
    return [option(rival.protocol, n, calls, rates[0], times, rival.noise), robin], why


def rests_on(seen: Evidence | None, gaps: Evidence | None, identical: float) -> Iterator[str]:
    """The sources of noise and of differences, one sentence each."""
    if seen is None:
        yield (
            "Noise: that of a judge who tells all different answers apart "
            f"({identical:.0%} of the pairs of answers are identical)"
        )
    else:
        yield f"Noise: as in {seen.log} ({seen.protocol}, {seen.n_items:,} items)"
    if gaps is None:
        yield "Differences between models: unknown; a first small run of this judge would show them"
    elif gaps.protocol == "native":
        yield (
            "Differences between models: those of their native scores, as if the judge saw right "
            "and wrong and nothing else; it may see more"
        )
    else:
        yield f"Differences between models: as in {gaps.log}, less what chance adds to them"


_LOADING = ("mode", "native", "filter", "rename", "names", "same_settings")


def plan_judging(
    candidates: Paths, goal: Goal, *, judge: str | None, from_log: str | None = None, **how: Any
) -> Plan:
    """Plan judging for a budget of dollars or calls, or for a precision. No model is called.

    The other arguments are those of `estimate_cost`. Ranking logs of this judge in the folders of
    candidates are used, and `from_log`, a log from elsewhere.

    Raises:
        EstimateError: no judge, several benchmarks, or the budget is too small; and as
            `estimate_cost` does.
        CandidateError: the candidates cannot be loaded or aligned.
        RankingLogError: `from_log` is not a ranking log.
        PrerequisiteError: the pool or the rubric does not fit.
    """
    if judge is None:
        raise EstimateError("A plan is for a judge: add --judge MODEL, such as openai/gpt-5.")
    loading = {name: how.pop(name) for name in _LOADING if name in how}
    pool = load_candidates(candidates, **loading)
    if len(pool.benchmarks) > 1:
        raise EstimateError(
            f"A plan is for one benchmark, and these candidates hold {len(pool.benchmarks)}: "
            f"{', '.join(pool.benchmarks)}. Give the logs of one at a time."
        )
    n_models, n_pool = len(pool.models), len(pool.items)
    evidence = find_evidence(candidates, pool, judge, from_log)
    seen, identical = by_schedule(evidence), _identical(pool)
    noise = noise_of(identical, TIES.likely, seen)
    # Estimate one round and all rounds; `rates` interpolates between them.
    ends = [f"round_robin:rounds={rounds}" for rounds in sorted({1, n_rounds(n_models)})]
    estimated = estimate_cost(pool, ends, judge=judge, from_log=from_log, **how)
    per_item = rates(estimated)
    # Differences come from the largest log of this judge; without one from native scores.
    gaps = max(evidence, key=lambda board: board.n_items, default=native_evidence(pool))
    gaps = gaps if gaps is not None and gaps.models == pool.models else None
    options, why = _options(goal, n_pool, per_item, noise, evidence, gaps)
    return Plan(
        benchmark=pool.benchmarks[0],
        models=pool.models,
        n_items=n_pool,
        judge=judge,
        goal=goal,
        options=tuple(options),
        why=why,
        rests_on=tuple(rests_on(seen, gaps, identical)),
        command=_command(candidates, options[0], n_pool, judge, how | loading),
        estimate=estimated,
    )


def _identical(pool: CandidatePool) -> float:
    """The share of the pairs of answers that are identical."""
    n = len(pool.models)
    same = [
        sum(len(group) * (len(group) - 1) for group in identical_groups(row)) for _, row in pool
    ]
    return sum(same) / (len(same) * n * (n - 1))


def rates(estimated: Estimate) -> list[Rate]:
    """The cost of an item with 1, 2, … rounds, interpolated between one and all rounds."""
    first, last = estimated.protocols[0], estimated.protocols[-1]
    rounds = n_rounds(len(estimated.models))
    calls = np.linspace(first.calls.likely, last.calls.likely, rounds) / estimated.n_items
    if first.cost is None or last.cost is None:
        return [Rate(per_item, None, None) for per_item in calls.tolist()]
    dollars = np.linspace(first.cost.likely, last.cost.likely, rounds) / estimated.n_items
    price = estimated.judges.price
    if price is None:
        most = np.linspace(first.cost.high, last.cost.high, rounds) / estimated.n_items
    else:
        most = dollars + calls * (HIDDEN * price.output / 1e6 if estimated.hiding else 0.0)
    return [Rate(*row) for row in np.stack((calls, dollars, most), 1).tolist()]


def loading_words(loading: Mapping[str, Any]) -> Iterator[str]:
    """Arguments of `load_candidates` as options of a command, without those at their defaults."""
    pairs = {"rename": loading.get("rename") or {}, "name": loading.get("names") or {}}
    options: list[tuple[str, Any]] = [
        ("mode", "intersect" if loading.get("mode") == "intersect" else None),
        ("same-settings", loading.get("same_settings") or None),
        ("metric", loading.get("native")),
        ("filter", loading.get("filter")),
    ]
    options += [(name, f"{a}={b}") for name, named in pairs.items() for a, b in named.items()]
    return option_words(options)


def _command(
    candidates: Paths, option: Option, n_pool: int, judge: str, how: Mapping[str, Any]
) -> str:
    """The command to run; a part of the items is random, as benchmarks can be in subject order."""
    name, _, rounds = option.label.partition(":rounds=")
    paths, before = path_list(candidates), ""
    if any(how.get(name) for name in ("native", "filter", "rename", "names")):
        words = ["tiebreak", "candidates", *map(str, paths), *loading_words(how)]
        before = f"{shlex.join([*words, '--out', 'pool.parquet'])} && "
        paths = ["pool.parquet"]
    arguments = {
        "candidates": paths,
        "rounds": rounds,
        "mode": "intersect" if how.get("mode") == "intersect" else None,
        **{name: how.get(name) for name in ("same_settings", "task_type", "rubric", "seed")},
    }
    items = drawn(how.get("seed", 0), option.n_items) if option.n_items < n_pool else {}
    options = {**items, "model_role": f"judge={judge}"}
    given = {name: value for name, value in arguments.items() if value}
    return before + TaskRun(f"tiebreak/{name}", None, given, options).command("eval")
