"""Join the records of all models to a pool, item by item.

`placement` gives rows that ask the same question the same slot. This module makes one item of each
slot, with the answers of all models, and reports missing answers and differences between logs.

Answers that are graded one by one need no others to compare with. If models answered different
items, `align_by_models` therefore makes one pool for each set of models that answered the same
items: no answer is dropped, and all answers to one item are still in one pool.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from tiebreak.candidates.errors import raise_problems
from tiebreak.candidates.identity import collapse
from tiebreak.candidates.lm_eval_runs import SAMPLES_ENDS
from tiebreak.candidates.placement import Placement, Slot, conflict, differing, place
from tiebreak.candidates.pool import Candidate, CandidatePool, Item, ItemKey, Mode, Note
from tiebreak.candidates.records import Harness, LogRecord, Reading, item_name
from tiebreak.candidates.settings import differences_in_words, different
from tiebreak.text import count, natural_key

_FATAL = ("duplicate_model", "disjoint_items", "single_model", "rename", "empty_folder")
"""Problems that are errors in every mode."""

_SETTINGS = ("settings_differ", "wording_differs")
"""Notes that `same_settings` makes errors."""

_UNREAD = ("unreadable_log", "log_status", "not_written", "filter")
"""Problems that can keep a whole file from being read."""


_Answers = dict[Slot, dict[str, Candidate | None]]


class _Aligned(NamedTuple):
    """One benchmark after alignment; `items` and `candidates` have no missing answers."""

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
    same_settings: bool = False,
) -> CandidatePool:
    """Join records, one per source, benchmark and model, to a pool, each benchmark separately.

    The order of the pool depends only on names and ids: benchmarks by name, items by id. If all
    runs shuffled their items alike, items keep that order, so that those of a longer run come last.
    `notes` and `problems` come from the readers; for the other arguments see `load_candidates`.

    Raises:
        CandidateError: in `strict`, for any problem; the error lists all of them. In `intersect`,
            for problems that dropping items cannot solve: two logs of one model, a single model, no
            common item, a misspelt name in `rename`, nothing to read.
    """
    usable, dropped = _usable(records, mode)
    parts = [
        _align_benchmark(
            [record for record in usable if record.benchmark == benchmark], mode, alone
        )
        for benchmark in sorted({record.benchmark for record in usable})
    ]
    faults = [*problems, *(problem for part in parts for problem in part.problems)]
    settings = [note for part in parts for note in part.notes if note.kind in _SETTINGS]
    faults += settings if same_settings else []
    fatal = _FATAL + (_SETTINGS if same_settings else ())
    left_out = [problem for problem in faults if problem.kind not in fatal] + dropped
    # In `strict`, problems of the readers already say why nothing is left.
    if not usable and not (mode == "strict" and problems):
        faults.append(Note("empty_folder", "candidates", "no usable file is left"))
        left_out += notes
    if mode == "strict":
        if any(problem.kind in _UNREAD for problem in problems):
            # A single model is then a consequence of the unread file, not one more thing to fix.
            faults = [problem for problem in faults if problem.kind != "single_model"]
        raise_problems(faults, context=[] if usable else notes)
    else:
        raise_problems([p for p in faults if p.kind in fatal], context=left_out)
    noted = {*notes, *left_out, *(note for part in parts for note in part.notes)}
    noted.update(_absent(usable))
    return CandidatePool(
        items=tuple(item for part in parts for item in part.items),
        candidates={key: row for part in parts for key, row in part.candidates.items()},
        notes=tuple(
            sorted(noted, key=lambda note: (note.kind, note.where, natural_key(note.what)))
        ),
        settings={(record.benchmark, record.model): record.settings for record in usable},
    )


def in_order(records: Iterable[LogRecord]) -> list[LogRecord]:
    """Records in canonical order: Inspect's first, then by model."""
    return sorted(records, key=lambda record: (record.harness, record.model, record.source))


