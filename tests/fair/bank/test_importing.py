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

from tests.candidates.test_hub import hub as hub
from tests.publish.fake_hub import FakeHub
from tiebreak.cli.verbs import main
from tiebreak.fair.bank.question import BankQuestion
from tiebreak.fair.bank.rows import questions_in
from tiebreak.fair.bank.schema import IMPORTS, QUESTIONS, open_bank

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
    return json.loads(done.stdout)


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
    said = " ".join(again.output.split())
    assert "Nothing new" in said
    assert "was imported before" in said
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


EXCERPT = {
    "category": "Engineering",
    "sub_category": "Computer Science",
    "raw_uuid": "r",
    "question_uuid": "q",
    "dialog": [{"role": "user", "content": "Judge: a loop ends at its first break."}],
    "hint": "true",
}
WRITE_DOWN = "Write down what ____ means."
TURN = {"role": "user", "content": WRITE_DOWN}


@pytest.mark.parametrize(
    ("hint", "more", "expected"),
    [
        ("false", {}, ("true_false", "false", "")),
        ("False. It ends at any.", {}, ("true_false", "false", "It ends at any.")),
        ("正确。因为如此", {}, ("true_false", "true", "因为如此")),
        ("错误，因为如此", {}, ("true_false", "false", "因为如此")),
        ("对", {}, ("true_false", "true", "")),
        ("entropy", {"dialog": [TURN]}, ("fill_in", "entropy", "")),
        ("false positives", {"dialog": [TURN]}, ("fill_in", "false positives", "")),
        ("对于大多数人如此", {}, ("short_answer", "对于大多数人如此", "")),
        ("b", {"options": ["A. one", "B. two"]}, ("multiple_choice", "B", "")),
        ("two", {"options": {"A": "one", "B": "two"}}, ("multiple_choice", "B", "")),
        ("so", {"answer": 1, "options": ["one", "two"]}, ("multiple_choice", "B", "so")),
        ("", {"answer": True, "type": "判断题"}, ("true_false", "true", "")),
    ],
)
def test_the_published_form(
    hint: str, more: dict[str, Any], expected: tuple[str, str, str], tmp_path: Path
) -> None:
    row = {**EXCERPT, "hint": hint, **more, "gpt4res": "Answer: true."}
    told = take(tmp_path, write(tmp_path / "q.jsonl", [row]))
    assert told["unread"] == ["gpt4res"]
    question = kept(tmp_path)["q"]
    assert (question.type, question.answer, question.hint) == expected
    assert question.raw_uuid == "r"
    assert question.options in ((), ("one", "two"))


def test_a_fault_and_nothing_is_imported(tmp_path: Path) -> None:
    rows = [*ROWS, {**ROWS[0], "uuid": "u4", "answer": "D"}, {**ROWS[1], "question": "Other."}]
    file = write(tmp_path / "q.jsonl", rows)
    with file.open("a", encoding="utf-8") as lines:
        lines.write("\n{\n[1]\n" + json.dumps({"question": ["x"]}) + "\n")
    told = take(tmp_path, file, code=1)
    assert (told["refused"], told["n_imported"]) == (True, 0)
    assert kept(tmp_path) == {}
    found = {remark["where"].split(":")[-1]: remark["what"] for remark in told["faults"]["shown"]}
    assert found["4"] == "the key 'D' is no letter from A to C"
    assert "u2 a second time, after" in found["5"]
    assert "it is not JSON" in found["7"]
    assert found["8"] == "is no object with fields"
    assert found["9"] == "question is a list, not a text" or "dialog" in found["9"]
    told = take(tmp_path, file, "--skip-faulty", "--show", 2)
    assert (told["n_imported"], told["faults"]["total"]) == (3, 5)
    assert len(told["faults"]["shown"]) == 2


def test_one_faulty_file_keeps_the_others_out(tmp_path: Path) -> None:
    good = write(tmp_path / "good.jsonl", ROWS)
    bad = write(tmp_path / "bad.csv", [{**ROWS[2], "uuid": "u9", "date": "1.4.25"}])
    assert take(tmp_path, good, bad, code=1)["n_imported"] == 0
    assert kept(tmp_path) == {}
    assert take(tmp_path, good)["n_imported"] == 3


def test_another_question_with_an_id_of_the_bank(tmp_path: Path) -> None:
    take(tmp_path, write(tmp_path / "a.jsonl", ROWS))
    told = take(tmp_path, write(tmp_path / "b.jsonl", [{**ROWS[0], "hint": "So."}]), code=1)
    [fault] = told["faults"]["shown"]
    assert "u1 is in the bank already, with another hint" in fault["what"]


def test_duplicates_are_left_out(tmp_path: Path) -> None:
    turned = {**ROWS[0], "uuid": "u7", "options": ROWS[0]["options"][::-1]}
    without = {name: value for name, value in ROWS[2].items() if "uuid" not in name}
    told = take(tmp_path, write(tmp_path / "q.jsonl", [ROWS[0], turned, without, without]))
    assert (told["n_imported"], told["duplicates"]["total"]) == (2, 2)
    [first, _] = told["duplicates"]["shown"]
    assert first["what"].endswith("q.jsonl:1")
    wrong = {**ROWS[0], "uuid": "u8", "answer": "A"}
    told = take(tmp_path, write(tmp_path / "r.jsonl", [wrong]))
    assert told["duplicates"]["shown"][0]["what"] == "the same as u1 in the bank, with another key"


