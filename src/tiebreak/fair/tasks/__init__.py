"""Inspect tasks: `fair` asks unseen questions, `replay` looks for contamination."""

from collections.abc import Iterator
from contextlib import contextmanager

from tiebreak.extras import to_install
from tiebreak.fair.bank.errors import BankError
from tiebreak.prerequisite import PrerequisiteError

DESIGN_KEY = "tiebreak_fair"
"""Key in the metadata of `fair` logs: how the questions were drawn, or their session."""


@contextmanager
def bank_errors() -> Iterator[None]:
    """Turn errors of a bank, and missing packages, into errors that Inspect shows as messages."""
    try:
        yield
    except ImportError as error:
        raise PrerequisiteError(f"A bank needs SQLAlchemy: {to_install('bank')}.") from error
    except BankError as error:
        raise PrerequisiteError(str(error)) from error
