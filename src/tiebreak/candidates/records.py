"""What readers hand to alignment: the rows of one source, and what was wrong with them."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, Literal, NamedTuple, TypeVar

from tiebreak.candidates.identity import benchmark_name
from tiebreak.candidates.pool import Candidate, Item, ItemKey, Note
from tiebreak.paths import address_of, local_path

Harness = Literal["inspect", "lm-eval"]
Epochs = Literal["first", "all"]

T = TypeVar("T")


class Row(NamedTuple):
    """An item and its answer; None where the source holds the item but no usable answer.

    A None has been reported by the reader, so alignment does not report it a second time as a hole.
    """

    item: Item
    candidate: Candidate | None


class Recorded(NamedTuple):
    """The ranks that an Inspect log holds, and what its header says of its scores, as JSON has it.

    `scores` go by sample id and epoch, then by the name of the score.
    """

    scorers: Sequence[Mapping[str, Any]]
    results: Sequence[Mapping[str, Any]]
    scores: Mapping[tuple[str, int], Mapping[str, Mapping[str, Any]]]


@dataclass(frozen=True)
class LogRecord:
    """One model's rows on one benchmark, out of one source.

    `harness` says where the item ids come from: ids of different harnesses are not comparable.
    `task` is the benchmark's name as the source has it. `settings` is how the model was asked, each
    setting as text. `metrics` are the names of all native scores that the source has, the first of
    them (or the one that was wanted) being that of the rows. `positional` says that the ids of the
    rows are places in the dataset, so that they name items and do not decide what joins. `drawn`
    are the item ids in the order of a pool, or in which a run drew them by lot, else none.
    `judged_there` says that the source is the log of a run that judged them, too: another such run
    may have the same answers from the cache. `recorded` is None where nobody asked for it.
    """

    source: str
    harness: Harness
    task: str
    benchmark: str
    model: str
    rows: tuple[Row, ...]
    settings: Mapping[str, str] = field(default_factory=dict)
    metrics: tuple[str, ...] = ()
    positional: bool = False
    drawn: tuple[str, ...] = ()
    judged_there: bool = False
    recorded: Recorded | None = None


@dataclass(frozen=True)
class Reading:
    """Result of reading one file.

    `run` is the same for a failed run and its retry; "" where a file does not say.
    """

    records: tuple[LogRecord, ...] = ()
    notes: tuple[Note, ...] = ()
    problems: tuple[Note, ...] = ()
    run: str = ""


@dataclass(frozen=True)
class ReadOptions:
    """Choices of the caller that readers need, see `load_candidates`; and what `once` keeps.

    `roots` are files and folders that were unpacked or fetched, by how the user knows them.
    `recorded` reads also the ranks that were written into Inspect logs.
    """

    epochs: Epochs = "first"
    native: tuple[str, ...] = ()
    filter: str | None = None
    rename: Mapping[str, str] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    roots: Mapping[Path, str] = field(default_factory=dict)
    recorded: bool = False
    _kept: dict[object, tuple[object, Any]] = field(default_factory=dict, compare=False)

    def shown(self, path: Path) -> str:
        """A file as the user knows it."""
        return shown_path(path, self.roots)

    def name_of(self, source: str) -> str | None:
        """The model that the caller gave a file, or a folder that it lies in."""
        return next((self.names[place] for place in places_of(source) if place in self.names), None)

    def once(self, how: object, shown: object, make: Callable[[], T]) -> T:
        """What is made of the same rows in the same way: logs of several models mostly hold them.

        The result depends on the parts of rows that are `shown` and on `how`, which is hashable;
        `make` is called where the last rows that were read in this way were others.
        """
        if how not in self._kept or self._kept[how][0] != shown:
            self._kept[how] = shown, make()
        made: T = self._kept[how][1]
        return made

    def benchmark(self, raw: str) -> str:
        """Name of a benchmark, after the caller's renaming."""
        name = benchmark_name(raw)
        return self.rename.get(raw, self.rename.get(name, name))


def shown_path(path: Path, roots: Mapping[Path, str]) -> str:
    """A file or folder as the user knows it, such as `logs.zip/run1/a.eval`; see `ReadOptions`."""
    for root, name in roots.items():
        if path.is_relative_to(root):
            return f"{name}/{path.relative_to(root).as_posix()}".removesuffix("/.")
    return path.as_posix()


def places_of(source: str) -> list[str]:
    """A file and the folders that it lies in, the innermost first; from the root of the disk."""
    scheme, separator, path = place(source).rpartition("://")
    inside = [path, *(parent.as_posix() for parent in PurePosixPath(path).parents)]
    return [f"{scheme}{separator}{folder}" for folder in inside]


def place(path: str) -> str:
    """A path on this machine from the root of its disk; an address as it is."""
    return address_of(path).rstrip("/") or local_path(path).absolute().as_posix()


def item_name(key: ItemKey) -> str:
    """How messages call an item."""
    shown = key.item_id if len(key.item_id) <= 80 else f"{key.item_id[:79]}…"
    return f"item {shown!r}" + (f" (epoch {key.epoch})" if key.epoch > 1 else "")


def unique_rows(rows: Iterable[Row], source: str) -> tuple[tuple[Row, ...], list[Note]]:
    """Rows with one per key, and a problem for every key that was there several times.

    Nothing says which of several rows is the answer, so such a key keeps none.
    """
    rows = list(rows)
    counts = Counter(row.item.key for row in rows)
    unique = {
        row.item.key: row if counts[row.item.key] == 1 else Row(row.item, None) for row in rows
    }
    problems = [
        Note("duplicate_item", source, f"{item_name(key)} is there {count} times")
        for key, count in counts.items()
        if count > 1
    ]
    return tuple(unique.values()), problems
