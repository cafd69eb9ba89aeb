"""What `make mutants` is set to do: mutants.yaml, read."""

from dataclasses import dataclass
from pathlib import Path

import yaml

REPOSITORY = Path(__file__).parents[2]
HOME = REPOSITORY / ".mutants"
"""The copy that is changed, the map of tests and the session; the clone stays as it is."""
COPY = HOME / "copy"


@dataclass(frozen=True)
class Equivalent:
    """A change that no test can notice.

    Attributes:
        module: The module, from the package's folder on.
        before: The changed lines as they are in the source, without the space around them.
        after: The same lines changed.
        reason: Why nothing can be noticed.
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
