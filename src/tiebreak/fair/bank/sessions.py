"""Sessions: k unseen questions, asked one at a time and once each.

    create   draw k questions within the institution's quota
    ask      hand out a question if all before it are answered; asked again, hand out the same
    answer   store the answer to the question that was asked last; it cannot be changed
    close    end a session early, and give back the questions that were not asked

Each is one transaction and can be repeated, so that a client that got no response can try again. A
call that raises BankError has changed nothing. `ask` returns no key, hint or uuid.

Source: LLMEval-Fair, §2.2.1 (in the order allocated) and §2.2.2 (quotas, no re-submission).
"""

import secrets
import threading
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Final

from sqlalchemy import Connection, Engine, Row, Select, bindparam, func, insert, select, update

from tiebreak.fair.bank import quotas
from tiebreak.fair.bank.errors import BankError
from tiebreak.fair.bank.question import Question, Session
from tiebreak.fair.bank.sampling import OriginalQuestions, draw, entries
from tiebreak.fair.bank.schema import (
    IMPORTS,
    QUESTIONS,
    REVIEWS,
    SEEN,
    SESSION_QUESTIONS,
    SESSIONS,
    now,
    writing,
)

_ATTEMPTS: Final = 5  # to draw questions that are all approved, while some are being withdrawn

_S, _P, _Q = SESSIONS.c, SESSION_QUESTIONS.c, QUESTIONS.c


@dataclass(frozen=True, slots=True)
class TokenHolder:
    """A user of an institution, who holds the token with the id `token`."""

    institution: str
    user: str
    token: str


class Sampler:
    """Draws questions that are approved. Its methods may be called from any thread.

    The approved questions are read again after new imports or reviews. `approved` checks a draw for
    questions whose approval was withdrawn in another way.
    """

    def __init__(self, engine: Engine, *, balanced: bool = False) -> None:
        """Make a sampler of a bank without reading it; `balanced` as for `sampling.draw`."""
        self._engine = engine
        self._balanced = balanced
        self._lock = threading.Lock()
        self._read_at: tuple[int, int | None] | None = None
        self._there = OriginalQuestions(())

    def draw(self, k: int, seed: str, seen: Collection[str]) -> dict[str, str]:
        """Draw k questions, after `refresh`; raw uuid by uuid, in the order of asking.

        Raises:
            BankError: too few questions are unseen.
        """
        originals = self._there  # a draw takes no lock, and `refresh` may replace this meanwhile
        uuids = draw(originals, k, seed, seen=seen, balanced=self._balanced)
        return {uuid: originals.raws[uuid] for uuid in uuids}

    def refresh(self) -> None:
        """Read the approved questions, if they may have changed."""
        with self._lock:
            with self._engine.connect() as connection:
                n_imports = connection.execute(select(func.count()).select_from(IMPORTS))
                # The largest id rather than the number, for which a database reads all rows.
                reviewed = connection.execute(select(func.max(REVIEWS.c.id)))
                read_at = (n_imports.scalar_one(), reviewed.scalar_one())
            if read_at != self._read_at:
                self._there = OriginalQuestions(entries(self._engine))
                self._read_at = read_at

    def approved(self, connection: Connection, uuids: Collection[str]) -> bool:
        """Whether all questions may still be asked; if not, the next `refresh` reads all anew."""
        q = QUESTIONS.c
        # With a condition on the status, SQLite would search all approved questions.
        chosen = select(q.status).where(q.uuid.in_(list(uuids)))
        if list(connection.execute(chosen).scalars()) == ["approved"] * len(uuids):
            return True
        self._read_at = None
        return False


def create(
    engine: Engine, sampler: Sampler, holder: TokenHolder, wanted: Session, key: str
) -> tuple[Session, bool]:
    """Create a session, or return the one that `key` has made before; and whether it is new.

    Raises:
        BankError: the quota does not allow it ("refused"); the holder's token has an open session,
            or `key` made another one ("conflict"); the bank has too few unseen questions.
    """
    seed = secrets.token_hex(16)
    for _ in range(_ATTEMPTS):
        with engine.connect() as connection:
            if made := _existing_session(connection, holder, wanted, key):
                return made, False
            quotas.require(connection, holder.institution, wanted.k)
            n_sessions = _n_sessions(connection, holder)
            seen = seen_by(connection, holder.institution)
        # A draw takes long, so it is made outside the transaction, and repeated within it if the
        # institution has got another session in the meantime.
        sampler.refresh()
        drawn = sampler.draw(wanted.k, seed, seen)
        with writing(engine) as connection:
            quotas.require(connection, holder.institution, wanted.k)
            if made := _existing_session(connection, holder, wanted, key):
                return made, False
            _require_no_other(connection, holder)
            if _n_sessions(connection, holder) != n_sessions:
                drawn = sampler.draw(wanted.k, seed, seen_by(connection, holder.institution))
            if sampler.approved(connection, drawn):
                quotas.take(connection, holder.institution, wanted.k)
                return _insert(connection, holder, wanted, key, seed, drawn), True
    raise _conflict("the bank's questions are being changed: ask again with the same key")


