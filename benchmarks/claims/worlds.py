"""Worlds whose truth is known: boards, pass rates, panels, and the ballots of planted judges.

Everything is in units of the standard deviation of a model's answers over items:

    u[t, i] = θ[i] + N(0, 1)        quality of model i's answer to item t

Models whose θ differ by 0.2 are nearly tied. All draws come from the given generator.
"""

import math
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import combinations
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tiebreak.analysis.peers.panel import Panel
from tiebreak.demo.lab.planted import Traits
from tiebreak.rankers import mean_rank, normalized_borda
from tiebreak.ranking_logs.log import JudgedItem, RankingLog, placement_of
from tiebreak.scorers.ballots import ItemBallots, Match, Reviewer, Rule, Tiering, Verdict
from tiebreak.scorers.bracket import Bye, Pairing, first_round, next_round
from tiebreak.scorers.match import Swap, ask_swapped, settle
from tiebreak.scorers.schedule import Schedule, schedule

Array = NDArray[np.float64]
Generator = np.random.Generator

PLACED_BY: dict[str, Rule] = {
    "seal": "elimination",
    "full_pairwise": "win_rate",
    "round_robin": "points",
}

FAIR = Traits(noise=0.5, fresh=True)
NOISY = Traits(noise=1.5, fresh=True)
COIN = Traits(noise=100.0, fresh=True, scale=200.0)
"""Unbiased judges: the error of each reading of a pair has sd 0.5 (fair), 1.5 (noisy), or 100."""


def position_bound(rate: float, noise: float = 0.5) -> Traits:
    """A judge with position bias: of two equal models it prefers the first one at this rate."""
    return Traits(noise=noise, fresh=True, position_bias=_worth(rate, noise))


def length_loving(rate: float, noise: float = 0.5) -> Traits:
    """A judge that, of two equal models, prefers an answer longer by 1 sd at this rate."""
    return Traits(noise=noise, fresh=True, verbosity_bias=_worth(rate, noise))


def _worth(rate: float, noise: float) -> float:
    return NormalDist().inv_cdf(rate) * math.sqrt(2 + noise**2)


def near_ties(n_models: int, sd: float = 0.1) -> Array:
    """θ of models that are nearly tied, best first: normal quantiles of this sd, mean 0."""
    normal = NormalDist()
    quantiles = [normal.inv_cdf((n_models - i - 0.5) / n_models) for i in range(n_models)]
    return sd * np.array(quantiles) / np.std(quantiles)


def qualities(rng: Generator, theta: ArrayLike, n_items: int, *, ties: float = 0.0) -> Array:
    """Draw the qualities u of answers, shape (n_items, N).

    With probability `ties` an answer is the item's common one, which is as good as an average
    model's; all models that give it are exactly equal. At 0.8 two models are tied in 64% of the
    items, and all of eight in 17%.
    """
    best = np.asarray(theta, dtype=np.float64)
    own = best + rng.standard_normal((n_items, len(best)))
    common = best.mean() + rng.standard_normal((n_items, 1))
    return np.where(rng.random(own.shape) < ties, common, own)


def board(rng: Generator, theta: ArrayLike, n_items: int, *, ties: float = 0.0) -> Array:
    """Draw normalized Borda scores, shape (n_items, N), in [0, 1]; ties share mean ranks."""
    return borda(qualities(rng, theta, n_items, ties=ties))


def borda(scores: Array) -> Array:
    """Normalized Borda scores of models in each item by scores (n_items, N), higher is better."""
    n = scores.shape[1]
    if n > 60:  # all pairs of all items would not fit into memory
        return normalized_borda(mean_rank(-scores))
    left, right = scores[:, :, None], scores[:, None, :]
    beaten = np.sum(left > right, axis=2) + 0.5 * (np.sum(left == right, axis=2) - 1)
    found: Array = beaten / (n - 1)
    return found


