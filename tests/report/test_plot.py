"""The agreement–cost plot: a valid file, every protocol named once, nothing unknown drawn."""

import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest

from tests.analysis.alignment.panels import NAN, noisy, panel, people
from tests.analysis.test_comparison import Folder, full, lists
from tests.cases import some
from tests.expected import check
from tests.ranking_logs.builders import by_native, call
from tests.report.figures.reading import clashes, points, said, segments, told
from tiebreak.analysis.alignment import Alignment, align_panels
from tiebreak.analysis.comparison import Comparison
from tiebreak.rankers import MissingPackageError, Resampling
from tiebreak.report import ReportError
from tiebreak.report.figures.boxes import alignment_figure, views_figure
from tiebreak.report.figures.canvas import drawn_for
from tiebreak.report.figures.prices import price_figure
from tiebreak.report.plot import check_plot, plot_alignment, plot_comparison

SVG = "{http://www.w3.org/2000/svg}"
ODD = "p $x$ <&>"
STEERING = f"{ODD}\x1b[31m"


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
def test_every_protocol_stands_where_its_numbers_say(comparison: Comparison) -> None:
    drawing = some(price_figure(comparison, "depth"))
    check(__file__, "prices.txt", told(drawing))
    with drawn_for(None, titled=True):
        shown = said(some(price_figure(comparison, "depth")))
    assert "gsm8k · agreement and its price" in shown
    assert "not shown, – in the table: original" in shown.replace("\n", " ")
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


def words_of(path: Path) -> list[str]:
    texts = ElementTree.parse(path).getroot().iter(f"{SVG}text")
    return ["".join(element.itertext()) for element in texts]


@pytest.fixture(scope="module")
def several() -> Alignment:
    panels = [
        panel(noisy(20, 4, 5, seed=k), benchmark=name, log=f"logs/{k}.eval")
        for k, name in enumerate(["gsm8k", "mmlu", "gsm8k", STEERING])
    ]
    silent = panel(np.full((3, 2, 5), NAN), benchmark="nobody")
    return align_panels(
        [*panels, silent],
        people("abcde"),
        how=Resampling(draws=50),
        methods=["kemeny_young", "irv"],
    )


def test_several_reviews_and_what_does_not_tell_models_apart(several: Alignment) -> None:
    """Reviewed twice, gsm8k is told apart by its logs; the names of boxes that lack are below."""
    drawings = (alignment_figure(several, "kemeny_young"), views_figure(several))
    check(__file__, "reviews.txt", "\n".join(told(some(drawing)) for drawing in drawings))


def test_a_box_for_each_rater_of_one_review() -> None:
    """A silent one, whose box lacks; native scores that are all equal; names of all kinds."""
    table = noisy(20, 3, 5, seed=0)
    table[:, 2] = NAN
    models = ["a", STEERING, "c", "d", "x" * 40 + "y" * 40]
    reviewed = panel(np.concatenate([table, table[:, :2]], axis=1), models=models)
    found = align_panels([reviewed], people("acd"), how=Resampling(draws=50), methods=["borda"])
    check(__file__, "raters.txt", told(some(alignment_figure(found))))


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
