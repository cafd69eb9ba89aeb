"""Scores and orders on samples of questions: rounds, and draws from all questions.

Relative scores (LLMEval-Fair, table 9). The paper's table shows two things side by side that are
kept apart here. Rounds are independent samples: their variance is compared with the variance that
sampling error alone explains. Draws are subsets of the questions at hand: they show what a smaller
study would have found, but vary less than independent samples of that size, whose variance is
reported beside theirs.

Which ranking method keeps its order with fewer questions (figure 5). All methods get the same draws
of questions, and each is compared with its own order on all questions:

    mean stars       the score of eq. 1; relative scores (eq. 2) have the same order
    win rate         of two answers to a question the one with more stars wins, ½ for a tie
    Bradley–Terry    fitted to the same matches
    Elo              the same matches in one random order, as leaderboards play them (appendix D)

Draws are subsets of the whole, so every curve ends at 1 (Elo's up to the order of matches): the
curves compare methods, but do not show which order is right.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tiebreak.analysis.errors import AnalysisError
from tiebreak.analysis.standing import best_first
from tiebreak.analysis.star_table import Design, StarTable, rounds_of, scored, star_table
from tiebreak.analysis.stars import MAX_SCORE
from tiebreak.rankers import Estimate, competition_ranks, linked
from tiebreak.rankers.agreement import spearman_many
from tiebreak.rankers.matches import Matches
from tiebreak.rankers.pairwise_tests import separation
from tiebreak.rankers.profile import FloatArray, ratio
from tiebreak.rankers.ranks import DECIMALS
from tiebreak.rankers.stability import mean_statistic
from tiebreak.rankers.strength import bradley_terry_statistic, elo_statistic
from tiebreak.rankers.uncertainty import Statistic, item_numbers
from tiebreak.ranking_logs.log import RankingLog
from tiebreak.reason import Reason


@dataclass(frozen=True, slots=True)
class StarRound:
    """One round; it orders `kept` of the `pairs` neighbours on the board as the board does."""

    name: str
    n_items: int
    design: Design
    logs: tuple[str, ...]
    kept: int
    pairs: int


@dataclass(frozen=True, slots=True)
class SampleSize:
    """Draws of one size, with on average `n_items` questions in `n_clusters` independent clusters.

    `same_order` is the share of draws in which no two neighbours on the board change places.
    """

    size: int
    n_items: float
    n_clusters: float
    same_order: float


@dataclass(frozen=True, slots=True)
class DrawnScores:
    """A model's relative scores in draws of one size, 0 to 100.

    `mean` and `variance` are over the draws. `expected` is the variance that sampling error gives
    draws from one pool, and `independent` the one it gives independent samples of this size.
    """

    mean: float
    variance: float
    expected: float
    independent: float


@dataclass(frozen=True, slots=True)
class SampledModel:
    """One model's relative scores by round and by size, 0 to 100; NaN if undefined.

    `whole` is the score over all questions. `mean` and `variance` (n − 1) are over the rounds, see
    table 9. `expected` is the variance that sampling error alone gives this number of rounds, and
    `absolute_variance` the variance of scores not divided by the reference's.
    """

    model: str
    whole: float
    rounds: tuple[float, ...]
    mean: float
    variance: float
    expected: Estimate
    absolute_variance: float
    sizes: tuple[DrawnScores, ...]


@dataclass(frozen=True, slots=True)
class NeighbourPair:
    """Two neighbours on the board of all questions, `above` ranked before `below`.

    `difference` is between relative scores. The two are the other way round in `rounds` of the
    `n_rounds` rounds that have both, and in the share `sizes` of the draws of each size. `apart` is
    whether the test of all pairs tells them apart, or None with too few questions.
    """

    above: str
    below: str
    difference: float
    apart: bool | None
    rounds: int
    n_rounds: int
    sizes: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class StarSamples:
    """The rounds of one benchmark, and draws from all of its questions.

    Scores are relative to the model `reference`: the given one, or the best over all questions.
    """

    benchmark: str
    reference: str
    chosen: bool
    design: Design
    n_items: int
    rounds: tuple[StarRound, ...]
    sizes: tuple[SampleSize, ...]
    models: tuple[SampledModel, ...]
    neighbours: tuple[NeighbourPair, ...]
    n_draws: int
    seed: int
    level: float
    notes: tuple[Reason, ...]


def star_samples(
    benchmark: str,
    logs: Sequence[RankingLog],
    *,
    sizes: Sequence[int] = (),
    reference: str | None = None,
    n_draws: int = 30,
    seed: int = 0,
    level: float = 0.95,
) -> StarSamples:
    """Compute rounds and draws for the star logs of one benchmark, which come oldest first.

    Sizes that are not below the number of questions get a note. Scores are relative to `reference`,
    by default the best over all questions. For all sizes draw k starts from the same order of
    questions, by the seed `seed` + k. `level` is the confidence level of the expected variance over
    rounds and of the tests.
    """
    table = star_table(logs)
    overall = scored(table)
    order = best_first(competition_ranks(overall.score), table.models)
    base = table.models.index(reference) if reference in table.models else order[0]
    tables = [star_table(round_logs) for round_logs in rounds_of(logs)]
    rounds = RoundScores.of(tables, table, base)
    n_clusters = len(set(table.clusters))
    fitting = [size for size in dict.fromkeys(sizes) if size < table.n_items]
    draws = [_drawn(table, size, n_draws, seed) for size in fitting]
    relative = [_relative(scores, base) for scores, _, _ in draws]
    means = [(float(np.mean(n)), float(np.mean(m))) for _, n, m in draws]
    influence = linked.relative_influence(overall.score, overall.influence, base)
    spread = MAX_SCORE**2 * np.sum(influence**2, axis=0) * n_clusters / max(n_clusters - 1, 1)
    spread[overall.n_clusters < 2] = np.nan
    swaps = [_swapped(scores, order) for scores, _, _ in draws]
    return StarSamples(
        benchmark=benchmark,
        reference=table.models[base],
        chosen=reference in table.models,
        design=table.design,
        n_items=table.n_items,
        rounds=tuple(rounds.described(tables, order)),
        sizes=tuple(
            SampleSize(size, n, m, float(np.mean(~swapped.any(axis=1))))
            for size, (n, m), swapped in zip(fitting, means, swaps, strict=True)
        ),
        models=tuple(
            rounds.of_model(
                column,
                table.models[column],
                level,
                whole=float(_relative(overall.score, base)[column]),
                sizes=tuple(
                    _of_draws(scores[:, column], float(spread[column]), n_clusters, m)
                    for scores, (_, m) in zip(relative, means, strict=True)
                ),
            )
            for column in order
        ),
        neighbours=tuple(_neighbours(table, overall, order, base, rounds, swaps, level)),
        n_draws=n_draws,
        seed=seed,
        level=level,
        notes=tuple(_notes(table, rounds, [size for size in sizes if size not in fitting])),
    )


def _relative(scores: FloatArray, base: int) -> FloatArray:
    """Scores in percent of the reference's; models are the last axis; NaN if the latter is 0."""
    reference = scores[..., [base]]
    return MAX_SCORE * scores / np.where(reference > 0, reference, np.nan)


