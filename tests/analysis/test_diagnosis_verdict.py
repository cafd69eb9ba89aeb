import math
from typing import Any

import pytest

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
HELP = (
    "Judging could help in at most 158 of 162 items: those where different answers have the same "
    "native score."
)


@pytest.mark.parametrize(
    ("changes", "kind", "judging", "text"),
    [
        (
            {},
            "saturated",
            "could_help",
            "Saturated: native scores tell no two of the 8 models apart (the largest difference is "
            f"1.2 points; 162 items show about 3.1 points or more). {HELP}",
        ),
        (
            TWO,
            "saturated",
            "could_help",
            "Saturated: native scores do not tell the 2 models apart (the difference is 1.2 points;"
            f" 162 items show about 3.1 points or more). {HELP}",
        ),
        (
            {"points": False, "largest": 1.25, "detectable": 12345.6},
            "saturated",
            "could_help",
            "Saturated: native scores tell no two of the 8 models apart (the largest difference is "
            f"1.25; 162 items show about 1.23e+04 or more). {HELP}",
        ),
        (
            EQUAL,
            "saturated",
            "could_help",
            "Saturated: native scores tell no two of the 8 models apart (they are equal in all 162 "
            "items; at 95% confidence two models' true means differ by at most 1.8 points). "
            f"{HELP}",
        ),
        (
            EQUAL | {"points": False},
            "saturated",
            "could_help",
            "Saturated: native scores tell no two of the 8 models apart (they are equal in all 162 "
            f"items). {HELP}",
        ),
        (
            {"detectable": NAN, "largest": 0.0002},
            "saturated",
            "could_help",
            "Saturated: native scores tell no two of the 8 models apart (the largest difference is "
            f"less than 0.1 points). {HELP}",
        ),
        (
            {"n_unscored": 4, "n_scored": 6, "n_pairs": 15, "top": 6},
            "saturated",
            "could_help",
            "Saturated: native scores tell no two of the 6 models that have them apart (the largest"
            " difference is 1.2 points; 162 items show about 3.1 points or more). "
            f"{HELP.removesuffix('.')}, or none.",
        ),
        (
            {"n_open": 0, "n_identical": 100},
            "saturated",
            "cannot_help",
            "Saturated: native scores tell no two of the 8 models apart (the largest difference is "
            "1.2 points; 162 items show about 3.1 points or more). Judging cannot help: answers "
            "with the same native score are identical in all 162 items.",
        ),
        (
            PARTLY,
            "partly_saturated",
            "could_help",
            "Partly saturated: of 8 models, native scores tell 13 of 28 pairs apart, but no two of "
            "the top 5 (the largest difference is 8.0 points; 162 items show about 3.1 points or "
            f"more). {HELP}",
        ),
        (
            PARTLY | {"top": 1},
            "partly_saturated",
            "could_help",
            "Partly saturated: of 8 models, native scores tell 13 of 28 pairs apart, also the first"
            " two (the largest difference is 8.0 points; 162 items show about 3.1 points or more). "
            f"{HELP}",
        ),
        (
            {"n_apart": 28, "top": 1, "largest": 0.346},
            "not_saturated",
            "not_needed",
            "Not saturated: native scores tell all 8 models apart (the largest difference is 34.6 "
            "points; 162 items show about 3.1 points or more). Judging is not needed to tell them "
            "apart.",
        ),
        (
            TWO | {"n_apart": 1, "top": 1, "largest": 0.05},
            "not_saturated",
            "not_needed",
            "Not saturated: native scores tell the 2 models apart (the difference is 5.0 points; "
            "162 items show about 3.1 points or more). Judging is not needed to tell them apart.",
        ),
        (
            EQUAL | {"n_rows": 1110, "n_identical": 1110, "n_open": 0},
            "identical",
            "cannot_help",
            "Judging cannot help: all answers are identical in all 1,110 items.",
        ),
        (
            NONE | {"n_identical": 162, "n_open": 0},
            "identical",
            "cannot_help",
            "Judging cannot help: all answers are identical in all 162 items.",
        ),
        (
            NONE,
            "no_native",
            "could_help",
            "No native scores: whether the benchmark is saturated is unknown. Judging could help "
            "in at most 158 of 162 items: those where answers differ.",
        ),
        (
            # 2 / 2⁵ = 0.062, with any number of models
            {"n_rows": 5, "n_items": 5, "n_open": 4},
            "too_few_items",
            "could_help",
            "Too few items: native scores of 5 items cannot tell any two of 8 models apart, "
            "whatever they are; it takes at least 6. Judging could help in at most 4 of 5 items: "
            "those where different answers have the same native score.",
        ),
        (
            TWO | {"n_rows": 1, "n_items": 1, "n_open": 1},
            "too_few_items",
            "could_help",
            "Too few items: native scores of 1 item cannot tell two models apart, whatever they "
            "are; it takes at least 6. Judging could help in at most 1 of 1 item: those where "
            "different answers have the same native score.",
        ),
        ({"n_rows": 6, "n_items": 6, "n_open": 5}, "saturated", "could_help", None),
        (
            {"n_models": 1, "n_scored": 1, "n_pairs": 0, "n_identical": 162},
            "one_model",
            "cannot_help",
            "One model only: there is nothing to compare.",
        ),
    ],
)
def test_verdicts(changes: dict[str, Any], kind: str, judging: str, text: str | None) -> None:
    fields = {name: getattr(USUAL, name) for name in Evidence.__dataclass_fields__}
    found = verdict(Evidence(**fields | changes))
    assert (found.kind, found.judging) == (kind, judging)
    if text is not None:
        assert str(found.text) == text
