"""Sheets and data of ranking logs: leaderboards, and star boards for logs judged by stars."""

from typing import Any

from tiebreak.analysis.leaderboard import Leaderboard, LeaderboardRow
from tiebreak.analysis.ranking import Categories, Ranking
from tiebreak.analysis.remarks import FEW_ITEMS
from tiebreak.reason import Reason
from tiebreak.report.cells import UNDEFINED, Cell, above, interval, number, words
from tiebreak.report.csv import Rows, one_table
from tiebreak.report.json import json_ready, only
from tiebreak.report.sheet import Column, Section, Sheet, Table, model_names
from tiebreak.report.sheets import leaderboard, stars
from tiebreak.text import count, listed


def sheets_of(ranking: Ranking) -> list[Sheet]:
    """One sheet per leaderboard; logs judged by stars are joined into one per benchmark."""
    joined = stars.sheets_of(ranking.stars) if ranking.stars else []
    sheets = [*leaderboard.sheets_of(ranking.unjoined), *joined]
    return [*sheets, *map(categories_sheet, ranking.categories)]


def categories_sheet(categories: Categories) -> Sheet:
    """A sheet with every model's score on all items and by category, and each board's verdict."""
    whole, boards = categories.whole, categories.boards
    rows = [{row.model: row for row in board.rows} for board in (whole, *boards.values())]
    table = Table.of(
        (model_names(), *(Column(name) for name in ("all", *boards))),
        (
            (words(row.model), *(_score(rows_of.get(row.model)) for rows_of in rows))
            for row in whole.rows
        ),
        "Scores by category",
    )
    verdicts = [f"{name} ({count(b.n_items, 'item')}): {_found(b)}" for name, b in boards.items()]
    level = next((board.level for board in boards.values()), whole.level)
    notes = [
        f"Of {count(len(boards), 'category', 'categories')} each is held to {level:.4g}, so that "
        f"all that they tell apart holds together with {whole.level:.4g}; differences between "
        "categories are not tested"
    ]
    if categories.small:
        few = listed([f"{name} ({n})" for name, n in categories.small.items()])
        notes.append(f"Without a board, for fewer than {FEW_ITEMS} ranked items: {few}")
    title = f"{whole.benchmark} · {whole.protocol} · by category"
    sections = (Section.of(table, lines=verdicts),) if boards else ()
    # Without boards the first note, on their level, is left out.
    return Sheet(title, sections=sections, notes=tuple(notes[not boards :]))


def _found(board: Leaderboard) -> str:
    """The verdict without its statement on the judge, who is the same as the whole board's."""
    return str(Reason("verdict", statements=board.verdict.sentence["statements"][:-1]))


def _score(row: LeaderboardRow | None) -> Cell:
    return above(number(row.value), interval(row.lower, row.upper)) if row else Cell(UNDEFINED)


def data_of(ranking: Ranking) -> dict[str, Any]:
    """The data of all leaderboards, log by log; "stars" has the joined boards by stars.

    "categories" is present only if asked for, and has the leaderboard of each category by name.
    """
    data = leaderboard.data_of(ranking.boards)
    stars = {"stars": json_ready(ranking.stars)} if ranking.stars else {}
    parts = [
        {**only(part.whole, "benchmark", "protocol", "level"), **only(part, "boards", "small")}
        for part in ranking.categories
    ]
    return {**data, **stars, **({"categories": json_ready(parts)} if parts else {})}


def columns_of(ranking: Ranking) -> list[str] | None:
    """The columns of `rows_of`, or None if they are the keys of the rows."""
    return leaderboard.columns_of() if ranking.unjoined or ranking.stars is None else None


def rows_of(ranking: Ranking) -> Rows:
    """Rows of the leaderboards and their categories, or of star boards if all logs are by stars.

    Raises:
        ReportError: there are boards of both kinds.
    """
    cut = [board for part in ranking.categories for board in part.boards.values()]
    boards = leaderboard.rows_of([*ranking.unjoined, *cut])
    if ranking.stars is None:
        return boards
    return one_table({"leaderboards": boards, "star boards": stars.rows_of(ranking.stars)})
