"""Hostile answers become HTML that holds nothing of theirs but text."""

from html.parser import HTMLParser

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.cases import cases
from tiebreak.people.page import LONGEST, formatted, marked, mathml, plain

ELEMENTS = {
    *("p", "strong", "em", "s", "code", "pre", "ul", "ol", "li", "blockquote", "hr", "br"),
    *("table", "thead", "tbody", "tr", "th", "td", "mark", "math"),
}
MATHEMATICAL = {"display", "mathvariant", "stretchy", "fence", "separator", "accent"}
ATTRIBUTES = {"class", "start", "movablelimits"} | MATHEMATICAL


class Parts(HTMLParser):
    """Elements and attributes of some HTML, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.parts: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.parts.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.parts.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def checked(html: str) -> Parts:
    parts = Parts(html)
    assert parts.open == []
    mathematical = {name for name in parts.parts if name.startswith("m")}
    assert parts.parts - mathematical <= ELEMENTS
    assert parts.attributes <= ATTRIBUTES
    return parts


PIECES = st.lists(
    st.sampled_from(
        [
            *("<script>alert(1)</script>", "<img src=x onerror=a>", "<http://d>", "&lt;", "</pre>"),
            *("[a](javascript:b)", "![](http://c)", "[e]: http://f\n", "[e]", "word", "*", "__"),
            *("```", "`", "$", "$$", r"\(", r"\)", r"\[", r"\]", "{", "}", r"\frac", "~~"),
            *(r"\text{<b>}", r"\href{x}{y}", r"\style{x}{y}", r"\color{red}"),
            *("\n", "\n\n", "# ", "- ", "> ", "|a|b|\n|-:|:-|\n", "\u202e", "\ud800", "\0"),
        ]
    ),
    max_size=30,
).map("".join)


@settings(max_examples=300)
@given(PIECES)
@example("[a]: javascript:alert(1)\n\n[a] [b][a] ![c][a]")
@example(r"$\text{</math><script>}$ $\text{&lt;script&gt;}$")
def test_nothing_of_an_answer_acts(text: str) -> None:
    for html in (formatted(text), plain(text), *marked(text, "another text")):
        checked(str(html))


@given(PIECES, PIECES)
def test_marks_change_no_text(first: str, second: str) -> None:
    for text, html in zip((first, second), marked(first, second), strict=True):
        assert checked(str(html)).text == Parts(str(plain(text))).text


def test_differences_are_marked() -> None:
    first, second = marked("It is <5> now", "It is 7 now, yes")
    assert "<mark>&lt;5&gt;</mark>" in first
    assert "<mark>7</mark>" in second
    assert second.endswith("<mark>, yes</mark></pre>")
    assert "<mark>" not in "".join(marked("the same", "the same"))
    long = "word " * 3_000
    assert "<mark>" not in marked(f"{long}\n", f"{long}\nmore")[0]


@pytest.mark.parametrize(("text", "html"), cases(__file__, "markdown code and formulas"))
def test_markdown_code_and_formulas(text: str, html: str) -> None:
    assert html in formatted(text)


def test_formulas_keep_no_address_and_no_style() -> None:
    assert "javascript" not in mathml(r"\href{javascript:alert(1)}{x} \style{color:red}{y}")
    assert mathml("\\frac{") == "<code>\\frac{</code>"
    assert mathml("<" * 5_000).startswith("<code>&lt;")


def test_what_is_long_is_shown_plain() -> None:
    html = formatted("*a* " * LONGEST)
    assert "Shown as plain text: it has 80,000 characters." in html
    assert "<em>" not in html
