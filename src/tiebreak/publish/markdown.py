"""Foreign text in Markdown: names that stay names, whatever they hold."""

import re
import unicodedata
from typing import Final

LONGEST: Final = 120

# All that can begin markup, a link, a mention, a formula, HTML or a cell of a table. As character
# references they are never read as markup (CommonMark, section 2.5). What is harmless where it
# stands is left alone, for those who read the source: the underscore inside a word (section 6.2),
# the colon that begins neither "//" nor an emoji, the dot that ends no "www".
_MARKUP: Final = re.compile(
    r"[\\`*\[\]<>#|~&$@]|(?<![^\W_])_|_(?![^\W_])|:(?=//|[\w+-]+:)|(?<=www)\.|^[-+=.]"
    r"|^[0-9]+(?=[.)])",
    re.I,
)


def inline(text: str, longest: int = LONGEST) -> str:
    """A text as one line of Markdown that shows just that text.

    Line ends become a space, and others that steer (control, bidi, zero-width) the sign U+FFFD, so
    that a name cannot look like another one; what is too long is cut.
    """
    line = " ".join(text.split())
    shown = "".join("\ufffd" if _steers(char) else char for char in line)
    if len(shown) > longest:
        shown = f"{shown[: longest - 1]}…"
    return _MARKUP.sub(lambda found: "".join(f"&#{ord(c)};" for c in found[0]), shown) or "–"


def _steers(char: str) -> bool:
    # Format, control, surrogate, private, unassigned; line and paragraph separators.
    return unicodedata.category(char)[0] == "C" or unicodedata.category(char) in ("Zl", "Zp")
