"""Filling prompts without letting a candidate speak: one substitution pass, and fences.

Templates are `prompts/*.md` with `${slot}` marks. All slots are filled in a single pass, so text
that is put in is never looked at again: an answer that holds `${checklist}` stays that text. All
foreign text stands between fence lines whose mark is derived from the very texts it encloses, so
that no text can hold its own mark: it can neither be guessed nor closed.
"""

import hashlib
import re
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Final

PROMPT_FOLDER: Final = Path(__file__).parent / "prompts"
_SLOT = re.compile(r"\$\{(\w+)\}")


def fill(template: str, **slots: str) -> str:
    """Fill every `${slot}` of a template in one pass.

    Raises:
        KeyError: the template has a slot that is not given.
        ValueError: a slot is given that the template does not have.
    """
    if unused := set(slots) - set(_SLOT.findall(template)):
        raise ValueError(f"slots that the template does not have: {', '.join(sorted(unused))}")
    return _SLOT.sub(lambda match: slots[match[1]], template)


@lru_cache
def template(name: str) -> str:
    """Text of `prompts/<name>.md`, without the line break at its end."""
    return (PROMPT_FOLDER / f"{name}.md").read_text(encoding="utf-8").rstrip("\n")


class Fence:
    """Encloses foreign texts of one call; `mark` is 16 hexadecimal digits that none of them holds.

    The same texts give the same mark, so that a repeated call is found in the cache.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        enclosed = tuple(texts)
        mark = hashlib.sha256("\x1f".join(enclosed).encode("utf-8", "replace")).hexdigest()[:16]
        while any(mark in text for text in enclosed):
            mark = hashlib.sha256(mark.encode()).hexdigest()[:16]
        self.mark = mark
        self._enclosed = frozenset(enclosed)

    def __call__(self, text: str) -> str:
        """The text between its fence lines.

        Raises:
            ValueError: the text was not among those that the mark was made for.
        """
        if text not in self._enclosed:
            raise ValueError("this fence was not made for that text")
        return f"<<< {self.mark}\n{text}\n>>> {self.mark}"

    @property
    def rule(self) -> str:
        """The sentence that tells a model what the fence lines mean."""
        return fill(template("fence"), fence=self.mark)
