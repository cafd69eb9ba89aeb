"""Reading Inspect AI logs (`.eval` and `.json`) as Inspect's public API has them."""

import math
from pathlib import Path
from typing import Any

from inspect_ai.log import EvalLog, EvalSample, resolve_sample_attachments
from inspect_ai.scorer import Score, value_to_float

from tiebreak.candidates.documents import judged_by, tools_of
from tiebreak.candidates.identity import input_hash
from tiebreak.candidates.inspect_files import read_header, read_samples, reason
from tiebreak.candidates.native import (
    RECORDED,
    Native,
    choice_note,
    choose_metric,
    finite,
    missing,
)
from tiebreak.candidates.pool import Candidate, Item, ItemKey, Note
from tiebreak.candidates.records import (
    LogRecord,
    Reading,
    ReadOptions,
    Row,
    item_name,
    unique_rows,
)
from tiebreak.candidates.run_keys import PROTOCOL_KEY
from tiebreak.words import natural_key

_UNUSED_FIELDS = {"events", "events_data", "store", "messages"}
_ATTACHMENT = "attachment://"

# The words of Inspect's scorers as numbers. Its converter turns unknown words into 0 with a
# warning, so it only gets known ones.
_WORDS = {
    word: value_to_float()(word)
    for word in [
        *"CIPN",
        *("yes", "true", "Yes", "True", "YES", "TRUE"),
        *("no", "false", "No", "False", "NO", "FALSE"),
    ]
}


def read_inspect_log(path: Path, options: ReadOptions) -> Reading:
    """Read one Inspect log.

    The header is read first, so ranking logs and unsuccessful ones are skipped cheaply.
    """
    source = path.as_posix()
    try:
        header = read_header(source)
    except Exception as error:  # zip, JSON and validation errors: all mean "not a log"
        return _unreadable(source, error)
    if PROTOCOL_KEY in header.metadata:
        protocol = header.metadata[PROTOCOL_KEY]
        return Reading(notes=(Note("ranking_log", source, f"ranking log ({protocol}), left out"),))
    if header.status != "success":
        what = f"status is {header.status!r}" + (
            f": {header.error.message}" if header.error else ""
        )
        return Reading(problems=(Note("log_status", source, what),))
    try:
        samples = read_samples(source, _UNUSED_FIELDS)
    except Exception as error:  # as above: a damaged member shows only now
        return _unreadable(source, error)
    if not samples:
        return Reading(problems=(Note("unreadable_log", source, "holds no samples"),))
    return _Reader(header, samples, source, options).read()


def _unreadable(source: str, error: Exception) -> Reading:
    what = f"cannot be read as an Inspect log ({reason(error)})"
    return Reading(problems=(Note("unreadable_log", source, what),))


