"""A dataset as a folder: what would be published, to be looked at or loaded, without any network.

The folder is treated as the dataset on the Hub is: what is there stays, a second time changes
nothing, and another run under the same name is refused.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tiebreak.publish.bundle import Bundle
from tiebreak.publish.card import BEGIN
from tiebreak.publish.errors import NEVER_CHANGES, PublishError
from tiebreak.publish.latest import README, living_files, same_content


@dataclass(frozen=True, slots=True)
class Written:
    """A file of the folder: its path in the dataset, its size in bytes, whether it was written."""

    path: str
    size: int
    new: bool


def write_folder(
    bundle: Bundle, folder: Path, *, license: str | None, repo_id: str
) -> tuple[Written, ...]:
    """Write a bundle, and the card and latest leaderboard that go with it, into a folder.

    Args:
        bundle: what is to be published.
        folder: the folder; it is made, empty, or a dataset of Tiebreak.
        license: licence id for the card; None leaves it as it is.
        repo_id: "OWNER/NAME", for the examples on the card.

    Returns:
        All files of the bundle and those that change with it, by path.

    Raises:
        PublishError: the folder holds something else, or a file that never changes with another
            content; its card cannot be read; or a file cannot be written.
    """
    there = _there(folder)

    def read(path: str) -> bytes:
        return (folder / path).read_bytes()

    for path, content in bundle.files.items():
        if path in there and not same_content(path, content, read(path)):
            raise PublishError(
                f"{folder / path} is there with another content, and {NEVER_CHANGES}. Remove the "
                "folder, or give another one with --out"
            )
    living = living_files(
        bundle,
        readme=_card(folder) if README in there else None,
        read=read,
        paths=there,
        license=license,
        repo_id=repo_id,
    )
    changed = {
        path: content
        for path, content in living.items()
        if path not in there or not same_content(path, content, read(path))
    }
    new = {path: content for path, content in bundle.files.items() if path not in there} | changed
    write_files(new, folder)
    files = {**bundle.files, **living}
    return tuple(
        Written(path, len(content), path in new) for path, content in sorted(files.items())
    )


def _card(folder: Path) -> str:
    try:
        # As bytes: the line ends that a person chose stay.
        return (folder / README).read_bytes().decode()
    except UnicodeDecodeError as error:
        raise PublishError(f"{folder / README} is no text in UTF-8: mend or remove it") from error


def write_files(files: Mapping[str, bytes], folder: Path) -> None:
    """Write files below a folder.

    Raises:
        PublishError: a file cannot be written.
    """
    for path, content in sorted(files.items()):
        target = folder / path
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        except OSError as error:
            raise PublishError(
                f"{target} cannot be written ({error.strerror or error}): give another folder, or "
                "make room"
            ) from error


def _there(folder: Path) -> frozenset[str]:
    """The files of the folder, by path in the dataset."""
    if folder.exists() and not folder.is_dir():
        raise PublishError(f"{folder} is not a folder: give another one with --out")
    found = frozenset(
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and ".git" not in path.relative_to(folder).parts
    )
    ours = README in found and BEGIN.encode() in (folder / README).read_bytes()
    if found and not ours:
        raise PublishError(
            f"{folder} holds something else than a dataset of Tiebreak: give an empty or a new "
            "folder with --out"
        )
    return found
