"""Quotas: the number of questions that an institution may be given, and has been given.

Source: LLMEval-Fair, §2.2.2: "tracks the number of questions allocated, pending, and completed".
"""

from typing import NamedTuple

from sqlalchemy import Connection, Engine, func, insert, select, update

from tiebreak.fair.bank.errors import BankError
from tiebreak.fair.bank.schema import QUOTAS, SESSIONS, writing

_COLUMNS = QUOTAS.c


class Quota(NamedTuple):
    """Numbers of questions: granted ≥ allocated = pending + completed."""

    institution: str
    granted: int
    allocated: int
    completed: int

    @property
    def pending(self) -> int:
        """Number of questions of open sessions that are not answered yet."""
        return self.allocated - self.completed

    @property
    def left(self) -> int:
        """Number of questions that new sessions may ask for."""
        return max(0, self.granted - self.allocated)


def grant(engine: Engine, institution: str, n: int) -> Quota:
    """Set the total number of questions for an institution, including those given before.

    If it is below the number allocated, no new session can start; open ones go on.

    Raises:
        BankError: `n` is below 0.
    """
    if n < 0:
        raise BankError(f"a quota is a number of questions, not {n}")
    with writing(engine) as connection:
        of_institution = _COLUMNS.institution == institution
        changed = connection.execute(update(QUOTAS).where(of_institution).values(granted=n))
        if not changed.rowcount:
            row = {"institution": institution, "granted": n, "allocated": 0, "completed": 0}
            connection.execute(insert(QUOTAS).values(row))
        return quota_of(connection, institution)


def quota_of(connection: Connection, institution: str) -> Quota:
    """An institution's quota; all numbers are 0 if none was granted."""
    row = connection.execute(select(QUOTAS).where(_COLUMNS.institution == institution)).first()
    if row is None:
        return Quota(institution, 0, 0, 0)
    s = SESSIONS.c
    answered = select(func.coalesce(func.sum(s.answered), 0)).where(
        s.institution == institution, s.state == "open"
    )
    completed = row.completed + connection.execute(answered).scalar_one()
    return Quota(institution, row.granted, row.allocated, completed)


def quotas(connection: Connection) -> list[Quota]:
    """Quotas of all institutions, by name."""
    names = select(_COLUMNS.institution).order_by(_COLUMNS.institution)
    return [quota_of(connection, name) for name in connection.execute(names).scalars().all()]


def require(connection: Connection, institution: str, k: int) -> None:
    """Raise BankError ("refused") if an institution may not be given k more questions.

    Within `writing`, other sessions of the institution wait from here on.
    """
    chosen = select(_COLUMNS.granted - _COLUMNS.allocated)
    here = chosen.where(_COLUMNS.institution == institution).with_for_update()
    left = connection.execute(here).scalar_one_or_none() or 0
    if k > left:
        raise BankError(
            f"the quota of {institution} has {max(0, left):,} questions left, and {k:,} are asked "
            "for: ask for fewer, or ask the organiser for more",
            kind="refused",
        )


def take(connection: Connection, institution: str, k: int) -> None:
    """Allocate k questions; raise BankError ("refused") if the quota has too few left."""
    allocated = _COLUMNS.allocated + k
    granted = (_COLUMNS.institution == institution, allocated <= _COLUMNS.granted)
    changed = connection.execute(update(QUOTAS).where(*granted).values(allocated=allocated))
    if changed.rowcount != 1:
        require(connection, institution, k)
        raise BankError(f"the quota of {institution} changed: ask again", kind="refused")


def settle(connection: Connection, institution: str, *, asked: int, unasked: int) -> None:
    """Settle a session that has ended: questions asked are completed, unasked ones given back."""
    left = {"allocated": _COLUMNS.allocated - unasked, "completed": _COLUMNS.completed + asked}
    connection.execute(update(QUOTAS).where(_COLUMNS.institution == institution).values(left))
