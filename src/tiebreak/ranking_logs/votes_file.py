"""Votes files: SQLite databases in which `tiebreak vote` keeps people's votes.

    meta    name TEXT PRIMARY KEY, value TEXT (JSON)
            the fields of `VotesMeta`, and `version`
    items   number INTEGER PRIMARY KEY      from 0, in the order of the pool
            id, epoch, target               as in `JudgedItem`
            benchmark, item_id, input_hash
            ballots TEXT                    `ItemBallots` without verdicts (`ballots_text`):
                                            models, groups of identical answers, native scores …
            contest TEXT (JSON)             metadata under `CONTEST_KEY` of a ranking log's sample:
                                            task, answers by representative, rubric, target …
    votes   id INTEGER PRIMARY KEY          in the order in which the votes were given
            item                            items.number
            turn                            index in the schedule, from 0; one of every
                                            `shared_every` turns, drawn by lot, goes to all raters
            first, second                   models in the order shown; only `first` with stars
            choice                          "first", "second", "tie", "both_bad", "skip",
                                            "identical"; with stars "0" to "3", "skip"
            rater, at                       name; UTC, ISO 8601
            seconds                         from showing the page to the vote, or NULL
            weight                          1 / (how many times more often the pair is asked than
                                            in a balanced schedule)
            undone                          when the vote was taken back (UTC), or NULL

`first` and `second` are the models whose turn it was in the schedule. The page shows the answer of
each model's group, so a match is between their representatives. If both are in one group, or the
same two answers already met on the item, nobody is asked: a row with the choice "identical" and
without seconds records the turn. So the pairs in the rows of an item met whatever the results. With
stars the same holds if the same answer was already rated.

Rows are never deleted. A vote is on disk before `add` returns (WAL, synchronous=FULL); a page that
is closed properly leaves a single file. One page at a time can write, others can read.
"""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Literal, cast

from filelock import FileLock, Timeout
from pydantic.dataclasses import dataclass as pydantic_dataclass

from tiebreak.progress import tracked
from tiebreak.ranking_logs.log import RankingLogError
from tiebreak.scorers.ballots import ItemBallots, ballots_text, restore_ballots

VERSION: Final = 1
"""Version of the format; raised by changes that an older reader would misread."""

VotesKind = Literal["matches", "stars"]
VoteSchedule = Literal["balanced", "open"]
Choice = Literal["first", "second", "tie", "both_bad", "skip", "identical", "0", "1", "2", "3"]

