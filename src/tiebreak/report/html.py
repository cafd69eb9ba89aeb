"""Sheets as HTML: a fragment for a notebook; the report's page is made with the same templates.

And the glossary, whose words they link: it stands once, in `glossary.yaml`, for the page and for
`docs/glossary.md`. Definitions are plain English with two marks: `code` and *emphasis*.
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
    """A word and its meaning.

    `id` is where the page has it, "term-borda" say. `spellings` is a pattern of the words in
    headings and sentences that lead there, "" where none does. `see` is where the documentation
    says more: a title, and a page of `docs`.
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
    """The glossary as the page of the documentation."""
    blocks = ["# Glossary\n"]
    for term in GLOSSARY:
        meaning = term.meaning
        if term.see:
            title, page = term.see
            meaning = f"{meaning.removesuffix('.')} ([{title}]({page}))."
        blocks.append(f"**{term.name}**\n:   {meaning}\n")
    return "\n".join(blocks)


def pieces(meaning: str) -> Iterator[tuple[Kind, str]]:
    """A meaning as texts, each with the element that it stands in."""
    start = 0
    for mark in _MARKS.finditer(meaning):
        yield "", meaning[start : mark.start()]
        yield ("code", mark[1]) if mark[1] else ("em", mark[2])
        start = mark.end()
    yield "", meaning[start:]


def terms_in(text: str) -> Iterator[tuple[re.Match[str], Term]]:
    """Where a text names terms, each the first time."""
    named = set()
    for match in _pattern().finditer(text):
        term = _terms()[match.lastgroup or ""]
        if term not in named:
            named.add(term)
            yield match, term


@cache
def _terms() -> dict[str, Term]:
    """The terms that have spellings, by a name for a group of a pattern."""
    return {term.id.replace("-", "_"): term for term in GLOSSARY if term.spellings}


@cache
def _pattern() -> re.Pattern[str]:
    """All spellings, as whole words."""
    groups = (f"(?P<{name}>{term.spellings})" for name, term in _terms().items())
    return re.compile(rf"(?<![\w-])(?:{'|'.join(groups)})(?![\w-])")


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
    made.filters |= {"linked": linked, "unhinted": without_commands, "unbroken": non_breaking}
    made.filters |= {"terms": terms, "pieces": pieces}
    made.globals["glossary"] = GLOSSARY
    return made


def linked(text: str) -> "Markup":
    """A text in which each term of the glossary leads to its meaning where it comes first."""
    from markupsafe import Markup, escape

    text = without_commands(text)
    made, start = Markup(), 0
    for match, term in terms_in(text):
        made += escape(visible(text[start : match.start()]))
        made += Markup('<a class="term" href="#term-{}">{}</a>').format(term.id, match[0])
        start = match.end()
    return non_breaking(made + escape(visible(text[start:])))


def non_breaking(text: object) -> "Markup":
    """A text whose dates and ranges stay on one line: 2026-11-23, 5–32%."""
    from markupsafe import Markup, escape

    # Digits alone are put between tags, out of what is escaped already.
    shown = str(escape(visible(text)))
    return Markup(_UNBROKEN.sub(r'<span class="unbroken">\g<0></span>', shown))  # nosec B704


def without_commands(text: str) -> str:
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
