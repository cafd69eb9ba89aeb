"""PrefLib files: what they say, and what the parser alone would have made of broken ones."""

import sys
from pathlib import Path

import numpy as np
import pytest

from tests.tables.builders import preflib, write
from tiebreak.rankers.errors import MissingPackageError
from tiebreak.tables import read_ballots

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
    for kind, ballot in {"soc": "5: 3,1,2", "soi": "5: 3,1", "toc": "5: {3,1},2"}.items():
        text = preflib(ballot, "1: 2,1,3", data_type=kind)
        [ballots] = read_ballots(write(tmp_path / f"x.{kind}", text))
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


def test_the_package_is_optional(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "preflibtools.instances", None)
    with pytest.raises(MissingPackageError, match=r"pip install '\.\[rankings\]'"):
        read_ballots(write(tmp_path / "x.toi", preflib("1: 1,2,3")))
