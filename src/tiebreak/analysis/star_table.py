"""Stars of several logs in one table, items × models; and logs grouped into rounds.

Logs of one benchmark may have the same models on other items, or other models on the same items:
each answer has one cell. If an answer was judged in several logs, the newest verdict counts.

A log with the same sample of questions belongs to the same round (answers of another model, or the
same answers judged again), and so does a log of models that the round lacks: in a linked or
unlinked design each session has its own questions. A returning model with others opens a new round.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tiebreak.candidates.settings import Settings
from tiebreak.rankers.linked import LinkedScores, linked_scores
from tiebreak.rankers.pairwise_tests import Separation, separation
from tiebreak.rankers.profile import FloatArray
from tiebreak.rankers.uncertainty import Resampling
from tiebreak.ranking_logs.log import JudgedItem, RankingLog
from tiebreak.reason import Reason
from tiebreak.scorers.ballots import VOTES, ItemBallots
from tiebreak.scorers.placement import star_scores

Design = Literal["paired", "linked", "unlinked"]
"""Whether all models have the same items, some pair of models shares some, or no pair does."""

_Row = tuple[str, str, int]
"""An item's id, the hash of its question, and the epoch."""


@dataclass(frozen=True, eq=False, slots=True)
class StarTable:
    """The stars of one benchmark.

    `scores` are stars divided by 3, in [0, 1], shape (rows, N); NaN if a model was not asked, or
    its answer has no usable verdict: `asked` tells which. A row is an item (or one epoch of it);
    `clusters`, `subjects` and `targets` have the question from which it was made, its part of the
    benchmark and its key, "" if unknown. `native` holds native scores. `items` are all ballots
    behind the table, `logs` the paths of their logs, `canaries` the planted answers in these,
    `settings` the settings of each model on the benchmark. `seconds` are the raters' median times.
    """

    models: tuple[str, ...]
    scores: FloatArray
    asked: NDArray[np.bool_]
    native: FloatArray
    item_ids: tuple[str, ...]
    clusters: tuple[str, ...]
    subjects: tuple[str, ...]
    targets: tuple[str, ...]
    items: tuple[ItemBallots, ...]
    logs: tuple[str, ...]
    notes: tuple[Reason, ...]
    canaries: tuple[JudgedItem, ...] = ()
    settings: Settings = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)

    @property
    def n_items(self) -> int:
        """Number of different items; all epochs of an item count once."""
        return len(set(self.item_ids))

    @property
    def keys(self) -> tuple[tuple[str, str], ...]:
        """Type and key of every item; the type is "" if the key does not tell it."""
        keys = {item: key.strip() for item, key in zip(self.item_ids, self.targets, strict=True)}
        return tuple(_type_and_key(key) for key in keys.values())

    @property
    def anchors(self) -> int:
        """Number of rows that all models were asked."""
        return int(self.asked.all(axis=1).sum())

    @property
    def shared(self) -> NDArray[np.int64]:
        """Number of rows that each pair of models was asked, shape (N, N)."""
        asked = self.asked.astype(np.int64)
        return asked.T @ asked

    @property
    def design(self) -> Design:
        """How far the items of the models overlap."""
        if self.asked.all():
            return "paired"
        pairs = self.shared[np.triu_indices(len(self.models), k=1)]
        return "linked" if pairs.any() else "unlinked"


