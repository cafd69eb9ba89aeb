"""Files of matches: every form of the same matches is one table; what is faulty is named."""

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import cases
from tests.tables.builders import write
from tiebreak.tables import TableError, read_human_labels
from tiebreak.tables.matches import MatchTable, read_matches

Rows = Sequence[Mapping[str, Any]]

ROWS = cases(__file__, "rows")


def as_csv(rows: Rows) -> bytes:
    text = io.StringIO()
    writer = csv.DictWriter(text, [*rows[0]])
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def as_parquet(rows: Rows) -> bytes:
    sink = io.BytesIO()
    conversations = [[{"role": "user", "content": "Why?"}]] * len(rows)
    table = pa.Table.from_pylist([*map(dict, rows)]).append_column(
        "conversation_a", pa.array(conversations)
    )
    pq.write_table(table, sink, row_group_size=2)
    return sink.getvalue()


FORMS: Mapping[str, Callable[[Rows], bytes]] = {
    "m.csv": as_csv,
    "m.tsv": lambda rows: as_csv(rows).replace(b",", b"\t"),
    "m.jsonl": lambda rows: "\n\n".join(map(json.dumps, rows)).encode(),
    "m.json": lambda rows: b"\xef\xbb\xbf" + json.dumps(rows, indent=1).encode(),
    "lines.json": lambda rows: "\n".join(map(json.dumps, rows)).encode(),
    "m.parquet": as_parquet,
}


def written(folder: Path, form: str, rows: Rows = ROWS) -> Path:
    path = folder / form
    path.write_bytes(FORMS[form](rows))
    return path


def table_of(folder: Path, text: str, name: str = "m.csv") -> MatchTable:
    return read_matches(write(folder / name, text))


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_one_table(tmp_path: Path, form: str) -> None:
    table = read_matches(written(tmp_path, form))
    assert table.models == ("b", "c", "x/a")
    assert table.first.tolist() == [2, 0, 1, 1, 1]
    assert table.second.tolist() == [0, 1, 2, 0, 0]
    assert table.result.tolist() == [1, 0.5, 0, 0, 0.5]
    assert table.item is not None
    assert table.item.tolist() == [0, 0, 1, 1, 1]
    # Two whose rater is not named may be two.
    assert table.rater is not None
    assert [np.flatnonzero(table.rater == rater).tolist() for rater in table.rater] == [
        *([0, 2], [1], [0, 2], [3], [4]),
    ]
    assert not table.shown.any()
    assert "1 of 2 ties say that both are bad" in table.notes[-1]
    labels = read_human_labels(written(tmp_path, form, ROWS[:4])).labels
    assert [(label.item_id, label.models, label.value, label.rater) for label in labels] == [
        ("7", ("x/a", "b"), 2, "ann"),
        ("7", ("b", "c"), 1, "ben"),
        ("9", ("c", "x/a"), 0, "ann"),
        ("9", ("c", "b"), 0, ""),
    ]


@pytest.mark.parametrize("form", FORMS)
def test_a_column_for_each_winner(tmp_path: Path, form: str) -> None:
    marks = [(1, 0, 0), (0, 1, 0), (0, 0, 1), (0.0, 1.0, 0.0)]
    names = ("winner_model_a", "winner_model_b", "winner_tie")
    rows: Rows = [
        {"id": k, "question_id": k, "model_a": "x", "model_b": "y"}
        | dict(zip(names, mark, strict=True))
        for k, mark in enumerate(marks)
    ]
    path = written(tmp_path, form, rows)
    table = read_matches(path)
    assert table.result.tolist() == [1, 0, 0.5, 0]
    assert "winner_" not in table.notes[0].partition(".")[2]
    assert [label.value for label in read_human_labels(path).labels] == [2, 0, 1, 0]


def test_a_file_of_stars_is_told_where_it_goes(tmp_path: Path) -> None:
    with pytest.raises(TableError, match=r"m\.csv holds stars.*calibrate.*--human.*--people"):
        table_of(tmp_path, "item_id,model,stars\nq1,x,3\n")


@pytest.mark.parametrize(
    ("winner", "result"),
    [("a", 1), ("B", 0), ("model_b", 0), ("Tie", 0.5), ("draw", 0.5), ("both_bad", 0.5), ("y", 0)],
)
def test_winners(tmp_path: Path, winner: str, result: float) -> None:
    table = table_of(tmp_path, f"model_a,model_b,winner\nx,y,{winner}\n")
    assert table.result.tolist() == [result]
    assert (table.item, table.rater) == (None, None)


def test_the_plain_name_of_a_column_goes_first(tmp_path: Path) -> None:
    text = "model_a,model_b,winner,judge,rater,question,question_id\nx,y,a,j,r,Why?,7\n"
    assert "columns not read: 'judge', 'question'" in table_of(tmp_path, text).notes[0]
    [label] = read_human_labels(tmp_path / "m.csv").labels
    assert (label.item_id, label.rater) == ("7", "r")


