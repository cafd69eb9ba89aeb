"""A plan: what a budget buys, or what a precision costs, and the command that asks for it.

Calls are better spent on items than on pairs, so a round robin first plays one round on as many
items as there are, then more rounds, and all pairs at the end:

    half-width = t · √(v / n),   v = σ² (1 + (k − 1) ρ) / k

for n items and k rounds; σ² = (1 − ties) / 4 is the variance of a result, ρ the correlation of two
results of a model on one item (it gave one answer there). A ranking log of the same judge says what
ties and ρ are, and how far models lie apart.
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
"""Correlation of two results of a model on an item, of equal models and a judge without noise:
(2 / π) arcsin ½. Noise makes it smaller, so that more rounds gain more than is said here."""
PROBABLY: Final = 0.5
BATCH: Final = 0.5
"""What a call costs in a batch, of its direct price, at all large providers."""
HIDDEN: Final = 1_000
"""Reasoning tokens of a call, at most, where nothing is known of them."""
FEWEST: Final = 6
"""Items below which no two models can be told apart."""


class Goal(NamedTuple):
    """One of them is given: dollars, calls, or the half-width of a score's 95% interval."""

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
    """What one item costs under a protocol: calls and direct dollars (None: no price).

    `most` are the dollars with `HIDDEN` reasoning tokens a call, where there may be so many; of
    peers those of the dearest replies.
    """

    calls: float
    dollars: float | None
    most: float | None


class PairPower(NamedTuple):
    """Two models, and the probability that the run tells them apart."""

    first: str
    second: str
    power: float


@dataclass(frozen=True, slots=True)
class Option:
    """One way to spend the budget. `dollars` is the direct price, `batch` that in a batch.

    Where a judge may reason and nobody said how much, they are those without a hidden token, and
    `dollars_most` and `batch_most` those with `HIDDEN` a call; else both are the same.
    `half_width` is that of a score's 95% interval, NaN where it is not known; `pairs` are all pairs
    of models, the most likely ones first, empty where nothing is known about them.
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
        """Dollars where all calls go into batches."""
        return None if self.dollars is None else BATCH * self.dollars

    @property
    def batch_most(self) -> float | None:
        """The same with hidden tokens."""
        return None if self.dollars_most is None else BATCH * self.dollars_most

    @property
    def apart(self) -> tuple[PairPower, ...]:
        """The pairs that it will probably tell apart."""
        return tuple(pair for pair in self.pairs if pair.power >= PROBABLY)


@dataclass(frozen=True, slots=True)
class Plan:
    """What to run. `options` begins with what is recommended, and `why` says why.

    `estimate` is that of one round and of all; a budget in dollars holds with `HIDDEN` tokens, too.
    `rests_on` says what noise and differences were taken from; `command` is what to type.
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
        """Variance of a model's score in an item, of a round robin with so many rounds."""
        return self.result * (1 + (rounds - 1) * self.rho) / rounds


def noise_of(identical: float, tie: float, seen: Evidence | None) -> Noise:
    """The noise of matches, of which a share of pairs has `identical` answers and is tied.

    `tie` is the share of even verdicts that is assumed without a log; `seen` is a log of the same
    judge in which no result chose the pairs.
    """
    result = (1 - identical) * (1 - (tie if seen is None else seen.tie)) / 4
    if seen is None or seen.met < 1.5 or result <= 0:
        return Noise(result, RHO)
    rho = (seen.met * seen.noise / result - 1) / (seen.met - 1)
    return Noise(result, min(1.0, max(0.0, rho)))


def half_width(noise: float, n_items: int) -> float:
    """Half-width of the 95% interval of a mean of so many items; NaN below two."""
    from scipy.stats import t

    if n_items < 2:
        return math.nan
    return float(t.ppf((1 + LEVEL) / 2, n_items - 1)) * math.sqrt(noise / n_items)


def powers(seen: Evidence | None, noise: float, n_items: int) -> tuple[PairPower, ...]:
    """The probability of telling each pair apart, the largest first.

    Scores are drawn together as far as noise set them apart in the log, and what that leaves open
    is averaged over. The test is a normal one with a Bonferroni bound over all pairs, a little more
    cautious than the tests of a leaderboard.
    """
    from scipy.stats import norm

    if seen is None or n_items < FEWEST:
        return ()
    n = len(seen.models)
    # Scores of an item add up to a constant: two of them vary more than if they were independent.
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
    """The fewest items with a half-width of at most `precision`; None where all are too few."""
    if half_width(noise, n_pool) > precision:
        return None
    low, high = 2, n_pool
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if half_width(noise, middle) <= precision else (middle + 1, high)
    return max(low, min(FEWEST, n_pool))


def _items(goal: Goal, rate: Rate) -> int:
    if goal.calls is not None:
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
    """What to run, the recommended first, and why.

    A round robin, unless logs of this judge show that another protocol finds the same for clearly
    fewer calls: seeding and listwise calls carry information where lists are sharp and matches are
    noisy, and mislead where lists have a taste of their own.
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
    """What noise and differences were taken from, one sentence each."""
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
    """What to run for a budget of dollars or calls, or for a precision. No model is called.

    The other arguments are those of `estimate_cost`. Ranking logs of this judge in the folders of
    candidates are used, and `from_log`, one that lies elsewhere.

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
    # Of one round, and of all.
    ends = [f"round_robin:rounds={rounds}" for rounds in sorted({1, n_rounds(n_models)})]
    estimated = estimate_cost(pool, ends, judge=judge, from_log=from_log, **how)
    per_item = rates(estimated)
    # The largest log of this judge knows most about differences; without one, native scores.
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
    """What an item costs with 1, 2, … rounds: in between the first and all in equal steps."""
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
    """Arguments of `load_candidates` as options of a command, without those that change nothing."""
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
    """What to type. A part of the items is drawn by lot: a benchmark may be in order of subject."""
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
