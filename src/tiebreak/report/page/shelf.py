"""Stories of items as compressed chunks: in the page, or beside it where they are too much for it.

A chunk is base64 of gzip of a JSON object; the page decompresses it with `DecompressionStream` when
an item of it is opened. Text is kept to the last code point, also what is no valid Unicode.

Beside the page chunks are scripts that it loads when an item is opened, since no page may read
other files from a disk. A script's name holds a digest of what is in it: a page never meets the
scripts of another one, and whether a file was written here, and by nobody since, can be told from
the file.
"""

import base64
import hashlib
import json
import math
import re
import zlib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from pydantic_core import PydanticSerializationError, to_json

from tiebreak.paths import whole_file

FOLDER: Final = "items"

# Characters of chunks. With its table and its pictures the page is then below 15 MB.
MOST: Final = 9_000_000

_NAME = re.compile(r"[0-9]{4,}-([0-9a-f]{16})\.js")


class Shelf:
    """Keeps the chunks of a page while it is made.

    `chunks` are those that the page is to hold, and `files` those that were written instead: all
    of them as soon as together they are longer than `most`.
    """

    def __init__(self, report: Path | None = None, *, most: int = MOST) -> None:
        """`report` is the folder of the page; None keeps everything in the page."""
        self.chunks: list[str] = []
        self.files: list[Path] = []
        self._report, self._most = report, most
        self._length = 0

    def put(self, chunk: str) -> None:
        """Keep the next chunk, one of `pack`.

        Raises:
            OSError: a file cannot be written.
        """
        self.chunks.append(chunk)
        self._length += len(chunk)
        if self._report is not None and self._length > self._most:
            for one in self.chunks:
                self.files.append(_write(self._report / FOLDER, len(self.files), one))
            self.chunks = []

    @property
    def names(self) -> list[str]:
        """The files as the page calls them."""
        return [f"{FOLDER}/{file.name}" for file in self.files]

    @property
    def summary(self) -> str:
        """What lies beside the page, "" without."""
        if not self.files:
            return ""
        return f"{FOLDER}/ ({len(self.files):,} files, {self._length / 1e6:.0f} MB)"


def _write(folder: Path, number: int, chunk: str) -> Path:
    # Letters, digits, +, / and = need no escape.
    script = f'tiebreak.part({number},"{chunk}");\n'.encode("ascii")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{number:04}-{_digest(script)}.js"
    with whole_file(path) as draft:
        draft.write_bytes(script)
    return path


def remove_earlier(shelf: Shelf, report: Path) -> None:
    """Remove what earlier reports in this folder wrote; files of other names or contents stay.

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


# Bytes of JSON. Small enough to open at once, and large enough to compress well.
CHUNK = 1_000_000

# More takes twice the time for a fiftieth of the bytes.
_LEVEL = 5
# For zlib: a header as gzip writes it, without a date.
_GZIP = 31


def pack(
    stories: Iterable[Mapping[str, Any]], keep: Callable[[str], object], *, size: int = CHUNK
) -> list[int]:
    """Pack the stories of items 0, 1, … into chunks; returns the number of the chunk of each item.

    A story is an object of what JSON can hold; undefined numbers become null. `keep` gets chunk 0,
    1, …, each as soon as it is full: a JSON object with the numbers of its items as keys. A chunk
    ends with the item that makes it as long as `size`.
    """
    places: list[int] = []
    parts: list[bytes] = []
    chunk = length = 0
    for number, story in enumerate(stories):
        text = _story_json(story)
        parts.append(b'"%d":%b' % (number, text))
        places.append(chunk)
        length += len(text)
        if length >= size:
            keep(_packed(parts))
            parts, length, chunk = [], 0, chunk + 1
    if parts:
        keep(_packed(parts))
    return places


def unpack(chunk: str) -> dict[str, Any]:
    """What a chunk holds, by number of the item."""
    stories: dict[str, Any] = json.loads(zlib.decompress(base64.b64decode(chunk), _GZIP))
    return stories


def _story_json(story: Mapping[str, Any]) -> bytes:
    try:
        return to_json(story, inf_nan_mode="null")
    except PydanticSerializationError:
        # A lone surrogate has no UTF-8; its escape, \ud800, means the same in JSON.
        text = json.dumps(_defined(story), ensure_ascii=False, separators=(",", ":"))
        return text.encode("utf-8", "backslashreplace")


def _defined(value: Any) -> Any:
    """The same data with None for numbers that JSON does not have."""
    if isinstance(value, Mapping):
        return {key: _defined(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_defined(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _packed(parts: Iterable[bytes]) -> str:
    packer = zlib.compressobj(_LEVEL, wbits=_GZIP)
    data = packer.compress(b"{%b}" % b",".join(parts)) + packer.flush()
    return base64.b64encode(data).decode("ascii")
