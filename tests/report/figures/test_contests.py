"""CSD figures as drawn, read back and held against the contest."""

from dataclasses import replace
from statistics import NormalDist

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.text import Annotation

from tests.report.figures.reading import points, row_names, said, segments, words
from tests.report.figures.samples import contest
from tiebreak.analysis.contests import ContestReport, contest_report
from tiebreak.rankers.contests.sensitivity import ItemIntervals, Label
from tiebreak.report.figures.contests import perturbation_figure, sensitivity_figure, wins_figure
from tiebreak.tables import ScoreTable

NAMES = ("ada", "ben", "cleo", "dan", "eve", "fay")


@pytest.fixture(scope="module")
def several() -> ContestReport:
    return contest(NAMES, eliminate=(0, 1, 3), spoil="ben=bench0,bench2")


def curves(axes: Axes) -> list[tuple[list[float], list[float]]]:
    return [
        (np.asarray(line.get_xdata()).tolist(), np.asarray(line.get_ydata()).tolist())
        for line in axes.lines
        if line.get_transform() == axes.transData
    ]


def test_base_against_sensitivity(several: ContestReport) -> None:
    labels: tuple[Label, ...] = (
        "generalist", "specialist", "undecided", "neither", "neither", "neither",
    )  # fmt: skip
    assert several.sensitivity is not None
    found = replace(several.sensitivity, labels=labels)
    drawing = sensitivity_figure(replace(several, sensitivity=found))
    assert drawing is not None
    [axes] = drawing.figure.axes
    forms = {"generalist": "o", "specialist": "^", "undecided": "D", "neither": "."}
    places = zip(labels, found.expected_wins[0], found.slope, strict=True)
    assert sorted(points(axes)) == sorted((forms[a], float(x), float(y)) for a, x, y in places)
    # Crosses: the intervals of both, here for the first model.
    z = NormalDist().inv_cdf(0.975)
    x, y = found.expected_wins[0, 0], found.slope[0]
    dx, dy = z * found.standard_error[0, 0], z * found.slope_error[0]
    assert [ys for xs, ys in curves(axes) if xs == [x, x]] == [pytest.approx([y - dy, y + dy])]
    assert [xs for xs, ys in curves(axes) if ys == [y, y]] == [pytest.approx([x - dx, x + dx])]
    names = {text.get_text(): text.xy for text in axes.texts if isinstance(text, Annotation)}
    order = np.argsort(-found.expected_wins[0])
    for place, model in enumerate(order, start=1):
        xy = (found.expected_wins[0, model], found.slope[model])
        assert names[f"{place}. {NAMES[model]}"] == xy
    assert "● generalist, ▲ specialist, ◆ undecided, • neither" in said(drawing)
    steep = int(np.argmin(found.slope))
    assert drawing.alt == (
        "Expected wins at T = 0 against failure sensitivity of 6 models. 1 generalist: ada; 1 "
        f"specialist: ben. The most sensitive is {NAMES[steep]}, {found.slope[steep]:.3f} wins "
        "per T."
    )


def test_wins_over_t(several: ContestReport) -> None:
    drawing = wins_figure(several)
    assert drawing is not None
    assert several.sensitivity is not None
    [axes] = drawing.figure.axes
    wins, labels = several.sensitivity.expected_wins, several.sensitivity.labels
    order = np.argsort(-wins[0])
    assert row_names(axes) == [f"{k}. {NAMES[model]}" for k, model in enumerate(order, start=1)]
    drawn = points(axes)
    forms = {"generalist": "o", "specialist": "^", "undecided": "D", "neither": "."}
    for place, model in enumerate(order):
        own = [("o", wins[1, model], place), ("o", wins[2, model], place)]
        assert sorted(each for each in drawn if each[2] == place) == sorted(
            [*own, (forms[labels[model]], wins[0, model], place)]
        )
    delta = several.sensitivity.delta
    assert [text.get_text() for text in axes.texts][:6] == [f"{delta[m]:+.2f}" for m in order]
    assert "○ T = 1, 3: the higher T, the smaller" in said(drawing)
    most = int(np.argmax(np.abs(several.sensitivity.delta)))
    assert (
        f"From T = 0 to 3 {NAMES[most]} changes most, by {wins[2, most] - wins[0, most]:.2f}"
        in (drawing.alt)
    )


@pytest.mark.parametrize("eliminate", [(0,), (0, 1)])
def test_lines_between_tiers(eliminate: tuple[int, ...]) -> None:
    names = tuple(f"m{k}" for k in range(9))
    report = contest(names, eliminate=eliminate)
    drawing = wins_figure(report)
    assert drawing is not None
    assert report.tiers is not None
    [axes] = drawing.figure.axes
    sizes = np.bincount(report.tiers)[1:]
    across = [line.get_ydata() for line in axes.lines if line.get_transform() != axes.transData]
    assert [float(np.asarray(each)[0]) for each in across] == (np.cumsum(sizes)[:3] - 0.5).tolist()
    told = [text.get_text() for text in axes.texts][:9]
    starts = (np.cumsum([0, *sizes[:3]])).tolist()
    assert [place for place, text in enumerate(told) if "tier" in text] == starts
    assert told[starts[2]].endswith(", tier 3")
    assert f"4 tiers of {', '.join(map(str, sizes))} models." in drawing.alt
    one = wins_figure(contest(names, eliminate=eliminate, performance_tiers=1))
    assert one is not None
    assert "tier" not in said(one)


