"""Sentences about the judge: position, length, and questions without a usable reply."""

import math
from collections.abc import Iterator

from tiebreak.analysis.judge import LengthBias
from tiebreak.analysis.leaderboard import Leaderboard
from tiebreak.report.cells import UNDEFINED, decimal, percents, signed_interval
from tiebreak.words import count, percent


def judge_lines(board: Leaderboard) -> Iterator[str]:
    """Can the judge be trusted? Where nothing was compared there is no order to go by."""
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
