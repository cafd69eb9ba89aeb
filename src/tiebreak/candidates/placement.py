"""Find the rows of several logs that ask the same question.

Rows are joined by their question, never by their position:

- by the fingerprint of the question, which is the same in both harnesses;
- within a harness also by the hash of the whole content (lm-eval's `doc_hash`), so that prompts may
  differ in their wording;
- an id of the user's own must not stand for two questions; an error shows where they differ.

If a log has a question twice, its copies are joined only if something else tells them apart: ids of
the user's own, the content of documents whose questions read the same, or the target. A position in
a dataset does not. Otherwise the question is a problem that names its items.
"""

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from tiebreak.candidates.identity import canonical_target, collapse, tool_signatures
from tiebreak.candidates.pool import Item, Note
from tiebreak.candidates.question import judged_by
from tiebreak.candidates.records import LogRecord, item_name
from tiebreak.text import visible


class Slot(NamedTuple):
    """An item independent of harness and log: question, mark of the copy ("" if one), epoch."""

    question: str
    copy: str
    epoch: int


class _Asking(NamedTuple):
    """An item as one log has it; `record` is the index of the log's record."""

    record: int
    item: Item


@dataclass
class Placement:
    """The slots of the rows of several records.

    Attributes:
        slots: slot by index of the record, id of the item and epoch. A row that is not here cannot
            be placed; `problems` says why.
        problems: items that have two questions, and questions of several items.
        various: for items in several logs of one harness that are not the same object, the records
            with their item: these may differ in id, target and wording.
    """

    slots: dict[tuple[int, str, int], Slot] = field(default_factory=dict)
    problems: list[Note] = field(default_factory=list)
    various: list[list[tuple[LogRecord, Item]]] = field(default_factory=list)

    def slot(self, record: int, item: Item) -> Slot | None:
        """Slot of an item of a record, or None if it could not be placed."""
        return self.slots.get((record, item.item_id, item.key.epoch))


def place(benchmark: str, records: Sequence[LogRecord]) -> Placement:
    """Give rows of one benchmark that ask the same question the same slot."""
    placement = Placement()
    askings = [
        _Asking(number, row.item) for number, record in enumerate(records) for row in record.rows
    ]
    groups = _groups(records, askings)
    conflicts = _conflicts(records, groups)
    if places := [n for n, record in enumerate(records) if _are_places(record, conflicts)]:
        numbered = enumerate(records)
        records = [
            replace(record, positional=n in places or record.positional) for n, record in numbered
        ]
        conflicts = _conflicts(records, groups)  # positions do not conflict
    for questions in conflicts.values():
        message = conflict(questions[0][1].item_id, questions)
        placement.problems.append(Note("question_conflict", benchmark, message))
    for question, group in groups.items():
        usable = [asking for asking in group if _own_id(records, asking) not in conflicts]
        _place_group(benchmark, records, question, usable, placement)
    return placement


def _groups(records: Sequence[LogRecord], askings: Sequence[_Asking]) -> dict[str, list[_Asking]]:
    """Rows linked by their question's fingerprint or by their content (union-find)."""
    parents: dict[Hashable, Hashable] = {}

    def root(node: Hashable) -> Hashable:
        while (parent := parents.setdefault(node, node)) != node:
            parents[node] = node = parents[parent]  # path halving keeps the trees flat
        return node

    for record, item in askings:
        if item.content_hash:
            parents[root((records[record].harness, item.content_hash))] = root(item.input_hash)
    groups: dict[Hashable, list[_Asking]] = defaultdict(list)
    for asking in askings:
        groups[root(asking.item.input_hash)].append(asking)
    return {group[0].item.input_hash: group for group in groups.values()}


def _own_id(records: Sequence[LogRecord], asking: _Asking) -> tuple[str, str] | None:
    record = records[asking.record]
    return None if record.positional else (record.harness, asking.item.item_id)


def _conflicts(
    records: Sequence[LogRecord], groups: Mapping[str, Sequence[_Asking]]
) -> dict[tuple[str, str] | None, list[tuple[str, Item]]]:
    """Questions, each with a model asked it, of the user's own ids that have several questions."""
    asked: dict[tuple[str, str], dict[str, tuple[str, Item]]] = defaultdict(dict)
    for question, group in groups.items():
        for asking in group:
            if (id := _own_id(records, asking)) is not None:
                asked[id].setdefault(question, (records[asking.record].model, asking.item))
    return {id: list(asked[id].values()) for id in asked if len(asked[id]) > 1}


