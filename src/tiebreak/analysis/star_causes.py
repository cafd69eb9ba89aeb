"""Causes of errors: shares by model and of all (LLMEval-Fair, figure 3), and whether raters agree.

Of several raters of one answer each has an equal part of it, so that answers count once. Intervals
are clustered: answers to one question, or to variants of it, go together.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from tiebreak.analysis.alignment.align import match_names
from tiebreak.analysis.errors import AnalysisError
from tiebreak.analysis.star_table import StarTable
from tiebreak.rankers.intervals import Estimate, ItemDraws
from tiebreak.rankers.kappa import kappa_estimate
from tiebreak.rankers.uncertainty import Resampling
from tiebreak.tables.causes import CauseLabel, CauseLabels
from tiebreak.words import count, listed

_Answer = tuple[str, str, str]
"""Benchmark, item and model."""


@dataclass(frozen=True, slots=True)
class CauseRow:
    """Shares of causes among a model's labelled answers; `model` is "" for all models.

    `n_below` of its answers have less than three stars, and `n_labelled` answers are labelled.
    """

    model: str
    n_labelled: int
    n_below: int
    shares: tuple[Estimate, ...]


@dataclass(frozen=True, slots=True)
class RaterPair:
    """Cohen's κ of two raters over the `n` answers that both have labelled."""

    first: str
    second: str
    n: int
    kappa: Estimate


@dataclass(frozen=True, slots=True)
class ErrorCauses:
    """Shares by model and, last, of all; κ of each two raters. `causes` are the columns."""

    source: str
    causes: tuple[str, ...]
    rows: tuple[CauseRow, ...]
    raters: tuple[RaterPair, ...]
    level: float
    notes: tuple[str, ...]


def error_causes(
    labels: CauseLabels, tables: Mapping[str, StarTable], *, level: float = 0.95
) -> ErrorCauses:
    """Causes of the errors of answers that were judged by stars.

    Args:
        labels: what people said.
        tables: stars by benchmark.
        level: of intervals, in (0, 1).

    Raises:
        AnalysisError: no label is of an answer that was judged; an item is in several benchmarks
            and the label does not say in which; a name could be several models.
    """
    answers, notes = _answers(labels, tables)
    if not answers:
        raise AnalysisError("\n".join([f"Nothing in {labels.source} was judged by stars.", *notes]))
    place = {cause: number for number, cause in enumerate(labels.causes)}
    cluster = _clusters(tables)
    keys = list(answers)
    items = [cluster[benchmark, item] for benchmark, item, _ in keys]
    parts = np.zeros((len(keys), len(place)))
    for row, key in zip(parts, keys, strict=True):
        for label in answers[key]:
            row[place[label.cause]] += 1 / len(answers[key])
    below = _below(tables)
    models = sorted({model for _, _, model in keys})
    rows = []
    for model in [*models, ""]:
        own = np.array([model in ("", key[2]) for key in keys])
        draws = ItemDraws(
            int(own.sum()), [i for i, o in zip(items, own, strict=True) if o], how=Resampling(level)
        )
        shares = draws.shares(parts[own], np.ones_like(parts[own]), "no answer is labelled")
        n_below = sum(below.values()) if not model else below[model]
        rows.append(CauseRow(model, int(own.sum()), n_below, shares))
    more = _more_notes(keys, tables)
    pairs = tuple(_agreement(answers, cluster, place, level))
    return ErrorCauses(labels.source, labels.causes, tuple(rows), pairs, level, (*notes, *more))


def _answers(
    labels: CauseLabels, tables: Mapping[str, StarTable]
) -> tuple[dict[_Answer, list[CauseLabel]], list[str]]:
    """Labels by answer, and sentences on those that are of none."""
    known = sorted({model for table in tables.values() for model in table.models})
    names = list(dict.fromkeys(label.model for label in labels.labels))
    called = {name: model for model, name in match_names(names, known).items()}
    places: dict[tuple[str, str], list[str]] = defaultdict(list)
    for name, table in tables.items():
        for item, asked in zip(table.item_ids, table.asked, strict=True):
            for model, there in zip(table.models, asked, strict=True):
                if there and name not in places[item, model]:
                    places[item, model].append(name)
    found: dict[_Answer, list[CauseLabel]] = defaultdict(list)
    lost = 0
    for label in labels.labels:
        model = called.get(label.model, "")
        where = [
            name for name in places.get((label.item_id, model), ()) if label.benchmark in ("", name)
        ]
        if len(where) > 1:
            raise AnalysisError(
                f"{labels.source}, line {label.line}: item {label.item_id!r} is in "
                f"{' and '.join(where)}; add a column benchmark"
            )
        if where:
            found[where[0], label.item_id, model].append(label)
        lost += not where
    strangers = [name for name in names if name not in called]
    notes = [f"Left out: {count(lost, 'label')} of answers that no log judged"] if lost else []
    if strangers:
        notes.append(f"Models that no log judged: {listed(sorted(strangers))}")
    return dict(found), notes


def _clusters(tables: Mapping[str, StarTable]) -> dict[tuple[str, str], str]:
    return {
        (name, item): cluster
        for name, table in tables.items()
        for item, cluster in zip(table.item_ids, table.clusters, strict=True)
    }


def _below(tables: Mapping[str, StarTable]) -> Counter[str]:
    """How many answers of each model have fewer stars than all."""
    found: Counter[str] = Counter()
    for table in tables.values():
        for model, scores in zip(table.models, table.scores.T, strict=True):
            found[model] += int(np.sum(scores < 1))
    return found


def _more_notes(keys: Sequence[_Answer], tables: Mapping[str, StarTable]) -> Iterator[str]:
    full = 0
    for name, table in tables.items():
        row = {item: number for number, item in enumerate(table.item_ids)}
        full += sum(
            table.scores[row[item], table.models.index(model)] == 1
            for benchmark, item, model in keys
            if benchmark == name
        )
    if full:
        have = "has" if full == 1 else "have"
        yield f"{count(int(full), 'labelled answer')} {have} three stars: no error to the judge"


def _agreement(
    answers: Mapping[_Answer, Sequence[CauseLabel]],
    cluster: Mapping[tuple[str, str], str],
    place: Mapping[str, int],
    level: float,
) -> Iterator[RaterPair]:
    raters = sorted({one.rater for own in answers.values() for one in own if one.rater})
    for first, second in combinations(raters, 2):
        tables, items = [], []
        for (benchmark, item, _), own in answers.items():
            said = {one.rater: place[one.cause] for one in own}
            if first in said and second in said:
                table = np.zeros((len(place), len(place)))
                table[said[first], said[second]] = 1
                tables.append(table)
                items.append(cluster[benchmark, item])
        if tables:
            kappa = kappa_estimate(np.array(tables), items=items, level=level)
        else:
            kappa = Estimate(math.nan, math.nan, math.nan, 0, "no answer has a label of both")
        yield RaterPair(first, second, len(tables), kappa)
