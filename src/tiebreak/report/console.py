"""Leaderboards on a terminal.

Everything that comes from logs (names of models and benchmarks, error texts, paths) is printed as
plain text: rich markup and control characters in it have no effect.
"""

import math
from collections.abc import Iterable, Iterator

from rich.console import Console

from tiebreak.report.board_tables import kinds_table, rows_table, usage_table, views_table
from tiebreak.report.cells import UNDEFINED, decimal, money, percents, plain, signed_interval
from tiebreak.report.leaderboard import Leaderboard, Settled
from tiebreak.report.length import LengthBias
from tiebreak.report.receipt import Receipt
from tiebreak.report.records import BY_MATCHES
from tiebreak.report.words import count, percent

__all__ = ["UNDEFINED", "plain", "render"]

# From this width on there is room for the columns that 80 characters have none for.
WIDE = 100
SHOWN_UNRANKED = 5

_VIEWS = {"least_squares": "Least squares", "bradley_terry": "Bradley–Terry"}


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
    who = "reviewers" if board.placed_by == "consensus" else "judge"
    say(f"{board.benchmark} · {board.protocol} · {count(board.n_items, 'item')}", "bold")
    say(f"{who}: {judges} · log: {board.log}", "dim")
    if board.settled is not None:
        say(_settled_line(board.settled))
    for warning in board.warnings:
        say(f"WARNING: {warning}", "bold red")
    console.print()
    if board.rows:
        console.print(rows_table(board, wide=console.width >= WIDE))
        say(f"Intervals: bootstrap over items, {board.draws:,} draws, seed {board.seed}", "dim")
        console.print()
        _render_views(board, console)
        say(_spread_line(board))
    else:
        say("No item could be ranked.")
    for line in _judge_lines(board):
        say(line)
    if board.receipt.n_calls:
        console.print()
        console.print(kinds_table(board.receipt))
        console.print()
        console.print(usage_table(board.receipt))
        console.print()
    for line in _receipt_lines(board.receipt):
        say(line)
    if board.notes or board.unranked:
        console.print()
    for note in (*board.notes, *_unranked_notes(board)):
        say(f"Note: {note}", "yellow")


def _render_views(board: Leaderboard, console: Console) -> None:
    if not board.views:
        return
    table = views_table(board, wide=console.width >= WIDE)
    if table is not None:
        console.print(table)
        console.print(plain(_views_line(board), "dim"))
    for view in board.views:
        if not view.rows or view.undefined:
            console.print(plain(f"{_VIEWS[view.method]}: {view.reason}"))
    console.print()


def _views_line(board: Leaderboard) -> str:
    means = {"least_squares": "margin of winning", "bradley_terry": "log-odds of winning"}
    told = [
        f"{_VIEWS[view.method]} (difference = {means[view.method]}, {view.draws:,} draws)"
        for view in board.views
        if view.rows
    ]
    return f"Second views, by all matches at once: {', '.join(told)}"


def _settled_line(settled: Settled) -> str:
    what = "the ranking" if settled.top is None else f"the top {settled.top}"
    saved = ""
    if not math.isnan(settled.calls_saved):
        saved = f"; about {count(round(settled.calls_saved), 'call')} saved"
    return (
        f"Settled: {what} was decided after {settled.after:,} of {count(settled.of, 'item')} "
        f"(error rate {settled.error * 100:g}%){saved}"
    )


def _spread_line(board: Leaderboard) -> str:
    line = f"Mean distance between two models: {decimal(board.spread)}"
    if math.isnan(board.native_spread):
        return f"{line} (native scores: {UNDEFINED})"
    if math.isnan(board.resolution_gain):
        return f"{line} (native scores: all equal)"
    return f"{line} (native scores: {board.native_spread:.3f}, so {board.resolution_gain:.1f}×)"


def _judge_lines(board: Leaderboard) -> Iterator[str]:
    """Can the judge be trusted? Where nobody was compared there is no order to go by."""
    if board.placed_by in BY_MATCHES:
        yield from _position_lines(board)
        yield _length_line(board.length)
    if board.placed_by == "consensus":
        yield "Who favours itself, and what the panel is worth: tiebreak peers LOG"
    for judge in board.replies:
        questions = count(judge.n_questions, "question")
        yield (
            f"No usable reply from {judge.model}: {judge.n_unscored:,} of {questions} "
            f"({percent(judge.unscored_rate)}, {percents(judge.lower, judge.upper)})"
        )


def _position_lines(board: Leaderboard) -> Iterator[str]:
    bias = board.bias
    if bias.n_first:
        yield (
            f"First answer won: {percent(bias.first_rate)} of {count(bias.n_first, 'verdict')} "
            f"({percents(bias.first_lower, bias.first_upper)}; unbiased: 50%)"
        )
    else:
        yield f"First answer won: {UNDEFINED} (no verdict preferred a side)"
    if bias.n_swapped:
        yield (
            f"Flips when the order is swapped: {percent(bias.flip_rate)} of "
            f"{count(bias.n_swapped, 'match', 'matches')} judged in both orders "
            f"({percents(bias.flip_lower, bias.flip_upper)})"
        )
    else:
        yield f"Flips when the order is swapped: {UNDEFINED} (no match was judged in both orders)"


def _length_line(length: LengthBias) -> str:
    if length.reason is not None:
        return f"Longer answer won: {UNDEFINED} ({length.reason})"
    rho = f"correlation of winning with length {decimal(length.correlation, 2)}"
    if not math.isnan(length.correlation_lower):
        rho += f" ({signed_interval(length.correlation_lower, length.correlation_upper)})"
    won = UNDEFINED
    if length.n_decided:
        matches = count(length.n_decided, "decided match", "decided matches")
        won = (
            f"{percent(length.longer_rate)} of {matches} "
            f"({percents(length.longer_lower, length.longer_upper)})"
        )
    return f"Longer answer won: {won}; {rho}"


def _receipt_lines(receipt: Receipt) -> Iterator[str]:
    if receipt.n_calls:
        yield (
            f"Calls: {receipt.n_calls:,}, of which {receipt.n_cached:,} from the cache · tokens: "
            f"{receipt.input_tokens:,} in, {receipt.output_tokens:,} out"
        )
        yield _money_line(receipt)
        yield (
            "Calls that wait for each other, per item: "
            f"{decimal(receipt.depth_mean, 1)} on average, at most {receipt.depth_max}"
        )
    if receipt.n_items_without_call:
        yield (
            f"{count(receipt.n_items_without_call, 'item')} of {receipt.n_items} needed no call: "
            "all answers identical"
        )


def _money_line(receipt: Receipt) -> str:
    line = f"Money: worth {money(receipt.cost)}, paid in this run {money(receipt.paid)}"
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
