"""PrefLib files: what they say, and what the parser alone would have made of broken ones."""

import sys
from pathlib import Path

import numpy as np
import pytest

from tests.tables.builders import preflib, write
from tiebreak.rankers.errors import MissingPackageError
from tiebreak.tables import TableError, read_ballots

NAN = float("nan")


def test_counts_ties_and_gaps(tmp_path: Path) -> None:
    path = write(tmp_path / "x.toi", preflib("2: 2, {1, 3}", "1:3", "1: {1,2,3}"))
    [ballots] = read_ballots(path)
    assert ballots.profile.names == ("ann", "bob", "cy")
    np.testing.assert_array_equal(
        ballots.profile.ranks, [[2.5, 1, 2.5], [2.5, 1, 2.5], [NAN, NAN, 1], [2, 2, 2]]
    )
    assert (ballots.items, ballots.reviewers, ballots.notes) == ((), (), ())
    assert not ballots.profile.ranks.flags.writeable


@pytest.mark.parametrize(
    ("suffix", "ballot"),
    [("soc", "5: 3,1,2"), ("soi", "5: 3,1"), ("toc", "5: {3,1},2"), ("toi", "5: {3,1}")],
)
def test_every_kind(tmp_path: Path, suffix: str, ballot: str) -> None:
    other = "1: 2,1,3"
    path = write(tmp_path / f"x.{suffix}", preflib(ballot, other, data_type=suffix))
    [ballots] = read_ballots(path)
    assert ballots.profile.n_ballots == 6


def test_as_files_come(tmp_path: Path) -> None:
    # Byte order mark, Windows line ends, empty lines, a name with a colon and a line separator.
    names = ("a: b", "c\u2028d", "é")
    text = "\ufeff" + preflib("1: 2,1,3", names=names, data_type="soc").replace("\n", "\r\n\r\n")
    [ballots] = read_ballots(write(tmp_path / "X.SOC", text))
    assert ballots.profile.names == names
    np.testing.assert_array_equal(ballots.profile.ranks, [[2, 1, 3]])


def test_a_file_that_the_library_itself_wrote(tmp_path: Path) -> None:
    from preflibtools.instances import OrdinalInstance

    instance = OrdinalInstance()
    instance.append_order_list([((2,), (0, 1)), ((2,), (0, 1)), ((1,),)])
    path = tmp_path / "own.toi"
    instance.write(str(path))
    [ballots] = read_ballots(path)
    order = [ballots.profile.names.index(f"Alternative {n}") for n in range(3)]
    np.testing.assert_array_equal(
        ballots.profile.ranks[:, order], [[2.5, 2.5, 1], [2.5, 2.5, 1], [NAN, 1, NAN]]
    )


def test_an_alternative_that_nobody_ranks(tmp_path: Path) -> None:
    path = write(tmp_path / "x.toi", preflib("1: 3,1"))
    with pytest.raises(ValueError, match=r"no ballot ranks 'bob'.*--drop-unranked"):
        read_ballots(path)
    [ballots] = read_ballots(path, drop_unranked=True)
    assert ballots.profile.names == ("ann", "cy")
    assert "'bob'" in ballots.notes[0]


BROKEN: dict[str, tuple[str, str]] = {
    "unclosed brace": (preflib("1: {1,2,3"), "line 11: '1: {1,2,3' is not a ballot"),
    "blanks for commas": (preflib("1: 1 2 3"), "line 11"),
    "letters": (preflib("1: ann,bob"), "line 11"),
    "negative count": (preflib("-2: 1,2"), "line 11"),
    "negative alternative": (preflib("1: -1,2"), "line 11"),
    "semicolons": (preflib("1: 1;2;3"), "line 11"),
    "an empty tie": (preflib("1: 1,{},2"), "line 11"),
    "no colon": (preflib("1: 1,2,3").replace("1: 1,2,3", "1,2,3"), "line 11"),
    "old format": ("3\n1,ann\n2,bob\n3,cy\n5,5,1\n5,1,2,3\n", "line 1"),
    "count of 0": (preflib("1: 1,2,3", "0: 2,1"), "line 12: the count is 0"),
    "unknown alternative": (preflib("1: 7,2"), "names no alternative 7"),
    "alternative twice": (preflib("1: 1,{1,2}"), "twice"),
    "order twice": (preflib("2: 1,2,3", "3: 1,2,3"), "line 12: the order of line 11"),
    "voters": (preflib("2: 1,2,3", voters=9), "says 9 voters, the file holds 2"),
    "orders": (preflib("2: 1,2,3", orders=2), "says 2 unique orders, the file holds 1"),
    "alternatives": (
        preflib("2: 1,2,3").replace("ALTERNATIVES: 3", "ALTERNATIVES: 4"),
        "says 4 alternatives, the file holds 3",
    ),
    "two of one name": (preflib("1: 1,2,3", names=("a", "b", "a")), "'a'"),
    "a name without text": (preflib("1: 1,2,3", names=("a", "", "c")), "names no alternative 2"),
    "other data type": (preflib("1: 1,2,3", data_type="soc"), "data type 'soc'"),
    "no number": (
        preflib("2: 1,2,3").replace("VOTERS: 2", "VOTERS: two"),
        "preflibtools cannot read it",
    ),
    "huge number": (preflib(f"{'9' * 5000}: 1,2,3", voters=1), "preflibtools cannot read it"),
}


@pytest.mark.parametrize(("text", "words"), BROKEN.values(), ids=BROKEN)
def test_a_broken_file_is_named(tmp_path: Path, text: str, words: str) -> None:
    path = write(tmp_path / "x.toi", text)
    with pytest.raises(TableError) as caught:
        read_ballots(path)
    assert str(path) in str(caught.value)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("suffix", "ballot", "words"),
    [
        ("soc", "1: 1,2", "ranks every alternative in every line; name the file .soi"),
        ("toc", "1: {1,2}", "name the file .toi"),
        ("soc", "1: 1,{2,3}", "has no ties; name the file .toc"),
        ("soi", "1: {2,3}", "name the file .toi"),
    ],
)
def test_the_suffix_is_a_promise(tmp_path: Path, suffix: str, ballot: str, words: str) -> None:
    path = write(tmp_path / f"x.{suffix}", preflib(ballot, data_type=suffix))
    with pytest.raises(TableError, match="line 11") as caught:
        read_ballots(path)
    assert words in str(caught.value)


def test_an_absurd_number_of_ballots(tmp_path: Path) -> None:
    path = write(tmp_path / "x.soc", preflib("6666667: 1,2,3", data_type="soc"))
    with pytest.raises(TableError, match=r"6,666,667 ballots over 3 .*20,000,000"):
        read_ballots(path)


def test_the_package_is_optional(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "preflibtools.instances", None)
    with pytest.raises(MissingPackageError, match=r"pip install '\.\[rankings\]'"):
        read_ballots(write(tmp_path / "x.toi", preflib("1: 1,2,3")))
