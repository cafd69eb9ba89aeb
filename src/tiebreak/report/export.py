"""Leaderboards as JSON-ready data and as CSV."""

import csv
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, get_args

from tiebreak.analysis.leaderboard import Leaderboard, LeaderboardRow
from tiebreak.analysis.strengths import Method
from tiebreak.report.json import json_ready as json_of
from tiebreak.report.json import keys_of

FORMAT = "tiebreak/leaderboards"
# Raised when a key is renamed, removed or changes its meaning; new keys do not raise it.
VERSION = 1
VIEW_COLUMNS = ("strength", "lower", "upper", "rank")


def as_dict(boards: Iterable[Leaderboard]) -> dict[str, Any]:
    """Leaderboards as data that `json.dumps(…, allow_nan=False)` accepts.

    Undefined numbers (NaN) become null. The shape, with the fields of the dataclasses as keys::

        {"format": "tiebreak/leaderboards", "version": 1, "leaderboards": [
            {"benchmark", "protocol", "log", "eval_id", "created", "status", "judges": [],
             "placed_by", "n_items", "unranked": [{"item_id", "reason", "benchmark"}],
             "rows": [{"rank", "model", "borda", "lower", "upper", "rank_lower", "rank_upper",
                       "prob_first", "native", "native_n", "wins", "losses", "ties",
                       "unscored_rate", "margin", "points"}],
             "views": [{"method", "closure",
                        "rows": [{"rank", "model", "strength", "lower", "upper", "rank_lower",
                                  "rank_upper", "prob_first"}],
                        "n_results", "n_items", "undefined", "level", "draws", "seed", "reason"}],
             "spread", "native_spread", "resolution_gain", "level", "draws", "seed",
             "bias": {"first_rate", "first_lower", "first_upper", "n_first", "flip_rate",
                      "flip_lower", "flip_upper", "n_swapped", "warning"},
             "length": {"longer_rate", "longer_lower", "longer_upper", "n_decided", "correlation",
                        "correlation_lower", "correlation_upper", "n_matches", "reason",
                        "warning"},
             "replies": [{"model", "n_questions", "n_unscored", "unscored_rate", "lower",
                          "upper"}],
             "receipt": {"n_items", "n_items_cut_short", "n_items_without_call", "n_calls",
                         "n_cached", "calls_per_item",
                         "kinds": [{"kind", "n_calls", "n_repairs", "n_repeats", "n_cached",
                                    "per_item"}],
                         "usage": [{"role", "model", "n_calls", "n_cached", "input_tokens",
                                    "output_tokens", "cost", "paid", "reviewer"}],
                         "input_tokens", "output_tokens", "cost", "paid", "unpriced_models": [],
                         "depth_mean", "depth_max"},
             "settled": null or {"after", "of", "error", "top", "n_skipped", "calls_saved"},
             "warnings": [], "notes": []}]}

    What each number means is said at `Leaderboard`, `LeaderboardRow`, `StrengthView`,
    `PositionBias`, `LengthBias`, `JudgeReplies`, `Receipt` and `Settled`.
    """
    return {
        "format": FORMAT,
        "version": VERSION,
        "leaderboards": [
            json_of(board) | {"resolution_gain": json_of(board.resolution_gain)} for board in boards
        ],
    }


def to_csv(boards: Iterable[Leaderboard]) -> str:
    """One line per model and leaderboard, with a header line; undefined numbers are empty.

    The columns are benchmark, protocol, log, eval_id, n_items, then the fields of
    `LeaderboardRow`, then level (of the intervals), then for each method of the second views
    strength, lower, upper and rank, as in least_squares_strength and bradley_terry_rank.
    """
    columns = keys_of(LeaderboardRow)
    methods = get_args(Method)
    of_views = [f"{method}_{column}" for method in methods for column in VIEW_COLUMNS]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(
        ["benchmark", "protocol", "log", "eval_id", "n_items", *columns, "level", *of_views]
    )
    for board in boards:
        head = [board.benchmark, board.protocol, board.log, board.eval_id, board.n_items]
        strengths = {
            (view.method, row.model): [json_ready(getattr(row, column)) for column in VIEW_COLUMNS]
            for view in board.views
            for row in view.rows
        }
        for row in board.rows:
            cells = [json_ready(getattr(row, column)) for column in columns]
            seconds = [
                cell
                for method in methods
                for cell in strengths.get((method, row.model), [None] * len(VIEW_COLUMNS))
            ]
            writer.writerow([*head, *cells, board.level, *seconds])
    return text.getvalue()


def csv_of(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows with the same keys as CSV, the keys as header line; undefined numbers are empty."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(json_ready(row) for row in rows)
    return text.getvalue()


def json_ready(value: Any) -> Any:
    """The same data with lists for tuples and None for numbers that JSON cannot hold.

    Args:
        value: dicts, lists, tuples and plain values, such as `dataclasses.asdict` returns.
    """
    if isinstance(value, dict):
        return {key: json_ready(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [json_ready(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
