"""Boards of matches: scores, strengths and tests from votes of an arena, or of a judge elsewhere.

The quality of an answer is that of its model plus chance (sd 0.5), the same for all votes on an
item. A reader errs by sd 1.5, and votes for a tie if two answers seem closer than a bound. Either
each vote is on an item of its own, or items have several votes. Pairs are drawn evenly, "as in an
arena" (models have unequal popularity, and similar ones meet more often), or all with one baseline.
The same fit to endless votes on such pairs is the truth. Votes do not follow Bradley–Terry, so
intervals and tests have to hold without it.

Of two equal models "with other opponents" one mostly meets strong models, the other weak ones. If
the results follow Bradley–Terry, they should not be told apart. With readers as above the results
do not follow it, enough votes tell the two apart, and nothing is claimed. Boards ranked by least
squares were tried, too.

If people are asked about open pairs only (`vote --only-open`), each of these is tested by its own
votes. Scores over all opponents were tried: of two equal models the one that is asked against a
weaker neighbour comes out ahead. Weights of votes cannot correct this, because pairs that are never
asked have no votes. Power is that of the first pair, in which one is ahead, compared with a
schedule of all pairs.

Agreement and position are those of two raters of each item, one of whom answers a quarter of the
items without reading; otherwise an answer gains 0.3 by being shown first instead of second.

Shown:
    scores, strengths and margins of boards of matches: `rank` of a file of matches
    ranks and tiers of these boards: `rank` of a file of matches
    pairs of people's votes that were drawn among open pairs: `rank` of a votes file
    α of raters who judged the same, and how often the first answer won: `rank` of such a file
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations

import numpy as np
from scipy.special import ndtr

from benchmarks.claims import Claim, in_tests, mean, runs, share
from benchmarks.claims.worlds import Array, near_ties
from tiebreak.analysis.votes import vote_board
from tiebreak.rankers.intervals import Estimate
from tiebreak.rankers.massey import VoteFit, fit_votes
from tiebreak.rankers.matches import Matches, pair_points
from tiebreak.rankers.pairwise_tests import separation, separation_of_pairs
from tiebreak.tables.matches import MatchTable

HOLDS = (0.93, 0.97)
OWN, ERROR = 0.5, 1.5
EVEN = {0.0: 0.0, 0.3: 0.65, 0.7: 1.75}
"""Bound below which a reader votes for a tie, by the share of ties between equal models."""
ENDLESS = 2 * 10**5
GAIN = 0.15
"""Half of what an answer gains by being shown first instead of second."""


PAIRS = {
    "even": "pairs drawn evenly",
    "arena": "pairs as in an arena",
    "baseline": "all against a baseline",
    "unequal": "one meets the strong, one the weak",
}


@dataclass(frozen=True)
class World:
    """Numbers of models, items and votes on each item; `pairing` (`PAIRS`) and share of ties."""

    n_models: int
    n_items: int
    votes: int = 1
    pairing: str = "even"
    ties: float = 0.3

    def __str__(self) -> str:
        many = f"{self.n_items:,} items with {self.votes} votes"
        by = many if self.votes > 1 else f"{self.n_items:,} votes"
        return f"{self.n_models} models, {by}, {PAIRS[self.pairing]}, {self.ties:.0%} ties"


WORLDS = (
    World(4, 60),
    World(8, 300, ties=0.7),
    World(8, 1000, pairing="arena", ties=0.0),
    World(30, 3000, pairing="arena"),
    World(8, 400, pairing="baseline"),
    World(4, 20, 6),
    World(8, 50, 10),
    World(8, 100, 14, "baseline", ties=0.0),
    World(20, 200, 20, "arena"),
)


def claims(scale: float) -> Iterator[Claim]:
    """Coverage, false and true differences, other opponents, open pairs, and raters."""
    for number, world in enumerate(WORLDS):
        if in_tests(scale) and number not in (0, 6):
            continue
        yield from _coverage(scale, number, world)
        yield from _apart(scale, number, world)
    for number, sizes in enumerate([(2000, 1, 0.3), (20_000, 1, 0.0), (400, 10, 0.3)]):
        world = World(8, *sizes[:2], "unequal", sizes[2])
        if not (in_tests(scale) and number):
            yield from _other_opponents(scale, number, world)
    ahead = np.array([0.6, 0, -0.3, -0.6, -1.0])
    for number, n_votes in enumerate((40, 120, 400)):
        if not (in_tests(scale) and number):
            yield from _only_open(scale, number, n_votes, np.array([0, 0, -0.5, -0.5, -1.0]), 4)
        if not in_tests(scale):
            yield from _only_open(scale, 3 + number, n_votes, ahead, 4)
            yield from _only_open(scale, 6 + number, n_votes, ahead, 1)
    for number, n_items in enumerate((40, 400)):
        yield from _raters(scale, number, n_items)


def _coverage(scale: float, number: int, world: World) -> Iterator[Claim]:
    rng, n = np.random.default_rng((91, number)), runs(400, scale)
    theta = near_ties(world.n_models, 0.6)
    chances = _chances(theta, world.pairing)
    truth = _truth(theta, chances, world)
    fits = [_drawn(rng, theta, chances, world) for _ in range(n)]
    for name in ("score", "strength", "margin"):
        held = [_held(getattr(fit, name), getattr(truth, name)) for fit in fits]
        yield mean(f"votes: {name}s' intervals hold", str(world), held, HOLDS)
    yield mean("… power: pairs told apart", str(world), [_share_apart(fit) for fit in fits])


def _apart(scale: float, number: int, world: World) -> Iterator[Claim]:
    rng, n = np.random.default_rng((92, number)), runs(400, scale, least=200)
    theta = np.zeros(world.n_models)
    chances = _chances(near_ties(world.n_models, 0.6), world.pairing)
    apart = sum(bool(_drawn(rng, theta, chances, world).tests.apart) for _ in range(n))
    yield share("votes: equal models told apart", str(world), apart, n, (0, 0.05))


def _only_open(
    scale: float, number: int, n_votes: int, theta: Array, n_open: int
) -> Iterator[Claim]:
    """Tests of the first `n_open` neighbours, which are asked; models 0 and 1 may be equal."""
    n_models, order = len(theta), [*range(len(theta))]
    rng, n = np.random.default_rng((95, number)), runs(400, scale, least=200)
    neighbours = np.diag(np.arange(n_models - 1) < n_open, 1).astype(np.float64)
    everyone = np.triu(np.ones((n_models, n_models)), 1)
    world, present = World(n_models, n_votes), np.ones((n_votes, n_models), np.bool_)
    equal = {pair for pair in permutations(order, 2) if theta[pair[0]] == theta[pair[1]]}
    hits = np.zeros(2, dtype=int)
    for _ in range(n):
        votes = _matches(rng, theta, neighbours, world)
        apart = {*separation_of_pairs(_leads(votes), order).apart}
        every = votes if equal else _matches(rng, theta, everyone, world)
        by_scores = {*separation(pair_points(every, None, present), order).apart}
        hits += [bool((equal or {(0, 1)}) & pairs) for pairs in (apart, by_scores)]
    asked = "the first pair" if n_open == 1 else "neighbours"
    setting, (own, others) = f"{n_models} models, {n_votes} votes on {asked}", hits.tolist()
    if equal:
        yield share("votes on open pairs: equal models told apart", setting, own, n, (0, 0.05))
        yield share("… by scores over all opponents", setting, others, n)
    else:
        yield share("votes on open pairs: power: the first pair told apart", setting, own, n)
        yield share("… by as many votes on all pairs", setting, others, n)


def _leads(votes: Matches) -> dict[tuple[int, int], Array]:
    leads: dict[tuple[int, int], Array] = {}
    for pair in {*zip(votes.first.tolist(), votes.second.tolist(), strict=True)}:
        met = (votes.first == pair[0]) & (votes.second == pair[1])
        leads[pair] = 2 * votes.result[met] - 1
    return leads


def _other_opponents(scale: float, number: int, world: World) -> Iterator[Claim]:
    """Error for two equal models, one of which meets the strong models, the other the weak ones."""
    theta = np.array([0, 0, 1.2, 1.0, 0.8, -0.8, -1.0, -1.2])
    chances = np.ones((8, 8))
    chances[0, 5:] = chances[1, 2:5] = 0.1
    chances = np.triu(chances, 1)
    for follows in (True, False):
        if in_tests(scale) and not follows:
            return
        rng, n = np.random.default_rng((93, number, follows)), runs(400, scale)
        fits = [_drawn(rng, theta, chances, world, follows=follows) for _ in range(n)]
        apart = sum(bool({(0, 1), (1, 0)} & {*fit.tests.apart}) for fit in fits)
        setting = f"{world}; results {'follow' if follows else 'do not follow'} Bradley–Terry"
        claimed = (0.0, 0.05) if follows else None
        figure = "votes: two equal models with other opponents told apart"
        yield share(figure, setting, apart, n, claimed)
        pairs = [(fit.margin[0], fit.margin[1]) for fit in fits]
        alone = sum(a.lower > b.upper or b.lower > a.upper for a, b in pairs)
        figure = "votes: two models alike, apart by intervals of least squares"
        yield share(figure, setting, alone, n)


def _raters(scale: float, number: int, n_items: int) -> Iterator[Claim]:
    rng, n = np.random.default_rng((94, number)), runs(400, scale)
    truth, shown = _read(rng, 40_000), [_read(rng, n_items) for _ in range(n)]
    setting = f"two raters of {n_items} items, 8 models"
    for place, figure in enumerate(("α of raters", "share of the first answer")):
        held = [_held((row[place],), (truth[place],)) for row in shown]
        yield mean(f"votes: {figure}, interval holds", setting, held, HOLDS)


def _read(rng: np.random.Generator, n_items: int) -> tuple[Estimate, Estimate]:
    """Draw two raters' votes on a pair of each item; returns α and the first answer's share."""
    item, first = np.repeat(np.arange(n_items), 2), np.repeat(rng.integers(8, size=n_items), 2)
    second = (first + np.repeat(rng.integers(1, 8, size=n_items), 2)) % 8
    turned = rng.random(2 * n_items) < 0.5
    quality = near_ties(8, 0.6) + OWN * rng.standard_normal((n_items, 8))
    gap = quality[item, first] - quality[item, second] + np.where(turned, -GAIN, GAIN)
    gap = np.where((item % 4 == 0) & (np.arange(2 * n_items) % 2 == 0), 0, gap)
    gap += rng.standard_normal(2 * n_items)
    result = np.where(np.abs(gap) <= EVEN[0.3], 0.5, gap > 0)
    shown, names = np.where(turned, -1.0, 1.0), tuple("abcdefgh")
    rater = np.arange(2 * n_items) % 2
    board = vote_board(MatchTable("", names, first, second, result, item, rater, shown, ()))
    assert board.agreement is not None
    assert board.position is not None
    return board.agreement, board.position


def _chances(theta: Array, pairing: str) -> Array:
    """Relative frequency with which each pair meets, shape (N, N), above the diagonal."""
    n = len(theta)
    chances = np.ones((n, n))
    if pairing == "arena":
        popular = 1 / (1 + np.arange(n) * 7 % n)
        chances = popular[:, None] * popular * np.exp(-np.abs(theta[:, None] - theta))
    if pairing == "baseline":
        chances = np.zeros((n, n))
        chances[n // 2] = chances[:, n // 2] = 1
    return np.triu(chances, 1)


def _drawn(
    rng: np.random.Generator, theta: Array, chances: Array, world: World, *, follows: bool = False
) -> VoteFit:
    """Fit a board to votes drawn in a world."""
    return fit_votes(_matches(rng, theta, chances, world, follows=follows), seed=1)


def _matches(
    rng: np.random.Generator, theta: Array, chances: Array, world: World, *, follows: bool = False
) -> Matches:
    """Draw the votes of a world; with `follows` results follow Bradley–Terry."""
    n, n_votes = len(theta), world.n_items * world.votes
    pair = rng.choice(n * n, n_votes, p=(chances / chances.sum()).ravel())
    first, second = np.divmod(pair, n)
    turned = rng.random(n_votes) < 0.5
    first, second = np.where(turned, second, first), np.where(turned, first, second)
    item = np.repeat(np.arange(world.n_items), world.votes)
    quality = theta + OWN * rng.standard_normal((world.n_items, n))
    gap = quality[item, first] - quality[item, second] + ERROR * rng.standard_normal(n_votes)
    result = np.where(np.abs(gap) <= EVEN[world.ties], 0.5, gap > 0)
    if follows:
        chance = 1 / (1 + np.exp(theta[second] - theta[first]))
        tie, drawn = world.ties * np.minimum(chance, 1 - chance), rng.random(n_votes)
        result = np.where(drawn < chance - tie, 1.0, np.where(drawn < chance + tie, 0.5, 0.0))
    return Matches(first, second, result, item, n, world.n_items)


def _truth(theta: Array, chances: Array, world: World) -> VoteFit:
    """Fit a board to endless votes, in which every vote on a pair has its expected result."""
    first, second = np.nonzero(chances)
    sd, gap = math.sqrt(2 * OWN**2 + ERROR**2), theta[first] - theta[second]
    result = (ndtr((gap - EVEN[world.ties]) / sd) + ndtr((gap + EVEN[world.ties]) / sd)) / 2
    times = np.maximum(ENDLESS * chances[first, second] / chances.sum(), 1).astype(int)
    item, n = np.arange(times.sum()), int(times.sum())
    a, b = np.repeat(first, times), np.repeat(second, times)
    return fit_votes(Matches(a, b, np.repeat(result, times), item, len(theta), n))


def _held(estimates: tuple[Estimate, ...], truth: tuple[Estimate, ...]) -> float:
    pairs = zip(estimates, truth, strict=True)
    return float(np.mean([e.lower <= t.value <= e.upper for e, t in pairs]))


def _share_apart(fit: VoteFit) -> float:
    return len(fit.tests.apart) / math.comb(len(fit.score), 2)
