"""Sheets as HTML: a fragment for a notebook, with the templates that the report's page uses.

Also the glossary, to which terms in sheets are linked. `glossary.yaml` is its only source, for the
page and for `docs/glossary.md`. Definitions may contain two kinds of markup: `code` and *emphasis*.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, NamedTuple
from unicodedata import category

from tiebreak.plain_yaml import packaged
from tiebreak.report.sheet import Sheet

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

_HERE = Path(__file__).parent


class Term(NamedTuple):
    """A term of the glossary.

    The page has it under the HTML id "term-ID", e.g. "term-borda". `spellings` is a regular
    expression for the words in headings and sentences that are linked to it, "" for none. `see`
    names a page of `docs` that says more, as (title, page).
    """

    name: str
    meaning: str
    id: str
    spellings: str = ""
    see: tuple[str, str] | None = None


def _read() -> Iterator[Term]:
    for term in packaged(__file__, "glossary.yaml"):
        see = tuple(term.pop("see", ())) or None
        yield Term(**term, see=see)


GLOSSARY: Final = tuple(_read())


Kind = Literal["", "code", "em"]

_MARKS: Final = re.compile(r"`([^`]+)`|\*([^*]+)\*")


def markdown() -> str:
    """The glossary as a page of the documentation."""
    blocks = ["# Glossary\n"]
    for term in GLOSSARY:
        meaning = term.meaning
        if term.see:
            title, page = term.see
            meaning = f"{meaning.removesuffix('.')} ([{title}]({page}))."
        blocks.append(f"**{term.name}**\n:   {meaning}\n")
    return "\n".join(blocks)


def pieces(meaning: str) -> Iterator[tuple[Kind, str]]:
    """Split a meaning into (element, text) pairs; the element is "" for plain text."""
    start = 0
    for mark in _MARKS.finditer(meaning):
        yield "", meaning[start : mark.start()]
        yield ("code", mark[1]) if mark[1] else ("em", mark[2])
        start = mark.end()
    yield "", meaning[start:]


def terms_in(text: str) -> Iterator[tuple[re.Match[str], Term]]:
    """The first occurrence of each term in a text, with the term."""
    named = set()
    for match in _pattern().finditer(text):
        term = _terms()[match.lastgroup or ""]
        if term not in named:
            named.add(term)
            yield match, term


@cache
def _terms() -> dict[str, Term]:
    """The terms that have spellings, by the name of their group in `_pattern`."""
    return {term.id.replace("-", "_"): term for term in GLOSSARY if term.spellings}


@cache
def _pattern() -> re.Pattern[str]:
    """A pattern that matches any spelling as a whole word."""
    groups = (f"(?P<{name}>{term.spellings})" for name, term in _terms().items())
    return re.compile(rf"(?<![\w-])(?:{'|'.join(groups)})(?![\w-])")


# Hints at commands to run next, in parentheses or as the last clause of a sentence. The page leaves
# them out because its readers may not have Tiebreak.
_HINT = re.compile(
    r" \([^():;]*(?<![^( `])(?:--[a-z]|tiebreak [a-z])[^():;]*\)"
    r"|[:;.] (?:[^():;.]* )?`?(?:--[a-z]|tiebreak [a-z])[^();]*?(?=\.?$|\)|\. )"
)

# A date or a range: browsers may break the line after its hyphen or dash.
_UNBROKEN = re.compile(r"\d[\d.,]{0,9}%?(?:[-–]\d[\d.,]{0,9}%?){1,2}")


def fragment(sheets: Iterable[Sheet] | Sheet) -> str:
    """Sheets as HTML elements that can be put anywhere in a page, as `_repr_html_` returns them."""
    shown = [sheets] if isinstance(sheets, Sheet) else list(sheets)
    return environment().get_template("fragment.html.jinja").render(sheets=shown)


@cache
def environment() -> "Environment":
    """The Jinja environment: it escapes every text and writes invisible characters as codes."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(
        loader=FileSystemLoader([_HERE / "templates", _HERE / "page" / "templates"]),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,  # a misspelt name in a template is an error
        finalize=visible,
    )
    made.filters |= {"linked": linked, "unhinted": without_commands, "unbroken": non_breaking}
    made.filters |= {"terms": terms, "pieces": pieces}
    made.globals["glossary"] = GLOSSARY
    return made


def linked(text: str) -> "Markup":
    """The text without hints at commands, with a glossary link at the first use of each term."""
    from markupsafe import Markup, escape

    text = without_commands(text)
    made, start = Markup(), 0
    for match, term in terms_in(text):
        made += escape(visible(text[start : match.start()]))
        made += Markup('<a class="term" href="#term-{}">{}</a>').format(term.id, match[0])
        start = match.end()
    return non_breaking(made + escape(visible(text[start:])))


def non_breaking(text: object) -> "Markup":
    """The text with dates and ranges (2026-11-23, 5–32%) kept on one line."""
    from markupsafe import Markup, escape

    # Safe: only digits and signs of a text that is already escaped get tags around them.
    shown = str(escape(visible(text)))
    return Markup(_UNBROKEN.sub(r'<span class="unbroken">\g<0></span>', shown))  # nosec B704


def without_commands(text: str) -> str:
    """The text without its hints at commands to run."""
    return _HINT.sub("", text)


def terms(headings: Iterable[str]) -> list[Term]:
    """The terms that the headings of a table name."""
    return list(dict.fromkeys(term for text in headings for _, term in terms_in(text)))


def visible(value: object) -> object:
    """The text with every character that is not printable as a visible code, e.g. ‹U+202E›.

    Not printable are control characters, marks of direction, zero-width characters and lone
    surrogates. Blanks of all kinds stay, and markup that is already escaped is returned unchanged.
    """
    if not isinstance(value, str) or hasattr(value, "__html__") or value.isprintable():
        return value
    return "".join(
        char
        if char.isprintable() or char in "\t\n" or category(char) == "Zs"
        else f"\u2039U+{ord(char):04X}\u203a"
        for char in value
    )
