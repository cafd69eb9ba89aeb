"""Results of sessions: what the organiser made of the answers, and whether the owner may see it."""

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import Connection, Engine, delete, insert, select, update

from tiebreak.fair.bank.errors import BankError
from tiebreak.fair.bank.schema import RESULTS, SESSIONS, now, writing
from tiebreak.fair.bank.sessions import Holder, session_of


@dataclass(frozen=True, slots=True)
class SubjectResult:
    """Score of one subject, 0 to 10, with its interval, from `n_items` answers that have stars.

    The interval is None where nothing is known of it.
    """

    subject: str
    score: float
    lower: float | None
    upper: float | None
    n_items: int


@dataclass(frozen=True, slots=True)
class SessionResult:
    """What the answers of a session are worth.

    `score` is the share of all stars, 0 to 100 (eq. 1), `lower` and `upper` bound it at `level`:
    None where nothing is known of them. Of `n_items` answers `n_unscored` have no usable verdict
    and are left out. `subjects` lack those whose score would tell about single questions.
    """

    session: str
    benchmark: str
    model: str
    score: float | None
    lower: float | None
    upper: float | None
    level: float
    n_items: int
    n_unscored: int
    constant_score: float | None
    subjects: tuple[SubjectResult, ...]
    judges: tuple[str, ...]


def keep(engine: Engine, session: str, data: Mapping[str, object], *, released: bool) -> None:
    """Keep results of a session, in place of earlier ones; its owner sees them if `released`.

    Raises:
        BankError: there is no such session ("missing"), or it is open ("conflict").
    """
    with writing(engine) as connection:
        require_ended(connection, session)
        connection.execute(delete(RESULTS).where(RESULTS.c.session == session))
        at = now() if released else None
        connection.execute(insert(RESULTS).values(session=session, data=dict(data), released_at=at))
        of_session = update(SESSIONS).where(SESSIONS.c.id == session)
        connection.execute(of_session.values(released=released))


def show(engine: Engine, session: str, *, shown: bool) -> None:
    """Release the results that are kept, or withdraw what was released.

    Raises:
        BankError: there is no such session, or there are no results of it ("missing").
    """
    with writing(engine) as connection:
        session_of(connection, session, None)
        of_session = update(RESULTS).where(RESULTS.c.session == session)
        changed = connection.execute(of_session.values(released_at=now() if shown else None))
        if not changed.rowcount:
            raise BankError(
                "there are no results of this session yet: tiebreak bank release SESSION --log LOG",
                kind="missing",
            )
        connection.execute(update(SESSIONS).where(SESSIONS.c.id == session).values(released=shown))


def require_ended(connection: Connection, session: str) -> None:
    """Raise BankError where there is no such session ("missing"), or it is open ("conflict")."""
    if session_of(connection, session, None).state == "open":
        raise BankError(
            "the session is open: release results once it is complete or closed", kind="conflict"
        )


def released(engine: Engine, session: str, holder: Holder) -> dict[str, object]:
    """What was released to a session's owner.

    Raises:
        BankError: it is no session of the holder ("missing"), or nothing is released ("refused").
    """
    with engine.connect() as connection:
        state = session_of(connection, session, holder)
        chosen = select(RESULTS.c.data).where(RESULTS.c.session == session)
        row = connection.execute(chosen.where(RESULTS.c.released_at.is_not(None))).one_or_none()
    if not state.released or row is None:
        raise BankError(
            "the organiser has not released the results of this session yet: ask later",
            kind="refused",
        )
    return dict(row.data)
