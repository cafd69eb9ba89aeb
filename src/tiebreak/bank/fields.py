"""A row of a file becomes a question: names of fields, kinds of values, and what is inferred.

The published excerpt of LLMEval-Fair (A.2.2, figure 8) has the text in `dialog`, as what the user
says, and its key in `hint`: "false", "false. And why …", or the fill.
"""

import json
import re
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from functools import lru_cache
from string import ascii_uppercase
from typing import Any, Final, cast

from tiebreak.bank.errors import BankError
from tiebreak.bank.faults import n_blanks
from tiebreak.bank.question import BankQuestion, QuestionType, Status

NAMES: Final[dict[str, tuple[str, ...]]] = {
    "uuid": ("uuid", "question_uuid", "id"),
    "raw_uuid": ("raw_uuid", "raw_id"),
    "category": ("category", "subject"),
    "sub_category": ("sub_category", "subcategory"),
    "type": ("type", "question_type"),
    "question": ("question", "text", "dialog"),
    "answer": ("answer", "key", "target"),
    "hint": ("hint", "explanation"),
    "options": ("options", "choices"),
    "source": ("source",),
    "date": ("date",),
    "status": ("status",),
    "parent": ("parent",),
    "made_by": ("made_by",),
}
"""Each field of a question with the names that it may have in a file."""

_TYPES: Final[dict[str, QuestionType]] = {
    **dict.fromkeys(("true_false", "true_or_false", "boolean", "判断题", "判断"), "true_false"),
    **dict.fromkeys(("multiple_choice", "single_choice", "mcq"), "multiple_choice"),
    **dict.fromkeys(("选择题", "单选题", "单项选择题"), "multiple_choice"),
    **dict.fromkeys(("fill_in", "fill_in_the_blank", "cloze", "填空题", "填空"), "fill_in"),
    **dict.fromkeys(("short_answer", "简答题", "问答题", "论述题"), "short_answer"),
    **dict.fromkeys(("term", "term_explanation", "名词解释"), "term"),
    **dict.fromkeys(("material", "material_analysis", "材料题", "材料分析题"), "material"),
}

# Of content: questions without an id get the same one whenever they are read.
_NAMESPACE = uuid.UUID("5a1d3c5e-6a0b-5c0f-9d0e-7be3a2f1c946")

# A verdict, alone or with its reason after it: "false positives" is none.
_VERDICT = re.compile(
    r"\s*(?:(?P<true>true|yes|t|正确|对|是|√|✓)|(?P<false>false|no|f|不正确|不对|错误|错|否|×|✗))"
    r"\s*(?:$|[.,:;!。，：；！、\n]\s*|(?=because\b|since\b|因为|[(（]))",
    re.IGNORECASE,
)
_TERM = re.compile(
    r"(?:名词解释|解释(?:下列|以下)?(?:名词|术语)|(?:please )?explain the .*term)", re.I
)
_LETTER = re.compile(r"\s*[(（]?\s*([A-Za-z])\s*[)）]?\s*[.．、:：]?\s*")
_LETTERED = re.compile(r"\s*[(（]?([A-Za-z])[)）.．、:：]\s*")


def question_of(row: Mapping[str, Any]) -> BankQuestion:
    """The question in a row, its faults of format included (`faults.faults_of` names them).

    Raises:
        BankError: a field holds something that cannot be read as one, such as a list for a text.
    """
    values = {name: row[column] for name, column in _columns(tuple(row)).items()}
    options = _options(values.get("options"))
    text = _dialog(values["question"]) if isinstance(values.get("question"), list) else None
    given = {
        name: _text(name, values.get(name)) for name in NAMES if name not in ("options", "question")
    }
    question = _text("question", values.get("question")) if text is None else text
    kind, answer, hint = _key(values, given, question, options)
    made = BankQuestion(
        uuid=given["uuid"],
        raw_uuid=given["raw_uuid"],
        category=given["category"],
        sub_category=given["sub_category"],
        type=kind,
        question=question,
        answer=answer,
        hint=hint,
        options=options,
        source=given["source"],
        date=given["date"],
        status=cast("Status", given["status"] or "approved"),
        parent=given["parent"],
        made_by=given["made_by"],
    )
    if made.uuid and made.raw_uuid:
        return made
    found = made.uuid or uuid_of(made)
    return replace(made, uuid=found, raw_uuid=made.raw_uuid or found)


