"""The items of a report: an index in the page, and the packed story of each item.

The index, in the order of the runs and of the table of items::

    {"runs": [{"name", "protocol", "benchmark", "judges": [], "log"}],
     "rubrics": [{"principles": [{"id", "name", "weight", "description"}],
                  "checklist": [{"id", "principle", "description"}]}],
     "items": [{"benchmark", "id", "runs": []}],
     "stories": [[index of the first item of a chunk, number of the chunk]],
     "texts": [[number of the first text of a chunk, number of the chunk]],
     "files": [files of chunks 0, 1, … beside the page; empty if the page contains the chunks]}

A chunk is base64 of gzip of a JSON list: of texts, or of the stories of items in their order.
`answers`, and `reasoning` of votes, are indices into the story's `texts`, which are text numbers::

    [{"task", "target", "texts": [120, 121, 7],
      "stories": [{"run", "log", "sample", "epoch", "rubric", "answers": {model: 0},
                   "ranks": {model: 1.5}, "unranked": null or why, "ballots": {…}}]}]

`ballots` are `ItemBallots` without the calls and without empty fields. `log`, `sample` and `epoch`
are the file's name and the place in it, for Inspect's own viewer; `ranks` is empty if the item has
no ranking. Texts and votes compress better apart, and a text that an item shares with the last few
chunks is stored only once.

Texts are read again from the logs, item by item, and packed at once, because all of them may exceed
the memory. Most of a large report is votes, so ballots are handled as JSON of the log: what ranking
does not read is unchecked, and values of unexpected form are kept unchanged. Numbers are rounded to
six decimals (a judge's own are not), because further digits hardly compress. Text is kept exactly,
even if it is not valid Unicode.

Chunks beside the page are scripts, loaded when an item is opened, because a page cannot read other
files from disk. A script's name holds a digest of its content, so a page never loads the scripts of
another page, and a file shows by itself whether a report wrote it and nobody changed it since.
"""

import base64
import hashlib
import json
import math
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from itertools import count as count_up
from pathlib import Path
from typing import Any, Final, NamedTuple

from pydantic_core import PydanticSerializationError, to_json

from tiebreak.candidates import CONTEST_KEY
from tiebreak.paths import whole_file
from tiebreak.progress import tracked
from tiebreak.ranking_logs.log import JudgedItem, answers_in
from tiebreak.ranking_logs.samples import SampleReader
from tiebreak.report.cells import Cell, integer, words
from tiebreak.report.figures.canvas import free_name, slug
from tiebreak.report.json import json_ready, only
from tiebreak.report.page.contents import Contents, file_name
from tiebreak.report.page.view import ItemRow, ItemsView
from tiebreak.report.sheet import Column, one_line
from tiebreak.scorers.ballots import ItemBallots
from tiebreak.text import count, natural_key

FOLDER: Final = "items"

# Characters of chunks that a page may contain; with table and pictures it stays below 15 MB.
MOST: Final = 9_000_000

_NAME = re.compile(r"[0-9]{4,}-([0-9a-f]{16})\.js")


class ChunkWriter:
    """Collects the chunks of a page.

    `chunks` are those that the page will contain, `files` those written beside it. As soon as all
    together are longer than `most` characters, all are written to files.
    """

    def __init__(self, report: Path | None = None, *, most: int = MOST) -> None:
        """Collect for the page in the folder `report`; None keeps all chunks in the page."""
        self.chunks: list[str] = []
        self.files: list[Path] = []
        self._report, self._most = report, most
        self._length = 0

    def put(self, chunk: str) -> None:
        """Add the next chunk that `pack` made.

        Raises:
            OSError: a file cannot be written.
        """
        self.chunks.append(chunk)
        self._length += len(chunk)
        if self._report is not None and self._length > self._most:
            for waiting in self.chunks:
                self.files.append(_write(self._report / FOLDER, len(self.files), waiting))
            self.chunks = []

    @property
    def names(self) -> list[str]:
        """The paths of the files relative to the page."""
        return [f"{FOLDER}/{file.name}" for file in self.files]

    @property
    def summary(self) -> str:
        """The number and size of the files beside the page in words, "" without any."""
        if not self.files:
            return ""
        return f"{FOLDER}/ ({len(self.files):,} files, {self._length / 1e6:.0f} MB)"


