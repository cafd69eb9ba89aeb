import math
from dataclasses import replace
from typing import Any

from tests.expected import check
from tiebreak.analysis.diagnosis import Evidence, verdict

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
CASES: dict[str, dict[str, Any]] = {
    "usual": {},
    "two": TWO,
    "no points": {"points": False, "largest": 1.25, "detectable": 12345.6},
    "equal": EQUAL,
    "equal, no points": EQUAL | {"points": False},
    "nothing detectable": {"detectable": NAN, "largest": 0.0002},
    "some unscored": {"n_unscored": 4, "n_scored": 6, "n_pairs": 15, "top": 6},
    "nothing open": {"n_open": 0, "n_identical": 100},
    "partly": PARTLY,
    "partly, one at the top": PARTLY | {"top": 1},
    "all apart": {"n_apart": 28, "top": 1, "largest": 0.346},
    "two apart": TWO | {"n_apart": 1, "top": 1, "largest": 0.05},
    "identical": EQUAL | {"n_rows": 1110, "n_identical": 1110, "n_open": 0},
    "identical, unscored": NONE | {"n_identical": 162, "n_open": 0},
    "unscored": NONE,
    # 2 / 2⁵ = 0.062, with any number of models
    "five items": {"n_rows": 5, "n_items": 5, "n_open": 4},
    "six items": {"n_rows": 6, "n_items": 6, "n_open": 5},
    "two, one item": TWO | {"n_rows": 1, "n_items": 1, "n_open": 1},
    "one model": {"n_models": 1, "n_scored": 1, "n_pairs": 0, "n_identical": 162},
}


def test_kinds_and_texts() -> None:
    found = {name: verdict(replace(USUAL, **changes)) for name, changes in CASES.items()}
    lines = (f"{name}: {v.kind}, {v.judging}: {v.text}\n" for name, v in found.items())
    check(__file__, "diagnosis_verdicts.txt", "".join(lines))
