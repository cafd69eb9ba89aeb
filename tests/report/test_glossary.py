"""The glossary: the documentation's page is made from it, and the report links into it."""

from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from tests.cases import cases
from tests.expected import renewed
from tests.report.page.sample_report import HOSTILE, report
from tiebreak.report.html import (
    GLOSSARY,
    linked,
    markdown,
    pieces,
    terms,
    terms_in,
    without_commands,
)
from tiebreak.report.page.build import render

PAGE = Path(__file__).parents[2] / "docs" / "glossary.md"


def test_the_documentation_is_made_from_it() -> None:
    renewed(PAGE, markdown())


def test_terms_are_in_order_and_have_ids_of_their_own() -> None:
    names = [term.name.casefold() for term in GLOSSARY]
    assert names == sorted(names)
    assert len({term.id for term in GLOSSARY}) == len(GLOSSARY)


@pytest.mark.parametrize(("text", "ids"), cases(__file__, "words_that_lead_to_a_meaning"))
def test_words_that_lead_to_a_meaning(text: str, ids: list[str]) -> None:
    assert [term.id for _, term in terms_in(text)] == ids
    assert [term.id for term in terms(text.split(", ")) if ids] == ids


def test_only_the_first_of_a_kind_is_linked_and_what_is_foreign_stays_text() -> None:
    text = linked("Tiers: <b>a\u202e</b> · tier 2")
    tiers = '<a class="term" href="#term-tier">Tiers</a>'
    assert text == f"{tiers}: &lt;b&gt;a‹U+202E›&lt;/b&gt; · tier 2"
    assert "<script" not in linked(f"{HOSTILE} Borda")


@pytest.mark.parametrize(("text", "left"), cases(__file__, "a_page_has_no_command_to_run"))
def test_a_page_has_no_command_to_run(text: str, left: str) -> None:
    assert without_commands(text) == left
    assert linked("<b>" + text).endswith(left)


@pytest.mark.parametrize(("meaning", "found"), cases(__file__, "marks_become_elements"))
def test_marks_become_elements(meaning: str, found: list[list[str]]) -> None:
    assert [list(piece) for piece in pieces(meaning)] == found


def test_every_link_of_a_report_has_its_meaning() -> None:
    page = BeautifulSoup(render(report(folded=True)), "html.parser")
    links = {str(link["href"])[1:] for link in page.select('a[href^="#term-"]')}
    ids = {str(tag["id"]) for tag in page.select("[id]")}
    assert {"term-tier", "term-trust", "term-borda"} <= links <= ids
    assert {f"term-{term.id}" for term in GLOSSARY} <= ids
