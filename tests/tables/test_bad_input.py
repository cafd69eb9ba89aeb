"""Bad input, as data: the file, the error, and the words that help the reader of it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import tiebreak.tables as tables
from tests.tables.builders import write
from tiebreak.tables import TableError, UnreadableFileError, read_ballots, read_rounds
from tiebreak.tables.results import read_results
from tiebreak.tables.scores import read_score_table


class Case(NamedTuple):
    """A file's text and what must come of it; `words` are all in the message."""

    text: str
    words: tuple[str, ...]
    error: type[TableError] = TableError


BALLOTS = {
    "empty": Case("", ("holds no row",)),
    "header alone": Case("a,b\n", ("holds no row",)),
    "nothing ranked": Case("a,b\n-,\n", ("no ballot ranks any candidate",)),
    "no number": Case("a,b\n1,2\n1,x\n", ("line 3", "'b'", "'x' is not a finite")),
    "infinite": Case("a,b\n1,inf\n", ("line 2", "'inf' is not a finite number")),
    "too large": Case("a,b\n1,1e999\n", ("line 2", "'1e999' is not a finite number")),
    "underscore": Case("a,b\n1,1_0\n", ("'1_0' is not a finite number",)),
    "other digits": Case("a,b\n1,٣\n", ("'٣' is not a finite number",)),
    "comma in quotes": Case('a,b\n1,"1,5"\n', ("'1,5' is not a finite number",)),
    "two marks": Case("a;b\n1;1.000,5\n", ("'1.000,5' is not a finite number",)),
    "negative": Case("a,b\n1,-1\n", ("line 2", "-1 is below 0", "leave the cell empty")),
    "short row": Case("a,b\n1,2\n\n1\n", ("line 4", "1 cells under 2")),
    "long row": Case("a,b\n1,2,3\n", ("line 2", "3 cells under 2", "in quotes")),
    "no name": Case("a,,b\n1,2,3\n", ("column 2 has no name",)),
    "index column": Case(",a,b\n0,1,2\n", ("column 1 has no name",)),
    "name twice": Case("a,b,a\n1,2,3\n", ("two columns are named 'a'",)),
    "open quote": Case('a,b\n1,"2\n', ("line 2", "must end with a quote"), UnreadableFileError),
    "text after a quote": Case(
        'a,b\n1,"2"x\n', ("line 2", "must end with a quote"), UnreadableFileError
    ),
    "only labels": Case("item,reviewer\nq,r\n", ("no column for a candidate",)),
    "two reviewers": Case("ballot,Reviewer,a\n1,2,3\n", ("'ballot' and 'Reviewer'",)),
    "no reviewer": Case("candidate,rank\na,1\n", ("no column 'reviewer'",)),
    "no rank": Case("reviewer,candidate\nx,a\n", ("no column 'rank'",)),
    "no candidate": Case("reviewer,rank\nx,1\n", ("no column 'candidate'",)),
    "unknown column": Case(
        "reviewer,candidate,rank,sc\nx,a,1,2\n", ("unknown column 'sc'", "reserved")
    ),
    "no label": Case("reviewer,a\nx,1\n,2\n", ("line 3", "'reviewer' is empty")),
    "no item": Case("item,a\n,1\n", ("line 2", "'item' is empty")),
    "no candidate's name": Case(
        "reviewer,candidate,rank\nx,,1\n", ("line 2", "'candidate' is empty")
    ),
    "ranked twice": Case(
        "reviewer,candidate,rank\nx,a,1\nx,b,2\nx,a,\n",
        ("line 4", "'x' ranks 'a' a second time, after line 2", "keep one"),
    ),
    "ranked twice on an item": Case(
        "item,reviewer,candidate,rank\nq,x,a,1\np,x,a,2\nq,x,a,1\n",
        ("line 4", "on item 'q'", "after line 2"),
    ),
    "voted twice": Case(
        "reviewer,a,b\nx,1,2\nx,2,1\n", ("line 3", "'x' votes a second time, after line 2")
    ),
    "voted twice on an item": Case(
        "item,reviewer,a\nq,x,1\np,x,1\nq,x,1\n", ("line 4", "votes on item 'q' a second time")
    ),
    "never ranked": Case("a,b,c\n1,,\n2,,\n", ("no ballot ranks 'b', 'c'", "--drop-unranked")),
}
SCORES = {
    "empty": Case("", ("holds no row",)),
    "header alone": Case("model,a\n", ("holds no row",)),
    "no score": Case("model,a\nm,\n", ("there is no score",)),
    "no model column": Case("name,a\nm,1\n", ("'name'", "must be named 'model'")),
    "no benchmark": Case("model\nm\n", ("no column after 'model'",)),
    "ranks": Case("model,Rank\nm,1\n", ("'Rank' beside 'model' is no score", "candidate and rank")),
    "benchmark twice": Case("model,a,a\nm,1,2\n", ("two columns are named 'a'",)),
    "no number": Case("model,a\nm,1\nn,good\n", ("line 3", "'a'", "'good' is not a finite number")),
    "infinite": Case("model,a\nm,-inf\n", ("'-inf' is not a finite number",)),
    "only a sign": Case("model,a\nm,%%\n", ("line 2", "is not a finite number")),
    "mixed signs": Case("model,a\nm,50%\nn,0.5\n", ("column 'a'", "'%'", "one way")),
    "no name": Case("model,a\n,1\n", ("line 2", "no name")),
    "model twice": Case("model,a\nm,1\nm,1\n", ("line 3", "'m' is there a second time, after")),
}
ROUNDS = {
    "empty": Case("", ("must hold a list of rounds",)),
    "a mapping": Case("rounds: [mmlu]", ("must hold a list of rounds",)),
    "no round": Case("[]", ("must hold a list of rounds",)),
    "not valid YAML": Case("- mmlu\n- [gsm8k\n", ("line 3", "not valid YAML")),
    "a tab": Case("- mmlu\n-\t{a\n", ("not valid YAML",)),
    "a control character": Case("- mm\x01lu", ("not valid YAML",)),
    "a tag": Case("- !!python/object:os.system x", ("line 1", "not valid YAML")),
    "no date": Case("- 2024-13-45", ("not valid YAML",)),
    "too deep": Case("[" * 1000, ("not valid YAML",)),
    "key twice": Case(
        "- benchmarks: mmlu\n  eliminate: 1\n  eliminate: 2\n",
        ("line 3", "'eliminate' is there twice"),
    ),
    "unknown key": Case(
        "- {benchmarks: mmlu, elminate: 1}", ("round 1", "unknown key 'elminate'", "eliminate")
    ),
    "no benchmarks": Case("- {name: x}", ("round 1", "None is not the name of a benchmark")),
    "empty round": Case("- mmlu\n- []\n", ("round 2", "has no benchmark")),
    "a number": Case("- 2024", ("2024 is not the name of a benchmark", "in quotes")),
    "a truth value": Case("- [mmlu, no]", ("False is not the name of a benchmark",)),
    "nested": Case("- [[mmlu]]", ("round 1", "['mmlu'] is not the name of a benchmark")),
    "a name that is no text": Case("- {name: 1, benchmarks: mmlu}", ("name 1 is not text",)),
    "unknown": Case("- mmlu\n- gms8k", ("round 2", "'gms8k'", "did you mean 'gsm8k'?")),
    "unlike any": Case("- zzz", ("there are 'mmlu', 'gsm8k', 'math'",)),
    "twice": Case("- mmlu\n- [math, mmlu]", ("round 2", "'mmlu' is in round 1")),
    "twice in one": Case("- [mmlu, mmlu]", ("round 1", "in round 1")),
    "negative elimination": Case(
        "- {benchmarks: mmlu, eliminate: -1}", ("'eliminate' is -1", "from 0 on")
    ),
    "half an elimination": Case("- {benchmarks: mmlu, eliminate: 1.5}", ("'eliminate' is 1.5",)),
    "true elimination": Case("- {benchmarks: mmlu, eliminate: true}", ("'eliminate' is True",)),
    "no elimination": Case("- {benchmarks: mmlu, eliminate: }", ("'eliminate' is None",)),
    "zero weight": Case("- {benchmarks: mmlu, weight: 0}", ("'weight' is 0",)),
    "infinite weight": Case("- {benchmarks: mmlu, weight: .inf}", ("'weight' is inf",)),
    "weight that is no number": Case("- {benchmarks: mmlu, weight: .nan}", ("'weight' is nan",)),
    "some eliminations": Case(
        "- {benchmarks: mmlu, eliminate: 1}\n- math", ("'math' has no 'eliminate'",)
    ),
    "some weights": Case("- mmlu\n- {benchmarks: math, weight: 1}", ("'mmlu' has no 'weight'",)),
}