def _are_places(record: LogRecord, conflicts: Mapping[tuple[str, str] | None, object]) -> bool:
    """Whether a record's ids are positions after all: numbers, one of which is in `conflicts`.

    A dataset may have been cut after its items were numbered, so the numbers can exceed its size.
    """
    ids = [row.item.item_id for row in record.rows]
    contradicted = any((record.harness, id) in conflicts for id in ids)
    return contradicted and all(id.isdecimal() for id in ids)


def conflict(item_id: str, asked: Sequence[tuple[str, Item]]) -> str:
    """Message that an item has several questions, each with a model that was asked it."""
    return f"item {item_id!r} has {len(asked)} questions: {differing(asked)}"


def differing(asked: Sequence[tuple[str, Item]]) -> str:
    """Differences of questions from the first of them, each with a model that was asked it."""
    (model, first), *rest = asked
    parts = []
    for other_model, other in rest:
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
    """Add slots for the rows of one question to `placement`, or the problem that prevents it."""
    held = Counter((record, item.key.epoch) for record, item in group)
    repeated = max(held.values(), default=0) > 1
    by_copy: dict[str, list[_Asking]] = defaultdict(list)
    copies = _copies(records, group) if repeated else [""] * len(group)
    for asking, copy in zip(group, copies, strict=True):
        by_copy[copy].append(asking)
    for copy, askings in by_copy.items():
        if repeated and not _once_each(askings):
            placement.problems.append(_repeated(benchmark, records, askings))
            continue
        if (pair := _mismatched_rows(records, askings, repeated)) is not None:
            message = conflict(pair[0][1].item_id, pair)
            placement.problems.append(Note("question_conflict", benchmark, message))
            continue
        for record, item in askings:
            slot = Slot(question, copy, item.key.epoch)
            placement.slots[record, item.item_id, item.key.epoch] = slot
        for rows in _by_harness(records, askings):
            if any(item is not rows[0][1] for _, item in rows):
                placement.various.append(rows)


def _copies(records: Sequence[LogRecord], group: Sequence[_Asking]) -> Sequence[str]:
    """For each row the mark of its copy of a repeated question; "" if no mark is usable.

    Ids of the user's own, content hashes and targets may be marks: the first of these is used that
    tells all copies apart, or else the one that does for most rows.
    """
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
    usable = [way for way in ways if all(way) and _links_all(group, way)]
    return max(usable, key=lambda way: _n_told_apart(group, way), default=[""] * len(group))


def _links_all(group: Sequence[_Asking], way: Sequence[str]) -> bool:
    """Whether shared marks link all logs, directly or through others, and so mean the same."""
    holders: dict[str, set[int]] = defaultdict(set)
    for (record, _), mark in zip(group, way, strict=True):
        holders[mark].add(record)
    linked = {group[0].record}
    while (
        more := {record for logs in holders.values() if logs & linked for record in logs} - linked
    ):
        linked |= more
    return linked == {asking.record for asking in group}


def _n_told_apart(group: Sequence[_Asking], way: Sequence[str]) -> int:
    by_mark: dict[str, list[_Asking]] = defaultdict(list)
    for asking, mark in zip(group, way, strict=True):
        by_mark[mark].append(asking)
    return sum(len(askings) for askings in by_mark.values() if _once_each(askings))


def _once_each(askings: Sequence[_Asking]) -> bool:
    return len({(record, item.key.epoch) for record, item in askings}) == len(askings)


def _repeated(benchmark: str, records: Sequence[LogRecord], group: Sequence[_Asking]) -> Note:
    asked: dict[str, list[str]] = defaultdict(list)
    for record, item in group:
        asked[records[record].model].append(repr(item.item_id))
    shown = "; ".join(f"{', '.join(dict.fromkeys(ids))} of {m}" for m, ids in asked.items())
    message = (
        f"{item_name(group[0].item.key)} asks what other items ask, and nothing tells them apart "
        f"({shown})"
    )
    return Note("repeated_question", benchmark, message)


