"""Diagnosis: is a benchmark saturated for these models, and could judging help?

`diagnose` counts and tests what is in a pool; no judge is asked. Answers are the same when their
normalised texts and their tool calls are (`candidates.identical_groups`): protocols merge such
answers, so they cost no call and tell nothing.
"""

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import zip_longest
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table

from tiebreak.candidates import BenchmarkAudit, Candidate, CandidatePool, audit, identical_groups
from tiebreak.rankers.saturation import Saturation
from tiebreak.rankers.separation import Pair, Separation, separation
from tiebreak.report.aggregation import new_table
from tiebreak.report.cells import UNDEFINED, decimal, plain
from tiebreak.report.export import json_ready
from tiebreak.report.saturation import native_scores, saturation
from tiebreak.report.verdict import Evidence, Verdict, verdict
from tiebreak.report.words import count, percent

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

    Native scores: `rankers.saturation` says what difference they detect, `rankers.separation` which
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


def diagnosis_as_dict(diagnoses: Iterable[Diagnosis]) -> dict[str, Any]:
    """Diagnoses as data that `json.dumps(…, allow_nan=False)` accepts; undefined is null.

    The shape; what each number means is said at the dataclasses::

        {"benchmarks": [
            {"benchmark", "verdict": {"kind", "judging", "text"}, "evidence": {…}, "power",
             "standings": [{"model", "native", "n_items", "groups": []}],
             "pairs": [{"above", "below", "n_items", "difference", "detectable", "p", "p_adjusted",
                        "apart"}],
             "metrics": [], "n_native", "n_saturated", "n_dropped", "distinct", "n_pairs",
             "n_identical_pairs", "n_tied_pairs", "n_tied_different", "notes": []}]}
    """
    return {"benchmarks": [_as_dict(diagnosis) for diagnosis in diagnoses]}


def _as_dict(diagnosis: Diagnosis) -> dict[str, Any]:
    counted, measured = diagnosis.audit, diagnosis.saturation
    pairs = [
        asdict(pair)
        | {
            "above": counted.models[pair.above].model,
            "below": counted.models[pair.below].model,
            "detectable": float(measured.detectable[pair.above, pair.below]),
        }
        for pair in diagnosis.separation.pairs
    ]
    data: dict[str, Any] = json_ready(
        {
            "benchmark": diagnosis.benchmark,
            "verdict": asdict(diagnosis.verdict),
            "evidence": asdict(diagnosis.evidence),
            "power": measured.power,
            "standings": [asdict(standing) for standing in diagnosis.standings],
            "pairs": pairs,
            "metrics": _metrics(counted),
            "n_native": counted.n_native,
            "n_saturated": counted.n_saturated,
            "n_dropped": counted.n_dropped,
            "distinct": diagnosis.distinct,
            "n_pairs": counted.n_pairs,
            "n_identical_pairs": counted.n_identical_pairs,
            "n_tied_pairs": diagnosis.n_tied_pairs,
            "n_tied_different": diagnosis.n_tied_different,
            "notes": diagnosis.notes,
        }
    )
    return data


def _metrics(counted: BenchmarkAudit) -> list[str]:
    return sorted({metric for entry in counted.models for metric in entry.native_metrics})


def render_diagnosis(diagnoses: Iterable[Diagnosis], console: Console | None = None) -> None:
    """Print each benchmark's verdict, its native leaderboard with groups, and the counts."""
    console = console or Console(highlight=False)
    for number, diagnosis in enumerate(diagnoses):
        if number:
            console.print()
        counted = diagnosis.audit
        size = f"{count(len(counted.models), 'model')} · {count(counted.n_items, 'item')}"
        console.print(plain(f"{diagnosis.benchmark} · {size}", "bold"))
        console.print(plain(f"native score: {', '.join(_metrics(counted)) or 'none'}", "dim"))
        console.print(plain(diagnosis.verdict.text))
        console.print()
        if diagnosis.separation.order:
            console.print(_table(diagnosis))
            for line in _legend(diagnosis):
                console.print(plain(line, "dim"))
            console.print()
        for line in _facts(diagnosis):
            console.print(plain(line))
        for note in diagnosis.notes:
            console.print(plain(f"Note: {note}", "yellow"))


def _table(diagnosis: Diagnosis) -> Table:
    """The native leaderboard: each model, its lead over the next, the lead that would show."""
    table = new_table("Model", "Native", "Lead", "Detectable", "Groups")
    leads: dict[int, Pair] = {}
    for pair in diagnosis.separation.pairs:
        leads.setdefault(pair.above, pair)  # the first is the one with the next model
    for standing, column in zip_longest(diagnosis.standings, diagnosis.separation.order):
        lead = leads.get(column)
        shown = diagnosis.saturation.detectable[lead.above, lead.below] if lead else math.nan
        partly = 0 < standing.n_items < diagnosis.evidence.n_items
        table.add_row(
            plain(standing.model),
            decimal(standing.native) + (f" (of {standing.n_items:,})" if partly else ""),
            decimal(lead.difference if lead else math.nan),
            decimal(shown),
            ", ".join(map(str, standing.groups)) or UNDEFINED,
        )
    return table


def _legend(diagnosis: Diagnosis) -> Iterator[str]:
    measured, n_pairs = diagnosis.saturation, diagnosis.evidence.n_pairs
    if n_pairs:
        level, power = f"{measured.level * 100:g}%", f"{measured.power * 100:g}%"
        yield f"Detectable: the lead over the next that shows with {power} probability (at {level})"
        tests = count(n_pairs, "paired test") + (", Holm" if n_pairs > 1 else "")
        yield f"Groups: models that share one are not told apart ({tests}, at {level})"


def _facts(diagnosis: Diagnosis) -> Iterator[str]:
    """What was counted, one line each."""
    counted, evidence = diagnosis.audit, diagnosis.evidence
    rows = evidence.n_rows
    if evidence.n_pairs:
        yield f"Items with equal native scores: {_share(counted.n_saturated, counted.n_native)}"
    if evidence.n_unscored:
        yield f"Items that lack a native score: {_share(evidence.n_unscored, rows)}"
    if counted.n_dropped:
        yield f"Items left out for want of an answer: {counted.n_dropped:,}"
    if evidence.n_models < 2:
        return
    yield f"Items with identical answers, at no cost: {_share(evidence.n_identical, rows)}"
    yield f"Different answers per item: {diagnosis.distinct:.1f} of {evidence.n_models} on average"
    different = counted.n_pairs - counted.n_identical_pairs
    yield f"Pairs of answers that differ: {_share(different, counted.n_pairs)}"
    if diagnosis.n_tied_pairs:
        share = _share(diagnosis.n_tied_different, diagnosis.n_tied_pairs)
        yield f"Pairs with equal native scores that differ: {share}"


def _share(part: int, whole: int) -> str:
    return f"{part:,} of {whole:,}" + (f" ({percent(part / whole)})" if whole else "")
