"""What is said about rows of files and of a bank: some of it in words, all of it counted."""

from dataclasses import dataclass
from typing import NamedTuple


class Remark(NamedTuple):
    """Something about a row: `where` is "FILE:ROW", or the id of a question."""

    where: str
    what: str


@dataclass(slots=True)
class Remarks:
    """The first `most` remarks of one kind, and how many there are in all."""

    most: int
    total: int = 0
    shown: tuple[Remark, ...] = ()

    def add(self, where: str, what: str) -> None:
        """One more."""
        self.total += 1
        if self.total <= self.most:
            self.shown = (*self.shown, Remark(where, what))