class _Reader:
    """Reads one log; collects notes and problems on the way."""

    def __init__(
        self, header: EvalLog, samples: list[EvalSample], source: str, options: ReadOptions
    ) -> None:
        self.samples = samples
        self.scorers = list(dict.fromkeys(name for one in samples for name in _native_scores(one)))
        self.source = source
        self.options = options
        self.task = header.eval.task
        self.benchmark = options.benchmark(header.eval.task)
        self.model = str(header.metadata.get("candidate") or header.eval.model)
        self.planned = _planned(header)
        self.notes: list[Note] = []
        self.problems: list[Note] = []

    def read(self) -> Reading:
        if (there := len(self.samples)) < self.planned:
            what = f"holds {there:,} of the {self.planned:,} samples of its run"
            self.notes.append(Note("rows_missing", self.source, what))
        if note := choice_note(self.scorers, self.options.native, self.source):
            self.notes.append(note)
        rows, twice = unique_rows(map(self._row, self._wanted()), self.source)
        record = LogRecord(self.source, "inspect", self.task, self.benchmark, self.model, rows)
        return Reading((record,), tuple(self.notes), (*self.problems, *twice))

    def _wanted(self) -> list[EvalSample]:
        epochs = len({sample.epoch for sample in self.samples})
        if self.options.epochs == "all" or epochs == 1:
            return self.samples
        what = f"{epochs} epochs, the first is kept"
        self.notes.append(Note("epochs", self.source, what))
        first = [sample for sample in self.samples if sample.epoch == 1]
        without = {one.id for one in self.samples} - {one.id for one in first}
        for id in sorted(map(str, without), key=natural_key):
            name = item_name(ItemKey(self.benchmark, id))
            what = f"{name} has no answer in epoch 1, the one that is kept"
            self.problems.append(Note("missing_output", self.source, what))
        return first

    def _row(self, sample: EvalSample) -> Row:
        # Inspect keeps outputs whole, also long ones; of inputs, data URIs become attachments.
        if _input_has_attachment(sample):
            sample = resolve_sample_attachments(sample)
        key = ItemKey(self.benchmark, str(sample.id), sample.epoch)
        item = _item(sample, key)
        if (problem := self._fault(sample, key)) is not None:
            self.problems.append(problem)
            return Row(item, None)
        native = self._native(sample)
        if native.problem:
            what = f"{item_name(key)}: {native.problem}"
            self.problems.append(Note("native_score", self.source, what))
        return Row(item, self._candidate(sample, key, native))

    def _fault(self, sample: EvalSample, key: ItemKey) -> Note | None:
        """Why a sample is not a candidate, or None if it is one."""
        name = item_name(key)
        if sample.error is not None:
            message = sample.error.message.strip().split("\n")[0][:200]
            return Note("sample_error", self.source, f"{name} ended with an error: {message}")
        if sample.invalidation is not None:
            reason = sample.invalidation.reason or f"by {sample.invalidation.author}"
            return Note("sample_error", self.source, f"{name} was invalidated ({reason})")
        if sample.output.empty and not sample.output.completion:
            cut = f" (stopped by its {sample.limit.type} limit)" if sample.limit else ""
            return Note("missing_output", self.source, f"{name} has no output{cut}")
        return None

    def _native(self, sample: EvalSample) -> Native:
        if not self.scorers:
            return Native(math.nan, None)
        values = _flat(_native_scores(sample))
        name = choose_metric(list(values), self.options.native)
        if name is None:
            return missing(list(values), self.options.native)
        return finite(values[name], name, _WORDS)

    def _candidate(self, sample: EvalSample, key: ItemKey, native: Native) -> Candidate:
        output = sample.output
        stop_reason = None if output.empty else str(output.stop_reason)
        calls = [] if output.empty else output.message.tool_calls or []
        usage = output.usage
        return Candidate(
            key=key,
            model=self.model,
            text=output.completion,
            tool_calls=tuple({"function": c.function, "arguments": c.arguments} for c in calls),
            native_score=native.value,
            native_metric=native.metric,
            # The provider's stop reason does not show that a limit cut the answer.
            stop_reason=f"{sample.limit.type}_limit" if sample.limit else stop_reason,
            input_tokens=_counted(usage.input_tokens) if usage else None,
            output_tokens=_counted(usage.output_tokens) if usage else None,
            source=self.source,
        )


def _planned(header: EvalLog) -> int:
    """Samples that a run had, in one epoch, as far as its header says."""
    dataset, config = header.eval.dataset, header.eval.config
    if dataset.sample_ids is not None:
        return len(dataset.sample_ids)
    return 0 if config.limit or config.sample_id else dataset.samples or 0


def _counted(tokens: int) -> int | None:
    """A number of tokens; None for one that nobody counted and no pool could hold."""
    return tokens if 0 <= tokens < 2**63 else None


def _input_has_attachment(sample: EvalSample) -> bool:
    if isinstance(sample.input, str):
        return sample.input.startswith(_ATTACHMENT)
    return any(message.text.startswith(_ATTACHMENT) for message in sample.input)


def _native_scores(sample: EvalSample) -> dict[str, Score]:
    """Scores by name, without ranks that were written back: these come from judges."""
    scores = sample.scores or {}
    return {name: score for name, score in scores.items() if not name.startswith(RECORDED)}


def _flat(scores: dict[str, Score]) -> dict[str, Any]:
    """Values by name. A dict score also appears under its own name, with its first value."""
    values: dict[str, Any] = {}
    for name, score in scores.items():
        if isinstance(score.value, dict) and score.value:
            values |= {f"{name}.{part}": value for part, value in score.value.items()}
            values[name] = next(iter(score.value.values()))
        else:
            values[name] = score.value
    return values


def _item(sample: EvalSample, key: ItemKey) -> Item:
    prompt = _prompt(sample)
    metadata = sample.metadata
    choices, tools = tuple(sample.choices or ()), tools_of(metadata)
    target = sample.target if isinstance(sample.target, str) else "\n".join(sample.target)
    return Item(
        key=key,
        input_hash=input_hash(
            _question(prompt, metadata), choices, tools, judged_by(metadata, target)
        ),
        prompt=prompt,
        target=target,
        choices=choices,
        tools=tools,
        metadata=metadata,
    )


def _prompt(sample: EvalSample) -> str:
    if isinstance(sample.input, str):
        return sample.input
    return "\n".join(message.text for message in sample.input if message.role != "system")


def _question(prompt: str, metadata: dict[str, Any]) -> str:
    """The bare question: tasks wrap it in instructions and keep the original in the metadata."""
    for name in ("question", "prompt"):
        value = metadata.get(name)
        if isinstance(value, str) and value.strip() and value in prompt:
            return value
    return prompt
