"""Every figure as it is drawn, read back as `expected/*.txt` has it: words and marks."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import rankdata, spearmanr

from tests.cases import some
from tests.expected import check
from tests.report.figures.reading import segments, told
from tests.report.figures.samples import (
    NAN,
    board,
    contest,
    opinions,
    review,
    row,
    stability_report,
    star_board,
)
from tests.report.figures.test_every_figure import FIGURES
from tiebreak.analysis.contests import contest_report
from tiebreak.analysis.stability import StabilityReport
from tiebreak.analysis.win_rates import WinRates
from tiebreak.rankers.contests.sensitivity import ItemIntervals, Label
from tiebreak.report.figures.boards import leaderboard_figure, native_figure, subjects_figure
from tiebreak.report.figures.boxes import (
    reviewer_boxes_figure,
    self_preference_figure,
    stability_figure,
)
from tiebreak.report.figures.canvas import Drawing
from tiebreak.report.figures.contests import perturbation_figure, sensitivity_figure, wins_figure
from tiebreak.report.figures.matrices import review_matrix_figure, win_rate_figure
from tiebreak.tables import ScoreTable

NAMES = ("ada", "ben", "cleo", "dan", "eve", "fay")
# Ties, a model without an interval, one without a score.
TIED = board(
    [
        row(1, "ada", 0.75, 0.05, native=0.9),
        row(2, "ben", 0.5, 0.1, native=0.9),
        row(2, "cleo", 0.5, 0.2, native=0.8),
        row(4, "dan", 0.25, native=0.9),
        row(None, "eve", NAN, native=0.7),
        row(5, "fay", 0.125, 0.025),
    ]
)
PLAIN = board([row(1, "ada", 0.75, native=3.0), row(2, "ben", 0.25, native=7.0)])
RATES = WinRates(
    ("ada", "ben", "cleo"),
    np.array([[NAN, 0.875, NAN], [0.125, NAN, 1.0], [NAN, 0.0, NAN]]),
    np.array([[0, 1200, 0], [1200, 0, 4], [0, 4, 0]]),
    "matches",
)
# By mean: ada 8, ben 7, cleo 6 → ben (7 + 0)/2 = 3.5 falls behind cleo and dan (5).
CHANGED = contest_report(
    ScoreTable(NAMES[:4], ("maths", "law"), np.array([[8.0, 8], [7, 7], [6, 6], [5, 5]])),
    spoil=["dan=law:best", "ben=law"],
    options={"iterations": 500},
)


def labelled() -> Drawing | None:
    """Every form of a label."""
    report = contest(NAMES, eliminate=(0, 1, 3))
    assert report.sensitivity is not None
    labels: tuple[Label, ...] = (
        "generalist",
        "specialist",
        "undecided",
        "neither",
        "neither",
        "neither",
    )
    return sensitivity_figure(
        replace(report, sensitivity=replace(report.sensitivity, labels=labels))
    )


def over_items() -> Drawing | None:
    low, high, best, worst = np.arange(24.0).reshape(4, 6)
    items = ItemIntervals(low, high, best, worst, draws=2, contests=1, level=0.95)
    return wins_figure(replace(contest(NAMES), items=items))


def silent() -> Drawing | None:
    """Of one protocol no ρ is defined."""
    report = stability_report(["seal", "swiss rounds=3"])
    first = report.subsampled[0]
    nothing = replace(first.stability, rhos=np.full(30, NAN), mean=NAN)
    subsampled = (*report.subsampled, replace(first, name="original", stability=nothing))
    return stability_figure(replace(report, subsampled=subsampled))


def partly() -> Drawing | None:
    """A reviewer without a reply in one item."""
    ranks = opinions(20, 3, 5, seed=4)
    ranks[3, 1] = NAN
    return reviewer_boxes_figure(review(ranks))


OUTSIDERS = review(opinions(25, 5, 4, seed=2), own=(0, 1, 2, None, None))
CASES: dict[str, Callable[[], Drawing | None]] = {
    "board": lambda: leaderboard_figure(TIED),
    "native": lambda: native_figure(TIED),
    "board_plain": lambda: leaderboard_figure(PLAIN),
    "native_plain": lambda: native_figure(PLAIN),
    "win_rates": lambda: win_rate_figure("gsm8k · full_pairwise", RATES),
    "sensitivity": labelled,
    "wins_of_one_t": lambda: wins_figure(contest(NAMES)),
    "wins_once": lambda: wins_figure(contest(NAMES, options={"iterations": 1})),
    "wins_over_items": over_items,
    "wins_over_t": lambda: wins_figure(contest(NAMES, eliminate=(0, 1, 3))),
    "wins_in_tiers": lambda: wins_figure(contest(tuple(f"m{k}" for k in range(9)))),
    "perturbation": lambda: perturbation_figure(CHANGED, 1),
    "perturbation_best": lambda: perturbation_figure(CHANGED),
    "stability": silent,
    "matrix": lambda: review_matrix_figure(OUTSIDERS),
    "self_preference": lambda: self_preference_figure(OUTSIDERS),
    "reviewers": partly,
    **{
        name: lambda name=name: FIGURES[name](("ada", "ben", "cleo"))  # type: ignore[misc]
        for name in ("kappa", "confusion", "stars", "subjects", "alignment", "views")
    },
}


BARE = tuple(replace(row, rank=None, subjects=()) for row in star_board(NAMES[:3]).rows)
UNMET = WinRates(("a", "b"), np.full((2, 2), NAN), np.zeros((2, 2), int), "matches")
NOBODY = WinRates((), np.empty((0, 0)), np.empty((0, 0), int), "places")
NOTHING: list[Drawing | None] = [
    *(draw(board(rows)) for draw in (leaderboard_figure, native_figure)
      for rows in ([], [row(None, "ada", NAN, native=1.0)])),
    native_figure(board([row(1, "ada", 0.75), row(2, "ben", 0.25)])),
    leaderboard_figure(replace(star_board(NAMES[:3]), rows=BARE)),
    subjects_figure(replace(star_board(NAMES[:3]), rows=BARE, subjects=())),
    stability_figure(StabilityReport((), (), 30, ())),
    win_rate_figure("x", UNMET),
    win_rate_figure("x", NOBODY),
    review_matrix_figure(review(np.full((2, 2, 3), NAN))),
    self_preference_figure(review(opinions(5, 2, 3), own=(None, None))),
    reviewer_boxes_figure(review(opinions(3, 1, 4))),
    reviewer_boxes_figure(review(np.ones((3, 2, 4)))),
    sensitivity_figure(contest(NAMES)),
    perturbation_figure(contest(NAMES)),
    perturbation_figure(CHANGED, 2),
]  # fmt: skip


def test_what_is_not_there_is_not_drawn() -> None:
    assert [None] * len(NOTHING) == NOTHING


@pytest.mark.parametrize("name", CASES)
def test_every_mark_and_word(name: str) -> None:
    drawing = some(CASES[name]())
    check(__file__, f"{name}.txt", told(drawing))


def test_a_ballot_of_some_is_a_sample_of_the_ranking() -> None:
    # Reviewer b ranks c before a; as 1 and 2 of 2 these count as 4/3 and 8/3 of 3 ranks.
    ranks = np.array([[[1.0, 2, 3], [2, NAN, 1], [3, 1, 2]]])
    drawing = some(reviewer_boxes_figure(review(np.repeat(ranks, 2, axis=0))))
    [axes] = drawing.figure.axes
    expected = {
        # a: 1 2 3 against (8/3 + 3)/2, 1, (4/3 + 2)/2.
        0: spearmanr([1, 2, 3], [17 / 6, 1, 10 / 6]).statistic,
        # b on a and c alone: 2 1 against (1 + 3)/2 and (3 + 2)/2.
        1: -1.0,
        2: spearmanr([3, 1, 2], [(1 + 8 / 3) / 2, 2, (3 + 4 / 3) / 2]).statistic,
    }
    medians = {round(y0 + 0.275): x0 for x0, y0, x1, y1 in segments(axes) if x0 == x1}
    assert medians == pytest.approx(expected)
    assert rankdata([17 / 6, 1, 10 / 6]).tolist() == [3, 1, 2]
