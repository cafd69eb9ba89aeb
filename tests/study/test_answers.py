"""How many items a budget buys, against every number tried in turn; and what is not known."""

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiebreak.study import StudyError
from tiebreak.study.answers import Bill, items_within, require_known, sheet_of
from tiebreak.study.design import study_of
from tiebreak.study.estimate.totals import Range
from tiebreak.study.planning import left_of, share_of

DOLLARS = st.integers(0, 40).map(lambda quarters: quarters / 4)  # sums of these are exact


def bill(model: str = "a/b", n_items: int = 6, cost: float = 0.5, tokens: float = 9.0) -> Bill:
    unpriced = (model,) if math.isnan(cost) and not math.isnan(tokens) else ()
    return Bill(model, n_items, tokens, tokens, Range(cost, cost, cost), unpriced)


@given(
    left=DOLLARS,
    judging=DOLLARS,
    n_pool=st.integers(1, 30),
    bills=st.lists(st.tuples(st.integers(0, 30), DOLLARS), min_size=1, max_size=3),
)
def test_what_a_budget_buys(
    left: float, judging: float, n_pool: int, bills: list[tuple[int, float]]
) -> None:
    models = [bill(n_items=n, cost=cost) for n, cost in bills]

    def takes(n_items: int) -> float:
        more = sum(cost * max(0, n_items - n) for n, cost in bills)
        return more + judging * n_items

    bought = max(n for n in range(n_pool + 1) if takes(n) <= left)
    assert items_within(left, models, judging, n_pool) == bought


def test_a_benchmark_has_an_equal_part_of_the_budget() -> None:
    asked = {"models": ["a/b", "c/d"], "benchmarks": ["gsm8k", "mmlu"], "judge": "x/y"}
    study = study_of({**asked, "protocols": ["round_robin", "full_pairwise"], "budget": 10})
    assert left_of(study, 1) == 4
    assert share_of(study, 1) == 2
    with pytest.raises(StudyError, match=r"spent on answers \(\$5 of \$5\)"):
        share_of(study, 5)
    assert share_of(study_of({**asked, "calls": 9}), 7) == 4


def test_what_is_not_known_is_said_and_what_to_give() -> None:
    unpriced, uncounted = bill("a/dear", cost=math.nan), bill("b/mute", 6, math.nan, math.nan)
    require_known([bill()])
    with pytest.raises(StudyError, match=re.escape("No price of a/dear is known: add --price a/d")):
        require_known([bill(), unpriced])
    with pytest.raises(StudyError, match="What b/mute may cost is not known, for no tokens"):
        require_known([bill(), uncounted])
    [sheet] = [sheet_of("sums", [bill(), unpriced, uncounted], 8, 8, math.nan)]
    assert sheet.verdict == (
        "Answers to all 8 items take about $1.00 more and what a/dear and b/mute may cost."
    )
