"""A contest within one benchmark: tiers of items are its rounds."""

import numpy as np
import pytest

from tests.rankers.contests import exact
from tests.report.showing import printed, round_trip
from tiebreak.analysis.contests import ContestReport, tier_report
from tiebreak.rankers import win_rates
from tiebreak.rankers.contests.expected_wins import CsdOptions
from tiebreak.rankers.errors import RankingError
from tiebreak.rankers.profile import FloatArray
from tiebreak.reason import Reason
from tiebreak.report.figures.contests import wins_figure
from tiebreak.report.sheets.contest import data_of, sheets_of
from tiebreak.tables.pool_scores import ItemScores

MODELS = ("ada", "ben", "cleo", "dan")
FEW: CsdOptions = {"iterations": 20_000}
# Success rates 1, 1, ¾, ¾, ½, ¼: three of four bands, the hardest holds ½ … no item is all wrong.
ANSWERS = np.array(
    [[1, 1, 1, 1], [1, 1, 1, 1], [1, 1, 1, 0], [1, 1, 1, 0], [1, 0, 0, 1], [0, 1, 0, 0.0]]
)


def contest(answers: FloatArray = ANSWERS, tiers: int = 4, **arguments: object) -> ContestReport:
    items = ItemScores("gsm8k", MODELS, answers, ("a remark",))
    return tier_report(items, tiers, **{"options": FEW} | arguments)  # type: ignore[arg-type]


def said(report: ContestReport) -> str:
    return " ".join(printed(sheets_of(report)).split())


@pytest.mark.parametrize("eliminate", [0, 1])
def test_against_all_contests_of_the_tiers(eliminate: int) -> None:
    found = contest(eliminate=(eliminate,))
    assert found.rounds == (("0.75–1",), ("0.5–0.75",), ("0.25–0.5",), ("0–0.25",))
    # By hand: the mean score of each model in the tiers, from easy to hard.
    tiers = np.array([[1, 1, 1, 0], [1, 1, 0, 1], [1, 1, 0, 0], [1, 0, 1, 0]])
    truth = [float(v) for v in exact.expected_wins(win_rates(tiers).tolist(), (eliminate,) * 4)]
    assert np.all(
        np.abs(found.result.expected_wins - truth) < 4.5 * found.result.standard_error + 1e-6
    )


def test_what_is_said_of_the_tiers() -> None:
    found = contest()
    text = said(found)
    for words in (
        "4 models · gsm8k in 4 tiers of difficulty · T = 0",
        "0.75–1 → 0.5–0.75 → 0.25–0.5 → 0–0.25 Order: from easy to hard",
        "0.75–1 2 1.000–1.000 0.5–0.75 2 0.000–1.000",
        "each model's own moves an item by 1/4 of the scale",
        "toss of a coin, on: 0.75–1",
    ):
        assert words in text
    data = round_trip(data_of(found))
    assert (data["benchmark"], data["order_from"]) == ("gsm8k", "difficulty")
    assert [row["n_items"] for row in data["difficulty"]] == [2, 2, 1, 1]
    assert (data["empty_tiers"], data["notes"][0]) == ([], "a remark")
    drawing = wins_figure(found)
    assert drawing is not None
    assert drawing.title.startswith("CSD, gsm8k in 4 tiers of difficulty")


def test_tiers_without_an_item_are_named() -> None:
    found = contest(tiers=10)
    assert "Without an item, so no round: 0.8–0.9, 0.6–0.7, 0.5–0.6" in said(found)
    assert data_of(found)["empty_tiers"][0] == "0.8–0.9"
    assert found.rounds[1] == ("0.7–0.8",)


def test_a_saturated_benchmark_is_warned_of() -> None:
    assert contest().warnings == ()
    many = np.concatenate([ANSWERS, np.ones((8, 4))])
    [warning] = contest(many).warnings
    assert warning == Reason("crowded_tier", n=10, of=14, tier="0.75–1", n_rounds=3, rest=4)
    one = contest(np.ones((5, 4)))
    assert one.warnings == ()
    assert "One round: the order is that of the scores" in said(one)
    assert "All models tie" in said(one)


def test_scores_beyond_success_rates_are_refused() -> None:
    with pytest.raises(RankingError, match="between 0 and 1"):
        contest(ANSWERS * 3)
