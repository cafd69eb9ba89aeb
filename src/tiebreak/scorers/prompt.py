"""Filling prompts without letting a candidate speak: one substitution pass, and fences.

Templates are `prompts/*.md` with `${slot}` marks. All slots are filled in a single pass, so text
that is put in is never looked at again: an answer that holds `${checklist}` stays that text. All
foreign text stands between fence lines whose mark is derived from the run's seed, the task and all
its answers, so that no answer can hold it: it can neither be guessed nor closed.

Providers' prompt caches serve what calls have in common at their beginning. So a system prompt
holds what is the same for all items (instructions, rubric), and a user's begins with what is the
same for all calls about an item (the fence's mark, the task), before what differs. The mark stands
before any foreign text.
"""

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Sequence
from copy import copy
from functools import lru_cache
from itertools import count
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
    if unused := slots.keys() - slots_of(template):
        raise ValueError(f"slots that the template does not have: {', '.join(sorted(unused))}")
    return _SLOT.sub(lambda match: slots[match[1]], template)


@lru_cache
def slots_of(template: str) -> frozenset[str]:
    """The names of a template's slots."""
    return frozenset(_SLOT.findall(template))


@lru_cache
def template(name: str, folder: Path = PROMPT_FOLDER) -> str:
    """Text of `<name>.md` in a folder of prompts, without the line break at its end."""
    return (folder / f"{name}.md").read_text(encoding="utf-8").rstrip("\n")


@lru_cache
def fingerprint(*, keyed: bool = False) -> str:
    """SHA-256 of all templates: where it is the same, judges were asked in the same words.

    Those that show a key count only for protocols that are `keyed`: others never fill them.
    """
    digest = hashlib.sha256()
    for path in sorted(PROMPT_FOLDER.glob("*.md")):
        if path.stem.startswith("stars.") and not keyed:
            continue
        digest.update(f"{path.stem}\n{template(path.stem)}\n".encode())
    return digest.hexdigest()


class Fence:
    """Encloses foreign texts; `mark` is 8 hexadecimal digits that none of them holds in any case.

    The mark follows from `texts`, in any order, and from `salt`: the calls about one task share
    their mark (and a repeated call is found in the cache). Salt is what all runs have in common
    that ask in the same words and what an author of a text does not know: the seed. `more` are
    texts that only this call encloses; in the unlikely case that one of them holds the mark,
    another one is derived.
    """

    def __init__(
        self, texts: Iterable[str], more: Iterable[str] = (), *, salt: int | str = ""
    ) -> None:
        self._known, self._salt = sorted(texts), salt
        self._enclosed = frozenset(self._known).union(more)
        folded = [_folded(text) for text in self._enclosed]
        # Counted, not derived from the mark before: a text could hold all of a chain of marks.
        marks = (_digest("\x1f".join([f"{salt}\x1e{n}", *self._known])) for n in count())
        self.mark = next(mark for mark in marks if not any(mark in text for text in folded))

    def around(self, more: Sequence[str]) -> "Fence":
        """The fence of a call that encloses further texts."""
        if any(self.mark in _folded(text) for text in more):
            return Fence(self._known, more, salt=self._salt)
        wider = copy(self)
        wider._enclosed = self._enclosed.union(more)
        return wider

    def __call__(self, text: str) -> str:
        """The text between its fence lines.

        Raises:
            ValueError: the text was not among those that the mark was made for.
        """
        if text not in self._enclosed:
            raise ValueError("this fence was not made for that text")
        return f"<<< {self.mark}\n{text}\n>>> {self.mark}"

    @property
    def line(self) -> str:
        """The line that names the mark; what it means is said in the system prompt."""
        return fill(template("mark"), mark=self.mark)


def _folded(text: str) -> str:
    """A text as a reader may take it, who tells neither capitals nor wide letters apart."""
    return unicodedata.normalize("NFKC", text).casefold()


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
