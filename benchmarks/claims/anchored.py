"""Boards that people anchor: what people would say of all items, from their labels of some.

A person reads answers with an error of sd 0.5 and calls a pair even when the two seem closer than
0.3; people judged items drawn at random, in pairs that take turns. The judge is perfect (it says
what people say), good (an error of its own as large as theirs), noisy (sd 1.5), biased (good, but
one model gains 0.6), useless (it has not read the answers) or harmful (good, with the order turned
round). Some models give the same answers. Under stars items are hard and easy for all models alike
(sd 1). "agrees but rarely" says what people say, but in 5% of the items it puts one model first.

The estimator was chosen on other seeds, among eight. Measured here are "people alone" (no judge),
"weight 1" (plain prediction-powered inference), "one weight" (PPI++), "towards the judge" (people's
correction shrunk by how far the judge's errors spread over models; intervals that hold in the mean
over models: T. B. Armstrong, M. Kolesár and M. Plagborg-Møller 2022, "Robust Empirical Bayes
Confidence Intervals", Econometrica 90(6)), and the one taken. What is left out: items that people
chose, and people who differ. Not held: with 20 votes in all, equal models are told apart too often
where the judge has a favourite.

Shown:
    scores, ranks and tests of boards that people anchor, and what the judge adds: `rank --people`
    where the judge differs from people: `rank --people`
"""

import math
from collections.abc import Iterator
from itertools import combinations
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from benchmarks.claims import Claim, in_tests, mean, runs, share
from benchmarks.claims.worlds import Array, near_ties
from tiebreak.rankers.anchored import Anchored, anchor
from tiebreak.rankers.intervals import Estimate
from tiebreak.rankers.linked import linked_scores
from tiebreak.rankers.matches import Matches, pair_points
from tiebreak.rankers.pairwise_tests import separation

Tables = tuple[Array, Array, Array, NDArray[np.bool_]]
"""Tables of people, of the judge on the same cells and on all, and a mask of labelled items."""

EVEN = 0.3
SD = 0.5
HOLDS = (0.93, 0.97)
BATCHES = 10
JUDGES = ("perfect", "good", "noisy", "biased", "useless", "harmful")
CUTS = (-1.8, -1.0, -0.2)  # least quality for 1, 2 and 3 stars


def claims(scale: float) -> Iterator[Claim]:
    """Coverage, width, false and true differences of boards, and the designs compared."""
    for number, (n_models, n_items, n_labelled, votes, ties) in enumerate(
        [
            (4, 200, 20, 1, 0.0),
            (4, 1000, 20, 6, 0.0),
            (4, 100, 40, 2, 0.7),
            (8, 400, 100, 1, 0.5),
            (8, 1000, 400, 2, 0.0),
            (4, 200, 20, 0, 0.0),
            (8, 480, 40, 0, 0.0),
            (8, 1000, 200, 0, 0.0),
        ]
    ):
        if in_tests(scale) and number not in (0, 6):
            continue
        sizes = n_models, n_items, n_labelled, votes, ties
        for judge in (*JUDGES, "agrees but rarely") if votes else JUDGES:
            yield from _board(scale, number, judge, sizes)
        if n_items <= 400:
            for judge in ("good", "biased", "useless"):
                yield from _equal(scale, number, judge, sizes)
                if not in_tests(scale):  # nothing is claimed about power
                    yield from _power(scale, number, judge, sizes)
    if not in_tests(scale):
        for number, judge in enumerate(("perfect", "good", "biased", "useless")):
            yield from _designs(scale, number, judge)


Sizes = tuple[int, int, int, int, float]


