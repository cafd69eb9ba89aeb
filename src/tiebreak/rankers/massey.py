"""Massey / HodgeRank least squares: the strengths sᵢ whose differences fit the results best.

    minimise  Σ (y − (sᵢ − sⱼ))²  over all matches,  y = 1 won, 0 tied, −1 lost;  Σ sᵢ = 0

K. Massey 1997, "Statistical Models Applied to the Rating of Sports Teams" (honors project,
Bluefield College), chapter 4; for rankings in general it is HodgeRank: X. Jiang, L.-H. Lim, Y. Yao
and Y. Ye 2011, doi:10.1007/s10107-010-0419-x. The normal equations

    (games of i) · sᵢ − Σⱼ (games of i with j) · sⱼ = wins of i − losses of i

are sums over items, so a draw of items costs one small linear system. Unlike Bradley–Terry it gives
finite strengths to a model that never lost: models need only be connected by matches.

Boards of very many matches have these strengths and Bradley–Terry's with their covariance, out of
sums over pairs of models (`fit_votes`):

    matches → sums of each pair → Bradley–Terry, least squares → covariance → intervals, tests

Two million matches of 200 models are 19,900 pairs: a fit is a system of 200 equations, and nothing
is drawn again. Errors come from how the results of items scatter about what the fit expects (P. J.
Huber 1967, H. White 1980; over items K.-Y. Liang and S. L. Zeger 1986, doi:10.1093/biomet/73.1.13):
they hold where the model of strengths is wrong as well. A pair with few results says little about
its scatter, so the model's counts there as that of `_MODEL` results more, and results count for
more the more they decide what is expected of them.

Bradley–Terry is what such boards rank by, because nobody balances whom a model meets in an arena:
of two equal models the one with weaker opponents wins by more, and least squares takes them apart.
One tie of each model against an average one keeps strengths finite.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tiebreak.rankers.errors import NoFitError
from tiebreak.rankers.intervals import Estimate, student_quantile
from tiebreak.rankers.kappa import kappa_estimate
from tiebreak.rankers.matches import Matches, bootstrap_matches
from tiebreak.rankers.pairwise_tests import Separation, separated, step_down
from tiebreak.rankers.profile import FloatArray, IntArray, components
from tiebreak.rankers.uncertainty import ItemBootstrap, Resampling, Statistic
from tiebreak.reason import Reason

BoolArray = NDArray[np.bool_]

# The solver's rounding errors, which depend on the machine, must neither break nor make a tie.
_DECIMALS = 9


def least_squares(
    first: ArrayLike,
    second: ArrayLike,
    result: ArrayLike,
    items: ArrayLike,
    *,
    n_models: int,
    closure: bool = False,
    how: Resampling = Resampling(draws=1000),
) -> ItemBootstrap:
    """Least squares strengths: sᵢ − sⱼ is the margin, in [−1, 1], that i is expected to win by.

    Where all pairs have met equally often, sᵢ is the mean margin over all N models (0 against
    itself), so that the order is that of the Borda scores.

    Matches are given as to `bradley_terry`. With `closure` each item also counts what its results
    imply (`implied_wins`). A draw takes some 10 µs for N = 8 and 160 items.

    Returns:
        `score` holds the N strengths (their sum is 0), the other fields are as `ItemBootstrap`
        says. The order of the matches does not matter. A draw of items that leaves the models
        unconnected gives no strengths: `undefined` and `reason` count such draws.

    Raises:
        NoFitError: some models never met the others; the message names them.
        RankingError: bad input.
    """
    matches = Matches.of(first, second, result, items, n_models)
    matches = closed(matches) if closure else matches
    refuse_unconnected(matches)
    return bootstrap_matches(least_squares_statistic(matches), matches, how=how)


def least_squares_statistic(matches: Matches) -> Statistic:
    """Strengths as a function of how often each item is drawn; NaN where models are unconnected."""
    per_item, n = matches.wins_per_item(), matches.n_models

    def strengths(counts: FloatArray) -> FloatArray:
        return _solve((counts @ per_item).reshape(-1, n, n))

    return strengths


def _solve(wins: FloatArray) -> FloatArray:
    """Strengths, shape (draws, N), from wins, shape (draws, N, N); NaN where not connected."""
    n = wins.shape[-1]
    lost = np.swapaxes(wins, -1, -2)
    games, margin = wins + lost, np.sum(wins - lost, axis=-1)
    laplacian = games.sum(axis=-1)[:, :, None] * np.eye(n) - games
    connected = np.all(_reachable(games > 0)[:, :1], axis=-1)
    # A matrix of ones holds the sum of the strengths at 0: with it the system has one solution.
    system = np.where(connected[:, :, None], laplacian + 1, np.eye(n))
    solution = np.linalg.solve(system, margin[:, :, None])[:, :, 0].round(_DECIMALS)
    solution += 0.0  # what rounds to zero has the sign of the machine's arithmetic otherwise
    return np.where(connected, solution, np.nan)


def _reachable(edges: BoolArray) -> BoolArray:
    """Whether a path leads from i to j, for graphs of shape (…, N, N), by Warshall's algorithm."""
    paths = edges.copy()
    for via in range(edges.shape[-1]):
        paths |= paths[..., :, via, None] & paths[..., None, via, :]
    return paths


