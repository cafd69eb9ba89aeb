"""Leaderboards as JSON-ready data and as CSV."""

import csv
import io
import math
from collections.abc import Iterable
from dataclasses import asdict, fields
from typing import Any

from tiebreak.report.leaderboard import Leaderboard, LeaderboardRow

FORMAT = "tiebreak/leaderboards"
# Raised when a key is renamed, removed or changes its meaning; new keys do not raise it.
VERSION = 1


def as_dict(boards: Iterable[Leaderboard]) -> dict[str, Any]:
    """Leaderboards as data that `json.dumps(…, allow_nan=False)` accepts.

    Undefined numbers (NaN) become null. The shape, with the fields of the dataclasses as keys::

        {"format": "tiebreak/leaderboards", "version": 1, "leaderboards": [
            {"benchmark", "protocol", "log", "eval_id", "created", "status", "judges": [],
             "n_items", "unranked": [{"item_id", "reason", "benchmark"}],
             "rows": [{"rank", "model", "borda", "lower", "upper", "rank_lower", "rank_upper",
                       "prob_first", "native", "native_n", "wins", "losses", "ties",
                       "unscored_rate", "margin"}],
             "spread", "native_spread", "resolution_gain", "level", "draws", "seed",
             "bias": {"first_rate", "first_lower", "first_upper", "n_first", "flip_rate",
                      "flip_lower", "flip_upper", "n_swapped", "warning"},
             "receipt": {"n_items", "n_items_cut_short", "n_items_without_call", "n_calls",
                         "n_cached", "calls_per_item",
                         "kinds": [{"kind", "n_calls", "n_repairs", "n_repeats", "n_cached",
                                    "per_item"}],
                         "usage": [{"role", "model", "n_calls", "n_cached", "input_tokens",
                                    "output_tokens", "cost", "paid"}],
                         "input_tokens", "output_tokens", "cost", "paid", "unpriced_models": [],
                         "depth_mean", "depth_max"},
             "warnings": [], "notes": []}]}

    What each number means is said at `Leaderboard`, `LeaderboardRow`, `PositionBias`, `Receipt`.
    """
    return {
        "format": FORMAT,
        "version": VERSION,
        "leaderboards": [
            _plain(asdict(board) | {"resolution_gain": board.resolution_gain}) for board in boards
        ],
    }


def to_csv(boards: Iterable[Leaderboard]) -> str:
    """One line per model and leaderboard, with a header line; undefined numbers are empty.

    The columns are benchmark, protocol, log, eval_id, n_items, then the fields of
    `LeaderboardRow`, then level (of the intervals).
    """
    columns = [field.name for field in fields(LeaderboardRow)]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["benchmark", "protocol", "log", "eval_id", "n_items", *columns, "level"])
    for board in boards:
        head = [board.benchmark, board.protocol, board.log, board.eval_id, board.n_items]
        for row in board.rows:
            cells = [_plain(getattr(row, column)) for column in columns]
            writer.writerow([*head, *cells, board.level])
    return text.getvalue()


def _plain(value: Any) -> Any:
    """The same data with lists for tuples and None for numbers that JSON cannot hold."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
