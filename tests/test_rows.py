"""The one reader of rows: forms, damages and faults, each said with its place."""

import gzip
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tiebreak.rows import Place, rows_of

ROWS = [{"a": "1", "b": "x\u2028y"}, {"a": " 2", "b": ""}]
TABLE = gzip.compress("a,b\r\n1,x\u2028y\r\n 2,\r\n".encode(), mtime=0)
LINES = '{"a": "1", "b": "x\u2028y"}\n\n{"a": " 2", "b": ""}\n'.encode()
DAMAGED = bytearray(gzip.compress(LINES, mtime=0))
DAMAGED[-8] ^= 255


@pytest.mark.parametrize(
    ("name", "content", "places"),
    [
        ("r.jsonl", LINES, "line 1, line 3"),
        ("r.any", b"\xef\xbb\xbf" + LINES, "line 1, line 3"),
        ("r.jsonl.gz", gzip.compress(LINES, mtime=0), "line 1, line 3"),
        (
            "r.json",
            b"\xef\xbb\xbf[\n" + LINES.strip().replace(b"\n\n", b",\n") + b"]",
            "row 1, row 2",
        ),
        ("r.csv", "a,b\n1,x\u2028y\n , \n 2,\n".encode(), "line 2, line 4"),
        ("r.csv", '\ufeffa;b\n"1";"x\u2028y"\n 2;\n'.encode(), "line 2, line 3"),
        ("r.tsv", "a\tb\n1\tx\u2028y\n 2\t\n".encode(), "line 2, line 3"),
        (
            "r.csv.gz",
            gzip.compress("a,b\r\n1,x\u2028y\r\n 2,\r\n".encode(), mtime=0),
            "line 2, line 3",
        ),
    ],
)
def test_every_form_has_the_same_rows(
    tmp_path: Path, name: str, content: bytes, places: str
) -> None:
    (tmp_path / name).write_bytes(content)
    rows = list(rows_of(tmp_path / name))
    assert [row for _, row in rows] == ROWS
    assert ", ".join(str(place) for place, _ in rows) == places


def test_parquet_has_the_same_rows(tmp_path: Path) -> None:
    pq.write_table(pa.Table.from_pylist(ROWS), tmp_path / "r.parquet")
    assert list(rows_of(tmp_path / "r.parquet")) == [
        (Place("row", number), row) for number, row in enumerate(ROWS, start=1)
    ]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (
            "r.jsonl",
            b'{"a": 1}\n{"a":',
            "line 2: it is not JSON; .* cut off .EOF .* at column",
        ),
        ("r.jsonl", b"\xff\xfe{\0}\0\n", "line 1: it is not JSON"),
        ("r.jsonl", b'{"a": ' + b"[" * 300_000, "line 1: it is not JSON.*recursion"),
        ("r.jsonl", b'{"a": ' + b"9" * 5_000 + b"}", "line 1: it is not JSON.*out of range"),
        ("r.json", b"[1", "is not JSON; the file may be cut off"),
        ("r.jsonl", b" " * 10_000, "line 1 is longer than 10,000 bytes"),
        ("r.jsonl.gz", gzip.compress(b" " * 10_000, mtime=0), "line 1 is longer than 10,000 bytes"),
        ("r.jsonl.gz", b"x", "is a damaged gzip file"),
        ("r.jsonl.gz", bytes(DAMAGED), r"is a damaged gzip file \(CRC"),
        ("r.csv", b"a,b\n1,2,3\n", "line 2: 3 cells under 2 column names; a cell that holds"),
        ("r.csv", b'a,b\n"1,2\n', "line 2 is not CSV .unexpected end of data.: a cell in quotes"),
        ("r.csv", b"a,a\n1,2\n", "two columns are named 'a'; rename one"),
        ("r.csv", b"a\n\xe9\n", "is not text in UTF-8"),
        ("r.csv", b'a,b\n"1\n2",3\n4\n', "line 4: 1 cells under 2"),
        ("r.parquet", b"PAR1", "cannot be read as Parquet"),
        ("no/r.csv", None, "does not exist"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(
    tmp_path: Path,
    name: str,
    content: bytes | None,
    message: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if content and len(content) < 20_000:
        monkeypatch.setattr("tiebreak.rows._LONGEST_LINE", 10_000)
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=message):
        list(rows_of(tmp_path / name))


@pytest.mark.parametrize(
    ("name", "content"),
    [("r.jsonl", '{"a": "1"}\n{"a"\n{"a": "2"}\n{\n'), ("r.csv", "a\n1\n1,2\n2\n,\n3,4\n")],
)
def test_rows_after_a_fault_are_read(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content)
    faults: list[Place] = []
    rows = list(rows_of(tmp_path / name, lambda place, message: faults.append(place)))
    assert [row for _, row in rows] == [{"a": "1"}, {"a": "2"}]
    assert len(faults) == 2


def test_half_of_a_pair_of_surrogates_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_text(r'{"a": "\ud83e\udd86 \ud83e"}')
    [(_, row)] = rows_of(tmp_path / "r.jsonl")
    assert row == {"a": "🦆 \ufffd"}
