"""Scores as ballots: each benchmark of a table ranks the models that it has scores of."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Literal, NamedTuple, TypedDict

import numpy as np

from tiebreak.rankers.profile import FloatArray
from tiebreak.rankers.ranks import DECIMALS
from tiebreak.tables.ballots import Ballot, BallotFile, ballot_file
from tiebreak.tables.errors import TableError, suggestion
from tiebreak.tables.scores import ScoreTable
from tiebreak.text import count

Ties = Literal["equal", "se"]
Weights = Mapping[str, str | float | Fraction]


class ScoreBallotOptions(TypedDict, total=False):
    """Arguments of `score_ballots` that readers pass on."""

    ties: Ties
    weights: Weights | None


MAX_BALLOTS = 10_000
"""The most ballots that weights may make of the benchmarks."""

# Digits are few, so that no weight takes long to read.
_WEIGHT = re.compile(r"\d{1,9}(\.\d{1,9}|/\d{1,9})?")
# Files and benchmarks that a heading or a note names.
_NAMED = 3


def score_ballots(
    table: ScoreTable,
    *,
    ties: Ties = "equal",
    weights: Weights | None = None,
    drop_unranked: bool = False,
) -> BallotFile:
    """One ballot a benchmark: the higher score comes first, and a missing score is not ranked.

    With ties = "se", models are tied from the top: the best model of a benchmark opens a group,
    and the next one joins while its score is at most the standard error of the difference,
    √(error² + error²), below that best; the first that is not opens the next group. A tie says that
    the table does not tell two models apart at one standard error. It is no test, neither of a
    difference (at 95% that takes about twice as much) nor of equality. Errors of a pool of
    candidates are made for differences over the same items (`paired_errors`); those that logs hold
    are of each model alone, so that more is tied.

    Args:
        table: the scores of at least two models, what `read_scores` returned.
        ties: "equal": scores that differ by less than 1e-12 are tied; "se": as above.
        weights: by benchmark, above 0, 1 for those not named: whole numbers, decimals or quotients,
            such as 2, "0.5" or "1/3". They are taken exactly, as whole numbers of equal ballots in
            their ratio, so that all methods count them alike.
        drop_unranked: leave out, and note, the models that no benchmark compares with another.

    Returns:
        Ballots over the models in the order of the table; `reviewers` are the benchmarks.

    Raises:
        TableError: there are not two models with scores on the same benchmark; a model shares no
            benchmark with another one and `drop_unranked` is False; "se" and a score has no
            standard error; a weight is not as above, names no benchmark, or the weights make more
            than `MAX_BALLOTS` ballots.
    """
    if len(table.models) == 1:
        raise TableError(
            f"{_source(table)}: one model, {table.models[0]!r}, leaves nothing to rank; give "
            "the scores of at least two"
        )
    errors = _errors(table) if ties == "se" else np.zeros(table.scores.shape)
    times = _times(table, weights or {})
    columns = [_column(table, number, errors[:, number]) for number in range(len(table.benchmarks))]
    usable = [column for column in columns if len(column.ranks) > 1]
    if not usable:
        raise TableError(
            f"{_source(table)}: no benchmark has scores of two models; give scores on the same one"
        )
    made = ballot_file(
        f"{count(len(table.models), 'model')} · {count(len(table.benchmarks), 'benchmark')}",
        _source(table),
        [
            Ballot(column.ranks, reviewer=column.benchmark, times=times[column.benchmark])
            for column in usable
        ],
        table.models,
        drop_unranked=drop_unranked,
        notes=(*table.notes, *_notes(columns, usable, ties), *_weight_notes(weights, times)),
    )
    return replace(made, scores=table)


class _Column(NamedTuple):
    """A benchmark: numbers of groups by model, 0 = best, and pairs of models with scores.

    Of `pairs` with different scores, `joined` are in one group.
    """

    benchmark: str
    ranks: Mapping[str, float]
    pairs: int
    joined: int


def _column(table: ScoreTable, number: int, errors: FloatArray) -> _Column:
    scores = table.scores[:, number].round(DECIMALS)
    groups = _groups(scores, errors)
    within: dict[int, list[float]] = {}
    for row, group in groups.items():
        within.setdefault(group, []).append(float(scores[row]))
    return _Column(
        benchmark=table.benchmarks[number],
        ranks={table.models[row]: groups[row] for row in sorted(groups)},
        pairs=_different([score for scores in within.values() for score in scores]),
        joined=sum(map(_different, within.values())),
    )


def _different(scores: list[float]) -> int:
    """How many pairs are not equal."""
    return math.comb(len(scores), 2) - sum(math.comb(n, 2) for n in Counter(scores).values())


def _groups(scores: FloatArray, errors: FloatArray) -> dict[int, int]:
    """Groups of tied models by row, 0 = best, from the top as `score_ballots` says."""
    rows = np.flatnonzero(~np.isnan(scores)).tolist()
    # Of equal scores the one that is known best comes first, so that they are always tied.
    rows.sort(key=lambda row: (-scores[row], errors[row]))
    groups: dict[int, int] = {}
    group, best = 0, next(iter(rows), 0)
    for row in rows:
        apart = scores[best] - scores[row] - math.hypot(errors[best], errors[row])
        if round(float(apart), DECIMALS) > 0:
            group, best = group + 1, row
        groups[row] = group
    return groups


def _errors(table: ScoreTable) -> FloatArray:
    """The standard errors, once every score has one."""
    known = np.full(table.scores.shape, np.nan) if table.errors is None else table.errors
    unknown = np.isnan(known) & ~np.isnan(table.scores)
    if not unknown.any():
        return known
    model, benchmark = np.argwhere(unknown)[0].tolist()
    raise TableError(
        f"{_source(table)}: --ties se needs the standard errors of all scores, and {unknown.sum()} "
        f"of {np.sum(~np.isnan(table.scores))} have none, such as {table.models[model]!r} on "
        f"{table.benchmarks[benchmark]!r}; give them in a CSV file (--stderr FILE), or "
        "give logs or a pool, which hold them"
    )


def _times(table: ScoreTable, weights: Weights) -> dict[str, int]:
    """How often each benchmark's ballot counts: the smallest whole numbers in these ratios."""
    for name in weights:
        if name not in table.benchmarks:
            help_ = suggestion(name, table.benchmarks)
            raise TableError(f"weights: the scores have no benchmark {name!r}; {help_}")
    if len(table.benchmarks) > MAX_BALLOTS:
        raise TableError(
            f"{_source(table)} has {len(table.benchmarks):,} benchmarks, each a ballot, more than "
            f"the {MAX_BALLOTS:,} that are counted; give some of them"
        )
    given = {name: _weight(name, weights.get(name, 1)) for name in table.benchmarks}
    unit = math.lcm(*(weight.denominator for weight in given.values()))
    numbers = {name: int(weight * unit) for name, weight in given.items()}
    divisor = math.gcd(*numbers.values())
    times = {name: number // divisor for name, number in numbers.items()}
    if sum(times.values()) > MAX_BALLOTS:
        raise TableError(
            f"the weights make {sum(times.values()):,} ballots of {len(times)} benchmarks, more "
            f"than the {MAX_BALLOTS:,} that are counted; give simpler ones, such as 2 or 1/3"
        )
    return times


def _weight(name: str, weight: str | float | Fraction) -> Fraction:
    text = str(weight).strip()
    try:
        value = Fraction(text) if _WEIGHT.fullmatch(text) else Fraction(0)
    except ZeroDivisionError:
        value = Fraction(0)
    if value == 0:
        raise TableError(
            f"weights: {name}={text} is not a number above 0 such as 2, 0.5 or 1/3 (of at most 9 "
            "digits); take a benchmark that is not to count out of the scores"
        )
    return value


def _notes(columns: list[_Column], usable: list[_Column], ties: Ties) -> Iterable[str]:
    for column in columns:
        if len(column.ranks) < 2:
            scored = f"only {next(iter(column.ranks))!r} has" if column.ranks else "no model has"
            yield f"{column.benchmark}: {scored} a score, which compares nothing; left out"
    if len(usable) == 1:
        yield (
            f"One benchmark is one ballot: the result is the order of {usable[0].benchmark}, by "
            "any method"
        )
    if ties == "se":
        joined, pairs = (
            sum(getattr(column, name) for column in usable) for name in ("joined", "pairs")
        )
        yield (
            f"Ties: {joined:,} of {pairs:,} pairs of different scores are tied because, from the "
            "top of a benchmark, they join a group whose best is ahead by at most the standard "
            "error of the difference; that is no test at 95%, which takes about twice as much"
        )


def _weight_notes(weights: Weights | None, times: Mapping[str, int]) -> Iterable[str]:
    if weights:
        asked = ", ".join(f"{name} {weight}" for name, weight in weights.items())
        rest = ", others 1" if len(weights) < len(times) else ""
        counts = ", ".join(f"{name} {number}" for name, number in times.items())
        yield f"Weights: {asked}{rest}; counted as whole ballots: {counts}"


def _source(table: ScoreTable) -> str:
    """The files, of many only the first."""
    more = len(table.sources) - _NAMED
    named = ", ".join(table.sources[:_NAMED]) or "the scores"
    return f"{named} and {count(more, 'more file')}" if more > 0 else named
