"""The error of the bank."""

from typing import Literal

from tiebreak.errors import TiebreakError

Kind = Literal["unusable", "unidentified", "refused", "missing", "conflict"]
"""Reason: cannot be used; unknown caller; not allowed; does not exist; contradicts the state."""


class BankError(TiebreakError, ValueError):
    """A bank, a file of questions or a session cannot be used; the message says what to do."""

    def __init__(self, message: str, *, kind: Kind = "unusable") -> None:
        super().__init__(message)
        self.kind: Kind = kind
