"""Read Inspect AI logs (`.eval` and `.json`) into records, as Inspect's public API reads them."""

import hashlib
import json
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from tiebreak.candidates.arena_logs import by_model
from tiebreak.candidates.identity import content_hash, input_hash
from tiebreak.candidates.inspect_files import read_header, read_samples, reason
from tiebreak.candidates.inspect_types import (
    MEDIA,
    LogContent,
    LogHeader,
    LogSample,
    RecordedSample,
    Score,
    ToolCall,
)
from tiebreak.candidates.native import (
    RECORDED,
    Native,
    choice_note,
    choose_metric,
    finite,
    missing,
    problem_note,
)
from tiebreak.candidates.pool import Candidate, Item, ItemKey, Medium, Note
from tiebreak.candidates.question import (
    Asked,
    Turn,
    are_places,
    conversation,
    judged_by,
    questions,
    tools_of,
)
from tiebreak.candidates.records import (
    LogRecord,
    Reading,
    ReadOptions,
    Recorded,
    Row,
    item_name,
    unique_rows,
)
from tiebreak.candidates.run_keys import ANSWERS_KEY, OWN_PROMPTS_KEY, PROTOCOL_KEY
from tiebreak.candidates.settings import HARNESS, setting_text
from tiebreak.text import count, natural_key

_REMOVED = ("<base64-data-removed>", "(Image)")
"""Inspect's placeholders for images that it was told not to log."""

_SECRET = re.compile("key|token|secret|password", re.IGNORECASE)
# Options of how a call is made, not of what is asked.
_HOW_CALLED = {
    *("max_retries", "timeout", "attempt_timeout", "stream_idle_timeout", "fail_on_refusal"),
    *("max_connections", "adaptive_connections", "batch", "cache", "cache_prompt"),
    *("extra_headers", "extra_body"),  # these may hold keys
}
_LIMITS: Final = (
    *("message_limit", "token_limit", "turn_limit", "time_limit", "working_limit", "cost_limit"),
)

