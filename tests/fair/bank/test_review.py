"""Questions out as CSV, decisions in: nothing is run, lost or taken over by halves."""

import csv
import stat
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Engine, select, update

from tests.cases import cases
from tests.expected import check
from tests.fair.bank.questions import MATERIAL, choice, keep, kept
from tiebreak.fair.bank.errors import BankError
from tiebreak.fair.bank.question import BankQuestion
from tiebreak.fair.bank.review import Change, read_review, write_review
from tiebreak.fair.bank.rows import rows_of
from tiebreak.fair.bank.schema import QUESTIONS, REVIEWS, open_bank
from tiebreak.tables.delimited import safe, unsafe

Rows = list[dict[str, str]]
STATEMENT = BankQuestion(
    uuid="s1",
    raw_uuid="s",
    category="Law",
    type="true_false",
    question='=HYPERLINK("x")\nis a formula, isn\'t it?',
    answer="true",
    hint="-5",
    status="draft",
    parent="s",
    made_by="expand/true_false",
)
CHOICE = choice(status="draft", hint="", answer="B")
FILL = replace(
    STATEMENT, uuid="f1", raw_uuid="f", type="fill_in", question="1/2 is ____", answer="1/2"
)


@pytest.fixture
def engine(engine: Engine) -> Engine:
    """A bank with three drafts."""
    keep(engine, STATEMENT, CHOICE, FILL, choice("Approved before ( )", uuid="a1"))
    return engine


