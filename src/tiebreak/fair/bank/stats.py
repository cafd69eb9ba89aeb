"""Statistics of a bank, and the scores of constant answers to its questions.

Source: LLMEval-Fair, tables 5 and 6.
"""

import math
from collections import Counter
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Engine, distinct, func, select

from tiebreak.analysis.constant_answers import ConstantAnswers, constant_answers
from tiebreak.fair.bank.schema import QUESTIONS


class Count(NamedTuple):
    """Number of questions of a category with a type and a status."""

    category: str
    type: str
    status: str
    n: int


class Growth(NamedTuple):
    """Questions of a category or a source before and after expansion (tables 5 and 6).

    `original` counts raw questions, `rewritten` the questions after expansion: variants, and
    questions without variants.
    """

    name: str
    original: int
    rewritten: int

    @property
    def increase(self) -> int:
        """Number of questions that expansion added."""
        return self.rewritten - self.original

    @property
    def rate(self) -> float:
        """The increase per original question; NaN without one."""
        return self.increase / self.original if self.original else math.nan


class Source(NamedTuple):
    """A source of questions, and the first and last date of its questions, "" without any."""

    growth: Growth
    first: str
    last: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BankStats:
    """Statistics of a bank; only `counts` includes rejected questions.

    `baselines`, by category, and `baseline` are constant answers to approved questions;
    `n_duplicates` counts questions with the text and options of another one.
    """

    bank: str
    counts: tuple[Count, ...]
    categories: tuple[Growth, ...]
    sources: tuple[Source, ...]
    total: Growth
    n_duplicates: int
    baselines: dict[str, ConstantAnswers]
    baseline: ConstantAnswers


def bank_stats(engine: Engine, *, bank: str = "") -> BankStats:
    """Compute the statistics of a bank."""
    with engine.connect() as connection:
        categories = _growth(connection, QUESTIONS.c.category)
        keys = _keys(connection)
        return BankStats(
            bank=bank,
            counts=_counts(connection),
            categories=categories,
            sources=_sources(connection),
            total=_total(connection),
            n_duplicates=_duplicates(connection),
            baselines={category: constant_answers(n) for category, n in sorted(keys.items())},
            baseline=constant_answers(sum(keys.values(), Counter())),
        )


_THERE = QUESTIONS.c.status != "rejected"


def _last() -> ColumnElement[bool]:
    """Condition for questions after expansion: no other question was made of them."""
    other = QUESTIONS.alias()
    made = select(other.c.parent).where(other.c.parent != "", other.c.status != "rejected")
    return QUESTIONS.c.uuid.not_in(made)


def _counts(connection: Connection) -> tuple[Count, ...]:
    columns = (QUESTIONS.c.category, QUESTIONS.c.type, QUESTIONS.c.status)
    wanted = select(*columns, func.count()).group_by(*columns).order_by(*columns)
    return tuple(Count(*row) for row in connection.execute(wanted))


def _growth(connection: Connection, by: ColumnElement[Any]) -> tuple[Growth, ...]:
    raw = select(by, func.count(distinct(QUESTIONS.c.raw_uuid))).where(_THERE).group_by(by)
    after = select(by, func.count()).where(_THERE, _last()).group_by(by)
    rewritten = {row[0]: row[1] for row in connection.execute(after)}
    growth = (Growth(name, n, rewritten.get(name, 0)) for name, n in connection.execute(raw))
    return tuple(sorted(growth, key=lambda row: (-row.rewritten, row.name)))


def _total(connection: Connection) -> Growth:
    raw = select(func.count(distinct(QUESTIONS.c.raw_uuid))).where(_THERE)
    after = select(func.count()).select_from(QUESTIONS).where(_THERE, _last())
    numbers = (connection.execute(wanted).scalar_one() for wanted in (raw, after))
    return Growth("Total", *numbers)


def _sources(connection: Connection) -> tuple[Source, ...]:
    source, date = QUESTIONS.c.source, QUESTIONS.c.date
    wanted = select(source, func.min(date), func.max(date)).where(_THERE, date != "")
    dates = {name: span for name, *span in connection.execute(wanted.group_by(source))}
    return tuple(
        Source(growth, *dates.get(growth.name, ("", ""))) for growth in _growth(connection, source)
    )


def _duplicates(connection: Connection) -> int:
    digests = select(func.count() - func.count(distinct(QUESTIONS.c.digest))).where(_THERE)
    return int(connection.execute(digests).scalar_one())


def _keys(connection: Connection) -> dict[str, Counter[tuple[str, str]]]:
    """Count each type and key in each category; for keys in free text the key is ""."""
    category, kind, key = QUESTIONS.c.category, QUESTIONS.c.type, QUESTIONS.c.answer
    short = func.length(key) <= len("false")
    keys: dict[str, Counter[tuple[str, str]]] = {}
    approved = QUESTIONS.c.status == "approved"
    chosen = kind.in_(("true_false", "multiple_choice")) & short
    wanted = select(category, kind, key, func.count()).where(approved, chosen)
    for name, of_type, answer, n in connection.execute(wanted.group_by(category, kind, key)):
        keys.setdefault(name, Counter())[of_type, answer] += n
    texts = select(category, kind, func.count()).where(approved, ~chosen)
    for name, of_type, n in connection.execute(texts.group_by(category, kind)):
        keys.setdefault(name, Counter())[of_type, ""] += n
    return keys