def _write(folder: Path, number: int, chunk: str) -> Path:
    # Base64 has only letters, digits, +, / and =, which need no escape in a string.
    script = f'tiebreak.part({number},"{chunk}");\n'.encode("ascii")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{number:04}-{_digest(script)}.js"
    with whole_file(path) as draft:
        draft.write_bytes(script)
    return path


def remove_earlier(shelf: ChunkWriter, report: Path) -> None:
    """Remove scripts of earlier reports in this folder; files of other names or contents stay.

    Raises:
        OSError: a file cannot be read or removed.
    """
    old = [
        file
        for file in (report / FOLDER).glob("*.js")
        if file.is_file()
        and file not in shelf.files
        and (name := _NAME.fullmatch(file.name))
        and _digest(file.read_bytes()) == name[1]
    ]
    for file in old:
        file.unlink(missing_ok=True)
    if old and not any((report / FOLDER).iterdir()):
        (report / FOLDER).rmdir()


def _digest(script: bytes) -> str:
    return hashlib.sha256(script).hexdigest()[:16]


# Bytes of JSON in a chunk: small enough to open without delay, large enough to compress well.
CHUNK = 1_000_000

# Earlier chunks of texts that an item may refer to; each may be a file to load.
_REACH = 4

# Compression level: a higher one takes twice the time to save a fiftieth of the bytes.
_LEVEL = 5
# `wbits` of zlib for a gzip header without a date, so that the same data give the same bytes.
_GZIP = 31


class Packed(NamedTuple):
    """The chunks of stories and of texts, as (number of the first in it, number of the chunk)."""

    stories: list[tuple[int, int]]
    texts: list[tuple[int, int]]


class _ChunkBuffer:
    """Numbers pieces of JSON and packs them into a chunk whenever they reach its size."""

    def __init__(self, keep: Callable[[str], int], size: int) -> None:
        self.chunks: list[tuple[int, int]] = []
        self._keep, self._size = keep, size
        self._pieces: list[bytes] = []
        self._first = self._length = 0

    def add(self, piece: bytes) -> int:
        number = self._first + len(self._pieces)
        self._pieces.append(piece)
        self._length += len(piece)
        if self._length >= self._size:
            self.close()
        return number

    def close(self) -> None:
        if self._pieces:
            self.chunks.append((self._first, self._keep(_packed(self._pieces))))
            self._first += len(self._pieces)
            self._pieces, self._length = [], 0


def pack(
    stories: Iterable[Mapping[str, Any]], keep: Callable[[str], object], *, size: int = CHUNK
) -> Packed:
    """Pack the stories of items 0, 1, … into chunks, and the `texts` of each, if any, into others.

    A story is an object of JSON types; undefined numbers become null. `keep` is called with chunk
    0, 1, …, each as soon as an item or text makes it `size` bytes or longer.
    """
    numbers: dict[str, int] = {}
    kept = count_up()

    def put(chunk: str) -> int:
        keep(chunk)
        return next(kept)

    packed, texts = _ChunkBuffer(put, size), _ChunkBuffer(put, size)

    def number(text: str) -> int:
        if text not in numbers:
            n_chunks = len(texts.chunks)
            numbers[text] = texts.add(_json(text))
            if len(texts.chunks) > n_chunks:
                # Forget texts out of reach: a text that comes again later is stored again.
                first, _ = texts.chunks[-_REACH:][0]
                for old in [text for text, place in numbers.items() if place < first]:
                    del numbers[old]
        return numbers[text]

    for story in stories:
        written = {"texts": [*map(number, story["texts"])]} if "texts" in story else {}
        packed.add(_json({**story, **written}))
    packed.close()
    texts.close()
    return Packed(packed.chunks, texts.chunks)


def unpack(chunk: str) -> list[Any]:
    """The stories or texts in a chunk."""
    pieces: list[Any] = json.loads(zlib.decompress(base64.b64decode(chunk), _GZIP))
    return pieces


