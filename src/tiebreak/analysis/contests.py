"""CSD over one score table: the contest, the cost of elimination, and the effect of a spoilt score.

Also a contest within one benchmark, with tiers of items by difficulty as rounds (§5.1.2), and CSD
and Kemeny–Young over the same benchmarks, side by side.

Scores are means over items. Adding noise of the size of their standard errors would count the noise
twice: nearly tied models would look further apart than they are. So tables of true scores are drawn
from their posterior, which first removes the part of the spread that is noise. In a benchmark k,
for a model i:

    score[i, k] = m[k] + σ[k]·(√ρ·g[i] + √(1 − ρ)·e[i, k]) + error[i, k],    g, e ~ N(0, 1)

σ, by benchmark, comes from the posterior of a component of variance (Box & Tiao, Bayesian Inference
in Statistical Analysis, 1973, §5.2) under a prior that is flat in σ (Gelman, Bayesian Analysis 1,
2006), ρ from its likelihood.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tiebreak.analysis.consensus import Election, elect
from tiebreak.analysis.finding import Finding, shortened
from tiebreak.rankers.contests.expected_wins import (
    CsdOptions,
    CsdResult,
    csd,
    natural_breaks,
    prepare,
)
from tiebreak.rankers.contests.rounds import Missing, Tiers, tiers
from tiebreak.rankers.contests.sensitivity import (
    FailureSensitivity,
    ItemIntervals,
    Perturbation,
    failure_sensitivity,
    item_intervals,
    largest_elimination,
    perturb,
)
from tiebreak.rankers.errors import MissingScoreError, RankingError
from tiebreak.rankers.profile import FloatArray, IntArray
from tiebreak.reason import Reason, Remark
from tiebreak.tables.ballots import BallotFile
from tiebreak.tables.benchmark_ballots import score_ballots
from tiebreak.tables.errors import TableError
from tiebreak.tables.pool_scores import ItemScores
from tiebreak.tables.rounds import Round, Rounds
from tiebreak.tables.scores import ScoreTable, find_cells, unlike_scales
from tiebreak.text import count

# Tiers of models by expected wins, as in the paper (figure 3).
TIERS = 4

OrderFrom = Literal["columns", "names", "rounds", "order", "difficulty", "weights", "given"]


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class ContestReport(Finding):
    """A contest over a score table: the `result` at the first T, and further analyses.

    `sensitivity` compares several T, None for a single one; `spoilt` has the contest with changed
    scores. `rounds` has the names of the benchmarks of each round, in the order of the contest.
    That order comes from the table's columns, the benchmarks' names, a file of rounds, an order of
    names, the difficulty of the items, weights (a new order for every contest), or was given in
    Python (`order_from`). `items` says how far other items would move `result`; None if a score has
    no standard error, with the cause in `items_reason`. `tiers`, shape (models,), is the tier of
    each model by natural breaks of expected wins, 1 = the highest; None for few models, or if a
    break lies within the simulation's error. `largest_eliminate` is the largest T that makes sense
    (`largest_elimination`). `table` holds the scores, and `missing` is the treatment of missing
    ones. `election` holds the Kemeny order over the benchmarks, if it was asked for
    (`with_kemeny`). If the rounds are tiers of items of one `benchmark`, `difficulty` holds the
    tiers (`tier_report`).
    """

    models: tuple[str, ...]
    benchmarks: tuple[str, ...]
    rounds: tuple[tuple[str, ...], ...]
    weights: tuple[float, ...] | None
    result: CsdResult
    sensitivity: FailureSensitivity | None
    spoilt: tuple[Perturbation, ...] = ()
    notes: tuple[Remark, ...] = ()
    items: ItemIntervals | None = None
    items_reason: Remark | None = None
    largest_eliminate: int | None = None
    order_from: OrderFrom = "given"
    table: ScoreTable | None = None
    missing: Missing = "error"
    tiers: IntArray | None = None
    election: Election | None = None
    benchmark: str | None = None
    difficulty: Tiers | None = None

    @property
    def results(self) -> tuple[CsdResult, ...]:
        """The contest at each T, the main one first."""
        return (self.result,) if self.sensitivity is None else self.sensitivity.contests

    @property
    def warnings(self) -> tuple[Reason, ...]:
        """Warnings that contests run out of opponents, and that most items are in one tier."""
        return (*self._out_of_opponents(), *self._crowded())

    def _out_of_opponents(self) -> Iterator[Reason]:
        most, n_rounds, n_models = self.largest_eliminate, len(self.rounds), len(self.models)
        asked = self.sensitivity.eliminate[-1:] * n_rounds if self.sensitivity else ()
        out = max(sum(removed[:-1]) for removed in (asked, self.result.eliminate))
        if most is None or 2 * out <= n_models:
            return
        yield Reason(
            "out_of_opponents",
            n=min(out, n_models),
            of=n_models,
            n_rounds=n_rounds,
            bound=Reason("largest_eliminate", most=most) if most else Reason("any_eliminate"),
        )

    def _crowded(self) -> Iterator[Reason]:
        if self.difficulty is None:
            return
        counts = self.difficulty.n_items.tolist()
        most, n_items = max(counts), sum(counts)
        if 2 * most > n_items and len(counts) > 1:
            yield Reason(
                "crowded_tier",
                n=most,
                of=n_items,
                tier=self.difficulty.names[counts.index(most)],
                n_rounds=len(counts) - 1,
                rest=n_items - most,
            )

    def __str__(self) -> str:
        first = [self.models[row] for row in np.flatnonzero(self.result.rank == 1).tolist()]
        sizes = f"{count(len(self.models), 'model')}, {count(len(self.rounds), 'round')}"
        return f"{sizes}, first: {shortened(first)}"


def contest_report(
    table: ScoreTable,
    rounds: Rounds | Sequence[Sequence[int]] | None = None,
    *,
    eliminate: Sequence[int] | Mapping[int, int] | None = None,
    spoil: str | Sequence[str] = (),
    performance_tiers: int | None = None,
    options: CsdOptions | None = None,
) -> ContestReport:
    """Everything that `tiebreak csd` prints.

    Args:
        table: the scores of M models on B benchmarks, as from `read_scores`.
        rounds: the result of `read_rounds` or `read_order`, or the columns of each round; by
            default every benchmark is a round, in order.
        eliminate: the values of T to compare, ascending, each for all rounds; or one contest's T by
            round, as {0: T, 1: T, …}. By default the T of the rounds, else 0.
        spoil: one or several changes of scores, each applied alone: "MODEL=BENCHMARK,BENCHMARK"
            sets these scores to 0, a suffix ":best" or ":NUMBER" to that value (`find_cells`).
        performance_tiers: number of tiers of models (`natural_breaks`). By default the paper's 4
            if there are at least twice as many models and the simulation's error is below the
            breaks, else none.
        options: the other arguments of `csd`.

    Raises:
        MissingScoreError: a score is missing and `missing` has no rule for it; names the score.
        RankingError: one model; as `csd`, `failure_sensitivity`, `perturb` and `natural_breaks`.
        TableError: `spoil` names a model or benchmark that the table does not have, or a benchmark
            that is in no round.
    """
    if len(table.models) == 1:
        raise RankingError(f"{table.models[0]!r} is the only model; a contest needs two or more")
    chosen: CsdOptions = {**(options or {})}
    columns: Sequence[Sequence[int]] = [(column,) for column in range(len(table.benchmarks))]
    notes: tuple[Remark, ...] = table.notes
    order_from: OrderFrom = table.order_from
    if isinstance(rounds, Rounds):
        order_from = rounds.order_from
        columns, chosen["weights"], notes = rounds.columns, rounds.weights, notes + rounds.notes
        if eliminate is None and rounds.eliminate is not None:
            eliminate = dict(enumerate(rounds.eliminate))
    elif rounds is not None:
        columns, order_from = rounds, "given"
    eliminate = (0,) if eliminate is None else eliminate
    first = list(eliminate.values()) if isinstance(eliminate, Mapping) else eliminate[0]
    several = not isinstance(eliminate, Mapping) and len(eliminate) > 1
    cells = [
        _cells(table, columns, text) for text in ([spoil] if isinstance(spoil, str) else spoil)
    ]
    reason = _no_errors(table, columns)
    sensitivity = items = None
    plain: CsdOptions = {**chosen, "control_variate": False}  # strengths need none
    try:
        # Check all arguments before the expensive draws of tables.
        places = prepare(table.scores, columns, first, **plain).strength
        drawn = None if reason else _drawn(table, columns, chosen.get("seed", 0))
        # Sensitivity, intervals and spoilt scores share this contest, so that it runs once.
        if several:
            sensitivity = failure_sensitivity(
                table.scores, columns, list(eliminate), drawn, **chosen
            )
            result, items = sensitivity.contests[0], sensitivity.items
        else:
            result = csd(table.scores, columns, first, **chosen)
            if drawn is not None:
                items = item_intervals(drawn, columns, first, **chosen)
        spoilt = tuple(
            perturb(table.scores, *cell, columns, first, result, **chosen) for cell in cells
        )
    except MissingScoreError as error:
        raise _named(error, table, chosen.get("missing", "error")) from error
    weights = chosen.get("weights")
    names = tuple(tuple(table.benchmarks[column] for column in members) for members in columns)
    return ContestReport(
        models=tuple(table.models),
        benchmarks=tuple(table.benchmarks),
        rounds=names,
        weights=None if weights is None else tuple(np.asarray(weights, np.float64).tolist()),
        result=result,
        sensitivity=sensitivity,
        spoilt=spoilt,
        notes=(*notes, *unlike_scales(table, names), *_remarks(places, names)),
        items=items,
        items_reason=reason,
        largest_eliminate=largest_elimination(len(table.models), len(columns)),
        order_from=order_from if weights is None else "weights",
        tiers=_tiers(result, performance_tiers),
        table=table,
        missing=chosen.get("missing", "error"),
    )


def _remarks(places: IntArray, rounds: Sequence[Sequence[str]]) -> Iterator[Reason]:
    """Notes on rounds in which all models tie, and on a contest of one round.

    `places`, shape (K, M), are dense ranks of the models in each round, 0 = the weakest.
    """
    tied = [
        " + ".join(benchmarks)
        for benchmarks, place in zip(rounds, places, strict=True)
        if not place.any()
    ]
    if tied:
        yield Reason("tied_rounds", rounds=tied)
    if len(rounds) == 1:
        yield Reason("one_round")


def _tiers(result: CsdResult, asked: int | None) -> IntArray | None:
    """Tiers of models; by default None for few models or a break within the simulation's error."""
    wins = result.expected_wins
    if asked is not None:
        return natural_breaks(wins, asked)
    if len(wins) < 2 * TIERS or len(np.unique(wins)) < TIERS:
        return None
    breaks = natural_breaks(wins, TIERS)
    apart = (
        result.rank_upper[breaks <= tier].max() < result.rank_lower[breaks > tier].min()
        for tier in range(1, TIERS)
    )
    return breaks if all(apart) else None


