"""What to say when somebody names a thing that is not there."""

from collections.abc import Sequence
from difflib import get_close_matches

_LISTED = 10


def suggestion(name: str, known: Sequence[str]) -> str:
    """The known names that look like this one, else the known names."""
    close = get_close_matches(name, known, n=3)
    if close:
        return f"did you mean {' or '.join(map(repr, close))}?"
    more = ", …" if len(known) > _LISTED else ""
    return f"there are {', '.join(map(repr, known[:_LISTED]))}{more}"