def uuid_of(question: BankQuestion) -> str:
    """The id of a question that has none: of its type, text, options and key, always the same."""
    content = (question.type, question.question, question.options, question.answer)
    return str(uuid.uuid5(_NAMESPACE, json.dumps(content, ensure_ascii=True)))


def has_uuid(row: Mapping[str, Any]) -> bool:
    """Whether a row brings an id of its own."""
    column = _columns(tuple(row)).get("uuid")
    return column is not None and row[column] not in (None, "")


@lru_cache
def unread(columns: tuple[str, ...]) -> tuple[str, ...]:
    """The columns that no field is taken from."""
    taken = set(_columns(columns).values())
    return tuple(column for column in columns if column not in taken)


@lru_cache
def _columns(columns: tuple[str, ...]) -> dict[str, str]:
    """The column of each field; of several names the first in `NAMES`."""
    there = {column.strip().casefold(): column for column in reversed(columns)}
    return {
        field: there[found[0]]
        for field, names in NAMES.items()
        if (found := [name for name in names if name in there])
    }


def _text(name: str, value: Any) -> str:
    if isinstance(value, str):
        return value.strip()
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, int | float | uuid.UUID):
        return str(value)
    if isinstance(value, date):
        return value.isoformat()[:10]
    raise BankError(f"{name} is a {type(value).__name__}, not a text")


def _dialog(turns: Sequence[Any]) -> str:
    """What the user says in a dialog."""
    if not all(isinstance(turn, Mapping) for turn in turns):
        raise BankError("dialog is a list of something else than turns with role and content")
    said = [_text("dialog", turn.get("content")) for turn in turns if turn.get("role") == "user"]
    return "\n\n".join(said)


def _options(value: Any) -> tuple[str, ...]:
    """Options as a list, by letter, as {"text": […]}, as JSON, or with | between them."""
    if isinstance(value, str) and value.lstrip().startswith(("[", "{")):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError) as error:
            raise BankError(f"options cannot be read as JSON ({error})") from error
    elif isinstance(value, str):
        value = value.split("|") if value.strip() else []
    if isinstance(value, Mapping):
        texts = value.get("text")
        value = texts if isinstance(texts, list) else [value[key] for key in sorted(value)]
    if value is None:
        return ()
    if not isinstance(value, Sequence):
        raise BankError(f"options is a {type(value).__name__}, not a list")
    return _without_letters(tuple(_text("an option", option) for option in value))


def _without_letters(options: tuple[str, ...]) -> tuple[str, ...]:
    """The options without "A." and so on, where each begins with its own letter."""
    found = [_LETTERED.match(option) for option in options]
    letters = "".join(match[1].upper() for match in found if match)
    if not options or letters != ascii_uppercase[: len(options)]:
        return options
    return tuple(
        option[match.end() :] for option, match in zip(options, found, strict=True) if match
    )


def _key(
    values: Mapping[str, Any], given: Mapping[str, str], text: str, options: tuple[str, ...]
) -> tuple[QuestionType, str, str]:
    """Type, key and explanation; where there is no key, the hint holds it."""
    answer, hint = given["answer"], given["hint"]
    if not answer:
        answer, hint = hint, ""
    verdict = _VERDICT.match(answer)
    kind = _type(given["type"], text, options, is_verdict=verdict is not None)
    if kind == "true_false" and verdict:
        rest = answer[verdict.end() :]
        return kind, verdict.lastgroup or "", "\n".join(part for part in (rest, hint) if part)
    if kind == "multiple_choice":
        return kind, _letter(values, answer, options), hint
    return kind, answer, hint


def _type(given: str, text: str, options: tuple[str, ...], *, is_verdict: bool) -> QuestionType:
    if given:
        plain = re.sub(r"[\s/-]+", "_", given.casefold())
        return _TYPES.get(plain, cast("QuestionType", given))
    if options:
        return "multiple_choice"
    if is_verdict:
        return "true_false"
    if n_blanks(text):
        return "fill_in"
    return "term" if _TERM.match(text) else "short_answer"


def _letter(values: Mapping[str, Any], answer: str, options: tuple[str, ...]) -> str:
    """The key of a choice as a letter: a whole number counts from 0, a text is that option."""
    number = values.get("answer")
    if isinstance(number, int) and not isinstance(number, bool) and 0 <= number < len(options):
        return ascii_uppercase[number] if number < len(ascii_uppercase) else answer
    if found := _LETTER.fullmatch(answer):
        return found[1].upper()
    if options.count(answer) == 1 and options.index(answer) < len(ascii_uppercase):
        return ascii_uppercase[options.index(answer)]
    return answer
