"""Sheets as HTML: a fragment for a notebook; the report's page is made with the same templates."""

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING
from unicodedata import category

from tiebreak.report.glossary import GLOSSARY, Term, pieces, terms_in
from tiebreak.report.sheet import Sheet

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

_HERE = Path(__file__).parent

# What to run next, as a terminal says it: in brackets, or the last clause of a sentence. A page is
# handed on to people who have no terminal at hand.
_HINT = re.compile(
    r" \([^():;]*(?<![^( `])(?:--[a-z]|tiebreak [a-z])[^():;]*\)"
    r"|[:;.] (?:[^():;.]* )?`?(?:--[a-z]|tiebreak [a-z])[^();]*?(?=\.?$|\)|\. )"
)

# A date, or a range: a browser would go on to the next line after its hyphen or dash.
_UNBROKEN = re.compile(r"\d[\d.,]{0,9}%?(?:[-–]\d[\d.,]{0,9}%?){1,2}")


def fragment(sheets: Iterable[Sheet] | Sheet) -> str:
    """Sheets as elements that may stand anywhere in a page, as `_repr_html_` returns them."""
    shown = [sheets] if isinstance(sheets, Sheet) else list(sheets)
    return environment().get_template("fragment.html.jinja").render(sheets=shown)


@cache
def environment() -> "Environment":
    """Templates in which every text is escaped, and what cannot be seen is made visible."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(
        loader=FileSystemLoader([_HERE / "templates", _HERE / "page" / "templates"]),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        finalize=visible,
    )
    made.filters |= {"linked": linked, "unhinted": unhinted, "unbroken": unbroken}
    made.filters |= {"terms": terms, "pieces": pieces}
    made.globals["glossary"] = GLOSSARY
    return made


def linked(text: str) -> "Markup":
    """A text in which each term of the glossary leads to its meaning where it comes first."""
    from markupsafe import Markup, escape

    text = unhinted(text)
    made, start = Markup(), 0
    for match, term in terms_in(text):
        made += escape(visible(text[start : match.start()]))
        made += Markup('<a class="term" href="#term-{}">{}</a>').format(term.id, match[0])
        start = match.end()
    return unbroken(made + escape(visible(text[start:])))


def unbroken(text: object) -> "Markup":
    """A text whose dates and ranges stay on one line: 2026-11-23, 5–32%."""
    from markupsafe import Markup, escape

    # Digits alone are put between tags, out of what is escaped already.
    shown = str(escape(visible(text)))
    return Markup(_UNBROKEN.sub(r'<span class="unbroken">\g<0></span>', shown))  # nosec B704


def unhinted(text: str) -> str:
    """A text without its hints of commands."""
    return _HINT.sub("", text)


def terms(headings: Iterable[str]) -> list[Term]:
    """The terms that the headings of a table name."""
    return list(dict.fromkeys(term for text in headings for _, term in terms_in(text)))


def visible(value: object) -> object:
    """A text with the codes of what cannot be seen, or would steer what is around it: ‹U+202E›.

    That is whatever is not printable: control characters, marks of direction, zero-width
    characters, lone surrogates. Blanks of all kinds stay, and text that is escaped already.
    """
    if not isinstance(value, str) or hasattr(value, "__html__") or value.isprintable():
        return value
    return "".join(
        char
        if char.isprintable() or char in "\t\n" or category(char) == "Zs"
        else f"\u2039U+{ord(char):04X}\u203a"
        for char in value
    )
