"""Heat maps: win rates, mean ranks by reviewer and candidate, labels of judges and people."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from tiebreak.analysis.calibration import Calibration
from tiebreak.analysis.peers.review import PeerReview
from tiebreak.analysis.win_rates import WinRates
from tiebreak.rankers.consensus import comparing, mean_rank
from tiebreak.rankers.profile import FloatArray, within_ballots
from tiebreak.report.cells import UNDEFINED, decimal
from tiebreak.report.figures.canvas import (
    BLUE,
    MUTED,
    ORANGE,
    PAPER,
    Drawing,
    names_on_paper,
    panel,
    short,
    slug,
    styled,
    widest,
)
from tiebreak.text import count, percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def win_rate_figure(board_label: str, rates: WinRates) -> Drawing | None:
    """How often the row's model beats the column's, in percent; None if no two models met."""
    if not rates.n.any():
        return None
    m = len(rates.models)
    noun = "matches" if rates.by == "matches" else "items"
    title = f"{short(board_label, 80)} · how often the row beats the column"
    small, large = int(rates.n[rates.n > 0].min()), int(rates.n.max())
    support = f"{small:,}" if small == large else f"{small:,} to {large:,}"

    def text(i: int, j: int) -> str:
        if i == j:
            return ""
        if not rates.n[i, j]:
            return UNDEFINED
        return percent(float(rates.rate[i, j])).rstrip("%")

    with styled():
        figure, _ = heat_map(
            rates.rate,
            [f"{number}. {short(name)}" for number, name in enumerate(rates.models, start=1)],
            [f"{k}. {short(name, NAMED)}" for k, name in enumerate(rates.models, start=1)],
            text,
            span=(0, 1),
            title=title,
            below=[
                "wins of the row, in percent",
                "a tie is half a win; blue: above one half, orange: below",
                f"{noun} behind a cell: {support}",
            ],
            parted=True,
        )
    best = np.unravel_index(np.nanargmax(rates.rate), rates.rate.shape)
    winner, loser = (short(rates.models[int(k)]) for k in best)
    return Drawing(
        slug("win-rates", board_label),
        title,
        f"Win rates of {count(m, 'model')} against each other by {rates.by}, {support} "
        f"behind each. The highest is that of {winner} against {loser}, "
        f"{percent(float(rates.rate[best]))}.",
        figure,
    )


def review_matrix_figure(review: PeerReview) -> Drawing | None:
    """The mean rank that each reviewer gives each candidate; a frame marks its own answers.

    Ranks are within a ballot, 1 = best, ties share their mean rank. None if there is no rank.
    """
    panel, names = review.panel, review.panel.models
    given = mean_rank(within_ballots(comparing(panel.ranks)))
    if np.isnan(given).all():
        return None
    # Best candidates first; reviewers that are candidates in the same order, then the others.
    columns = [names.index(row.model) for row in review.ranking.rows]
    places = [None if column is None else columns.index(column) for column in panel.own]
    order = sorted(
        range(len(places)), key=lambda k: len(names) if places[k] is None else places[k] or 0
    )
    own_columns = [places[k] for k in order]
    table = given[np.ix_(order, columns)]
    title = f"{short(panel.benchmark)} · who ranks whom"
    silent = [k for k in range(len(names)) if k not in own_columns]
    with styled():
        figure, axes = heat_map(
            table,
            [
                ("" if places[k] is None else f"{(places[k] or 0) + 1}. ")
                + short(panel.reviewers[k].name)
                for k in order
            ],
            [f"{k}. {short(names[c], NAMED)}" for k, c in enumerate(columns, start=1)],
            lambda i, j: UNDEFINED if np.isnan(table[i, j]) else decimal(float(table[i, j]), 1),
            # The best rank is the light end, as the highest rate is.
            span=(float(np.nanmax(table)), 1.0),
            title=title,
            below=[
                "mean rank that the row gives the column, 1 = best",
                "framed: its own answers · lighter: a better rank",
                *(f"{k + 1}. {short(names[columns[k]])} reviews nobody" for k in silent),
            ],
        )
        _frame(axes, own_columns)
    return Drawing(
        slug("who-ranks-whom", panel.benchmark),
        title,
        _matrix_words(review, table, own_columns),
        figure,
    )


def _frame(axes: "Axes", own_columns: Sequence[int | None]) -> None:
    """Frame a reviewer's own answers, white within black to be visible on any colour."""
    from matplotlib.patches import Rectangle

    cells = [(row, column) for row, column in enumerate(own_columns) if column is not None]
    for row, column in cells:
        for colour, width in ((BLACK, 3.2), (WHITE, 1.4)):
            corner = column - 0.45, row - 0.45
            frame = Rectangle(corner, 0.9, 0.9, fill=False, edgecolor=colour, linewidth=width)
            axes.add_patch(frame)


