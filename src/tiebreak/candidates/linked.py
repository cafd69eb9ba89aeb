"""Models that did not answer the same items: a pool for each set of models that did.

Answers that are graded one by one need no others beside them. So nothing is cut away where each
session had a sample of its own, and what several models answered is still found side by side.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from tiebreak.candidates.align import align, in_order, model_problems
from tiebreak.candidates.errors import raise_problems
from tiebreak.candidates.placement import Placement, Slot, place
from tiebreak.candidates.pool import CandidatePool, ItemKey, Note
from tiebreak.candidates.records import LogRecord, Reading


def align_by_models(read: Reading) -> tuple[CandidatePool, ...]:
    """A pool for each benchmark and each set of models that answered the same items.

    Raises:
        CandidateError: nothing to align, two logs of one model, an item that has two questions, or
            a question of several items that nothing tells apart.
    """
    answering = [record for record in read.records if any(row.candidate for row in record.rows)]
    if not answering:
        return (align(answering, "intersect", read.notes, read.problems),)
    pools: list[CandidatePool] = []
    for benchmark in sorted({record.benchmark for record in answering}):
        records = in_order(record for record in answering if record.benchmark == benchmark)
        models = sorted({record.model for record in records})
        raise_problems(model_problems(benchmark, records, models, alone=True))
        placement = place(benchmark, records)
        raise_problems(placement.problems)
        for slots in _by_models(records, placement):
            # What the readers noted is about all files: it stands once.
            about = ((), ()) if pools else (read.notes, read.problems)
            part = list(_only(records, placement, slots))
            pools.append(align(part, "intersect", *about, alone=True))
    raise_problems(_conflicts(pools))
    return tuple(pools)


def _by_models(records: Sequence[LogRecord], placement: Placement) -> list[set[Slot]]:
    """The slots of one benchmark, apart by who answered them; those of most models first."""
    answered: dict[Slot, set[str]] = defaultdict(set)
    for number, record in enumerate(records):
        for item, candidate in record.rows:
            slot = placement.slot(number, item)
            if candidate is not None and slot is not None:
                answered[slot].add(record.model)
    groups: dict[tuple[str, ...], set[Slot]] = defaultdict(set)
    for slot, models in answered.items():
        groups[tuple(sorted(models))].add(slot)
    return [groups[models] for models in sorted(groups, key=lambda names: (-len(names), names))]


def _only(
    records: Sequence[LogRecord], placement: Placement, slots: set[Slot]
) -> Iterator[LogRecord]:
    """The records that have some slots, without all others."""
    for number, record in enumerate(records):
        rows = tuple(row for row in record.rows if placement.slot(number, row.item) in slots)
        if any(row.candidate is not None for row in rows):
            yield replace(record, rows=rows)


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
