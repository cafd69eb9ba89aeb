"""Results of sessions: what the organiser made of the answers, and whether the owner may see it."""

from collections.abc import Mapping

from sqlalchemy import Engine, delete, insert, select, update

from tiebreak.bank.errors import BankError
from tiebreak.bank.schema import writing
from tiebreak.bank.session_tables import RESULTS, SESSIONS, now
from tiebreak.bank.sessions import Holder, session_of


def release(engine: Engine, session: str, data: Mapping[str, object]) -> None:
    """Let the owner of a session see results; what was released before is replaced.

    Raises:
        BankError: there is no such session ("missing"), or it is open ("conflict").
    """
    with writing(engine) as connection:
        if session_of(connection, session, None).state == "open":
            raise BankError(
                "the session is open: release results once it is complete or closed",
                kind="conflict",
            )
        connection.execute(delete(RESULTS).where(RESULTS.c.session == session))
        kept = insert(RESULTS).values(session=session, data=dict(data), released_at=now())
        connection.execute(kept)
        connection.execute(update(SESSIONS).where(SESSIONS.c.id == session).values(released=True))


def released(engine: Engine, session: str, holder: Holder) -> dict[str, object]:
    """What was released to a session's owner.

    Raises:
        BankError: it is no session of the holder ("missing"), or nothing is released ("refused").
    """
    with engine.connect() as connection:
        found = session_of(connection, session, holder)
        chosen = select(RESULTS.c.data).where(RESULTS.c.session == session)
        row = connection.execute(chosen.where(RESULTS.c.released_at.is_not(None))).one_or_none()
    if not found.released or row is None:
        raise BankError(
            "the organiser has not released the results of this session yet: ask later",
            kind="refused",
        )
    return dict(row.data)
