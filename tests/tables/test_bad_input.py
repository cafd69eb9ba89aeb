"""Bad input, as data: `bad_input.json` has the texts, `expected/bad_input.txt` what is said."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tiebreak.tables as tables
from tests.expected import check
from tests.tables.builders import preflib, write
from tiebreak.tables import (
    ScoreTable,
    TableError,
    UnreadableFileError,
    find_cells,
    read_ballots,
    read_human_labels,
    read_human_ranking,
    read_order,
    read_rounds,
    read_scores,
    score_ballots,
)
from tiebreak.tables.dates import read_dates
from tiebreak.tables.human import read_causes
from tiebreak.tables.matches import read_matches
from tiebreak.tables.results import read_results
from tiebreak.tables.scores import read_score_table

TEXTS = json.loads(Path(__file__).with_name("bad_input.json").read_text("utf-8"))
TEXTS["rounds.yaml"]["too deep"] *= 50_000  # some libraries raise Python's limit, but not so far
BENCHMARKS = ("mmlu", "gsm8k", "math", "humaneval", "mbpp")
TABLE = ScoreTable(("a", "b=c"), ("gsm8k", "mmlu"), np.array([[1.0, 2], [3, 4]]))

Reader = Callable[[Path], Any]
FILES: dict[str, Reader] = {
    "ballots.csv": read_ballots,
    "scores.csv": read_score_table,
    "rounds.yaml": lambda path: read_rounds(path, BENCHMARKS[:3]),
    "ranking.csv": read_human_ranking,
    "labels.csv": read_human_labels,
    "causes.csv": read_causes,
    "dates.csv": read_dates,
    **dict.fromkeys((name for name in TEXTS if name.startswith("matches.")), read_matches),
    **dict.fromkeys((name for name in TEXTS if name.startswith("x.")), read_ballots),
    **dict.fromkeys((name for name in TEXTS if name.startswith("results")), read_results),
    "stderr.csv": lambda path: read_scores(
        write(path.with_name("s.csv"), "model,gsm8k,mmlu\na,1,2\nb,3,4\n"), stderr=path
    ),
    "order.txt": lambda path: read_order(str(path), BENCHMARKS),
}
WORDS: dict[str, Callable[[str], Any]] = {
    "the order": lambda text: read_order(text, BENCHMARKS),
    "the cells": lambda text: find_cells(TABLE, text),
    "the weights": lambda text: score_ballots(TABLE, weights={"mmlu": text}),
}


READERS: dict[str, Callable[[Any], Any]] = {**FILES, **WORDS}


def test_what_is_said_of_bad_input(tmp_path: Path) -> None:
    found = []
    for kind, texts in TEXTS.items():
        for name, text in texts.items():
            given: Any = text if kind in WORDS else write(tmp_path / kind, text)
            with pytest.raises(TableError) as caught:
                READERS[kind](given)
            assert kind in WORDS or str(tmp_path / kind) in str(caught.value)
            found.append(f"{kind}, {name}: {type(caught.value).__name__}: {caught.value}\n")
    text = "".join(found).replace(f"{tmp_path}/", "")
    # What other libraries say is theirs.
    text = re.sub(r"(as Parquet|not JSON|Inspect log) \(.*\)", r"\1 (…)", text)
    check(__file__, "bad_input.txt", text)


@pytest.mark.parametrize("file", ["ballots.csv", "scores.csv", "rounds.yaml"])
@pytest.mark.parametrize("encoding", ["latin-1", "utf-16"])
def test_text_that_is_not_utf8(tmp_path: Path, file: str, encoding: str) -> None:
    path = write(tmp_path / file, "é,b\n1,2\n", encoding)
    with pytest.raises(UnreadableFileError, match=r"not text in UTF-8 \(byte 0\); save it as"):
        FILES[file](path)


TABLES = [read_human_labels, read_human_ranking, read_causes, read_dates, read_score_table]


@pytest.mark.parametrize("reader", [*TABLES, read_ballots, read_results, FILES["rounds.yaml"]])
def test_a_path_that_is_not_there(tmp_path: Path, reader: Reader) -> None:
    with pytest.raises(TableError, match=r"nothing\.csv does not exist; check the spelling"):
        reader(tmp_path / "nothing.csv")


@pytest.mark.parametrize("reader", [read_score_table, FILES["rounds.yaml"]])
def test_a_folder_where_a_file_is_wanted(tmp_path: Path, reader: Reader) -> None:
    with pytest.raises(UnreadableFileError, match="cannot be opened"):
        reader(tmp_path)


@pytest.mark.parametrize(
    ("reader", "name", "text"),
    [
        (read_results, "results_x.json", "[" * 100_000),
        (read_ballots, "x.toi", preflib(f"{'9' * 5000}: 1,2,3", voters=1)),
    ],
)
def test_what_no_parser_takes(tmp_path: Path, reader: Reader, name: str, text: str) -> None:
    with pytest.raises(TableError, match="cannot"):
        reader(write(tmp_path / name, text))


@pytest.mark.parametrize("reader", [read_ballots, read_results])
def test_nothing_given(reader: Callable[..., Any]) -> None:
    with pytest.raises(TableError, match=r"no (file|path) was given"):
        reader([])


def test_an_empty_folder(tmp_path: Path) -> None:
    with pytest.raises(TableError, match="No ranking log in"):
        read_ballots(tmp_path)
    with pytest.raises(TableError, match="no result of a finished run; give Inspect logs"):
        read_results(tmp_path)


def test_messages_hold_no_control_characters(tmp_path: Path) -> None:
    hostile = "\x1b[31m" + "x" * 500
    path = write(tmp_path / "ballots.csv", f"a,b\n1,{hostile}\n")
    with pytest.raises(TableError, match="is not a finite number") as caught:
        read_ballots(path)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < len(str(path)) + 200


def test_every_error_is_public_and_of_one_family() -> None:
    from tiebreak.tables import errors

    named = {name for name in vars(errors) if name.endswith("Error")} - {"TiebreakError"}
    assert all(issubclass(getattr(tables, name), TableError) for name in named)
