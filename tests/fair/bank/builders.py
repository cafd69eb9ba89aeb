"""Banks for tests."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

from click.testing import Result
from sqlalchemy import Engine, insert

from tests.cli.handed import tiebreak
from tests.harness import ROOT
from tiebreak.fair.bank.question import BankQuestion
from tiebreak.fair.bank.schema import QUESTIONS, SESSION_QUESTIONS, SESSIONS, now, open_bank


@cache
def example_questions() -> tuple[BankQuestion, ...]:
    """The questions that ship."""
    file = ROOT / "src" / "tiebreak" / "fair" / "bank" / "example" / "questions.jsonl"
    rows = map(json.loads, file.read_text(encoding="utf-8").splitlines())
    return tuple(BankQuestion(**{**row, "options": tuple(row.get("options", ()))}) for row in rows)


def make_bank(path: Path, questions: Iterable[BankQuestion] | None = None) -> Engine:
    """A bank of these questions, or of the example's, without what finds duplicates."""
    engine = open_bank(path, create=True)
    beside = {"digest": "", "signature": b"", "import_id": 0}
    rows = [
        {**asdict(question), "options": list(question.options), **beside}
        for question in (example_questions() if questions is None else questions)
    ]
    with engine.begin() as connection:
        connection.execute(insert(QUESTIONS), rows)
    return engine


def add_session(
    engine: Engine, session: str, answers: Mapping[str, str | None], **about: Any
) -> str:
    """A session of these questions, by uuid, with their answers; `about` are other columns."""
    usual = {"institution": "lab", "user": "u", "model": "m", "prompting": "zero_shot"}
    usual |= dict.fromkeys(("token", "seed", "idempotency_key"), session)
    numbers = {"k": len(answers), "answered": 0, "state": "open", "released": False}
    with engine.begin() as connection:
        row = {"id": session, "created": now(), **usual, **numbers, **about}
        connection.execute(insert(SESSIONS).values(row))
        for position, (uuid, answer) in enumerate(answers.items(), 1):
            asked = {"position": position, "uuid": uuid, "raw_uuid": uuid, "answer": answer}
            connection.execute(insert(SESSION_QUESTIONS).values(session=session, **asked))
    return session


def run(folder: Path, verb: str, *arguments: object) -> Result:
    """A verb of `bank` on the bank in a folder."""
    return tiebreak("bank", verb, "--bank", folder / "bank.db", *map(str, arguments))
