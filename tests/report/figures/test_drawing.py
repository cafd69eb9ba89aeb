"""Drawings as SVG, as SVG for light and dark screens, as PNG; names of files; shortened names."""

import re
import sys
import xml.etree.ElementTree as ElementTree
from io import BytesIO
from itertools import pairwise
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure
from matplotlib.image import imread
from matplotlib.text import Annotation

from tests.cases import cases, some
from tests.report.figures.reading import contrast, luminance
from tests.report.figures.samples import random_board
from tiebreak.rankers import MissingPackageError
from tiebreak.report.figures.boards import leaderboard_figure
from tiebreak.report.figures.canvas import Drawing, columns, distinct, short, slug, themed, wrapped
from tiebreak.report.figures.panels import Label, label_points, spread

SVG = "{http://www.w3.org/2000/svg}"
SHEET = re.compile(
    r"<style>:root{(.*?)}@media \(prefers-color-scheme: dark\){:root{(.*?)}}</style>"
)


def drawing(*names: str) -> Drawing:
    return some(leaderboard_figure(random_board(names or ("ada", "ben"))))


def sheet(svg: str) -> tuple[dict[str, str], dict[str, str]]:
    """The variables of a themed SVG, light and dark."""
    [found] = SHEET.findall(svg)
    light, dark = (dict(re.findall(r"--(\w+):(#\w{6});", part)) for part in found)
    return light, dark


def test_an_svg_has_a_title_and_says_what_it_shows() -> None:
    one = drawing("<ada>", "ben & co")
    root = ElementTree.fromstring(one.svg())
    assert root.findtext(f"{SVG}title") == one.title == "gsm8k · seal · Borda score of each model"
    assert root.findtext(f"{SVG}desc") == one.alt
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert texts.count("1. <ada>") == texts.count("2. ben & co") == 1


def test_colours_of_the_theme_are_variables() -> None:
    svg = drawing().svg()
    light, dark = sheet(themed(svg))
    # Put in for the variables, the light colours give back all that is drawn.
    back = re.sub(r"var\(--(\w+)\)", lambda name: light[name[1]], themed(svg))
    plain, again = (
        ElementTree.canonicalize(text, strip_text=True, exclude_tags={f"{SVG}metadata"})
        for text in (svg, SHEET.sub("", back))
    )
    assert again == plain
    assert set(light) == set(dark)
    assert light["paper"] == "#ffffff"
    left = re.findall(r"#[0-9a-f]{6}", SHEET.sub("", themed(svg)))
    assert not set(left) & set(light.values())


def test_a_name_that_holds_a_colour_keeps_it() -> None:
    name = 'style="fill: #1b1f24" #ffffff'
    root = ElementTree.fromstring(themed(drawing(name).svg()))
    assert f"1. {name}" in [text.text for text in root.iter(f"{SVG}text")]


def test_all_colours_can_be_read_on_both_papers() -> None:
    for colours in sheet(themed(drawing().svg())):
        paper = luminance(colours["paper"])
        for name, at_least in {
            "ink": 7, "muted": 4.5, "blue": 4.5, "orange": 3, "green": 3, "grid": 1.1, "pale": 1.1,
        }.items():  # fmt: skip
            assert contrast(luminance(colours[name]), paper) >= at_least, name


def test_no_shade_of_a_heat_map_is_a_colour_of_the_theme() -> None:
    light, _ = sheet(themed(drawing().svg()))
    shades = {matplotlib.colors.to_hex(shade) for shade in matplotlib.colormaps["cividis"].colors}  # type: ignore[attr-defined]
    assert not shades & set(light.values())


@pytest.mark.slow
def test_png_is_for_print() -> None:
    picture = imread(BytesIO(drawing().png()))
    width, height = drawing().figure.get_size_inches()
    assert picture.shape[:2] == (
        pytest.approx(150 * height, abs=1),
        pytest.approx(150 * width, abs=1),
    )
    assert picture[0, 0, :3].tolist() == [1, 1, 1]


@pytest.mark.slow
def test_the_users_own_settings_do_not_count() -> None:
    expected = drawing().svg(), drawing().png(), drawing().printed("png")
    with matplotlib.rc_context(
        {"text.usetex": True, "font.size": 30, "savefig.bbox": "tight", "svg.fonttype": "path"}
    ):
        one = drawing()
        assert (one.svg(), one.png(), one.printed("png")) == expected


def test_without_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingPackageError, match=r"pip install '\.\[report\]'"):
        leaderboard_figure(random_board(["ada"]))


@pytest.mark.parametrize(("parts", "expected"), cases(__file__, "names of files"))
def test_names_of_files(parts: tuple[str, ...], expected: str) -> None:
    assert slug(*parts) == expected


@pytest.mark.slow
@given(st.lists(st.text(max_size=60), min_size=1, max_size=3))
@settings(deadline=None, max_examples=60)
def test_any_name_gives_a_safe_name(parts: list[str]) -> None:
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", slug("plot", *parts))


def test_no_two_drawings_have_one_name() -> None:
    one, other = drawing(), drawing("cleo")
    third = Drawing(f"{one.name}-2", "", "", one.figure)
    found = distinct([one, None, other, third, other])
    assert [d.name for d in found] == [one.name + end for end in ("", "-2", "-2-2", "-3")]
    assert found[0] is one
    assert (found[1].title, found[1].figure) == (other.title, other.figure)