def _board(scale: float, number: int, judge: str, sizes: Sizes) -> Iterator[Claim]:
    rng, n = np.random.default_rng((71, number, _place(judge))), runs(300, scale)
    theta = near_ties(sizes[0], 0.15)
    truth, grades = _truth(theta, sizes), not sizes[3]
    boards = [anchor(*_world(rng, theta, judge, sizes), grades=grades) for _ in range(n)]
    setting = _setting(judge, sizes)
    held = [np.mean([_holds(e, t) for e, t in zip(b.scores, truth, strict=True)]) for b in boards]
    rare = judge == "agrees but rarely"
    yield mean("anchored: scores' intervals hold", setting, held, None if rare else HOLDS)
    widths = [_width(board.scores) / _width(board.people) for board in boards]
    yield mean("… their width beside people's alone", setting, widths, (0.0, 1.03))
    errors = np.array([[e.value for e in board.scores] for board in boards]) - truth
    alone = np.array([[e.value for e in board.people] for board in boards]) - truth
    yield mean("… what a label is said to be worth", setting, [board.gain for board in boards])
    batches = zip(np.array_split(alone, BATCHES), np.array_split(errors, BATCHES), strict=True)
    worth = [_of_differences(people) / _of_differences(both) for people, both in batches]
    yield mean(f"… what it is worth, in {BATCHES} parts of the worlds", setting, worth)


def _equal(scale: float, number: int, judge: str, sizes: Sizes) -> Iterator[Claim]:
    """Models that are equal to people: tests of pairs, and of whether the judge differs."""
    rng, n = np.random.default_rng((72, number, _place(judge))), runs(300, scale)
    n_labelled, apart, differs = sizes[2], 0, 0
    for _ in range(n):
        board = anchor(*_world(rng, np.zeros(sizes[0]), judge, sizes), grades=not sizes[3])
        apart += _told_apart(board) > 0
        differs += any(e.lower > 0 or e.upper < 0 for e in board.excess)
    setting = _setting(judge, sizes)
    # With 20 votes on 6 pairs and a judge with a favourite, users are told that these are too few.
    claimed = None if (n_labelled, judge) == (20, "biased") and sizes[3] else (0.0, 0.05)
    yield share("anchored: equal models told apart", setting, apart, n, claimed)
    if judge == "good" and sizes[3]:
        yield share("… the judge said to differ where it does not", setting, differs, n, (0, 0.05))
    if judge == "biased":
        yield share("… power: the judge said to differ where it does", setting, differs, n)


def _power(scale: float, number: int, judge: str, sizes: Sizes) -> Iterator[Claim]:
    rng, n = np.random.default_rng((73, number, _place(judge))), runs(100, scale)
    theta, pairs = near_ties(sizes[0], 0.3), math.comb(sizes[0], 2)
    worlds = [_world(rng, theta, judge, sizes) for _ in range(n)]
    together = [_told_apart(anchor(*world, grades=not sizes[3])) / pairs for world in worlds]
    order = range(sizes[0])
    alone = [len(separation(world[0], order).apart) / pairs for world in worlds]
    yield mean("anchored: power: pairs told apart", _setting(judge, sizes), together)
    yield mean("… by people alone", _setting(judge, sizes), alone)


def _designs(scale: float, number: int, judge: str) -> Iterator[Claim]:
    """Widths and coverage of other estimators in the same worlds."""
    rng, n = np.random.default_rng((74, number)), runs(400, scale)
    sizes: Sizes = (8, 480, 40, 0, 0.0)
    theta = near_ties(8, 0.15)
    truth = _truth(theta, sizes)
    held: dict[str, list[float]] = {}
    widths: dict[str, list[float]] = {}
    for _ in range(n):
        world = _world(rng, theta, judge, sizes)
        board = anchor(*world, grades=True)
        taken = np.array([[e.value, e.lower, e.upper] for e in board.scores])
        base = _rows_interval(world[0], world[3])
        for name, (_, lower, upper) in {
            "people alone": base,
            "weight 1": _rows_interval(world[0] - world[1] + world[2], world[3]),
            "one weight": _rows_interval(world[0] - _one(world) * (world[1] - world[2]), world[3]),
            "towards the judge": _towards(world),
            "the one taken": tuple(taken.T),
        }.items():
            held.setdefault(name, []).append(float(np.mean((lower <= truth) & (truth <= upper))))
            widths.setdefault(name, []).append(
                float(np.mean(upper - lower) / np.mean(base[2] - base[1]))
            )
    for name, shares in held.items():
        yield mean(f"anchored, designs: share held, {name}", f"{judge} judge, stars", shares)
        yield mean(f"… width beside people alone, {name}", f"{judge} judge, stars", widths[name])


