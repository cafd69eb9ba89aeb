"""Which rows of several logs ask the same question.

Rows are joined by what they ask, never by where they stand:

- by the fingerprint of the question, which is the same in both harnesses;
- inside a harness by the hash of all that it put in (lm-eval's `doc_hash`), also where prompts
  differ in their wording;
- an id of the user's own must not stand for two questions.

A question that a log holds twice joins only where something else tells its copies apart: ids of
the user's own, or the content of documents whose questions read the same. A place in a dataset
does not; then it is refused by name.
"""

from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from tiebreak.candidates.difference import excerpts
from tiebreak.candidates.documents import judged_by
from tiebreak.candidates.identity import canonical_target, collapse
from tiebreak.candidates.pool import Item, Note
from tiebreak.candidates.records import LogRecord, item_name


class Slot(NamedTuple):
    """An item independent of harness and log: its question, and which of several copies it is."""

    question: str
    copy: str
    epoch: int


class _Asking(NamedTuple):
    """An item as one log has it; `record` is the log's number."""

    record: int
    item: Item


@dataclass
class Placement:
    """Where the rows of several records belong.

    Attributes:
        slots: by number of the record, id of the item and epoch; a row that is not here cannot be
            placed, and `problems` says why.
        problems: items that have two questions, and questions that several items ask.
        worded: items that were put in different words to two models, each with what it read.
    """

    slots: dict[tuple[int, str, int], Slot] = field(default_factory=dict)
    problems: list[Note] = field(default_factory=list)
    worded: list[list[tuple[str, Item]]] = field(default_factory=list)

    def slot(self, record: int, item: Item) -> Slot | None:
        """Where an item of a record belongs; None where that cannot be told."""
        return self.slots.get((record, item.item_id, item.key.epoch))


def place(benchmark: str, records: Sequence[LogRecord]) -> Placement:
    """Find out which rows of one benchmark ask the same question."""
    placement = Placement()
    askings = [
        _Asking(number, row.item) for number, record in enumerate(records) for row in record.rows
    ]
    groups = _groups(records, askings)
    refused = _conflicts(benchmark, records, groups, placement)
    for question, group in groups.items():
        usable = [asking for asking in group if _own_id(records, asking) not in refused]
        _place_group(benchmark, records, question, usable, placement)
    return placement


def _groups(records: Sequence[LogRecord], askings: Sequence[_Asking]) -> dict[str, list[_Asking]]:
    """Rows that ask the same: they are linked by their fingerprint, or by their content."""
    parents: dict[Hashable, Hashable] = {}

    def root(node: Hashable) -> Hashable:
        while (parent := parents.setdefault(node, node)) != node:
            parents[node] = node = parents[parent]
        return node

    for record, item in askings:
        if item.content_hash:
            parents[root((records[record].harness, item.content_hash))] = root(item.input_hash)
    groups: dict[Hashable, list[_Asking]] = defaultdict(list)
    for asking in askings:
        groups[root(asking.item.input_hash)].append(asking)
    return {group[0].item.input_hash: group for group in groups.values()}


def _own_id(records: Sequence[LogRecord], asking: _Asking) -> tuple[str, str] | None:
    """The id that a user gave an item, with its harness; None for a place in a dataset."""
    record = records[asking.record]
    return None if record.positional else (record.harness, asking.item.item_id)


def _conflicts(
    benchmark: str,
    records: Sequence[LogRecord],
    groups: Mapping[str, Sequence[_Asking]],
    placement: Placement,
) -> set[tuple[str, str] | None]:
    """Ids of the user's own that stand for different questions; their rows are not placed."""
    asked: dict[tuple[str, str], dict[str, tuple[str, Item]]] = defaultdict(dict)
    for question, group in groups.items():
        for asking in group:
            if (id := _own_id(records, asking)) is not None:
                asked[id].setdefault(question, (records[asking.record].model, asking.item))
    conflicts = {id: list(asked[id].values()) for id in asked if len(asked[id]) > 1}
    for (_, item_id), questions in conflicts.items():
        what = conflict(item_id, questions)
        placement.problems.append(Note("question_conflict", benchmark, what))
    return set(conflicts)


def conflict(item_id: str, asked: Sequence[tuple[str, Item]]) -> str:
    """Which questions an item stands for, each with a model that was asked it."""
    return f"item {item_id!r} has {len(asked)} questions: {differing(asked)}"


def differing(asked: Sequence[tuple[str, Item]]) -> str:
    """Where questions differ from the first of them, each with a model that was asked it."""
    (model, first), *others = asked
    parts = []
    for other_model, other in others:
        where, left, right = excerpts(first, other)
        parts.append(f"{left} ({model}) and {right} ({other_model}), which differ {where}")
    return "; ".join(parts)