def _mismatched_rows(
    records: Sequence[LogRecord], askings: Sequence[_Asking], repeated: bool
) -> list[tuple[str, Item]] | None:
    """Two rows that were joined by their question but are different items, or None.

    Their targets disagree; or, within Inspect, the text around the question differs (another
    instruction, another passage). Rows of one harness with the same id of the user's own are the
    same item in spite of that, unless targets disagree and the question is repeated (ids may be
    exchanged) or the ids are numbers (they may be positions).
    """
    first = askings[0]
    for other in askings[1:]:
        if other.item is first.item:  # readers share the items of logs with the same rows
            continue
        both = [records[asking.record] for asking in (first, other)]
        alike = both[0].harness == both[1].harness
        if alike and first.item.content_hash == other.item.content_hash:
            continue
        one_id = alike and _own_id(records, first) == _own_id(records, other) is not None
        if one_id and not repeated and not first.item.item_id.isdecimal():
            continue
        contents = (first.item.content_hash, other.item.content_hash)
        inspect = alike and both[0].harness == "inspect" and all(contents) and not one_id
        if inspect or _targets_disagree(first.item, other.item):
            pair = (first, other)
            return [(records[asking.record].model, asking.item) for asking in pair]
    return None


def _targets_disagree(first: Item, other: Item) -> bool:
    """Whether both items have a right answer and these differ, however harnesses spell them."""
    if first.target == other.target:
        return False
    targets = [set(_target(item).splitlines()) for item in (first, other)]
    return bool(all(targets) and not targets[0] & targets[1])


def _target(item: Item) -> str:
    """The right answer in one spelling; if several are accepted, each on a line of its own."""
    judged = judged_by(item.metadata, item.target)
    canonical = canonical_target(judged, item.choices)
    if canonical is not None:
        return canonical
    return "\n".join(collapse(line).casefold() for line in judged.splitlines() if line.strip())


def _by_harness(
    records: Sequence[LogRecord], askings: Sequence[_Asking]
) -> Iterator[list[tuple[LogRecord, Item]]]:
    pairs = [(records[number], item) for number, item in askings]
    for harness in dict.fromkeys(record.harness for record, _ in pairs):
        yield [(record, item) for record, item in pairs if record.harness == harness]


_BEFORE: Final = 20
_LONGEST: Final = 60


def excerpts(first: Item, other: Item) -> tuple[str, str, str]:
    """Place of the first difference between two items, and an excerpt of each around it.

    The parts that make the fingerprint are compared (see `input_hash`), so layout is ignored.
    """
    for where, left, right in _parts(first, other):
        if left != right:
            place, *shown = _difference_context(left, right)
            return f"{where}{place}", shown[0], shown[1]
    return "in nothing that is shown", _quoted(first.prompt, 0), _quoted(other.prompt, 0)


def _parts(first: Item, other: Item) -> Iterator[tuple[str, str, str]]:
    yield "in the text", collapse(first.prompt), collapse(other.prompt)
    if len(first.choices) != len(other.choices):
        yield "in number", f"{len(first.choices)} choices", f"{len(other.choices)} choices"
    for number, (left, right) in enumerate(zip(first.choices, other.choices, strict=False), 1):
        yield f"in choice {number}", collapse(left), collapse(right)
    tools = [str(tool_signatures(item.tools)) for item in (first, other)]
    yield "in the tools", tools[0], tools[1]
    yield "in the right answer", _shown_target(first), _shown_target(other)


def _shown_target(item: Item) -> str:
    return canonical_target(item.target, item.choices) or collapse(item.target)


def _difference_context(left: str, right: str) -> tuple[str, str, str]:
    """Place of the first difference between two texts, in words, and an excerpt of each there."""
    pairs = enumerate(zip(left, right, strict=False))
    at = next((k for k, (a, b) in pairs if a != b), min(len(left), len(right)))
    place = f", from character {at + 1:,} on" if at else ""
    chars = [text[at : at + 1] for text in (left, right)]
    names = ["", ""]
    # Name the characters, because letters of different scripts may look the same.
    if any(char > "~" for char in chars):
        names = [f" (there: {_named(char)})" for char in chars]
    return place, _quoted(left, at) + names[0], _quoted(right, at) + names[1]


def _quoted(text: str, at: int) -> str:
    start = max(0, at - _BEFORE) if len(text) > _LONGEST else 0
    part = text[start : start + _LONGEST]
    before, after = "…" if start else "", "…" if start + _LONGEST < len(text) else ""
    return f"'{before}{visible(part)}{after}'"


def _named(char: str) -> str:
    if not char:
        return "the end"
    return f"U+{ord(char):04X} {unicodedata.name(char, '')}".strip()