def _cells(
    table: ScoreTable, rounds: Sequence[Sequence[int]], text: str
) -> tuple[int, tuple[int, ...], float | tuple[float, ...]]:
    """The result of `find_cells`; raises TableError for a benchmark that is in no round."""
    cells = find_cells(table, text)
    for column in cells[1]:
        if not any(column in members for members in rounds):
            raise TableError(f"{text!r}: {table.benchmarks[column]!r} is in no round")
    return cells


def _no_errors(table: ScoreTable, rounds: Sequence[Sequence[int]]) -> Reason | None:
    """Why there are no intervals over items, or None if every score has a standard error."""
    if table.errors is None or np.isnan(table.errors).all():
        return Reason("no_errors")
    played = np.isin(
        np.arange(len(table.benchmarks)), [column for members in rounds for column in members]
    )
    unknown = np.isnan(table.errors) & ~np.isnan(table.scores) & played
    if not unknown.any():
        return None
    model, benchmark = np.argwhere(unknown)[0].tolist()
    return Reason(
        "missing_errors",
        n=int(unknown.sum()),
        model=table.models[model],
        benchmark=table.benchmarks[benchmark],
    )


def _drawn(table: ScoreTable, rounds: Sequence[Sequence[int]], seed: int) -> FloatArray:
    """Draws of possible true scores, NaN for benchmarks that are not played."""
    played = sorted({column for members in rounds for column in members})
    drawn = np.full((DRAWS, *table.scores.shape), np.nan)
    errors = np.full(table.scores.shape, np.nan) if table.errors is None else table.errors
    drawn[:, :, played] = drawn_scores(table.scores[:, played], errors[:, played], seed=seed)
    return drawn


