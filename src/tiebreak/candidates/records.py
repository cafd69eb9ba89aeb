"""Types that readers pass to alignment: the rows of one source, and problems with them."""

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
    """An item and its answer; None if the source has the item but no usable answer.

    The reader has reported each None, so alignment does not report it again as a hole.
    """

    item: Item
    candidate: Candidate | None


class Recorded(NamedTuple):
    """Ranks that were written into an Inspect log, and its header's scorers and results, as JSON.

    `scores` are by sample id and epoch, then by name of the score.
    """

    scorers: Sequence[Mapping[str, Any]]
    results: Sequence[Mapping[str, Any]]
    scores: Mapping[tuple[str, int], Mapping[str, Mapping[str, Any]]]


@dataclass(frozen=True)
class LogRecord:
    """One model's rows on one benchmark, from one source.

    `harness` is the origin of the item ids: ids of different harnesses are not comparable. `task`
    is the benchmark's name in the source. `settings` are those of the model, each as text.
    `metrics` are the names of all native scores in the source; the rows have the first of them, or
    the one that the caller wanted. `positional` is true if the ids are positions in the dataset:
    such ids name items, but do not decide which rows join. `drawn` are the item ids in the order of
    a pool, or of a run that shuffled them, otherwise empty. `judged_there` is true if the source is
    the log of a run that also judged the answers; another such run may have taken the same answers
    from the cache. `recorded` is None unless the options ask for it.
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

    `run` is the same for a failed run and its retry, "" if unknown.
    """

    records: tuple[LogRecord, ...] = ()
    notes: tuple[Note, ...] = ()
    problems: tuple[Note, ...] = ()
    run: str = ""


@dataclass(frozen=True)
class ReadOptions:
    """Options of the caller that readers need, see `load_candidates`, and the cache of `once`.

    `roots` maps files and folders that were unpacked or fetched to the names that users know.
    `recorded` says whether to read the ranks that were written into Inspect logs, too.
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
        """Name of a file for messages."""
        return shown_path(path, self.roots)

    def name_of(self, source: str) -> str | None:
        """Model name that the caller gave to a file or one of its folders (innermost first)."""
        return next((self.names[place] for place in places_of(source) if place in self.names), None)

    def once(self, how: object, shown: object, make: Callable[[], T]) -> T:
        """Return the result of `make`, reusing the last one with equal `how` and `shown`.

        Logs of several models mostly have the same rows, so that their items need be made only
        once. The result may depend only on `shown`, parts of the rows, and on `how` (hashable).
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
    """Name of a file or folder for messages, e.g. `logs.zip/run1/a.eval`; see `ReadOptions`."""
    for root, name in roots.items():
        if path.is_relative_to(root):
            return f"{name}/{path.relative_to(root).as_posix()}".removesuffix("/.")
    return path.as_posix()


def places_of(source: str) -> list[str]:
    """Absolute paths of a file and its folders, the innermost first."""
    scheme, separator, path = place(source).rpartition("://")
    inside = [path, *(parent.as_posix() for parent in PurePosixPath(path).parents)]
    return [f"{scheme}{separator}{folder}" for folder in inside]


def place(path: str) -> str:
    """Absolute form of a local path; an address without a slash at its end."""
    return address_of(path).rstrip("/") or local_path(path).absolute().as_posix()


def item_name(key: ItemKey) -> str:
    """Name of an item in messages."""
    shown = key.item_id if len(key.item_id) <= 80 else f"{key.item_id[:79]}…"
    return f"item {shown!r}" + (f" (epoch {key.epoch})" if key.epoch > 1 else "")


def unique_rows(rows: Iterable[Row], source: str) -> tuple[tuple[Row, ...], list[Note]]:
    """One row per key, and a problem for every key with several rows.

    A key with several rows gets no answer, because it is unknown which of them is right.
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
