"""CSD over one score table: the contest, what elimination costs, and what a spoilt score does."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from tiebreak.analysis.consensus import Election
from tiebreak.analysis.finding import Finding, shortened
from tiebreak.analysis.true_scores import DRAWS, drawn_scores
from tiebreak.rankers.contests.expected_wins import (
    CsdOptions,
    CsdResult,
    csd,
    natural_breaks,
    prepare,
)
from tiebreak.rankers.contests.rounds import Missing, Tiers
from tiebreak.rankers.contests.sensitivity import (
    FailureSensitivity,
    Perturbation,
    failure_sensitivity,
    largest_elimination,
    perturb,
)
from tiebreak.rankers.contests.uncertainty import ItemIntervals, item_intervals
from tiebreak.rankers.errors import MissingScoreError, RankingError
from tiebreak.rankers.profile import FloatArray, IntArray
from tiebreak.tables.errors import TableError
from tiebreak.tables.rounds import Rounds
from tiebreak.tables.scores import ScoreTable, find_cells, unlike_scales
from tiebreak.words import count

# Of models, by expected wins: the paper's number (figure 3).
TIERS = 4

OrderFrom = Literal["columns", "names", "rounds", "order", "difficulty", "weights", "given"]


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class ContestReport(Finding):
    """`result` at the first T; `sensitivity` if there are several; `spoilt`: other scores.

    `rounds` has the names of the benchmarks of each round, in the order of the contest, which
    comes from the table's columns, the benchmarks' names, a file of rounds, an order of names, the
    difficulty of the items, weights (a new order for every contest), or was given in Python
    (`order_from`). `items`: how far
    other items would move `result`, None where a score has no standard error, for `items_reason`.
    `tiers`, shape (models,): the tier of each model by natural breaks of its expected wins, 1 = the
    highest; None for few models, or where a break lies within the simulation's error.
    `largest_eliminate` is the largest T that makes sense (`largest_elimination`). `table` holds the
    scores, and `missing` says what one that is not there meant. `election` holds the Kemeny order
    over the benchmarks, where it was asked for (`with_kemeny`). Where the rounds are tiers of the
    items of one `benchmark`, `difficulty` has them (`tier_report`).
    """

    models: tuple[str, ...]
    benchmarks: tuple[str, ...]
    rounds: tuple[tuple[str, ...], ...]
    weights: tuple[float, ...] | None
    result: CsdResult
    sensitivity: FailureSensitivity | None
    spoilt: tuple[Perturbation, ...] = ()
    notes: tuple[str, ...] = ()
    items: ItemIntervals | None = None
    items_reason: str | None = None
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
        """The contest at each T that was asked for, the main one first."""
        return (self.result,) if self.sensitivity is None else self.sensitivity.contests

    @property
    def warnings(self) -> tuple[str, ...]:
        """That contests run out of opponents, and that most items are in one tier."""
        return (*self._out_of_opponents(), *self._crowded())

    def _out_of_opponents(self) -> Iterator[str]:
        most, n_rounds, n_models = self.largest_eliminate, len(self.rounds), len(self.models)
        asked = self.sensitivity.eliminate[-1:] * n_rounds if self.sensitivity else ()
        out = max(sum(each[:-1]) for each in (asked, self.result.eliminate))
        if most is None or 2 * out <= n_models:
            return
        bound = f"the largest T that cannot is {most}" if most else "any T above 0 can"
        yield (
            f"Elimination may take {min(out, n_models)} of {n_models} models out before the last "
            f"round, more than the weaker half (with {count(n_rounds, 'round')}, {bound}). Who "
            "wins most then loses most, for want of opponents"
        )

    def _crowded(self) -> Iterator[str]:
        if self.difficulty is None:
            return
        each = self.difficulty.n_items.tolist()
        most, n_items = max(each), sum(each)
        if 2 * most > n_items and len(each) > 1:
            others = count(len(each) - 1, "round rests", "rounds rest")
            yield (
                f"{most:,} of {count(n_items, 'item')} are in one tier of difficulty, "
                f"{self.difficulty.names[each.index(most)]}; the other {others} on "
                f"{count(n_items - most, 'item')}, and each counts as much as that one"
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
        table: the scores of M models on B benchmarks, what `read_scores` returned.
        rounds: what `read_rounds` or `read_order` returned, or the columns of each round; by
            default every benchmark is a round, in order.
        eliminate: the T to compare, ascending, each for all rounds; or one contest's T by round,
            as {0: T, 1: T, …}. By default those of the rounds, else 0.
        spoil: scores to change, one change or several, each on its own: "MODEL=BENCHMARK,BENCHMARK"
            makes them 0, with ":best" or ":NUMBER" after it they become these (`find_cells`).
        performance_tiers: number of tiers of models (`natural_breaks`). By default the paper's 4
            where there are at least twice as many models and the simulation's error is below the
            breaks, else none.
        options: the other arguments of `csd`.

    Raises:
        MissingScoreError: a score is missing that `missing` has no rule for; by name.
        RankingError: one model; as `csd`, `failure_sensitivity`, `perturb` and `natural_breaks`.
        TableError: `spoil` names a model or benchmark that the table does not have, or one that is
            in no round.
    """
    if len(table.models) == 1:
        raise RankingError(f"{table.models[0]!r} is the only model; a contest needs two or more")
    chosen: CsdOptions = {**(options or {})}
    columns: Sequence[Sequence[int]] = [(column,) for column in range(len(table.benchmarks))]
    notes = table.notes
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
    plain: CsdOptions = {**chosen, "control_variate": False}
    try:
        # Checks all before tables are drawn.
        places = prepare(table.scores, columns, first, **plain).strength
        drawn = None if reason else _drawn(table, columns, chosen.get("seed", 0))
        # Whatever holds the contest itself shares it: it is played once.
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
            perturb(table.scores, *each, columns, first, result, **chosen) for each in cells
        )
    except MissingScoreError as error:
        raise _named(error, table, chosen.get("missing", "error")) from error
    weights = chosen.get("weights")
    names = tuple(tuple(table.benchmarks[column] for column in each) for each in columns)
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