@pytest.mark.parametrize(
    ("mode", "statuses"),
    [("draft", ["approved", "draft"]), ("keep", ["approved", "approved"]), ("skip", ["approved"])],
)
@pytest.mark.parametrize("later", [False, True])
def test_near_duplicates(mode: str, statuses: list[str], later: bool, tmp_path: Path) -> None:
    """In one file, or against what is in the bank."""
    first = ROWS[2]
    text = first["question"].replace("follows", "always follows")
    near = {**first, "uuid": "u5", "raw_uuid": "r5", "question": text}
    files = [[first], [near]] if later else [[first, near]]
    for number, rows in enumerate(files):
        told = take(tmp_path, write(tmp_path / f"{number}.jsonl", rows), "--near", mode)
    assert told["near"]["total"] == 1
    assert "nearly the same as" in told["near"]["shown"][0]["what"]
    assert [question.status for question in kept(tmp_path).values()] == statuses


def test_a_file_that_breaks_off_is_named(tmp_path: Path) -> None:
    for name, text in (("q.json", '[{"a": 1}, {'), ("r.json", "7"), ("s.parquet", "x")):
        (tmp_path / name).write_text(text, encoding="utf-8")
        done = run("import", tmp_path / name, "--bank", tmp_path / "bank.db")
        assert done.exit_code == 1
        assert name in done.output
    assert "is no file" in run("import", tmp_path / "z.json", "--bank", tmp_path / "b.db").output
    assert kept(tmp_path) == {}


def test_a_dataset_on_the_hub(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    on_hub: FakeHub = request.getfixturevalue("hub")
    parquet = write(tmp_path / "q.parquet", ROWS).read_bytes()
    on_hub.add("alice/exams").commit(
        "main", "questions", {"data/train.parquet": parquet, "README.md": b"x", "other.csv": b"a\n"}
    )
    told = take(tmp_path, "alice/exams")
    assert told["n_imported"] == 3
    assert told["files"][0]["name"] == "hf://datasets/alice/exams/data/train.parquet"
    told = take(tmp_path, "hf://datasets/alice/exams/data/train.parquet")
    assert told["n_imported"] == 0
    done = run("import", "alice/none", "--bank", tmp_path / "bank.db")
    assert done.exit_code == 1
    assert "no such dataset" in done.output


GSM8K = [
    {"question": "Ann has 3 pens and gets 4. How many?", "answer": "3 + 4 = 7 pens.\n#### 7"},
    {"question": "Is 2 more than 1? Count.", "answer": "Yes, 2 > 1: it is by\n#### 1,000"},
]


def test_a_file_of_gsm8k_as_it_is(tmp_path: Path) -> None:
    file = write(tmp_path / "test.jsonl", GSM8K)
    told = take(tmp_path, file)
    assert (told["n_imported"], told["files"][0]["without_category"]) == (2, 2)
    found = {question.answer: question for question in kept(tmp_path).values()}
    assert found.keys() == {"7", "1,000"}
    assert (found["7"].hint, found["7"].category) == ("3 + 4 = 7 pens.", "test")
    assert {question.type for question in found.values()} == {"short_answer"}
    again = write(tmp_path / "more.jsonl", [{**GSM8K[0], "question": "And 3 and 4?"}])
    shown = " ".join(run("import", again, "--bank", tmp_path / "bank.db").output.split())
    assert "1 row has no field for a category, and the file's name for one, 'more'" in shown


OTHER_NAMES = {"topic": "Tides", "task": "A spring tide follows a new or a ____ moon.", "x": 1}


@pytest.mark.parametrize(
    ("row", "options"),
    [
        (OTHER_NAMES | {"key": "full"}, ["--map", "topic=category,task=question"]),
        (OTHER_NAMES | {"key": "full"}, ["--map", "topic=category", "--map", "task=question"]),
        # What is said replaces what the file has.
        (
            OTHER_NAMES | {"Category": "Sea", "answer": "no", "fill": "full"},
            ["--map", "task=question,fill=answer", "--set", "category=Tides"],
        ),
    ],
)
def test_fields_under_other_names(tmp_path: Path, row: dict[str, Any], options: list[str]) -> None:
    take(tmp_path, write(tmp_path / "q.jsonl", [row]), *options, "--set", "type=fill_in")
    [question] = kept(tmp_path).values()
    assert (question.category, question.answer, question.type) == ("Tides", "full", "fill_in")
    assert question.question == OTHER_NAMES["task"]


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--map", "topics=category"], "no row has 'topics'; they have answer, question"),
        (["--map", "topic=subject"], "'subject' is no field of a question; they are uuid, raw"),
        (["--set", "tpye=term"], "'tpye' is no field of a question"),
        (["--set", "type"], "'type' is not of the form FIELD=VALUE"),
    ],
)
def test_fields_that_are_not_there(tmp_path: Path, options: list[str], problem: str) -> None:
    done = run("import", write(tmp_path / "q.jsonl", GSM8K), "--bank", tmp_path / "b.db", *options)
    assert done.exit_code > 0
    assert problem in done.stderr


def test_an_empty_category_is_a_fault(tmp_path: Path) -> None:
    rows = [{**GSM8K[0], "category": ""}, {**GSM8K[1], "category": "math"}]
    told = take(tmp_path, write(tmp_path / "q.jsonl", rows), code=1)
    assert told["faults"]["shown"] == [
        {"where": f"{tmp_path}/q.jsonl:1", "what": "there is no category"}
    ]
    assert not told["n_imported"]
