"""Scores of always giving the same answer, the baseline for scores on such items.

Of the n statements made from an n-option question (LLMEval-Fair, figure 7) one is true and n − 1
are false, so always answering "false" is right for (n − 1)/n of them.
"""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

TYPES: Final = ("true_false", "multiple_choice")
"""The types of questions that have constant answers."""


class ConstantAnswer(NamedTuple):
    """One answer to all `n` questions of a type, right for `n_right` of them."""

    type: str
    answer: str
    n_right: int
    n: int

    @property
    def share(self) -> float:
        """The share of the type's questions for which the answer is right, in [0, 1]."""
        return self.n_right / self.n


@dataclass(frozen=True, slots=True)
class ConstantAnswers:
    """All constant answers to `n` questions, by type, the best of each type first."""

    n: int
    answers: tuple[ConstantAnswer, ...]

    @property
    def best(self) -> tuple[ConstantAnswer, ...]:
        """The best answer of each type; the first by name of equally good ones."""
        first: dict[str, ConstantAnswer] = {}
        for answer in self.answers:
            first.setdefault(answer.type, answer)
        return tuple(first.values())

    @property
    def share(self) -> float:
        """The share of all questions that the best answers get right, in [0, 1]; NaN without any.

        Questions of types without a constant answer count as wrong.
        """
        return sum(answer.n_right for answer in self.best) / self.n if self.n else math.nan


def constant_answers(counts: Mapping[tuple[str, str], int]) -> ConstantAnswers:
    """The constant answers to questions, given how often each type and key occurs (`counts`).

    Types and keys are those of a bank and of the metadata of a pool's items: "true_false" with
    "true" or "false", "multiple_choice" with a letter. Other types count in `n` only.
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
