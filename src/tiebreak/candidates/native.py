"""Native scores: the scores that a harness gave to the answers."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from tiebreak.candidates.pool import Note
from tiebreak.text import listed

# At most so many names in a message: files of other programs may have a million columns.
LISTED = 20

RECORDED = "tiebreak_"
"""Prefix of the scores that `tiebreak write-back` puts into a model's own log."""


VERIFIED: Final[Mapping[str, str]] = {
    name: checked
    for checked, names in {
        "tests": (
            "unit_tests",
            "verify",
            "ds1000_scorer",
            "swe_bench_scorer",
            "pass@1",
            "pass_at_1",
        ),
        "final number": ("final_number", "aime_scorer"),
        "final expression": (
            *("math", "math_verify", "expression_exact_match", "expression_exact_match_sympy"),
        ),
        "chosen option": ("chosen_letter", "choice", "answer", "acc", "acc_norm"),
        "function calls": ("function_call", "bfcl_scorer"),
        "instructions": ("prompt_level_strict_acc", "prompt_level_loose_acc"),
        "exact match": ("match", "exact", "pattern", "exact_match"),
    }.items()
    for name in names
}
"""Native scores computed by a program: what it checks, by the last part of the score's name.

A score of 1 is a pass and 0 a fail. Not included are grades by models, measures of similarity (f1,
rouge) and `includes`, which also passes a wrong answer that mentions the target.
"""


class Native(NamedTuple):
    """A native score. `value` is NaN if there is none; `problem` says what is wrong, or is None."""

    value: float
    metric: str | None
    problem: str | None = None


def choose_metric(present: Sequence[str], wanted: Sequence[str]) -> str | None:
    """The first wanted name that is present; the first present one if none is wanted."""
    if not wanted:
        return present[0] if present else None
    return next((name for name in wanted if name in present), None)


NO_NATIVE_SCORES: Final = "no native scores"


def choice_note(present: Sequence[str], wanted: Sequence[str], source: str) -> Note | None:
    """Note that a log has no score, or that one of several was chosen by default; else None."""
    if not present:
        return Note("native_choice", source, NO_NATIVE_SCORES)
    if len(present) == 1 or wanted:
        return None
    message = f"native score is {present[0]!r}, out of {shortened(present)} (choose with --metric)"
    return Note("native_choice", source, message)


def passed(metric: str | None, score: float) -> bool | None:
    """Whether an answer passed; None if its score is not in `VERIFIED`, or neither 1 nor 0.

    `metric` is the name of the score as in logs ("exact_match,strict-match").
    """
    name = (metric or "").partition(",")[0].rpartition("/")[2]
    return bool(score) if name in VERIFIED and score in (0, 1) else None


def missing(present: Sequence[str], wanted: Sequence[str]) -> Native:
    """A native score that is missing: NaN, with a problem that lists the scores there are."""
    name = " or ".join(map(repr, wanted)) or "native score"
    return Native(math.nan, None, f"has no {name}; its scores: {shortened(present)}")


def problem_note(
    native: Native, item: str, present: Sequence[str], wanted: Sequence[str], source: str
) -> Note:
    """Problem with the native score of an item, without its name if no item of the log has it.

    `present` are the names of all scores in the log, one of which should be in `wanted`.
    """
    nowhere = native.metric is None and choose_metric(present, wanted) is None
    message = f"{native.problem}" if nowhere else f"{item}: {native.problem}"
    return Note("native_score", source, message)


def shortened(names: Sequence[str]) -> str:
    """Names for a sentence: the first `LISTED`, each cut to 80 characters; "none" without any."""
    shown = [name if len(name) <= 80 else f"{name[:79]}…" for name in names]
    return listed(shown, most=LISTED) or "none"


def finite(value: Any, metric: str, words: Mapping[str, float]) -> Native:
    """A score as a finite number, from a number, bool, number as text or one of `words`.

    `words` maps case-sensitive texts to numbers.
    """
    if isinstance(value, str) and value in words:
        return Native(words[value], metric)
    try:
        # float() also reads bools, numbers of NumPy and digits as text.
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        shown = repr(value)[:60]
        return Native(math.nan, metric, f"native score {metric!r} is {shown}, not a number")
    if not math.isfinite(number):
        return Native(math.nan, metric, f"native score {metric!r} is {number}")
    return Native(number, metric)
