"""Expansion of a whole bank: variants are made of the questions in it, and kept in it.

A variant that is there stays as it is, whatever people made of it: expanding twice changes nothing.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import anyio
from sqlalchemy import Connection, Engine, func, insert, select, update

from tiebreak.fair.bank.expansion import Method, Refused, expand
from tiebreak.fair.bank.question import BankQuestion
from tiebreak.fair.bank.rows import COLUMNS, by_uuid, parts, question_from, rows_of
from tiebreak.fair.bank.schema import QUESTIONS, writing
from tiebreak.progress import tracked

if TYPE_CHECKING:
    from tiebreak.fair.bank.material import StatementWriter, Written

AT_ONCE: Final = 500
"""How many questions are expanded in one transaction."""

TEXTS_AT_ONCE: Final = 16
"""How many texts are with a model at once; what is done is kept when all of them are."""


@dataclass(frozen=True, slots=True)
class Expanded:
    """What an expansion did.

    Of `n_questions` looked at (approved ones that are no variants themselves), those in `refused`
    make no variants. `n_there` variants were in the bank before; `n_other` of these are not as they
    would be made now: they, or their question, were edited since. `n_approved` earlier drafts were
    approved. `rejected` are statements that failed their check. The tokens and the cost (US
    dollars; None: a price is unknown) are those of calls that were made now, not of cached ones.
    """

    method: str
    n_questions: int = 0
    n_made: int = 0
    n_true: int = 0
    n_there: int = 0
    n_other: int = 0
    n_approved: int = 0
    refused: tuple[Refused, ...] = ()
    rejected: tuple[Refused, ...] = ()
    n_calls: int = 0
    n_cached: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = 0.0


def expand_bank(engine: Engine, method: Method, *, approve: bool = False) -> Expanded:
    """Make the variants of all approved multiple-choice questions.

    With `approve` the method's word counts for a human's: its variants, and earlier drafts that are
    exactly as it makes them, are approved. What was edited or rejected stays.
    """
    done = Expanded(method)
    families = _parents(engine, "multiple_choice")
    total = _n_parents(engine, "multiple_choice")
    for parents in tracked(families, "expanding questions", total, size=len):
        made = [expand(parent, method) for parent in parents]
        refused = tuple(one for one in made if isinstance(one, Refused))
        variants = [one for found in made if not isinstance(found, Refused) for one in found]
        with writing(engine) as connection:
            done = _keep(connection, variants, done, approve=approve)
        done = replace(
            done, n_questions=done.n_questions + len(parents), refused=done.refused + refused
        )
    return done


def write_statements(
    engine: Engine, writer: "StatementWriter", *, limit: int | None = None
) -> Expanded:
    """Have statements written about approved materials that have none yet, `limit` at most."""
    from tiebreak.fair.bank.material import METHOD

    done = Expanded(METHOD)
    wanted = [
        material
        for materials in _parents(engine, "material")
        for material in _unwritten(engine, materials)
    ][:limit]
    some = parts(wanted, TEXTS_AT_ONCE)
    for materials in tracked(some, "writing statements on texts", len(wanted), size=len):
        written = anyio.run(writer.write_all, materials)
        variants = [variant for one in written for variant in one.variants]
        with writing(engine) as connection:
            done = _keep(connection, variants, done)
        done = _billed(done, written)
    return done


def _keep(
    connection: Connection,
    variants: Sequence[BankQuestion],
    done: Expanded,
    *,
    approve: bool = False,
) -> Expanded:
    """Insert the variants that are new, and count."""
    there = by_uuid(connection, [variant.uuid for variant in variants])
    rows = rows_of([variant for variant in variants if variant.uuid not in there])
    columns = QUESTIONS.c
    wanted = select(columns.digest, columns.uuid, columns.raw_uuid)
    taken = {
        found.digest: (found.uuid, found.raw_uuid)
        for part in parts([row["digest"] for row in rows])
        for found in connection.execute(wanted.where(columns.digest.in_(part)))
    }
    new, refused = [], []
    for row in rows:
        uuid, raw_uuid = taken.setdefault(row["digest"], (row["uuid"], row["raw_uuid"]))
        # A variant may read like its own question, as a stem with its fill does.
        if uuid == row["uuid"] or raw_uuid == row["raw_uuid"]:
            approved = approve and row["status"] == "draft"
            new.append({**row, "status": "approved"} if approved else row)
        else:
            refused.append(Refused(row["parent"], f"a variant of it is the same as {uuid}"))
    if new:
        connection.execute(insert(QUESTIONS), new)
    as_made = [variant.uuid for variant in variants if there.get(variant.uuid) == variant]
    n_approved = _approve(connection, as_made) if approve else 0
    n_same = sum(
        variant.uuid in there and replace(there[variant.uuid], status=variant.status) == variant
        for variant in variants
    )
    return replace(
        done,
        n_made=done.n_made + len(new),
        n_true=done.n_true + sum(row["answer"] == "true" for row in new),
        n_there=done.n_there + len(there),
        n_other=done.n_other + len(there) - n_same,
        n_approved=done.n_approved + n_approved,
        refused=done.refused + tuple(refused),
    )


def _approve(connection: Connection, uuids: Sequence[str]) -> int:
    for part in parts(uuids):
        wanted = QUESTIONS.c.uuid.in_(part)
        connection.execute(update(QUESTIONS).where(wanted).values(status="approved"))
    return len(uuids)


def _wanted(kind: str) -> tuple[Any, ...]:
    own = QUESTIONS.c
    return own.type == kind, own.status == "approved", own.parent == ""


def _n_parents(engine: Engine, kind: str) -> int:
    with engine.connect() as connection:
        counted = select(func.count()).select_from(QUESTIONS).where(*_wanted(kind))
        return int(connection.execute(counted).scalar_one())


def _parents(engine: Engine, kind: str) -> Iterator[list[BankQuestion]]:
    """Approved questions of a type that are no variants, some at a time, in the order of ids."""
    last = ""
    wanted = select(*COLUMNS).where(*_wanted(kind)).order_by(QUESTIONS.c.uuid).limit(AT_ONCE)
    while True:
        with engine.connect() as connection:
            rows = connection.execute(wanted.where(QUESTIONS.c.uuid > last)).all()
        if not rows:
            return
        last = rows[-1].uuid
        yield [question_from(row) for row in rows]


def _unwritten(engine: Engine, materials: Iterable[BankQuestion]) -> list[BankQuestion]:
    """Those without a statement, be it a rejected one."""
    some = list(materials)
    own = QUESTIONS.c
    wanted = select(own.parent).where(
        own.parent.in_([one.uuid for one in some]), own.type == "true_false"
    )
    with engine.connect() as connection:
        written = set(connection.execute(wanted).scalars())
    return [one for one in some if one.uuid not in written]


def _billed(done: Expanded, written: "Sequence[Written]") -> Expanded:
    calls = [call for one in written for call in one.calls]
    paid = [call for call in calls if not call.cached]
    known = done.cost is not None and all(call.cost is not None for call in paid)
    rejected = [
        Refused(variant.uuid, variant.hint.rpartition("[rejected: ")[2].removesuffix("]"))
        for one in written
        for variant in one.variants
        if variant.status == "rejected"
    ]
    return replace(
        done,
        n_questions=done.n_questions + len(written),
        refused=done.refused + tuple(one.refused for one in written if one.refused),
        rejected=done.rejected + tuple(rejected),
        n_calls=done.n_calls + len(calls),
        n_cached=done.n_cached + len(calls) - len(paid),
        input_tokens=done.input_tokens + sum(call.input_tokens for call in paid),
        output_tokens=done.output_tokens + sum(call.output_tokens for call in paid),
        cost=(done.cost or 0.0) + sum(call.cost or 0.0 for call in paid) if known else None,
    )