def _matrix_words(review: PeerReview, table: FloatArray, own_columns: Sequence[int | None]) -> str:
    n_reviewers, n = table.shape
    words = (
        f"Mean rank that each of {count(n_reviewers, 'reviewer')} gives each of "
        f"{count(n, 'candidate')} on {short(review.panel.benchmark)}."
    )
    best = np.unravel_index(np.nanargmin(table), table.shape)
    names = [row.model for row in review.ranking.rows]
    words += f" The best is {decimal(float(table[best]), 1)}, for {short(names[int(best[1])])}."
    known = [
        (table[row, column], np.delete(table[:, column], row))
        for row, column in enumerate(own_columns)
        if column is not None and not np.isnan(table[row, column])
    ]
    pairs = [(self, rest) for self, rest in known if not np.isnan(rest).all()]
    if pairs:
        better = sum(bool(self < np.nanmean(rest)) for self, rest in pairs)
        words += (
            f" {better} of {count(len(pairs), 'reviewer')} put{'s' if len(pairs) == 1 else ''} "
            "the own answers higher than the others do on average; by chance half would."
        )
    return words


# Text colours of cells. They must not be colours of the style, which `themed` would invert.
BLACK, WHITE = "#000000", "#fefefe"
# Side of a cell with two lines of text, and with one, in inches.
_CELL, _SMALL_CELL = 0.42, 0.32

ROOMY_UP_TO = 20
"""Heat maps of up to this many columns have room for two lines of text in a cell."""

NAMED = 22
"""Most letters of a name above a column."""


def heat_map(
    table: FloatArray,
    rows: Sequence[str],
    columns: Sequence[str],
    text: Callable[[int, int], str],
    *,
    span: tuple[float, float],
    title: str,
    below: Sequence[str],
    parted: bool = False,
) -> "tuple[Figure, Axes]":
    """A heat map of a table, from dark at `span[0]` to light at `span[1]`; NaN has no colour.

    `text` gives the text of cell (row, column). `parted` shades are light in the middle, orange
    below and blue above. Names of columns are turned if one is wider than a cell.
    """
    from matplotlib import colormaps
    from matplotlib.collections import PolyCollection
    from matplotlib.colors import LinearSegmentedColormap

    rows = names_on_paper(rows)
    cell = _CELL if len(columns) <= ROOMY_UP_TO else _SMALL_CELL
    turned = widest(columns) > cell
    figure, axes = panel(
        (cell * len(columns), cell * len(rows)),
        title=title,
        left=widest(rows) + 0.25,
        right=0.25,
        top=widest(columns) + 0.14 if turned else 0.22,
        ticks=False,
        below=below,
        fixed=True,
    )
    low, high = span
    share = (table - low) / (high - low) if high != low else np.where(np.isnan(table), np.nan, 0.5)
    # "cividis" looks the same to readers who cannot tell red from green.
    halves = LinearSegmentedColormap.from_list("halves", [ORANGE, "#f7f7f7", BLUE])
    shades = halves if parted else colormaps["cividis"]
    colours = shades(np.ma.masked_invalid(share))
    axes.set_xlim(-0.5, len(columns) - 0.5)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    down, across = np.nonzero(~np.isnan(share))
    corners = np.array([(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)])
    squares = np.column_stack([across, down])[:, None] + corners
    axes.add_collection(
        PolyCollection(squares, facecolors=colours[down, across], edgecolors=PAPER, linewidths=1.0),
        autolim=False,
    )
    # White text on dark cells: below this relative luminance (WCAG 2) its contrast is higher.
    rgb = colours[..., :3]
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    dark = linear @ [0.2126, 0.7152, 0.0722] < 0.179
    for i, j in np.ndindex(share.shape):
        ink = MUTED if np.isnan(share[i, j]) else WHITE if dark[i, j] else BLACK
        if shown := text(i, j):
            axes.text(
                j, i, shown, ha="center", va="center", size=7, color=ink, linespacing=1.1, zorder=3
            )
    axes.set_xticks(range(len(columns)), columns, rotation=90 if turned else 0)
    axes.set_yticks(range(len(rows)), rows)
    axes.tick_params(length=0, labeltop=True, labelbottom=False)
    axes.spines[:].set_visible(False)
    return figure, axes


def confusion_figure(calibration: Calibration, judge: str) -> Drawing | None:
    """Shares of a judge's labels (columns) by label of people (rows); None without any label."""
    cell = calibration.cell(judge)
    if cell is None:
        return None
    table = np.array(cell.confusion)
    sums = table.sum(axis=1, keepdims=True)
    share = np.divide(table, sums, out=np.full_like(table, np.nan), where=sums > 0)
    title = f"{short(judge, 60)} · what people say, what the judge says"

    def text(i: int, j: int) -> str:
        return (
            UNDEFINED
            if np.isnan(share[i, j])
            else f"{percent(float(share[i, j]))}\n{table[i, j]:,.4g}"
        )

    with styled():
        figure, _ = heat_map(
            share,
            [f"people: {label}" for label in calibration.labels],
            list(calibration.labels),
            text,
            span=(0, 1),
            title=title,
            below=["columns: labels of the judge", "share of the row · second line: how many"],
        )
    same = np.trace(table) / table.sum()
    return Drawing(
        slug("confusion", judge),
        title,
        f"How often {short(judge)} gives each label where people give each: the same one in "
        f"{percent(float(same))} of {count(cell.n, 'case')}.",
        figure,
    )
