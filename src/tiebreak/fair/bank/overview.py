"""Rows for the organisers' pages of a bank's server: sessions, results, tokens, the access log.

They are read one page at a time, the newest first. Tokens themselves are not stored anywhere, so
there are only their ids.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, Select, func, select

from tiebreak.fair.bank.question import State
from tiebreak.fair.bank.schema import ACCESS_LOG, RESULTS, SESSIONS, STRANGERS, TOKENS

_S, _R = SESSIONS.c, RESULTS.c


class Part(NamedTuple):
    """One page of `total` rows."""

    rows: Sequence[Any]
    total: int


_SESSION_LINE = (
    _S.id,
    _S.institution,
    _S.user,
    _S.model,
    _S.prompting,
    _S.k,
    _S.answered,
    _S.state,
    _S.created.label("started"),
    _S.completed.label("ended"),
    _S.released,
    _R.data.label("results"),
)


def sessions_of(
    connection: Connection,
    *,
    state: State | None = None,
    institution: str | None = None,
    start: int = 0,
    most: int | None = None,
) -> Part:
    """Sessions, optionally of one state and institution, the last started first.

    `ended` is None while a session is open, `results` are the stored results, or None without any;
    `released` says whether the session's owner may see them. Times are ISO 8601 in UTC.
    """
    chosen = select(*_SESSION_LINE).join(RESULTS, _R.session == _S.id, isouter=True)
    if state is not None:
        chosen = chosen.where(_S.state == state)
    if institution is not None:
        chosen = chosen.where(_S.institution == institution)
    return _part(connection, chosen.order_by(_S.created.desc(), _S.id), start, most)


def results_of(connection: Connection, start: int, most: int) -> Part:
    """Sessions with stored results, by benchmark, the last ended first."""
    chosen = select(*_SESSION_LINE).join(RESULTS, _R.session == _S.id)
    ordered = chosen.order_by(_S.prompting.desc(), _S.completed.desc(), _S.id)
    return _part(connection, ordered, start, most)


def tokens_of(connection: Connection, start: int, most: int) -> Part:
    """Rows of the table of tokens, the last issued first."""
    ordered = select(TOKENS).order_by(TOKENS.c.issued.desc(), TOKENS.c.jti)
    return _part(connection, ordered, start, most)


def log_of(connection: Connection, start: int, most: int) -> Part:
    """Rows of the access log, the last first."""
    return _part(connection, select(ACCESS_LOG).order_by(ACCESS_LOG.c.id.desc()), start, most)


def strangers(connection: Connection) -> int:
    """Number of requests without a token."""
    return int(connection.execute(select(func.sum(STRANGERS.c.n))).scalar() or 0)


def _part(connection: Connection, chosen: Select[Any], start: int, most: int | None) -> Part:
    """At most `most` rows from number `start` on (0 is the first)."""
    counted = select(func.count()).select_from(chosen.order_by(None).subquery())
    total = connection.execute(counted).scalar_one()
    return Part(connection.execute(chosen.offset(start).limit(most)).all(), total)