def true_borda(theta: ArrayLike, *, ties: float = 0.0, noise: float = 0.0) -> Array:
    """Expected Borda scores of a board, exact: shape (N,).

    Of each pair both models answer on their own, or one gives the common answer, or both do and
    are tied. `noise` is the sd of the judge's error on a pair.
    """
    best = np.asarray(theta, dtype=np.float64)
    phi = np.vectorize(NormalDist(0, math.sqrt(2 + noise**2)).cdf, otypes=[np.float64])
    mean = best.mean()
    wins = (
        (1 - ties) ** 2 * phi(best[:, None] - best[None, :])
        + (1 - ties) * ties * (phi(best - mean)[:, None] + phi(mean - best)[None, :])
        + ties**2 / 2
    )
    np.fill_diagonal(wins, 0)
    found: Array = wins.sum(axis=1) / (len(best) - 1)
    return found


def passes(
    rng: Generator, theta: ArrayLike, n_items: int, *, rate: float = 0.97, hard: float = 1.0
) -> Array:
    """Draw passes (1) and fails (0) as on a saturated benchmark, shape (n_items, N).

    Items differ in difficulty by an sd of `hard`, so failures come together; a model of θ = 0
    passes at `rate`, see `pass_rates`.
    """
    best = np.asarray(theta, dtype=np.float64)
    threshold = NormalDist(0, math.sqrt(1 + hard**2)).inv_cdf(1 - rate)
    difficulty = hard * rng.standard_normal((n_items, 1))
    seen = best + rng.standard_normal((n_items, len(best))) - difficulty
    return (seen > threshold).astype(np.float64)


def pass_rates(theta: ArrayLike, *, rate: float = 0.97, hard: float = 1.0) -> Array:
    """Expected pass rates of the models of `passes`, shape (N,)."""
    over = NormalDist(0, math.sqrt(1 + hard**2))
    threshold = over.inv_cdf(1 - rate)
    return np.array([over.cdf(own - threshold) for own in np.asarray(theta, dtype=np.float64)])


def panel(
    rng: Generator,
    answers: Array,
    noise: ArrayLike,
    *,
    together: int = 0,
    correlation: float = 0.0,
    own: float = 0.0,
) -> Array:
    """Draw ranks that reviewers give to all answers, shape (items, reviewers, N), 1 = best.

    Args:
        rng: generator.
        answers: qualities, shape (items, N).
        noise: sd of each reviewer's error on an answer, shape (reviewers,).
        together: number of reviewers, the first ones, whose errors correlate.
        correlation: of the errors of these with each other; other errors are independent.
        own: added to what reviewer r sees in the answer of model r, for r < N.
    """
    sd = np.asarray(noise, dtype=np.float64)
    n_items, n_models = answers.shape
    errors = rng.standard_normal((n_items, len(sd), n_models))
    common = rng.standard_normal((n_items, 1, n_models))
    errors[:, :together] *= math.sqrt(1 - correlation)
    errors[:, :together] += math.sqrt(correlation) * common
    seen = answers[:, None, :] + sd[None, :, None] * errors
    both = min(len(sd), n_models)
    seen[:, range(both), range(both)] += own
    ranks: Array = (np.argsort(np.argsort(-seen, axis=2), axis=2) + 1).astype(np.float64)
    return ranks


def peer_panel(ranks: Array) -> Panel:
    """Turn ranks of N reviewers, as drawn by `panel`, into a review of N models by each other."""
    n_items, n, _ = ranks.shape
    models = names(n)
    return Panel(
        benchmark="b", log="log", models=models,
        reviewers=tuple(Reviewer(name=m, model=m, candidate=m) for m in models),
        own=tuple(range(n)), item_ids=tuple(map(str, range(n_items))), items=np.arange(n_items),
        ranks=ranks, shown=ranks, native=np.full((n_items, n), np.nan), aggregator="borda",
        degree=None, ballots=(), notes=(),
    )  # fmt: skip


@cache
def names(n_models: int) -> tuple[str, ...]:
    """m1, m2, …, zero-padded so that they sort."""
    return tuple(f"m{number:0{len(str(n_models))}}" for number in range(1, n_models + 1))