def rows_of_file(path: Path) -> Rows:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def save(path: Path, rows: Rows, separator: str = ",", line_end: str = "\r\n") -> Path:
    """As a spreadsheet saves a file."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=separator, lineterminator=line_end)
        writer.writeheader()
        writer.writerows(rows)
    return path


@pytest.fixture
def edit(engine: Engine, tmp_path: Path) -> Callable[..., Path]:
    """Writes the drafts out, changes rows by uuid, and saves the file."""

    def edited(**changes: dict[str, str]) -> Path:
        out = tmp_path / f"{len(list(tmp_path.iterdir()))}.csv"
        write_review(engine, out)
        rows = rows_of_file(out)
        for row in rows:
            row |= changes.get(unsafe(row["uuid"], numbers=True), {})
        return save(out, rows)

    return edited


def test_drafts_are_written_and_come_back_as_they_were(engine: Engine, tmp_path: Path) -> None:
    out = tmp_path / "drafts.csv"
    assert write_review(engine, out) == 3
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    rows = {unsafe(row["uuid"], numbers=True): row for row in rows_of_file(out)}
    assert set(rows) == {"s1", "q1", "f1"}
    assert rows["q1"]["options"] == "A. 3\nB. 5\nC. 7\nD. 9"
    assert rows["s1"]["question"].startswith("'=HYPERLINK")
    assert (rows["s1"]["answer"], rows["s1"]["hint"], rows["f1"]["answer"]) == (
        *("'true", "'-5", "'1/2"),
    )
    before = kept(engine)
    done = read_review(engine, out)
    assert (done.n_rows, done.changes, done.n_unchanged) == (3, (), 3)
    assert kept(engine) == before


def test_decisions_and_edits_are_taken_over_and_kept(
    engine: Engine, edit: Callable[..., Path]
) -> None:
    file = edit(
        s1={"status": "approved", "answer": "FALSE"},
        q1={"status": "Rejected"},
        f1={"status": "approved", "question": "0.5 as a fraction is ____"},
    )
    done = read_review(engine, file, "A. Reader")
    assert (done.n_to("approved"), done.n_to("rejected"), done.n_edited) == (2, 1, 2)
    after = kept(engine)
    assert after["s1"] == replace(STATEMENT, status="approved", answer="false")
    assert after["q1"] == replace(CHOICE, status="rejected")
    assert after["f1"].question == "0.5 as a fraction is ____"
    with engine.connect() as connection:
        [digest] = connection.execute(select(QUESTIONS.c.digest).where(QUESTIONS.c.uuid == "f1"))
        assert digest[0] == rows_of([after["f1"]])[0]["digest"]
        noted = connection.execute(select(REVIEWS)).all()
    assert {row.reviewer for row in noted} == {"A. Reader"}
    assert all(row.at > "2020" for row in noted)
    assert {Change(row.uuid, row.field, row.before, row.after) for row in noted} == {
        Change("s1", "status", "draft", "approved"),
        Change("s1", "answer", "true", "false"),
        Change("q1", "status", "draft", "rejected"),
        Change("f1", "status", "draft", "approved"),
        Change("f1", "question", "1/2 is ____", "0.5 as a fraction is ____"),
    }
    again = read_review(engine, file, "B. Reader")
    assert again.changes == ()
    with engine.connect() as connection:
        assert len(connection.execute(select(REVIEWS)).all()) == 5


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_files_of_other_spreadsheets(engine: Engine, tmp_path: Path, separator: str) -> None:
    """Another separator, order and selection of rows and columns."""
    write_review(engine, tmp_path / "drafts.csv")
    rows = rows_of_file(tmp_path / "drafts.csv")[:0:-1]
    few = [
        {"status": "approved", **{name: row[name] for name in ("digest", "uuid")}} for row in rows
    ]
    done = read_review(engine, save(tmp_path / "back.csv", few, separator))
    assert done.n_to("approved") == len(rows) == 2


def test_what_cannot_be_taken_over_is_named_and_nothing_is(
    engine: Engine, edit: Callable[..., Path], tmp_path: Path
) -> None:
    other = replace(STATEMENT, uuid="o1", raw_uuid="o", question="It is 5.", status="approved")
    long = replace(MATERIAL, uuid="l1", question="long " * 8_000, status="draft")
    keep(engine, other, long)
    files = {
        name: edit(**{"l1": {"status": "rejected"}, **changes})
        for name, changes in cases(__file__, "changes").items()
    }
    cut = {"question": long.question[:32_767], "status": "approved"}
    files["a text that a spreadsheet cut off"] = edit(l1=cut)
    for name, text in cases(__file__, "other files").items():
        files[name] = tmp_path / f"{name}.csv"
        files[name].write_text(text, encoding="utf-8")
    before = kept(engine)
    texts = []
    for name, file in files.items():
        with pytest.raises(BankError) as failed:
            read_review(engine, file)
        texts.append(f"== {name}\n{failed.value}\n".replace(str(file), "FILE"))
    assert kept(engine) == before
    check(__file__, "reviews.txt", "\n".join(texts))


def test_rows_that_changed_meanwhile(engine: Engine, edit: Callable[..., Path]) -> None:
    """In a column that the file has, and in one that it has not."""
    file = edit(q1={"status": "approved"}, s1={"status": "approved"})
    with engine.begin() as connection:
        for uuid, values in (("q1", {"hint": "New."}), ("s1", {"source": "elsewhere"})):
            connection.execute(update(QUESTIONS).where(QUESTIONS.c.uuid == uuid).values(values))
    with pytest.raises(BankError, match="2 rows") as failed:
        read_review(engine, file)
    for uuid in ("q1", "s1"):
        assert f"{uuid}: it was changed in the bank since" in str(failed.value)
    assert {one.status for one in kept(engine).values()} == {"draft", "approved"}


def test_no_file_is_overwritten(engine: Engine, tmp_path: Path) -> None:
    out = tmp_path / "drafts.csv"
    write_review(engine, out)
    with pytest.raises(BankError, match="exists, and may hold what somebody decided"):
        write_review(engine, out)
    with pytest.raises(OSError, match=r"drafts\.csv"):
        write_review(engine, tmp_path / "nowhere" / "drafts.csv")


@given(st.text(max_size=40))
def test_cells_survive_and_begin_no_formula(text: str) -> None:
    cell = safe(text, numbers=True)
    assert unsafe(cell, numbers=True) == text
    assert unsafe(safe(text)) == text
    for one in (cell, safe(text)):
        assert not one.lstrip().startswith(("=", "+", "-", "@", "＝", "＋", "－", "＠"))
        assert not one.startswith(("\t", "\r", "\n"))
    assert not cell.replace(".", "").replace("/", "").replace("-", "").isdecimal()


hard = st.text(st.sampled_from("='+-@＝\"',;\t\n\r 15tf中"), min_size=1, max_size=8)


@pytest.mark.slow
@settings(
    max_examples=30,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(texts=st.lists(hard.filter(str.strip), min_size=1, max_size=4))
def test_any_text_survives_the_round_trip(tmp_path: Path, texts: list[str]) -> None:
    engine = open_bank("sqlite://", create=True)
    own = [
        replace(MATERIAL, uuid=f"u{n}", question=text, hint=text, status="draft")
        for n, text in enumerate(texts)
    ]
    keep(engine, *own)
    before = kept(engine)
    out = tmp_path / "x.csv"
    out.unlink(missing_ok=True)
    write_review(engine, out)
    saved = save(out, rows_of_file(out), ";")
    assert read_review(engine, saved).changes == ()
    assert kept(engine) == before
    engine.dispose()