# Inspect's own converter also turns unknown words into 0; here they are an error.
_WORDS = {
    **{"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0},
    **dict.fromkeys(("yes", "true", "Yes", "True", "YES", "TRUE"), 1.0),
    **dict.fromkeys(("no", "false", "No", "False", "NO", "FALSE"), 0.0),
}


def read_inspect_log(path: Path, options: ReadOptions) -> Reading:
    """Read one Inspect log.

    The header is read first, so that samples of ranking logs and failed runs need not be read.
    """
    source = options.shown(path)
    try:
        header = read_header(path.as_posix())
    except Exception as error:  # zip, JSON or validation error: the file is not a log
        return _unreadable(source, error)
    if PROTOCOL_KEY in header.metadata and ANSWERS_KEY not in header.metadata:
        protocol = header.metadata[PROTOCOL_KEY]
        return Reading(notes=(Note("ranking_log", source, f"ranking log ({protocol}), left out"),))
    if header.status != "success":
        message = f"status is {header.status!r}" + (
            f": {header.error.message}" if header.error else ""
        )
        return Reading(problems=(Note("log_status", source, message),), run=_run_of(header))
    try:
        kind = RecordedSample if options.recorded else LogSample
        samples = read_samples(path.as_posix(), kind)
        runs = [(header, samples)]
        if ANSWERS_KEY in header.metadata:
            runs = list(by_model(header, samples))
    except Exception as error:  # as above, in a member of the zip that was not read before
        return _unreadable(source, error)
    if not samples:
        return Reading(problems=(Note("unreadable_log", source, "holds no samples"),))
    readings = [_Reader(*run, source, options).read() for run in runs]
    return Reading(
        tuple(record for reading in readings for record in reading.records),
        tuple(dict.fromkeys(note for reading in readings for note in reading.notes)),
        tuple(problem for reading in readings for problem in reading.problems),
        _run_of(header),
    )


def _unreadable(source: str, error: Exception) -> Reading:
    message = f"cannot be read as an Inspect log ({reason(error)})"
    return Reading(problems=(Note("unreadable_log", source, message),))


class _Reader:
    def __init__(
        self, header: LogHeader, samples: list[LogSample], source: str, options: ReadOptions
    ) -> None:
        self.header = header
        self.samples = samples
        self.metrics = list(
            dict.fromkeys(name for sample in samples for name in _flat(_native_scores(sample)))
        )
        self.source = source
        self.options = options
        self.task = header.eval.task
        self.benchmark = options.benchmark(header.eval.task)
        self.model = options.name_of(source) or _model_of(header)
        self.planned = _planned(header)
        self.notes: list[Note] = []
        self.problems: list[Note] = []

    def read(self) -> Reading:
        if (n_samples := len(self.samples)) < self.planned:
            message = f"holds {n_samples:,} of the {self.planned:,} samples of its run"
            self.notes.append(Note("rows_missing", self.source, message))
        if note := choice_note(self.metrics, self.options.native, self.source):
            self.notes.append(note)
        wanted = self._wanted()
        as_it_stands = OWN_PROMPTS_KEY in self.header.metadata
        how, shown = ("inspect", self.benchmark, as_it_stands), list(map(_shown, wanted))
        items = self.options.once(
            how, shown, lambda: items_of(wanted, self.benchmark, as_it_stands=as_it_stands)
        )
        rows, twice = unique_rows(map(self._row, wanted, items), self.source)
        record = LogRecord(
            self.source,
            "inspect",
            self.task,
            self.benchmark,
            self.model,
            rows,
            settings=_settings(self.header),
            metrics=tuple(self.metrics),
            positional=are_places(
                [sample.id for sample in wanted], self.header.eval.dataset.samples or 0
            ),
            drawn=_drawn(self.header),
            judged_there=ANSWERS_KEY in self.header.metadata,
            recorded=self._recorded() if self.options.recorded else None,
        )
        if stopped := [sample.id for sample in wanted if sample.limit is not None]:
            message = (
                f"{count(len(stopped), 'answer')} of runs that a limit stopped, such as that of "
                f"item {stopped[0]!r}: judges read the last words, with a mark"
            )
            self.notes.append(Note("stopped", self.source, message))
        problems = (*dict.fromkeys(self.problems), *twice)
        return Reading((record,), tuple(self.notes), problems, _run_of(self.header))

    def _wanted(self) -> list[LogSample]:
        epochs = len({sample.epoch for sample in self.samples})
        if self.options.epochs == "all" or epochs == 1:
            return self.samples
        message = f"{epochs} epochs, the first is kept"
        self.notes.append(Note("epochs", self.source, message))
        first = [sample for sample in self.samples if sample.epoch == 1]
        without = {sample.id for sample in self.samples} - {sample.id for sample in first}
        for id in sorted(map(str, without), key=natural_key):
            name = item_name(ItemKey(self.benchmark, id))
            message = f"{name} has no answer in epoch 1, the one that is kept"
            self.problems.append(Note("missing_output", self.source, message))
        return first

    def _recorded(self) -> Recorded:
        scores = {
            (str(sample.id), sample.epoch): {
                name: {field: value for field, value in score if value not in (None, [])}
                for name, score in (sample.scores or {}).items()
                if name.startswith(RECORDED)
            }
            for sample in self.samples
        }
        results = self.header.results.scores if self.header.results else []
        return Recorded(self.header.eval.scorers or [], results, scores)

    def _row(self, sample: LogSample, item: Item) -> Row:
        key = item.key
        if problem := self._fault(sample, key) or self._unknown_media(item):
            self.problems.append(problem)
            return Row(item, None)
        native = self._native(sample)
        if native.problem:
            how = (item_name(key), self.metrics, self.options.native, self.source)
            self.problems.append(problem_note(native, *how))
        return Row(item, self._candidate(sample, key, native))

    def _fault(self, sample: LogSample, key: ItemKey) -> Note | None:
        name = item_name(key)
        if sample.error is not None:
            message = sample.error.message.strip().split("\n")[0][:200]
            return Note("sample_error", self.source, f"{name} ended with an error: {message}")
        if sample.invalidation is not None:
            reason = sample.invalidation.reason or f"by {sample.invalidation.author}"
            return Note("sample_error", self.source, f"{name} was invalidated ({reason})")
        if not (sample.output.choices or sample.output.completion):
            cut = f" (stopped by its {sample.limit.type} limit)" if sample.limit else ""
            return Note("missing_output", self.source, f"{name} has no output{cut}")
        return None

    def _unknown_media(self, item: Item) -> Note | None:
        """Problem if the log lacks an item's image, without which items cannot be told apart."""
        if lost := [medium.kind for medium in item.media if medium.source in _REMOVED]:
            message = f"{item_name(item.key)} showed {lost[0]} data that its log does not hold"
            return Note("media_missing", self.source, message)
        return None

    def _native(self, sample: LogSample) -> Native:
        if not self.metrics:
            return Native(math.nan, None)
        values = _flat(_native_scores(sample))
        name = choose_metric(list(values), self.options.native or self.metrics[:1])
        if name is None:
            return missing(list(values), self.options.native or self.metrics[:1])
        return finite(values[name], name, _WORDS)

    def _candidate(self, sample: LogSample, key: ItemKey, native: Native) -> Candidate:
        output, usage = sample.output, sample.output.usage
        choice = output.choices[0] if output.choices else None
        stop_reason = choice.stop_reason if choice else None
        calls = _calls(choice.message.tool_calls or [], output.text) if choice else []
        return Candidate(
            key=key,
            model=self.model,
            text=output.text,
            tool_calls=tuple({"function": c.function, "arguments": c.arguments} for c in calls),
            native_score=native.value,
            native_metric=native.metric,
            # The provider's stop reason does not show that a limit of Inspect ended the run.
            stop_reason=f"{sample.limit.type}_limit" if sample.limit else stop_reason,
            input_tokens=_counted(usage.input_tokens) if usage else None,
            output_tokens=_counted(usage.output_tokens) if usage else None,
            source=self.source,
        )


def _planned(header: LogHeader) -> int:
    """Number of samples of a run in one epoch, as planned; 0 if the header does not say."""
    dataset, config = header.eval.dataset, header.eval.config
    if dataset.sample_ids is not None:
        return len(dataset.sample_ids)
    return 0 if config.limit or config.sample_id else dataset.samples or 0


def _drawn(header: LogHeader) -> tuple[str, ...]:
    shuffled = header.eval.config.sample_shuffle not in (None, False)
    return tuple(map(str, header.eval.dataset.sample_ids or ())) if shuffled else ()


def _counted(tokens: int) -> int | None:
    """A number of tokens; None if it is negative or too large for a pool (64 bits)."""
    return tokens if 0 <= tokens < 2**63 else None


def _run_of(header: LogHeader) -> str:
    """Identity of a run, shared with its retries: task, arguments and models as JSON."""
    spec = header.eval
    return json.dumps([spec.task, spec.task_args, spec.model, _model_of(header)], default=str)


def _model_of(header: LogHeader) -> str:
    spec = header.eval
    if (name := header.metadata.get("candidate")) or spec.model != "none/none":
        return str(name or spec.model)
    roles = (spec.model_roles or {}).values()
    models = [role for bound in roles for role in (bound if isinstance(bound, list) else [bound])]
    named = dict.fromkeys(role.model for role in models)
    return " + ".join(named) or spec.model


def _settings(header: LogHeader) -> dict[str, str]:
    """Logged settings of the model that can change its answers.

    Only arguments that were passed are included: releases differ in whether they log defaults.
    """
    spec, plan = header.eval, header.plan
    solver = [f"{step.solver}({_arguments(step.params_passed)})" for step in plan.steps]
    config = spec.model_generate_config | plan.config
    # In the order of Inspect's own fields, whichever of the two the options come from.
    if spec.model_generate_config and config.keys() - spec.model_generate_config.keys():
        from inspect_ai.model import GenerateConfig

        config = {name: config[name] for name in GenerateConfig.model_fields if name in config}
    return how_asked(
        {
            "task version": spec.task_version,
            "task arguments": _arguments(spec.task_args_passed),
            "solver": " ".join(solver),
            **config,
            **{name: getattr(spec.config, name, None) for name in _LIMITS},
        }
    )


def how_asked(options: Mapping[str, Any]) -> dict[str, str]:
    """Settings that are not empty, as texts, without options of how a call is made."""
    return {HARNESS: "inspect"} | {
        name.replace("_", " "): setting_text(value)
        for name, value in options.items()
        if value not in (None, "") and name not in _HOW_CALLED
    }


def _arguments(given: dict[str, Any]) -> str:
    """Arguments in the form of a call, without those whose names suggest a secret."""
    shown = {name: value for name, value in given.items() if not _SECRET.search(name)}
    return ", ".join(f"{name}={json.dumps(value, default=str)}" for name, value in shown.items())


def _calls(calls: Sequence[ToolCall], text: str) -> list[ToolCall]:
    """Tool calls without the `submit` by which an agent gave the answer that ends its text."""
    return [
        call
        for call in calls
        if not (
            call.function == "submit"
            and any(text.strip().endswith(str(value).strip()) for value in call.arguments.values())
        )
    ]


def _native_scores(sample: LogSample) -> dict[str, Score]:
    """Scores by name, without the ranks by judges that `tiebreak write-back` added."""
    scores = sample.scores or {}
    return {name: score for name, score in scores.items() if not name.startswith(RECORDED)}


def _flat(scores: dict[str, Score]) -> dict[str, Any]:
    """Values by name; each part of a dict score is named `name.part`."""
    values: dict[str, Any] = {}
    for name, score in scores.items():
        if isinstance(score.value, dict) and score.value:
            values |= {f"{name}.{part}": value for part, value in score.value.items()}
        else:
            values[name] = score.value
    return values


def _shown(sample: LogSample) -> tuple[Any, ...]:
    asked = sample.input
    parts = asked if isinstance(asked, str) else [(m.role, m.content) for m in asked]
    key, given = (sample.id, sample.epoch), (sample.target, sample.choices, sample.metadata)
    return *key, parts, *given, list(sample.files or ())


def items_of(
    samples: Sequence[LogSample], benchmark: str, *, as_it_stands: bool = False
) -> list[Item]:
    """Make an item of each sample.

    Tasks wrap a question in instructions and keep the bare question in the metadata. The bare one
    is used if the rest of the input is the same for all items; otherwise the whole input is the
    question. It always is if `as_it_stands`, for prompts of the user's own, because their metadata
    (a category) may occur in the input by chance.
    """
    inputs = [_turns(sample) for sample in samples]
    asked = questions([sample.metadata for sample in samples], inputs, shots=0, share=1)
    prompts = [conversation(turns) for turns in inputs]
    bare = [
        question if question.known and len(samples) > 1 and not as_it_stands else Asked(prompt)
        for question, prompt in zip(asked, prompts, strict=True)
    ]
    return [_item(*parts, benchmark) for parts in zip(samples, prompts, bare, strict=True)]


def _item(sample: LogSample, prompt: str, asked: Asked, benchmark: str) -> Item:
    metadata = sample.metadata
    choices, tools = tuple(sample.choices or ()), tools_of(metadata)
    target = sample.target if isinstance(sample.target, str) else "\n".join(sample.target)
    media = _media(sample)
    shown = [medium.digest or medium.source for medium in media]
    judged = judged_by(metadata, target)
    return Item(
        key=ItemKey(benchmark, str(sample.id), sample.epoch),
        # Options that only the input shows are in the prompt already: they only count in the hash.
        input_hash=input_hash(asked.text, choices or asked.choices, tools, judged, shown),
        prompt=prompt,
        target=target,
        choices=choices,
        tools=tools,
        metadata=metadata,
        media=media,
        content_hash=content_hash(prompt, choices, target, shown),
    )


def _turns(sample: LogSample) -> list[Turn]:
    """Input of a sample as a conversation, with its system messages."""
    if isinstance(sample.input, str):
        return [Turn("user", sample.input)]
    return [Turn(message.role, message.text) for message in sample.input]


def _media(sample: LogSample) -> tuple[Medium, ...]:
    """Images and other media in the input of a sample, then the files of its sandbox."""
    parts = [
        part for part in sample.contents if isinstance(part, LogContent) and part.type in MEDIA
    ]
    shown = [(part.type, str(part.held)) for part in parts]
    return (
        *(
            Medium(kind, _digest(source) if source.startswith("data:") else "", source)
            for kind, source in shown
        ),
        *(Medium("file", "", name) for name in sample.files or ()),
    )


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
