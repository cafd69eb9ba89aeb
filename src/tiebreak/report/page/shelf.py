"""Where stories of items stand: in the page, or beside it where they are too much for one file.

Beside the page they are scripts that it loads when an item is opened, since no page may read other
files from a disk. A script's name holds a digest of what is in it: a page never meets the scripts
of another one, and whether a file was written here, and by nobody since, can be told from the file.
"""

import hashlib
import re
from pathlib import Path
from typing import Final

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
        """Keep the next chunk, one of `store.pack`.

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
    path.write_bytes(script)
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
