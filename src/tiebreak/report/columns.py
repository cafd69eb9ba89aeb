"""The columns of a leaderboard, one descriptor each.

`COLUMNS` defines the tables of the terminal, the page, Markdown and LaTeX, and the published
metrics with their meaning and direction. JSON and CSV have all fields of a row. A new column is a
field of `LeaderboardRow` and one entry in `COLUMNS`.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Final, NamedTuple

from tiebreak.analysis.leaderboard import Leaderboard, LeaderboardRow
from tiebreak.report.cells import Cell, bounds, decimal, number, rank, rank_range, share, words
from tiebreak.report.sheet import Column, model_names


class Metric(NamedTuple):
    """A published figure of a model, with its explanation for the card of the dataset.

    `higher_is_better` is None for a figure that is neither better nor worse.
    """

    name: str
    meaning: str
    range: str = ""
    higher_is_better: bool | None = True

    @property
    def direction(self) -> str:
        """Range and direction in words."""
        better = {True: "higher is better", False: "lower is better", None: ""}
        return ", ".join(filter(None, [self.range, better[self.higher_is_better]]))


class BoardColumn(NamedTuple):
    """A column of a leaderboard.

    `fields` are the fields of `LeaderboardRow` that it shows, `cell` makes a row's cell, and
    `shown` says whether a board has the column. `metric` describes the first field if it is
    published. In a heading, {level} stands for the confidence level.
    """

    fields: tuple[str, ...]
    column: Column
    cell: Callable[[LeaderboardRow, Leaderboard], Cell]
    shown: Callable[[Leaderboard], bool] = lambda board: True
    metric: Metric | None = None

    def heading_on(self, board: Leaderboard) -> Column:
        """The column with its heading and meaning on this leaderboard."""
        meaning = self.column.meaning or (self.metric.meaning if self.metric else "")
        heading = self.column.heading.format(level=f"{board.level * 100:g}%")
        return replace(self.column, heading=heading, meaning=meaning)


def _native(row: LeaderboardRow, board: Leaderboard) -> Cell:
    """The native score, with its number of items if the leaderboard has another number."""
    some = row.native_n not in (0, board.n_items)
    of = f" (of {row.native_n})" if some else ""
    return Cell(f"{decimal(row.native)}{of}", number(row.native).key)


COLUMNS: Final = (
    BoardColumn(("rank",), Column("#"), lambda row, board: rank(row.rank)),
    BoardColumn(("model",), model_names(), lambda row, board: words(row.model)),
    BoardColumn(
        ("borda",),
        Column("Borda"),
        lambda row, board: number(row.borda),
        metric=Metric(
            "normalized_borda",
            "Mean over ranked items of (N − rank) / (N − 1), N models, ties at their mean rank; "
            "of matches of all pairs, their mean result; of stars, the share of all stars",
            "0 to 1",
        ),
    ),
    BoardColumn(
        ("lower", "upper"),
        Column("{level} interval", left=True, meaning="Of the Borda score, over resampled items"),
        lambda row, board: bounds(row.lower, row.upper, value=row.value),
    ),
    BoardColumn(
        ("rank_lower", "rank_upper"),
        Column(
            "Ranks",
            left=True,
            meaning="What tests of all pairs leave open; holds for all models at once",
        ),
        lambda row, board: rank_range(row.rank_lower, row.rank_upper),
    ),
    BoardColumn(
        ("native", "native_n"),
        Column("Native", folds=6, spare=2),
        _native,
        metric=Metric(
            "native_score",
            "The benchmark's own score over the ranked items. Judging never changes it",
        ),
    ),
    BoardColumn(
        ("wins", "losses", "ties"),
        Column("W–L–T", spare=3, meaning="Matches won, lost and tied"),
        lambda row, board: Cell(f"{row.wins}–{row.losses}–{row.ties}", row.wins),
        shown=lambda board: board.rule.by_matches,
    ),
    BoardColumn(
        ("points",),
        Column("Points"),
        lambda row, board: number(row.points),
        shown=lambda board: board.rule.by_grades,
        metric=Metric("mean_points", "Mean of the points that a judge gave", "0 to 1"),
    ),
    BoardColumn(
        ("unscored_rate",),
        Column("Unscored", spare=4, meaning="Share of its matches without a verdict"),
        lambda row, board: share(row.unscored_rate),
        shown=lambda board: board.rule.by_matches or board.rule.by_grades,
    ),
)

NOT_SHOWN: Final = {
    "margin": "it breaks ties of the Borda score; CSV and JSON have it",
    "first_share": "a share of resamples is no probability; CSV and JSON have it",
}
"""Fields of a row that have no column, each with the reason."""

_OTHERS: Final = (
    Metric(
        "mean_rank",
        "Mean over the items of a model's rank in the consensus of all reviewers",
        "1 to N",
        higher_is_better=False,
    ),
    Metric(
        "kemeny_rank",
        "Place in the Kemeny–Young order of all ballots of all items together",
        "1 to N",
        higher_is_better=False,
    ),
    Metric(
        "least_squares_strength",
        "Strength that explains the results of all matches best, by least squares: a difference "
        "of two is the mean margin at which the one should win. The strengths sum to 0",
    ),
    Metric(
        "bradley_terry_strength",
        "Bradley–Terry strength over all matches, a tie as half a win: a difference of two is the "
        "logarithm of the odds. The strengths sum to 0",
    ),
)

_SHOWN: Final = [column.metric for column in COLUMNS if column.metric is not None]

METRICS: Final = {metric.name: metric for metric in (*_SHOWN[:1], *_OTHERS, *_SHOWN[:0:-1])}
"""All published metrics by name: the Borda score, then those without a column, then those of the
other columns in reverse order. So the native score, the second of `_SHOWN`, is last."""
