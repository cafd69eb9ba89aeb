"""Questions of a bank, sessions of examinees, and faults of the format of questions.

The format is checked for rows of a file and for a whole bank. `Remarks` about many questions are
all counted, but only some are kept. An examinee gets k questions, a `Session`, each as a
`Question`.

Source: LLMEval-Fair, §2.1, appendix A (figures 7 and 8) and A.2.2 (option counts, answer spaces,
unique ids).
"""

import re
import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from string import ascii_uppercase
from typing import Final, Literal, NamedTuple, get_args

from tiebreak.fair.bank.prompting import Prompting
from tiebreak.text import count

QuestionType = Literal[
    "true_false", "multiple_choice", "fill_in", "short_answer", "term", "material"
]
"""The types of questions (LLMEval-Fair, A.1.2); `term` asks to explain one."""

Status = Literal["draft", "approved", "rejected"]
"""Only approved questions are asked. Questions made by a program are drafts until approved."""

TYPES: Final[tuple[QuestionType, ...]] = get_args(QuestionType)
STATUSES: Final[tuple[Status, ...]] = get_args(Status)


@dataclass(frozen=True, slots=True, kw_only=True)
class BankQuestion:
    """A question with its key.

    Siblings (a question and its variants) have the same `raw_uuid` and reveal each other's keys.
    `answer` is the key: "true" or "false", a letter of `options` (A is the first), the fill of a
    blank, or a text. `hint` explains the key. Examinees never see either. `source` and `date` (ISO
    8601, also just a year or a month) are the origin of the question, "" if unknown.

    `parent` is the uuid of the question that this one was made of, and `made_by` the name of the
    expansion, with the model if one wrote it; both are "" for questions written by people.
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


@dataclass(frozen=True, slots=True)
class Question:
    """A question as an examinee sees it: number `position` of `of`."""

    position: int
    of: int
    category: str
    sub_category: str
    type: QuestionType
    question: str
    options: tuple[str, ...]


State = Literal["open", "complete", "closed"]
"""A session is complete when all questions are answered, closed if an examiner ended it before."""


@dataclass(frozen=True, slots=True)
class Session:
    """k questions for a model, of which exactly the first `answered` are answered."""

    k: int
    model: str
    prompting: Prompting = "zero_shot"
    id: str = field(default_factory=lambda: secrets.token_hex(16))  # cannot be guessed
    state: State = "open"
    answered: int = 0
    released: bool = False

    @property
    def next(self) -> int | None:
        """Number of the next question, from 1; None if the session has ended."""
        return self.answered + 1 if self.state == "open" else None


def item_metadata(question: BankQuestion) -> dict[str, str]:
    """Metadata of a question for items of logs and pools, without its text and key."""
    names = ("category", "sub_category", "raw_uuid", "type", "source", "date")
    return {name: getattr(question, name) for name in names}


BLANK: Final = re.compile(
    r"_{2,}|＿+|(?<![A-Za-z0-9_])\(\s*\)|（\s*）|(?<![A-Za-z0-9_])\[\s*\]|【\s*】"
)
"""A blank to fill in: a line, or empty brackets, but not those of a call like `main()`."""

MOST_OPTIONS: Final = len(ascii_uppercase)
LONGEST_UUID: Final = 64

_DATE = re.compile(r"(\d{4})(?:-(\d{2}))?(?:-(\d{2}))?")


def faults_of(question: BankQuestion) -> tuple[str, ...]:
    """All faults of the format of a question, in words; empty if there are none."""
    return tuple(_faults(question))


def storable(text: str) -> bool:
    """Whether all databases can store a text: no zero byte, no half of a surrogate pair."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in text


def n_blanks(text: str) -> int:
    """Number of blanks in a text."""
    return len(BLANK.findall(text))


def _faults(question: BankQuestion) -> Iterator[str]:
    if not question.question:
        yield "there is no text of a question"
    if not question.category:
        yield "there is no category"
    if not question.answer:
        yield "there is no key"
    if question.status not in STATUSES:
        yield f"the status {_short(question.status)} is none of {', '.join(STATUSES)}"
    for name in ("uuid", "raw_uuid", "parent"):
        uuid = getattr(question, name)
        if len(uuid) > LONGEST_UUID:
            yield f"{name} is longer than {LONGEST_UUID} characters"
        elif any(map(str.isspace, uuid)):
            yield f"{name} holds blanks"
    if wrong := _wrong_date(question.date):
        yield wrong
    texts = (question.uuid, question.raw_uuid, question.parent, question.source, question.hint)
    more = (question.category, question.sub_category, question.made_by, *question.options)
    if not storable("\n".join((*texts, *more, question.question, question.answer))):
        yield "a text holds a zero byte or half of a character"
    if question.type == "true_false":
        if question.answer not in ("", "true", "false"):
            yield f"the key {_short(question.answer)} is neither true nor false"
    elif question.type == "multiple_choice":
        yield from _multiple_choice(question)
    elif question.type == "fill_in":
        yield from _fill_in(question)
    elif question.type not in TYPES:
        yield f"the type {_short(question.type)} is none of {', '.join(TYPES)}"
    if question.options and question.type in ("true_false", "fill_in"):
        yield f"a question of type {question.type} has options"


def _multiple_choice(question: BankQuestion) -> Iterator[str]:
    n = len(question.options)
    if not 2 <= n <= MOST_OPTIONS:
        yield f"{count(n, 'option')} where 2 to {MOST_OPTIONS} are possible"
        return
    if not all(option.strip() for option in question.options):
        yield "an option is empty"
    if len({option.strip() for option in question.options}) < n:
        yield "two options are equal"
    letters = ascii_uppercase[:n]
    if question.answer and question.answer not in tuple(letters):
        yield f"the key {_short(question.answer)} is no letter from A to {letters[-1]}"


def _fill_in(question: BankQuestion) -> Iterator[str]:
    # Fills of several blanks are separated by semicolons.
    blanks, fills = n_blanks(question.question), re.split("[;；]", question.answer)
    if question.question and not blanks:
        yield "there is a fill, but no blank (____) in the text"
    elif question.answer and not all(map(str.strip, fills)):
        yield "a fill is empty"
    elif question.answer and blanks > 1 and len(fills) != blanks:
        counts = f"{count(blanks, 'blank')}, but {count(len(fills), 'fill')}"
        yield f"there are {counts}; part fills with semicolons"


def _wrong_date(text: str) -> str:
    if not text:
        return ""
    if match := _DATE.fullmatch(text):
        year, month, day = (int(part or 1) for part in match.groups())
        try:
            date(year, month, day)
        except ValueError:
            pass
        else:
            return ""
    return f"the date {_short(text)} is not YYYY, YYYY-MM or YYYY-MM-DD"


def _short(text: str, most: int = 40) -> str:
    return repr(text if len(text) <= most else text[: most - 1] + "…")


class Remark(NamedTuple):
    """A remark on a row: `where` is "FILE:ROW", or the id of a question."""

    where: str
    what: str


@dataclass(slots=True)
class Remarks:
    """The first `most` remarks of one kind, and their total number."""

    most: int
    total: int = 0
    shown: tuple[Remark, ...] = ()

    def add(self, where: str, what: str) -> None:
        """Count a remark, and keep it if it is one of the first `most`."""
        self.total += 1
        if self.total <= self.most:
            self.shown = (*self.shown, Remark(where, what))
