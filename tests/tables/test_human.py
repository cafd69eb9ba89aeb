"""A ranking by people in CSV: forms, separators, what is refused and what is passed over."""

from pathlib import Path

import pytest

from tests.tables.builders import write
from tiebreak.tables import HumanRanking, TableError, read_human_ranking


def read(folder: Path, text: str, encoding: str = "utf-8") -> HumanRanking:
    return read_human_ranking(write(folder / "arena.csv", text, encoding))


# a first, b and c tied; scores turn round.
SAME = {
    "ranks": ("model,rank\na,1\nb,2\nc,2\n", {"a": 1, "b": 2, "c": 2}),
    "scores": ("model,score\na,1400\nb,-3\nc,-3\n", {"a": -1400, "b": 3, "c": 3}),
    "semicolons": ("rank;Model\n1,5;a\n2,5;b\n2,5;c\n", {"a": 1.5, "b": 2.5, "c": 2.5}),
    "bom, windows": ("\ufeffMODEL,Rank\r\na,1\r\nb,2\r\nc,2\r\n", {"a": 1, "b": 2, "c": 2}),
    "for all": ("model,rank,benchmark\na,1,\nb,2,\nc,2,\n", {"a": 1, "b": 2, "c": 2}),
    "from 0": ("model,rank\na,0\nb,2\nc,2\n", {"a": 0, "b": 2, "c": 2}),
}


@pytest.mark.parametrize(("text", "ranks"), SAME.values(), ids=SAME)
def test_one_ranking(tmp_path: Path, text: str, ranks: dict[str, float]) -> None:
    human = read(tmp_path, text)
    assert human.ranks == {"": ranks}
    assert human.of("gsm8k") == ranks
    assert (human.source, human.notes) == (str(tmp_path / "arena.csv"), ())


def test_a_ranking_for_each_benchmark(tmp_path: Path) -> None:
    human = read(tmp_path, "benchmark,model,score\ngsm8k,a,5\n,a,7\nmbpp,b,9\ngsm8k,b,6\n")
    assert human.of("gsm8k") == {"a": -5, "b": -6}
    assert human.of("mbpp") == {"b": -9}
    # None of its own.
    assert human.of("ifeval") == {"a": -7}


def test_none_for_a_benchmark(tmp_path: Path) -> None:
    assert read(tmp_path, "benchmark,model,rank\ngsm8k,a,1\n").of("mmlu") == {}


def test_what_is_passed_over_is_told(tmp_path: Path) -> None:
    human = read(tmp_path, "model,rank,votes,x\na,1,7,\nb,,7,\nc,n/a,7,\nd,2,8,\n")
    assert human.ranks == {"": {"a": 1, "d": 2}}
    assert [note.partition(": ")[2] for note in human.notes] == [
        "columns not read: 'votes', 'x'",
        "no rank for b, c",
    ]
    human = read(tmp_path, "model,score,benchmark\na,1,x\nb,,x\n")
    assert [note.partition(": ")[2] for note in human.notes] == ["no score for b on x"]


WRONG: dict[str, tuple[str, str]] = {
    "no model": ("name,rank\na,1\n", "no column 'model'"),
    "no rank": ("model,place\na,1\n", "no column 'rank'"),
    "rank and score": ("model,rank,score\na,1,2\n", "both a column 'rank' and"),
    "a column twice": ("model,rank,Rank\na,1,2\n", "'rank' and 'Rank' mean the same; keep one"),
    "no name": ("model,rank\na,1\n,2\n", "line 3: the model has no name"),
    "words": ("model,rank\na,first\n", "'first' is not a finite number"),
    "below 0": ("model,rank\na,-1\n", "line 2, column 'rank': the rank -1 is below 0"),
    "infinite": ("model,score\na,inf\n", "'inf' is not a finite number"),
    "twice": ("model,rank\na,1\nb,2\na,3\n", "line 4: 'a' is ranked a second"),
    "twice on one": (
        "benchmark,model,rank\nx,a,1\ny,a,1\nx,a,3\n",
        "line 4: 'a' is ranked on 'x' a second time, after line 2",
    ),
    "twice, once without": (
        "model,rank\na,\na,3\n",
        "line 3: 'a' is ranked a second time, after line 2",
    ),
    "no number": ("model,score\na,\nb,-\n", "no model has a score"),
    "empty": ("", "no row below a header"),
}


@pytest.mark.parametrize(("text", "words"), WRONG.values(), ids=WRONG)
def test_what_is_refused(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(TableError) as caught:
        read(tmp_path, text)
    assert words in str(caught.value)
    assert str(caught.value).startswith(str(tmp_path / "arena.csv"))


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(TableError, match="does not exist"):
        read_human_ranking(tmp_path / "none.csv")