def _swapped(scores: FloatArray, order: Sequence[int]) -> NDArray[np.bool_]:
    """Whether neighbours in `order` are the other way round, (draws, N) → (draws, N − 1)."""
    ordered = scores[:, list(order)].round(DECIMALS)
    return ordered[:, 1:] > ordered[:, :-1]


def _drawn(
    table: StarTable, size: int, n_draws: int, seed: int
) -> tuple[FloatArray, list[int], list[int]]:
    """Scores of draws, shape (draws, N), and the numbers of items and clusters in each draw.

    Whole clusters are drawn (a question with its variants), until the next would exceed `size`.
    """
    clusters = np.array(table.clusters)
    names, cluster = np.unique(clusters, return_inverse=True)
    pairs = set(zip(cluster.tolist(), table.item_ids, strict=True))
    n_items = np.bincount([number for number, _ in pairs], minlength=len(names))
    rows, items, drawn = [], [], []
    for number in range(n_draws):
        mixed = np.random.default_rng(seed + number).permutation(len(names))
        total = np.cumsum(n_items[mixed])
        n = max(int(np.searchsorted(total, size, side="right")), 1)
        kept = np.isin(cluster, mixed[:n])
        link = table.design == "linked"
        rows.append(linked.linked_scores(table.scores[kept], clusters[kept], link=link).score)
        items.append(int(total[n - 1]))
        drawn.append(n)
    return np.array(rows), items, drawn


def _of_draws(relative: FloatArray, spread: float, n: int, drawn: float) -> DrawnScores:
    """One model's draws; `spread` is the variance of its relative score over all n clusters."""
    known = relative[~np.isnan(relative)]
    alone = linked.variance_at(spread, n, drawn)
    return DrawnScores(
        mean=float(known.mean()) if known.size else math.nan,
        variance=float(known.var(ddof=1)) if known.size > 1 else math.nan,
        expected=float(linked.within_pool(alone, n, drawn)),
        independent=float(alone),
    )


