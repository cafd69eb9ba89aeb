r"""Where a written answer says what its final answer is: "answer: …", `\boxed{…}`, `#### …`."""

import re
from collections import deque
from collections.abc import Iterator
from typing import Final

BOXED: Final = r"\\boxed\s*\{(?P<boxed>(?:[^{}]|\{[^{}]*+\})*+)\}"
"""A LaTeX box; braces inside of it may be nested once."""

_LAST: Final = 20
_LONGEST: Final = 500


def marked(marks: re.Pattern[str], text: str) -> Iterator[str]:
    """What the marks of a text point at, the last mark first.

    That is the content of a box, else the rest of the line, or the next line that is not empty.
    Only the last 20 marks and 500 characters behind each count, so that no answer takes long.

    Args:
        marks: Pattern of a mark, with a group `boxed` for the content of a box.
        text: A written answer.
    """
    for mark in reversed(deque(marks.finditer(text), maxlen=_LAST)):
        if mark["boxed"] is not None:
            yield mark["boxed"][:_LONGEST]
        else:
            yield text[mark.end() : mark.end() + _LONGEST].lstrip().partition("\n")[0]