def judged(
    rng: Generator,
    theta: ArrayLike,
    n_items: int,
    traits: Traits = FAIR,
    *,
    protocol: str = "seal",
    swap: Swap = "close",
    ties: float = 0.0,
    longer_is_better: float = 0.0,
    habit: float = 0.5,
    seeding_noise: float = 1.0,
) -> list[ItemBallots]:
    """Draw the ballots of a planted judge, with matches as in a protocol.

    They are like those of `tiebreak.demo.lab`, but without its questions and bills, and take a
    tenth of the time.

    Args:
        rng: generator.
        theta: θ of the models, shape (N,).
        n_items: number of items.
        traits: the judge: `noise` (by pair, or anew for each reading if `fresh`),
            `position_bias`, `verbosity_bias`, `resolution`, `scale`.
        protocol: "seal" (bracket by a noisy seeding), "full_pairwise", or "round_robin" (one round
            of all models, so without `ties`).
        swap: which matches are asked in both orders.
        ties: as in `qualities`; models with the common answer are one group.
        longer_is_better: correlation of an answer's length with its quality, in [0, 1).
        habit: share of the variance of lengths between models, which is the same in all items.
        seeding_noise: sd of the error of SEAL's seeding on an answer.

    Returns:
        Ballots of items "0", "1", …, with lengths (log-normal characters) and without calls.
    """
    best = np.asarray(theta, dtype=np.float64)
    n = len(best)
    answers = qualities(rng, best, n_items, ties=ties)
    lengths = math.sqrt(habit) * rng.standard_normal((1, n))
    lengths = lengths + math.sqrt(1 - habit) * rng.standard_normal((n_items, n))
    lengths *= math.sqrt(1 - longer_is_better**2)
    lengths += longer_is_better * (answers - best.mean())
    same = answers[:, :, None] == answers[:, None, :]
    leader = np.argmax(same, axis=2)
    lengths = np.take_along_axis(lengths, leader, axis=1)
    seen = answers + traits.verbosity_bias * lengths
    error = np.triu(rng.standard_normal((n_items, n, n)), 1)
    gaps = seen[:, :, None] - seen[:, None, :]
    if not traits.fresh:
        gaps += traits.noise * (error - error.swapaxes(1, 2))
    reading = answers + seeding_noise * rng.standard_normal((n_items, n))
    found = []
    for number in range(n_items):
        judge = _Judge(rng, gaps[number].tolist(), traits, swap)
        groups = _groups(leader[number].tolist())
        leaders = [group[0] for group in groups]
        seeds = sorted(leaders, key=reading[number].__getitem__, reverse=True)
        if protocol == "seal":
            matches = judge.bracket(seeds)
        elif protocol == "full_pairwise":
            matches = judge.all_pairs(leaders)
        elif protocol == "round_robin":
            matches = judge.first_round(schedule(names(n), n_items, "0"), number)
        else:
            raise ValueError(f"no pattern of {protocol}")
        models = names(n)
        found.append(
            planted_item(
                number,
                models,
                protocol=protocol,
                groups=[[models[i] for i in group] for group in groups],
                lengths={
                    models[i]: round(400 * math.exp(0.3 * lengths[number, i])) for i in leaders
                },
                placed_by=PLACED_BY[protocol],
                tiering=_tiers([models[i] for i in seeds]) if protocol == "seal" else None,
                seeds=tuple(models[i] for i in seeds) if protocol == "seal" else (),
                matches=tuple(matches),
            )
        )
    return found


def planted_item(
    number: int,
    models: Sequence[str],
    groups: Sequence[Sequence[str]] | None = None,
    **judged: Any,
) -> ItemBallots:
    """Ballots of an item that was judged completely; without `groups` all answers differ.

    `judged` are the other fields of the ballots: the protocol, and the judges' verdicts.
    """
    return ItemBallots(
        benchmark="planted",
        item_id=str(number),
        input_hash=str(number),
        task_type="planted",
        rubric="planted",
        seed=0,
        models=tuple(models),
        native=dict.fromkeys(models, 1.0),
        groups=tuple(map(tuple, groups or ([model] for model in models))),
        complete=True,
        **judged,
    )


