"""Which functions does a written answer call?

Models write calls in BFCL's form, `[f(a=1, b="x"), g.h(c=[1])]`, or as JSON,
`{"name": "f", "arguments": {"a": 1}}`; bare, in a fence or behind some prose.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from tiebreak.benchmarks.bfcl.notation import (
    Call,
    NoCallsError,
    calls_from_json,
    calls_from_python,
)

__all__ = ["without_thinking", "written_calls"]

LONGEST_ANSWER: Final = 20_000
"""Characters at the end of an answer that are looked at; this and the next bound the time."""
_DEEPEST: Final = 4
"""How many brackets deep inside of others calls are looked for."""

_BRACKET: Final = re.compile(r"[\[\](){}]")
_INSIDE: Final = re.compile(r"\\.|[\[\](){}\"'\n]", re.DOTALL)
_EMPTY_LINE: Final = re.compile(r"[^\S\n]*\n")
_PAIRS: Final = {"]": "[", ")": "(", "}": "{"}
# Fences and the tags around tool calls; a letter outside of them is prose.
_MARKUP: Final = re.compile(r"`{3,}\w*|</?[\w|]+>")
_LETTER: Final = re.compile(r"[^\W\d_]")
_BULLET: Final = re.compile(r"[\s`*•>\-–—\d.)]*")


def written_calls(text: str) -> list[Call]:
    """The calls of an answer, in order; empty when it calls nothing.

    An answer that is nothing but calls is read as BFCL reads it. From any other the last group of
    calls is taken, so that drafts and reasoning before it do not count: JSON or calls in square
    brackets wherever they stand, a bare `f(a=1)` only on lines of its own, since a refusal may
    well mention a function. There a call with unnamed arguments is code and does not count.
    Thinking (`<think>…</think>`) is not part of an answer.
    """
    text = without_thinking(text)[-LONGEST_ANSWER:]
    whole = text.strip().strip("`\n ")
    for read in (calls_from_json, calls_from_python):
        try:
            return read(whole)
        except NoCallsError:
            continue
    return _last_group(text)


def without_thinking(text: str) -> str:
    """An answer without what was thought aloud; a thought without an end has no answer after it."""
    return text.rpartition("</think>")[2].partition("<think>")[0]


def _last_group(text: str) -> list[Call]:
    """The last calls of a text without prose between them."""
    group: list[Call] = []
    begin = len(text)
    for span in _spans_backwards(text):
        if span.end > begin:
            continue
        if group and _LETTER.search(_MARKUP.sub("", text[span.end : begin])):
            break
        if calls := _calls_in(text[span.begin : span.end], span.bare):
            group = calls + group
            begin = span.begin
    return group


class _Span(NamedTuple):
    """A part of a text that may be calls: in brackets, or whole lines around a bare call."""

    begin: int
    end: int
    bare: bool


def _calls_in(text: str, bare: bool) -> list[Call]:
    if not bare:
        try:
            return calls_from_json(text)
        except NoCallsError:
            pass
    if "(" not in text:
        return []
    try:
        calls = calls_from_python(text, only_named=True)
    except NoCallsError:
        return []
    # `main()` on a line of its own is a line of a program.
    return [] if bare and not all(call.arguments for call in calls) else calls


def _spans_backwards(text: str) -> Iterator[_Span]:
    """What stands in brackets, from the end; outer brackets before those inside."""
    tried = len(text)
    for begin, end in reversed(_brackets(text)):
        if text[begin] != "(":
            yield _Span(begin, end, bare=False)
        elif begin < tried:
            lines = _lines_around(text, begin, end)
            tried = lines.begin
            yield lines


def _lines_around(text: str, begin: int, end: int) -> _Span:
    """The lines of a part of a text, without bullets, numbers and fences."""
    first = text.rfind("\n", 0, begin) + 1
    last = text.find("\n", end)
    last = len(text) if last < 0 else last
    bullet = _BULLET.match(text, first, begin)
    first = bullet.end() if bullet else first
    return _Span(first, first + len(text[first:last].rstrip("`*,;. \t\r")), bare=True)


def _brackets(text: str) -> list[tuple[int, int]]:
    """Where brackets open and close, in the order in which they close.

    Brackets in quotes do not count. A quote ends with its line, so that an apostrophe does little
    harm, and an empty line closes all brackets.
    """
    found: list[tuple[int, int]] = []
    opened: list[int] = []
    quote, position = "", 0
    while mark := (_INSIDE if opened else _BRACKET).search(text, position):
        sign, position = mark[0], mark.end()
        if sign == "\n":
            quote = ""
            if _EMPTY_LINE.match(text, position):
                opened.clear()
        elif quote:
            quote = "" if sign == quote else quote
        elif sign in {'"', "'"}:
            quote = sign
        elif sign in _PAIRS.values():
            opened.append(mark.start())
        elif sign in _PAIRS:
            if not opened or text[opened[-1]] != _PAIRS[sign]:
                opened.clear()
            elif len(opened) <= _DEEPEST:
                found.append((opened.pop(), position))
            else:
                opened.pop()
    return found
