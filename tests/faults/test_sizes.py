"""Tables of sizes that people have take seconds; larger ones are read, or refused with a sentence.

Times are of this process's CPU: the machine may have other things to do.
"""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from tests.faults.record import Tried, amount, record
from tiebreak.analysis.consensus import elect
from tiebreak.analysis.contests import contest_report
from tiebreak.rankers import AGGREGATORS, Profile, RankingError
from tiebreak.rankers.profile import preference_counts
from tiebreak.tables import (
    TableError,
    read_ballots,
    read_human_labels,
    read_human_ranking,
    read_order,
    read_rounds,
    read_scores,
)
from tiebreak.tables.ballots import Ballot, ballot_file

MOST_SECONDS = 60


class Large(NamedTuple):
    """A file's name, its text for a size, what reads it, and what a refusal says, "" for none."""

    name: str
    text: Callable[[int], str]
    read: Callable[[Path], Any]
    refusal: str = ""


def scores(models: int, benchmarks: int, sign: str = "") -> str:
    names = ",".join(f"b{n}" for n in range(benchmarks))
    row = ",".join(f"0.{n % 7}{sign}" for n in range(benchmarks))
    return f"model,{names}\n" + "".join(f"m{n},{row}\n" for n in range(models))


def marks(models: int) -> str:
    return "model,a,b\n" + "".join(f"m{n},{n % 1000},{n % 77}\n" for n in range(models))


def names(n: int) -> list[str]:
    return [f"b{number}" for number in range(n)]


def ranks(rows: int) -> str:
    lines = (f"r{n // 9},c{n % 9},1\n" for n in range(rows))
    return "reviewer,candidate,rank\n" + "".join(lines)


def borda(path: Path) -> object:
    return elect(read_ballots(path)[0], ["borda"])


MANY = names(amount(50_001, 1_000_000))


def wide(candidates: int) -> str:
    header = ",".join(names(candidates))
    return f"{header}\n{','.join(map(str, range(candidates)))}\n"


ROWS: dict[str, Large] = {
    "scores": Large("s.csv", marks, read_scores),
    "scores with their errors": Large("s.csv", marks, lambda path: read_scores(path, stderr=path)),
    "scores as ballots": Large("s.csv", marks, read_ballots),
    "scores as ballots, ties by errors": Large(
        "s.csv",
        marks,
        lambda path: read_ballots(path, making={"ties": "se"}, reading={"stderr": path}),
    ),
    "an election": Large("s.csv", marks, borda),
    "an election by pairs": Large(
        *("s.csv", marks, lambda path: elect(read_ballots(path)[0])),
        "orders at most 2,000 candidates",
    ),
    "a contest": Large(
        *("s.csv", marks, lambda path: contest_report(read_scores(path))),
        "at most 1,000 models can meet",
    ),
    "a ballot a line": Large(
        "b.csv", lambda n: "a,b,c\n" + "1,2,3\n3,1,2\n" * (n // 2), read_ballots
    ),
    "a rank a line": Large("l.csv", ranks, read_ballots),
    "a candidate a line": Large(
        "h.csv",
        lambda n: "model,rank\n" + "".join(f"m{i},{i}\n" for i in range(n)),
        read_human_ranking,
    ),
    "a label a line": Large(
        "t.csv",
        lambda n: "item,model,stars\n" + "".join(f"q{i},m,{i % 4}\n" for i in range(n)),
        read_human_labels,
    ),
}
COLUMNS: dict[str, Large] = {
    "scores": Large("s.csv", lambda n: scores(2, n), read_scores),
    "scores in percent": Large("s.csv", lambda n: scores(2, n, "%"), read_scores),
    "scores as ballots": Large(
        *("s.csv", lambda n: scores(2, n), read_ballots), "more than the 10,000 that are counted"
    ),
    "a contest": Large(
        *("s.csv", lambda n: scores(2, n), lambda path: contest_report(read_scores(path))),
        "models times rounds may be 100,000",
    ),
    "a column a candidate": Large(
        "b.csv", wide, lambda path: elect(read_ballots(path)[0], ["borda"])
    ),
    "two columns of one name": Large(
        *("b.csv", lambda n: f"{','.join(['a'] * n)}\n", read_ballots), "two columns are named 'a'"
    ),
    "columns that nobody reads": Large(
        "h.csv",
        lambda n: f"model,rank,{','.join(names(n))}\nm,1{',' * n}\n",
        lambda path: len(read_human_ranking(path).notes[0]) < 1_000 or pytest.fail("too long"),
    ),
    "an order": Large(
        "o.txt", lambda n: "\n".join(names(n)), lambda path: read_order(str(path), MANY)
    ),
    "rounds": Large(
        *("r.yaml", lambda n: "- b1\n- nothere\n", lambda path: read_rounds(path, MANY)),
        "have no benchmark 'nothere'",
    ),
}


def tried(large: Large, size: int, folder: Path) -> None:
    path = folder / large.name
    path.write_text(large.text(size))
    start = time.process_time()
    if large.refusal:
        with pytest.raises((TableError, RankingError), match=large.refusal):
            large.read(path)
    else:
        large.read(path)
    assert time.process_time() - start < MOST_SECONDS


@pytest.mark.slow
def test_many_rows(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    size = amount(4_001, 100_000)
    for large in ROWS.values():
        tried(large, size, tmp_path)
    row = f"{size:,} rows of scores, ballots, labels: in {MOST_SECONDS} s of CPU, or a sentence"
    record(request, Tried(row, len(ROWS), len(ROWS)))


@pytest.mark.slow
def test_many_columns(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    size = len(MANY)
    for large in COLUMNS.values():
        tried(large, size, tmp_path)
    row = f"{size:,} columns or names: in {MOST_SECONDS} s of CPU, or a sentence"
    record(request, Tried(row, len(COLUMNS), len(COLUMNS)))


@pytest.mark.parametrize(
    ("count", "most"),
    [
        *((preference_counts, 10_000), (AGGREGATORS["copeland"], 10_000)),
        *((AGGREGATORS[name], 2_000) for name in ("kemeny_young", "kendall", "irv", "spearman")),
    ],
)
def test_more_candidates_than_a_method_takes(count: Callable[[Profile], Any], most: int) -> None:
    profile = Profile.from_ranks(np.arange(most + 1.0)[None])
    with pytest.raises(RankingError, match=f"at most {most:,} candidates, and there are"):
        count(profile)


def test_unranked_candidates_are_not_all_named() -> None:
    ballots = [Ballot({"b0": 1.0})]
    with pytest.raises(TableError, match=r"'b1', .*and 9,989 more") as caught:
        ballot_file("x", "x.csv", ballots, names(10_000), drop_unranked=False)
    assert len(str(caught.value)) < 1_000
