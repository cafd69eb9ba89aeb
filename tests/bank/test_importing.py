"""Files into a bank: formats, faults by row, all or nothing, and the second time."""

import csv
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result
from sqlalchemy import func, select

from tiebreak.bank.question import BankQuestion
from tiebreak.bank.rows import questions_in
from tiebreak.bank.schema import IMPORTS, QUESTIONS, open_bank
from tiebreak.cli import main

ROWS: list[dict[str, Any]] = [
    {
        "uuid": "u1",
        "raw_uuid": "r1",
        "category": "Botany",
        "type": "multiple_choice",
        "question": "Which part of a moss takes up most of its water?",
        "answer": "B",
        "options": ["the rhizoids", "the leaflets", "the seta"],
        "source": "own",
        "date": "2025-04",
    },
    {
        "uuid": "u2",
        "raw_uuid": "r2",
        "category": "Botany",
        "type": "true_false",
        "question": "判断下列说法是否正确：苔藓没有真正的根。",
        "answer": "true",
        "hint": "它们只有假根。",
        "source": "own",
        "date": "2025",
    },
    {
        "uuid": "u3",
        "raw_uuid": "r3",
        "category": "Tides",
        "type": "fill_in",
        "question": "A spring tide follows a new or a ____ moon.",
        "answer": "full",
        "source": "own",
        "date": "2025-04-01",
    },
]


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    if path.suffix == ".json":
        path.write_text(json.dumps(rows, ensure_ascii=False), encoding="utf-8")
    elif path.suffix == ".jsonl":
        lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        path.write_text("".join(lines), encoding="utf-8")
    elif path.suffix == ".parquet":
        names = list({name: 0 for row in rows for name in row})
        table = pa.Table.from_pylist([{name: row.get(name) for name in names} for row in rows])
        pq.write_table(table, path)
    else:
        with path.open("w", encoding="utf-8-sig", newline="") as file:
            writer = csv.DictWriter(file, list({name: 0 for row in rows for name in row}))
            writer.writeheader()
            for row in rows:
                cells = {key: json.dumps(value) for key, value in row.items() if key == "options"}
                writer.writerow({**row, **cells})
    return path


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["bank", *map(str, arguments)])


def take(folder: Path, *files: object, code: int = 0) -> Any:
    done = run("import", *files, "--bank", folder / "bank.db", "--json")
    assert done.exit_code == code, done.output
    return json.loads(done.output)


def kept(folder: Path) -> dict[str, BankQuestion]:
    with open_bank(folder / "bank.db").connect() as connection:
        return {question.uuid: question for question in questions_in(connection)}


def expected(row: Mapping[str, Any]) -> BankQuestion:
    values = {"hint": "", **row, "options": tuple(row.get("options", ()))}
    return BankQuestion(**values)


@pytest.mark.parametrize("suffix", ["json", "jsonl", "parquet", "csv"])
def test_every_format_gives_the_same_questions(suffix: str, tmp_path: Path) -> None:
    told = take(tmp_path, write(tmp_path / f"q.{suffix}", ROWS))
    assert told["n_imported"] == 3
    assert kept(tmp_path) == {row["uuid"]: expected(row) for row in ROWS}


def test_a_second_import_changes_nothing(tmp_path: Path) -> None:
    file = write(tmp_path / "q.jsonl", ROWS)
    take(tmp_path, file)
    before = kept(tmp_path)
    again = run("import", file, "--bank", tmp_path / "bank.db")
    assert again.exit_code == 0
    assert "Nothing new" in again.output
    assert "was imported before" in again.output
    assert kept(tmp_path) == before
    with open_bank(tmp_path / "bank.db").connect() as connection:
        assert connection.execute(select(func.count()).select_from(IMPORTS)).scalar() == 1


def test_a_file_that_has_grown_brings_what_is_new(tmp_path: Path) -> None:
    take(tmp_path, write(tmp_path / "q.jsonl", ROWS[:2]))
    told = take(tmp_path, write(tmp_path / "q.jsonl", ROWS))
    assert (told["files"][0]["known"], told["n_imported"]) == (2, 1)
    with open_bank(tmp_path / "bank.db").connect() as connection:
        found = connection.execute(select(QUESTIONS.c.uuid, QUESTIONS.c.import_id)).all()
    assert dict(tuple(row) for row in found) == {"u1": 1, "u2": 1, "u3": 2}
