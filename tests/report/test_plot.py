"""The agreement–cost plot: a valid file, every protocol named once, nothing unknown drawn."""

import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from tests.analysis.alignment.panels import NAN, noisy, panel, people
from tests.analysis.test_comparison import Folder, full, lists
from tests.cases import some
from tests.ranking_logs.builders import by_native, call
from tests.report.figures.reading import clashes, points, segments
from tiebreak.analysis.alignment import Alignment, align_panels
from tiebreak.analysis.comparison import Comparison
from tiebreak.rankers import MissingPackageError, Resampling
from tiebreak.report import ReportError
from tiebreak.report.figures.canvas import drawn_for
from tiebreak.report.figures.prices import price_figure
from tiebreak.report.plot import check_plot, plot_alignment, plot_comparison

SVG = "{http://www.w3.org/2000/svg}"
ODD = "p $x$ <&>"

PRICE = " · agreement and its price"


@pytest.fixture(scope="module")
def comparison(tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    folder = Folder(tmp_path_factory.mktemp("logs"))
    folder.add(*full(4, swapped="bacd", calls=[call()] * 6))
    # Five protocols at one and the same point: their names must not hide each other.
    for name in ("listwise", "one", "two", "three", ODD):
        folder.add(*lists(4, "bacd", protocol=name, calls=[call("list")]))
    folder.add(*(by_native(f"q{k}", dict.fromkeys("abcd", 1.0)) for k in range(4)))
    folder.add(*full(4, "abdc", calls=[call()] * 6), repeat=2)
    return folder.compare()


@pytest.mark.slow
def test_every_protocol_has_one_label(comparison: Comparison, tmp_path: Path) -> None:
    path = tmp_path / "plot.svg"
    plot_comparison(comparison, path)
    words = words_of(path)
    for name in ("listwise", "one", "two", "three", ODD, "full_pairwise (reference)"):
        assert words.count(name) == 1
    assert f"gsm8k{PRICE}" not in words
    for name in (
        "noise ceiling: full_pairwise · run 2",
        "noise ceiling: each order",
    ):
        assert words.count(name) == 1
    # A run of the reference is a line, no point.
    assert words.count("full_pairwise · run 2") == 0
    # All its models are tied, so it has no place in the plot.
    assert words.count("original") == 0
    assert not any(text.startswith("not shown") for text in words)
    caption = path.with_suffix(".caption.txt").read_text()
    assert "Line: 95% interval over items; dashed: how far the reference agrees" in caption
    assert "gsm8k: not shown, – in the table: original" in caption
    with drawn_for(None, titled=True):
        plot_comparison(comparison, path)
    words = words_of(path)
    assert words.count(f"gsm8k{PRICE}") == 1
    assert any(text.startswith("not shown") and text.endswith("original") for text in words)


@pytest.mark.slow
def test_every_protocol_stands_where_its_numbers_say(comparison: Comparison) -> None:
    drawing = some(price_figure(comparison, "depth"))
    [axes] = drawing.figure.axes
    [one] = comparison.benchmarks
    known = [log for log in one.logs if log.role == "protocol" and log.name != "original"]
    rhos = [log.agreement.spearman for log in known if log.agreement is not None]
    assert len(rhos) == 5
    expected = [("o", log.price.depth, rho.value) for log, rho in zip(known, rhos, strict=True)]
    assert [one for one in points(axes) if one[0] == "o"] == expected
    assert ("D", one.reference.price.depth, 1.0) in points(axes)
    assert segments(axes) == [
        (log.price.depth, rho.lower, log.price.depth, rho.upper)
        for log, rho in zip(known, rhos, strict=True)
    ]
    assert not clashes(drawing)
    assert drawing.name == "agreement-depth"
    # 1.5, 1.5, 3, 4 in both orders of the reference and 2, 1, 3, 4 elsewhere: 4.5 / √(4.5 · 5).
    assert drawing.alt == (
        "Spearman's ρ of 5 protocols with full_pairwise against calls in a row per item, on 1 "
        "benchmark. On gsm8k the closest is listwise, ρ 0.95 at 1."
    )
    assert price_figure(comparison, "cost") is None


@pytest.mark.slow
def test_a_panel_for_each_benchmark(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    names = ("gsm8k", "mmlu", "bfcl")
    folder.add(*(item for name in names for item in full(2, benchmark=name)))
    folder.add(*(item for name in names for item in lists(2, "bacd", benchmark=name)))
    plot_comparison(folder.compare(), tmp_path / "plot.svg", against="tokens")
    words = words_of(tmp_path / "plot.svg")
    assert [words.count(name) for name in names] == [1, 1, 1]
    assert words.count("listwise") == 3
    assert words.count("tokens per item") == 3


def test_unknown_prices_give_no_plot(comparison: Comparison, tmp_path: Path) -> None:
    with pytest.raises(ReportError, match="--model-cost-config"):
        plot_comparison(comparison, tmp_path / "plot.svg", against="cost")
    assert not (tmp_path / "plot.svg").exists()


@pytest.mark.parametrize("name", ["plot.jpg", "plot", "svg"])
def test_other_files_are_refused(name: str) -> None:
    with pytest.raises(ReportError, match=r"ends in \.svg, \.png or \.pdf"):
        check_plot(name)


def test_a_missing_matplotlib_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingPackageError, match=r"pip install '\.\[report\]'"):
        check_plot("plot.svg")


ODD_NAME = "p $x$ <&>\x1b[31m"


def words_of(path: Path) -> list[str]:
    texts = ElementTree.parse(path).getroot().iter(f"{SVG}text")
    return ["".join(element.itertext()) for element in texts]


@pytest.fixture(scope="module")
def several() -> Alignment:
    panels = [
        panel(noisy(20, 4, 5, seed=k), benchmark=name, log=f"logs/{k}.eval")
        for k, name in enumerate(["gsm8k", "mmlu", "gsm8k", ODD_NAME])
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
    found = words_of(path)
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
    models = ["a", ODD_NAME, "c", "d", long]
    table = np.concatenate([table, table[:, :2]], axis=1)
    human = people("acd")
    found = align_panels(
        [panel(table, models=models)], human, how=Resampling(draws=50), methods=["borda"]
    )
    with drawn_for(None, titled=True):
        plot_alignment(found, tmp_path / "plot.svg", rater="whoever")
    shown = words_of(tmp_path / "plot.svg")
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
