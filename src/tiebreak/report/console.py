"""Leaderboards on a terminal.

Everything that comes from logs (names of models and benchmarks, error texts, paths) is printed as
plain text: rich markup and control characters in it have no effect.
"""

import math
from collections.abc import Iterable, Iterator

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from tiebreak.report.leaderboard import Leaderboard, LeaderboardRow
from tiebreak.report.receipt import Receipt
from tiebreak.report.words import count, percent

UNDEFINED = "–"
# From this width on there is room for the columns that 80 characters have none for.
WIDE = 100
SHOWN_UNRANKED = 5


def render(boards: Iterable[Leaderboard], console: Console | None = None) -> None:
    """Print leaderboards: warnings, table, judge, receipt, notes.

    Args:
        boards: what to print.
        console: where to print; standard output by default. At 100 columns and more the tables
            also show rank intervals and the share of draws in which a model came first.
    """
    console = console or Console(highlight=False)
    for number, board in enumerate(boards):
        if number:
            console.print()
        _render_board(board, console)


def _render_board(board: Leaderboard, console: Console) -> None:
    def say(text: str, style: str = "") -> None:
        console.print(plain(text, style))

    judges = ", ".join(board.judges) or "no call"
    say(f"{board.benchmark} · {board.protocol} · {count(board.n_items, 'item')}", "bold")
    say(f"judge: {judges} · log: {board.log}", "dim")
    for warning in board.warnings:
        say(f"WARNING: {warning}", "bold red")
    console.print()
    if board.rows:
        console.print(_rows_table(board, wide=console.width >= WIDE))
        say(f"Intervals: bootstrap over items, {board.draws:,} draws, seed {board.seed}", "dim")
        console.print()
        say(_spread_line(board))
    else:
        say("No item could be ranked.")
    for line in _bias_lines(board):
        say(line)
    if board.receipt.n_calls:
        console.print()
        console.print(_kinds_table(board.receipt))
        console.print()
        console.print(_usage_table(board.receipt))
        console.print()
    for line in _receipt_lines(board.receipt):
        say(line)
    if board.notes or board.unranked:
        console.print()
    for note in (*board.notes, *_unranked_notes(board)):
        say(f"Note: {note}", "yellow")


def plain(text: str, style: str = "") -> Text:
    """One line of text, shown as it is: it folds, and what would steer a terminal is replaced."""
    words = " ".join(text.split())
    shown = "".join(char if char.isprintable() else "\ufffd" for char in words)
    return Text(shown, style=style, overflow="fold")


def _rows_table(board: Leaderboard, *, wide: bool) -> Table:
    table = Table(box=box.SIMPLE, pad_edge=False, show_edge=False)
    table.add_column("#", justify="right")
    table.add_column("Model", overflow="fold", min_width=12)
    table.add_column("Borda", justify="right", no_wrap=True)
    table.add_column(f"{board.level * 100:g}% interval", no_wrap=True)
    if wide:
        table.add_column("Ranks", no_wrap=True)
        table.add_column("P(first)", justify="right", no_wrap=True)
    table.add_column("Native", justify="right", min_width=6)
    table.add_column("W–L–T", justify="right", no_wrap=True)
    table.add_column("Un-\nscored", justify="right", no_wrap=True)
    for row in board.rows:
        extra = [_rank_interval(row), _rate(row.prob_first)] if wide else []
        table.add_row(
            UNDEFINED if row.rank is None else str(row.rank),
            plain(row.model),
            _decimal(row.borda),
            _interval(row.lower, row.upper),
            *extra,
            _native(row, board.n_items),
            f"{row.wins}–{row.losses}–{row.ties}",
            _rate(row.unscored_rate),
        )
    return table


def _kinds_table(receipt: Receipt) -> Table:
    table = Table(box=box.SIMPLE, pad_edge=False, show_edge=False, title_justify="left")
    table.add_column("Calls")
    for heading in ("Per item", "Total", "Repairs", "Repeats", "Cached"):
        table.add_column(heading, justify="right", no_wrap=True)
    for kind in receipt.kinds:
        table.add_row(
            kind.kind,
            _decimal(kind.per_item, 1),
            f"{kind.n_calls:,}",
            f"{kind.n_repairs:,}",
            f"{kind.n_repeats:,}",
            f"{kind.n_cached:,}",
        )
    table.add_section()
    table.add_row(
        "all",
        _decimal(receipt.calls_per_item, 1),
        f"{receipt.n_calls:,}",
        f"{sum(kind.n_repairs for kind in receipt.kinds):,}",
        f"{sum(kind.n_repeats for kind in receipt.kinds):,}",
        f"{receipt.n_cached:,}",
    )
    return table


