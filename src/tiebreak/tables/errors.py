"""Errors of files of ballots, scores, rounds or people's rankings, and texts for their messages.

Every message names the file and, where it helps, the line, and says what to do next.
"""

from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

from tiebreak.errors import TiebreakError
from tiebreak.paths import MISSING, problem_with
from tiebreak.text import listed

_SHOWN, _FIRST_LINE, _LISTED, _COMPARED = 80, 200, 10, 5_000


class TableError(TiebreakError, ValueError):
    """A file of ballots, scores, rounds or people's rankings cannot be used."""


class UnreadableFileError(TableError):
    """A file cannot be opened, is damaged, or is not text in UTF-8; in a folder it is skipped."""


def require_path(path: Path) -> None:
    """Check that a path is a file or a folder.

    Raises:
        TableError: it does not exist.
        UnreadableFileError: it cannot be opened, or is a pipe or a device.
    """
    problem = problem_with(path)
    if problem == MISSING:
        help_ = "check the spelling, paths are relative to the working directory"
        raise TableError(f"{path} {problem}; {help_}")
    if problem:
        raise UnreadableFileError(f"{path} {problem}")


def shown(text: object) -> str:
    """Quote a text from a file for a message: shortened, without control characters."""
    quoted = repr(text)
    return quoted if len(quoted) <= _SHOWN else f"{quoted[: _SHOWN - 1]}…"


def first_line(text: str) -> str:
    """The first line of another program's error message, cut to the length of a note."""
    line = next(iter(text.strip().splitlines()), "no message")
    return line if len(line) <= _FIRST_LINE else f"{line[: _FIRST_LINE - 1]}…"


def suggestion(name: str, known: Sequence[str]) -> str:
    """A question with the known names that resemble `name`, or else a list of the known names."""
    # Comparing takes a tenth of a millisecond per name, and more for long names.
    close = get_close_matches(name, known[:_COMPARED], n=3) if len(name) <= _SHOWN else []
    if close:
        return f"did you mean {' or '.join(map(repr, close))}?"
    return f"there are {listed(list(map(shown, known)), most=_LISTED)}"