def _named(error: MissingScoreError, table: ScoreTable, missing: str) -> MissingScoreError:
    """The error of `csd`, which knows only columns, with names and with the notes on the scores.

    The notes say why a score is missing.
    """
    if error.model is None:
        return error
    noted = "".join(f"\n  - {note}" for note in table.notes)
    model = table.models[error.model]
    names = [table.benchmarks[column] for column in error.benchmarks]
    if missing == "error":
        return MissingScoreError(
            f"{model!r} has no score on {names[0]!r}; give it, leave one of them out, or say what "
            f"a missing score means: missing = available or worst (--missing){noted}"
        )
    return MissingScoreError(
        f"{model!r} has no score on any benchmark of the round {' + '.join(names)}; leave one of "
        f"them out, or let it lose: missing = worst (--missing){noted}"
    )


DRAWS = 400
# Candidate values of ρ, the share of the signal that a model has in common over benchmarks.
_SHARES = (np.arange(10) + 0.5) / 10
# Proposals for each draw of a component of variance; one is chosen by weight.
_CANDIDATES = 12


def drawn_scores(
    scores: ArrayLike, errors: ArrayLike, *, draws: int = DRAWS, seed: int = 0
) -> FloatArray:
    """Draw tables of true scores from their posterior, shape (draws, M, B); NaN if a score is NaN.

    Args:
        scores: shape (M, B), models × benchmarks; NaN is a missing score.
        errors: shape (M, B), standard errors of the scores, in their units, independent between
            models and benchmarks. (Errors that models share because they answer the same items
            move no rank: `tiebreak.tables.pool_scores` leaves them out.)
        draws: number of tables.
        seed: a whole number of 0 or more.

    Raises:
        RankingError: the shapes differ, or a score has no standard error, or one below 0.
    """
    table, error = np.asarray(scores, dtype=np.float64), np.asarray(errors, dtype=np.float64)
    if error.shape != table.shape:
        raise RankingError(f"errors must have the shape of the scores, {table.shape}")
    present = ~np.isnan(table)
    if not np.all(np.isfinite(error[present]) & (error[present] >= 0)):
        raise RankingError("every score needs a standard error, finite and 0 or more")
    # A spawn key of its own keeps the draws independent of contests with the same seed.
    rng = np.random.Generator(np.random.SFC64(np.random.SeedSequence(seed, spawn_key=(0, 2))))
    n = np.maximum(present.sum(axis=0), 1)
    centre = np.where(present, table, 0).sum(axis=0) / n
    apart = np.where(present, table - centre, 0)
    noise = np.where(present, error**2, 0)
    mean_noise = noise.sum(axis=0) / n
    floor = 1e-6 * mean_noise + 1e-18 * np.abs(centre) ** 2 + 1e-200  # a variance above 0
    signal = _signal(apart, n, mean_noise, floor, draws, rng)
    share = _shared(apart, present, mean_noise, signal, rng)[:, None]
    # g given the scores of all benchmarks, then e given g and the score.
    common, separate = np.sqrt(share * signal)[:, None], ((1 - share) * signal)[:, None]
    weight = present / (separate + noise)
    precision = 1 + (common**2 * weight).sum(axis=2)
    ability = (common * weight * apart).sum(axis=2) / precision
    ability += rng.standard_normal(ability.shape) / np.sqrt(precision)
    expected = common * ability[:, :, None]
    kept = separate * weight
    drawn = centre + expected + kept * (apart - expected)
    drawn += np.sqrt(kept * noise) * rng.standard_normal(drawn.shape)
    return np.where(present, drawn, np.nan)


