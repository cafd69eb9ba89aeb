"""Export questions of a bank to files, and answered sessions to pools for grading.

The owner of a bank gets all questions, with keys and hints, as JSON lines, Parquet or CSV that
`bank import` reads back; in CSV an apostrophe keeps spreadsheets from running a text as a formula
(`delimited.safe`). An institution that asks the questions itself gets a sample (`draw_unseen`),
and is never given the same questions again.
"""

import csv
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any, Final, cast

from sqlalchemy import Engine, select

from tiebreak.candidates.identity import input_hash
from tiebreak.candidates.pool import Candidate, CandidatePool, Item, ItemKey, Note
from tiebreak.fair.bank.errors import BankError
from tiebreak.fair.bank.prompting import BENCHMARKS, Prompting
from tiebreak.fair.bank.question import BankQuestion, Status, item_metadata
from tiebreak.fair.bank.rows import AT_ONCE, FIELDS, questions, questions_in
from tiebreak.fair.bank.sampling import Share, draw, entries
from tiebreak.fair.bank.schema import QUESTIONS, SESSION_QUESTIONS, SESSIONS, writing
from tiebreak.fair.bank.sessions import mark_seen, seen_by
from tiebreak.paths import to_file, whole_file
from tiebreak.tables.delimited import safe

Rows = Iterator[dict[str, Any]]


def export_questions(engine: Engine, path: str | Path, status: Status | None = None) -> int:
    """Write a bank's questions, or those of a status, to .jsonl, .parquet or .csv; count them.

    The file is replaced atomically.

    Raises:
        BankError: the file's name has another suffix.
        OSError: the file cannot be written.
    """
    file = Path(path)
    write = _WRITERS.get(file.suffix.lower())
    if write is None:
        raise BankError(f"{file} is to be none of {', '.join(_WRITERS)}")
    where = [] if status is None else [QUESTIONS.c.status == status]
    with engine.connect() as connection, whole_file(file) as draft:
        return write(draft, map(_row, questions_in(connection, *where)))


def _row(question: BankQuestion) -> dict[str, Any]:
    return {name: getattr(question, name) for name in FIELDS} | {"options": list(question.options)}


def _json_lines(path: Path, rows: Rows) -> int:
    n = 0
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for row in rows:
            n += 1
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
    return n


def _csv(path: Path, rows: Rows) -> int:
    n = 0
    # Without a byte order mark, spreadsheets do not read the file as UTF-8.
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.DictWriter(file, FIELDS)
        writer.writeheader()
        for row in rows:
            n += 1
            options = json.dumps(row["options"], ensure_ascii=False) if row["options"] else ""
            texts = row | {"options": options}
            writer.writerow({name: safe(text) for name, text in texts.items()})
    return n


def _parquet(path: Path, rows: Rows) -> int:
    import pyarrow as pa
    import pyarrow.parquet as pq

    kinds = {"options": pa.list_(pa.string())}
    schema = pa.schema([pa.field(name, kinds.get(name, pa.string())) for name in FIELDS])
    n = 0
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        while some := list(islice(rows, AT_ONCE)):
            n += len(some)
            writer.write_table(pa.Table.from_pylist(some, schema))
    return n


_WRITERS: Final[dict[str, Callable[[Path, Rows], int]]] = {
    ".jsonl": _json_lines,
    ".parquet": _parquet,
    ".csv": _csv,
}


def draw_unseen(
    engine: Engine, k: int, seed: str, institution: str, *, balanced: bool, share: Share
) -> list[str]:
    """Draw k questions that the institution was never given, and mark them as seen by it.

    Returns:
        Their uuids.

    Raises:
        BankError: fewer than k are unseen.
    """
    bank = entries(engine)
    raws = {entry.uuid: entry.raw_uuid for entry in bank}
    # In one transaction, so that no server draws for the institution in between.
    with writing(engine) as connection:
        seen = seen_by(connection, institution)
        uuids = draw(bank, k, seed, seen=seen, balanced=balanced, share=share)
        mark_seen(connection, institution, {uuid: raws[uuid] for uuid in uuids})
    return uuids


def write_questions(engine: Engine, uuids: list[str], path: Path, *, with_keys: bool) -> None:
    """Write questions as JSON lines; `tiebreak bank import` can read them back if `with_keys`."""
    left_out = {"status", "parent", "made_by"} | (set() if with_keys else {"answer", "hint"})
    path.parent.mkdir(parents=True, exist_ok=True)
    with to_file(path), path.open("x", encoding="utf-8") as file:  # never over another
        for question in questions(engine, uuids):
            row = {name: value for name, value in asdict(question).items() if name not in left_out}
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


def pool_of(engine: Engine, session: str, *, partial: bool = False) -> CandidatePool:
    """Make a pool of a session: its questions in the order asked, and one model's answers.

    The items equal those that the task `fair` makes of the same questions, so pools and logs join.
    With `partial`, the last questions of the session may be unanswered: a note names them.

    Raises:
        BankError: there is no such session, it is not answered to the end (or not at all), or one
            of its questions is no longer in the bank.
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
        gap = f"no answer to {_named(left)} of {len(asked):,}"
        if not answers or not partial:
            rest = "" if not answers else "; --partial leaves them out"
            raise BankError(f"session {session} of {about.model}: {gap}{rest}", kind="conflict")
        notes = (Note("unanswered", f"session {session}", f"{gap}: left out"),)
    benchmark = BENCHMARKS[cast("Prompting", about.prompting)]
    items = tuple(
        Item(
            key=ItemKey(benchmark, question.uuid),
            input_hash=input_hash(question.question, question.options, target=question.answer),
            prompt=question.question,
            target=question.answer,
            choices=question.options,
            metadata=item_metadata(question),
        )
        for question in questions(engine, list(answers))
    )
    source = f"session {session}"
    candidates = {
        item.key: {
            about.model: Candidate(item.key, about.model, answers[item.item_id], source=source)
        }
        for item in items
    }
    return CandidatePool(items, candidates, notes)


def _named(positions: Sequence[int]) -> str:
    """Positions in words, runs of them as ranges: questions 3, 7–1,000."""
    runs: list[list[int]] = []
    for position in positions:
        if runs and runs[-1][1] == position - 1:
            runs[-1][1] = position
        else:
            runs.append([position, position])
    shown = [f"{low:,}" if low == high else f"{low:,}–{high:,}" for low, high in runs]
    return f"question{'s' if len(positions) > 1 else ''} {', '.join(shown)}"
