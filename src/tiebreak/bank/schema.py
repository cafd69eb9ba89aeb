"""The bank's tables, and how a bank is opened: SQLite by default, PostgreSQL by URL.

    questions   what can be asked, each with its key
    imports     which files were taken in, so that a second import of one changes nothing
    reviews     what people changed in questions, and who and when

The tables of sessions are in `session_tables`, with the same metadata.
"""

import importlib
import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from sqlalchemy import (
    JSON,
    Column,
    Connection,
    Engine,
    ExceptionContext,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    create_engine,
    event,
    insert,
    inspect,
    make_url,
    select,
)
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from tiebreak.bank.errors import BankError
from tiebreak.paths import MISSING, problem_with

VERSION: Final = 1
"""Version of the tables. A bank of a newer version is not opened."""

TABLES: Final = MetaData()

QUESTIONS: Final = Table(
    "questions",
    TABLES,
    Column("uuid", String(64), primary_key=True),
    Column("raw_uuid", String(64), nullable=False, index=True),
    Column("category", Text, nullable=False),
    Column("sub_category", Text, nullable=False),
    Column("type", String(32), nullable=False),
    Column("question", Text, nullable=False),
    Column("answer", Text, nullable=False),
    Column("hint", Text, nullable=False),
    Column("options", JSON, nullable=False),
    Column("source", Text, nullable=False),
    Column("date", String(32), nullable=False),
    Column("status", String(16), nullable=False),
    Column("parent", String(64), nullable=False),
    Column("made_by", Text, nullable=False),
    # Of the question's text, normalised, with its options: equal for exact duplicates.
    Column("digest", String(64), nullable=False, index=True),
    # MinHash of the question's shingles, for near duplicates.
    Column("signature", LargeBinary, nullable=False),
    Column("import_id", Integer, nullable=False),
    Index("by_status", "status", "category"),
)
"""A row is a `BankQuestion`, with what finds duplicates and the import that it came with."""

IMPORTS: Final = Table(
    "imports",
    TABLES,
    Column("id", Integer, primary_key=True),
    Column("digest", String(64), nullable=False, unique=True),
    Column("name", Text, nullable=False),
    Column("at", String(32), nullable=False),
    Column("n_questions", Integer, nullable=False),
)

REVIEWS: Final = Table(
    "reviews",
    TABLES,
    Column("id", Integer, primary_key=True),
    Column("uuid", String(64), nullable=False, index=True),
    Column("at", String(32), nullable=False),
    Column("reviewer", Text, nullable=False),
    Column("field", String(16), nullable=False),
    Column("before", Text, nullable=False),
    Column("after", Text, nullable=False),
)

_DAMAGED = "the bank's file is damaged ({}): take the last backup, or import the questions anew"
_DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)

_VERSIONS = Table("bank_version", TABLES, Column("version", Integer, nullable=False))


def open_bank(url: str | Path, *, create: bool = False, durable: bool = False) -> Engine:
    """The engine of a bank.

    Args:
        url: a file (SQLite), or a URL of SQLAlchemy: sqlite:///…, postgresql+psycopg://….
        create: make the tables where there are none.
        durable: SQLite waits for the disk at every commit, so that none is lost in a power cut.
            A killed process loses none in any case. PostgreSQL always waits.

    Raises:
        BankError: there is no bank there, a newer Tiebreak made it, or the URL cannot be used.
    """
    address = _address(url)
    try:
        engine = create_engine(address, pool_pre_ping=True, **_options(address))
    except (ArgumentError, ImportError) as error:
        raise BankError(f"{shown(url)} is no bank: {error}") from error
    path = Path(engine.url.database or "") if engine.dialect.name == "sqlite" else None
    problem = problem_with(path) if path else ""
    if problem == MISSING and not create:
        raise BankError(f"{path} does not exist: make a bank with tiebreak bank import --bank.")
    if problem not in ("", MISSING):
        raise BankError(f"{path} {problem}")
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _sqlite_settings("FULL" if durable else "NORMAL"))
    try:
        with engine.begin() as connection:
            _require_tables(connection, url, create=create)
    except (SQLAlchemyError, UnicodeDecodeError) as error:
        reason = str(getattr(error, "orig", None) or error).splitlines()[0]
        raise BankError(f"{shown(url)} cannot be opened as a bank: {reason}") from error
    event.listen(engine, "handle_error", _say_what_is_damaged)
    return engine


@contextmanager
def writing(engine: Engine) -> Iterator[Connection]:
    """A transaction that will write; what it reads stays true until it ends.

    On SQLite it is alone from its beginning on. On PostgreSQL it locks the rows that it reads
    `with_for_update`.
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
        return make_url(str(url)).render_as_string(hide_password=True)
    except ArgumentError:
        return "the URL"


def _address(url: str | Path) -> str:
    text = str(url)
    if "://" not in text:
        return f"sqlite:///{text}"
    # psycopg is the driver that is installed.
    for scheme in ("postgres://", "postgresql://"):
        if text.startswith(scheme):
            return "postgresql+psycopg://" + text.removeprefix(scheme)
    return text


def _options(address: str) -> dict[str, Any]:
    # SQLite waits that many seconds for another writer.
    own = {"connect_args": {"timeout": 30}} if address.startswith("sqlite") else {}
    return {"json_deserializer": _from_json, **own}


def _from_json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BankError(_DAMAGED.format("a field is no JSON")) from error


def _say_what_is_damaged(context: ExceptionContext) -> None:
    """Turn errors of a damaged file into those of the bank; a busy bank, say, is another matter."""
    error = context.original_exception
    damaged = getattr(error, "sqlite_errorcode", None) in _DAMAGE
    unread = isinstance(error, sqlite3.OperationalError) and "decode" in str(error)
    if damaged or unread or isinstance(error, UnicodeDecodeError):
        # What it cannot read SQLite quotes at full length.
        raise BankError(_DAMAGED.format(str(error)[:100])) from error


def _sqlite_settings(synchronous: str) -> Callable[[Any, object], None]:
    """Readers beside one writer, and nothing lost when the process is killed."""

    def listener(connection: Any, record: object) -> None:
        cursor = connection.cursor()
        for setting in ("journal_mode=WAL", f"synchronous={synchronous}", "foreign_keys=ON"):
            cursor.execute(f"PRAGMA {setting}")
        cursor.close()

    return listener


def _require_tables(connection: Connection, url: str | Path, *, create: bool) -> None:
    if not inspect(connection).has_table(_VERSIONS.name):
        if not create:
            raise BankError(f"{shown(url)} holds no bank: make one with tiebreak bank import.")
        # They stand in TABLES once their module is loaded, and it imports this one.
        importlib.import_module("tiebreak.bank.session_tables")
        TABLES.create_all(connection)
        connection.execute(insert(_VERSIONS).values(version=VERSION))
    found = connection.execute(select(_VERSIONS.c.version)).scalar_one()
    if not isinstance(found, int):
        raise BankError(_DAMAGED.format("its version is no number"))
    if found > VERSION:
        raise BankError(
            f"{shown(url)} was made by a newer Tiebreak (version {found}; this one reads "
            f"{VERSION}): upgrade."
        )
