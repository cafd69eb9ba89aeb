"""The candidate pool: items × models, aligned.

A pool holds, for every benchmark item, one answer per model, taken from logs that already exist.
An item is identified by `(benchmark, item_id)` and by `input_hash`, a fingerprint of the question
itself, so two logs are never joined by position.
"""

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from tiebreak.text import count

Mode = Literal["strict", "intersect"]


class ItemKey(NamedTuple):
    """Key of an item in one epoch of its benchmark (1 is the first)."""

    benchmark: str
    item_id: str
    epoch: int = 1


class Medium(NamedTuple):
    """A part of a question that is not text: an image, a recording, a file.

    `kind` is image, audio, video, document, data or file. `digest` is the SHA-256 of its content
    (the first 32 hex digits), "" if the log does not hold it. `source` is a data URI, an address,
    or the name of a file.
    """

    kind: str
    digest: str
    source: str


@dataclass(frozen=True, slots=True)
class Item:
    """One benchmark question.

    `input_hash` is the fingerprint of question, choices, tools, target and media
    (`identity.input_hash`), which does not depend on the harness. `content_hash` is that of all the
    content in one harness, e.g. lm-eval's `doc_hash`: it tells copies of one question apart.
    `tools` holds the tool schemas unchanged, as JSON-ready dicts; it is empty without tools.
    `metadata` is JSON-ready and kept unchanged.
    """

    key: ItemKey
    input_hash: str
    prompt: str
    target: str
    choices: tuple[str, ...] = ()
    tools: tuple[Mapping[str, Any], ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    media: tuple[Medium, ...] = ()
    content_hash: str = ""

    @property
    def benchmark(self) -> str:
        """Name of the benchmark, without harness or package prefix."""
        return self.key.benchmark

    @property
    def item_id(self) -> str:
        """Id of the item inside its benchmark."""
        return self.key.item_id


@dataclass(frozen=True, slots=True)
class Candidate:
    """One model's answer to one item.

    `native_score` is the harness's own metric for this answer, NaN if the log has none (then
    `native_metric` is None). `tool_calls` are `{"function": name, "arguments": {...}}`. Token
    counts are None if the log has none. `source` is the name of the file with the answer.
    """

    key: ItemKey
    model: str
    text: str
    tool_calls: tuple[Mapping[str, Any], ...] = ()
    native_score: float = math.nan
    native_metric: str | None = None
    stop_reason: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    source: str = ""

    @property
    def answer(self) -> str:
        """The answer as judges read it: the text, then each tool call as one line of JSON.

        If a limit stopped the run, a last line says so, because the answer is unfinished.
        """
        lines = [json.dumps(call, sort_keys=True, ensure_ascii=False) for call in self.tool_calls]
        if self.text or not lines:
            lines = [self.text, *lines]
        if (limit := self.stop_reason or "").endswith("_limit"):
            lines.append(f"(The run was stopped here by its {limit.replace('_', ' ')}.)")
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Note:
    """Something that loading left out, chose or repaired: its kind, where, and what exactly."""

    kind: str
    where: str
    what: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what}"


@dataclass(frozen=True, repr=False)
class CandidatePool:
    """Items × models, aligned.

    `candidates[key][model]` exists for every item and every model in `models_of(key.benchmark)`:
    holes are an error (`strict`) or were cut away and noted (`intersect`) before a pool exists.
    `settings[benchmark, model]` are the settings with which the model was asked, as far as logged
    (temperature, shots, solver …), each as text.
    """

    items: tuple[Item, ...]
    candidates: Mapping[ItemKey, Mapping[str, Candidate]]
    notes: tuple[Note, ...] = ()
    settings: Mapping[tuple[str, str], Mapping[str, str]] = field(default_factory=dict)

    @property
    def benchmarks(self) -> tuple[str, ...]:
        """Names of the benchmarks, in the order in which items appear."""
        return tuple(dict.fromkeys(item.benchmark for item in self.items))

    @property
    def models(self) -> tuple[str, ...]:
        """Names of all models, sorted."""
        return tuple(sorted({model for row in self.candidates.values() for model in row}))

    def items_of(self, benchmark: str) -> tuple[Item, ...]:
        """Items of one benchmark, in pool order."""
        return tuple(item for item in self.items if item.benchmark == benchmark)

    def models_of(self, benchmark: str) -> tuple[str, ...]:
        """Names of the models that answered one benchmark, sorted."""
        for item in self.items:
            if item.benchmark == benchmark:
                return tuple(sorted(self.candidates[item.key]))
        return ()

    def __repr__(self) -> str:
        # Names and sizes only: the texts of a real pool are millions of characters.
        parts = [
            f"{name}: {count(len(self.items_of(name)), 'item')} × "
            f"{count(len(self.models_of(name)), 'model')}"
            for name in self.benchmarks
        ]
        return f"CandidatePool({', '.join(parts) or 'no items'})"

    def _repr_html_(self) -> str:
        # Notebooks call this method on the pool itself; as for all findings, `report` renders it.
        from tiebreak.report.sheets import html_of

        return html_of(self)

    def __iter__(self) -> Iterator[tuple[Item, Mapping[str, Candidate]]]:
        for item in self.items:
            yield item, self.candidates[item.key]

    def __len__(self) -> int:
        return len(self.items)