@pytest.mark.parametrize(("name", "longest", "expected"), cases(__file__, "shortened_names"))
def test_shortened_names(name: str, longest: int, expected: str) -> None:
    assert short(name, longest) == expected


@given(st.text(max_size=300), st.integers(12, 60))
@settings(deadline=None, max_examples=80)
def test_no_name_is_longer_than_it_may_be(name: str, longest: int) -> None:
    shown = short(name, longest)
    assert columns(shown) <= longest
    assert shown.isprintable()


def test_remarks_are_broken_where_the_width_ends() -> None:
    text = (
        "not shown, – in the table: " + ", ".join(f"model-{k}" for k in range(30)) + " " + "x" * 300
    )
    lines = wrapped(text, 4.0)
    assert "".join("".join(lines).split()) == "".join(text.split())
    assert len(lines) > 5


def test_page_figures_and_documentation_have_one_palette() -> None:
    root = Path(__file__).parents[3]
    page = (root / "src/tiebreak/report/page/static/report.css").read_text("utf-8")
    schemes = page.partition("@media (prefers-color-scheme: dark)")
    names = {"ink": "ink", "muted": "quiet", "grid": "rule", "paper": "paper",
             "blue": "accent", "pale": "pale", "orange": "orange"}  # fmt: skip
    docs = (root / "docs" / "extra.css").read_text("utf-8")
    for drawn, text in zip(sheet(themed(drawing().svg())), (schemes[0], schemes[2]), strict=True):
        for name, variable in names.items():
            assert f"--{variable}: {drawn[name]};" in text
        assert f"--md-typeset-a-color: {drawn['blue']};" in docs


@pytest.mark.slow
@given(
    st.lists(st.floats(-0.5, 1.5), min_size=1, max_size=12),
    st.floats(0.01, 0.08),
    st.integers(0, 2**32 - 1),
)
@settings(deadline=None, max_examples=60)
def test_spread_is_the_nearest_of_all_that_fit(values: list[float], gap: float, seed: int) -> None:
    wanted = np.array(values)
    places = spread(wanted, gap, 0, 1)
    assert places.min() >= -1e-9
    assert places.max() <= 1 + 1e-9
    order = np.argsort(wanted, kind="stable")
    assert np.all(np.diff(places[order]) >= gap - 1e-9)
    # No other places that keep the gaps are nearer.
    rng = np.random.default_rng(seed)
    room = 1 - gap * (len(values) - 1)
    for scale in (1.0, 0.01):
        noise = np.sort(np.clip(places[order] - gap * np.arange(len(values)), 0, room))
        other = np.sort(np.clip(noise + scale * rng.normal(size=len(values)), 0, room))
        other = other + gap * np.arange(len(values))
        assert np.sum((places[order] - wanted[order]) ** 2) <= (
            np.sum((other - wanted[order]) ** 2) + 1e-9
        )


def test_spread_by_hand() -> None:
    # Two at one place part evenly; who has room stays.
    assert spread(np.array([0.5, 0.9, 0.5]), 0.1, 0, 1).tolist() == pytest.approx([0.45, 0.9, 0.55])
    # At the end of the plot they move in.
    assert spread(np.array([1.0, 1.0]), 0.1, 0, 1).tolist() == pytest.approx([0.9, 1.0])


def label(
    points: list[tuple[float, float]], line: list[tuple[float, float]] | None = None
) -> list[Annotation]:
    figure = Figure(figsize=(4, 3))
    axes = figure.add_axes((0.1, 0.1, 0.8, 0.8))
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
    if line:
        axes.plot(*zip(*line, strict=True), scalex=False, scaley=False)
    label_points(axes, [Label(f"name-{k}", x, y) for k, (x, y) in enumerate(points)])
    return [text for text in axes.texts if isinstance(text, Annotation)]


def test_a_name_alone_stands_right_above_its_point() -> None:
    [one] = label([(0.3, 0.5)])
    assert (one.get_text(), one.xy, one.xyann) == ("name-0", (0.3, 0.5), (6, 6))
    assert one.arrow_patch is None


def test_at_the_right_edge_a_name_stands_left() -> None:
    [one] = label([(0.98, 0.5)])
    assert one.xyann == (-6, 6)
    assert one.get_window_extent().x1 < 0.98 * 320 + 40


def test_a_line_crosses_a_name_only_where_every_place_is_crossed() -> None:
    rising = [(0.1, 0.2), (0.9, 0.8)]
    [one] = label([(0.5, 0.5)], rising)
    assert one.xyann == (6, -6)
    # Rather a line through a name than two names in one place.
    names = label([(0.5, 0.5)] * 5, rising)
    assert len({name.xyann for name in names}) == 5


def test_names_at_one_point_stand_apart_and_lead_to_it() -> None:
    found = label([(0.5, 0.5)] * 6)
    places = [one.xyann for one in found]
    assert places[:4] == [(6, 6), (6, -6), (-6, 6), (-6, -6)]
    assert len(set(places)) == 6
    assert [one.arrow_patch is not None for one in found] == [False] * 4 + [True] * 2
    heights = sorted(y for x, y in places if x > 0)
    assert all(high - low >= 8 for low, high in pairwise(heights))
