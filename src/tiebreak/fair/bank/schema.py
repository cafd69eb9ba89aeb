"""The tables of a bank, and opening a bank: SQLite by default, PostgreSQL by URL.

    questions           questions with their keys
    imports             imported files, so that importing one again changes nothing
    reviews             changes of questions, with reviewer and time

    sessions            k questions for one user of an institution
    session_questions   the questions of a session in their order, and the answers
    seen                questions that an institution was given, so that it never gets them again
    quotas              number of questions that an institution may be given
    tokens              holders of tokens, so that a token can be revoked
    access_log          every request with a token; rows can only be added
    strangers           number of requests without a token, by address and minute
    results             results of a session, for its owner once released

A bank holds all keys, so only its owner may read its file.

Source: LLMEval-Fair, §2.2.2 and appendix H. Times are ISO 8601 in UTC, as returned by `now`.
"""

import json
import logging
import os
import re
import shlex
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Literal, get_args

import sqlalchemy as sa
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from tiebreak.fair.bank.errors import BankError
from tiebreak.paths import MISSING, problem_with

COMPANIONS: Final = ("", "-wal", "-shm", "-journal")
"""Suffixes of SQLite's files for a bank; those beside the file itself get its permissions."""

_LOGGER: Final = logging.getLogger(__name__)


