import math
from dataclasses import replace
from typing import Any

import pytest

from tests.expected import check
from tiebreak.analysis.diagnosis import Evidence, Verdict, verdict

NAN = math.nan
# Eight models with near-equal native scores and 162 items, in 158 of which answers can be judged.
USUAL = Evidence(
    n_models=8,
    n_scored=8,
    n_rows=162,
    n_identical=0,
    n_open=158,
    n_unscored=0,
    n_items=162,
    all_equal=False,
    n_pairs=28,
    n_apart=0,
    top=8,
    largest=0.0123,
    detectable=0.031,
    unseen=NAN,
    points=True,
    level=0.95,
)
PARTLY = {"n_apart": 13, "top": 5, "largest": 0.08}
EQUAL = {"all_equal": True, "largest": 0.0, "detectable": NAN, "unseen": 0.0183}
TWO = {"n_models": 2, "n_scored": 2, "n_pairs": 1, "top": 2}
NONE = {
    "n_scored": 0,
    "n_pairs": 0,
    "n_items": 0,
    "n_unscored": 162,
    "top": 0,
    "largest": NAN,
    "detectable": NAN,
}
CASES: dict[str, tuple[dict[str, Any], str, str]] = {
    "usual": ({}, "saturated", "could_help"),
    "two": (TWO, "saturated", "could_help"),
    "no points": (
        {"points": False, "largest": 1.25, "detectable": 12345.6},
        "saturated",
        "could_help",
    ),
    "equal": (EQUAL, "saturated", "could_help"),
    "equal, no points": (EQUAL | {"points": False}, "saturated", "could_help"),
    "nothing detectable": ({"detectable": NAN, "largest": 0.0002}, "saturated", "could_help"),
    "some unscored": (
        {"n_unscored": 4, "n_scored": 6, "n_pairs": 15, "top": 6},
        "saturated",
        "could_help",
    ),
    "nothing open": ({"n_open": 0, "n_identical": 100}, "saturated", "cannot_help"),
    "partly": (PARTLY, "partly_saturated", "could_help"),
    "partly, one at the top": (PARTLY | {"top": 1}, "partly_saturated", "could_help"),
    "all apart": ({"n_apart": 28, "top": 1, "largest": 0.346}, "not_saturated", "not_needed"),
    "two apart": (
        TWO | {"n_apart": 1, "top": 1, "largest": 0.05},
        "not_saturated",
        "not_needed",
    ),
    "identical": (
        EQUAL | {"n_rows": 1110, "n_identical": 1110, "n_open": 0},
        "identical",
        "cannot_help",
    ),
    "identical, unscored": (NONE | {"n_identical": 162, "n_open": 0}, "identical", "cannot_help"),
    "unscored": (NONE, "no_native", "could_help"),
    # 2 / 2⁵ = 0.062, with any number of models
    "five items": ({"n_rows": 5, "n_items": 5, "n_open": 4}, "too_few_items", "could_help"),
    "six items": ({"n_rows": 6, "n_items": 6, "n_open": 5}, "saturated", "could_help"),
    "two, one item": (
        TWO | {"n_rows": 1, "n_items": 1, "n_open": 1},
        "too_few_items",
        "could_help",
    ),
    "one model": (
        {"n_models": 1, "n_scored": 1, "n_pairs": 0, "n_identical": 162},
        "one_model",
        "cannot_help",
    ),
}


def verdict_of(name: str) -> Verdict:
    return verdict(replace(USUAL, **CASES[name][0]))


@pytest.mark.parametrize("name", CASES)
def test_kinds(name: str) -> None:
    found = verdict_of(name)
    assert (found.kind, found.judging) == CASES[name][1:]


def test_texts() -> None:
    texts = "".join(f"{name}: {verdict_of(name).text}\n" for name in CASES)
    check(__file__, "diagnosis_verdicts.txt", texts)