def test_who_was_shown_first(tmp_path: Path) -> None:
    text = "model_a,model_b,winner,first\nx,y,a,a\nx,y,a,y\nx,y,a,\nx,y,a,model_b\n"
    assert table_of(tmp_path, text).shown.tolist() == [1, -1, 0, -1]


def test_alpaca_eval(tmp_path: Path) -> None:
    common: dict[str, Any] = {
        **{"output_1": "…", "generator_1": "gpt4_1106_preview"},
        **{"output_2": "…", "generator_2": "mine", "annotator": "weighted_alpaca_eval_gpt4_turbo"},
    }
    rows = [
        common | {"instruction": f"Question {item}", "preference": preference}
        for item, preference in enumerate([1, 2.0, 1.25, 0.0, None, 1.5])
    ]
    path = write(tmp_path / "annotations.json", json.dumps(rows))
    table = read_matches(path)
    assert table.result.tolist() == [1, 0, 0.75, 0.5, 0.5]
    assert table.models[table.first[0]] == "gpt4_1106_preview"
    assert table.item is not None
    assert len(np.unique(table.item)) == 5
    assert "no winner in row 5" in "".join(table.notes)
    assert [label.value for label in read_human_labels(path).labels] == [2, 0, 2, 1, 1]


@pytest.mark.parametrize("newer", [True, False])
def test_arena_hard(tmp_path: Path, newer: bool) -> None:
    item, baseline = ("uid", "o3-mini") if newer else ("question_id", "baseline")
    row = {"model": "mine", "judge": "gpt-4.1"} | ({"baseline": baseline} if newer else {})
    games = [{"score": score, "judgment": "[[…]]"} for score in ("A>>B", "B>A")]
    rows: list[dict[str, Any]] = [
        row | {item: "q1", "games": games},
        row | {item: "q2", "games": [{"score": "A=B"}, None]},
    ]
    table = table_of(tmp_path, "\n".join(map(json.dumps, rows)), "mine.jsonl")
    names = [table.models[a] + " " + table.models[b] for a, b in zip(table.first, table.second)]  # noqa: B905
    assert names == [f"{baseline} mine", f"mine {baseline}", f"{baseline} mine"]
    assert table.result.tolist() == [1, 0, 0.5]
    assert table.shown.tolist() == [1, 1, 1]
    assert table.item is not None
    assert table.item.tolist() == [0, 0, 1]
    assert "no winner in line 2" in "".join(table.notes)


FAULTY = cases(__file__, "faulty rows")


@pytest.mark.parametrize(("row", "message"), FAULTY.items(), ids=FAULTY)
def test_faulty_rows_are_named_or_left_out(tmp_path: Path, row: str, message: str) -> None:
    path = write(tmp_path / "m.csv", f"model_a,model_b,winner,first\nx,y,a,a\n{row}\nx,y,b,b\n")
    with pytest.raises(TableError) as error:
        read_matches(path)
    assert f"{path}, {message}" in str(error.value)
    table = read_matches(path, skip_faulty=True)
    assert table.result.tolist() == [1, 0]
    assert "1 faulty row left out: line 3 (" in table.notes[-1]


def test_many_faulty_rows_are_counted(tmp_path: Path) -> None:
    lines = ["{}", "no", "[1]", json.dumps(dict(ROWS[0])), '{"model_a": "x", "model_b": "x"}']
    path = write(tmp_path / "m.jsonl", "\n".join(lines))
    table = read_matches(path, skip_faulty=True)
    assert len(table.result) == 1
    assert "faulty rows left out: such as line 1 (" in table.notes[-1]
    assert "line 2 (it is not JSON" in table.notes[-1]


WINNERS = st.sampled_from(["model_a", "model_b", "tie", "tie (bothbad)", ""])
MODELS = st.lists(st.sampled_from("pqrs"), min_size=2, max_size=2, unique=True)


@given(st.lists(st.tuples(MODELS, WINNERS), min_size=1, max_size=30))
def test_forms_agree(
    tmp_path_factory: pytest.TempPathFactory, matches: list[tuple[list[str], str]]
) -> None:
    rows = [{"model_a": a, "model_b": b, "winner": winner} for (a, b), winner in matches]
    folder = tmp_path_factory.mktemp("forms")
    if not any(row["winner"] for row in rows):
        return
    tables = [read_matches(written(folder, form, rows)) for form in FORMS]
    for table in tables[1:]:
        assert table.models == tables[0].models
        for field in ("first", "second", "result"):
            np.testing.assert_array_equal(getattr(table, field), getattr(tables[0], field))