def rounds_of(path: Path) -> Any:
    return read_rounds(path, ["mmlu", "gsm8k", "math"])


READERS: dict[str, tuple[Callable[[Path], Any], dict[str, Case]]] = {
    "ballots.csv": (read_ballots, BALLOTS),
    "scores.csv": (read_score_table, SCORES),
    "rounds.yaml": (rounds_of, ROUNDS),
}
ROWS = [(file, name) for file, (_, cases) in READERS.items() for name in cases]


@pytest.mark.parametrize(("file", "name"), ROWS)
def test_bad_text(tmp_path: Path, file: str, name: str) -> None:
    reader, cases = READERS[file]
    case = cases[name]
    path = write(tmp_path / file, case.text)
    with pytest.raises(case.error) as caught:
        reader(path)
    assert type(caught.value) is case.error
    assert str(path) in str(caught.value)
    for words in case.words:
        assert words in str(caught.value)


@pytest.mark.parametrize("file", READERS)
@pytest.mark.parametrize("encoding", ["latin-1", "utf-16"])
def test_text_that_is_not_utf8(tmp_path: Path, file: str, encoding: str) -> None:
    path = write(tmp_path / file, "é,b\n1,2\n", encoding)
    with pytest.raises(UnreadableFileError, match=r"not text in UTF-8 \(byte 0\); save it as"):
        READERS[file][0](path)