def ask(connection: Connection, session: str, position: int, holder: TokenHolder) -> Question:
    """Hand out the question at a position of the holder's session; within `writing`.

    Raises:
        BankError: the holder has no such question ("missing"); one before it is not answered yet,
            or the session was closed before it was asked ("conflict").
    """
    row, where = _placed(connection, _QUESTION, session, position, holder)
    if row.asked_at is None:
        _require_turn(_session(row), position)
        connection.execute(_HAND_OUT, where | {"at": now()})
    return Question(
        position=position,
        of=row.k,
        category=row.category,
        sub_category=row.sub_category,
        type=row.type,
        question=row.question,
        options=tuple(row.options),
    )


def answer(
    connection: Connection, session: str, position: int, text: str, holder: TokenHolder
) -> Session:
    """Store an answer, within `writing`; return the session. The same answer again has no effect.

    Raises:
        BankError: the holder has no such question ("missing"); it was not asked yet, it already has
            another answer, or the session is closed ("conflict").
    """
    row, where = _placed(connection, _PLACE, session, position, holder)
    state = _session(row)
    if position <= state.answered:
        if row.answer == text:
            return state
        raise _conflict(f"question {position} has its answer, which cannot be changed")
    _require_turn(state, position)
    if row.asked_at is None:
        raise _conflict(f"question {position} was not asked yet: get it before you answer it")
    at, last = now(), position == state.k
    state = replace(state, state="complete" if last else "open", answered=position)
    connection.execute(_ANSWER, where | {"text": text, "at": at})
    connection.execute(_COUNT, where | {"now_is": state.state, "ended": at if last else None})
    if last:
        quotas.settle(connection, holder.institution, asked=state.k, unasked=0)
    return state


def close(engine: Engine, session: str) -> Session:
    """End a session now. Unasked questions go back to the quota, but are not drawn again.

    Raises:
        BankError: there is no such session ("missing"), or it is complete ("conflict").
    """
    with writing(engine) as connection:
        state = session_of(connection, session, None)
        if state.state == "complete":
            raise _conflict("the session is complete: there is nothing to close")
        if state.state == "open":
            handed_out = (_P.session == session, _P.asked_at.is_not(None))
            asked = connection.execute(select(func.count()).where(*handed_out)).scalar_one()
            ended = update(SESSIONS).where(_S.id == session).returning(_S.institution)
            closed = connection.execute(ended.values(state="closed", completed=now()))
            quotas.settle(connection, closed.scalar_one(), asked=asked, unasked=state.k - asked)
        return session_of(connection, session, None)


def session_of(connection: Connection, session: str, holder: TokenHolder | None) -> Session:
    """A session of the holder, or of anybody if `holder` is None; locked within `writing`.

    Raises:
        BankError: there is no such session ("missing").
    """
    chosen = select(SESSIONS).where(_S.id == session).with_for_update()
    if holder is not None:
        chosen = chosen.where(_S.institution == holder.institution, _S.user == holder.user)
    row = connection.execute(chosen).one_or_none()
    if row is None:
        raise BankError("you have no such session: check its id", kind="missing")
    return _session(row)