def _usable(records: Sequence[LogRecord], mode: Mode) -> tuple[list[LogRecord], list[Note]]:
    """Records in canonical order; `intersect` drops those that hold no answer at all."""
    ordered = in_order(records)
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
    """Align records of one benchmark; Inspect's come first, so its ids and prompts are used."""
    benchmark = records[0].benchmark
    models = sorted({record.model for record in records})
    if fatal := model_problems(benchmark, records, models, alone):
        return _Aligned([], {}, [], fatal)
    placement = place(benchmark, records)
    items, table = _tabulate(records, placement)
    answered = [slot for slot, row in table.items() if len(row) == len(models)]
    kept = [slot for slot in answered if None not in table[slot].values()]
    problems = [*placement.problems, *_differing_questions(records, items, table)]
    holes: list[Note] = []
    # In `strict`, unusable answers and conflicting questions are reported one by one instead.
    if not kept and (mode == "intersect" or not (answered or problems)):
        problems.append(_disjoint(benchmark, records))
    else:
        holes = _missing_answers(items, table, models, mode)
    ordered = [items[slot] for slot in kept]
    drawn = _drawn(records)
    ordered.sort(
        key=lambda item: (drawn.get(item.item_id, 0), natural_key(item.item_id), item.key.epoch)
    )
    doubts = [*holes, *_target_notes(benchmark, placement), *_native_notes(benchmark, records)]
    strict = mode == "strict"
    return _Aligned(
        items=ordered,
        candidates=_rows({items[slot].key: table[slot] for slot in kept}, ordered),
        notes=[
            *([] if strict else doubts),
            *_id_notes(benchmark, placement),
            *_settings_notes(benchmark, records, placement),
        ],
        problems=[*problems, *(doubts if strict else [])],
    )


def _drawn(records: Sequence[LogRecord]) -> dict[str, int]:
    """Position of each item id if all runs shuffled alike (each has the longest's start); or {}."""
    longest = max((record.drawn for record in records), key=len)
    alike = all(record.drawn and record.drawn == longest[: len(record.drawn)] for record in records)
    return {item_id: place for place, item_id in enumerate(longest)} if alike else {}


def model_problems(
    benchmark: str, records: Sequence[LogRecord], models: Sequence[str], alone: bool
) -> list[Note]:
    """Problems: models with several logs and, unless `alone` is true, a single model."""
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
    message = f"only one model, {models[0]!r} ({records[0].source})"
    return [Note("single_model", benchmark, message)]


def _excerpt(item: Item) -> str:
    text = " ".join(item.prompt.split())
    shown = repr(text if len(text) <= 60 else text[:57] + "…")
    # Questions that look the same differ in what is not shown here.
    return shown + (f" with {len(item.choices)} choices" if item.choices else "")


def _tabulate(
    records: Sequence[LogRecord], placement: Placement
) -> tuple[dict[Slot, Item], _Answers]:
    """Item of every slot, and the answers to it by model.

    Prompt and id of an item are those of the first record with it: an Inspect record, if any.
    """
    items: dict[Slot, Item] = {}
    table: _Answers = defaultdict(dict)
    for number, record in enumerate(records):
        for item, candidate in record.rows:
            if (slot := placement.slot(number, item)) is not None:
                items.setdefault(slot, item)
                table[slot][record.model] = candidate
    return items, table


def _differing_questions(
    records: Sequence[LogRecord], items: Mapping[Slot, Item], table: _Answers
) -> list[Note]:
    """Problems for ids that stand for different questions in one harness, none of them in all logs.

    Remove their slots from `table`: otherwise each would be reported again, as a hole.
    """
    harnesses = {record.model: record.harness for record in records}
    places: dict[tuple[Harness, str, int], list[Slot]] = defaultdict(list)
    for slot, row in table.items():
        if len(row) < len(harnesses):
            harness = harnesses[next(iter(row))]
            places[harness, items[slot].item_id, slot.epoch].append(slot)
    problems = []
    for (_, item_id, _), slots in places.items():
        if len(slots) > 1:
            asked = [(next(iter(table[slot])), items[slot]) for slot in slots]
            message = conflict(item_id, asked)
            problems.append(Note("question_conflict", records[0].benchmark, message))
            for slot in slots:
                del table[slot]
    return problems


def _missing_answers(
    items: Mapping[Slot, Item], table: _Answers, models: Sequence[str], mode: Mode
) -> list[Note]:
    """Notes on items that some models did not answer.

    `strict` does not repeat what a reader reported, e.g. a sample that ended with an error.
    """
    words = "has" if mode == "strict" else "left out,"
    notes = []
    for slot, row in table.items():
        known = (
            row if mode == "strict" else [model for model in models if row.get(model) is not None]
        )
        if missing := [model for model in models if model not in known]:
            message = f"{item_name(items[slot].key)} {words} no answer by {', '.join(missing)}"
            notes.append(Note("hole", items[slot].benchmark, message))
    return notes


def _disjoint(benchmark: str, records: Sequence[LogRecord]) -> Note:
    shown = []
    for record in records:
        first = record.rows[0].item if record.rows else None
        example = f" such as {first.item_id!r} {_excerpt(first)}" if first else ""
        shown.append(f"{record.model}: {len(record.rows)} items{example}")
    message = f"no item that all models answered ({'; '.join(shown)})"
    return Note("disjoint_items", benchmark, message)