def _signal(
    apart: FloatArray,
    n: IntArray,
    noise: FloatArray,
    floor: FloatArray,
    draws: int,
    rng: np.random.Generator,
) -> FloatArray:
    """Draws of each benchmark's σ², shape (draws, B), given the models' distances from its mean.

    Under a flat prior of log(σ² + noise), σ² + noise is Σ d² / χ², and at least the noise. Of
    several draws one is chosen, with weights that make the prior flat in σ.
    """
    from scipy.special import gammainc, gammaincinv

    squares, half = (apart**2).sum(axis=0), np.maximum(n - 1, 1) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        most = np.nan_to_num(gammainc(half, squares / noise / 2), nan=1.0)
    chi = 2 * gammaincinv(half, most * rng.random((_CANDIDATES, draws, len(n))))
    signal = np.maximum(squares / np.maximum(chi, 1e-12) - noise, floor)
    weight = ((signal + noise) / np.sqrt(signal)).cumsum(axis=0)
    chosen = (weight < rng.random(weight.shape[1:]) * weight[-1]).sum(axis=0)
    return np.asarray(np.take_along_axis(signal, chosen[None], axis=0)[0])


def _shared(
    apart: FloatArray,
    present: NDArray[np.bool_],
    noise: FloatArray,
    signal: FloatArray,
    rng: np.random.Generator,
) -> FloatArray:
    """Draws of ρ, shape (draws,), by its likelihood given σ, with one mean noise per benchmark."""
    likelihood = np.empty((len(signal), len(_SHARES)))
    for column, share in enumerate(_SHARES):
        variance, common = (1 - share) * signal + noise, np.sqrt(share * signal)
        loading = 1 + (common**2 / variance) @ present.T  # of each model; Woodbury's identity
        fit = ((common / variance) @ apart.T) ** 2 / loading - (1 / variance) @ (apart**2).T
        scale = np.log(variance) @ present.T + np.log(loading)
        likelihood[:, column] = (fit - scale).sum(axis=1) / 2
    likelihood *= (len(apart) - 1) / len(apart)  # the means of the benchmarks are estimated
    weight = np.exp(likelihood - likelihood.max(axis=1, keepdims=True)).cumsum(axis=1)
    reached = rng.random((len(signal), 1)) * weight[:, -1:]
    return np.asarray(_SHARES[(weight < reached).sum(axis=1)])