def test_wins_of_one_t() -> None:
    one = contest(NAMES)
    drawing = wins_figure(one)
    assert drawing is not None
    [axes] = drawing.figure.axes
    result = one.result
    order = np.argsort(-result.expected_wins)
    assert row_names(axes) == [f"{k}. {NAMES[model]}" for k, model in enumerate(order, start=1)]
    assert points(axes) == [
        ("o", float(result.expected_wins[model]), place) for place, model in enumerate(order)
    ]
    z = NormalDist().inv_cdf(0.975)
    low, high = (result.expected_wins + sign * z * result.standard_error for sign in (-1, 1))
    assert segments(axes) == [
        pytest.approx((low[model], place, high[model], place)) for place, model in enumerate(order)
    ]
    ranks = [f"{result.rank_lower[m]:.0f}–{result.rank_upper[m]:.0f}" for m in order]
    assert [text.get_text() for text in axes.texts][:6] == ranks
    best, last = order[0], order[-1]
    assert drawing.alt == (
        f"Expected wins of 6 models in 6 rounds: {NAMES[best]} has the most, "
        f"{result.expected_wins[best]:.2f}, {NAMES[last]} the fewest, "
        f"{result.expected_wins[last]:.2f}."
    )


def test_intervals_over_items_are_drawn_where_they_are_known() -> None:
    one = contest(NAMES)
    assert one.items is None
    assert "the simulation's error alone" in said_of(one)
    low, high, best, worst = np.arange(24.0).reshape(4, 6)
    items = ItemIntervals(low, high, best, worst, draws=2, contests=1, level=0.95)
    over = replace(one, items=items)
    drawing = wins_figure(over)
    assert drawing is not None
    assert "over items; all ranks at once" in said_of(over)
    order = np.argsort(-one.result.expected_wins)
    assert segments(drawing.figure.axes[0]) == [
        pytest.approx((items.lower[model], place, items.upper[model], place))
        for place, model in enumerate(order)
    ]


def said_of(report: ContestReport) -> str:
    drawing = wins_figure(report)
    assert drawing is not None
    return said(drawing)


def test_a_single_contest_has_no_interval() -> None:
    drawing = wins_figure(contest(NAMES, options={"iterations": 1}))
    assert drawing is not None
    assert not segments(drawing.figure.axes[0])
    assert words(drawing.figure).count("–") == len(NAMES)


def test_ranks_before_and_after() -> None:
    # By mean: ada 8, ben 7, cleo 6 → ben (7 + 0)/2 = 3.5 falls behind cleo and dan (5).
    scores = [[8.0, 8], [7, 7], [6, 6], [5, 5]]
    options = {"iterations": 500}
    report = contest_report(
        ScoreTable(NAMES[:4], ("maths", "law"), np.array(scores)),
        spoil=["dan=law:best", "ben=law"],
        options=options,  # type: ignore[arg-type]
    )
    drawing = perturbation_figure(report, 1)
    assert drawing is not None
    [axes] = drawing.figure.axes
    before, after = report.spoilt[1].before.rank, report.spoilt[1].after.rank
    csd = [([0, 1], [before[m], after[m]]) for m in range(4)]
    mean = [([2, 3], [1, 1]), ([2, 3], [2, 4]), ([2, 3], [3, 2]), ([2, 3], [4, 3])]
    assert curves(axes) == csd + mean
    bold = [line.get_linewidth() for line in axes.lines if line.get_transform() == axes.transData]
    assert [width > 2 for width in bold] == [False, True, False, False] * 2
    numbers = [(text.xy, text.get_text()) for text in axes.texts if isinstance(text, Annotation)]
    assert numbers == [
        ((0, 2), "2"),
        ((1, after[1]), f"{after[1]:.0f}"),
        ((2, 2), "2"),
        ((3, 4), "4"),
    ]
    assert drawing.title == "CSD · ben with 0 in 1 benchmark"
    assert drawing.alt == (
        "Ranks of 4 models before and after ben gets 0 on law: it goes from rank 2 to "
        f"{after[1]:.0f} by CSD, and from 2 to 4 by mean score."
    )
    assert "with 0 on: law" in words(drawing.figure)
    upwards = perturbation_figure(report)
    assert upwards is not None
    assert upwards.title == "CSD · dan with 8 in 1 benchmark"
    assert perturbation_figure(report, 2) is None


def test_what_was_not_asked_for_is_not_drawn() -> None:
    one = contest(NAMES)
    assert sensitivity_figure(one) is None
    assert perturbation_figure(one) is None