_MAGIC: Final = b"SQLite format 3\0"
_TABLES: Final = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE items (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL, epoch INTEGER NOT NULL, target TEXT NOT NULL,
    benchmark TEXT NOT NULL, item_id TEXT NOT NULL, input_hash TEXT NOT NULL,
    ballots TEXT NOT NULL, contest TEXT NOT NULL
) STRICT;
CREATE TABLE votes (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    item INTEGER NOT NULL REFERENCES items (number), turn INTEGER NOT NULL,
    first TEXT NOT NULL, second TEXT, choice TEXT NOT NULL, rater TEXT NOT NULL, at TEXT NOT NULL,
    seconds REAL, weight REAL NOT NULL, undone TEXT
) STRICT;
CREATE INDEX votes_by_rater ON votes (rater, turn);
CREATE INDEX votes_by_turn ON votes (turn);
"""
_SELECT: Final = """
SELECT * FROM votes WHERE (?1 IS NULL OR rater = ?1) AND (?2 OR undone IS NULL) ORDER BY id
"""
_INSERT: Final = """
INSERT INTO votes VALUES (
    :id, :item, :turn, :first, :second, :choice, :rater, :at, :seconds, :weight, :undone
)
"""


@pydantic_dataclass(frozen=True, slots=True, kw_only=True, config={"extra": "ignore"})
class VotesMeta:
    """The settings of a votes file.

    `sources` are the paths that the answers came from, `created` is UTC, ISO 8601. `goal` is the
    wanted number of votes by all raters together, or None; `decides` is whether it was computed to
    decide between the two leading models if a judge is about right. One of every `shared_every`
    turns goes to all raters; 0 for none. If the schedule is "open", `open` has the pairs that are
    asked, by benchmark.
    """

    kind: VotesKind
    seed: int
    created: str
    sources: tuple[str, ...]
    goal: int | None = None
    decides: bool = False
    schedule: VoteSchedule = "balanced"
    shared_every: int = 5
    open: Mapping[str, tuple[tuple[str, str], ...]] | None = None
    tiebreak_version: str = ""


@dataclass(frozen=True, slots=True)
class VotesItem:
    """An item to vote on; `ballots` have no verdicts, `contest` has task, answers and rubric."""

    id: str
    epoch: int
    target: str
    ballots: ItemBallots
    contest: Mapping[str, Any]

    @property
    def answers(self) -> Mapping[str, str]:
        """Texts of the answers by representative of each group."""
        return cast("Mapping[str, str]", self.contest["answers"])


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonVote:
    """A row of `votes`; `id` is 0 until it is saved, `second` is "" with stars."""

    item: int
    turn: int
    first: str
    second: str
    choice: Choice
    rater: str
    at: str
    seconds: float | None = None
    weight: float = 1.0
    undone: str | None = None
    id: int = 0


class VotesFile:
    """An open votes file, and a context manager that closes it."""

    def __init__(
        self, path: Path, connection: sqlite3.Connection, lock: FileLock | None = None
    ) -> None:
        """Use `open_votes_file` instead."""
        self.path = path
        self.meta = _meta(path, connection)
        self._connection = connection
        self._lock = lock

    def __enter__(self) -> "VotesFile":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; a writer leaves a single file, unless others have it open."""
        with suppress(sqlite3.OperationalError):
            if self._lock:
                self._connection.execute("PRAGMA journal_mode = DELETE")
        self._connection.close()
        if self._lock:
            # Unlink before release: a process that waits for the old file's lock creates a new one.
            Path(self._lock.lock_file).unlink(missing_ok=True)
            self._lock.release()

    @cached_property
    def ballots(self) -> tuple[ItemBallots, ...]:
        """The ballots of all items, without verdicts; a vote's `item` is an index of this tuple."""
        rows = self._rows("SELECT ballots FROM items ORDER BY number")
        return tuple(self._restored(row["ballots"]) for row in rows)

    def item(self, number: int) -> VotesItem:
        """The item with this number, to which a vote's `item` refers."""
        return self._item(next(self._rows("SELECT * FROM items WHERE number = ?", number)))

    def items(self) -> Iterator[VotesItem]:
        """All items with their texts, in order."""
        return map(self._item, self._rows("SELECT * FROM items ORDER BY number"))

    def votes(self, rater: str | None = None, *, undone: bool = False) -> tuple[PersonVote, ...]:
        """The votes of one rater or of all; with `undone` also those that were taken back."""
        rows = self._rows(_SELECT, rater, undone)
        return tuple(PersonVote(**{**row, "second": row["second"] or ""}) for row in rows)

    def require_votes(self) -> None:
        """Raise RankingLogError if nobody has voted in this file."""
        if all(vote.choice in ("skip", "identical") for vote in self.votes()):
            raise RankingLogError(f"{self.path} holds no vote yet: vote first")

    def add(self, *votes: PersonVote) -> int:
        """Save all votes or none, and return the id of the last; they are on disk afterwards.

        Raises:
            RankingLogError: the votes cannot be written.
        """
        added = 0
        with _plain_errors(self.path), self._connection:
            self._connection.execute("BEGIN IMMEDIATE")
            for vote in votes:
                row = asdict(vote) | {"second": vote.second or None, "id": None}
                added = self._connection.execute(_INSERT, row).lastrowid or 0
        return added

    def undo(self, rater: str) -> PersonVote | None:
        """Take back the last vote of a rater and return it, or None if there is no vote."""
        given = [vote for vote in self.votes(rater) if vote.choice != "identical"]
        if not given:
            return None
        with _plain_errors(self.path):
            change = "UPDATE votes SET undone = ? WHERE id = ?"
            self._connection.execute(change, (utc_now(), given[-1].id))
        return given[-1]

    def state_goal(self, goal: int, *, decides: bool) -> None:
        """Change the goal of the file."""
        rows = [("goal", json.dumps(goal)), ("decides", json.dumps(decides))]
        with _plain_errors(self.path):
            self._connection.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", rows)
        self.meta = replace(self.meta, goal=goal, decides=decides)

    def require_same(self, items: Sequence[VotesItem]) -> None:
        """Raise an error if items, answers or models differ from those in the file.

        Raises:
            RankingLogError: they differ; the message says how, and what to do.
        """
        if _shown(items) == _shown(self.items()):
            return
        given = {model for item in items for model in item.ballots.models}
        kept = {model for ballots in self.ballots for model in ballots.models}
        names = ", ".join(sorted(given ^ kept))
        differ = f"these models are in one of them only: {names}" if names else "answers differ"
        raise RankingLogError(
            f"{self.path} was begun with other answers, those of {', '.join(self.meta.sources)} "
            f"({differ}): give the same logs, or another --out"
        )

    def _rows(self, query: str, *given: object) -> Iterator[sqlite3.Row]:
        with _plain_errors(self.path):
            yield from self._connection.execute(query, given)

    def _item(self, row: sqlite3.Row) -> VotesItem:
        ballots = self._restored(row["ballots"])
        contest = json.loads(row["contest"])
        return VotesItem(row["id"], row["epoch"], row["target"], ballots, contest)

    def _restored(self, text: str) -> ItemBallots:
        try:
            return restore_ballots(text)
        except ValueError as error:
            raise RankingLogError(f"{self.path} cannot be read: {error}") from error