def implied_wins(wins: FloatArray) -> BoolArray:
    """Who beats whom by the results of others alone: the transitive closure of an item's wins.

    Where a chain of wins leads from i to k, none leads back, and the two have not met, i beats k. A
    pair with several matches counts as won by the one with more points; with equal points it is
    tied, and ties pass nothing on: "a = b, b > c" does not imply a > c. A chain both ways is a
    cycle, and implies nothing.

    Args:
        wins: shape (…, N, N), how often i won against j in an item, ties as ½ each.

    Returns:
        Shape (…, N, N), for pairs that have not met.
    """
    lost = np.swapaxes(wins, -1, -2)
    above = _reachable(wins > lost)
    implied: BoolArray = above & ~np.swapaxes(above, -1, -2) & (wins + lost == 0)
    return implied


def closed(matches: Matches) -> Matches:
    """The matches, and those that the results of their items imply, as won."""
    n = matches.n_models
    # Not `wins_per_item`: for a single item a sparse array takes longer than all the rest.
    wins = np.zeros((matches.n_items, n, n))
    np.add.at(wins, (matches.item, matches.first, matches.second), matches.result)
    np.add.at(wins, (matches.item, matches.second, matches.first), 1 - matches.result)
    item, winner, loser = np.nonzero(implied_wins(wins))
    return Matches.of(
        np.concatenate([matches.first, winner]),
        np.concatenate([matches.second, loser]),
        np.concatenate([matches.result, np.ones(len(item))]),
        np.concatenate([matches.item, item]),
        matches.n_models,
        matches.n_items,
    )


def refuse_unconnected(matches: Matches) -> None:
    """Raise the error that names models which no chain of matches joins."""
    met = np.eye(matches.n_models, dtype=np.bool_)
    met[matches.first, matches.second] = met[matches.second, matches.first] = True
    group = _reachable(met)[0]
    if not group.all():
        raise NoFitError(
            "models {group} never met any of {others}, so no strengths fit the matches",
            np.flatnonzero(group).tolist(),
            np.flatnonzero(~group).tolist(),
        )


_TIES = 1.0
_MODEL = 10.0
_DRAWS = 9999
_LEAST_FREE = 0.1
_NEAR = 1e-18
_TOLERANCE = 1e-8
_MAX_ITERATIONS = 1000


class VoteFit(NamedTuple):
    """What matches say of N models; tuples and arrays have N entries.

    `score` is the share of matches that a model is expected to win against the others, each as
    often, in [0, 1]; `strength` the log-odds by Bradley–Terry, `margin` the strength by least
    squares, of results 1, 0 and −1; both have the mean 0. `tests` are of all pairs, by strength,
    with differences of scores, which have the same order. A model plays in `n_items` items.
    """

    score: tuple[Estimate, ...]
    strength: tuple[Estimate, ...]
    margin: tuple[Estimate, ...]
    n_items: IntArray
    tests: Separation


