"""Models that did not answer the same items: a pool for each set of models that did.

Answers that are graded one by one need no others beside them. So nothing is cut away where each
session had a sample of its own, and what several models answered is still found side by side.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

from tiebreak.candidates.align import align, model_problems
from tiebreak.candidates.errors import raise_problems
from tiebreak.candidates.pool import CandidatePool, Item, ItemKey, Note
from tiebreak.candidates.records import LogRecord, Reading

_Question = tuple[str, int]
"""Fingerprint and epoch of an item."""


def align_by_models(read: Reading) -> tuple[CandidatePool, ...]:
    """A pool for each benchmark and each set of models that answered the same items.

    Raises:
        CandidateError: nothing to align, two logs of one model, or an item that has two questions.
    """
    records = [one for one in read.records if any(row.candidate for row in one.rows)]
    if not records:
        return (align(records, "intersect", read.notes, read.problems),)
    pools: list[CandidatePool] = []
    for benchmark in sorted({record.benchmark for record in records}):
        own = [record for record in records if record.benchmark == benchmark]
        models = sorted({record.model for record in own})
        raise_problems(model_problems(benchmark, own, models, alone=True))
        for questions in _by_models(own):
            # What the readers noted is about all files: it stands once.
            said = ((), ()) if pools else (read.notes, read.problems)
            pools.append(align(list(_only(own, questions)), "intersect", *said, alone=True))
    raise_problems(_conflicts(pools))
    return tuple(pools)


def _by_models(records: Iterable[LogRecord]) -> list[set[_Question]]:
    """The questions of one benchmark, apart by who answered them; those of most models first."""
    answered: dict[_Question, set[str]] = defaultdict(set)
    for record in records:
        for item, candidate in record.rows:
            if candidate is not None:
                answered[_question(item)].add(record.model)
    groups: dict[tuple[str, ...], set[_Question]] = defaultdict(set)
    for question, models in answered.items():
        groups[tuple(sorted(models))].add(question)
    return [groups[models] for models in sorted(groups, key=lambda one: (-len(one), one))]


def _only(records: Iterable[LogRecord], questions: set[_Question]) -> Iterable[LogRecord]:
    """The records that answer some questions, without all others."""
    for record in records:
        rows = tuple(row for row in record.rows if _question(row.item) in questions)
        if any(row.candidate is not None for row in rows):
            yield replace(record, rows=rows)


def _question(item: Item) -> _Question:
    return item.input_hash, item.key.epoch


def _conflicts(pools: Iterable[CandidatePool]) -> list[Note]:
    """Ids that stand for another question in another pool."""
    asked: dict[ItemKey, set[str]] = defaultdict(set)
    for pool in pools:
        for item in pool.items:
            asked[item.key].add(item.input_hash)
    return [
        Note("question_conflict", key.benchmark, f"item {key.item_id!r} has several questions")
        for key, hashes in asked.items()
        if len(hashes) > 1
    ]
