"""File names for paths: where logs lie is not shown in a report, which is sent around."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from os import PathLike
from pathlib import Path

from tiebreak.ranking_logs.joins import together
from tiebreak.ranking_logs.log import RankingLog


def file_names(given: Iterable[str | PathLike[str]], logs: Iterable[RankingLog]) -> dict[str, str]:
    """A name for every path, no two logs of one name.

    Args:
        given: what was given on the command line: files, and folders that hold some.
        logs: all logs that were read from them.
    """
    names: dict[str, str] = {}
    for path in map(str, given):
        if "://" in path or not Path(path).is_dir():
            names[path] = names[str(Path(path).resolve())] = file_name(path)
        else:
            # In front of files that could not be read, say.
            names[f"{Path(path).resolve()}/"] = ""
            if Path(path).is_absolute() or ".." in Path(path).parts:
                names[f"{path.rstrip('/')}/"] = ""
    taken: set[str] = set()
    for log in logs:
        own = [_free(file_name(file), taken) for file in log.files]
        names |= dict(zip(log.files, own, strict=True))
        names[log.path] = together(own) if own else _free(file_name(log.path), taken)
    return names


def renamed(log: RankingLog, names: Mapping[str, str]) -> RankingLog:
    """The log under its name: whatever is computed from it then says the name for the path."""
    return replace(
        log,
        path=names[log.path],
        files=tuple(names[file] for file in log.files),
        # Sentences that were made while files were read.
        notes=tuple(map(shortener(names), log.notes)),
    )


def shortener(names: Mapping[str, str]) -> Callable[[str], str]:
    """A function that puts the names for their paths wherever these occur in a text."""
    if not names:
        return lambda text: text
    longest_first = sorted(names, key=len, reverse=True)
    pattern = re.compile("|".join(map(re.escape, longest_first)))
    return lambda text: pattern.sub(lambda found: names[found[0]], text)


def file_name(path: str) -> str:
    """The name of a file, wherever it lies."""
    return path.rstrip("/").rsplit("/", 1)[-1]


def _free(name: str, taken: set[str]) -> str:
    """A name that no other log has: a.eval, then a.eval (2)."""
    number = 1
    free = name
    while free in taken:
        number += 1
        free = f"{name} ({number})"
    taken.add(free)
    return free
