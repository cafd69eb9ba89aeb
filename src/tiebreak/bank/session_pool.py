"""A session that was answered becomes a pool of candidates, with the keys, to be graded."""

from collections.abc import Sequence
from typing import cast

from sqlalchemy import Engine, select

from tiebreak.bank.errors import BankError
from tiebreak.bank.prompting import BENCHMARKS, Prompting
from tiebreak.bank.question import BankQuestion, item_metadata
from tiebreak.bank.rows import questions
from tiebreak.bank.schema import SESSION_QUESTIONS, SESSIONS
from tiebreak.candidates.identity import input_hash
from tiebreak.candidates.pool import Candidate, CandidatePool, Item, ItemKey, Note


def pool_of(engine: Engine, session: str, *, partial: bool = False) -> CandidatePool:
    """The pool of a session: its questions in the order asked, and one model's answers.

    The items are those that the task `fair` makes of the same questions, so pools and logs join.

    With `partial` a session may be unanswered at its end: a note names what is left out.

    Raises:
        BankError: there is no such session, it is not answered to the end (or not at all), or a
            question of it is not in the bank any more.
    """
    q = SESSION_QUESTIONS.c
    with engine.connect() as connection:
        about = connection.execute(select(SESSIONS).where(SESSIONS.c.id == session)).one_or_none()
        asked = connection.execute(
            select(q.position, q.uuid, q.answer).where(q.session == session).order_by(q.position)
        ).all()
    if about is None:
        raise BankError(f"the bank has no session {session}", kind="missing")
    answers: dict[str, str] = {row.uuid: row.answer for row in asked if row.answer is not None}
    left = [row.position for row in asked if row.answer is None]
    notes: tuple[Note, ...] = ()
    if left:
        what = f"no answer to {_named(left)} of {len(asked):,}"
        if not answers or not partial:
            rest = "" if not answers else "; --partial leaves them out"
            raise BankError(f"session {session} of {about.model}: {what}{rest}", kind="conflict")
        notes = (Note("unanswered", f"session {session}", f"{what}: left out"),)
    benchmark = BENCHMARKS[cast("Prompting", about.prompting)]
    found = questions(engine, list(answers))
    items = tuple(_item(question, benchmark) for question in found)
    source = f"session {session}"
    candidates = {
        item.key: {
            about.model: Candidate(item.key, about.model, answers[item.item_id], source=source)
        }
        for item in items
    }
    return CandidatePool(items, candidates, notes)


def _item(question: BankQuestion, benchmark: str) -> Item:
    return Item(
        key=ItemKey(benchmark, question.uuid),
        input_hash=input_hash(question.question, question.options, target=question.answer),
        prompt=question.question,
        target=question.answer,
        choices=question.options,
        metadata=item_metadata(question),
    )


def _named(positions: Sequence[int]) -> str:
    """Positions, runs of them as one: questions 3, 7–1,000."""
    runs: list[list[int]] = []
    for position in positions:
        if runs and runs[-1][1] == position - 1:
            runs[-1][1] = position
        else:
            runs.append([position, position])
    shown = [f"{low:,}" if low == high else f"{low:,}–{high:,}" for low, high in runs]
    return f"question{'s' if len(positions) > 1 else ''} {', '.join(shown)}"
