"""The box plots: a valid file, a box for everything defined, nothing undefined drawn."""

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from tests.analysis.alignment.panels import NAN, noisy, panel, people
from tiebreak.analysis.alignment import Alignment, align_panels
from tiebreak.rankers import Resampling
from tiebreak.report import ReportError
from tiebreak.report.figures.canvas import drawn_for
from tiebreak.report.plot import plot_alignment

SVG = "{http://www.w3.org/2000/svg}"
ODD = "p $x$ <&>\x1b[31m"


def words(path: Path) -> list[str]:
    texts = ElementTree.parse(path).getroot().iter(f"{SVG}text")
    return ["".join(element.itertext()) for element in texts]


@pytest.fixture(scope="module")
def several() -> Alignment:
    panels = [
        panel(noisy(20, 4, 5, seed=k), benchmark=name, log=f"logs/{k}.eval")
        for k, name in enumerate(["gsm8k", "mmlu", "gsm8k", ODD])
    ]
    silent = panel(np.full((3, 2, 5), NAN), benchmark="nobody")
    return align_panels(
        [*panels, silent],
        people("abcde"),
        how=Resampling(draws=50),
        methods=["kemeny_young", "irv"],
    )


@pytest.mark.slow
def test_a_box_for_each_peer_review(several: Alignment, tmp_path: Path) -> None:
    path = tmp_path / "plot.svg"
    with drawn_for(None, titled=True):
        plot_alignment(several, path)
    found = words(path)
    # Reviewed twice, gsm8k is told apart by its logs.
    for name in ("kemeny_young", "gsm8k · 0", "gsm8k · 2", "mmlu", r"p $x$ <&>\x1b[31m"):
        assert found.count(name) == 1
    assert "nobody" not in found
    assert any(text.startswith("not shown") and text.endswith("nobody") for text in found)
    assert any("arena.csv" in text for text in found)


def test_a_box_for_each_rater(tmp_path: Path) -> None:
    table = noisy(20, 3, 5, seed=0)
    table[:, 2] = NAN
    long = "x" * 40 + "y" * 40
    models = ["a", ODD, "c", "d", long]
    table = np.concatenate([table, table[:, :2]], axis=1)
    human = people("acd")
    found = align_panels(
        [panel(table, models=models)], human, how=Resampling(draws=50), methods=["borda"]
    )
    with drawn_for(None, titled=True):
        plot_alignment(found, tmp_path / "plot.svg", rater="whoever")
    shown = words(tmp_path / "plot.svg")
    for name in ("gsm8k", "a", r"p $x$ <&>\x1b[31m", "d", "borda", "x" * 28 + "…" + "y" * 19):
        assert shown.count(name) == 1
    assert "c" not in shown
    # The native scores are all equal.
    assert "not shown, – in the table: c, native score" in shown


def test_the_four_views_of_each_review(
    several: Alignment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Peer review, figure 4: a box where the view tells models apart, else its name below."""
    drawn: list[Figure] = []
    monkeypatch.setattr(
        "tiebreak.report.plot.write_all",
        lambda drawings, *others: drawn.extend(drawing.figure for drawing, _ in drawings),
    )
    plot_alignment(several, tmp_path / "plot.svg", rater="views")
    [axes] = drawn[0].axes
    shown = [label.get_text() for label in axes.get_yticklabels()]
    assert shown[:4] == ["gsm8k · 0 · SR", "gsm8k · 0 · PR", "gsm8k · 0 · SIA", "gsm8k · 0 · SFA"]
    assert len(shown) == len(axes.patches) == 16
    medians = [
        each.pearson.median
        for one in several.benchmarks
        for each in one.raters
        if each.kind == "view" and each.pearson.n_rows
    ]
    drawn_medians = {
        round(float(np.asarray(path.vertices)[0, 0]), 9)
        for line in axes.collections
        for path in line.get_paths()
    }
    assert {round(median, 9) for median in medians} <= drawn_medians
    below = " ".join(text.get_text() for text in drawn[0].texts)
    assert "nobody · SR" in axes.get_xlabel() + below


def test_what_cannot_be_drawn(several: Alignment, tmp_path: Path) -> None:
    with pytest.raises(ReportError, match="no rater 'borda' to draw; there are a, b, c, d, kemeny"):
        plot_alignment(several, tmp_path / "plot.svg", rater="borda")
    with pytest.raises(ReportError, match=r"ends in \.svg, \.png or \.pdf"):
        plot_alignment(several, tmp_path / "plot.jpg")
    nothing = align_panels(
        [panel(np.full((2, 2, 3), NAN))], people("abc"), methods=["irv"], how=Resampling(draws=10)
    )
    with pytest.raises(ReportError, match="Nothing to draw"):
        plot_alignment(nothing, tmp_path / "plot.svg")
    assert not list(tmp_path.iterdir())
