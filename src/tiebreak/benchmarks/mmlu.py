"""MMLU: questions with four choices in 57 subjects (Hendrycks et al. 2021, arXiv:2009.03300).

Data: huggingface.co/datasets/cais/mmlu, configuration all, split test, 14,042 rows. The first:

    question  Find the degree for the given field extension Q(sqrt(2), sqrt(3), sqrt(18)) over Q.
    subject   abstract_algebra
    choices   ["0", "4", "2", "6"]
    answer    1
"""

import re
from collections.abc import Sequence
from typing import Final

from tiebreak.benchmarks.question import BOXED, Question, Row, Verdict, marked, name_of, wording

METRIC: Final = "chosen_letter"
LETTERS: Final = "ABCDEFGHIJ"

_MARKS: Final = re.compile(
    rf"{BOXED}|\b(?:answer|choice|option)\b[*_\s]*(?:is|:|=|\n)"
    r"|\banswer\b[^.:\n]{1,60}?\bis\b|\b(?:choose|pick|select)\b",
    re.IGNORECASE,
)
_CORRECT: Final = re.compile(r"\b([A-J])\)?\**\s+is\s+(?:the\s+)?(?:correct|right)\b")
_BEFORE: Final = re.compile(
    r"(?:[\s*_(\[{\"'`$#>:]|\\text\s*\{|\\mathrm\s*\{|(?:option|choice|letter|answer)\b)*+",
    re.IGNORECASE,
)
_DELIMITED: Final = re.compile(r"([A-J])(?=[\s*_`'\"]*+(?:[).:,;\]}$]|\Z))", re.IGNORECASE)
# "A" and "I" before a lower-case word are words, not choices, unless a reason follows ("because").
_CAPITAL: Final = re.compile(
    r"([B-HJ]|[AI](?!\s+(?!(?:as|because|due|for|given|is|since)\b)[a-z]))(?!\w)"
)

_GUIDE: Final = wording("mmlu") + "\n"


def read(row: Row, number: int) -> Question:
    """Read a row with `question`, `subject`, `choices` and `answer` (index of the right choice).

    Raises:
        KeyError: a column is missing.
        ValueError: the choices are not texts, or the answer is not the index of a choice.
    """
    choices, answer = tuple(row["choices"]), row["answer"]
    if isinstance(row["choices"], str | dict) or not all(isinstance(c, str) for c in choices):
        raise ValueError("its choices are not a list of texts")
    if type(answer) is not int or answer not in range(min(len(choices), len(LETTERS))):
        raise ValueError(f"its answer is {answer!r}, not an index of its {len(choices)} choices")
    return Question(
        id=name_of(row, f"mmlu_{number}"),
        text=row["question"],
        target=LETTERS[answer],
        choices=choices,
        details={"subject": str(row.get("subject", ""))},
    )


def prompt(question: Question, documentation: bool = True) -> str:
    """A question with lettered choices; `documentation` asks for reasons, then the letter."""
    choices = "\n".join(
        f"{mark}) {choice}" for mark, choice in zip(LETTERS, question.choices, strict=False)
    )
    if documentation:
        return _GUIDE.format(question=question.text, choices=choices)
    return f"{question.text}\n{choices}"


def score(answer: str, question: Question) -> Verdict:
    """Check whether the chosen letter is the target."""
    letter = chosen_letter(answer, question.choices)
    if letter is None:
        return Verdict(False, None, "the answer names no choice")
    right = letter == question.target
    return Verdict(right, letter, "" if right else f"the choice is {letter}, not {question.target}")


def chosen_letter(answer: str, choices: Sequence[str]) -> str | None:
    r"""Letter of the choice that an answer gives, or None.

    The first that names a choice of: the text after a mark ("answer is", "answer:", "I choose",
    `\boxed{…}`), the last mark first; "B is correct"; the last line; the first line; the only
    choice whose text occurs.
    """
    for rest in marked(_MARKS, answer):
        if letter := _letter(rest, choices) or _named(rest, choices):
            return letter
    for correct in reversed(_CORRECT.findall(answer)):
        if correct in LETTERS[: len(choices)]:
            return str(correct)
    lines = [line for line in answer.splitlines() if any(map(str.isalnum, line))]
    for line in (*lines[-1:], *lines[:1]):
        if letter := _letter(line, choices):
            return letter
    occurring = [
        mark
        for mark, choice in zip(LETTERS, choices, strict=False)
        if choice and re.search(rf"(?<!\w){re.escape(choice)}(?!\w)", answer, re.IGNORECASE)
    ]
    return occurring[0] if len(occurring) == 1 else None


def _letter(text: str, choices: Sequence[str]) -> str | None:
    """The letter at the beginning of a text, alone or before punctuation: "B)", "**B**", "b"."""
    if (match := _DELIMITED.match(_inner(text))) and match[1].upper() in LETTERS[: len(choices)]:
        return match[1].upper()
    return None


def _named(text: str, choices: Sequence[str]) -> str | None:
    """Letter of the longest choice with which a text begins, else a capital as in "B because"."""
    letters, text = LETTERS[: len(choices)], _inner(text)
    named = [
        (len(choice), mark)
        for mark, choice in zip(letters, choices, strict=False)
        if choice and re.match(rf"{re.escape(choice)}(?!\w)", text, re.IGNORECASE)
    ]
    if named:
        return max(named)[1]
    match = _CAPITAL.match(text)
    return match[1] if match and match[1] in letters else None


def _inner(text: str) -> str:
    """A text without leading markup, opening brackets and words like "option"."""
    before = _BEFORE.match(text)
    return text[before.end() :] if before else text
