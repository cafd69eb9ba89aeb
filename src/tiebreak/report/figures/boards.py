"""Figures of leaderboards and star boards: scores, native scores, scores by subject."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from tiebreak.analysis.leaderboard import Leaderboard, LeaderboardRow
from tiebreak.analysis.stars import StarBoard, StarRow
from tiebreak.rankers.ranks import DECIMALS
from tiebreak.report.cells import UNDEFINED, decimal, ranks
from tiebreak.report.figures.canvas import (
    BLUE,
    INK,
    MUTED,
    ORANGE,
    Drawing,
    not_shown,
    short,
    slug,
    styled,
)
from tiebreak.report.figures.matrices import heat_map
from tiebreak.report.figures.panels import draw_points, row_panel, slope_panel
from tiebreak.text import count

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def lanes(tiers: Sequence[Sequence[str]], models: Sequence[str]) -> list[list[tuple[int, int]]]:
    """Lanes of (first row, last row) of tiers: few enough that the tiers of a lane do not meet."""
    place = {model: row for row, model in enumerate(models)}
    shown: list[list[tuple[int, int]]] = []
    for tier in tiers:
        rows = [place[model] for model in tier if model in place]
        if not rows:
            continue
        lane = next((lane for lane in shown if lane[-1][1] < min(rows)), None)
        if lane is None:
            shown.append(lane := [])
        lane.append((min(rows), max(rows)))
    return shown


def natives_on_axis(board: Leaderboard | StarBoard) -> dict[str, float]:
    """Native scores by model, if all are on the axis of judged scores, 0 to 1; else empty."""
    if isinstance(board, StarBoard):
        return {}
    natives = {row.model: row.native for row in board.rows if not math.isnan(row.native)}
    return natives if all(0 <= native <= 1 for native in natives.values()) else {}


def leaderboard_figure(board: Leaderboard | StarBoard) -> Drawing | None:
    """Scores with intervals, and ranks left open by tests of pairs; None if no model is ranked."""
    rows = [row for row in board.rows if row.rank is not None]
    if not rows:
        return None
    first, last, on = rows[0], rows[-1], short(board.benchmark)
    if isinstance(board, StarBoard):
        name, digits = slug("stars", board.benchmark), 2
        title = f"{on} · score of each model by stars"
        words = (
            f"Scores by stars of {count(len(rows), 'model')} on {on}, 0 to 100: "
            f"{short(first.model)} is first with {decimal(first.value, 2)}"
        )
    else:
        name, digits = slug("leaderboard", board.benchmark, board.protocol), 3
        title = f"{_title(board)} · Borda score of each model"
        words = (
            f"Leaderboard of {count(len(rows), 'model')} on {on} by {short(board.protocol)}: "
            f"{short(first.model)} is first with a mean normalized Borda score of "
            f"{decimal(first.value)}"
        )
        if not math.isnan(first.lower):
            level = f"{board.level * 100:g}%"
            words += f" ({level} interval {decimal(first.lower)} to {decimal(first.upper)})"
    if last is not first:
        words += f", {short(last.model)} last with {decimal(last.value, digits)}"
    words += "."
    if isinstance(board, Leaderboard) and any(row.rank_lower is not None for row in rows):
        n = sum(row.rank_lower == 1 for row in rows)
        words += f" By tests of all pairs, {count(n, 'model')} could be first."
    return Drawing(name, title, words, _scores(board, rows, title))


def _scores(
    board: Leaderboard | StarBoard, rows: Sequence[LeaderboardRow | StarRow], title: str
) -> "Figure":
    top, step, axis = 1, 0.1, "mean normalized Borda score"
    interval = f"line: {board.level * 100:g}% interval over {count(board.n_items, 'item')}"
    without = any(math.isnan(row.lower) for row in rows)
    if isinstance(board, StarBoard):
        top, step, axis = 100, 10, "score by stars, 0 to 100"
        interval, without = f"{interval}, {board.design}", False
    natives = natives_on_axis(board)
    bars = lanes(board.verdict.tiers, [row.model for row in rows])
    with styled():
        figure, axes = row_panel(
            [f"{row.rank}. {short(row.model)}" for row in rows],
            title=title,
            words=[ranks(row.rank_lower, row.rank_upper) for row in rows],
            head="ranks",
            bars=bars,
            below=[
                axis,
                interval,
                *(["diamond: native score"] if natives else []),
                *(["bars: tiers, in which no two models are told apart"] if bars else []),
                "ranks: left open by tests of all pairs",
                *(["without a line: no interval"] if without else []),
                *not_shown([row.model for row in board.rows if row not in rows]),
            ],
        )
        ends = [(row.value, row.lower, row.upper) for row in rows]
        draw_points(axes, ends, also=list(natives.values()), step=step, within=(0, top))
        for place, row in enumerate(rows):
            if row.model in natives:
                axes.plot(
                    natives[row.model], place, "D", color=ORANGE, markersize=5, fillstyle="none"
                )
    return figure


def _title(board: Leaderboard) -> str:
    return f"{short(board.benchmark)} · {short(board.protocol)}"


def native_figure(board: Leaderboard) -> Drawing | None:
    """A line from each model's place by native score to its judged place.

    Models with equal native scores start at one point. None if no model has both scores.
    """
    rows = [row for row in board.rows if row.rank is not None and not math.isnan(row.native)]
    if not rows:
        return None
    groups: dict[float, list[int]] = {}
    for place, row in sorted(enumerate(rows), key=lambda pair: -pair[1].native):
        groups.setdefault(round(row.native, DECIMALS), []).append(place)
    tied = max((group for group in groups.values() if len(group) > 1), key=len, default=[])
    title = f"{_title(board)} · from native score to judged place"
    heights = {}
    with styled():
        figure, axes = slope_panel(
            [f"{row.rank}. {short(row.model)}" for row in rows],
            [decimal(native) for native in groups],
            title=title,
            below=[
                "left: native score, right: judged place",
                "blue rises, orange falls; grey stays within what native scores tie",
                *not_shown([row.model for row in board.rows if row not in rows]),
            ],
        )
        first = 0
        for native, group in groups.items():
            last = first + len(group) - 1
            heights[native] = (first + last) / 2
            for place in group:
                colour = BLUE if place < first else ORANGE if place > last else MUTED
                axes.plot([0, 1], [heights[native], place], color=colour, linewidth=1.6)
                axes.plot(1, place, "o", color=colour, markersize=4)
            axes.plot(0, heights[native], "o", color=INK, markersize=3 + 2 * len(group) ** 0.5)
            first = last + 1
        axes.set_yticks(list(heights.values()), [decimal(native) for native in groups])
    shared = (
        f"{count(len(tied), 'model')} share the native score {decimal(rows[tied[0]].native)}, and "
        if tied
        else "No two models share a native score; "
    )
    scores = [rows[place].borda for place in tied] or [row.borda for row in rows]
    return Drawing(
        slug("native", board.benchmark, board.protocol),
        title,
        f"Native score against judged score of {count(len(rows), 'model')} on "
        f"{short(board.benchmark)}. {shared}their judged scores go from {decimal(min(scores))} to "
        f"{decimal(max(scores))}.",
        figure,
    )


def subjects_figure(board: StarBoard) -> Drawing | None:
    """A heat map of models by subject (LLMEval-Fair, table 1); None without subjects or scores."""
    table = np.array([[subject.value for subject in row.subjects] for row in board.rows])
    if not table.size or np.isnan(table).all():
        return None
    low = min(math.floor(float(np.nanmin(table))), 9)  # below 10, the upper end of the shades
    title = f"{short(board.benchmark)} · scores by subject"
    with styled():
        figure, _ = heat_map(
            table,
            [f"{number}. {short(row.model)}" for number, row in enumerate(board.rows, start=1)],
            [str(number) for number in range(1, len(board.subjects) + 1)],
            lambda i, j: UNDEFINED if np.isnan(table[i, j]) else decimal(float(table[i, j]), 1),
            span=(float(low), 10.0),
            title=title,
            below=[
                "score of the row on the subject of the column, 0 to 10",
                *(f"{number}. {short(name)}" for number, name in enumerate(board.subjects, 1)),
            ],
        )
    worst = np.unravel_index(np.nanargmin(table), table.shape)
    return Drawing(
        slug("subjects", board.benchmark),
        title,
        f"Scores of {count(len(table), 'model')} on {count(len(board.subjects), 'subject')}, 0 to "
        f"10. The lowest is that of {short(board.rows[int(worst[0])].model)} on "
        f"{short(board.subjects[int(worst[1])])}, {decimal(float(table[worst]), 2)}.",
        figure,
    )
