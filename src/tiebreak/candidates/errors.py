"""Problems with candidate files, and the error that lists them.

Readers do not raise at the first bad row: they collect problems, so that one pass shows everything
that needs fixing. A problem is a `Note` whose kind has a text in `hints.yaml`.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Final, Self

from tiebreak.candidates.native import NO_NATIVE_SCORES
from tiebreak.candidates.pool import Note
from tiebreak.errors import TiebreakError
from tiebreak.plain_yaml import packaged
from tiebreak.text import count, natural_key

MAX_LISTED = 20


@cache
def hints() -> Mapping[str, str]:
    """Advice for each kind of problem, in the order in which loading meets them."""
    texts: dict[str, str] = packaged(__file__, "hints.yaml")
    return texts


COMMAND_LINE: Final = {"intersect": "--mode intersect", "same_settings": "--same-settings"}
"""Spelling of the options in `hints.yaml` on the command line."""

# Options of loading in the hints that tasks do not have.
_LOADING: Final = re.compile(r"--(?:filter|metric|name|rename)\b")
_CHOICES: Final = {"native_choice": "--metric", "filter_choice": "--filter"}
"""Kinds of notes that tell the user to choose, and the option that they name."""


class CandidateError(TiebreakError, ValueError):
    """Candidate files cannot be made into a pool.

    `notes` lists all problems, the earliest kind first, then notes that help to understand them.
    `hints` has one sentence of advice for each kind of problem, spelt for the command line.
    `options` are the options of loading that the message names, sorted.
    """

    def __init__(self, problems: Sequence[Note], context: Sequence[Note] = ()) -> None:
        self.notes = (*problems, *context)
        self._kinds = tuple(dict.fromkeys(note.kind for note in problems))
        self.hints = self._hints(COMMAND_LINE)
        noted = {note.kind for note in self.notes[:MAX_LISTED] if note.what != NO_NATIVE_SCORES}
        chosen = (option for kind, option in _CHOICES.items() if kind in noted)
        self.options = sorted({*_LOADING.findall(" ".join(self.hints)), *chosen})
        super().__init__(problems, context)  # as `args`, so that the error can be pickled

    @classmethod
    def of(cls, kind: str, where: str, message: str) -> Self:
        """An error with a single problem."""
        return cls([Note(kind, where, message)])

    @property
    def kind(self) -> str:
        """Kind of the earliest problem, a key of `hints`."""
        return self.notes[0].kind

    def __str__(self) -> str:
        return self.message(COMMAND_LINE)

    def message(self, spelling: Mapping[str, str]) -> str:
        """The message with options spelt as in `spelling` instead of `COMMAND_LINE`."""
        listed = [f"  - {note}" for note in self.notes[:MAX_LISTED]]
        if len(self.notes) > MAX_LISTED:
            listed.append(f"  - and {len(self.notes) - MAX_LISTED} more")
        files = "prompts" if self._kinds == ("prompts",) else "candidate files"
        heading = f"{count(len(self.notes), 'problem')} in the {files}:"
        return "\n".join([heading, *listed, *self._hints(spelling)])

    def _hints(self, spelling: Mapping[str, str]) -> tuple[str, ...]:
        return tuple(hints()[kind].format_map(spelling) for kind in self._kinds)


def raise_problems(problems: Iterable[Note], context: Sequence[Note] = ()) -> None:
    """Raise one error that lists all problems, the earliest kind first, and then the context.

    Problems may come in any order. Do nothing if there are none.
    """
    if problems := list(problems):
        stages = list(hints())
        problems.sort(
            key=lambda note: (stages.index(note.kind), note.where, natural_key(note.what))
        )
        raise CandidateError(problems, context)
