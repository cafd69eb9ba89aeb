"""Rubrics: fixed principles with weights, and the checklist that judging starts from.

A rubric is a YAML file (`rubrics/*.yaml`, or a user's own) after SEAL, appendix A.1. Principles and
weights never change during a run; the meta-judge may only add checklist items.
"""

import math
from collections import Counter
from collections.abc import Mapping
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Final, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from tiebreak.errors import TiebreakError
from tiebreak.paths import MISSING, problem_with
from tiebreak.plain_yaml import read_yaml_file
from tiebreak.scorers.ballots import AnchorSplit

RUBRIC_FOLDER = Path(__file__).parent / "rubrics"
DEFAULT_RUBRIC = "general_qa"

TOP_GRADE: Final = 10
"""Best grade of a principle when a response is graded on its own."""


# Number of a file's problems that an error message lists.
_MOST_SHOWN: Final = 10
# Maximum characters of each of them.
_LONGEST: Final = 300


class RubricError(TiebreakError, ValueError):
    """A rubric cannot be found, read or used; the message says which and why."""


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Principle(_Model):
    """A fixed quality dimension; `weight` is its share of the margin, in (0, 1]."""

    id: str = Field(min_length=1)
    name: str = Field(min_length=1)
    description: str = Field(min_length=1)
    weight: float = Field(gt=0, le=1)


class Demonstration(_Model):
    """Example responses at two neighbouring levels of five (SEAL, A.5)."""

    anchor_split: AnchorSplit
    higher_snippet: str = Field(min_length=1)
    lower_snippet: str = Field(min_length=1)

    @property
    def levels(self) -> tuple[tuple[str, str], tuple[str, str]]:
        """Level and example, the higher one first."""
        higher, lower = self.anchor_split.split(" vs ")
        return (higher, self.higher_snippet), (lower, self.lower_snippet)


class ChecklistItem(_Model):
    """A concrete probe that belongs to one principle, perhaps with examples."""

    id: str = Field(min_length=1)
    principle: str
    description: str = Field(min_length=1)
    demonstration: Demonstration | None = None


class Rubric(_Model):
    """Principles (weights sum to 1) and the seed checklist (at least one item per principle).

    `benchmarks` are names, or prefixes of names, of benchmarks that the rubric is meant for.
    """

    version: int
    task_type: str
    benchmarks: tuple[str, ...] = ()
    principles: tuple[Principle, ...] = Field(min_length=1)
    checklist: tuple[ChecklistItem, ...]

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        ids = [p.id for p in self.principles] + [c.id for c in self.checklist]
        repeated = sorted(name for name, times in Counter(ids).items() if times > 1)
        if repeated:
            raise ValueError(f"ids are used twice: {', '.join(repeated)}")
        total = math.fsum(p.weight for p in self.principles)
        if not math.isclose(total, 1.0, abs_tol=1e-6):
            raise ValueError(f"the weights of the principles sum to {total:g}, not 1")
        grounded = {c.principle for c in self.checklist}
        if unknown := sorted(grounded - set(self.weights)):
            raise ValueError(f"checklist items name unknown principles: {', '.join(unknown)}")
        if bare := [p.id for p in self.principles if p.id not in grounded]:
            raise ValueError(f"principles without a checklist item: {', '.join(bare)}")
        return self

    @cached_property
    def weights(self) -> Mapping[str, float]:
        """Weight of each principle by id; they sum to 1."""
        return {p.id: p.weight for p in self.principles}


def builtin_rubrics() -> tuple[str, ...]:
    """Names of the packaged rubrics."""
    return tuple(sorted(path.stem for path in RUBRIC_FOLDER.glob("*.yaml")))


@lru_cache
def load_rubric(name_or_path: str) -> Rubric:
    """Load a rubric by built-in name (`math_reasoning`) or by the path of a YAML file.

    Raises:
        RubricError: no such rubric, unreadable YAML, or content that breaks a rule.
    """
    path = RUBRIC_FOLDER / f"{name_or_path}.yaml"
    if name_or_path not in builtin_rubrics():
        path = Path(name_or_path)
        problem = problem_with(path)
        if problem not in ("", MISSING):
            raise RubricError(f"{path} {problem}")
        if not path.is_file():
            raise RubricError(
                f"No rubric {name_or_path!r}: give the path of a YAML file, or one of "
                f"{', '.join(builtin_rubrics())}."
            )
    try:
        read = read_yaml_file(path)
    except ValueError as error:
        raise RubricError(f"{path} {error}") from error
    try:
        return Rubric.model_validate(read)
    except ValidationError as error:
        problems = "; ".join(
            f"{'.'.join(map(str, e['loc'])) or 'rubric':.{_LONGEST}}: {e['msg']:.{_LONGEST}}"
            for e in error.errors()[:_MOST_SHOWN]
        )
        raise RubricError(f"{path} is not a valid rubric: {problems}") from error


def rubric_for(benchmark: str) -> str:
    """Name of the built-in rubric for a benchmark, `general_qa` if none matches.

    The rubric with the longest matching prefix wins (`mmlu_anatomy` → `mmlu`).
    """
    name = benchmark.lower()
    claims = [
        (len(prefix), rubric)
        for rubric in builtin_rubrics()
        for prefix in load_rubric(rubric).benchmarks
        if name.startswith(prefix)
    ]
    return max(claims)[1] if claims else DEFAULT_RUBRIC
