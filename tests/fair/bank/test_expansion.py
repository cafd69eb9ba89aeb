"""A choice becomes other questions; what would become nonsense is refused."""

import re
from dataclasses import replace
from string import ascii_uppercase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fair.bank.questions import MATERIAL, choice
from tiebreak.fair.bank import expansion
from tiebreak.fair.bank.expansion import METHODS, Refused, expand
from tiebreak.fair.bank.question import BankQuestion, faults_of


def variants(question: BankQuestion, method: expansion.Method) -> tuple[BankQuestion, ...]:
    made = expand(question, method)
    assert not isinstance(made, Refused), made
    return made


def why(question: BankQuestion, method: expansion.Method = "true_false") -> str:
    made = expand(question, method)
    return made.why if isinstance(made, Refused) else ""


def test_figure_7() -> None:
    """A question of its shape: four options, one variant each, false, false, true, false."""
    own = choice()
    made = variants(own, "true_false")
    assert [one.answer for one in made] == ["false", "false", "true", "false"]
    assert [one.question for one in made] == [
        f'{own.question}\nDoes "{option}" fill the blank correctly? Answer true or false.'
        for option in ("3", "5", "7", "9")
    ]
    for one in made:
        assert one.hint == 'Right is "7".\nEvery level is full.'
        kept = replace(
            one,
            uuid=own.uuid,
            type=own.type,
            question=own.question,
            answer=own.answer,
            hint=own.hint,
            options=own.options,
            status=own.status,
            parent="",
            made_by="",
        )
        assert kept == own  # category, source, date and raw_uuid are the question's
        assert (one.parent, one.made_by, one.status) == ("q1", "expand/true_false", "draft")
        assert one.type == "true_false"


def test_a_fill_in_is_one_question_with_the_right_options_text() -> None:
    [made] = variants(choice(), "fill_in")
    assert (made.type, made.question, made.answer) == ("fill_in", choice().question, "7")
    assert made.made_by == "expand/fill_in"


def test_ids_are_the_same_in_every_release() -> None:
    assert [one.uuid for one in variants(choice(), "true_false")][:2] == [
        "15964211-c0d4-54b1-833b-19fdb5d63658",
        "d9db4da1-257d-5df4-96a7-985ea3db9d7b",
    ]


FORMS = {
    "The capital of Norway is": ("The capital of Norway is ____", "fill the blank"),
    "The capital of Norway is:": ("The capital of Norway is: ____", "fill the blank"),
    "The capital of Norway is ____.": ("The capital of Norway is ____.", "fill the blank"),
    "____ is the capital of Norway.": ("____ is the capital of Norway.", "fill the blank"),
    "The capital is [ ] today": ("The capital is [ ] today", "fill the blank"),
    "What does main() return?": ("What does main() return? ____", "the right answer"),
    "Which city rules Norway": ("Which city rules Norway ____", "the right answer"),
    "It lies on a fjord. Which city rules Norway?": (
        "It lies on a fjord. Which city rules Norway? ____",
        "the right answer",
    ),
    "挪威的首都是（　　）。": ("挪威的首都是（　　）。", "空格处"),
    "挪威的首都是": ("挪威的首都是 ____", "空格处"),
    "挪威的首都是哪座城市？": ("挪威的首都是哪座城市？ ____", "答案是"),
    "挪威首都叫什么": ("挪威首都叫什么 ____", "答案是"),
}


@pytest.mark.parametrize(("stem", "wanted"), FORMS.items(), ids=FORMS)
def test_blanks_and_questions(stem: str, wanted: tuple[str, str]) -> None:
    filled, asked = wanted
    own = choice(stem, ("Oslo", "Bergen"), "A")
    [fill_in] = variants(own, "fill_in")
    assert fill_in.question == filled
    for one, option in zip(variants(own, "true_false"), own.options, strict=True):
        assert one.question.startswith(f"{filled.removesuffix(' ____')}")
        assert asked in one.question.splitlines()[-1]
        assert option in one.question.splitlines()[-1]


NOT = [
    "Which of the following is NOT a city?",
    "Which of the following is not a city?",
    "Which of these\nis not a city?",
    "Which city (e.g. a capital) isn't in Norway?",
    "Which theory of Dr. Hansen is not accepted today?",
    "All of these are cities except ____.",
    "Of the following, the least likely is ( )",
    "Identify the INCORRECT statement: ( )",
    "The following statements are correct EXCEPT",
    "以下关于挪威的说法不正确的是（　　）",
    "下列城市中，不属于挪威的是（ ）。",
    "下列各项中错误的是____",
    "除了哪一项之外，都是城市？",
    "关于树的叙述，有误的一项是（ ）",
]
BEST = [
    "Which of the following is the largest?",
    "The best of these descriptions of the following is ( )",
    "Which option describes it better?",
    "下列城市中最大的是（ ）",
]
SEVERAL = ["Select all cities that apply: ( )", "挪威的城市有（ ）（多选）"]
ODD_STEMS = {
    **dict.fromkeys(NOT, "is not right"),
    **dict.fromkeys(BEST, "other options are"),
    **dict.fromkeys(SEVERAL, "several options"),
    "( )": "no stem",
    "____": "no stem",
    "Right?": "no stem",
    "选（ ）": "no stem",
    "The capital of ( ) is ( ).": "2 blanks",
    "Oslo lies on a fjord.": "neither a blank nor a question",
    "奥斯陆位于峡湾。": "neither a blank nor a question",
    "The capital is ( )\nA. Oslo\nB. Bergen": "lists the options",
    "挪威的首都是（ ） A．奥斯陆 B．卑尔根": "lists the options",
    "Is option A the capital of Norway?": "by their letters",
}


