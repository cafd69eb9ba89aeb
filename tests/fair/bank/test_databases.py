"""What is done to a bank gives the same in SQLite and in PostgreSQL, row by row."""

import csv
import json
import re
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from sqlalchemy import Engine, select, text
from sqlalchemy.exc import DBAPIError

from tests.fair.bank.builders import example_questions
from tests.fair.bank.postgres import Cluster
from tests.fair.bank.questions import choice, keep, kept
from tiebreak.cli.verbs import main
from tiebreak.fair.bank.sampling import draw, entries
from tiebreak.fair.bank.schema import IMPORTS, QUESTIONS, REVIEWS, open_bank, shown

TIME = re.compile(r"\d{4}-\d\d-\d\dT[\d:.+]+")


def run(bank: str, verb: str, *arguments: object, code: int = 0) -> str:
    done = CliRunner().invoke(main, ["bank", verb, "--bank", bank, *map(str, arguments)])
    assert done.exit_code == code, done.output
    return done.output


def everything(engine: Engine) -> dict[str, list[tuple[Any, ...]]]:
    """All rows of the tables of questions, but for times and numbers of rows."""
    left_out = {"id", "at"}
    found = {}
    with engine.connect() as connection:
        for table in (QUESTIONS, IMPORTS, REVIEWS):
            columns = [column for column in table.c if column.name not in left_out]
            rows = connection.execute(select(*columns))
            found[table.name] = sorted((tuple(row) for row in rows), key=repr)
    return found


def save(path: Path, rows: list[dict[str, str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def work(bank: str) -> tuple[dict[str, list[tuple[Any, ...]]], list[str]]:
    """A bank's life: questions in, twice, expanded, reviewed, drawn from; what is there then."""
    rows = [asdict(question) for question in example_questions()[::3]]
    hard = {"question": "“Zürich” 🏔 \\ ' % :x ?", "hint": "'\""}
    odd = {**rows[0], "uuid": "odd", "raw_uuid": "odd", **hard}
    near = {**rows[1], "uuid": "near", "raw_uuid": "near", "question": rows[1]["question"] + "s"}
    lines = (json.dumps(row) + "\n" for row in (*rows, odd, near))
    Path("questions.jsonl").write_text("".join(lines), encoding="utf-8")
    said = [run(bank, "import", "questions.jsonl", "--json") for _ in range(2)]
    said += [run(bank, "expand", "--to", "true_false", "--json") for _ in range(2)]
    said.append(run(bank, "expand", "--to", "fill_in", "--approve", "--json"))
    said.append(run(bank, "review", "--out", "drafts.csv"))
    with Path("drafts.csv").open(encoding="utf-8-sig", newline="") as file:
        reviewed = list(csv.DictReader(file))
    for number, row in enumerate(reviewed):
        row["status"] = ("approved", "rejected", "draft")[number % 3]
        row["hint"] += " Read." if number % 5 == 0 else ""
    save(Path("drafts.csv"), reviewed)
    said.append(run(bank, "review", "--in", "drafts.csv", "--reviewer", "A. Reader"))
    save(Path("drafts.csv"), [{**row, "status": "draft"} for row in reviewed])
    said.append(run(bank, "review", "--in", "drafts.csv", code=1))
    Path("drafts.csv").unlink()
    engine = open_bank(bank)
    said += draw(entries(engine), 40, "a seed", balanced=True)
    found = everything(engine)
    engine.dispose()
    # Its address and when it was imported are a bank's own.
    return found, [TIME.sub("", line.replace(shown(bank), "BANK")) for line in said]


@pytest.mark.slow
def test_the_same_in_both(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    cluster.empty()
    lite, post = work("bank.db"), work(cluster.url)
    assert len(lite[0]["questions"]) > 200
    assert lite[0] == post[0]
    assert lite[1] == post[1]


def test_letters_of_all_scripts_and_nothing_but_text(engine: Engine, bank_url: str) -> None:
    """No text of a question is SQL, and no collation of a database changes what is kept."""
    hostile = "'; DROP TABLE questions; -- %s :x {0} \\"
    own = [
        choice(f"{name} ( )", uuid=name, category=hostile) for name in ("ä", "a", "Z", "中", "_")
    ]
    keep(engine, *own)
    assert kept(engine) == {one.uuid: one for one in own}
    expanded = json.loads(run(bank_url, "expand", "--to", "true_false", "--json"))
    assert expanded["n_questions"] == 5
    assert set(expanded["refused"][0]) == {"where", "what"}


def test_no_row_of_the_access_log_can_be_changed(cluster: Cluster) -> None:
    """PostgreSQL's part of it; the tests empty the bank as a replica, whom triggers do not stop."""
    engine = open_bank(cluster.url)
    for statement in ("TRUNCATE access_log", "TRUNCATE access_log CASCADE"):
        with pytest.raises(DBAPIError, match="only grow"), engine.begin() as connection:
            connection.execute(text(statement))
    engine.dispose()