def _rows_interval(rows: Array, labelled: NDArray[np.bool_]) -> tuple[Array, Array, Array]:
    """Student's interval of column means."""
    from scipy.stats import t

    n = int(labelled.sum())
    centre = rows.mean(axis=0)
    error = np.sqrt(np.sum((rows - centre) ** 2, axis=0) / len(rows) ** 2 * n / (n - 1))
    reach = float(t.ppf(0.975, n - 1)) * error
    return centre, centre - reach, centre + reach


def _one(world: Tables) -> float:
    label, less = (table - table.mean(axis=0) for table in (world[0], world[1] - world[2]))
    square = float(np.sum(less**2))
    return min(max(float(np.sum(label * less)) / square, 0.0), 1.0) if square else 0.0


def _towards(world: Tables) -> tuple[Array, Array, Array]:
    """The judge's board, less its mean errors as far as their spread over models exceeds noise."""
    from scipy.optimize import brentq

    people, matched, judge, labelled = world
    centre, lower, _ = _rows_interval(people - matched + judge, labelled)
    error = (centre - lower) / 2.02
    excess = judge.mean(axis=0) - centre
    kept = np.maximum(np.mean(excess**2) - np.mean(error**2), 0)
    weight = np.maximum(kept / (kept + error**2), 0.05)
    phi = NormalDist()

    def beyond(reach: float, share: float) -> float:
        bias = math.sqrt((1 - share) / share)
        return phi.cdf(bias - reach) + phi.cdf(-bias - reach) - 0.05

    reach = error * weight * [brentq(beyond, 0, 50, args=(share,)) for share in weight.tolist()]
    value = judge.mean(axis=0) - weight * excess
    return value, value - reach, value + reach


def _world(rng: np.random.Generator, theta: Array, judge: str, sizes: Sizes) -> Tables:
    n_models, n_items, n_labelled, votes, ties = sizes
    if not votes:
        return _stars(rng, theta, judge, n_items, n_labelled)
    shape = n_items, n_models
    same = rng.random(shape) < ties
    quality = np.where(same, rng.standard_normal((n_items, 1)), theta + rng.standard_normal(shape))
    people = quality + SD * rng.standard_normal(shape)
    seen = _seen(rng, judge, quality, people)
    pairs = list(combinations(range(n_models), 2))
    free = [[(a, b) for a, b in pairs if not (row[a] and row[b])] for row in same]
    known = [(a, b, 0.5, t) for t, row in enumerate(same) for a, b in pairs if row[a] and row[b]]
    asked = _asked(rng, free, pairs, n_labelled, votes)
    everything = [(a, b, t) for t, row in enumerate(free) for a, b in row]
    labelled = np.zeros(n_items, np.bool_)
    labelled[[t for *_, t in asked]] = True

    def table(met: list[tuple[int, int, int]], values: Array) -> Array:
        gaps = np.array([values[t, a] - values[t, b] for a, b, t in met])
        results = np.where(np.abs(gaps) <= EVEN, 0.5, gaps > 0)
        a, b, t = np.array(met).T
        judged = Matches.of(a, b, results, t, n_models, n_items)
        settled = None
        if known:
            first, second, result, item = map(np.array, zip(*known, strict=True))
            settled = Matches.of(first, second, result, item, n_models, n_items)
        everyone = np.ones(shape, np.bool_)
        return pair_points(judged, settled, everyone, regress=met is everything)

    return table(asked, people), table(asked, seen), table(everything, seen), labelled


def _asked(
    rng: np.random.Generator,
    free: list[list[tuple[int, int]]],
    pairs: list[tuple[int, int]],
    n_labelled: int,
    votes: int,
) -> list[tuple[int, int, int]]:
    """Draw items in random order, and pairs in turn; identical answers are not shown."""
    turn = [pairs[k] for k in rng.permutation(len(pairs))]
    asked: list[tuple[int, int, int]] = []
    items = [t for t in rng.permutation(len(free)).tolist() if free[t]][:n_labelled]
    for t in items:
        chosen = [pair for pair in turn if pair in free[t]][:votes]
        turn = [pair for pair in turn if pair not in chosen] + chosen
        asked += ((a, b, t) for a, b in chosen)
    return asked


