"""File names for paths: a report is sent around, and where its logs lay is nobody's business."""

import re
from collections.abc import Callable, Iterable, Mapping
from os import PathLike
from pathlib import Path

from tiebreak.ranking_logs.log import RankingLog
from tiebreak.ranking_logs.shards import together


def file_names(given: Iterable[str | PathLike[str]], logs: Iterable[RankingLog]) -> dict[str, str]:
    """What a page says for the paths that may occur in sentences.

    Args:
        given: what was given on the command line: files, and folders that hold some.
        logs: all logs that were read from them.
    """
    names: dict[str, str] = {}
    for path in map(str, given):
        if "://" in path or not Path(path).is_dir():
            names[path] = names[str(Path(path).resolve())] = _name(path)
        else:
            # In front of files that could not be read, say.
            names[f"{Path(path).resolve()}/"] = ""
            if Path(path).is_absolute() or ".." in Path(path).parts:
                names[f"{path.rstrip('/')}/"] = ""
    for log in logs:
        own = [_name(file) for file in log.files]
        names |= dict(zip(log.files, own, strict=True))
        names[log.path] = together(own) if own else _name(log.path)
    return names


def shortener(names: Mapping[str, str]) -> Callable[[str], str]:
    """A function that puts the names for their paths wherever these occur in a text."""
    if not names:
        return lambda text: text
    longest_first = sorted(names, key=len, reverse=True)
    pattern = re.compile("|".join(map(re.escape, longest_first)))
    return lambda text: pattern.sub(lambda found: names[found[0]], text)


def _name(path: str) -> str:
    return path.rstrip("/").rsplit("/", 1)[-1]
