"""Growing the checklist: a proposal joins unless it says what an item already says (SEAL, A.5)."""

import re
import unicodedata
from collections.abc import Sequence
from typing import Final

from tiebreak.scorers.rubric import ChecklistItem

DUPLICATE_OVERLAP: Final = 0.7
"""Two items are duplicates when their words overlap (Jaccard) at least this much."""


def words(text: str) -> frozenset[str]:
    """The words of a text: NFKC, case-folded, letters and digits only."""
    return frozenset(re.findall(r"\w+", unicodedata.normalize("NFKC", text).casefold()))


def duplicate_of(description: str, checklist: Sequence[ChecklistItem]) -> str | None:
    """Id of the first item that the description repeats, or None.

    The rule: |A ∩ B| / |A ∪ B| ≥ `DUPLICATE_OVERLAP` over the sets of words.
    """
    new = words(description)
    for item in checklist:
        old = words(item.description)
        if len(new & old) >= DUPLICATE_OVERLAP * len(new | old):
            return item.id
    return None


def next_id(checklist: Sequence[ChecklistItem]) -> str:
    """The first free id of the form `C<number>`."""
    taken = {item.id for item in checklist}
    number = len(checklist) + 1
    while f"C{number}" in taken:
        number += 1
    return f"C{number}"
