"""Files and folders as functions take them: one, or several."""

from collections.abc import Iterable
from os import PathLike

AnyPath = str | PathLike[str]
Paths = AnyPath | Iterable[AnyPath]


def path_list(paths: Paths) -> list[AnyPath]:
    """A single path, or all of several, as a list."""
    return [paths] if isinstance(paths, (str, PathLike)) else list(paths)
