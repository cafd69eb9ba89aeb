"""Errors that rankers raise for unusable input or missing packages."""

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from tiebreak.errors import TiebreakError
from tiebreak.extras import to_install


class RankingError(TiebreakError, ValueError):
    """Base class of all errors about bad input to rankers; the message says what is wrong."""

    def named(self, names: Sequence[str]) -> str:
        """The message, with column numbers replaced by names if it mentions columns."""
        return str(self)


class MissingScoreError(RankingError):
    """A score table has missing scores, and no policy says how to treat them.

    `model` and `benchmarks` are the row and the columns of the missing scores, so that callers can
    add names; None and empty if the error is about another kind of table.
    """

    def __init__(
        self, message: str, *, model: int | None = None, benchmarks: tuple[int, ...] = ()
    ) -> None:
        super().__init__(message)
        self.model = model
        self.benchmarks = benchmarks


class NoFitError(RankingError):
    """Strengths cannot be fitted: models are not connected by results, or no convergence.

    `group` and `others` are columns. `sentence` has a placeholder for each: "{group}", "{others}".
    """

    def __init__(
        self, sentence: str, group: Sequence[int] = (), others: Sequence[int] = ()
    ) -> None:
        self.sentence, self.group, self.others = sentence, tuple(group), tuple(others)
        super().__init__(self._worded(str))

    def named(self, names: Sequence[str]) -> str:
        """The message with column numbers replaced by names."""
        return self._worded(lambda column: names[column])

    def _worded(self, name: Callable[[int], str]) -> str:
        group, others = (", ".join(map(name, columns)) for columns in (self.group, self.others))
        return self.sentence.format(group=group, others=others)


class UnprovenOrderError(RankingError):
    """The search ended before an order was proven optimal, and the caller needs a proven one."""


class CertificateError(RankingError):
    """A Kemeny result that the ballots and its certificate do not prove."""


class ReviewGraphError(RankingError):
    """No review graph of this degree exists or was found; the message says what to change."""


class MissingPackageError(TiebreakError, ImportError):
    """An optional package is not installed; the message says how to install it."""


def optional(module: str, task: str, package: str) -> Any:
    """Import a module of an optional package of the extra `rankings`; `task` says what needs it.

    Raises:
        MissingPackageError: the package is not installed.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingPackageError(f"{task}: {to_install('rankings', package)}") from error