def _json(value: Mapping[str, Any] | str) -> bytes:
    try:
        return to_json(value, inf_nan_mode="null")
    except PydanticSerializationError:
        # A lone surrogate cannot be encoded as UTF-8; its escape, \ud800, is the same in JSON.
        text = json.dumps(json_ready(value), ensure_ascii=False, separators=(",", ":"))
        return text.encode("utf-8", "backslashreplace")


def _packed(pieces: Iterable[bytes]) -> str:
    packer = zlib.compressobj(_LEVEL, wbits=_GZIP)
    data = packer.compress(b"[%b]" % b",".join(pieces)) + packer.flush()
    return base64.b64encode(data).decode("ascii")


StoryKey = tuple[str, str, str]
"""Benchmark, item id (with the epoch of the answers if several), hash of the question."""

# Characters of a task that the table of items shows.
_TASK = 90
_NUMBERS = ("Matches", "Ties", "Flips", "Unscored")
_ONLY_WHERE_THEY_DIFFER = ("Benchmark", "Judged by")
_LEAD = "Open an item to read its answers and every verdict on them."


class _Judged(NamedTuple):
    """An item as judged in a run: the number of the run, the name of its log, the sample."""

    run: int
    log: str
    sample: JudgedItem


def items_view(contents: Contents, shelf: ChunkWriter) -> ItemsView | None:
    """The table and index of all judged items, or None without any; puts stories on the shelf.

    Raises:
        UnreadableLogError: a log has changed since it was read.
    """
    entries = contents.entries
    items = _by_item(contents)
    if not items:
        return None
    names = [entry.name for entry in entries]
    rubrics: dict[str, int] = {}
    rows: list[dict[str, Cell]] = []

    def stories(logs: Mapping[str, SampleReader]) -> Iterator[dict[str, Any]]:
        for key, judged in tracked(items.items(), "writing items"):
            story = _item(judged, logs, rubrics)
            rows.append(_row(key, judged, story, names))
            yield story

    with ExitStack() as stack:
        logs = {
            name: stack.enter_context(closing(SampleReader(files)))
            for name, files in contents.files.items()
        }
        packed = pack(stories(logs), shelf.put)
    index = {
        "runs": [
            {"name": entry.name, **only(entry.board, "protocol", "benchmark", "judges", "log")}
            for entry in entries
        ],
        "rubrics": [json.loads(text) for text in rubrics],
        "items": [
            {"benchmark": benchmark, "id": item_id, "runs": _runs(judged)}
            for (benchmark, item_id, _), judged in items.items()
        ],
        "stories": packed.stories,
        "texts": packed.texts,
        "files": shelf.names,
    }
    shown = [
        name
        for name in rows[0]
        if name not in _ONLY_WHERE_THEY_DIFFER or len({row[name] for row in rows}) > 1
    ]
    return ItemsView(
        lead=f"{count(len(items), 'item')}. {_LEAD}",
        columns=tuple(Column(name, numeric=name in _NUMBERS) for name in shown),
        rows=tuple(
            ItemRow(number, tuple(row[name] for name in shown), anchor)
            for number, (row, anchor) in enumerate(zip(rows, _anchors(items), strict=True))
        ),
        index=index,
        chunks=tuple(shelf.chunks),
        files=shelf.summary,
    )


def _runs(judged: Sequence[_Judged]) -> list[int]:
    return sorted({sample.run for sample in judged})


def _anchors(keys: Iterable[tuple[str, str, str]]) -> Iterator[str]:
    """An HTML id for each item, from benchmark and item id, so that links outlive a new report."""
    taken: set[str] = set()
    for benchmark, item_id, _ in keys:
        taken.add(anchor := free_name(slug(benchmark, item_id), taken))
        yield anchor


