"""Ballots in CSV: forms, separators, labels, and what becomes of them."""

import csv
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cases import cases
from tests.tables.builders import write
from tiebreak.tables import BallotFile, read_ballots

NAN = float("nan")


def read(
    folder: Path, text: str, encoding: str = "utf-8", *, drop_unranked: bool = False
) -> BallotFile:
    path = write(folder / "votes.csv", text, encoding)
    [ballots] = read_ballots(path, drop_unranked=drop_unranked)
    return ballots


# The same three ballots: a < b < c; a and b tied, c not ranked; b before c, a not ranked.
RANKS = [[1, 2, 3], [1.5, 1.5, NAN], [NAN, 1, 2]]
SAME = cases(__file__, "the same ballots")


@pytest.mark.parametrize("text", SAME.values(), ids=SAME)
def test_the_same_ballots(tmp_path: Path, text: str) -> None:
    ballots = read(tmp_path, text)
    order = [ballots.profile.names.index(name) for name in "abc"]
    np.testing.assert_array_equal(ballots.profile.ranks[:, order], RANKS)
    assert ballots.items == ()
    assert ballots.reviewers in ((), ("x", "y", "z"))
    assert (ballots.name, ballots.source) == ("votes", str(tmp_path / "votes.csv"))
    assert ballots.notes == ()


def test_names_keep_what_quotes_hold(tmp_path: Path) -> None:
    ballots = read(tmp_path, '"m, large";"say ""hi""";[red]\n1;2;3\n')
    assert ballots.profile.names == ("m, large", 'say "hi"', "[red]")


ITEMS = cases(__file__, "items")


@pytest.mark.parametrize("text", ITEMS.values(), ids=ITEMS)
def test_items_are_questions(tmp_path: Path, text: str) -> None:
    ballots = read(tmp_path, text)
    assert ballots.items == ("q2", "q10", "q2", "q2")
    assert ballots.reviewers == ("x", "x", "y", "z")
    questions = ballots.questions()
    assert list(questions) == ["q2", "q10"]
    first = [[1, 2, 3], [3, 2, 1], [2, 2, 2]]
    np.testing.assert_array_equal(questions["q2"].ranks, first)
    assert questions["q10"].names == ("a", "b")  # nobody ranks c there
    np.testing.assert_array_equal(questions["q10"].ranks, [[2, 1]])
    items, batch = ballots.batch()
    assert items == ("q2", "q10")
    np.testing.assert_array_equal(batch, [first, [[2, 1, NAN], [NAN] * 3, [NAN] * 3]])


def test_without_items_there_is_one_question(tmp_path: Path) -> None:
    ballots = read(tmp_path, SAME["wide"])
    assert list(ballots.questions()) == [""]
    np.testing.assert_array_equal(ballots.questions()[""].ranks, RANKS)
    assert ballots.batch()[1].shape == (1, 3, 3)


def test_what_ranks_nobody_is_left_out_and_said(tmp_path: Path) -> None:
    text = "reviewer,a,b,c\nx,1,2,\ny,,,\nz,2,1,\n"
    ballots = read(tmp_path, text, drop_unranked=True)
    assert ballots.profile.names == ("a", "b")
    assert ballots.reviewers == ("x", "z")
    no_c, nobody = ballots.notes
    assert "no ballot ranks 'c'; left out" in no_c
    assert "ballots that rank no candidate were left out: 1" in nobody


def test_many_files_in_the_order_given(tmp_path: Path) -> None:
    paths = [write(tmp_path / f"{name}.csv", "a,b\n1,2\n") for name in ("z", "y", "x")]
    assert [one.name for one in read_ballots(map(str, paths))] == ["z", "y", "x"]


NAMES = st.text(st.characters(exclude_categories=["Cs", "Cc", "Z"]), min_size=1, max_size=8)


RESERVED = {"item", "reviewer", "ballot", "candidate", "rank"}
TABLES = st.lists(
    NAMES.filter(lambda name: name.casefold() not in RESERVED), min_size=2, max_size=5, unique=True
).flatmap(
    lambda names: st.tuples(
        st.just(names),
        st.lists(
            st.lists(st.integers(0, 5), min_size=len(names), max_size=len(names)),
            min_size=1,
            max_size=5,
        ),
    )
)


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(TABLES)
def test_wide_and_long_say_the_same(
    tmp_path_factory: pytest.TempPathFactory, made: tuple[list[str], list[list[int]]]
) -> None:
    names, ranks = made
    folder = tmp_path_factory.mktemp("both")
    wide_rows = [[f"r{number}", *row] for number, row in enumerate(ranks)]
    long_rows = [[reviewer, n, r] for reviewer, *row in wide_rows for n, r in zip(names, row)]  # noqa: B905
    for name, head, rows in (
        ("wide", ["reviewer", *names], wide_rows),
        ("long", ["reviewer", "candidate", "rank"], long_rows),
    ):
        with (folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([head, *rows])
    wide, long = read_ballots([folder / "wide.csv", folder / "long.csv"])
    assert wide.profile.names == long.profile.names == tuple(names)
    np.testing.assert_array_equal(wide.profile.ranks, long.profile.ranks)
    # A second way to the mean rank: 1 + those before + half of those beside.
    for row, own in zip(ranks, wide.profile.ranks, strict=True):
        expected = [1 + sum(o < r for o in row) + (row.count(r) - 1) / 2 for r in row]
        assert own.tolist() == expected
