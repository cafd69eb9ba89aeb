"""Make ballots of scores: each benchmark of a table ranks the models that have a score on it."""

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
"""Largest number of ballots that weights may make of the benchmarks."""

# The number of digits is limited, because long numbers take long to parse as fractions.
_WEIGHT = re.compile(r"\d{1,9}(\.\d{1,9}|/\d{1,9})?")
# Number of files that a heading or a note names.
_NAMED = 3


def score_ballots(
    table: ScoreTable,
    *,
    ties: Ties = "equal",
    weights: Weights | None = None,
    drop_unranked: bool = False,
) -> BallotFile:
    """Make one ballot per benchmark: higher scores come first, missing scores are not ranked.

    With ties = "se", models are tied from the top: the best model of a benchmark opens a group, and
    the next model joins it if its score is at most the standard error of the difference,
    √(error² + error²), below that of the best; otherwise it opens the next group. A tie means that
    the table does not separate two models by one standard error. It is a test neither of a
    difference (at 95% this takes about twice as much) nor of equality. Errors from a pool of
    candidates are for differences over the same items (`paired_errors`); errors from logs are those
    of each model alone, so that more models are tied.

    Args:
        table: scores of at least two models, as returned by `read_scores`.
        ties: "equal": scores that differ by less than 1e-12 are tied; "se": as above.
        weights: weight of each benchmark, above 0; 1 for those not named. Whole numbers, decimals
            or quotients, e.g. 2, "0.5" or "1/3". They become exact whole numbers of equal ballots
            in their ratio, so that all methods count them alike.
        drop_unranked: whether to leave out, with a note, models that no benchmark compares with
            another model.

    Returns:
        Ballots over the models in the order of the table; `reviewers` are the benchmarks.

    Raises:
        TableError: no two models have scores on the same benchmark; a model shares no benchmark
            with another one and `drop_unranked` is False; with "se", a score has no standard error;
            a weight is not as above, names no benchmark, or the weights make more than
            `MAX_BALLOTS` ballots.
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
    """A benchmark: number of the tied group of each model that has a score, 0 = best.

    `pairs` counts the pairs of different scores, `joined` those of them within one group.
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
    """Count the pairs of different scores."""
    return math.comb(len(scores), 2) - sum(math.comb(n, 2) for n in Counter(scores).values())


def _groups(scores: FloatArray, errors: FloatArray) -> dict[int, int]:
    """Number of the tied group of each row with a score, 0 = best; see `score_ballots`."""
    rows = np.flatnonzero(~np.isnan(scores)).tolist()
    # Of equal scores the one with the smallest error comes first, so that they are always tied.
    rows.sort(key=lambda row: (-scores[row], errors[row]))
    groups: dict[int, int] = {}
    group, best = 0, next(iter(rows), 0)
    for row in rows:
        apart = scores[best] - scores[row] - math.hypot(errors[best], errors[row])
        if round(float(apart), DECIMALS) > 0:  # rounding errors must not separate models
            group, best = group + 1, row
        groups[row] = group
    return groups


def _errors(table: ScoreTable) -> FloatArray:
    """The standard errors of the table; raise TableError unless every score has one."""
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
    """Number of ballots of each benchmark: the smallest whole numbers in the weights' ratio."""
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
    """Names of the files with the scores, or the first few of many."""
    more = len(table.sources) - _NAMED
    named = ", ".join(table.sources[:_NAMED]) or "the scores"
    return f"{named} and {count(more, 'more file')}" if more > 0 else named
