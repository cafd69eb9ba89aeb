"""Figures of a leaderboard: its scores, and what judging adds to the native ones."""

import math
from collections.abc import Sequence

from tiebreak.analysis.leaderboard import Leaderboard, LeaderboardRow
from tiebreak.rankers.ranks import DECIMALS
from tiebreak.report.cells import decimal, ranks
from tiebreak.report.figures.canvas import BLUE, PALE, not_shown, short, styled
from tiebreak.report.figures.drawing import Drawing, slug
from tiebreak.report.figures.labels import Label
from tiebreak.report.figures.points import name_points, point_panel
from tiebreak.report.figures.rows import draw_point, limits, row_panel
from tiebreak.words import count


def leaderboard_figure(board: Leaderboard) -> Drawing | None:
    """The score of every model with its interval, and the ranks that tests of pairs leave open.

    None where no model has a score.
    """
    rows = [row for row in board.rows if row.rank is not None]
    if not rows:
        return None
    missing = [row.model for row in board.rows if row.rank is None]
    level = f"{board.level * 100:g}%"
    title = f"{_title(board)} · Borda score of each model"
    without = any(math.isnan(row.lower) for row in rows)
    with styled():
        figure, axes = row_panel(
            [f"{row.rank}. {short(row.model)}" for row in rows],
            title=title,
            words=[ranks(row.rank_lower, row.rank_upper) for row in rows],
            head="ranks",
            below=[
                "mean normalized Borda score",
                f"line: {level} interval over {count(board.n_items, 'item')}",
                "ranks: left open by tests of all pairs",
                *(["without a line: no interval"] if without else []),
                *not_shown(missing),
            ],
        )
        for place, row in enumerate(rows):
            draw_point(axes, place, row.borda, row.lower, row.upper)
        values = [value for row in rows for value in (row.borda, row.lower, row.upper)]
        axes.set_xlim(limits(values, within=(0, 1)))
    return Drawing(
        slug("leaderboard", board.benchmark, board.protocol),
        title,
        " ".join(_leaderboard_words(board, rows, level)),
        figure,
    )


def _title(board: Leaderboard) -> str:
    return f"{short(board.benchmark)} · {short(board.protocol)}"


def _leaderboard_words(
    board: Leaderboard, rows: Sequence[LeaderboardRow], level: str
) -> Sequence[str]:
    first, last = rows[0], rows[-1]
    sentence = (
        f"Leaderboard of {count(len(rows), 'model')} on {short(board.benchmark)} by "
        f"{short(board.protocol)}: {short(first.model)} is first with a mean normalized Borda "
        f"score of {decimal(first.borda)}"
    )
    if not math.isnan(first.lower):
        sentence += f" ({level} interval {decimal(first.lower)} to {decimal(first.upper)})"
    if last is not first:
        sentence += f", {short(last.model)} last with {decimal(last.borda)}"
    words = [f"{sentence}."]
    if any(row.rank_lower is not None for row in rows):
        n = sum(row.rank_lower == 1 for row in rows)
        words.append(f"By tests of all pairs, {count(n, 'model')} could be first.")
    return words


def native_figure(board: Leaderboard) -> Drawing | None:
    """What judging makes of native scores: models of one native score stand on a vertical line.

    Each point has its judged rank. None where no model has both scores.
    """
    rows = [row for row in board.rows if row.rank is not None and not math.isnan(row.native)]
    if not rows:
        return None
    missing = [row.model for row in board.rows if row not in rows]
    ties = _native_ties(rows)
    tied = max(ties.values(), key=len, default=())
    title = f"{_title(board)} · native score against judged score"
    with styled():
        names = [f"{row.rank}. {short(row.model)}" for row in rows]
        figure, axes = point_panel(
            names,
            title=title,
            ylabel="judged: mean normalized Borda score",
            below=[
                "native score",
                "number: judged rank",
                *(["vertical line: models that the native score ties"] if ties else []),
                *not_shown(missing),
            ],
        )
        for native, group in ties.items():
            heights = [row.borda for row in group]
            axes.vlines(native, min(heights), max(heights), color=PALE, linewidth=4, zorder=1)
        axes.plot([r.native for r in rows], [r.borda for r in rows], "o", color=BLUE, zorder=3)
        axes.set_xlim(limits([row.native for row in rows], step=_step(rows)))
        axes.set_ylim(limits([row.borda for row in rows], within=(0, 1)))
        axes.locator_params(axis="x", nbins=6)
        name_points(axes, names, [Label(str(r.rank), r.native, r.borda) for r in rows])
    told = (
        f"{count(len(tied), 'model')} share the native score {decimal(tied[0].native)}, and "
        if (tied)
        else "No two models share a native score; "
    )
    scores = [row.borda for row in tied or rows]
    return Drawing(
        slug("native", board.benchmark, board.protocol),
        title,
        f"Native score against judged score of {count(len(rows), 'model')} on "
        f"{short(board.benchmark)}. {told}their judged scores go from {decimal(min(scores))} to "
        f"{decimal(max(scores))}.",
        figure,
    )


def _native_ties(rows: Sequence[LeaderboardRow]) -> dict[float, list[LeaderboardRow]]:
    """Models of one native score, two or more together."""
    groups: dict[float, list[LeaderboardRow]] = {}
    for row in rows:
        groups.setdefault(round(row.native, DECIMALS), []).append(row)
    return {native: group for native, group in groups.items() if len(group) > 1}


def _step(rows: Sequence[LeaderboardRow]) -> float:
    """A whole step of the axis of native scores, whose scale can be any."""
    scores = [row.native for row in rows]
    extent = max(scores) - min(scores)
    return 10.0 ** math.floor(math.log10(extent)) if extent > 1e-6 else 0.1