# `ask` and `answer` are called for every question, so their statements are built only once.
_OF_HOLDER: Final = (
    _S.id == bindparam("of_session"),
    _S.institution == bindparam("of_institution"),
    _S.user == bindparam("of_user"),
    _P.position == bindparam("at_position"),
)
_THERE: Final = (_P.session == bindparam("of_session"), _P.position == bindparam("at_position"))
_ASKED: Final = ("category", "sub_category", "type", "question", "options")
_PLACED: Final = SESSIONS.join(SESSION_QUESTIONS, _P.session == _S.id)
_PLACE: Final = (
    select(SESSIONS, _P.asked_at, _P.answer)
    .select_from(_PLACED)
    .where(*_OF_HOLDER)
    .with_for_update(of=SESSIONS)
)
_QUESTION: Final = (
    select(SESSIONS, _P.asked_at, *(_Q[name] for name in _ASKED))
    .select_from(_PLACED.join(QUESTIONS, _Q.uuid == _P.uuid))
    .where(*_OF_HOLDER)
    .with_for_update(of=SESSIONS)
)
_HAND_OUT: Final = update(SESSION_QUESTIONS).where(*_THERE).values(asked_at=bindparam("at"))
_ANSWER: Final = (
    update(SESSION_QUESTIONS)
    .where(*_THERE)
    .values(answer=bindparam("text"), answered_at=bindparam("at"))
)
_COUNT: Final = (
    update(SESSIONS)
    .where(_S.id == bindparam("of_session"))
    .values(
        answered=bindparam("at_position"), state=bindparam("now_is"), completed=bindparam("ended")
    )
)


def _placed(
    connection: Connection, chosen: Select[Any], session: str, position: int, holder: TokenHolder
) -> tuple[Row[Any], dict[str, Any]]:
    """The row at a position of the holder's session, and the parameters that identify it."""
    where = {
        "of_session": session,
        "of_institution": holder.institution,
        "of_user": holder.user,
        "at_position": position,
    }
    row = connection.execute(chosen, where).one_or_none()
    if row is None:
        k = session_of(connection, session, holder).k
        raise BankError(
            f"the session has the questions 1 to {k:,}, and no question {position}", kind="missing"
        )
    return row, where


def _insert(
    connection: Connection,
    holder: TokenHolder,
    wanted: Session,
    key: str,
    seed: str,
    drawn: Mapping[str, str],
) -> Session:
    opened = {field.name: getattr(holder, field.name) for field in fields(TokenHolder)}
    opened |= {"seed": seed, "created": now(), "idempotency_key": key}
    connection.execute(insert(SESSIONS).values(**asdict(wanted), **opened))
    mark_seen(connection, holder.institution, drawn)
    connection.execute(
        insert(SESSION_QUESTIONS),
        [
            {"session": wanted.id, "position": position, "uuid": uuid, "raw_uuid": raw}
            for position, (uuid, raw) in enumerate(drawn.items(), 1)
        ],
    )
    return wanted


def _existing_session(
    connection: Connection, holder: TokenHolder, wanted: Session, key: str
) -> Session | None:
    of_holder = (_S.institution == holder.institution, _S.user == holder.user)
    made = select(SESSIONS).where(*of_holder, _S.idempotency_key == key)
    row = connection.execute(made).one_or_none()
    if row is None:
        return None
    if (row.k, row.model, row.prompting) != (wanted.k, wanted.model, wanted.prompting):
        raise _conflict("that Idempotency-Key made another session: take a new one")
    return _session(row)


def _require_no_other(connection: Connection, holder: TokenHolder) -> None:
    of_token = select(_S.id, _S.model).where(_S.token == holder.token, _S.state == "open")
    other = connection.execute(of_token).one_or_none()
    if other is not None:
        raise _conflict(
            f"session {other.id} of this token is open, for the model {other.model}: answer its "
            f"questions first, or have the organiser end it: tiebreak bank close {other.id}"
        )


def _require_turn(state: Session, position: int) -> None:
    if state.state != "open":
        raise _conflict("the session was closed by the organiser: it asks and takes no more")
    if position > state.answered + 1:
        raise _conflict(f"question {state.answered + 1} comes first: get it and answer it")


def _n_sessions(connection: Connection, holder: TokenHolder) -> int:
    counted = select(func.count()).where(_S.institution == holder.institution)
    return int(connection.execute(counted).scalar_one())


def seen_by(connection: Connection, institution: str) -> set[str]:
    """Uuids of all questions that an institution was ever given."""
    given = select(SEEN.c.uuid).where(SEEN.c.institution == institution)
    return set(connection.execute(given).scalars())


def mark_seen(connection: Connection, institution: str, drawn: Mapping[str, str]) -> None:
    """Note that an institution was given the questions `drawn`, raw uuids by uuid."""
    rows = [
        {"institution": institution, "uuid": uuid, "raw_uuid": raw} for uuid, raw in drawn.items()
    ]
    connection.execute(insert(SEEN), rows)


def _session(row: Row[Any]) -> Session:
    return Session(**{field.name: getattr(row, field.name) for field in fields(Session)})


def _conflict(message: str) -> BankError:
    return BankError(message, kind="conflict")