class RoundScores(NamedTuple):
    """Scores by round and model, and each cluster's influence on them.

    `scores` and `relative` have shape (rounds, N), 0 to 100; `moves`, the influence on relative
    scores, has shape (rounds, clusters, N).
    """

    scores: FloatArray
    relative: FloatArray
    moves: FloatArray

    @classmethod
    def of(cls, tables: Sequence[StarTable], table: StarTable, base: int) -> "RoundScores":
        """From one table per round and `table` of all rounds; `base` is the reference's column."""
        number = {cluster: n for n, cluster in enumerate(sorted(set(table.clusters)))}
        shape = len(tables), len(table.models)
        scores = np.full(shape, np.nan)
        moves = np.full((shape[0], len(number), shape[1]), np.nan)
        for turn, round_table in enumerate(tables):
            fitted = scored(round_table)
            columns = [table.models.index(model) for model in round_table.models]
            scores[turn, columns] = MAX_SCORE * np.clip(fitted.score, 0, 1)
            if base in columns:
                n = int(np.sum(np.any(fitted.influence != 0, axis=1)))
                part = linked.relative_influence(
                    fitted.score, fitted.influence, columns.index(base)
                )
                part[:, fitted.n_clusters < 2] = np.nan
                # `linked_scores` numbers clusters by name.
                rows = [number[cluster] for cluster in sorted(set(round_table.clusters))]
                moved = np.zeros((len(number), len(columns)))
                moved[rows] = MAX_SCORE * part * math.sqrt(n / max(n - 1, 1))
                moves[turn][:, columns] = moved
        return cls(scores, _relative(scores, base), moves)

    def of_model(
        self, column: int, model: str, level: float, *, whole: float, sizes: tuple[DrawnScores, ...]
    ) -> SampledModel:
        """One model over the rounds, with its score over all questions (`whole`) and its draws."""
        known = np.flatnonzero(~np.isnan(self.relative[:, column]))
        relative, absolute = self.relative[known, column], self.scores[known, column]
        moves = self.moves[known, :, column]
        several = len(known) > 1
        return SampledModel(
            model=model,
            whole=whole,
            rounds=tuple(self.relative[:, column].tolist()),
            mean=float(relative.mean()) if known.size else math.nan,
            variance=float(relative.var(ddof=1)) if several else math.nan,
            absolute_variance=float(absolute.var(ddof=1)) if several else math.nan,
            expected=linked.expected_variance(moves @ moves.T, level=level),
            sizes=sizes,
        )

    def described(self, tables: Sequence[StarTable], order: Sequence[int]) -> Iterator[StarRound]:
        """The rounds, with the number of neighbours in `order` that each keeps."""
        swapped = _swapped(self.scores, order)
        both = ~np.isnan(self.scores[:, list(order)])
        pairs = both[:, 1:] & both[:, :-1]
        for turn, table in enumerate(tables):
            n = int(pairs[turn].sum())
            yield StarRound(
                name=f"round {turn + 1}",
                n_items=table.n_items,
                design=table.design,
                logs=table.logs,
                kept=n - int(swapped[turn].sum()),
                pairs=n,
            )


def _neighbours(
    table: StarTable,
    overall: linked.LinkedScores,
    order: Sequence[int],
    base: int,
    rounds: RoundScores,
    swaps: Sequence[NDArray[np.bool_]],
    level: float,
) -> Iterator[NeighbourPair]:
    tests = separation(overall.pseudo, order, level=level)
    apart = {(pair.above, pair.below): pair.apart for pair in tests.pairs}
    relative, in_rounds = _relative(overall.score, base), _swapped(rounds.scores, order)
    for place, (above, below) in enumerate(pairwise(order)):
        both = ~np.isnan(rounds.scores[:, above] + rounds.scores[:, below])
        yield NeighbourPair(
            above=table.models[above],
            below=table.models[below],
            difference=float(relative[above] - relative[below]),
            apart=apart.get((above, below)),
            rounds=int(in_rounds[:, place].sum()),
            n_rounds=int(both.sum()),
            sizes=tuple(float(swapped[:, place].mean()) for swapped in swaps),
        )


