"""Paths as arguments of functions (one or several), safe writing, and messages about paths."""

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
    """A log object of Inspect, accepted in place of its file's path."""

    location: str


Paths = AnyPath | LogAddress | Iterable[AnyPath | LogAddress]

NO_PATH = (
    "{} was given where files and folders are named: give their paths. Write a data frame to a "
    "file, with its method to_csv and without its index: read_scores takes a table of scores, "
    "read_ballots one of rankings, load_candidates answers (columns prompt, model, answer)"
)


MISSING = "does not exist"
"""The text, or start of it, that `problem_with` returns for a path that does not exist."""

# A single letter is a Windows drive; one slash is enough because `Path` merges two.
_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/{1,2}(.*)", re.DOTALL)
DRAFT = ".writing"
"""Suffix of the names of files that are still being written."""

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)
_DRIVE = re.compile(r"([A-Za-z]):[\\/]")

_KINDS = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
}


def path_list(paths: Paths) -> list[AnyPath]:
    """One path, or several, as a list; TiebreakError for anything that is not a path."""
    # Iterating over a data frame gives its column names, which are not paths.
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
    """The address of a remote place (e.g. `s3://bucket/logs`); "" for a path on this machine."""
    match = _ADDRESS.fullmatch(os.fspath(path))
    if match is None or os.path.lexists(path):
        return ""
    scheme, rest = match[1].lower(), match[2]
    at_hand = scheme == "file" or (scheme == "zip" and "::" not in rest)
    return "" if at_hand else f"{scheme}://{rest}"


def local_path(path: AnyPath) -> Path:
    """A path as `Path`, also for `file://` and `zip://` addresses on this machine."""
    scheme, _, rest = os.fspath(path).partition(":/")
    if not rest or scheme not in ("file", "zip") or os.path.lexists(path):
        return Path(path)
    return Path(url2pathname(f"/{rest.lstrip('/')}") if scheme == "file" else rest[1:])


def problem_with(path: AnyPath) -> str:
    """Why a path cannot be read, worded to follow its name; "" for a file or a folder.

    Pipes and devices are refused, because reading from them may never end.
    """
    try:
        mode = Path(path).stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return MISSING + foreign_path_hint(str(path))
    except OSError as error:  # e.g. the name is too long, or the folder is not accessible
        return f"cannot be opened ({error.strerror or error})"
    except ValueError as error:  # a null byte or a lone surrogate in the name
        return f"is no path ({error})"
    if stat.S_ISREG(mode) or stat.S_ISDIR(mode):
        return ""
    return f"is {_KINDS.get(stat.S_IFMT(mode), 'something else')}, not a file: save it as one first"


@contextmanager
def to_file(path: AnyPath) -> Iterator[None]:
    """Put a file's name on any OSError while writing it, since that of a full disk has none."""
    try:
        yield
    except OSError as error:
        error.filename, error.filename2 = os.fspath(path), None
        raise


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """The path of a draft that replaces the file, or its link target, when the block ends.

    The draft is hidden, and its suffix keeps a killed process's leftover from being taken for data.
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
    """A sentence that says which file an OSError is about and what went wrong."""
    path, why = error.filename2 or error.filename, error.strerror or str(error)
    if error.errno in _NO_ROOM:
        return f"{path or 'The output'} cannot be written ({why}): make room, or name another place"
    return f"{path} cannot be read or written ({why})" if path else str(error)


def foreign_path_hint(path: str, *, windows: bool = os.name == "nt") -> str:
    """Hint for a missing path in another operating system's notation; "" for any other path."""
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
