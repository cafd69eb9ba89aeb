"""Files and folders as functions take them: one, or several; and what cannot be read at all."""

import errno
import os
import re
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Protocol, runtime_checkable
from urllib.request import url2pathname

from tiebreak.errors import TiebreakError

AnyPath = str | PathLike[str]


@runtime_checkable
class LogAddress(Protocol):
    """A log as Inspect hands it out, which stands for its file."""

    location: str


Paths = AnyPath | LogAddress | Iterable[AnyPath | LogAddress]

NO_PATH = (
    "{} was given where files and folders are named: give their paths. Write a data frame to a "
    "file, with its method to_csv and without its index: read_scores takes a table of scores, "
    "read_ballots one of rankings, load_candidates answers (columns prompt, model, answer)"
)


MISSING = "does not exist"
"""What `problem_with` says, or begins with, where there is nothing."""

# One letter is a drive of Windows; `Path` makes one slash of two.
_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/{1,2}(.*)", re.DOTALL)
DRAFT = ".writing"
"""What the names of files end in that are not whole yet."""

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)
_DRIVE = re.compile(r"([A-Za-z]):[\\/]")

_KINDS = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
}


def path_list(paths: Paths) -> list[AnyPath]:
    """A single path, or all of several, as a list; a TiebreakError for what is none."""
    # Of a frame the names of the columns would be taken for paths.
    if isinstance(paths, (str, PathLike, LogAddress)) or hasattr(paths, "columns"):
        return [_path(paths)]
    return [_path(path) for path in paths]


def _path(given: object) -> AnyPath:
    if isinstance(given, (str, PathLike)):
        return given
    if location := getattr(given, "location", None):
        return str(location).removeprefix("file://")
    raise TiebreakError(NO_PATH.format(type(given).__name__))


def address_of(path: AnyPath) -> str:
    """The address of what is on no disk of this machine (`s3://bucket/logs`); "" for a path."""
    match = _ADDRESS.fullmatch(os.fspath(path))
    if match is None or os.path.lexists(path):
        return ""
    scheme, rest = match[1].lower(), match[2]
    at_hand = scheme == "file" or (scheme == "zip" and "::" not in rest)
    return "" if at_hand else f"{scheme}://{rest}"


def local_path(path: AnyPath) -> Path:
    """A path, also of a `file://` or a `zip://` that is on this machine."""
    scheme, _, rest = os.fspath(path).partition(":/")
    if not rest or scheme not in ("file", "zip") or os.path.lexists(path):
        return Path(path)
    return Path(url2pathname(f"/{rest.lstrip('/')}") if scheme == "file" else rest[1:])


def problem_with(path: AnyPath) -> str:
    """What keeps a path from being read, to be said after its name; "" for a file or a folder.

    Reading from a pipe or a device may wait, or go on, forever; so these are refused.
    """
    try:
        mode = Path(path).stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return MISSING + foreign_path_hint(str(path))
    except OSError as error:  # the name is too long, the folder is closed
        return f"cannot be opened ({error.strerror or error})"
    except ValueError as error:  # a zero byte or half of a character in the name
        return f"is no path ({error})"
    if stat.S_ISREG(mode) or stat.S_ISDIR(mode):
        return ""
    return f"is {_KINDS.get(stat.S_IFMT(mode), 'something else')}, not a file: save it as one first"


@contextmanager
def to_file(path: AnyPath) -> Iterator[None]:
    """Write a file, or a draft of it: an OSError then names it, as that of a full disk does not."""
    try:
        yield
    except OSError as error:
        error.filename, error.filename2 = os.fspath(path), None
        raise


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A draft that takes the place of the file, or of what it links to, once it is whole.

    It is hidden, and named so that what a killed process leaves behind is taken for nothing else.
    """
    target = path.resolve()
    draft = target.with_name(f".{target.name}.{os.getpid()}{DRAFT}")
    try:
        with to_file(path):
            yield draft
            draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)


def problem_of(error: OSError) -> str:
    """What went wrong with which file, in one sentence."""
    path, why = error.filename2 or error.filename, error.strerror or str(error)
    if error.errno in _NO_ROOM:
        return f"{path or 'The output'} cannot be written ({why}): make room, or name another place"
    return f"{path} cannot be read or written ({why})" if path else str(error)


def foreign_path_hint(path: str, *, windows: bool = os.name == "nt") -> str:
    """Why a path that is written as on another system is not there; "" for any other path."""
    if windows:
        if path.startswith("/") and not path.startswith("//"):
            return ": it is written as on Linux or macOS, and here a path is like C:\\logs"
        return ""
    if drive := _DRIVE.match(path):
        below = path[2:].replace("\\", "/")
        return (
            ": it is a path of Windows, and this system is another. Give the path that the folder "
            f"has here (under WSL /mnt/{drive[1].lower()}{below})"
        )
    if "\\" in path:
        return f": here a path is written with /, as {path.replace(chr(92), '/')}"
    return ""
