"""Filling prompts so that no answer can act as instructions: one substitution pass, and fences.

Templates are `prompts/*.md` with `${slot}` marks. All slots are filled in a single pass, so
inserted text is never scanned again: an answer that contains `${checklist}` stays that text. All
foreign text is placed between fence lines whose mark is derived from the run's seed, the task and
all its answers, so that no answer can contain it, guess it or close the fence.

Providers' prompt caches reuse a common prefix of calls. So a system prompt contains the text common
to all items (instructions, rubric), and a user prompt begins with the text common to all calls
about an item (the fence's mark, the task). The mark precedes all foreign text.
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
    """SHA-256 of all templates: judges with equal fingerprints were asked with the same prompts.

    Templates that show a key count only for `keyed` protocols: others never use them.
    """
    digest = hashlib.sha256()
    for path in sorted(PROMPT_FOLDER.glob("*.md")):
        if path.stem.startswith("stars.") and not keyed:
            continue
        digest.update(f"{path.stem}\n{template(path.stem)}\n".encode())
    return digest.hexdigest()


class Fence:
    """Encloses foreign texts; `mark` is 8 hexadecimal digits that no text contains in any case.

    The mark is derived from `texts`, in any order, and from `salt`: the calls about one task share
    their mark (and a repeated call is found in the cache). Salt is a value shared by all runs with
    the same prompts but unknown to the author of a text: the seed. `more` are texts that only this
    call encloses; in the unlikely case that one of them contains the mark, another one is derived.
    """

    def __init__(
        self, texts: Iterable[str], more: Iterable[str] = (), *, salt: int | str = ""
    ) -> None:
        self._known, self._salt = sorted(texts), salt
        self._enclosed = frozenset(self._known).union(more)
        folded = [_folded(text) for text in self._enclosed]
        # Derived from a counter, not from the previous mark: a text could contain a chain of marks.
        marks = (_digest("\x1f".join([f"{salt}\x1e{n}", *self._known])) for n in count())
        self.mark = next(mark for mark in marks if not any(mark in text for text in folded))

    def around(self, more: Sequence[str]) -> "Fence":
        """The fence of a call that encloses additional texts."""
        if any(self.mark in _folded(text) for text in more):
            return Fence(self._known, more, salt=self._salt)
        wider = copy(self)
        wider._enclosed = self._enclosed.union(more)
        return wider

    def __call__(self, text: str) -> str:
        """Return the text between its fence lines.

        Raises:
            ValueError: the mark was not derived from this text.
        """
        if text not in self._enclosed:
            raise ValueError("this fence was not made for that text")
        return f"<<< {self.mark}\n{text}\n>>> {self.mark}"

    @property
    def line(self) -> str:
        """The line that names the mark; the system prompt explains it."""
        return fill(template("mark"), mark=self.mark)


def _folded(text: str) -> str:
    """Normalise a text for a reader that distinguishes neither capitals nor wide letters."""
    return unicodedata.normalize("NFKC", text).casefold()


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
