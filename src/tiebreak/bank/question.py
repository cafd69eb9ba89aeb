"""A question of the bank, as every part of it passes one on.

Source: LLMEval-Fair, §2.1 and appendix A (figures 7 and 8).
"""

from dataclasses import dataclass
from typing import Final, Literal, get_args

QuestionType = Literal[
    "true_false", "multiple_choice", "fill_in", "short_answer", "term", "material"
]
"""The types of questions (LLMEval-Fair, A.1.2); `term` asks to explain one."""

Status = Literal["draft", "approved", "rejected"]
"""Only approved questions are asked. What a program made is a draft until a human approved it."""

TYPES: Final[tuple[QuestionType, ...]] = get_args(QuestionType)
STATUSES: Final[tuple[Status, ...]] = get_args(Status)


@dataclass(frozen=True, slots=True, kw_only=True)
class BankQuestion:
    """A question with its key.

    Siblings, the variants of one question and that question itself, have one `raw_uuid`; they give
    each other away. `answer` is the key: "true" or "false", a letter of `options` (A is the first),
    the fill of a blank, or a text. `hint` is what explains the key. Neither ever leaves the bank
    with the question. `source` and `date` (ISO 8601, may be a year or a month) say where the
    question comes from; empty where nobody knows.

    `parent` is the uuid of the question that this one was made of, and `made_by` what made it (the
    name of an expansion, and the model if one wrote it); empty for a question of people's.
    """

    uuid: str
    raw_uuid: str
    category: str
    sub_category: str = ""
    type: QuestionType
    question: str
    answer: str
    hint: str = ""
    options: tuple[str, ...] = ()
    source: str = ""
    date: str = ""
    status: Status = "approved"
    parent: str = ""
    made_by: str = ""


def item_metadata(question: BankQuestion) -> dict[str, str]:
    """What an item of a log or a pool says about its question, beside its text and key."""
    names = ("category", "sub_category", "raw_uuid", "type", "source", "date")
    return {name: getattr(question, name) for name in names}