def _usage_table(receipt: Receipt) -> Table:
    table = Table(box=box.SIMPLE, pad_edge=False, show_edge=False)
    table.add_column("Role", overflow="fold")
    table.add_column("Model", overflow="fold", min_width=12)
    for heading in ("Tokens in", "Tokens out", "Worth", "Paid"):
        table.add_column(heading, justify="right", no_wrap=True)
    for use in receipt.usage:
        table.add_row(
            plain(use.role),
            plain(use.model),
            f"{use.input_tokens:,}",
            f"{use.output_tokens:,}",
            _money(use.cost),
            _money(use.paid),
        )
    return table


def _spread_line(board: Leaderboard) -> str:
    line = f"Mean distance between two models: {_decimal(board.spread)}"
    if math.isnan(board.native_spread):
        return f"{line} (native scores: {UNDEFINED})"
    if math.isnan(board.resolution_gain):
        return f"{line} (native scores: all equal)"
    return f"{line} (native scores: {board.native_spread:.3f}, so {board.resolution_gain:.1f}×)"


def _bias_lines(board: Leaderboard) -> Iterator[str]:
    bias = board.bias
    if bias.n_first:
        yield (
            f"First answer won: {percent(bias.first_rate)} of {count(bias.n_first, 'verdict')} "
            f"({_percents(bias.first_lower, bias.first_upper)}; unbiased: 50%)"
        )
    else:
        yield f"First answer won: {UNDEFINED} (no verdict preferred a side)"
    if bias.n_swapped:
        yield (
            f"Flips when the order is swapped: {percent(bias.flip_rate)} of "
            f"{count(bias.n_swapped, 'match', 'matches')} judged in both orders "
            f"({_percents(bias.flip_lower, bias.flip_upper)})"
        )
    else:
        yield f"Flips when the order is swapped: {UNDEFINED} (no match was judged in both orders)"


def _receipt_lines(receipt: Receipt) -> Iterator[str]:
    if receipt.n_calls:
        yield (
            f"Calls: {receipt.n_calls:,}, of which {receipt.n_cached:,} from the cache · tokens: "
            f"{receipt.input_tokens:,} in, {receipt.output_tokens:,} out"
        )
        yield _money_line(receipt)
        yield (
            "Calls that wait for each other, per item: "
            f"{_decimal(receipt.depth_mean, 1)} on average, at most {receipt.depth_max}"
        )
    if receipt.n_items_without_call:
        yield (
            f"{count(receipt.n_items_without_call, 'item')} of {receipt.n_items} needed no call: "
            "all answers identical"
        )


def _money_line(receipt: Receipt) -> str:
    line = f"Money: worth {_money(receipt.cost)}, paid in this run {_money(receipt.paid)}"
    if receipt.unpriced_models:
        models = ", ".join(receipt.unpriced_models)
        line += f" (no price known for {models}; give prices with --model-cost-config FILE)"
    return line


def _unranked_notes(board: Leaderboard) -> Iterator[str]:
    if not board.unranked:
        return
    shown = [f"{item.item_id} ({item.reason})" for item in board.unranked[:SHOWN_UNRANKED]]
    rest = len(board.unranked) - len(shown)
    more = f"; and {rest} more, which --json lists" if rest else ""
    yield f"{count(len(board.unranked), 'item')} not ranked: {'; '.join(shown)}{more}"


def _native(row: LeaderboardRow, n_items: int) -> str:
    """The native score, with its own number of items where that is not the leaderboard's."""
    if row.native_n in (0, n_items):
        return _decimal(row.native)
    return f"{row.native:.3f} (of {row.native_n})"


def _rank_interval(row: LeaderboardRow) -> str:
    if row.rank_lower is None or row.rank_upper is None:
        return UNDEFINED
    return f"{row.rank_lower}–{row.rank_upper}"


def _interval(lower: float, upper: float) -> str:
    return UNDEFINED if math.isnan(lower) else f"{lower:.3f}–{upper:.3f}"


def _percents(lower: float, upper: float) -> str:
    return f"{lower * 100:.0f}–{upper * 100:.0f}%"


def _decimal(value: float, digits: int = 3) -> str:
    return UNDEFINED if math.isnan(value) else f"{value:.{digits}f}"


def _rate(value: float) -> str:
    return UNDEFINED if math.isnan(value) else percent(value)


def _money(amount: float | None) -> str:
    if amount is None:
        return UNDEFINED
    if 0 < amount < 0.0001:
        return "<$0.0001"
    return f"${amount:,.2f}" if amount >= 1 or amount == 0 else f"${amount:.4f}"
