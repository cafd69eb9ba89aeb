"""Names beside points and at the side of a plot: near what they name, and clear of each other."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure
from matplotlib.text import Annotation

from tiebreak.report.figures.panels import Label, label_points, spread


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


def label(points: list[tuple[float, float]]) -> list[Annotation]:
    figure = Figure(figsize=(4, 3))
    axes = figure.add_axes((0.1, 0.1, 0.8, 0.8))
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
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


def test_names_at_one_point_stand_apart_and_lead_to_it() -> None:
    found = label([(0.5, 0.5)] * 6)
    places = [one.xyann for one in found]
    assert places[:4] == [(6, 6), (6, -6), (-6, 6), (-6, -6)]
    assert len(set(places)) == 6
    assert [one.arrow_patch is not None for one in found] == [False] * 4 + [True] * 2
    heights = sorted(y for x, y in places if x > 0)
    assert all(high - low >= 8 for low, high in pairwise(heights))
