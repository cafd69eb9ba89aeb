"""The tables of a leaderboard on a terminal: ranks, second views, calls, money."""

from collections.abc import Mapping, Sequence

from rich import box
from rich.table import Table

from tiebreak.analysis.leaderboard import Leaderboard, LeaderboardRow
from tiebreak.analysis.receipt import Receipt
from tiebreak.analysis.strengths import StrengthRow
from tiebreak.report.cells import (
    UNDEFINED,
    decimal,
    interval,
    money,
    ranks,
    rate,
    signed_interval,
    whole,
)
from tiebreak.report.terminal import plain

_HEADINGS = {"least_squares": "Least\nsquares", "bradley_terry": "Bradley–\nTerry"}


def rows_table(board: Leaderboard, *, wide: bool) -> Table:
    """The ranking, with the columns that its protocol gives numbers to."""
    table = _table()
    by_matches, by_points = board.rule.by_matches, board.rule.by_points
    table.add_column("#", justify="right")
    table.add_column("Model", overflow="fold", min_width=12)
    table.add_column("Borda", justify="right", no_wrap=True)
    table.add_column(f"{board.level * 100:g}% interval", no_wrap=True)
    if wide:
        table.add_column("Ranks", no_wrap=True)
        table.add_column("P(first)", justify="right", no_wrap=True)
    table.add_column("Native", justify="right", min_width=6)
    if by_matches:
        table.add_column("W–L–T", justify="right", no_wrap=True)
    if by_points:
        table.add_column("Points", justify="right", no_wrap=True)
    if by_matches or by_points:
        table.add_column("Un-\nscored", justify="right", no_wrap=True)
    for row in board.rows:
        cells = [decimal(row.borda), interval(row.lower, row.upper)]
        if wide:
            cells += [ranks(row.rank_lower, row.rank_upper), rate(row.prob_first)]
        cells.append(_native(row, board.n_items))
        if by_matches:
            cells.append(f"{row.wins}–{row.losses}–{row.ties}")
        if by_points:
            cells.append(decimal(row.points))
        if by_matches or by_points:
            cells.append(rate(row.unscored_rate))
        table.add_row(whole(row.rank), plain(row.model), *cells)
    return table


def views_table(board: Leaderboard, *, wide: bool) -> Table | None:
    """Strengths by all matches, beside the leaderboard's own rank; None where no view has any."""
    views = [view for view in board.views if view.rows]
    if not views:
        return None
    # Eight columns and more: without the usual room between them they would not fit into 80.
    table = _table(padding=(0, 1, 0, 0))
    table.add_column("#", justify="right")
    table.add_column("Model", overflow="fold", min_width=12)
    for view in views:
        table.add_column(_HEADINGS[view.method], justify="right", no_wrap=True)
        table.add_column(f"{board.level * 100:g}% interval", no_wrap=True)
        table.add_column("Rank" if wide else "#", justify="right", no_wrap=True)
        if wide:
            table.add_column("Ranks", no_wrap=True)
    by_model = [{row.model: row for row in view.rows} for view in views]
    for row in board.rows:
        cells = [cell for rows in by_model for cell in _strength(rows, row.model, wide=wide)]
        table.add_row(whole(row.rank), plain(row.model), *cells)
    return table


def kinds_table(receipt: Receipt) -> Table:
    """Calls by what they were for."""
    table = _table()
    table.add_column("Calls")
    for heading in ("Per item", "Total", "Repairs", "Repeats", "Cached"):
        table.add_column(heading, justify="right", no_wrap=True)
    for kind in receipt.kinds:
        table.add_row(
            kind.kind,
            decimal(kind.per_item, 1),
            f"{kind.n_calls:,}",
            f"{kind.n_repairs:,}",
            f"{kind.n_repeats:,}",
            f"{kind.n_cached:,}",
        )
    table.add_section()
    table.add_row(
        "all",
        decimal(receipt.calls_per_item, 1),
        f"{receipt.n_calls:,}",
        f"{sum(kind.n_repairs for kind in receipt.kinds):,}",
        f"{sum(kind.n_repeats for kind in receipt.kinds):,}",
        f"{receipt.n_cached:,}",
    )
    return table


def usage_table(receipt: Receipt) -> Table:
    """Tokens and money by role and model, in peer review by reviewer."""
    table = _table()
    reviewed = any(use.reviewer for use in receipt.usage)
    table.add_column("Reviewer" if reviewed else "Role", overflow="fold")
    table.add_column("Model", overflow="fold", min_width=12)
    for heading in ("Tokens in", "Tokens out", "Worth", "Paid"):
        table.add_column(heading, justify="right", no_wrap=True)
    for use in receipt.usage:
        table.add_row(
            plain(use.reviewer or use.role),
            plain(use.model),
            f"{use.input_tokens:,}",
            f"{use.output_tokens:,}",
            money(use.cost),
            money(use.paid),
        )
    return table


def _table(padding: tuple[int, int, int, int] = (0, 1, 0, 1)) -> Table:
    return Table(box=box.SIMPLE, pad_edge=False, show_edge=False, padding=padding)


def _native(row: LeaderboardRow, n_items: int) -> str:
    """The native score, with its own number of items where that is not the leaderboard's."""
    if row.native_n in (0, n_items):
        return decimal(row.native)
    return f"{row.native:.3f} (of {row.native_n})"


def _strength(rows: Mapping[str, StrengthRow], model: str, *, wide: bool) -> Sequence[str]:
    row = rows.get(model)
    if row is None:
        return [UNDEFINED] * (4 if wide else 3)
    cells = [decimal(row.strength, 2), signed_interval(row.lower, row.upper), whole(row.rank)]
    return [*cells, ranks(row.rank_lower, row.rank_upper)] if wide else cells