def _seen(rng: np.random.Generator, judge: str, quality: Array, people: Array) -> Array:
    error = rng.standard_normal(quality.shape)
    favourite = np.arange(quality.shape[1]) == quality.shape[1] // 2
    match judge:
        case "perfect":
            return people
        case "agrees but rarely":
            seen: Array = people + 5.0 * favourite * (rng.random((len(people), 1)) < 0.05)
            return seen
        case "useless":
            return error
        case "harmful":
            return SD * error - quality
    seen = quality + (1.5 if judge == "noisy" else SD) * error
    seen += 0.6 * favourite * (judge == "biased")
    return seen


def _stars(
    rng: np.random.Generator,
    theta: Array,
    judge: str,
    n_items: int,
    n_labelled: int,
    *,
    all_answers: bool = True,
) -> Tables:
    """A world of stars; people rate all answers to a labelled item, or one, with models in turn."""
    shape = n_items, len(theta)
    quality = theta + 0.7 * rng.standard_normal(shape) + rng.standard_normal((n_items, 1))
    people = _graded(quality + SD * rng.standard_normal(shape))
    seen = people if judge == "perfect" else _graded(_seen(rng, judge, quality, quality))
    labelled = np.zeros(n_items, np.bool_)
    labelled[rng.permutation(n_items)[:n_labelled]] = True
    rated = np.arange(n_items)[:, None] % len(theta) == np.arange(len(theta))
    some = np.where(labelled[:, None] & (all_answers | rated), 1.0, np.nan)
    tables = [linked_scores(cells, link=False) for cells in (people * some, seen * some, seen)]
    return tables[0].table, tables[1].table, tables[2].table, labelled


def _graded(quality: Array) -> Array:
    stars: Array = np.sum(quality[..., None] > np.array(CUTS), axis=-1) / len(CUTS)
    return stars


def _truth(theta: Array, sizes: Sizes) -> Array:
    """Expected scores of the models by people, over endless items, shape (N,)."""
    ties = sizes[4]
    if not sizes[3]:
        phi = NormalDist(0, math.sqrt(0.7**2 + 1 + SD**2)).cdf
        return np.array([np.mean([phi(value - cut) for cut in CUTS]) for value in theta])
    of_common = np.broadcast_to(theta[:, None], (len(theta), len(theta)))
    won = (1 - ties) ** 2 * _won(theta[:, None] - theta, 2 + 2 * SD**2)
    with_common = _won(of_common, 2 + 2 * SD**2) + _won(-of_common.T, 2 + 2 * SD**2)
    won += (1 - ties) * ties * with_common + ties**2 / 2
    np.fill_diagonal(won, 0)
    scores: Array = won.sum(axis=1) / (len(theta) - 1)
    return scores


def _won(gap: Array, variance: float) -> Array:
    phi = np.vectorize(NormalDist(0, math.sqrt(variance)).cdf, otypes=[np.float64])
    won: Array = (phi(gap - EVEN) + phi(gap + EVEN)) / 2
    return won


def _told_apart(board: Anchored) -> int:
    return len(separation(board.table, range(board.table.shape[1])).apart)


def _holds(estimate: Estimate, truth: float) -> bool:
    return estimate.lower <= truth <= estimate.upper


def _width(estimates: tuple[Estimate, ...]) -> float:
    return float(np.mean([estimate.upper - estimate.lower for estimate in estimates]))


def _of_differences(errors: Array) -> float:
    return float(np.mean((errors - errors.mean(axis=1, keepdims=True)) ** 2))


def _place(judge: str) -> int:
    return (*JUDGES, "agrees but rarely").index(judge)


def _setting(judge: str, sizes: Sizes) -> str:
    n_models, n_items, n_labelled, votes, ties = sizes
    labels = f"{votes} votes each" if votes > 1 else "a vote each" if votes else "stars"
    equal = f", {ties:.0%} the same answer" if ties else ""
    return f"{judge} judge, {n_models} models, {n_labelled} of {n_items} items, {labels}{equal}"
