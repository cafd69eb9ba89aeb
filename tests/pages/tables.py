"""What is put in place of words on the pages, and the commands that are not run."""

import re
import sqlite3
from collections.abc import Callable, Mapping
from typing import Final

from tests.cases import cases
from tests.fair.bank.serving import KEYS
from tests.pages.shell import Shell

NOT_RUN: Final[Mapping[str, str]] = cases(__file__, "not_run")
"""How commands begin that are not run, and the file that says or does what there is instead.

Packages are installed from locks before any test; this is `make test`'s and `make demo`'s machine;
and it has no Docker.
"""

REMOVED: Final[Mapping[str, list[str]]] = cases(__file__, "removed")
"""What the commands of a page make themselves, so that it is not there before."""

GIVEN: Final[Mapping[str, Mapping[str, str]]] = {
    "docs/papers.md": {"TIEBREAK_JWT_SECRET": KEYS.verifying}
}
"""What is in the environment beforehand, since another page speaks of it."""

Replacement = str | Callable[[Shell], str]


def session(number: int, state: str = "complete") -> Callable[[Shell], str]:
    """The id of a session of the bank, counted from the newest."""

    def found(shell: Shell) -> str:
        query = "SELECT id FROM sessions WHERE state = ? ORDER BY created DESC, id"
        with sqlite3.connect(shell.folder / "bank.db") as connection:
            return str(connection.execute(query, [state]).fetchall()[number][0])

    return found


def stars_log(shell: Shell) -> str:
    """The newest log of stars in logs/."""
    found = max(
        (shell.folder / "logs").glob("*_stars_*.eval"), key=lambda path: path.stat().st_mtime
    )
    return f"logs/{found.name}"


def token(shell: Shell) -> str:
    """A new token of the bank."""
    return shell.run("tiebreak bank token --user bea --institution example.org").strip()


def jti(shell: Shell) -> str:
    """The id of a token of the bank."""
    with sqlite3.connect(shell.folder / "bank.db") as connection:
        return str(connection.execute("SELECT jti FROM tokens").fetchone()[0])


PUT: Final[Mapping[str, Replacement]] = {
    **cases(__file__, "put"),
    # What only the reader knows.
    r"TIEBREAK_TOKEN=…": lambda shell: f"TIEBREAK_TOKEN={token(shell)}",
    r"bank close 3f2a…": lambda shell: f"bank close {session(0, 'open')(shell)}",
    r"logs/stars\.eval": stars_log,
    r"\bSESSION\b|\b3f2a…": session(0),
    r"\b77c1…": session(1),
    r"\b0f8e5bd2f8b04f1e9a4c7d2b6a3e1c90\b": jti,
    r"https://exam\.example\.org|http://127\.0\.0\.1:8080": lambda shell: shell.address,
    r"postgresql://me@host/bank": lambda shell: shell.database,
}
"""Patterns, and what is put in place of what they match."""


def why_not_run(line: str) -> str | None:
    """What there is in place of running this command; None where it is run."""
    return next((why for start, why in NOT_RUN.items() if line.startswith(start)), None)


def put(line: str, shell: Shell) -> str:
    """A line with what is put in place of its words."""
    for pattern, new in PUT.items():
        if re.search(pattern, line):
            text = new if isinstance(new, str) else new(shell)
            line = re.sub(pattern, text, line)
    return line
