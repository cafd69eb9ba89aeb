"""Files into a bank: formats, faults by row, all or nothing, and the second time.

`expected/imports.txt` has commands, what they print, and the questions that the bank holds then.
"""

import csv
import json
import re
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sqlalchemy import func, select

from tests import expected
from tests.candidates.test_hub import hub as hub
from tests.cases import cases
from tests.cli.handed import tiebreak
from tests.fair.bank.questions import kept
from tests.publish.fake_hub import FakeHub
from tiebreak.fair.bank.question import BankQuestion
from tiebreak.fair.bank.schema import IMPORTS, QUESTIONS, open_bank

ROWS: list[dict[str, Any]] = cases(__file__, "rows")


@pytest.fixture(autouse=True)
def away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


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


def take(file: object) -> Any:
    done = tiebreak("bank", "import", str(file), "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def questions() -> dict[str, BankQuestion]:
    return kept(open_bank("bank.db"))


@pytest.mark.parametrize("suffix", ["json", "jsonl", "parquet", "csv"])
def test_every_format_gives_the_same_questions(suffix: str) -> None:
    assert take(write(Path(f"q.{suffix}"), ROWS))["n_imported"] == 3
    assert questions() == {
        row["uuid"]: BankQuestion(**{"hint": "", **row, "options": tuple(row.get("options", ()))})
        for row in ROWS
    }


@pytest.mark.parametrize("suffix", ["json", "jsonl", "parquet", "csv"])
def test_a_file_without_questions_is_named(suffix: str) -> None:
    sound, empty = write(Path("q.jsonl"), ROWS), write(Path(f"none.{suffix}"), [])
    done = tiebreak("bank", "import", str(sound), str(empty))
    assert done.exit_code == 1
    assert f"none.{suffix} has no questions" in done.output
    assert questions() == {}


@pytest.mark.parametrize(("hint", "more", "expected"), cases(__file__, "the published form"))
def test_the_published_form(hint: str, more: dict[str, Any], expected: list[str]) -> None:
    row = {**cases(__file__, "excerpt"), "hint": hint, **more}
    assert take(write(Path("q.jsonl"), [row]))["unread"] == ["gpt4res"]
    question = questions()["q"]
    assert [question.type, question.answer, question.hint] == expected
    assert question.raw_uuid == "r"
    assert question.options in ((), ("one", "two"))


def test_each_question_knows_its_import() -> None:
    for rows in (ROWS[:2], ROWS, ROWS):
        take(write(Path("q.jsonl"), rows))
    with open_bank("bank.db").connect() as connection:
        found = connection.execute(select(QUESTIONS.c.uuid, QUESTIONS.c.import_id)).all()
        assert dict(map(tuple, found)) == {"u1": 1, "u2": 1, "u3": 2}
        assert connection.execute(select(func.count()).select_from(IMPORTS)).scalar() == 2


def done_by(step: Mapping[str, Any]) -> str:
    """A command after its files were written, what it prints, and how it ends."""
    for name, content in step.get("files", {}).items():
        if isinstance(content, str):
            Path(name).write_text(content, encoding="utf-8")
        else:
            write(Path(name), content)
    done = tiebreak("bank", "import", *step["command"].split())
    return f"$ bank import {step['command']}\n{done.output}({done.exit_code})\n"


def test_what_imports_say_and_come_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = []
    for name, steps in cases(__file__, "imports").items():
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        said = "".join(map(done_by, steps))
        found = [{key: v for key, v in asdict(one).items() if v} for one in questions().values()]
        rows = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in found)
        texts.append(f"== {name}\n{said}{rows}")
    # When something was imported before.
    text = re.sub(r"\d{4}-\d\d-\d\dT[\d:.+]+", "TIME", "\n".join(texts))
    # What other libraries say is theirs.
    text = re.sub(r"(?s)(after row \d) \(.*?\)\n\(", r"\1 (…)\n(", text)
    expected.check(__file__, "imports.txt", re.sub(r"(?m) +$", "", text))


def test_a_dataset_on_the_hub(request: pytest.FixtureRequest) -> None:
    on_hub: FakeHub = request.getfixturevalue("hub")
    parquet = write(Path("q.parquet"), ROWS).read_bytes()
    on_hub.add("alice/exams").commit(
        "main", "questions", {"data/train.parquet": parquet, "README.md": b"x", "other.csv": b"a\n"}
    )
    told = take("alice/exams")
    assert told["n_imported"] == 3
    assert told["files"][0]["name"] == "hf://datasets/alice/exams/data/train.parquet"
    assert take("hf://datasets/alice/exams/data/train.parquet")["n_imported"] == 0
    done = tiebreak("bank", "import", "alice/none")
    assert (done.exit_code, "no such dataset" in done.output) == (1, True)