def create_votes_file(path: Path, meta: VotesMeta, items: Sequence[VotesItem]) -> None:
    """Create a votes file with these items and no votes.

    Raises:
        RankingLogError: the path already exists, or cannot be written.
    """
    if path.exists():
        raise RankingLogError(f"{path} is there already: give another --out")
    rows = (
        (
            *(number, item.id, item.epoch, item.target, item.ballots.benchmark),
            *(item.ballots.item_id, item.ballots.input_hash, ballots_text(item.ballots)),
            json.dumps(item.contest),
        )
        for number, item in enumerate(tracked(items, "keeping the answers"))
    )
    given = {"version": VERSION, **asdict(meta)}
    # Create it under another name and rename it, so that the path never has an incomplete file.
    part = path.with_name(f"{path.name}.part")
    with _plain_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        part.unlink(missing_ok=True)
        connection = sqlite3.connect(part, isolation_level=None)
        connection.executescript(f"BEGIN; {_TABLES}")
        kept = [(name, json.dumps(value)) for name, value in given.items()]
        connection.executemany("INSERT INTO meta VALUES (?, ?)", kept)
        connection.executemany("INSERT INTO items VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
        connection.execute("COMMIT")
        connection.close()
        part.rename(path)


def open_votes_file(path: Path, *, write: bool = False) -> VotesFile:
    """Open a votes file to read it, or also to `write` votes, as only one process at a time can.

    Raises:
        RankingLogError: the file does not exist, is not a votes file, is damaged, was written by a
            newer Tiebreak, or is being written by another page.
    """
    if not is_votes_file(path):
        how = f"`tiebreak vote LOGS --out {path.with_suffix('.db')}` makes one"
        if write and path.exists():
            how = "give another --out"
        raise RankingLogError(f"{path} is not a votes file: {how}")
    lock = FileLock(path.with_name(f"{path.name}.lock"), thread_local=False) if write else None
    if lock:
        try:
            lock.acquire(timeout=0)
        except Timeout as error:
            used = f"{path} is in use by another page: vote there, or end it first"
            raise RankingLogError(used) from error
    with _plain_errors(path):
        address = f"{path.absolute().as_uri()}?mode={'rw' if write else 'ro'}"
        # The page's event loop may run in another thread than the one that opened the file.
        connection = sqlite3.connect(
            address, uri=True, timeout=30, isolation_level=None, check_same_thread=False
        )
        connection.row_factory = sqlite3.Row
        if write:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
    return VotesFile(path, connection, lock)


def is_votes_file(path: Path) -> bool:
    """Whether a file is an SQLite database, like votes files and unlike any log."""
    try:
        if not path.is_file():  # opening a pipe would block
            return False
        with path.open("rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except OSError:
        return False


def is_other_database(path: Path) -> bool:
    """Whether an SQLite database can be read and has no table of votes."""
    try:
        with closing(
            sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
        ) as connection:
            named = "SELECT 1 FROM sqlite_master WHERE name = 'votes'"
            return connection.execute(named).fetchone() is None
    except sqlite3.Error:
        return False


def _shown(items: Iterable[VotesItem]) -> list[tuple[object, ...]]:
    """The parts of items that must stay the same while people vote: ids, groups, answers."""
    return [
        (i.id, i.ballots.benchmark, i.ballots.input_hash, i.ballots.groups, i.answers)
        for i in items
    ]


def utc_now() -> str:
    """The current time in the form of votes: UTC, ISO 8601, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _meta(path: Path, connection: sqlite3.Connection) -> VotesMeta:
    with _plain_errors(path):
        try:
            rows = connection.execute("SELECT name, value FROM meta").fetchall()
            kept = {name: json.loads(value) for name, value in rows}
            version = int(kept["version"])
            meta = VotesMeta(**kept) if version <= VERSION else None
        except (sqlite3.OperationalError, KeyError, ValueError, TypeError) as error:
            why = str(error).partition("\n")[0]
            if isinstance(error, sqlite3.OperationalError) and not why.startswith("no such"):
                raise
            message = f"{path} is a database, but not a votes file ({why}): give another"
            raise RankingLogError(message) from error
    if meta is None:
        raise RankingLogError(
            f"{path} was written by a newer Tiebreak (votes file {version}; this one reads "
            f"{VERSION}): upgrade"
        )
    return meta


@contextmanager
def _plain_errors(path: Path) -> Iterator[None]:
    """Turn errors of SQLite and the disk into a RankingLogError of one sentence."""
    look = "see that its folder can be written and its disk has room, or give another file"
    try:
        yield
    except sqlite3.OperationalError as error:
        if "locked" in str(error) or "busy" in str(error):
            raise RankingLogError(f"{path} is in use by another program: end it first") from error
        raise RankingLogError(f"{path} cannot be used as a votes file ({error}): {look}") from error
    except sqlite3.DatabaseError as error:
        damaged = f"{path} is damaged ({error}): go on with a copy that was made of it before"
        raise RankingLogError(damaged) from error
    except OSError as error:
        why = error.strerror or error
        raise RankingLogError(f"{path} cannot be used ({why}): {look}") from error