def _by_item(contents: Contents) -> dict[StoryKey, list[_Judged]]:
    runs = {
        (entry.board.log, entry.board.benchmark, entry.board.protocol): number
        for number, entry in enumerate(contents.entries)
    }
    items: dict[StoryKey, list[_Judged]] = {}
    for log in contents.logs:
        for sample in log.samples:
            ballots = sample.ballots
            if ballots is None or ballots.skipped:
                continue
            run = runs.get((log.path, ballots.benchmark, ballots.protocol))
            if run is not None:
                key = (ballots.benchmark, _item_id(sample, ballots), ballots.input_hash)
                items.setdefault(key, []).append(_Judged(run, log.path, sample))
    benchmarks = list(dict.fromkeys(entry.board.benchmark for entry in contents.entries))

    def place(key: StoryKey) -> tuple[Any, ...]:
        return benchmarks.index(key[0]), natural_key(key[1]), key[2]

    return {key: items[key] for key in sorted(items, key=place)}


def _item_id(sample: JudgedItem, ballots: ItemBallots) -> str:
    """The item's id, with the epoch of its answers if models answered it more than once."""
    sample_id = sample.id.removeprefix(f"{ballots.benchmark}:")
    return sample_id if sample_id.startswith(f"{ballots.item_id}#") else ballots.item_id


def _item(
    judged: Sequence[_Judged], logs: Mapping[str, SampleReader], rubrics: dict[str, int]
) -> dict[str, Any]:
    """The story of an item; a text that several runs share is in it once."""
    texts: dict[str, int] = {}

    def place(text: str) -> int:
        return texts.setdefault(text, len(texts))

    stories = []
    task = target = None
    for run, log, sample in judged:
        again = logs[log].sample(sample.id, sample.epoch)
        asked, described = _asked(again.metadata)
        task, target = task or asked, target or sample.target or None
        rubric = None
        if described is not None:
            rubric = rubrics.setdefault(json.dumps(described, sort_keys=True), len(rubrics))
        answers = {model: place(text) for model, text in answers_in(again.metadata).items()}
        stories.append(
            {
                "run": run,
                "sample": sample.id,
                "epoch": sample.epoch,
                "ranks": short(sample.placement.ranks) if sample.placement else {},
                "unranked": sample.unranked,
                "log": file_name(logs[log].file(sample.id, sample.epoch)),
                "ballots": without_calls(again.ballots().model_dump(mode="json"), place),
                "rubric": rubric,
                "answers": answers,
            }
        )
    return {"task": task, "target": target, "texts": list(texts), "stories": stories}


def _row(
    key: StoryKey, judged: Sequence[_Judged], story: Mapping[str, Any], names: Sequence[str]
) -> dict[str, Cell]:
    benchmark, item_id, _ = key
    ballots = [sample.ballots for _, _, sample in judged if sample.ballots is not None]
    matches = [match for ballot in ballots for match in ballot.matches]
    reasons = [match.unscored for match in matches]
    reasons += [given.unscored for ballot in ballots for given in ballot.scores]
    reasons += [given.unscored for ballot in ballots for given in ballot.listings]
    numbers = (
        len(matches),
        sum(match.tied for match in matches),
        sum(bool(match.flipped) for match in matches),
        sum(reason is not None for reason in reasons),
    )
    opening = " ".join((story["task"] or "")[: 4 * _TASK].split())
    if len(opening) > _TASK:
        opening = f"{opening[: _TASK - 1].rstrip()}…"
    return {
        "Item": _named(item_id),
        "Benchmark": _named(benchmark),
        "Task": _named(opening),
        "First": _named(_first(story["stories"], names)),
        "Judged by": _named(", ".join(names[run] for run in _runs(judged))),
        **{name: integer(number) for name, number in zip(_NUMBERS, numbers, strict=True)},
    }


def _first(stories: Sequence[Mapping[str, Any]], names: Sequence[str]) -> str:
    """The models that are first on an item, with the runs that say so if there are several."""
    runs_by_first: dict[str, list[str]] = {}
    for story in stories:
        best = min(story["ranks"].values(), default=None)
        models = sorted(model for model, rank in story["ranks"].items() if rank == best)
        first = ", ".join(models) if len(models) < 4 else f"{len(models)} models tied"
        epoch = f", epoch {story['epoch']}" if story["epoch"] > 1 else ""
        if models:
            runs_by_first.setdefault(first, []).append(f"{names[story['run']]}{epoch}")
    if len(names) == 1 and len(runs_by_first) < 2:
        return next(iter(runs_by_first), "")
    by = [", ".join(runs) for runs in runs_by_first.values()]
    if (
        len(stories) > 1
        and len(by) == 1
        and len(runs_by_first[next(iter(runs_by_first))]) == len(stories)
    ):
        by = ["all"]
    return " · ".join(
        f"{first} by {by_runs}" for first, by_runs in zip(runs_by_first, by, strict=True)
    )