def fit_votes(matches: Matches, *, level: float = 0.95, seed: int = 0) -> VoteFit:
    """Fit strengths to matches, with intervals and tests over items.

    Args:
        matches: their results may lie between 0 and 1. Without items each is an item of its own.
        level: confidence level of intervals, and of all tests together, in (0, 1).
        seed: of the draws of tests.

    Raises:
        NoFitError: no chain of matches joins some models to the others (see `joined`), or the fit
            did not converge.
    """
    from scipy.special import expit

    refuse_unconnected(matches)
    pairs = _Pairs.of(matches)
    n_items: IntArray = np.diff(_by_item(matches, np.ones(len(matches.result))).tocsc().indptr)
    strengths, bread = _bradley_terry(pairs)
    expected = _logistic(pairs.gaps(strengths))
    model = expected * (1 - expected)
    # A tie scatters less than a win and a loss do; half a result more keeps some scatter.
    undecided = float(pairs.won.sum() - pairs.square.sum())
    model *= max(0.0, 1 - undecided / (float(pairs.met @ model) + 0.5))
    of_strengths = _covariance(matches, pairs, strengths, _logistic, bread, model)
    margins, bread = _least_squares(pairs)
    of_margins = _covariance(matches, pairs, margins, lambda gaps: 0.5 + gaps / 2, bread, model)
    scores, slope = _scores(strengths)
    error = np.sqrt(np.diag(slope @ of_strengths @ slope.T)) / (scores * (1 - scores))
    odds = _estimates(np.log(scores / (1 - scores)), error**2, n_items, level)
    tests = _tests(strengths, of_strengths, scores, n_items, matches.n_items, level, seed)
    return VoteFit(
        score=tuple(
            replace(e, value=score, lower=float(expit(e.lower)), upper=float(expit(e.upper)))
            for score, e in zip(scores.tolist(), odds, strict=True)
        ),
        strength=_estimates(strengths, np.diag(of_strengths), n_items, level),
        margin=_estimates(margins, np.diag(of_margins), n_items, level),
        n_items=n_items,
        tests=tests,
    )


def joined(first: IntArray, second: IntArray, n_models: int) -> NDArray[np.bool_]:
    """The models that a chain of matches joins, where most matches are, shape (N,).

    Args:
        first: shape (matches,), columns of models.
        second: shape (matches,), columns of their opponents.
        n_models: number of models, N.
    """
    met = np.zeros((n_models, n_models), np.bool_)
    met[first, second] = met[second, first] = True
    part = components(met)
    largest: NDArray[np.bool_] = part == np.bincount(part[first]).argmax()
    return largest


