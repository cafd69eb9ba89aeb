"""The command `tiebreak vote` in a process of its own, and a votes file of planted answers."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.forking import Fork
from tests.harness import environment, forks, serving
from tests.ranking_logs.planted_votes import no_votes, write_votes
from tiebreak.people.page import create_app
from tiebreak.ranking_logs.votes_file import (
    PersonVote,
    VotesFile,
    VotesItem,
    open_votes_file,
)


@contextmanager
def voting(*arguments: str, cwd: Path) -> Iterator[tuple[str, Fork]]:
    """The address of a page that is served meanwhile, with its key; and its process."""
    printed, prints = os.pipe()
    command = ("tiebreak", "vote", *arguments)
    files = {"stdout": prints, "stderr": 2}
    process = forks().start(*command, cwd=cwd, env=environment(), **files)
    os.close(prints)
    try:
        with os.fdopen(printed) as lines:
            line = lines.readline()
            match = re.match(r"Vote at (http\S+)", line)
            assert match, line
            yield match[1], process
    finally:
        process.kill()
        process.wait()


SECRET = "a secret of the tests"


@contextmanager
def served_file(file: VotesFile) -> Iterator[str]:
    """The address, with its key, of a page that a thread of the test serves meanwhile."""
    with serving(create_app(file, SECRET)) as address:
        yield f"{address}/?key={SECRET.replace(' ', '+')}"


def votes_item(number: int, answers: Mapping[str, str], benchmark: str = "sums") -> VotesItem:
    """An item that models answered; those with the same text are one group."""
    groups: dict[str, list[str]] = {}
    for model in sorted(answers):
        groups.setdefault(answers[model], []).append(model)
    ballots = no_votes(f"q{number}", [*groups.values()], benchmark=benchmark)
    shown = {group[0]: text for text, group in groups.items()}
    return VotesItem(f"q{number}", 1, "the key", ballots, {"task": "Which?", "answers": shown})


def votes_file(
    path: Path,
    items: Sequence[VotesItem],
    *,
    only: Mapping[str, tuple[tuple[str, str], ...]] | None = None,
    **meta: Any,
) -> VotesFile:
    """A new votes file, open for writing."""
    schedule = {"schedule": "open", "open": only} if only else {}
    write_votes(path, items, [], **{"seed": 0, **schedule, **meta})
    return open_votes_file(path, write=True)


def given(votes: Sequence[PersonVote]) -> list[PersonVote]:
    """The votes that somebody gave."""
    return [vote for vote in votes if vote.choice != "identical"]
