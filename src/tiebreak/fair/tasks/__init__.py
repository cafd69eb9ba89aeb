"""Tasks of Inspect: `fair`, which asks unseen questions, and `replay`."""

from collections.abc import Iterator
from contextlib import contextmanager

from tiebreak.extras import to_install
from tiebreak.fair.bank.errors import BankError
from tiebreak.prerequisite import PrerequisiteError

DESIGN_KEY = "tiebreak_fair"
"""Log metadata key of `fair`: how its questions were drawn, or which session they are of."""


@contextmanager
def bank_errors() -> Iterator[None]:
    """Have Inspect show what is wrong with a bank or its server, or not installed, as a message."""
    try:
        yield
    except ImportError as error:
        raise PrerequisiteError(f"A bank needs SQLAlchemy: {to_install('bank')}.") from error
    except BankError as error:
        raise PrerequisiteError(str(error)) from error
