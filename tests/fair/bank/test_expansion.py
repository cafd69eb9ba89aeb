"""A choice becomes other questions; what would become nonsense is refused."""

import re
from dataclasses import replace
from string import ascii_uppercase
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import cases
from tests.fair.bank.questions import MATERIAL, choice
from tiebreak.fair.bank import expansion
from tiebreak.fair.bank.expansion import expand
from tiebreak.fair.bank.question import BankQuestion, Remark, faults_of


def variants(question: BankQuestion, method: expansion.Method) -> tuple[BankQuestion, ...]:
    made = expand(question, method)
    assert not isinstance(made, Remark), made
    return made


def why(question: BankQuestion, method: expansion.Method = "true_false") -> str:
    made = expand(question, method)
    return made.what if isinstance(made, Remark) else ""


def test_figure_7() -> None:
    """A question of its shape: four options, one variant each, false, false, true, false."""
    question = choice()
    made = variants(question, "true_false")
    assert [one.answer for one in made] == ["false", "false", "true", "false"]
    assert [one.question for one in made] == [
        f'{question.question}\nDoes "{option}" fill the blank correctly? Answer true or false.'
        for option in ("3", "5", "7", "9")
    ]
    for one in made:
        # Category, source, date and raw_uuid are the question's.
        assert one == replace(
            question,
            uuid=one.uuid,
            type="true_false",
            question=one.question,
            answer=one.answer,
            hint='Right is "7".\nEvery level is full.',
            options=(),
            status="draft",
            parent="q1",
            made_by="expand/true_false",
        )


def test_a_fill_in_is_one_question_with_the_right_options_text() -> None:
    [made] = variants(choice(), "fill_in")
    assert (made.type, made.question, made.answer) == ("fill_in", choice().question, "7")
    assert made.made_by == "expand/fill_in"


def test_ids_are_the_same_in_every_release() -> None:
    made = (*variants(choice(), "true_false")[:2], *variants(choice(), "fill_in"))
    assert [variant.uuid for variant in made] == [
        "15964211-c0d4-54b1-833b-19fdb5d63658",
        "d9db4da1-257d-5df4-96a7-985ea3db9d7b",
        "9792fbd6-8866-5cc2-95f8-7b2fbb106bd3",
    ]


FORMS = cases(__file__, "forms")


@pytest.mark.parametrize(("stem", "wanted"), FORMS.items(), ids=FORMS)
def test_blanks_and_questions(stem: str, wanted: tuple[str, str]) -> None:
    filled, asked = wanted
    question = choice(stem, ("Oslo", "Bergen"), "A")
    [fill_in] = variants(question, "fill_in")
    assert fill_in.question == filled
    for one, option in zip(variants(question, "true_false"), question.options, strict=True):
        assert one.question.startswith(f"{filled.removesuffix(' ____')}")
        assert asked in one.question.splitlines()[-1]
        assert option in one.question.splitlines()[-1]


ODD_STEMS = cases(__file__, "odd stems")


@pytest.mark.parametrize(
    ("stem", "reason"), [(stem, reason) for reason, stems in ODD_STEMS.items() for stem in stems]
)
def test_stems_that_would_become_nonsense(stem: str, reason: str) -> None:
    for method in get_args(expansion.Method):
        assert reason in why(choice(stem, ("Oslo", "Bergen"), "A"), method)


@pytest.mark.parametrize("stem", cases(__file__, "like a sign"))
def test_words_that_only_look_like_a_sign(stem: str) -> None:
    assert why(choice(stem, ("Oslo", "Bergen"), "A")) == ""


@pytest.mark.parametrize("place", range(3))
@pytest.mark.parametrize("option", cases(__file__, "others"))
def test_options_that_speak_of_others(option: str, place: int) -> None:
    options = ["x1", "x2", "x3"]
    options[place] = option
    letter = ascii_uppercase[place]
    assert why(choice(options=options)) == f"option {letter} speaks of other options"


@pytest.mark.parametrize("option", cases(__file__, "of their own"))
def test_options_that_speak_for_themselves(option: str) -> None:
    assert why(choice(options=("x1", option), answer="B")) == ""


@pytest.mark.parametrize("stem", cases(__file__, "without options"))
def test_without_options_some_stems_ask_nothing(stem: str) -> None:
    question = choice(stem, ("Oslo", "Kiel"), "A")
    assert why(question, "fill_in") == "without its options it does not say what it asks for"
    assert [one.answer for one in variants(question, "true_false")] == ["true", "false"]


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        (MATERIAL, "its type is material"),
        (choice(answer="AC"), "no letter"),
        (choice(answer="E"), "no letter"),
        (choice(answer="7"), "no letter"),
        (choice(options=("7",), answer="A"), "1 option"),
        (choice(options=("7", " "), answer="A"), "empty"),
        (choice(options=("Oslo", "oslo."), answer="A"), "say the same"),
    ],
)
def test_faulty_questions(question: BankQuestion, reason: str) -> None:
    assert reason in why(question)


texts = st.text(st.characters(categories=("Ll", "Lo", "Nd")), min_size=1, max_size=12)


@given(
    options=st.lists(texts, min_size=2, max_size=26, unique_by=str.casefold),
    stem=texts,
    uuid=texts,
    data=st.data(),
)
def test_one_is_true_and_order_and_ids_hold(
    options: list[str], stem: str, uuid: str, data: st.DataObject
) -> None:
    key = data.draw(st.integers(0, len(options) - 1))
    question = choice(f"The {stem} is ( ).", options, ascii_uppercase[key], uuid)
    made = expand(question, "true_false")
    if isinstance(made, Remark):
        assert made.where == uuid
        return
    assert len(made) == len(options)
    assert [one.answer == "true" for one in made] == [n == key for n in range(len(options))]
    for one, option in zip(made, options, strict=True):
        assert f'"{option}"' in one.question or f"“{option}”" in one.question
    assert made == expand(question, "true_false")
    [fill_in] = variants(question, "fill_in")
    assert fill_in.answer == options[key]
    everything = (question, *made, fill_in)
    assert len({one.uuid for one in everything}) == len(everything)
    assert {one.raw_uuid for one in everything} == {uuid}
    assert [faults_of(one) for one in everything] == [()] * len(everything)


def test_patterns_need_no_more_than_a_blink() -> None:
    """A long text that nearly matches, again and again."""
    for text in ("which " * 3_000, "A. " * 3_000, "下列" * 3_000, "A and " * 3_000, "_ " * 3_000):
        assert why(choice(text + "( )", ("x1", text))) is not None


def test_every_sign_is_tried_here() -> None:
    reasons = {sign.why for sign in (*expansion.IN_QUESTION, expansion.IN_TEXT)}
    assert all(any(re.search(part, reason) for part in ODD_STEMS) for reason in reasons)