def _place_group(
    benchmark: str,
    records: Sequence[LogRecord],
    question: str,
    group: Sequence[_Asking],
    placement: Placement,
) -> None:
    """Give the rows that ask one question their slots, or say why that cannot be done."""
    held = Counter((record, item.key.epoch) for record, item in group)
    copies = [""] * len(group)
    if max(held.values(), default=0) > 1:
        told_apart = _copies(records, group)
        if told_apart is None:
            placement.problems.append(_repeated(benchmark, records, group))
            return
        copies = told_apart
    by_copy: dict[str, list[_Asking]] = defaultdict(list)
    for asking, copy in zip(group, copies, strict=True):
        by_copy[copy].append(asking)
    for copy, askings in by_copy.items():
        if (pair := _unlike(records, askings)) is not None:
            what = conflict(pair[0][1].item_id, pair)
            placement.problems.append(Note("question_conflict", benchmark, what))
            continue
        for record, item in askings:
            slot = Slot(question, copy, item.key.epoch)
            placement.slots[record, item.item_id, item.key.epoch] = slot
        _note_wording(records, askings, placement)


def _copies(records: Sequence[LogRecord], group: Sequence[_Asking]) -> list[str] | None:
    """What tells the copies of a repeated question apart, for each row; None if nothing does."""
    ids = [asking.item.item_id for asking in group]
    if len({asking.record for asking in group}) == 1:
        return ids
    harnesses = {records[asking.record].harness for asking in group}
    ways = []
    if not any(records[asking.record].positional for asking in group):
        ways.append(ids)
    if len(harnesses) == 1:
        ways.append([asking.item.content_hash for asking in group])
    ways.append([_target(asking.item) for asking in group])
    return next((way for way in ways if all(way) and _tells_apart(group, way)), None)


def _tells_apart(group: Sequence[_Asking], way: Sequence[str]) -> bool:
    """Whether no log has a mark twice, and every log shares one with another that has any."""
    holders: dict[str, set[int]] = defaultdict(set)
    places = set()
    for (record, item), mark in zip(group, way, strict=True):
        holders[mark].add(record)
        places.add((record, item.key.epoch, mark))
    logs = {asking.record for asking in group}
    shared = {record for those in holders.values() if len(those) > 1 for record in those}
    return len(places) == len(group) and shared == logs


def _repeated(benchmark: str, records: Sequence[LogRecord], group: Sequence[_Asking]) -> Note:
    asked: dict[str, list[str]] = defaultdict(list)
    for record, item in group:
        asked[records[record].model].append(repr(item.item_id))
    shown = "; ".join(f"{', '.join(dict.fromkeys(ids))} of {m}" for m, ids in asked.items())
    what = (
        f"{item_name(group[0].item.key)} asks what other items ask, and nothing tells them apart "
        f"({shown})"
    )
    return Note("repeated_question", benchmark, what)


def _unlike(
    records: Sequence[LogRecord], askings: Sequence[_Asking]
) -> list[tuple[str, Item]] | None:
    """Two rows that were joined by their question and are not the same item for all that.

    Their targets disagree; or inside Inspect, where no id of the user's own says that they are
    one, something else around the question differs: another instruction, or another passage.
    """
    first = askings[0]
    for other in askings[1:]:
        both = [records[asking.record] for asking in (first, other)]
        alike = both[0].harness == both[1].harness
        if alike and first.item.content_hash == other.item.content_hash:
            continue
        if alike and _own_id(records, first) == _own_id(records, other) is not None:
            continue
        contents = (first.item.content_hash, other.item.content_hash)
        inspect = alike and both[0].harness == "inspect" and all(contents)
        if inspect or _targets_disagree(first.item, other.item):
            pair = (first, other)
            return [(records[asking.record].model, asking.item) for asking in pair]
    return None


def _targets_disagree(one: Item, other: Item) -> bool:
    """Whether two right answers are given and differ, in whatever way harnesses spell them."""
    if one.target == other.target:
        return False
    targets = [set(_target(item).splitlines()) for item in (one, other)]
    return bool(all(targets) and not targets[0] & targets[1])


def _target(item: Item) -> str:
    """The right answer in one spelling; of several accepted ones each on a line."""
    judged = judged_by(item.metadata, item.target)
    canonical = canonical_target(judged, item.choices)
    if canonical is not None:
        return canonical
    return "\n".join(collapse(line).casefold() for line in judged.splitlines() if line.strip())


def _note_wording(
    records: Sequence[LogRecord], askings: Sequence[_Asking], placement: Placement
) -> None:
    """Note rows that are the same item of one harness, and were put in different words."""
    first = askings[0]
    for other in askings[1:]:
        alike = records[first.record].harness == records[other.record].harness
        if alike and collapse(first.item.prompt) != collapse(other.item.prompt):
            pair = (first, other)
            placement.worded.append([(records[one.record].model, one.item) for one in pair])
            return
