"""Banks for tests."""

import json
from collections.abc import Iterable
from dataclasses import asdict
from functools import cache
from pathlib import Path

from sqlalchemy import Engine, insert

from tests.harness import ROOT
from tiebreak.fair.bank.question import BankQuestion
from tiebreak.fair.bank.schema import QUESTIONS, open_bank


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
