"""Read answers that no harness logged: rows with `prompt`, `model` and `answer`.

    {"prompt": "Name a cheese.", "model": "a", "answer": "Brie."}
    {"prompt": "Name a cheese.", "model": "b", "answer": "Gouda."}

Questions have the form of a file of prompts (see `prompts`), and the same id and fingerprint as in
a log of the task tiebreak/prompts. A number in `score` is the native score.
"""

import math
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from tiebreak.candidates.identity import content_hash, input_hash
from tiebreak.candidates.native import Native, choice_note, choose_metric, finite, missing
from tiebreak.candidates.pool import Candidate, Item, ItemKey, Note
from tiebreak.candidates.prompts import BENCHMARK, prompt_of, text_in
from tiebreak.candidates.records import LogRecord, Reading, ReadOptions, Row, item_name, unique_rows
from tiebreak.packed import unpacked_name
from tiebreak.rows import ENDS, rows_of

_PROMPT: Final = frozenset({"prompt", "messages"})
_ANSWER: Final = frozenset({"model", "answer"})
_SCORE: Final = "score"
_ABSENT: Final = (None, "")


def holds_answers(path: Path, *, named: bool) -> bool:
    """Whether the first row of a file has the columns of answers; a `named` one may be `.json`."""
    columns = _columns(path, [".json"] if named else [])
    return columns >= _ANSWER and not columns.isdisjoint(_PROMPT)


def holds_prompts(path: Path) -> bool:
    """Whether the first row of a file has a prompt, but no model and answer."""
    columns = _columns(path)
    return not columns.isdisjoint(_PROMPT) and not columns >= _ANSWER


def _columns(path: Path, more_ends: Sequence[str] = ()) -> set[str]:
    if not unpacked_name(path.name).endswith((*ENDS, *more_ends)):
        return set()
    try:
        row: Any = next((row for _, row in rows_of(path)), None)
    except ValueError:
        return set()
    return set(row) if isinstance(row, dict) else set()


def read_answers(path: Path, options: ReadOptions) -> Reading:
    """Read one file of answers; one invalid row makes the whole file unreadable."""
    source, benchmark = options.shown(path), options.benchmark(BENCHMARK)
    by_model: dict[str, list[Row]] = defaultdict(list)
    problems: list[Note] = []
    try:
        for place, row in rows_of(path):
            try:
                model, answered = _row(row, benchmark, source)
            except ValueError as error:
                raise ValueError(f"{place}: {error}") from error
            if answered.candidate is None:
                message = f"{item_name(answered.item.key)} has no answer by {model} that is a text"
                problems.append(Note("missing_output", source, message))
            by_model[model].append(answered)
    except ValueError as error:
        return Reading(problems=(Note("unreadable_log", source, str(error)),))
    answers = [row.candidate for rows in by_model.values() for row in rows if row.candidate]
    unscored = sum(math.isnan(answer.native_score) for answer in answers)
    metrics = (_SCORE,) if unscored < len(answers) else ()
    if metrics and choose_metric(metrics, options.native) is None:
        problems.append(Note("native_score", source, str(missing(metrics, options.native).problem)))
    elif metrics and unscored:
        message = f"{unscored} of {len(answers)} answers have no score, and others have one"
        problems.append(Note("native_score", source, message))
    if options.name_of(source):
        problems.append(Note("rename", "name", f"{source} names its models in a column"))
    records = []
    for model, rows in by_model.items():
        unique, twice = unique_rows(rows, f"{source}, {model}")
        problems += twice
        record = LogRecord(source, "inspect", BENCHMARK, benchmark, model, unique, metrics=metrics)
        records.append(record)
    note = choice_note(metrics, options.native, source)
    return Reading(tuple(records), (note,) if note else (), tuple(problems))


def _row(row: Any, benchmark: str, source: str) -> tuple[str, Row]:
    """Model, item and answer in a row; raise ValueError if the row is invalid."""
    prompt, model, answer = prompt_of(row), text_in(row, "model"), row.get("answer")
    if not model.strip():
        raise ValueError("it names no model")
    native = Native(math.nan, None)
    if row.get(_SCORE) not in _ABSENT:
        native = finite(row[_SCORE], _SCORE, words={})
    if native.problem:
        raise ValueError(native.problem)
    item = Item(
        key=ItemKey(benchmark, prompt.id),
        input_hash=input_hash(prompt.text, target=prompt.target),
        prompt=prompt.text,
        target=prompt.target,
        metadata={"category": prompt.category} if prompt.category else {},
        content_hash=content_hash(prompt.text, target=prompt.target),
    )
    if not isinstance(answer, str):
        return model, Row(item, None)
    score = (native.value, native.metric)
    return model, Row(item, Candidate(item.key, model, answer, (), *score, source=source))
