"""Self-preference and the reviewers' correlations as drawn, against the figures themselves."""

import numpy as np
import pytest
from scipy.stats import pearsonr, rankdata, spearmanr

from tests.report.figures.reading import points, row_names, segments
from tests.report.figures.samples import NAN, opinions, review
from tiebreak.report.figures.boxes import reviewer_boxes_figure


@pytest.mark.slow
def test_boxes_hold_each_reviewers_correlations() -> None:
    ranks = opinions(20, 3, 5, seed=4)
    ranks[3, 1] = NAN
    drawing = reviewer_boxes_figure(review(ranks))
    assert drawing is not None
    [axes] = drawing.figure.axes
    assert row_names(axes) == ["a", "b", "c"]
    diamonds = {round(y): x for marker, x, y in points(axes) if marker == "D"}
    for number in range(3):
        others = np.delete(ranks, number, axis=1)
        each = [
            spearmanr(own, np.nanmean(rest, axis=0)).statistic
            for own, rest in zip(ranks[:, number], others, strict=True)
            if not np.isnan(own).any()
        ]
        box = axes.patches[number].get_bbox()  # type: ignore[attr-defined]
        assert (box.x0, box.x1) == pytest.approx(tuple(np.quantile(each, [0.25, 0.75])))
        means = np.nanmean(ranks[:, number], axis=0), np.nanmean(others, axis=(0, 1))
        assert diamonds[number] == pytest.approx(pearsonr(*means).statistic)
        medians = [
            x0 for x0, y0, x1, y1 in segments(axes) if x0 == x1 and round(y0 + 0.275) == number
        ]
        assert medians == [pytest.approx(np.median(each))]


def test_a_ballot_of_some_is_a_sample_of_the_ranking() -> None:
    # Reviewer b ranks c before a; as 1 and 2 of 2 these count as 4/3 and 8/3 of 3 ranks.
    ranks = np.array([[[1.0, 2, 3], [2, NAN, 1], [3, 1, 2]]])
    drawing = reviewer_boxes_figure(review(np.repeat(ranks, 2, axis=0)))
    assert drawing is not None
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