def _remarks(places: IntArray, rounds: Sequence[Sequence[str]]) -> Iterator[str]:
    """On rounds in which nobody is ahead, and on a contest of one round.

    Args:
        places: shape (K, M), dense ranks of the models in each round, 0 = the weakest.
        rounds: names of the benchmarks of each.
    """
    tied = [" + ".join(each) for each, own in zip(rounds, places, strict=True) if not own.any()]
    if tied:
        yield f"All models tie, so that every match is a toss of a coin, on: {', '.join(tied)}"
    if len(rounds) == 1:
        yield (
            "One round: the order is that of the scores, and E[wins] is the chance to win a match "
            "against a random other model (a bye wins none)"
        )


def _tiers(result: CsdResult, asked: int | None) -> IntArray | None:
    """The models' tiers; None by default for few, or with a break within the simulation's error."""
    wins = result.expected_wins
    if asked is not None:
        return natural_breaks(wins, asked)
    if len(wins) < 2 * TIERS or len(np.unique(wins)) < TIERS:
        return None
    found = natural_breaks(wins, TIERS)
    apart = (
        result.rank_upper[found <= tier].max() < result.rank_lower[found > tier].min()
        for tier in range(1, TIERS)
    )
    return found if all(apart) else None


def _cells(
    table: ScoreTable, rounds: Sequence[Sequence[int]], text: str
) -> tuple[int, tuple[int, ...], float | tuple[float, ...]]:
    """What `find_cells` finds, of benchmarks that are played."""
    found = find_cells(table, text)
    for column in found[1]:
        if not any(column in each for each in rounds):
            raise TableError(f"{text!r}: {table.benchmarks[column]!r} is in no round")
    return found


def _no_errors(table: ScoreTable, rounds: Sequence[Sequence[int]]) -> str | None:
    """Why nothing can be said about other items; None if every score has its standard error."""
    if table.errors is None or np.isnan(table.errors).all():
        return "the scores have no standard errors"
    played = np.isin(np.arange(len(table.benchmarks)), [one for each in rounds for one in each])
    unknown = np.isnan(table.errors) & ~np.isnan(table.scores) & played
    if not unknown.any():
        return None
    model, benchmark = np.argwhere(unknown)[0].tolist()
    return (
        f"{count(int(unknown.sum()), 'score')} {'has' if unknown.sum() == 1 else 'have'} no "
        f"standard error, such as {table.models[model]!r} on {table.benchmarks[benchmark]!r}"
    )


def _drawn(table: ScoreTable, rounds: Sequence[Sequence[int]], seed: int) -> FloatArray:
    """What the true scores may be, NaN where a benchmark is not played."""
    played = sorted({column for each in rounds for column in each})
    drawn = np.full((DRAWS, *table.scores.shape), np.nan)
    errors = np.full(table.scores.shape, np.nan) if table.errors is None else table.errors
    drawn[:, :, played] = drawn_scores(table.scores[:, played], errors[:, played], seed=seed)
    return drawn


def _named(error: MissingScoreError, table: ScoreTable, missing: str) -> MissingScoreError:
    """The same error with names, of which `csd` knows none, and with the notes on the scores.

    These say why a score is not there.
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
        f"them out, or let it lose: missing = worst{noted}"
    )
