"""A dataset as a folder: what would be published, to look at or to load, without any network.

As on the Hub, what is there stays, a second time changes nothing, and another version of a run is
refused.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tiebreak.publish.bundle import Bundle
from tiebreak.publish.card import BEGIN, README
from tiebreak.publish.errors import PublishError
from tiebreak.publish.latest import CONTESTS, LATEST
from tiebreak.publish.missing import Dataset, missing_files

# What a killed process leaves behind.
_DRAFT: Final = ".writing"


@dataclass(frozen=True, slots=True)
class Written:
    """A file of the folder: its path in the dataset, its size in bytes, whether it was written."""

    path: str
    size: int
    new: bool


class _Folder(Dataset):
    """The dataset in a folder, which may be empty, or not be there yet."""

    remedy = "Remove the folder, or give another one with --out"

    def __init__(self, folder: Path) -> None:
        self.name = str(folder)
        self.known = {
            path.relative_to(folder).as_posix(): path
            for path in folder.rglob("*")
            if path.is_file()
            and ".git" not in path.relative_to(folder).parts
            and not path.name.endswith(_DRAFT)
        }

    def read(self, path: str) -> bytes:
        content: bytes = self.known[path].read_bytes()
        return content


def write_folder(
    bundle: Bundle, folder: Path, *, license: str | None, repo_id: str
) -> tuple[Written, ...]:
    """Write a bundle, and the card and latest tables that go with it, into a folder.

    The folder is made, empty, or a dataset of Tiebreak; the other arguments are those of
    `publish_dataset`.

    Returns:
        All files of the bundle and those that change with it, by path.

    Raises:
        PublishError: the folder holds something else, or a file that never changes with another
            content; its card cannot be read; or a file cannot be written.
    """
    new = missing_files(bundle, _look(folder), license=license, repo_id=repo_id)
    write_files(new, folder)
    return tuple(
        Written(path, (folder / path).stat().st_size, path in new)
        for path in sorted({*bundle.files, README, LATEST, CONTESTS})
        if (folder / path).exists()
    )


def write_files(files: Mapping[str, bytes], folder: Path) -> None:
    """Write files below a folder.

    Raises:
        PublishError: a file cannot be written.
    """
    for path, content in sorted(files.items()):
        target = folder / path
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            _write(target, content)
        except OSError as error:
            raise PublishError(
                f"{target} cannot be written ({error.strerror or error}): give another folder, or "
                "make room"
            ) from error


def _write(target: Path, content: bytes) -> None:
    """A file as a whole or not at all: a half would be another version of what never changes."""
    draft = target.with_name(f".{target.name}.{os.getpid()}{_DRAFT}")
    try:
        draft.write_bytes(content)
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)


def _look(folder: Path) -> _Folder:
    if folder.exists() and not folder.is_dir():
        raise PublishError(f"{folder} is not a folder: give another one with --out")
    found = _Folder(folder)
    if found and BEGIN.encode() not in found.get(README, b""):
        raise PublishError(
            f"{folder} holds something else than a dataset of Tiebreak: give an empty or a new "
            "folder with --out"
        )
    return found