def _rows(
    answers: Mapping[ItemKey, Mapping[str, Candidate | None]], ordered: Iterable[Item]
) -> dict[ItemKey, dict[str, Candidate]]:
    """Answers by the key of their item; an lm-eval answer to an Inspect item gets Inspect's id."""
    return {
        item.key: {
            model: candidate if candidate.key == item.key else replace(candidate, key=item.key)
            for model, candidate in sorted(answers[item.key].items())
            if candidate is not None
        }
        for item in ordered
    }


def _target_notes(benchmark: str, placement: Placement) -> list[Note]:
    targets = [{item.target: item.item_id for _, item in rows} for rows in placement.various]
    different = {min(ids.values()): len(ids) for ids in targets if len(ids) > 1}
    return [
        Note("target_differs", benchmark, f"item {id!r} has {n} different targets in its logs")
        for id, n in different.items()
    ]


def _id_notes(benchmark: str, placement: Placement) -> list[Note]:
    """Note on items that logs of one harness have under different ids."""
    models = [
        {item.item_id: record.model for record, item in reversed(rows) if not record.positional}
        for rows in placement.various
    ]
    if not (different := [ids for ids in models if len(ids) > 1]):
        return []
    shown = ", ".join(f"{id!r} ({model})" for id, model in reversed(different[0].items()))
    message = (
        f"{count(len(different), 'item')} joined by what is asked, under different ids, such as "
        f"{shown}"
    )
    return [Note("other_ids", benchmark, message)]


def _native_notes(benchmark: str, records: Sequence[LogRecord]) -> list[Note]:
    metrics: dict[bool, set[str]] = defaultdict(set)
    for record in records:
        for _, candidate in record.rows:
            if candidate is not None and candidate.native_metric is not None:
                # A pool holds answers of both harnesses.
                metrics[candidate.source.endswith(SAMPLES_ENDS)].add(candidate.native_metric)
    return [
        Note(
            "native_differs",
            benchmark,
            f"native scores come from different metrics: {', '.join(sorted(names))}",
        )
        for names in metrics.values()
        if len(names) > 1
    ]


def _settings_notes(
    benchmark: str, records: Sequence[LogRecord], placement: Placement
) -> list[Note]:
    notes = []
    if message := differences_in_words(
        different({record.model: record.settings for record in records})
    ):
        notes.append(Note("settings_differ", benchmark, message))
    worded = [
        {collapse(item.prompt): (record.model, item) for record, item in reversed(rows)}
        for rows in placement.various
    ]
    if different_words := [list(asked.values())[::-1] for asked in worded if len(asked) > 1]:
        asked = different_words[0]
        message = (
            f"{count(len(different_words), 'item')} put in different words to different models, "
            f"such as {item_name(asked[0][1].key)}: {differing(asked)}"
        )
        notes.append(Note("wording_differs", benchmark, message))
    return notes


def _absent(records: Sequence[LogRecord]) -> list[Note]:
    models: dict[str, set[str]] = defaultdict(set)
    for record in records:
        models[record.benchmark].add(record.model)
    everyone = set().union(*models.values()) if models else set()
    return [
        Note("model_absent", benchmark, f"no answers by {', '.join(sorted(everyone - present))}")
        for benchmark, present in models.items()
        if present != everyone
    ]


def align_by_models(read: Reading) -> tuple[CandidatePool, ...]:
    """Return a pool for each benchmark and each set of models that answered the same items.

    Raises:
        CandidateError: there is nothing to align, a model has two logs, an item has two questions,
            or several items with the same question cannot be told apart.
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
            # The readers' notes are about all files, so only the first pool gets them.
            about = ((), ()) if pools else (read.notes, read.problems)
            part = list(_only(records, placement, slots))
            pools.append(align(part, "intersect", *about, alone=True))
    raise_problems(_conflicts(pools))
    return tuple(pools)


def _by_models(records: Sequence[LogRecord], placement: Placement) -> list[set[Slot]]:
    """Slots of one benchmark, grouped by the models that answered them, largest sets first."""
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
    for number, record in enumerate(records):
        rows = tuple(row for row in record.rows if placement.slot(number, row.item) in slots)
        if any(row.candidate is not None for row in rows):
            yield replace(record, rows=rows)


def _conflicts(pools: Iterable[CandidatePool]) -> list[Note]:
    asked: dict[ItemKey, set[str]] = defaultdict(set)
    for pool in pools:
        for item in pool.items:
            asked[item.key].add(item.input_hash)
    return [
        Note("question_conflict", key.benchmark, f"item {key.item_id!r} has several questions")
        for key, hashes in asked.items()
        if len(hashes) > 1
    ]
