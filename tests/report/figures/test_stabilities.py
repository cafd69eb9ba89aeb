"""Stability as drawn: a box and a diamond for every row with a ρ."""

from dataclasses import replace

import numpy as np
import pytest

from tests.report.figures.reading import points, row_names, said, words
from tests.report.figures.samples import NAN, stability_report
from tiebreak.analysis.stability import StabilityReport
from tiebreak.rankers.stability import RunStability, Stability
from tiebreak.report.figures.boxes import stability_figure


def test_a_box_for_every_row() -> None:
    report = stability_report(["seal", "swiss rounds=3"])
    silent = replace(
        report.subsampled[0],
        name="original",
        stability=replace(report.subsampled[0].stability, rhos=np.full(30, NAN), mean=NAN),
    )
    report = replace(report, subsampled=(*report.subsampled, silent))
    drawing = stability_figure(report)
    assert drawing is not None
    [axes] = drawing.figure.axes
    assert row_names(axes) == [
        "gsm8k · seal · 50%",
        "gsm8k · swiss rounds=3 · 50%",
        "gsm8k · seal · 3 runs",
    ]
    assert "not shown, – in the table: gsm8k · original · 50%" in said(drawing)
    found: list[Stability | RunStability] = [
        report.subsampled[0].stability,
        report.subsampled[1].stability,
        report.repeated[0].stability,
    ]
    diamonds = [(x, y) for marker, x, y in points(axes) if marker == "D"]
    assert diamonds == [(one.mean, place) for place, one in enumerate(found)]
    for patch, one in zip(axes.patches, found, strict=True):
        box = patch.get_bbox()  # type: ignore[attr-defined]
        assert (box.x0, box.x1) == pytest.approx(tuple(np.quantile(one.rhos, [0.25, 0.75])))
    # 2.5 of 3 pairs of runs agree on the first model.
    assert [text for text in words(drawing.figure) if text.endswith("%") and " " not in text] == [
        "83%"
    ] * 3
    low, high = sorted(found, key=lambda one: one.mean)[::2]
    assert f"mean ρ {low.mean:.3f}, lowest {low.minimum:.3f}" in drawing.alt
    assert drawing.alt.endswith(f"mean ρ {high.mean:.3f}.")


def test_nothing_to_draw() -> None:
    assert stability_figure(StabilityReport((), (), 30, ())) is None