def tier_report(
    items: ItemScores,
    n_tiers: int = 10,
    *,
    eliminate: Sequence[int] | None = None,
    performance_tiers: int | None = None,
    options: CsdOptions | None = None,
) -> ContestReport:
    """The contest of `contest_report` with tiers of items as rounds, the easiest first.

    The tiers are bands of equal width of the items' mean success rate over the models; bands
    without an item are dropped. A tier counts as one round, however many items are in it.

    Tiers are made from the same answers that are scored. A model's own answer moves an item by 1/M
    of the scale, so with M models the easiest of K ≥ M tiers can hold only items that all of them
    solved, where all tie. There are no intervals over items, because the method of other contests
    covers less than it claims here (`benchmarks/claims/difficulty.py`).

    The default number of bands is that of the paper.

    Raises:
        RankingError: `n_tiers` < 1, item scores outside [0, 1]; as `contest_report`.
    """
    bands = tiers(items.scores, [(n_tiers - number) / n_tiers for number in range(1, n_tiers)])
    table = ScoreTable(items.models, bands.names, bands.scores, notes=items.notes)
    rounds = Rounds(
        tuple(Round(name, (name,), (number,)) for number, name in enumerate(bands.names)),
        source=items.benchmark,
        order_from="difficulty",
    )
    report = contest_report(
        table, rounds, eliminate=eliminate, performance_tiers=performance_tiers, options=options
    )
    return replace(
        report, benchmark=items.benchmark, difficulty=bands, items_reason=Reason("tiers_of_answers")
    )


def with_kemeny(report: ContestReport, *, time_limit: float | None = None) -> ContestReport:
    """The contest with the Kemeny order of its models, each benchmark in a round being a ballot.

    Rounds, weights and eliminations do not matter, and a model is unranked on a benchmark without
    its score, whatever a missing score means in the contest: `elect` gives the same for the scores.

    Raises:
        TableError: no benchmark has scores of two models.
        RankingError: a negative time limit.
    """
    if report.table is None:
        return report
    ballots = played_ballots(report.table, report.rounds)
    return replace(report, election=elect(ballots, time_limit=time_limit))


def played_ballots(table: ScoreTable, rounds: Sequence[Sequence[str]]) -> BallotFile:
    """Ballots over the models, one for each benchmark of a table that is in some round.

    Raises:
        TableError: none of them has scores of two models.
    """
    played = table.only({name for names in rounds for name in names})
    return score_ballots(played, drop_unranked=True)


def with_csd(election: Election, table: ScoreTable, options: CsdOptions | None = None) -> Election:
    """The election with expected wins: each benchmark is a round, in the table's order, T = 0.

    If CSD fails, `failed` has the cause under "csd". Weights and ties of the election's ballots do
    not apply to the contest.
    """
    rows = [table.models.index(name) for name in election.names]
    reason: Remark
    try:
        return replace(election, csd=csd(table.scores[rows], **(options or {})))
    except MissingScoreError as error:
        model, benchmark = election.names[error.model or 0], table.benchmarks[error.benchmarks[0]]
        reason = Reason("missing_score", model=model, benchmark=benchmark)
    except RankingError as error:
        reason = str(error)
    return replace(election, failed={**election.failed, "csd": reason})
