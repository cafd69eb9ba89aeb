"""Questions of a bank by their uuids, and the fingerprint of what may be asked."""

import hashlib
from collections.abc import Iterable, Sequence
from typing import Final

from sqlalchemy import Engine, select

from tiebreak.bank.entry import Entry
from tiebreak.bank.errors import BankError
from tiebreak.bank.question import BankQuestion
from tiebreak.bank.rows import COLUMNS, question_from
from tiebreak.bank.schema import QUESTIONS

# SQLite takes some thousands of values in one statement.
_AT_ONCE: Final = 500


def questions(engine: Engine, uuids: Sequence[str]) -> list[BankQuestion]:
    """The questions with these uuids, in their order.

    Raises:
        BankError: the bank has no question with such a uuid.
    """
    found: dict[str, BankQuestion] = {}
    with engine.connect() as connection:
        for start in range(0, len(uuids), _AT_ONCE):
            some = QUESTIONS.c.uuid.in_(uuids[start : start + _AT_ONCE])
            for row in connection.execute(select(*COLUMNS).where(some)):
                found[row.uuid] = question_from(row)
    if missing := [uuid for uuid in uuids if uuid not in found]:
        raise BankError(f"the bank has no question {missing[0]} (any more)", kind="missing")
    return [found[uuid] for uuid in uuids]


def fingerprint(entries: Iterable[Entry]) -> str:
    """16 hex digits that change with whatever changes a draw or a key."""
    digest = hashlib.sha256()
    for entry in sorted(entries, key=lambda entry: entry.uuid):
        # Whatever the texts hold, no two entries give the same line.
        values = (entry.uuid, entry.raw_uuid, entry.category, entry.type, entry.answer)
        digest.update(repr(values).encode())
    return digest.hexdigest()[:16]
