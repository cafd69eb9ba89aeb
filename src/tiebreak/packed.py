"""Safe reading of compressed files: `.gz` and `.zst` (one file each) and `.zip` archives.

A small file can unpack to more than fits on the disk, and an archive can contain paths that lead
outside the target folder.
"""

import gzip
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from shutil import copyfileobj
from tempfile import TemporaryDirectory
from typing import IO, Any
from zipfile import BadZipFile, ZipFile

from tiebreak.paths import problem_with

# Logs compress well, but none is both larger than this and this many times its packed size.
_ALWAYS_READ = 2**29
_MOST_TIMES = 300
_BLOCK = 2**17


def unpacked_name(name: str) -> str:
    """The file name without `.gz` or `.zst`."""
    return name.removesuffix(".gz").removesuffix(".zst")


def most_unpacked(path: Path) -> int:
    """Maximum size in bytes to which a packed file may unpack."""
    return max(_ALWAYS_READ, _MOST_TIMES * path.stat().st_size)


@contextmanager
def stream(path: Path) -> Iterator[IO[bytes] | Any]:
    """Open a file for reading, unpacking it on the fly.

    Raises:
        OSError: it cannot be opened.
        ValueError: on opening or while reading: it is damaged or cut off.
    """
    kind = {".gz": "gzip", ".zst": "zstd"}.get(path.suffix, "")
    try:
        with path.open("rb") as file:
            if kind == "zstd":
                yield zstd().stream_reader(file, read_across_frames=True)
            else:
                yield gzip.GzipFile(fileobj=file) if kind else file
    except EOFError as error:
        raise ValueError(f"is a {kind} file that is cut off: copy or pack it again") from error
    except _damages() as error:
        raise ValueError(f"is a damaged {kind} file ({error}): copy or pack it again") from error


def zstd() -> Any:
    """A zstd decompressor, to be used by a single thread."""
    try:
        import zstandard
    except ImportError as error:
        raise ValueError("is packed by zstd, which needs: pip install zstandard") from error
    return zstandard.ZstdDecompressor()


def _damages() -> tuple[type[Exception], ...]:
    zstandard = sys.modules.get("zstandard")
    return (gzip.BadGzipFile, zlib.error, *([zstandard.ZstdError] if zstandard else []))


def head_of(path: Path, size: int = 2**16) -> bytes:
    """The first `size` unpacked bytes of a file; b"" if it cannot be read."""
    if problem_with(path):  # opening a pipe would block
        return b""
    try:
        with stream(path) as file:
            return bytes(file.read(size))
    except (OSError, ValueError):
        return b""


@contextmanager
def unpacked(path: Path) -> Iterator[Path]:
    """The path of a file, or of a temporary unpacked copy if it is packed.

    Raises:
        OSError: it cannot be opened, or the disk is full.
        ValueError: it is damaged, cut off, or holds too much.
    """
    if unpacked_name(path.name) == path.name:
        yield path
        return
    with TemporaryDirectory(prefix="tiebreak-") as folder:
        target, most = Path(folder) / unpacked_name(path.name), most_unpacked(path)
        with stream(path) as source, target.open("wb") as file:
            while chunk := source.read(_BLOCK):
                if file.tell() + len(chunk) > most:
                    raise ValueError(f"unpacked it would take more than {most // 2**20:,} MB")
                file.write(chunk)
        yield target


def unpack_zip(path: Path, folder: Path, wanted: Callable[[str], bool]) -> None:
    """Unpack the files of an archive whose names are `wanted` into a folder.

    Raises:
        OSError: the archive cannot be opened, or the disk is full.
        ValueError: it is damaged, encrypted, too large, or has a file that leads out of the folder.
    """
    try:
        with ZipFile(path) as archive:
            members = [member for member in archive.infolist() if not member.is_dir()]
            members = [member for member in members if wanted(member.filename)]
            size = sum(member.file_size * _times(member.filename) for member in members)
            if size > most_unpacked(path):
                raise ValueError(f"unpacked it would take {size // 2**20:,} MB")
            for member in members:
                target = place_below(folder, member.filename)
                target.parent.mkdir(parents=True, exist_ok=True)
                # ZipFile reads at most the declared size of a member, so the check above holds.
                with archive.open(member) as source, target.open("xb") as file:
                    copyfileobj(source, file)
    except FileExistsError as error:
        raise ValueError(f"holds {member.filename!r} twice") from error
    except (BadZipFile, EOFError, zlib.error, NotImplementedError, RuntimeError) as error:
        raise ValueError(f"cannot be unpacked ({error})") from error  # RuntimeError: a password


def _times(name: str) -> int:
    """Factor by which a member may grow when unpacked again: it may itself be packed."""
    return 30 if name.endswith((".eval", ".gz", ".zst")) else 1


def place_below(folder: Path, name: str) -> Path:
    """Path in `folder` of an archive's file; ValueError if its name leads out of the folder."""
    place = folder.joinpath(*PurePosixPath(name).parts)
    if ".." in place.parts or not place.is_relative_to(folder):
        raise ValueError(f"holds {name!r}, which leads out of it")
    return place