def _named(text: str) -> Cell:
    return words(one_line(text))


# The fields of a rubric that readers of votes need.
_PARTS: Final = {
    "principles": ("id", "name", "weight", "description"),
    "checklist": ("id", "principle", "description"),
}


def _asked(metadata: Mapping[str, Any]) -> tuple[str | None, Mapping[str, Any] | None]:
    """Task and rubric that the judges of a sample got, from its metadata, None if missing.

    Metadata are unchecked: whatever differs from the form that tasks write counts as missing. The
    rubric has the keys "principles" and "checklist".
    """
    contest = metadata.get(CONTEST_KEY)
    known = contest if isinstance(contest, Mapping) else {}
    task, rubric = known.get("task"), known.get("rubric")
    return (
        task if isinstance(task, str) else None,
        {part: list(_described(rubric.get(part), keys)) for part, keys in _PARTS.items()}
        if isinstance(rubric, Mapping)
        else None,
    )


def _described(entries: object, keys: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    for entry in entries if isinstance(entries, list | tuple) else ():
        if isinstance(entry, Mapping) and isinstance(entry.get("id"), str):
            yield {key: entry[key] for key in keys if _fits(key, entry.get(key))}


def _fits(key: str, value: object) -> bool:
    if key == "weight":
        return isinstance(value, int | float) and math.isfinite(value)
    return isinstance(value, str)


DECIMALS: Final = 6


def without_calls(ballots: Mapping[str, Any], text: Callable[[str], object]) -> dict[str, Any]:
    """The ballots of an item without calls and empty fields; `ItemBallots` can read them again.

    `ballots` are in types of JSON; `text` gives the value that replaces the reasoning of a vote.
    """
    slimmed = {key: value for key, value in _not_empty(ballots).items() if key != "calls"}
    slimmed["native"] = short(ballots["native"])
    if matches := ballots.get("matches"):
        slimmed["matches"] = [_match(match, text) for match in matches]
    if scores := ballots.get("scores"):
        slimmed["scores"] = [short(score) for score in scores]
    return slimmed


def short(numbers: Mapping[str, Any]) -> dict[str, Any]:
    """The mapping with numbers rounded to `DECIMALS`; None for numbers that are not finite."""
    return {
        key: _short(value) if isinstance(value, float) else value for key, value in numbers.items()
    }


def _short(number: float) -> float | None:
    return round(number, DECIMALS) if math.isfinite(number) else None


def _not_empty(record: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that are not empty, with short numbers; 0 and False are not empty."""
    return {
        key: _short(value) if isinstance(value, float) else value
        for key, value in record.items()
        if value or value == 0
    }


def _match(match: Mapping[str, Any], text: Callable[[str], object]) -> dict[str, Any]:
    slimmed = _not_empty(match)
    for kept in ("verdicts", "discarded"):
        if kept in slimmed:
            slimmed[kept] = [_verdict(verdict, text) for verdict in slimmed[kept]]
    return slimmed


def _verdict(verdict: Mapping[str, Any], text: Callable[[str], object]) -> dict[str, Any]:
    slimmed = _not_empty(verdict)
    for layer in ("principles", "checklist"):
        if isinstance(votes := slimmed.get(layer), dict):
            slimmed[layer] = {name: _vote(vote, text) for name, vote in votes.items()}
    return slimmed


def _vote(vote: Any, text: Callable[[str], object]) -> Any:
    if not isinstance(vote, dict):
        return vote
    # Numbers that a judge wrote are short, and rounding millions of them would take time.
    slimmed = {key: value for key, value in vote.items() if value or value == 0}
    if reasoning := slimmed.get("reasoning"):
        slimmed["reasoning"] = text(str(reasoning))
    return slimmed
