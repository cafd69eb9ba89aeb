"""What the words mean: said once, in `glossary.yaml`, for the page and for `docs/glossary.md`.

Definitions are plain English with two marks: `code` and *emphasis*.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final, Literal

from tiebreak.plain_yaml import read_yaml_file


@dataclass(frozen=True, slots=True)
class Term:
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
    for term in read_yaml_file(Path(__file__).with_suffix(".yaml")):
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
