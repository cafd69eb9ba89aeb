"""Massey / HodgeRank least squares: strengths sᵢ whose differences fit the results best.

    minimise  Σ (y − (sᵢ − sⱼ))²  over all matches,  y = 1 won, 0 tied, −1 lost;  Σ sᵢ = 0

K. Massey 1997, "Statistical Models Applied to the Rating of Sports Teams" (honors project,
Bluefield College), chapter 4; for rankings in general it is HodgeRank: X. Jiang, L.-H. Lim, Y. Yao
and Y. Ye 2011, doi:10.1007/s10107-010-0419-x. The normal equations

    (games of i) · sᵢ − Σⱼ (games of i with j) · sⱼ = wins of i − losses of i

are sums over items, so a draw of items costs one small linear system. Unlike Bradley–Terry it gives
finite strengths to a model that never lost: models only need to be connected by matches.

For boards of very many matches `fit_votes` computes these strengths and Bradley–Terry's with their
covariance from sums over pairs of models:

    matches → sums of each pair → Bradley–Terry, least squares → covariance → intervals, tests

Two million matches of 200 models are 19,900 pairs: a fit is a system of 200 equations without
resampling. Errors come from the scatter of items' results about the expected ones (P. J. Huber
1967, H. White 1980; over items K.-Y. Liang and S. L. Zeger 1986, doi:10.1093/biomet/73.1.13): they
are valid even if the model of strengths is wrong. A pair with few results says little about its
scatter, so the model's scatter is added with the weight of `_MODEL` results. Squares are also
divided by 1 − leverage, because results pull their own expectation towards them.

These boards rank by Bradley–Terry, because opponents in an arena are not balanced: of two equal
models the one with weaker opponents wins more, and least squares would tell them apart. A tie of
each model against an average one keeps strengths finite.
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

# Rounding hides the solver's errors, which depend on the machine and could break a tie.
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
    """Least-squares strengths: sᵢ − sⱼ is the margin by which i is expected to beat j, in [−1, 1].

    If all pairs met equally often, sᵢ is the mean margin over all N models (0 against itself), and
    the order is that of the Borda scores.

    Matches are passed as to `bradley_terry`. With `closure` each item also counts the wins that its
    results imply (`implied_wins`). A draw takes some 10 µs for N = 8 and 160 items.

    Returns:
        `score` holds the N strengths (their sum is 0), the other fields are as `ItemBootstrap`
        says. The order of the matches does not matter. A draw of items in which models are not
        connected gives no strengths; `undefined` and `reason` count these draws.

    Raises:
        NoFitError: some models never met the others; the message names them.
        RankingError: bad input.
    """
    matches = Matches.of(first, second, result, items, n_models)
    matches = closed(matches) if closure else matches
    refuse_unconnected(matches)
    return bootstrap_matches(least_squares_statistic(matches), matches, how=how)


def least_squares_statistic(matches: Matches) -> Statistic:
    """Statistic of strengths, from counts of items; NaN if models are not connected."""
    per_item, n = matches.wins_per_item(), matches.n_models

    def strengths(counts: FloatArray) -> FloatArray:
        return _solve((counts @ per_item).reshape(-1, n, n))

    return strengths


def _solve(wins: FloatArray) -> FloatArray:
    """Strengths (draws, N) from wins (draws, N, N); NaN if models are not connected."""
    n = wins.shape[-1]
    lost = np.swapaxes(wins, -1, -2)
    games, margin = wins + lost, np.sum(wins - lost, axis=-1)
    laplacian = games.sum(axis=-1)[:, :, None] * np.eye(n) - games
    connected = np.all(_reachable(games > 0)[:, :1], axis=-1)
    # Adding a matrix of ones fixes the sum of strengths at 0 and makes the system regular.
    system = np.where(connected[:, :, None], laplacian + 1, np.eye(n))
    solution = np.linalg.solve(system, margin[:, :, None])[:, :, 0].round(_DECIMALS)
    solution += 0.0  # turns −0.0 into 0.0, whose sign would depend on the machine
    return np.where(connected, solution, np.nan)


def _reachable(edges: BoolArray) -> BoolArray:
    """Whether a path leads from i to j, for graphs of shape (…, N, N) (Warshall's algorithm)."""
    paths = edges.copy()
    for via in range(edges.shape[-1]):
        paths |= paths[..., :, via, None] & paths[..., None, via, :]
    return paths


def implied_wins(wins: FloatArray) -> BoolArray:
    """Wins implied by other results: the transitive closure of an item's wins.

    If a chain of wins leads from i to k, none leads back, and the two have not met, i beats k. A
    pair with several matches is won by the model with more points; with equal points it is tied,
    and ties imply nothing: "a = b, b > c" does not imply a > c. Chains in both directions are a
    cycle, which implies nothing.

    Args:
        wins: shape (…, N, N), wins of i against j in an item, ties as ½ each.

    Returns:
        Shape (…, N, N); True only for pairs that have not met.
    """
    lost = np.swapaxes(wins, -1, -2)
    above = _reachable(wins > lost)
    implied: BoolArray = above & ~np.swapaxes(above, -1, -2) & (wins + lost == 0)
    return implied


def closed(matches: Matches) -> Matches:
    """The matches plus the wins that they imply in each item."""
    n = matches.n_models
    # Not `wins_per_item`, because for a single item building its sparse array dominates the time.
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
    """Raise NoFitError, naming the models, if no chain of matches joins all models."""
    met = np.eye(matches.n_models, dtype=np.bool_)
    met[matches.first, matches.second] = met[matches.second, matches.first] = True
    group = _reachable(met)[0]
    if not group.all():
        raise NoFitError(
            "models {group} never met any of {others}, so no strengths fit the matches",
            np.flatnonzero(group).tolist(),
            np.flatnonzero(~group).tolist(),
        )


_TIES = 1.0  # ties of each model against an average one
_MODEL = 10.0  # results as which the model's scatter counts
_DRAWS = 9999
_LEAST_FREE = 0.1  # least 1 − leverage of a result
_NEAR = 1e-18  # least variance of a difference, to divide by
_TOLERANCE = 1e-8
_MAX_ITERATIONS = 1000


class VoteFit(NamedTuple):
    """Scores and strengths of N models fitted to matches; tuples and arrays have N entries.

    `score`, in [0, 1], is the share of matches that a model is expected to win if it meets all
    others equally often; `strength` is the Bradley–Terry log-strength, `margin` the least-squares
    strength for results 1, 0 and −1; both have mean 0. `tests` compare all pairs by strength, and
    give differences of scores, which have the same order. A model plays in `n_items` items.
    """

    score: tuple[Estimate, ...]
    strength: tuple[Estimate, ...]
    margin: tuple[Estimate, ...]
    n_items: IntArray
    tests: Separation


def fit_votes(matches: Matches, *, level: float = 0.95, seed: int = 0) -> VoteFit:
    """Fit strengths to matches, with intervals and tests over items.

    Args:
        matches: results may be any numbers in [0, 1]. Without item labels, each match is an item.
        level: confidence level of intervals, and of all tests together, in (0, 1).
        seed: seed of the tests' draws.

    Raises:
        NoFitError: matches do not connect all models (see `joined`), or the fit did not converge.
    """
    from scipy.special import expit

    refuse_unconnected(matches)
    pairs = _Pairs.of(matches)
    n_items: IntArray = np.diff(_by_item(matches, np.ones(len(matches.result))).tocsc().indptr)
    strengths, bread = _bradley_terry(pairs)
    expected = _logistic(pairs.gaps(strengths))
    model = expected * (1 - expected)
    # Ties scatter less than wins and losses. The extra 0.5 keeps the scatter above 0.
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
    """Mask of the connected group of models with the most matches, shape (N,).

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
    """Krippendorff's α of raters of the same pairs on the same items: better, even or worse.

    Only a rater's first vote on a case counts. α is κ of the table of all pairs of raters, with
    weight 1 for each rating (K. Krippendorff 2019, "Content Analysis", 4th ed.), except that α
    corrects the number of ratings by one. Each case is also counted with its models swapped, so
    that by chance better is as frequent as worse, whatever the models' columns.

    Args:
        matches: as in `fit_votes`.
        raters: shape (matches,), whole numbers from 0.
        level: confidence level, in (0, 1).

    Returns:
        As `kappa_estimate`, over items; None if no case has two raters.
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
    tables += tables[:, ::-1, ::-1]  # both orders of the models
    return kappa_estimate(tables, items=cases[shared] // matches.n_models**2, level=level)


class _Pairs(NamedTuple):
    """Sums over the matches of each pair that met, a < b, shape (pairs,); results are for a."""

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
    """Results for the model with the lower column."""
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
    """Shift values to mean 0, rounded so that rounding errors do not break ties."""
    centred: FloatArray = (values - values.mean()).round(_DECIMALS) + 0.0
    return centred


def _scores(strengths: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Expected shares of wins, shape (N,), and their derivatives by strength, shape (N, N)."""
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
    """Covariance (N, N) of strengths whose gaps `link` turns into expected results.

    `model` is a result's variance according to the model, shape (pairs,).
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
    # Items' products contain the observed squares of pairs, which the mixed ones replace.
    meat = (of_items.T @ of_items).toarray() * more + pairs.spread(mixed - squares)
    centre = np.eye(pairs.n) - 1 / pairs.n
    sizes, axes = np.linalg.eigh(centre @ bread @ meat @ bread @ centre)
    # Correlated results within items can make an eigenvalue negative.
    covariance: FloatArray = axes * np.maximum(sizes, 0) @ axes.T
    return covariance


def _estimates(
    values: FloatArray, variances: FloatArray, n_items: IntArray, level: float
) -> tuple[Estimate, ...]:
    """Values with Student's intervals; bounds are NaN for a model with one item."""
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
    """Step-down tests by the largest standardised difference, in normal draws of `covariance`.

    A difference's t is converted to a normal statistic, with degrees of freedom from the number of
    items of the model with fewer.
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
    # The symmetric root does not depend on eigenvectors' signs, which differ between machines.
    drawn = (axes * np.sqrt(np.maximum(sizes, 0))) @ (axes.T @ noise)

    def statistics(pairs: IntArray) -> Iterator[FloatArray]:
        return (np.abs(drawn[first[k]] - drawn[second[k]]) / errors[k] for k in pairs)

    together = np.maximum(p, step_down(-ndtri(np.maximum(p, 1e-300) / 2), statistics))
    columns = list(zip(first.tolist(), second.tolist(), strict=True))
    everywhere, never = np.full(len(p), n_items), np.zeros(len(p), np.bool_)
    gaps = scores[first] - scores[second]
    return separated(order.tolist(), columns, everywhere, gaps, p, together, never, level)