@pytest.mark.parametrize(("stem", "reason"), ODD_STEMS.items(), ids=ODD_STEMS)
def test_stems_that_would_become_nonsense(stem: str, reason: str) -> None:
    for method in METHODS:
        assert reason in why(choice(stem, ("Oslo", "Bergen"), "A"), method)


LIKE_A_SIGN = [
    "If water is not heated, its temperature ____.",
    "Two charges of the same sign do not ____ each other.",
    "It does at least double. By which factor does it grow?",
    "An exception never ended anything. The output of the following code is ____.",
    "一个不等式的解集是（ ）。",
    "下列反应中，生成的非金属单质是（ ）。",
]


@pytest.mark.parametrize("stem", LIKE_A_SIGN)
def test_words_that_only_look_like_a_sign(stem: str) -> None:
    assert why(choice(stem, ("Oslo", "Bergen"), "A")) == ""


OTHERS = [
    *(
        "All of the above",
        "all the above.",
        "None of the above",
        "none of these",
        "Neither of them",
    ),
    *(
        "Both",
        "None",
        "A and C",
        "Both A and B",
        "(A), (B)",
        "only A and D",
        "A, B and C",
        "A or B",
    ),
    *("A and B are correct", "All other options", "Option A", "No correct answer", "Answers A"),
    *(
        "以上都是",
        "以上皆非",
        "以上答案都不对",
        "上述选项均正确",
        "A和B",
        "A、C",
        "只有A和D",
        "都不对",
    ),
    *("全部正确", "A、B、C都对", "其他选项", "没有正确答案", "All of these statements"),
]
OF_THEIR_OWN = [
    *("7", "-5", "Boron", "both alleles", "none at all", "a and b", "they repel each other"),
    *("above 30", "any other business", "All men are mortal", "answer a question", "ABBA", "AB"),
    *("A、B两点之间的距离", "所有哺乳动物都是胎生", "无穷大", "其他国家", "A", "vitamin A"),
]


@pytest.mark.parametrize("place", range(3))
@pytest.mark.parametrize("option", OTHERS)
def test_options_that_speak_of_others(option: str, place: int) -> None:
    options = ["x1", "x2", "x3"]
    options[place] = option
    letter = ascii_uppercase[place]
    assert why(choice(options=options)) == f"option {letter} speaks of other options"


@pytest.mark.parametrize("option", OF_THEIR_OWN)
def test_options_that_speak_for_themselves(option: str) -> None:
    assert why(choice(options=("x1", option), answer="B")) == ""


@pytest.mark.parametrize(
    "stem",
    [
        "Which of the following is a city?",
        "Which is right?",
        "Which statement about Norway holds?",
        "下列城市中，属于挪威的是（ ）。",
        "关于挪威，说法正确的是（ ）",
    ],
)
def test_without_options_some_stems_ask_nothing(stem: str) -> None:
    own = choice(stem, ("Oslo", "Kiel"), "A")
    assert why(own, "fill_in") == "without its options it does not say what it asks for"
    assert [one.answer for one in variants(own, "true_false")] == ["true", "false"]


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
    own = choice(f"The {stem} is ( ).", options, ascii_uppercase[key], uuid)
    made = expand(own, "true_false")
    if isinstance(made, Refused):
        assert made.uuid == uuid
        return
    assert len(made) == len(options)
    assert [one.answer == "true" for one in made] == [n == key for n in range(len(options))]
    for one, option in zip(made, options, strict=True):
        assert f'"{option}"' in one.question or f"“{option}”" in one.question
    assert made == expand(own, "true_false")
    [fill_in] = variants(own, "fill_in")
    assert fill_in.answer == options[key]
    everything = (own, *made, fill_in)
    assert len({one.uuid for one in everything}) == len(everything)
    assert {one.raw_uuid for one in everything} == {uuid}
    assert [faults_of(one) for one in everything] == [()] * len(everything)


def test_patterns_need_no_more_than_a_blink() -> None:
    """A long text that nearly matches, again and again."""
    for text in ("which " * 3_000, "A. " * 3_000, "下列" * 3_000, "A and " * 3_000, "_ " * 3_000):
        assert why(choice(text + "( )", ("x1", text))) is not None


def test_every_sign_is_tried_here() -> None:
    reasons = {sign.why for sign in (*expansion.IN_QUESTION, expansion.IN_TEXT)}
    tried = set(ODD_STEMS.values())
    assert all(any(re.search(part, reason) for part in tried) for reason in reasons)
