"""What always giving the same answer would score: what a score on such items has to beat.

Of the statements that an n-option question gives (LLMEval-Fair, figure 7) one is true and n − 1
are false, so that answering "false" without reading is right in (n − 1)/n of them.
"""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

TYPES: Final = ("true_false", "multiple_choice")
"""The types of questions that the same answer can be given to."""


class ConstantAnswer(NamedTuple):
    """One answer to all questions of a type: right in `n_right` of its `n`."""

    type: str
    answer: str
    n_right: int
    n: int

    @property
    def share(self) -> float:
        """The share of the type's questions that it is right in, in [0, 1]."""
        return self.n_right / self.n


@dataclass(frozen=True, slots=True)
class ConstantAnswers:
    """All constant answers to `n` questions, by type, the best of each type first."""

    n: int
    answers: tuple[ConstantAnswer, ...]

    @property
    def best(self) -> tuple[ConstantAnswer, ...]:
        """The best answer of each type; of equally good ones the first by name."""
        first: dict[str, ConstantAnswer] = {}
        for answer in self.answers:
            first.setdefault(answer.type, answer)
        return tuple(first.values())

    @property
    def share(self) -> float:
        """What the best answers get of all questions, in [0, 1]; NaN of none.

        Questions of types without a constant answer count as wrong.
        """
        return sum(answer.n_right for answer in self.best) / self.n if self.n else math.nan


def constant_answers(counts: Mapping[tuple[str, str], int]) -> ConstantAnswers:
    """The constant answers to questions, of which `counts` says how often each type and key occurs.

    They are as a bank and the metadata of a pool's items name them: "true_false" with "true" or
    "false", "multiple_choice" with a letter. Others count in `n` only.
    """
    of_type: dict[str, Counter[str]] = {kind: Counter() for kind in TYPES}
    of_type["true_false"].update({"true": 0, "false": 0})
    for (kind, key), n in counts.items():
        if kind in of_type:
            of_type[kind][key] += n
    answers = [
        ConstantAnswer(kind, key, n, keys.total())
        for kind, keys in of_type.items()
        if keys.total()
        for key, n in sorted(keys.items(), key=lambda pair: (-pair[1], pair[0]))
    ]
    return ConstantAnswers(sum(counts.values()), tuple(answers))
