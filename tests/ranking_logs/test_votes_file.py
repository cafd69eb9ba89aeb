"""Votes files: what was kept is read again, whatever ended the process, and nothing else is."""

import json
import sqlite3
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.ranking_logs.planted_votes import items_of
from tiebreak.ranking_logs import RankingLogError
from tiebreak.ranking_logs.votes_file import (
    PersonVote,
    VotesItem,
    VotesMeta,
    create_votes_file,
    is_votes_file,
    open_votes_file,
)

META = VotesMeta(
    kind="matches",
    seed=7,
    created="2026-11-26T11:00:00+00:00",
    sources=("logs/",),
    goal=120,
    schedule="open",
    open={"gsm8k": (("ash", "birch"),)},
)


def voted(item_id: str, **answers: str) -> VotesItem:
    [made] = items_of(1, twins=False)
    models = tuple(sorted(answers))
    about = {"item_id": item_id, "models": models, "groups": tuple((model,) for model in models)}
    ballots = made.ballots.model_copy(update=about)
    return VotesItem(item_id, 1, "5", ballots, {"task": "2 + 3?", "answers": answers})


ITEMS = [voted("1", ash="5", birch="6"), voted("2", ash="Ä\u202e", birch="\0\ud800")]
VOTE = PersonVote(item=0, turn=0, first="ash", second="birch", choice="tie", rater="ada", at="now")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    create_votes_file(tmp_path / "votes.db", META, ITEMS)
    return tmp_path / "votes.db"


def test_what_was_kept_is_read_again(path: Path) -> None:
    with open_votes_file(path, write=True) as file:
        assert file.meta == META
        assert tuple(file.items()) == tuple(ITEMS)
        assert file.item(1) == ITEMS[1]
        votes = [
            VOTE,
            replace(VOTE, turn=1, choice="first", seconds=2.5, weight=0.25),
            replace(VOTE, turn=2, second="", choice="3", rater="bea"),
        ]
        kept = [replace(vote, id=file.add(vote)) for vote in votes]
        assert file.votes() == tuple(kept)
        assert file.votes("bea") == (kept[2],)
    assert [entry.name for entry in path.parent.iterdir()] == ["votes.db"]
    with open_votes_file(path) as file:
        assert file.votes() == tuple(kept)


def test_undo_marks_the_last_vote_of_a_rater(path: Path) -> None:
    with open_votes_file(path, write=True) as file:
        file.add(VOTE)
        file.add(replace(VOTE, turn=1, rater="bea"))
        file.add(replace(VOTE, turn=1, choice="identical"))
        undone = file.undo("ada")
        assert undone is not None
        assert (undone.turn, undone.rater) == (0, "ada")
        assert file.undo("ada") is None
        assert [vote.rater for vote in file.votes() if vote.choice != "identical"] == ["bea"]
        assert [vote.undone is not None for vote in file.votes(undone=True)] == [True, False, False]


def test_a_killed_page_loses_nothing(path: Path) -> None:
    code = f"""
import os, signal
from pathlib import Path
from tiebreak.ranking_logs.votes_file import PersonVote, open_votes_file
file = open_votes_file(Path({str(path)!r}), write=True)
for turn in range(50):
    vote = dict(first="ash", second="birch", choice="tie", rater="ada", at="now")
    file.add(PersonVote(item=0, turn=turn, **vote))
os.kill(os.getpid(), signal.SIGKILL)
"""
    assert subprocess.run([sys.executable, "-c", code]).returncode == -9
    with open_votes_file(path) as reader:
        assert len(reader.votes()) == 50
        with open_votes_file(path, write=True) as file:
            file.add(replace(VOTE, turn=50))
            assert len(reader.votes()) == 51


def test_one_page_at_a_time(path: Path) -> None:
    with (
        open_votes_file(path, write=True),
        pytest.raises(RankingLogError, match="in use by another page"),
    ):
        open_votes_file(path, write=True)
    open_votes_file(path, write=True).close()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"ballots": ITEMS[0].ballots.model_copy(update={"input_hash": "1" * 32})}, "answers diff"),
        ({"contest": {"task": "", "answers": {"ash": "5", "birch": "7"}}}, "answers differ"),
        ({"ballots": voted("1", ash="5", cedar="6").ballots}, "one of them only: birch, cedar"),
    ],
)
def test_other_items_are_refused(path: Path, change: dict[str, object], message: str) -> None:
    with open_votes_file(path) as file:
        file.require_same(ITEMS)
        both = [replace(item, **change) for item in ITEMS]  # type: ignore[arg-type]
        with pytest.raises(RankingLogError, match=message):
            file.require_same(both)


def other_database(path: Path) -> None:
    path.unlink()
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE cats (name TEXT)")


def newer(path: Path) -> None:
    with sqlite3.connect(path) as file:
        file.execute("UPDATE meta SET value = '99' WHERE name = 'version'")


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda path: path.write_text("item_id,model"), "is not a votes file"),
        (lambda path: path.unlink(), "`tiebreak vote LOGS --out .*` makes one"),
        (other_database, r"but not a votes file .*: give another"),
        (newer, r"written by a newer Tiebreak \(votes file 99; this one reads 1\): upgrade"),
        (lambda path: path.write_bytes(path.read_bytes()[:1000]), "is damaged"),
        (lambda path: path.with_name("votes.db-wal").mkdir(), r"as a votes file .*: see that its"),
    ],
)
def test_what_is_no_votes_file_is_refused_in_a_sentence(
    path: Path, damage: Any, message: str
) -> None:
    damage(path)
    with pytest.raises(RankingLogError, match=message):
        open_votes_file(path)


def test_a_votes_file_is_known_by_its_first_bytes(path: Path, tmp_path: Path) -> None:
    assert is_votes_file(path)
    (tmp_path / "a.json").write_text(json.dumps({}))
    assert not is_votes_file(tmp_path / "a.json")
    assert not is_votes_file(tmp_path)
    with pytest.raises(RankingLogError, match="is there already"):
        create_votes_file(path, META, ITEMS)
