"""What an alignment looks like: on terminals of all widths, as JSON and as CSV."""

from dataclasses import fields
from typing import get_args

import numpy as np
import pytest
from rich.cells import cell_len

from tests.analysis.alignment.panels import noisy, panel, people, ranks_of
from tests.report.showing import printed as show
from tiebreak.analysis.alignment import Alignment, Correlation, Scores, align_panels
from tiebreak.rankers import Resampling
from tiebreak.rankers.intervals import Estimate
from tiebreak.report.sheets.alignment import data_of, sheets_of


def printed(alignment: Alignment, width: int) -> str:
    return show(sheets_of(alignment), width)


def test_the_widest_numbers_fit() -> None:
    # Everybody contradicts people, but for some noise: minus signs everywhere.
    rng = np.random.default_rng(0)
    table = ranks_of(-np.arange(6) + rng.normal(size=(9, 3, 6)))
    found = align_panels(
        [panel(table)], people("fedcba"), how=Resampling(draws=200), methods=["kemeny_young"]
    )
    text = printed(found, 80)
    assert max(cell_len(row) for row in text.splitlines()) <= 80
    assert "Undef.\n" in text
    shown = [cells(text, "kemeny_young", number) for number in range(3)]
    assert [len(row) for row in shown] == [11, 11, 11]
    assert all(number.startswith("-") for row in shown for number in row[1:5] if number != "to")


def cells(text: str, start: str, number: int) -> list[str]:
    found = [row for row in text.splitlines() if row.startswith(start)]
    return found[number].split()


def test_the_documented_shape() -> None:
    found = align_panels([panel(noisy(3, 2, 4, seed=0))], people(), how=Resampling(draws=10))
    data = data_of(found, items=True)
    [one] = data["benchmarks"]
    for level in (data, one, one["models"][0], one["raters"][0]):
        for key in level:
            assert f'"{key}"' in (data_of.__doc__ or "")
    # What is not spelled out there has the fields of these.
    figure = one["raters"][0]["pearson"]
    assert set(figure) == {f.name for f in fields(Correlation)}
    assert set(figure["mean"]) == {f.name for f in fields(Estimate)}


@pytest.mark.parametrize("scores", get_args(Scores))
def test_the_legend_says_what_is_correlated(scores: Scores) -> None:
    found = align_panels(
        [panel(noisy(3, 3, 4, seed=0))],
        people(),
        scores=scores,
        methods=["borda", "average"],
        how=Resampling(draws=10),
    )
    text = printed(found, 80)
    assert [text.count(f"\n{view} ") for view in ("SR", "PR", "SIA", "SFA")] == [3, 3, 3, 3]
    words = " ".join(text.split())
    means = "Pearson of average, SR and PR is that of the mean ranks themselves"
    assert (means in words) == (scores == "mean-rank")
    assert "in the consensus of all ballots, by borda; SFA" in words