@pytest.mark.parametrize("reader", [read_ballots, read_results, read_score_table, rounds_of])
def test_a_path_that_is_not_there(tmp_path: Path, reader: Callable[[Path], Any]) -> None:
    with pytest.raises(TableError, match=r"nothing\.csv does not exist; check the spelling"):
        reader(tmp_path / "nothing.csv")


@pytest.mark.parametrize("reader", [read_score_table, rounds_of])
def test_a_folder_where_a_file_is_wanted(tmp_path: Path, reader: Callable[[Path], Any]) -> None:
    with pytest.raises(UnreadableFileError, match="cannot be opened"):
        reader(tmp_path)


@pytest.mark.parametrize(
    ("reader", "name", "words"),
    [
        (read_ballots, "x.cat", "ballots are read from CSV"),
        (read_ballots, "x.json", "is not a summary of lm-eval"),
        (read_ballots, "x.eval", "cannot be read as an Inspect log"),
        (read_results, "x.csv", "results are read from Inspect logs"),
        (read_results, "x.json", "is not a summary of lm-eval"),
        (read_results, "x.eval", "cannot be read as an Inspect log"),
    ],
)
def test_files_of_another_kind(
    tmp_path: Path, reader: Callable[[Path], Any], name: str, words: str
) -> None:
    path = write(tmp_path / name, '{"hello": 1}')
    with pytest.raises(TableError, match=words) as caught:
        reader(path)
    assert name in str(caught.value)
    unreadable = name in ("x.json", "x.eval")
    assert isinstance(caught.value, UnreadableFileError) == unreadable


@pytest.mark.parametrize(
    "text",
    ["[]", "{}", '{"results": []}', '{"results": {}}', '{"results": {"a": 1}}', "[" * 100_000],
)
def test_json_that_is_no_summary(tmp_path: Path, text: str) -> None:
    with pytest.raises(UnreadableFileError, match=r"results_x\.json"):
        read_results(write(tmp_path / "results_x.json", text))


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
    assert named <= set(tables.__all__)
    assert all(issubclass(getattr(tables, name), TableError) for name in named)


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        (
            "scores.csv",
            "model,vendor,law\nx,Open Models,1\ny,Big Models,2\n",
            "line 2, column 'vendor': 'Open Models' is not a finite number; all of the column is "
            "text: take it out, for each column but the first is a benchmark",
        ),
        (
            "ballots.csv",
            "name,a,b\nann,1,2\n,2,1\n",
            "line 2, column 'name': 'ann' is not a finite number; all of the column is text: take "
            "it out, or name it reviewer or item",
        ),
        (
            "ballots.csv",
            "reviewer,candidate,rank\nann,a,first\nann,b,second\n",
            "column 'rank': 'first' is not a finite number; all of the column is text: write ranks "
            "as numbers",
        ),
        # One bad cell is one bad cell.
        ("ballots.csv", "a,b\n1,2\n1,x\n", "line 3, column 'b': 'x' is not a finite number; leave"),
    ],
)
def test_a_column_of_text_is_told_from_a_bad_cell(
    tmp_path: Path, name: str, text: str, words: str
) -> None:
    read, _ = READERS[name]
    with pytest.raises(TableError) as caught:
        read(write(tmp_path / name, text))
    assert words in str(caught.value)
