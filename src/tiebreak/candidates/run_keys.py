"""Metadata keys by which a ranking log names its run, and the shard of the run that it holds.

A run of judging can be split into shards, so that several machines can share it.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple, TypeVar

T = TypeVar("T")

PROTOCOL_KEY = "tiebreak_protocol"
"""Log metadata key that marks ranking logs: they hold ballots about candidates, not candidates."""

RUN_KEY = "tiebreak_run"
"""Log metadata key of ranking logs: fingerprint of pool, protocol, arguments and judges.

The shards of a run share it.
"""

SHARD_KEY = "tiebreak_shard"
"""Log metadata key of a ranking log that holds only a part of a run, such as "3/8"."""

CANARIES_KEY = "tiebreak_canaries"
"""Log metadata key of ranking logs: ids of planted samples, which are no items of the benchmark."""

CONTEST_KEY = "contest"
"""Sample metadata key of ranking logs: task, rubric and answers that were judged."""

ROSTER_KEY = "roster"
"""Sample metadata key of ranking logs: all models of the run.

A model that is absent from an item scores NaN there.
"""

ANSWERS_KEY = "tiebreak_answers"
"""Log metadata key of ranking logs that also hold the answers: the names of the models.

In the metadata of their samples, under the same key: each model's reply, or `{"error": why}`.
"""

PROMPTS_KEY = "tiebreak_prompts"
"""Log metadata key of ranking logs: SHA-256 of the judges' prompt templates."""

OWN_PROMPTS_KEY = "tiebreak_own_prompts"
"""Log metadata key of answers to own prompts: their file. The whole input is the question."""

LEFT_OUT = "left out for lack of a key"
"""Text of notes in ranking logs on items that were not judged."""

OWN_ANSWERS = "judges answers of its own"
"""Text of notes in ranking logs on a judge that is also one of the models."""

AUTHOR = "tiebreak"
"""Author in the provenance of edits to logs, unless another is named."""

REPLAY_KEY = "tiebreak_replay"
"""Log metadata key of replays: the data, the part removed from their questions, and the seed."""


class Shard(NamedTuple):
    """Part `number` of `total` parts of a run, 1 ≤ number ≤ total; written "3/8"."""

    number: int
    total: int

    @staticmethod
    def parse(text: object) -> "Shard":
        """Read "3/8".

        Raises:
            ValueError: the text has another form; the message shows the right one.
        """
        match = re.fullmatch(r"([1-9][0-9]*)/([1-9][0-9]*)", str(text))
        shard = Shard(int(match[1]), int(match[2])) if match else None
        if shard is None or shard.number > shard.total:
            raise ValueError(
                f"shard is {text!r}: it must be K/N, part K of N parts, such as 1/8, 2/8, … 8/8"
            )
        return shard

    def part_of(self, items: Sequence[T]) -> list[T]:
        """Every `total`-th item from item `number` on, so that shards are spread over all items."""
        return list(items[self.number - 1 :: self.total])

    def __str__(self) -> str:
        return f"{self.number}/{self.total}"
