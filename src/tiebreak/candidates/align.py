"""From records to a pool: the join of all models' answers, item by item.

Inside one harness an item is its id, and the question's fingerprint must agree. Ids of different
harnesses are not comparable, so every item also has a *slot*: its fingerprint and a running number
among the items of its harness that ask the same question. Slots join harnesses; nothing is ever
joined by position.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from tiebreak.candidates.difference import excerpts
from tiebreak.candidates.errors import raise_problems
from tiebreak.candidates.pool import Candidate, CandidatePool, Item, ItemKey, Mode, Note
from tiebreak.candidates.records import Harness, LogRecord, item_name
from tiebreak.words import natural_key

_FATAL = ("duplicate_model", "disjoint_items", "single_model", "rename", "empty_folder")
"""Problems that are errors in every mode."""

_UNREAD = ("unreadable_log", "log_status", "not_written", "filter")
"""Problems that hide a whole file."""


class _Slot(NamedTuple):
    """An item independent of harness: `nth` (from 0) counts items with the same question."""

    input_hash: str
    nth: int
    epoch: int


class _Aligned(NamedTuple):
    """One benchmark after alignment. Items and candidates hold complete rows only."""

    items: list[Item]
    candidates: dict[ItemKey, dict[str, Candidate]]
    notes: list[Note]
    problems: list[Note]


def align(
    records: Sequence[LogRecord],
    mode: Mode,
    notes: Sequence[Note] = (),
    problems: Sequence[Note] = (),
    *,
    alone: bool = False,
) -> CandidatePool:
    """Join records to a pool; benchmarks are kept apart.

    Args:
        records: One per source, benchmark and model, in any order.
        mode: `strict` makes every problem an error; `intersect` keeps the items that all models
            of a benchmark answered, and notes what it left out.
        notes: What readers noted.
        problems: What readers found wrong.
        alone: Whether a benchmark may have a single model.

    Returns:
        A pool whose order depends on names and ids alone: benchmarks by name, items by id.

    Raises:
        CandidateError: In `strict`, for any problem; the error lists all of them. In `intersect`,
            for what cannot be left out: two logs of one model, a single model, no common item, a
            misspelt name in `rename`, nothing to read.
    """
    usable, dropped = _usable(records, mode)
    parts = [
        _align_benchmark(
            [record for record in usable if record.benchmark == benchmark], mode, alone
        )
        for benchmark in sorted({record.benchmark for record in usable})
    ]
    found = [*problems, *(problem for part in parts for problem in part.problems)]
    left_out = [problem for problem in found if problem.kind not in _FATAL] + dropped
    if not usable and not (mode == "strict" and problems):
        found.append(Note("empty_folder", "candidates", "no usable file is left"))
        left_out += notes
    if mode == "strict":
        if any(problem.kind in _UNREAD for problem in problems):
            # A single model is then a consequence of the unread file, not one more thing to fix.
            found = [problem for problem in found if problem.kind != "single_model"]
        raise_problems(found, context=[] if usable else notes)
    else:
        raise_problems([p for p in found if p.kind in _FATAL], context=left_out)
    noted = {*notes, *left_out, *(note for part in parts for note in part.notes)}
    return CandidatePool(
        items=tuple(item for part in parts for item in part.items),
        candidates={key: row for part in parts for key, row in part.candidates.items()},
        notes=tuple(
            sorted(noted, key=lambda note: (note.kind, note.where, natural_key(note.what)))
        ),
    )


def _usable(records: Sequence[LogRecord], mode: Mode) -> tuple[list[LogRecord], list[Note]]:
    """Records in canonical order; `intersect` drops those that hold no answer at all."""
    ordered = sorted(records, key=lambda record: (record.harness, record.model, record.source))
    if mode == "strict":
        return ordered, []
    usable: list[LogRecord] = []
    notes: list[Note] = []
    for record in ordered:
        if any(row.candidate is not None for row in record.rows):
            usable.append(record)
        else:
            notes.append(Note("empty", record.source, "holds no usable answer, left out"))
    return usable, notes


def _align_benchmark(records: Sequence[LogRecord], mode: Mode, alone: bool) -> _Aligned:
    """Align records of one benchmark, sorted by harness (so Inspect's ids and prompts lead)."""
    benchmark = records[0].benchmark
    models = sorted({record.model for record in records})
    if fatal := model_problems(benchmark, records, models, alone):
        return _Aligned([], {}, [], fatal)
    conflicts, problems = _conflicts(benchmark, records)
    items, table = _tabulate(records, conflicts)
    whole = [slot for slot, row in table.items() if len(row) == len(models)]
    kept = [slot for slot in whole if None not in table[slot].values()]
    if not kept and (mode == "intersect" or not (whole or conflicts)):
        problems.append(_disjoint(benchmark, records))
    elif mode == "strict":
        problems += _holes(items, table, models, mode)
    notes = _holes(items, table, models, mode) if mode == "intersect" else []
    ordered = [items[slot] for slot in kept]
    ordered.sort(key=lambda item: (natural_key(item.item_id), item.key.epoch))
    return _Aligned(
        items=ordered,
        candidates=_rows({items[slot].key: table[slot] for slot in kept}, ordered),
        notes=[*notes, *_differences(benchmark, records)],
        problems=problems,
    )


def model_problems(
    benchmark: str, records: Sequence[LogRecord], models: Sequence[str], alone: bool
) -> list[Note]:
    """A model with several logs, and unless it may be `alone` one without another."""
    counts = Counter(record.model for record in records)
    twice = [
        Note(
            "duplicate_model",
            benchmark,
            f"{model!r} has {counts[model]} logs: "
            + ", ".join(record.source for record in records if record.model == model),
        )
        for model in models
        if counts[model] > 1
    ]
    if twice or alone or len(models) > 1:
        return twice
    what = f"only one model, {models[0]!r} ({records[0].source})"
    return [Note("single_model", benchmark, what)]


def _conflicts(
    benchmark: str, records: Sequence[LogRecord]
) -> tuple[set[tuple[Harness, str]], list[Note]]:
    """Ids that stand for different questions inside one harness."""
    askers: dict[tuple[Harness, str], dict[str, tuple[str, Item]]] = defaultdict(dict)
    for record in records:
        for item, _ in record.rows:
            questions = askers[record.harness, item.item_id]
            questions.setdefault(item.input_hash, (record.model, item))
    conflicts = {key: questions for key, questions in askers.items() if len(questions) > 1}
    problems = [
        Note("question_conflict", benchmark, _conflict(item_id, list(questions.values())))
        for (_, item_id), questions in conflicts.items()
    ]
    return set(conflicts), problems


def _conflict(item_id: str, asked: Sequence[tuple[str, Item]]) -> str:
    """Which questions an item stands for; each is shown where it differs from the first."""
    (model, first), *others = asked
    parts = []
    for other_model, other in others:
        where, left, right = excerpts(first, other)
        parts.append(f"{left} ({model}) and {right} ({other_model}), which differ {where}")
    return f"item {item_id!r} has {len(asked)} questions: {'; '.join(parts)}"


def _excerpt(item: Item) -> str:
    text = " ".join(item.prompt.split())
    shown = repr(text if len(text) <= 60 else text[:57] + "…")
    # Questions that look the same differ in what is not shown here.
    return shown + (f" with {len(item.choices)} choices" if item.choices else "")


def _tabulate(
    records: Sequence[LogRecord], conflicts: set[tuple[Harness, str]]
) -> tuple[dict[_Slot, Item], dict[_Slot, dict[str, Candidate | None]]]:
    """The item of every slot, and its answers by model.

    The first record that holds an item gives its prompt and id: Inspect's, if it has the item.
    """
    numbers = _numbers(records)
    items: dict[_Slot, Item] = {}
    table: dict[_Slot, dict[str, Candidate | None]] = defaultdict(dict)
    for record in records:
        for item, candidate in record.rows:
            if (record.harness, item.item_id) in conflicts:
                continue
            nth = numbers[record.harness, item.item_id, item.input_hash]
            slot = _Slot(item.input_hash, nth, item.key.epoch)
            items.setdefault(slot, item)
            table[slot][record.model] = candidate
    return items, table


def _numbers(records: Sequence[LogRecord]) -> dict[tuple[Harness, str, str], int]:
    """Running number of each item among those of its harness that ask the same question."""
    ids: dict[tuple[Harness, str], set[str]] = defaultdict(set)
    for record in records:
        for item, _ in record.rows:
            ids[record.harness, item.input_hash].add(item.item_id)
    return {
        (harness, item_id, input_hash): nth
        for (harness, input_hash), same in ids.items()
        for nth, item_id in enumerate(sorted(same, key=natural_key))
    }


def _holes(
    items: Mapping[_Slot, Item],
    table: Mapping[_Slot, Mapping[str, Candidate | None]],
    models: Sequence[str],
    mode: Mode,
) -> list[Note]:
    """Items that some models did not answer.

    `strict` does not repeat what a reader reported, such as a sample that ended with an error.
    """
    words = "has" if mode == "strict" else "left out,"
    notes = []
    for slot, row in table.items():
        known = (
            row if mode == "strict" else [model for model in models if row.get(model) is not None]
        )
        if missing := [model for model in models if model not in known]:
            what = f"{item_name(items[slot].key)} {words} no answer by {', '.join(missing)}"
            notes.append(Note("hole", items[slot].benchmark, what))
    return notes


def _disjoint(benchmark: str, records: Sequence[LogRecord]) -> Note:
    shown = []
    for record in records:
        first = record.rows[0].item if record.rows else None
        example = f" such as {first.item_id!r} {_excerpt(first)}" if first else ""
        shown.append(f"{record.model}: {len(record.rows)} items{example}")
    what = f"no item that all models answered ({'; '.join(shown)})"
    return Note("disjoint_items", benchmark, what)


def _rows(
    found: Mapping[ItemKey, Mapping[str, Candidate | None]], ordered: Iterable[Item]
) -> dict[ItemKey, dict[str, Candidate]]:
    """Answers under the key of their item: an lm-eval answer to an Inspect item takes its id."""
    return {
        item.key: {
            model: candidate if candidate.key == item.key else replace(candidate, key=item.key)
            for model, candidate in sorted(found[item.key].items())
            if candidate is not None
        }
        for item in ordered
    }


def _differences(benchmark: str, records: Sequence[LogRecord]) -> list[Note]:
    """Notes on what may surprise: several targets of an item, several native metrics."""
    notes: list[Note] = []
    targets: dict[tuple[Harness, str], set[str]] = defaultdict(set)
    metrics: dict[Harness, set[str]] = defaultdict(set)
    for record in records:
        for item, candidate in record.rows:
            targets[record.harness, item.item_id].add(item.target)
            if candidate is not None and candidate.native_metric is not None:
                metrics[record.harness].add(candidate.native_metric)
    for (_, item_id), different in targets.items():
        if len(different) > 1:
            what = f"item {item_id!r} has {len(different)} different targets in its logs"
            notes.append(Note("target_differs", benchmark, what))
    for names in metrics.values():
        if len(names) > 1:
            what = f"native scores come from different metrics: {', '.join(sorted(names))}"
            notes.append(Note("native_differs", benchmark, what))
    return notes
