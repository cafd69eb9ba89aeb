"""What can be wrong with the numbers that a ranker is given."""

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from tiebreak.errors import TiebreakError
from tiebreak.extras import to_install


class RankingError(TiebreakError, ValueError):
    """Base of every error of this package that bad input causes; the message says what is wrong."""

    def named(self, names: Sequence[str]) -> str:
        """The message with names for columns, where it speaks of columns."""
        return str(self)


class MissingScoreError(RankingError):
    """A score table has holes, and no policy says what to do with them.

    `model` and `benchmarks` are the row and the columns that miss a score, for callers who know
    names; None and empty where the error is about another table.
    """

    def __init__(
        self, message: str, *, model: int | None = None, benchmarks: tuple[int, ...] = ()
    ) -> None:
        super().__init__(message)
        self.model = model
        self.benchmarks = benchmarks


class NoFitError(RankingError):
    """No strengths fit: models that never met (lost to, beat) the others, or no convergence.

    `group` and `others` are columns. The sentence has a place for each, "{group}" and "{others}".
    """

    def __init__(
        self, sentence: str, group: Sequence[int] = (), others: Sequence[int] = ()
    ) -> None:
        self.sentence, self.group, self.others = sentence, tuple(group), tuple(others)
        super().__init__(self._worded(str))

    def named(self, names: Sequence[str]) -> str:
        """The message with names for columns."""
        return self._worded(lambda column: names[column])

    def _worded(self, name: Callable[[int], str]) -> str:
        group, others = (", ".join(map(name, columns)) for columns in (self.group, self.others))
        return self.sentence.format(group=group, others=others)


class UnprovenOrderError(RankingError):
    """The search ended before an order was proven optimal, where only a proven one is returned."""


class CertificateError(RankingError):
    """A Kemeny result does not follow from the ballots and its certificate."""


class ReviewGraphError(RankingError):
    """No review graph has this degree; the message says what to change."""


class MissingPackageError(TiebreakError, ImportError):
    """An optional package is needed here; the message says how to install it."""


def optional(module: str, task: str, package: str) -> Any:
    """A module of an optional package of the extra `rankings`; `task` says what needs it.

    Raises:
        MissingPackageError: the package is not installed.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingPackageError(f"{task}: {to_install('rankings', package)}") from error