def keep_private(path: Path, *, new: bool) -> None:
    """Create an empty file for its owner only, whatever the umask; warn if others have rights."""
    if new:
        # If the file cannot be created, SQLite reports why.
        with suppress(OSError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    files = [Path(f"{path}{end}") for end in COMPANIONS]
    wide = [str(file) for file in files if file.is_file() and file.stat().st_mode & 0o077]
    if wide and os.name != "nt":
        _LOGGER.warning(
            "Other users of this machine may use the bank's file, with its keys: chmod 600 %s",
            shlex.join(wide),
        )


VERSION: Final = 1
"""Version of the tables. A bank with a newer version is refused."""

TABLES: Final = sa.MetaData()

QUESTIONS: Final = sa.Table(
    "questions",
    TABLES,
    sa.Column("uuid", sa.String(64), primary_key=True),
    sa.Column("raw_uuid", sa.String(64), nullable=False, index=True),
    sa.Column("category", sa.Text, nullable=False),
    sa.Column("sub_category", sa.Text, nullable=False),
    sa.Column("type", sa.String(32), nullable=False),
    sa.Column("question", sa.Text, nullable=False),
    sa.Column("answer", sa.Text, nullable=False),
    sa.Column("hint", sa.Text, nullable=False),
    sa.Column("options", sa.JSON, nullable=False),
    sa.Column("source", sa.Text, nullable=False),
    sa.Column("date", sa.String(32), nullable=False),
    sa.Column("status", sa.String(16), nullable=False),
    sa.Column("parent", sa.String(64), nullable=False),
    sa.Column("made_by", sa.Text, nullable=False),
    # Hash of the normalised text and options: equal for exact duplicates.
    sa.Column("digest", sa.String(64), nullable=False, index=True),
    # MinHash of the question's shingles, for near duplicates.
    sa.Column("signature", sa.LargeBinary, nullable=False),
    sa.Column("import_id", sa.Integer, nullable=False),
    sa.Index("by_status", "status", "category"),
)
"""A row is a `BankQuestion` with its import, and digest and signature to find duplicates."""

IMPORTS: Final = sa.Table(
    "imports",
    TABLES,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("digest", sa.String(64), nullable=False, unique=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("at", sa.String(32), nullable=False),
    sa.Column("n_questions", sa.Integer, nullable=False),
)

REVIEWS: Final = sa.Table(
    "reviews",
    TABLES,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("uuid", sa.String(64), nullable=False, index=True),
    sa.Column("at", sa.String(32), nullable=False),
    sa.Column("reviewer", sa.Text, nullable=False),
    sa.Column("field", sa.String(16), nullable=False),
    sa.Column("before", sa.Text, nullable=False),
    sa.Column("after", sa.Text, nullable=False),
)

Role = Literal["examinee", "examiner", "admin"]
ROLES: Final[tuple[Role, ...]] = get_args(Role)

SESSIONS: Final = sa.Table(
    "sessions",
    TABLES,
    sa.Column("id", sa.String(32), primary_key=True),
    sa.Column("institution", sa.String(128), nullable=False, index=True),
    sa.Column("user", sa.String(128), nullable=False),
    # jti of the token that opened the session.
    sa.Column("token", sa.String(32), nullable=False),
    sa.Column("model", sa.String(256), nullable=False),
    sa.Column("prompting", sa.String(16), nullable=False),
    # Seed of the sample, so that it can be drawn again.
    sa.Column("seed", sa.String(64), nullable=False),
    sa.Column("k", sa.Integer, nullable=False),
    # Number of answers so far: exactly the first `answered` questions are answered.
    sa.Column("answered", sa.Integer, nullable=False),
    sa.Column("state", sa.String(8), nullable=False),
    sa.Column("created", sa.String(32), nullable=False),
    # Time of the last answer, or at which an examiner closed the session.
    sa.Column("completed", sa.String(32)),
    sa.Column("idempotency_key", sa.String(128), nullable=False),
    sa.Column("released", sa.Boolean, nullable=False),
    sa.UniqueConstraint("institution", "user", "idempotency_key"),
    sa.CheckConstraint("answered >= 0 AND answered <= k"),
    sa.Index(
        "one_open_session_of_a_token",
        "token",
        unique=True,
        sqlite_where=sa.text("state = 'open'"),
        postgresql_where=sa.text("state = 'open'"),
    ),
)

SESSION_QUESTIONS: Final = sa.Table(
    "session_questions",
    TABLES,
    sa.Column("session", sa.String(32), sa.ForeignKey("sessions.id"), primary_key=True),
    # From 1.
    sa.Column("position", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("uuid", sa.String(64), nullable=False),
    sa.Column("raw_uuid", sa.String(64), nullable=False),
    # Time at which the examinee first got it, null before.
    sa.Column("asked_at", sa.String(32)),
    sa.Column("answer", sa.Text),
    sa.Column("answered_at", sa.String(32)),
    sa.UniqueConstraint("session", "uuid"),
    sqlite_with_rowid=False,  # rows are stored by their primary key
)

SEEN: Final = sa.Table(
    "seen",
    TABLES,
    sa.Column("institution", sa.String(128), primary_key=True),
    sa.Column("uuid", sa.String(64), primary_key=True),
    sa.Column("raw_uuid", sa.String(64), nullable=False),
    sqlite_with_rowid=False,  # rows are stored by their primary key
)
"""All questions drawn for an institution. The key prevents sessions from drawing one twice."""

QUOTAS: Final = sa.Table(
    "quotas",
    TABLES,
    sa.Column("institution", sa.String(128), primary_key=True),
    sa.Column("granted", sa.Integer, nullable=False),
    # Questions of all its sessions; new sessions can get granted - allocated.
    sa.Column("allocated", sa.Integer, nullable=False),
    # Questions of sessions that have ended. `quotas.quota_of` adds the answers of open sessions:
    # writing the row at every answer would make all sessions of an institution wait for it.
    sa.Column("completed", sa.Integer, nullable=False),
    sa.CheckConstraint("completed >= 0 AND completed <= allocated"),
)

TOKENS: Final = sa.Table(
    "tokens",
    TABLES,
    sa.Column("jti", sa.String(32), primary_key=True),
    sa.Column("user", sa.String(128), nullable=False),
    sa.Column("institution", sa.String(128), nullable=False),
    sa.Column("role", sa.String(16), nullable=False),
    # The only session that the token is valid for; null: any.
    sa.Column("session", sa.String(32)),
    sa.Column("issued", sa.String(32), nullable=False),
    sa.Column("expires", sa.String(32), nullable=False),
    # Time at which it was revoked, or null.
    sa.Column("revoked", sa.String(32)),
)
"""Holders of tokens. The tokens themselves are not stored anywhere."""

ACCESS_LOG: Final = sa.Table(
    "access_log",
    TABLES,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("at", sa.String(32), nullable=False),
    # The user of the verified token.
    sa.Column("user", sa.String(128), nullable=False),
    sa.Column("session", sa.String(32)),
    sa.Column("method", sa.String(16), nullable=False),
    sa.Column("path", sa.String(256), nullable=False),
    sa.Column("status", sa.Integer, nullable=False),
    sa.Column("address", sa.String(64), nullable=False),
    sa.Column("request", sa.String(64), nullable=False),
)

STRANGERS: Final = sa.Table(
    "strangers",
    TABLES,
    # The beginning of `now`, up to the minute.
    sa.Column("minute", sa.String(16), primary_key=True),
    sa.Column("address", sa.String(64), primary_key=True),
    sa.Column("n", sa.Integer, nullable=False),
)
"""Number of requests without a verified token."""

RESULTS: Final = sa.Table(
    "results",
    TABLES,
    sa.Column("session", sa.String(32), sa.ForeignKey("sessions.id"), primary_key=True),
    sa.Column("data", sa.JSON, nullable=False),
    sa.Column("released_at", sa.String(32)),
)

_DAMAGED = "the bank's file is damaged ({}): take the last backup, or import the questions anew"
_DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)

_VERSIONS = sa.Table("bank_version", TABLES, sa.Column("version", sa.Integer, nullable=False))

_ONLY_GROWS = "access_log can only grow"
_REFUSE = f"BEGIN SELECT RAISE(ABORT, '{_ONLY_GROWS}'); END"
_APPEND_ONLY: Final = {
    "sqlite": (
        f"CREATE TRIGGER access_log_update BEFORE UPDATE ON access_log {_REFUSE}",
        f"CREATE TRIGGER access_log_delete BEFORE DELETE ON access_log {_REFUSE}",
        # INSERT OR REPLACE deletes a row without a trigger for that.
        f"CREATE TRIGGER access_log_replace BEFORE INSERT ON access_log "  # nosec B608
        f"WHEN EXISTS (SELECT 1 FROM access_log WHERE id = NEW.id) {_REFUSE}",
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


def open_bank(url: str | Path, *, create: bool = False, durable: bool = False) -> sa.Engine:
    """Open a bank in a file (SQLite) or at a URL of SQLAlchemy; return its engine.

    With `durable`, SQLite waits for the disk at every commit, so that no commit is lost in a power
    cut; a killed process loses none in any case, and PostgreSQL always waits.

    Raises:
        BankError: there is no bank, it was made by a newer Tiebreak, or the URL cannot be used.
    """
    address = _address(url)
    try:
        engine = sa.create_engine(
            address,
            pool_pre_ping=True,  # the server may have closed an idle connection
            json_deserializer=_from_json,
            # Seconds that SQLite waits for another writer.
            connect_args={"timeout": 30} if address.startswith("sqlite") else {},
        )
    except (ArgumentError, ImportError) as error:
        raise BankError(f"{shown(url)} is not a bank: {error}") from error
    path = Path(engine.url.database or "") if engine.dialect.name == "sqlite" else None
    problem = problem_with(path) if path else ""
    if problem == MISSING and not create:
        raise BankError(f"{path} does not exist: make a bank with tiebreak bank import --bank.")
    if problem not in ("", MISSING):
        raise BankError(f"{path} {problem}")
    if path and "uri" not in engine.url.query and path.name not in ("", ":memory:"):
        keep_private(path, new=problem == MISSING)
    if engine.dialect.name == "sqlite":
        sa.event.listen(engine, "connect", _sqlite_settings("FULL" if durable else "NORMAL"))
    try:
        with engine.begin() as connection:
            _require_tables(connection, url, create=create)
    except (SQLAlchemyError, UnicodeDecodeError) as error:
        reason = str(getattr(error, "orig", None) or error).splitlines()[0]
        advice = (
            "Give a bank's file; `tiebreak bank import --bank FILE` makes one"
            if path
            else "Does the server run, and are host, user, password and name right in the URL?"
        )
        raise BankError(f"{shown(url)} cannot be opened as a bank: {reason}. {advice}") from error
    sa.event.listen(engine, "handle_error", _named_damage)
    return engine


@contextmanager
def writing(engine: sa.Engine) -> Iterator[sa.Connection]:
    """A transaction for writing; rows that it has read do not change until it ends.

    On SQLite no other transaction can write from its beginning on. On PostgreSQL only rows that it
    reads `with_for_update` are locked.
    """
    with engine.begin() as connection:
        if engine.dialect.name == "sqlite":
            connection.exec_driver_sql("BEGIN IMMEDIATE")
        yield connection


def shown(url: str | Path) -> str:
    """A bank's address without its password."""
    if "://" not in str(url):
        return str(url)
    try:
        return sa.make_url(str(url)).render_as_string(hide_password=True)
    except ArgumentError:
        return "the URL"


def _address(url: str | Path) -> str:
    text = str(url)
    if "://" not in text:
        return f"sqlite:///{text}"
    # psycopg is installed, but SQLAlchemy 2.0 looks for psycopg2 by default.
    return re.sub(r"^postgres(ql)?://", "postgresql+psycopg://", text)


def _from_json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BankError(_DAMAGED.format("a field is not JSON")) from error


def _named_damage(context: sa.ExceptionContext) -> None:
    """Turn errors of a damaged file into BankErrors; other errors, e.g. of a busy bank, stay."""
    error = context.original_exception
    damaged = getattr(error, "sqlite_errorcode", None) in _DAMAGE
    unread = isinstance(error, sqlite3.OperationalError) and "decode" in str(error)
    if damaged or unread or isinstance(error, UnicodeDecodeError):
        # Cut off, because SQLite quotes the whole value that it cannot decode.
        raise BankError(_DAMAGED.format(str(error)[:100])) from error


def _sqlite_settings(synchronous: str) -> Callable[[Any, object], None]:
    """Listener that lets SQLite read while it writes, and lose nothing if the process is killed."""

    def listener(connection: Any, record: object) -> None:
        cursor = connection.cursor()
        for setting in ("journal_mode=WAL", f"synchronous={synchronous}", "foreign_keys=ON"):
            cursor.execute(f"PRAGMA {setting}")
        cursor.close()

    return listener


def _require_tables(connection: sa.Connection, url: str | Path, *, create: bool) -> None:
    if not sa.inspect(connection).has_table(_VERSIONS.name):
        if not create:
            raise BankError(f"{shown(url)} holds no bank: make one with tiebreak bank import.")
        TABLES.create_all(connection)
        connection.execute(sa.insert(_VERSIONS).values(version=VERSION))
    version = connection.execute(sa.select(_VERSIONS.c.version)).scalar_one()
    if not isinstance(version, int):
        raise BankError(_DAMAGED.format("its version is not a number"))
    if version > VERSION:
        raise BankError(
            f"{shown(url)} was made by a newer Tiebreak (version {version}; this one reads "
            f"{VERSION}): upgrade."
        )


def _make_append_only(table: sa.Table, connection: sa.Connection, **details: object) -> None:
    for statement in _APPEND_ONLY[connection.dialect.name]:
        connection.exec_driver_sql(statement)


sa.event.listen(ACCESS_LOG, "after_create", _make_append_only)


def now() -> str:
    """Current time as stored: ISO 8601 in UTC with milliseconds, so that times sort as texts."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")