def star_table(logs: Sequence[RankingLog]) -> StarTable:
    """The table of some logs of one benchmark judged by stars, the oldest first."""
    cells: dict[_Row, dict[str, float]] = defaultdict(dict)
    native: dict[_Row, dict[str, float]] = defaultdict(dict)
    first: dict[_Row, JudgedItem] = {}
    again: Counter[str] = Counter()
    for log in logs:
        for sample in log.samples:
            item = sample.ballots
            if item is None or not sample.judged:
                continue
            row = item.item_id, item.input_hash, sample.epoch
            first.setdefault(row, sample)
            scores = star_scores(item)
            for model in item.models:
                again[log.path] += model in cells[row]
                # A newer log replaces stars only by stars, not by an unscored answer.
                if model in scores or model not in cells[row]:
                    cells[row][model] = scores.get(model, math.nan)
            native[row] |= {m: math.nan if s is None else s for m, s in item.native.items()}
    models = tuple(sorted({model for row in cells.values() for model in row}))
    judged = [sample.ballots for sample in first.values() if sample.ballots]
    return StarTable(
        models=models,
        scores=_array(cells, models),
        asked=np.array([[m in row for m in models] for row in cells.values()], dtype=np.bool_),
        native=_array(native, models),
        item_ids=tuple(item.item_id for item in judged),
        clusters=tuple(item.cluster or item.item_id for item in judged),
        subjects=tuple(item.subject for item in judged),
        targets=tuple(sample.target for sample in first.values()),
        items=tuple(item for log in logs for item in log.items),
        logs=tuple(log.path for log in logs),
        notes=tuple(Reason("judged_before", log=path, n=n) for path, n in again.items() if n),
        canaries=tuple(canary for log in logs for canary in log.canaries),
        settings={
            model: settings
            for log in logs
            for model, settings in log.settings.get(log.benchmark, {}).items()
        },
        seconds={rater: taken for log in logs for rater, taken in log.seconds.items()},
    )


def _type_and_key(key: str) -> tuple[str, str]:
    """The type and key of a question; the type is "" if it has no constant answers."""
    if key.casefold() in ("true", "false"):
        return "true_false", key.casefold()
    letter = len(key) == 1 and key.isascii() and key.isalpha()
    return ("multiple_choice", key.upper()) if letter else ("", key)


def _array(rows: dict[_Row, dict[str, float]], models: Sequence[str]) -> FloatArray:
    cells = [[row.get(model, math.nan) for model in models] for row in rows.values()]
    return np.array(cells, dtype=np.float64).reshape(len(rows), len(models))


def scored(table: StarTable) -> LinkedScores:
    """The scores of a table, corrected by shared items in a linked design."""
    return linked_scores(table.scores, table.clusters, link=table.design == "linked")


def tests_of(
    scores: LinkedScores, table: StarTable, order: Sequence[int], how: Resampling
) -> Separation:
    """Tests of all pairs of models over clusters; `n_items` counts rows with stars for either."""
    tests = separation(scores.pseudo, order, level=how.level)
    asked = ~np.isnan(table.scores)
    pairs = tuple(
        replace(pair, n_items=int((asked[:, pair.above] | asked[:, pair.below]).sum()))
        for pair in tests.pairs
    )
    return replace(tests, pairs=pairs)


# Samples of one bank share questions by chance; a larger share means the same sample.
_SAME = 0.9


def star_parts(logs: Iterable[RankingLog]) -> dict[str, list[RankingLog]]:
    """Logs judged by stars, by benchmark sorted by name; people's stars are a benchmark apart."""
    named: dict[str, list[RankingLog]] = defaultdict(list)
    for part in (part for log in logs for part in log.parts() if part.by_stars):
        named[f"{part.benchmark} · {VOTES}" if part.seconds else part.benchmark].append(part)
    return dict(sorted(named.items()))


def rounds_of(logs: Sequence[RankingLog]) -> list[list[RankingLog]]:
    """The logs of one benchmark grouped into rounds, both in the order given."""
    rounds: list[tuple[list[RankingLog], set[str], set[str]]] = []
    for log in logs:
        items = {item.item_id for item in log.items}
        models = {model for item in log.items for model in item.models}
        overlaps: dict[int, float] = {}
        for number, (_, asked, rated) in enumerate(rounds):
            overlap = len(items & asked) / max(len(items), 1)
            if overlap > _SAME or not rated & models:
                overlaps[number] = overlap
        # `max` takes the oldest of the rounds that share most of the log's questions.
        best = max(overlaps, key=overlaps.__getitem__, default=len(rounds))
        if best == len(rounds):
            rounds.append(([], set(), set()))
        of_round, asked, rated = rounds[best]
        of_round.append(log)
        asked |= items
        rated |= models
    return [of_round for of_round, _, _ in rounds]