def _notes(table: StarTable, rounds: RoundScores, beyond: Sequence[int]) -> Iterator[Reason]:
    if beyond:
        yield Reason("no_draw_of", sizes=[f"{size:,}" for size in beyond], n=table.n_items)
    n_rounds, n_without = len(rounds.scores), int(np.isnan(rounds.relative).all(axis=1).sum())
    if n_without:
        yield Reason("rounds_without_reference", n=n_without)
    if n_rounds < 2:
        yield Reason("one_round_of_questions")
    if table.design != "paired":
        yield Reason("draws_of_own_questions")


SHARES: Final = (0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8)
_BAND: Final = (0.05, 0.95)


@dataclass(frozen=True, slots=True)
class OrderKept:
    """Spearman's ρ of a method's order in draws of one size with its order on all questions.

    `lower` and `upper` bound the middle 90% of the draws: a spread, not an interval of the mean.
    `error` is the Monte Carlo error of the mean. `undefined` counts the draws without a defined ρ;
    the figures are NaN if that is all of them.
    """

    n_clusters: int
    mean: float
    lower: float
    upper: float
    error: float
    undefined: int


@dataclass(frozen=True, slots=True)
class StarOrders:
    """Curves by ranking method, a point per size of draws; variants share one of `n_clusters`."""

    benchmark: str
    n_models: int
    n_clusters: int
    curves: Mapping[str, tuple[OrderKept, ...]]
    n_draws: int
    seed: int


def star_orders(
    benchmark: str, table: StarTable, *, n_draws: int = 30, seed: int = 0
) -> StarOrders:
    """Compute the curves of all ranking methods from the same draws without replacement.

    Raises:
        AnalysisError: fewer than three models, or no two of them answered one question.
        MissingPackageError: evalica is not installed.
    """
    n_clusters, _ = item_numbers(table.clusters, len(table.clusters))
    n_models = len(table.models)
    if n_models < 3:
        raise AnalysisError(f"{benchmark}: orders are compared of three models or more")
    ways = _ways(benchmark, table, seed)
    sizes = sorted({max(2, round(share * n_clusters)) for share in SHARES})
    sizes = [size for size in sizes if size < n_clusters]
    reference = {way: statistic(np.ones((1, n_clusters)))[0] for way, statistic in ways.items()}
    points: dict[str, list[OrderKept]] = {way: [] for way in ways}
    for size in sizes:
        counts = np.zeros((n_draws, n_clusters))
        for number, row in enumerate(counts):
            row[np.random.default_rng(seed + number).permutation(n_clusters)[:size]] = 1
        for way, statistic in ways.items():
            points[way].append(_kept(spearman_many(statistic(counts), reference[way]), size))
    curves = {way: tuple(kept) for way, kept in points.items()}
    return StarOrders(benchmark, n_models, n_clusters, curves, n_draws, seed)


def matches_of(table: StarTable) -> Matches | None:
    """Each pair of answers to a question as a match; None if no question has two answers."""
    n_clusters, cluster = item_numbers(table.clusters, len(table.clusters))
    first, second = np.triu_indices(len(table.models), k=1)
    gaps = table.scores[:, first] - table.scores[:, second]
    pair, row = np.nonzero(~np.isnan(gaps.T))
    if not len(row):
        return None
    results = (np.sign(gaps[row, pair]) + 1) / 2
    return Matches.of(
        first[pair], second[pair], results, cluster[row], len(table.models), n_items=n_clusters
    )


def _ways(benchmark: str, table: StarTable, seed: int) -> Mapping[str, Statistic]:
    matches = matches_of(table)
    if matches is None:
        raise AnalysisError(
            f"{benchmark}: no question was answered by two models, so there are no matches"
        )
    per_item, n = matches.wins_per_item(), matches.n_models

    def win_rates(counts: FloatArray) -> FloatArray:
        wins = (counts @ per_item).reshape(-1, n, n)
        return ratio(wins.sum(axis=2), (wins + wins.transpose(0, 2, 1)).sum(axis=2))

    return {
        "mean stars": mean_statistic(scored(table).pseudo),
        "win rate": win_rates,
        "Bradley–Terry": bradley_terry_statistic(matches),
        "Elo": elo_statistic(matches, permutations=1, seed=seed),
    }


def _kept(rhos: FloatArray, size: int) -> OrderKept:
    known = rhos[~np.isnan(rhos)]
    undefined = len(rhos) - len(known)
    if not known.size:
        return OrderKept(size, math.nan, math.nan, math.nan, math.nan, undefined)
    lower, upper = (float(bound) for bound in np.quantile(known, _BAND))
    error = float(known.std(ddof=1) / np.sqrt(known.size)) if known.size > 1 else math.nan
    return OrderKept(size, float(known.mean()), lower, upper, error, undefined)
