"""A multiple-choice question with n options becomes other questions, without a model.

    true_false   n statements, one for each option: may it stand in the blank? (figure 7)
    fill_in      the stem with its blank, whose fill is the right option's text

The paper's text has n fill-in-the-blank variants for n options (§2.1), its figure shows n questions
of whether an option is right. Both are offered, but there is one `fill_in` question: without its
options a stem asks one thing and has one key, and n wordings of it would be one question n times.

Expansion changes scores. One of n statements is true, so who says "false" to everything is right in
n − 1 of n; and siblings give each other away, which is why they are never handed out together.

Source: LLMEval-Fair, §2.1, A.2.2 and figure 7. The wording of the questions is our own.
"""

import unicodedata
import uuid
from dataclasses import dataclass, replace
from string import ascii_uppercase
from typing import Final, get_args

from tiebreak.bank import stems
from tiebreak.bank.faults import faults_of
from tiebreak.bank.question import BankQuestion
from tiebreak.bank.stems import Method

METHODS: Final[tuple[Method, ...]] = get_args(Method)

_NAMESPACE = uuid.UUID("b0b6d1a4-0c3e-5d0e-8a35-6a4e2d2f7c11")

_ASKED = {
    "en": {
        "blank": 'Does "{option}" fill the blank correctly? Answer true or false.',
        "question": 'Is "{option}" the right answer? Answer true or false.',
    },
    "zh": {
        "blank": "空格处填“{option}”对吗？请回答“正确”（true）或“错误”（false）。",
        "question": "答案是“{option}”，对吗？请回答“正确”（true）或“错误”（false）。",
    },
}
_KEY = {"en": 'Right is "{option}".', "zh": "正确的是“{option}”。"}


@dataclass(frozen=True, slots=True)
class Refused:
    """A question that makes no others, and why."""

    uuid: str
    why: str


def made_by(method: str, model: str = "") -> str:
    """The name of an expansion, as its variants carry it."""
    return f"expand/{method} {model}".rstrip()


def variant_uuid(parent: str, method: str, number: int) -> str:
    """The id of a variant: the same whenever, wherever and however often it is made."""
    return str(uuid.uuid5(_NAMESPACE, f"{parent}\x1f{method}\x1f{number}"))


def expand(question: BankQuestion, method: Method) -> tuple[BankQuestion, ...] | Refused:
    """The variants of a multiple-choice question, as drafts.

    Args:
        question: any; of another type, or with a fault of format, it is refused.
        method: `true_false` gives one variant for each option, in their order, of which exactly
            one is true; `fill_in` gives one.

    Returns:
        The variants. They have the question's `raw_uuid`, category, source and date, and its uuid
        as `parent`; their hint says what is right, so it gives away all siblings.
    """
    if why := _refusal(question, method):
        return Refused(question.uuid, why)
    form = stems.form_of(question.question)
    mark = {"blank": "", "question": "", "open": f" {stems.ANSWERS_MARK}"}[form or "open"]
    stem = question.question.rstrip() + mark
    language = "zh" if stems.is_chinese(question.question) else "en"
    right = question.options[ascii_uppercase.index(question.answer)]
    if method == "fill_in":
        if form == "question":
            stem += f" {stems.ANSWERS_MARK}"
        return (_variant(question, method, 1, stem, right, question.hint),)
    asked = _ASKED[language]["question" if form == "question" else "blank"]
    hint = "\n".join(filter(None, (_KEY[language].format(option=right), question.hint)))
    return tuple(
        _variant(
            question,
            method,
            number,
            f"{stem}\n{asked.format(option=option)}",
            "true" if option == right else "false",
            hint,
        )
        for number, option in enumerate(question.options, start=1)
    )


def _refusal(question: BankQuestion, method: Method) -> str:
    if question.type != "multiple_choice":
        return f"its type is {question.type}, and only multiple_choice has options"
    if faults := faults_of(question):
        return "; ".join(faults)
    if len(set(map(_plain, question.options))) < len(question.options):
        return "two options say the same"
    return stems.refusal(question.question, method) or stems.refused_option(question.options)


def _plain(option: str) -> str:
    """An option without what does not tell it from another; signs do: -5 is not 5."""
    folded = unicodedata.normalize("NFKC", option).casefold()
    return " ".join(folded.split()).rstrip(".,;。、")


def _variant(
    parent: BankQuestion, method: Method, number: int, text: str, key: str, hint: str
) -> BankQuestion:
    return replace(
        parent,
        uuid=variant_uuid(parent.uuid, method, number),
        type=method,
        question=text,
        answer=key,
        hint=hint,
        options=(),
        status="draft",
        parent=parent.uuid,
        made_by=made_by(method),
    )
