"""Diagnosis: is a benchmark saturated for these models, and could judging help?

`diagnose` counts and tests what is in a pool; no judge is asked. Answers are the same when their
normalised texts and their tool calls are (`candidates.identical_groups`): protocols merge such
answers, so they cost no call and tell nothing.
"""

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tiebreak.analysis.saturation import Saturation, native_scores, saturation
from tiebreak.analysis.verdict import Evidence, Verdict, verdict
from tiebreak.candidates import BenchmarkAudit, Candidate, CandidatePool, audit, identical_groups
from tiebreak.rankers.pairwise_tests import Separation, separation

# Notes of a pool that bear on the comparison of its native scores.
_TOLD = ("native_differs", "target_differs")


@dataclass(frozen=True, slots=True)
class Standing:
    """A model's mean native score over its `n_items` items, NaN without one.

    `groups` are the numbers, from 1, of its groups in `Separation`; none without a native score.
    """

    model: str
    native: float
    n_items: int
    groups: tuple[int, ...]


@dataclass(frozen=True, eq=False, slots=True)
class Diagnosis:
    """One benchmark of a pool.

    Attributes:
        benchmark: Name.
        verdict: What it comes to.
        evidence: What the verdict rests on.
        standings: Best first; models without native scores last.
        audit: Items and pairs of answers, counted.
        distinct: Mean number of different answers to an item, from 1 to the number of models.
        n_tied_pairs: Pairs of answers to one item with equal native scores, `n_tied_different` of
            which are different answers. A missing score equals none.
        saturation: By native scores; columns are `audit.models`, here and in `separation`.
        separation: Every pair of models with native scores.
        notes: What loading had to tell that bears on the comparison of native scores.
    """

    benchmark: str
    verdict: Verdict
    evidence: Evidence
    standings: tuple[Standing, ...]
    audit: BenchmarkAudit
    distinct: float
    n_tied_pairs: int
    n_tied_different: int
    saturation: Saturation
    separation: Separation
    notes: tuple[str, ...]


def diagnose(
    pool: CandidatePool, *, level: float = 0.95, power: float = 0.8
) -> tuple[Diagnosis, ...]:
    """Whether each benchmark of a pool is saturated for its models, and whether judging could help.

    Native scores: `saturation` says what difference they detect, `separation` which
    models they tell apart; an item in several epochs counts once there. Answers are counted epoch
    by epoch, as judges would see them.

    Args:
        pool: aligned candidates.
        level: confidence level, in (0, 1).
        power: probability with which a detectable difference is detected, in (0, 1).

    Returns:
        One diagnosis per benchmark, in the order of the pool.

    Raises:
        RankingError: level or power are out of range, or a native score is infinite.
    """
    measured = saturation(pool, level=level, power=power)
    return tuple(
        _diagnosis(pool, counted, result.saturation)
        for counted, result in zip(audit(pool).benchmarks, measured, strict=True)
    )


def _diagnosis(pool: CandidatePool, counted: BenchmarkAudit, measured: Saturation) -> Diagnosis:
    native = native_scores(pool, counted.benchmark)
    separated = separation(native, measured.order, level=measured.level)
    rows = [_compare(pool.candidates[item.key]) for item in pool.items_of(counted.benchmark)]
    tested = separated.tested
    evidence = Evidence(
        n_models=len(counted.models),
        n_scored=len(separated.order),
        n_rows=len(rows),
        n_identical=counted.n_all_identical,
        n_open=sum(row.is_open for row in rows),
        n_unscored=len(rows) - counted.n_native,
        n_items=max((pair.n_items for pair in tested), default=0),
        all_equal=0 < measured.agree.n == measured.agree.successes,
        n_pairs=len(tested),
        n_apart=sum(pair.apart is True for pair in tested),
        top=len(separated.groups[0]) if separated.groups else 0,
        largest=max((abs(pair.difference) for pair in tested), default=math.nan),
        detectable=measured.typical_detectable,
        unseen=measured.unseen,
        points=bool(np.all((native >= 0) & (native <= 1) | np.isnan(native))),
        level=measured.level,
    )
    return Diagnosis(
        benchmark=counted.benchmark,
        verdict=verdict(evidence),
        evidence=evidence,
        standings=tuple(_standings(counted, measured, separated, np.sum(~np.isnan(native), 0))),
        audit=counted,
        distinct=sum(row.distinct for row in rows) / len(rows),
        n_tied_pairs=sum(row.tied for row in rows),
        n_tied_different=sum(row.tied_different for row in rows),
        saturation=measured,
        separation=separated,
        notes=tuple(
            note.what
            for note in pool.notes
            if note.where == counted.benchmark and note.kind in _TOLD
        ),
    )


def _standings(
    counted: BenchmarkAudit, measured: Saturation, separated: Separation, n_items: Sequence[int]
) -> Iterator[Standing]:
    unscored = [column for column in range(len(counted.models)) if column not in measured.order]
    for place, column in enumerate([*measured.order, *unscored]):
        yield Standing(
            model=counted.models[column].model,
            native=float(measured.means[column]),
            n_items=int(n_items[column]),
            groups=tuple(n for n, group in enumerate(separated.groups, start=1) if place in group),
        )


class _Row(NamedTuple):
    """Answers to one item: different ones, pairs with equal native scores, different among these.

    `is_open`: two different answers have native scores that are equal or missing.
    """

    distinct: int
    tied: int
    tied_different: int
    is_open: bool


def _compare(row: Mapping[str, Candidate]) -> _Row:
    groups = identical_groups(row)
    scores = [row[model].native_score for group in groups for model in group]
    answers = [number for number, group in enumerate(groups) for _ in group]
    known = [(s, answer) for s, answer in zip(scores, answers, strict=True) if not math.isnan(s)]
    tied = _equal_pairs(score for score, _ in known)
    different = tied - _equal_pairs(known)
    unscored = len(known) < len(row)
    return _Row(len(groups), tied, different, different > 0 or (unscored and len(groups) > 1))


def _equal_pairs(labels: Iterable[Hashable]) -> int:
    return sum(math.comb(size, 2) for size in Counter(labels).values())