def _tiers(seeds: Sequence[str]) -> Tiering:
    """Tiers of SEAL's seeding, best seed first: at most four, of about the same size."""
    k = min(4, len(seeds))
    return Tiering(tiers={name: 1 + n * k // len(seeds) for n, name in enumerate(seeds)})


def _groups(leader: Sequence[int]) -> list[list[int]]:
    groups: dict[int, list[int]] = {}
    for model, first in enumerate(leader):
        groups.setdefault(first, []).append(model)
    return list(groups.values())


class _Judge:
    """Plays the matches of one item."""

    def __init__(self, rng: Generator, gaps: list[list[float]], traits: Traits, swap: Swap) -> None:
        self.gaps, self.traits, self.swap = gaps, traits, swap
        n = len(gaps)
        self.names = names(n)
        self.sampled = set(rng.choice(n, 2, replace=False).tolist() if swap == "sample" else ())
        # Enough errors for a match of every pair in both orders.
        self.errors = iter(rng.standard_normal(n * (n - 1)).tolist() if traits.fresh else [])
        self.sides = iter((rng.random(n * (n - 1) // 2) < 0.5).tolist())

    def bracket(self, seeds: Sequence[int]) -> list[Match]:
        """Play a single elimination; `seeds` are models, best seed first."""
        number = dict(zip(self.names, range(len(self.names)), strict=True))
        order = [self.names[i] for i in seeds]
        played: list[Match] = []
        slots = first_round(order) if len(order) > 1 else []
        while slots:
            winners = []
            for slot in slots:
                if isinstance(slot, Bye):
                    winners.append(slot.high)
                    continue
                played.append(self.match(slot, number[slot.high], number[slot.low]))
                winners.append(played[-1].winner)
            slots = next_round(slots[0].round + 1, winners, order) if len(winners) > 1 else []
        return played

    def all_pairs(self, models: Sequence[int]) -> list[Match]:
        """Play every pair once."""
        return [
            self.match(Pairing(1, slot, self.names[i], self.names[j]), i, j)
            for slot, (i, j) in enumerate(combinations(models, 2))
        ]

    def first_round(self, plan: Schedule, item: int) -> list[Match]:
        """Play an item's first round, one match in both orders if the item is in the sample."""
        pairs = [
            (self.names.index(one), self.names.index(other)) for one, other in plan.of(item)[0]
        ]
        # Answers are drawn alike for all pairs, so any pair of the round may be the sampled one.
        twice = self.swap == "sample" and plan.sampled(item) == 0
        self.sampled = {*pairs[0]} if twice else set()
        return [
            self.match(Pairing(1, slot, self.names[i], self.names[j]), i, j)
            for slot, (i, j) in enumerate(pairs)
        ]

    def match(self, pairing: Pairing, high: int, low: int) -> Match:
        left, right = (high, low) if next(self.sides) else (low, high)
        verdicts = [self.verdict(left, right)]
        if ask_swapped(self.swap, verdicts, sampled={high, low} == self.sampled):
            verdicts.append(self.verdict(right, left))
        return settle(pairing, verdicts)

    def verdict(self, left: int, right: int) -> Verdict:
        traits = self.traits
        gap = self.gaps[left][right] + traits.position_bias
        if traits.fresh:
            gap += traits.noise * next(self.errors)
        margin = 0.0 if abs(gap) < traits.resolution else gap / traits.scale
        margin = max(-1.0, min(1.0, margin))
        return Verdict(first=self.names[left], margin=margin, checklist_margin=margin)


def ranking_log(items: Iterable[ItemBallots]) -> RankingLog:
    """A finished ranking log of these items with their placements, for `board_of` and others."""
    samples = tuple(
        JudgedItem(one.item_id, 1, ballots=one, placement=placement_of(one)) for one in items
    )
    return RankingLog(
        path="planted.eval",
        files=("planted.eval",),
        task="planted",
        eval_id="E1",
        task_id="T1",
        created="2026-01-01T00:00:00+00:00",
        status="success",
        protocol=samples[0].ballots.protocol if samples and samples[0].ballots else "",
        benchmark="planted",
        run="",
        shard=None,
        arguments={},
        planned=tuple(one.id for one in samples),
        n_expected=len(samples),
        samples=samples,
    )
