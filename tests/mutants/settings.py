"""The settings of `make mutants`, read from mutants.yaml."""

from dataclasses import dataclass
from pathlib import Path

import yaml

REPOSITORY = Path(__file__).parents[2]
HOME = REPOSITORY / ".mutants"
"""Folder of the copy that is mutated, the map of tests and the sessions."""
COPY = HOME / "copy"


@dataclass(frozen=True)
class Equivalent:
    """A change that no test can notice.

    Attributes:
        module: path of the module, relative to the package.
        before: the lines in the source that change, stripped and joined by spaces.
        after: the same lines after the change.
        reason: why no test can notice it.
    """

    module: str
    before: str
    after: str
    reason: str


@dataclass(frozen=True)
class Settings:
    """mutants.yaml, where every key is explained."""

    rooms: tuple[str, ...]
    operators: tuple[str, ...]
    tests: tuple[str, ...]
    slow_tests: tuple[str, ...]
    asked: float
    timeout_factor: float
    timeout_extra: float
    equivalent: tuple[Equivalent, ...]


def settings() -> Settings:
    """Read mutants.yaml."""
    read = yaml.safe_load(Path(__file__).with_name("mutants.yaml").read_text("utf-8"))
    return Settings(
        rooms=tuple(read["rooms"]),
        operators=tuple(read["operators"]),
        tests=tuple(read["tests"]),
        slow_tests=tuple(read["slow_tests"]),
        asked=read["asked"],
        timeout_factor=read["timeout_factor"],
        timeout_extra=read["timeout_extra"],
        equivalent=tuple(Equivalent(**entry) for entry in read["equivalent"]),
    )
