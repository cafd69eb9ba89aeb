"""What is said of a leaderboard beside its tables: spread, the judge, the bill, unranked items."""

import math
from collections.abc import Iterator

from tiebreak.analysis.judge import LengthBias
from tiebreak.analysis.leaderboard import Leaderboard, Settled
from tiebreak.analysis.receipt import Receipt
from tiebreak.report.cells import UNDEFINED, decimal, money, percents, signed_interval
from tiebreak.words import count, percent

SHOWN_UNRANKED = 5

_VIEWS = {"least_squares": "Least squares", "bradley_terry": "Bradley–Terry"}


def title_line(board: Leaderboard) -> str:
    """Benchmark, protocol and number of items."""
    return f"{board.benchmark} · {board.protocol} · {count(board.n_items, 'item')}"


def source_line(board: Leaderboard) -> str:
    """Who judged, and in which log."""
    who = "reviewers" if board.rule.reviewed else "judge"
    return f"{who}: {', '.join(board.judges) or 'no call'} · log: {board.log}"


def intervals_line(board: Leaderboard) -> str:
    """How the intervals are made."""
    return f"Intervals: bootstrap over items, {board.draws:,} draws, seed {board.seed}"


def undefined_views(board: Leaderboard) -> Iterator[str]:
    """Why a second view has no figures, or lacks some."""
    for view in board.views:
        if not view.rows or view.undefined:
            yield f"{_VIEWS[view.method]}: {view.reason}"


def views_line(board: Leaderboard) -> str:
    """What the figures of the second views mean."""
    means = {"least_squares": "margin of winning", "bradley_terry": "log-odds of winning"}
    told = [
        f"{_VIEWS[view.method]} (difference = {means[view.method]}, {view.draws:,} draws)"
        for view in board.views
        if view.rows
    ]
    return f"Second views, by all matches at once: {', '.join(told)}"


def settled_line(settled: Settled) -> str:
    """Why the run stopped before its last item."""
    what = "the ranking" if settled.top is None else f"the top {settled.top}"
    saved = ""
    if not math.isnan(settled.calls_saved):
        saved = f"; about {count(round(settled.calls_saved), 'call')} saved"
    return (
        f"Settled: {what} was decided after {settled.after:,} of {count(settled.of, 'item')} "
        f"(error rate {settled.error * 100:g}%){saved}"
    )


def spread_line(board: Leaderboard) -> str:
    """How far the models are apart, beside their native scores."""
    line = f"Mean distance between two models: {decimal(board.spread)}"
    if math.isnan(board.native_spread):
        return f"{line} (native scores: {UNDEFINED})"
    if math.isnan(board.resolution_gain):
        return f"{line} (native scores: all equal)"
    return f"{line} (native scores: {board.native_spread:.3f}, so {board.resolution_gain:.1f}×)"


def judge_lines(board: Leaderboard) -> Iterator[str]:
    """Can the judge be trusted? Where nobody was compared there is no order to go by."""
    if board.rule.by_matches:
        yield from _position_lines(board)
        yield _length_line(board.length)
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


def receipt_lines(receipt: Receipt) -> Iterator[str]:
    """The bill in sentences."""
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


def unranked_notes(board: Leaderboard) -> Iterator[str]:
    """The first items without a rank, and why."""
    if not board.unranked:
        return
    shown = [f"{item.item_id} ({item.reason})" for item in board.unranked[:SHOWN_UNRANKED]]
    rest = len(board.unranked) - len(shown)
    more = f"; and {rest} more" if rest else ""
    yield f"{count(len(board.unranked), 'item')} not ranked: {'; '.join(shown)}{more}"
