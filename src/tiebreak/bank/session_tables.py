"""The tables of sessions: who was asked what, and what was answered; quotas, tokens, access log.

    sessions            k questions for one user of an institution
    session_questions   the questions of a session in their order, and the answers
    seen                what an institution was ever given: never again the same
    quotas              how many questions an institution may be given
    tokens              who holds which token, so that one can be revoked
    access_log          every request; rows can be added and nothing else
    results             what the organiser says about a session, once released

Source: LLMEval-Fair, §2.2.2 and appendix H. Times are ISO 8601 in UTC, as `now` gives them.
"""

from datetime import UTC, datetime
from typing import Final, Literal, get_args

from sqlalchemy import (
    JSON,
    Boolean,
    CheckConstraint,
    Column,
    Connection,
    ForeignKey,
    Index,
    Integer,
    String,
    Table,
    Text,
    UniqueConstraint,
    event,
    text,
)

from tiebreak.bank.schema import TABLES

State = Literal["open", "complete", "closed"]
"""A session is complete when all is answered; a closed one was ended before by an examiner."""

Role = Literal["examinee", "examiner", "admin"]
ROLES: Final[tuple[Role, ...]] = get_args(Role)

SESSIONS: Final = Table(
    "sessions",
    TABLES,
    Column("id", String(32), primary_key=True),
    Column("institution", String(128), nullable=False, index=True),
    Column("user", String(128), nullable=False),
    # jti of the token that opened the session.
    Column("token", String(32), nullable=False),
    Column("model", String(256), nullable=False),
    Column("prompting", String(16), nullable=False),
    # What the sample was drawn from, so that it can be drawn again.
    Column("seed", String(64), nullable=False),
    Column("k", Integer, nullable=False),
    # Answers so far: questions 1 to `answered` are answered, and no other.
    Column("answered", Integer, nullable=False),
    Column("state", String(8), nullable=False),
    Column("created", String(32), nullable=False),
    # When the last answer came or an examiner closed the session.
    Column("completed", String(32)),
    Column("idempotency_key", String(128), nullable=False),
    Column("released", Boolean, nullable=False),
    UniqueConstraint("institution", "user", "idempotency_key"),
    CheckConstraint("answered >= 0 AND answered <= k"),
    Index(
        "one_open_session_of_a_token",
        "token",
        unique=True,
        sqlite_where=text("state = 'open'"),
        postgresql_where=text("state = 'open'"),
    ),
)

SESSION_QUESTIONS: Final = Table(
    "session_questions",
    TABLES,
    Column("session", String(32), ForeignKey("sessions.id"), primary_key=True),
    # From 1.
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("uuid", String(64), nullable=False),
    Column("raw_uuid", String(64), nullable=False),
    # When it was handed out first; null: not yet.
    Column("asked_at", String(32)),
    Column("answer", Text),
    Column("answered_at", String(32)),
    UniqueConstraint("session", "uuid"),
    sqlite_with_rowid=False,
)

SEEN: Final = Table(
    "seen",
    TABLES,
    Column("institution", String(128), primary_key=True),
    Column("uuid", String(64), primary_key=True),
    Column("raw_uuid", String(64), nullable=False),
    sqlite_with_rowid=False,
)
"""Every question drawn for an institution. The key keeps two sessions from drawing the same one."""

QUOTAS: Final = Table(
    "quotas",
    TABLES,
    Column("institution", String(128), primary_key=True),
    Column("granted", Integer, nullable=False),
    # Questions of all its sessions; what is left to grant is granted - allocated.
    Column("allocated", Integer, nullable=False),
    # Questions of sessions that have ended. `sessions.quota_of` adds the answers of open ones: the
    # row is not written for every answer, or all sessions of an institution would queue for it.
    Column("completed", Integer, nullable=False),
    CheckConstraint("completed >= 0 AND completed <= allocated"),
)

TOKENS: Final = Table(
    "tokens",
    TABLES,
    Column("jti", String(32), primary_key=True),
    Column("user", String(128), nullable=False),
    Column("institution", String(128), nullable=False),
    Column("role", String(16), nullable=False),
    # The one session that the token is good for; null: not bound.
    Column("session", String(32)),
    Column("issued", String(32), nullable=False),
    Column("expires", String(32), nullable=False),
    # When it was revoked; null: it was not.
    Column("revoked", String(32)),
)
"""Who holds a token. The token itself is kept nowhere."""

ACCESS_LOG: Final = Table(
    "access_log",
    TABLES,
    Column("id", Integer, primary_key=True),
    Column("at", String(32), nullable=False),
    # Of a token that was verified; null: there was none.
    Column("user", String(128)),
    Column("session", String(32)),
    Column("method", String(16), nullable=False),
    Column("path", String(256), nullable=False),
    Column("status", Integer, nullable=False),
    Column("address", String(64), nullable=False),
    Column("request", String(64), nullable=False),
)

RESULTS: Final = Table(
    "results",
    TABLES,
    Column("session", String(32), ForeignKey("sessions.id"), primary_key=True),
    Column("data", JSON, nullable=False),
    Column("released_at", String(32)),
)

_ONLY_GROWS = "access_log can only grow"
_APPEND_ONLY: Final = {
    "sqlite": (
        f"CREATE TRIGGER access_log_update BEFORE UPDATE ON access_log "
        f"BEGIN SELECT RAISE(ABORT, '{_ONLY_GROWS}'); END",
        f"CREATE TRIGGER access_log_delete BEFORE DELETE ON access_log "
        f"BEGIN SELECT RAISE(ABORT, '{_ONLY_GROWS}'); END",
        # INSERT OR REPLACE deletes a row without a trigger for that.
        f"CREATE TRIGGER access_log_replace BEFORE INSERT ON access_log "  # nosec B608
        f"WHEN EXISTS (SELECT 1 FROM access_log WHERE id = NEW.id) "
        f"BEGIN SELECT RAISE(ABORT, '{_ONLY_GROWS}'); END",
    ),
    "postgresql": (
        f"CREATE OR REPLACE FUNCTION access_log_only_grows() RETURNS trigger AS "
        f"$$ BEGIN RAISE EXCEPTION '{_ONLY_GROWS}'; END $$ LANGUAGE plpgsql",
        "CREATE TRIGGER access_log_change BEFORE UPDATE OR DELETE ON access_log "
        "FOR EACH ROW EXECUTE FUNCTION access_log_only_grows()",
        "CREATE TRIGGER access_log_truncate BEFORE TRUNCATE ON access_log "
        "FOR EACH STATEMENT EXECUTE FUNCTION access_log_only_grows()",
    ),
}


def _make_append_only(table: Table, connection: Connection, **details: object) -> None:
    for statement in _APPEND_ONLY[connection.dialect.name]:
        connection.exec_driver_sql(statement)


event.listen(ACCESS_LOG, "after_create", _make_append_only)


def now() -> str:
    """The time as the tables keep it: ISO 8601, UTC, milliseconds; text order is time order."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")
