"""GSM8K: word problems whose answer is a number (Cobbe et al. 2021, arXiv:2110.14168).

Data: huggingface.co/datasets/openai/gsm8k, split test, 1,319 rows. The first:

    question  Janet’s ducks lay 16 eggs per day. She eats three for breakfast every morning and …
    answer    Janet sells 16 - 3 - 4 = <<16-3-4=9>>9 duck eggs a day.
              She makes 9 * 2 = $<<9*2=18>>18 every day at the farmer’s market.
              #### 18
"""

import math
import re
from typing import Final

from tiebreak.benchmarks.question import BOXED, Question, Row, Verdict, marked, name_of, wording

METRIC: Final = "final_number"

# A minus is a sign unless a number, word or bracket that it could subtract from is before it.
_NUMBER: Final = re.compile(
    r"(?P<sign>(?<![\w)\]}])[-−](?=[$€£.\d]))?(?:[$€£](?P<late>[-−](?=\d))?)?\s?"
    r"(?:(?P<digits>\d{1,3}(?:[, \u00a0\u2009\u202f]\d{3}){1,20}+(?!\d)|\d++)(?P<rest>\.\d++)?"
    r"|(?<!\w)(?P<only>\.\d++))"
)
_MARKS: Final = re.compile(rf"\#\#\#\#|{BOXED}|\banswer\b[*_\s]*(?:is|:|=|\n)", re.IGNORECASE)
# LaTeX's spaces and commas within numbers.
_LATEX: Final = re.compile(r"\{,\}|\\[,!;]|\\(?=\$)")

_GUIDE: Final = wording("gsm8k")


def read(row: Row, number: int) -> Question:
    """Read a row with `question` and `answer`, a solution that ends in `#### NUMBER`.

    Raises:
        KeyError: a column is missing.
        ValueError: the answer has no number.
    """
    if final_number(row["answer"]) is None:
        raise ValueError("its answer holds no number")
    return Question(name_of(row, f"gsm8k_{number}"), row["question"], row["answer"])


def prompt(question: Question, documentation: bool = True) -> str:
    """The problem as a prompt; `documentation` adds an example and the form of the last line."""
    return _GUIDE.format(question=question.text) if documentation else question.text


def score(answer: str, question: Question) -> Verdict:
    """Check whether the answer's final number is the target's."""
    number, wanted = final_number(answer), final_number(question.target)
    if number is None:
        return Verdict(False, None, "the answer holds no number")
    right = wanted is not None and math.isclose(float(number), float(wanted))
    return Verdict(right, number, "" if right else f"the number is {number}, not {wanted}")


def final_number(text: str) -> str | None:
    r"""The number that an answer ends with, without currency and thousands separators.

    This is the number after the last mark: `####`, `\boxed{…}`, "answer is", "answer:". If a marked
    line has several numbers, the one after the last equals sign counts, or else the first. Without
    a mark it is the last number of the text.

    Returns:
        A decimal number as text, such as "-1234.5", or None.
    """
    text = _LATEX.sub(lambda match: "," if match[0] == "{,}" else "", text)
    for rest in marked(_MARKS, text):
        if number := _first(rest):
            return _plain(number)
    numbers = list(_NUMBER.finditer(text))
    return _plain(numbers[-1]) if numbers else None


def _first(rest: str) -> re.Match[str] | None:
    """The number in a marked line that counts; remarks in brackets after it are ignored."""
    first = _NUMBER.search(rest)
    remark = rest.find("(", first.end()) if first else -1
    rest = rest[:remark] if remark >= 0 else rest
    return _NUMBER.search(rest, rest.rfind("=") + 1) or first


def _plain(number: re.Match[str]) -> str:
    sign = "-" if number["sign"] or number["late"] else ""
    if number["only"]:
        return f"{sign}0{number['only']}"
    return sign + re.sub(r"\D", "", number["digits"]) + (number["rest"] or "")