def rater_alpha(matches: Matches, raters: IntArray, *, level: float = 0.95) -> Estimate | None:
    """Krippendorff's α of raters who judged the same: better, even or worse of two on an item.

    Of a rater's several votes on one thing the first counts. α is κ of the table of all pairs of
    two raters in which each rating has the weight 1 (K. Krippendorff 2019, "Content Analysis", 4th
    ed.), but for a correction by one in the number of ratings. Each case counts from both sides, so
    that by chance a model is as often better as worse, whatever it is called.

    Args:
        matches: as for `fit_votes`.
        raters: shape (matches,), whole numbers from 0.
        level: confidence level, in (0, 1).

    Returns:
        As `kappa_estimate`, over items; None where no two raters judged the same.
    """
    low, y = np.minimum(matches.first, matches.second).astype(np.int64), _turned(matches)
    high = np.maximum(matches.first, matches.second)
    case = (matches.item * matches.n_models + low) * matches.n_models + high
    once = np.unique(case * (int(raters.max()) + 1) + raters, return_index=True)[1]
    label = np.sign(y[once] - 0.5).astype(np.int64) + 1
    cases, number, size = np.unique(case[once], return_inverse=True, return_counts=True)
    shared = size > 1
    if not shared.any():
        return None
    counts = np.bincount(number * 3 + label, minlength=3 * len(cases)).reshape(-1, 3)[shared]
    tables = counts[:, :, None] * counts[:, None, :] - np.eye(3) * counts[:, :, None]
    tables /= 2 * (size[shared] - 1)[:, None, None]
    tables += tables[:, ::-1, ::-1]  # whichever model is named first
    return kappa_estimate(tables, items=cases[shared] // matches.n_models**2, level=level)


class _Pairs(NamedTuple):
    """Sums over the matches of each pair that met, a < b, shape (pairs,); results are a's."""

    a: IntArray
    b: IntArray
    met: FloatArray
    won: FloatArray
    square: FloatArray
    n: int

    @classmethod
    def of(cls, matches: Matches) -> "_Pairs":
        n, y = matches.n_models, _turned(matches)
        low = np.minimum(matches.first, matches.second).astype(np.int64)
        key = low * n + np.maximum(matches.first, matches.second)
        sums = [np.bincount(key, values, n * n) for values in (None, y, y * y)]
        used = np.flatnonzero(sums[0])
        met, won, square = (part[used].astype(np.float64) for part in sums)
        return cls(used // n, used % n, met, won, square, n)

    def gaps(self, values: FloatArray) -> FloatArray:
        gaps: FloatArray = values[self.a] - values[self.b]
        return gaps

    def lead(self, of_pairs: FloatArray) -> FloatArray:
        """Σ w (eₐ − e_b), shape (N,)."""
        first, second = (np.bincount(side, of_pairs, self.n) for side in (self.a, self.b))
        return (first - second).astype(np.float64)

    def spread(self, of_pairs: FloatArray) -> FloatArray:
        """Σ w (eₐ − e_b)(eₐ − e_b)ᵀ, shape (N, N)."""
        cells = np.zeros((self.n, self.n))
        cells[self.a, self.b] = cells[self.b, self.a] = of_pairs
        spread: FloatArray = np.diag(cells.sum(axis=1)) - cells
        return spread


def _turned(matches: Matches) -> FloatArray:
    """Results of whichever of the two models has the lower column."""
    return np.where(matches.first < matches.second, matches.result, 1 - matches.result)


def _by_item(matches: Matches, values: FloatArray) -> Any:
    """Sparse array of shape (items, N): Σ value · (eₐ − e_b) over the matches of each item."""
    from scipy.sparse import coo_array

    cells = np.tile(matches.item, 2), np.concatenate([matches.first, matches.second])
    shape = matches.n_items, matches.n_models
    return coo_array((np.concatenate([values, -values]), cells), shape=shape).tocsr()


def _logistic(gaps: FloatArray) -> FloatArray:
    return 1 / (1 + np.exp(-gaps))


def _bradley_terry(pairs: _Pairs) -> tuple[FloatArray, FloatArray]:
    """Log-strengths, shape (N,), and the inverse of the information, (N, N)."""
    strengths = np.zeros(pairs.n)
    for _ in range(_MAX_ITERATIONS):
        expected, alone = _logistic(pairs.gaps(strengths)), _logistic(strengths)
        slope = pairs.lead(pairs.won - pairs.met * expected) - _TIES * (alone - 0.5)
        curve = pairs.spread(pairs.met * expected * (1 - expected))
        curve += np.diag(_TIES * alone * (1 - alone))
        step = np.linalg.solve(curve, slope)
        longest = np.abs(step).max()
        strengths += step / max(1, longest)
        if longest < _TOLERANCE:
            return _centred(strengths), _inverse(curve)
    raise NoFitError(f"Bradley–Terry did not converge in {_MAX_ITERATIONS} iterations")


def _least_squares(pairs: _Pairs) -> tuple[FloatArray, FloatArray]:
    """Margins, shape (N,), and the inverse of their equations, (N, N)."""
    bread = _inverse(pairs.spread(pairs.met / 2) + 1)
    return _centred(bread @ pairs.lead(pairs.won - pairs.met / 2)), bread


def _inverse(table: FloatArray) -> FloatArray:
    return np.linalg.inv(table).astype(np.float64)


def _centred(values: FloatArray) -> FloatArray:
    """With the mean 0; rounding errors must not break a tie."""
    centred: FloatArray = (values - values.mean()).round(_DECIMALS) + 0.0
    return centred


def _scores(strengths: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Expected shares of wins, shape (N,), and how they change with strengths, (N, N)."""
    shares = _logistic(strengths[:, None] - strengths)
    slope = -shares * (1 - shares)
    np.fill_diagonal(slope, -slope.sum(axis=1) - 0.25)
    opponents = max(len(strengths) - 1, 1)
    return (shares.sum(axis=1) - 0.5) / opponents, slope / opponents


def _covariance(
    matches: Matches,
    pairs: _Pairs,
    values: FloatArray,
    link: Callable[[FloatArray], FloatArray],
    bread: FloatArray,
    model: FloatArray,
) -> FloatArray:
    """Of N values whose gaps a link turns into expected results, shape (N, N).

    `model` is a result's variance by the model, shape (pairs,).
    """
    expected = link(pairs.gaps(values))
    squares = pairs.square - 2 * expected * pairs.won + pairs.met * expected**2
    slope = expected * (1 - expected) if link is _logistic else np.full(len(expected), 0.5)
    of_gap = bread[pairs.a, pairs.a] + bread[pairs.b, pairs.b] - 2 * bread[pairs.a, pairs.b]
    free = np.maximum(1 - slope * of_gap, _LEAST_FREE)
    mixed = (squares / free + _MODEL * model) * pairs.met / (pairs.met + _MODEL)
    rest = matches.result - link(values[matches.first] - values[matches.second])
    of_items = _by_item(matches, rest)
    more = matches.n_items / max(matches.n_items - 1, 1)
    meat = (of_items.T @ of_items).toarray() * more + pairs.spread(mixed - squares)
    centre = np.eye(pairs.n) - 1 / pairs.n
    sizes, axes = np.linalg.eigh(centre @ bread @ meat @ bread @ centre)
    # Items whose results pull apart can leave a size below 0.
    covariance: FloatArray = axes * np.maximum(sizes, 0) @ axes.T
    return covariance


def _estimates(
    values: FloatArray, variances: FloatArray, n_items: IntArray, level: float
) -> tuple[Estimate, ...]:
    """Values with Student's intervals; no bounds for what rests on one item."""
    estimates = []
    for value, variance, n in zip(values.tolist(), variances, n_items.tolist(), strict=True):
        reach = student_quantile(n, level) * math.sqrt(max(variance, 0)) if n > 1 else math.nan
        reason = None if n > 1 else Reason("one_item")
        estimates.append(Estimate(value, value - reach, value + reach, n, reason))
    return tuple(estimates)


def _tests(
    strengths: FloatArray,
    covariance: FloatArray,
    scores: FloatArray,
    of_models: IntArray,
    n_items: int,
    level: float,
    seed: int,
) -> Separation:
    """Step-down tests of the largest difference by its error, in normal draws of this covariance.

    Student's t of as many items as the model with fewer plays in stands for a normal statistic.
    """
    from scipy.special import ndtri, stdtr

    order = np.argsort(-strengths, kind="stable")
    first, second = (order[places] for places in np.triu_indices(len(order), k=1))
    variance = np.diag(covariance)
    squares = variance[first] + variance[second] - 2 * covariance[first, second]
    errors = np.sqrt(np.maximum(squares, _NEAR))
    free = np.minimum(of_models[first], of_models[second]) - 1
    t = np.abs(strengths[first] - strengths[second]) / errors
    p = np.where(free > 0, 2 * stdtr(np.maximum(free, 1), -t), 1.0)
    sizes, axes = np.linalg.eigh(covariance)
    noise = np.random.default_rng(seed).standard_normal((len(order), _DRAWS))
    # The symmetric root, which does not depend on the signs that a machine gives to axes.
    drawn = (axes * np.sqrt(np.maximum(sizes, 0))) @ (axes.T @ noise)

    def statistics(pairs: IntArray) -> Iterator[FloatArray]:
        return (np.abs(drawn[first[k]] - drawn[second[k]]) / errors[k] for k in pairs)

    together = np.maximum(p, step_down(-ndtri(np.maximum(p, 1e-300) / 2), statistics))
    columns = list(zip(first.tolist(), second.tolist(), strict=True))
    everywhere, never = np.full(len(p), n_items), np.zeros(len(p), np.bool_)
    gaps = scores[first] - scores[second]
    return separated(order.tolist(), columns, everywhere, gaps, p, together, never, level)
