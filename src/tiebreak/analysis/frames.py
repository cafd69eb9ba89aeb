"""Ranking logs as pandas data frames, as Inspect has `evals_df` and `samples_df`.

    leaderboard_df   a row for each leaderboard and model
    rankings_df      a row for each ranked item and model
    ballots_df       a row for each verdict of a judge

The columns and their dtypes are those of `LEADERBOARD`, `RANKINGS` and `BALLOTS`, whatever the logs
hold; logs without a ranking give a frame without rows. A cell is missing (`NaN`, `<NA>` or None)
where there is nothing to say: it is never 0 instead.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from tiebreak.analysis.leaderboard import Leaderboard, boards_of
from tiebreak.analysis.rows import Row, item_ballots, item_ranking
from tiebreak.paths import Paths
from tiebreak.rankers.uncertainty import Resampling
from tiebreak.ranking_logs import JudgedItem, RankedItem, RankingLog, read_ranking_logs

if TYPE_CHECKING:
    import pandas as pd

_TEXT, _WHOLE, _NUMBER, _TRUTH, _LIST = "string", "Int64", "float64", "boolean", "object"
_LOG: Final = {"log": _TEXT, "eval_id": _TEXT, "benchmark": _TEXT, "protocol": _TEXT}
_ITEM: Final = {**_LOG, "item_id": _TEXT, "epoch": _WHOLE}

LEADERBOARD: Final[Mapping[str, str]] = {
    **_LOG,
    "judge": _TEXT,  # the models that judged, with commas between them
    "n_items": _WHOLE,  # items that were ranked
    "rank": _WHOLE,  # competition rank, 1 = best
    "model": _TEXT,
    "borda": _NUMBER,  # mean normalized Borda score, in [0, 1]
    "lower": _NUMBER,  # its interval, at `level`
    "upper": _NUMBER,
    "rank_lower": _WHOLE,  # holds with all other models' at once, the better end first
    "rank_upper": _WHOLE,
    "first_share": _NUMBER,  # share of the resamples in which the model came first
    "native": _NUMBER,  # mean of the benchmark's own score
    "native_n": _WHOLE,  # items that have one
    "wins": _WHOLE,  # matches
    "losses": _WHOLE,
    "ties": _WHOLE,
    "points": _NUMBER,  # mean points of answers that were graded one by one, in [0, 1]
    "margin": _NUMBER,  # mean principle margin per match, in [-1, 1]
    "unscored_rate": _NUMBER,  # share of matches or grades without a verdict
    "level": _NUMBER,
}
"""Columns of `leaderboard_df`; see `LeaderboardRow`."""

RANKINGS: Final[Mapping[str, str]] = {
    **_ITEM,
    "input_hash": _TEXT,
    "model": _TEXT,
    "rank": _NUMBER,  # 1 = best; tied models share the mean of their ranks
    "normalized_borda": _NUMBER,  # (N − rank) / (N − 1)
    "n_models": _WHOLE,  # N
    "tied_group": _WHOLE,  # 1 = the best group of tied models
    "judged_answer_of": _TEXT,  # the model whose identical answer was judged
    "native_score": _NUMBER,
    "margin": _NUMBER,  # mean principle margin of its matches in the item, in [-1, 1]
}
"""Columns of `rankings_df`."""

BALLOTS: Final[Mapping[str, str]] = {
    **_ITEM,
    "input_hash": _TEXT,
    "ballot": _WHOLE,  # number of the ballot within its item
    "kind": _TEXT,  # verdict (on a pair), points, listing (an order) or tiering
    "counts": _TRUTH,  # False where the item was not judged to the end
    "judge": _TEXT,
    "unscored": _TEXT,  # why there is no verdict
    "round": _WHOLE,
    "slot": _WHOLE,
    "left": _TEXT,  # the answer shown first
    "right": _TEXT,
    "margin": _NUMBER,  # above 0: the left answer is better
    "checklist_margin": _NUMBER,
    "principles": _LIST,  # dicts of id, vote and confidence
    "checklist": _LIST,
    "discarded": _TRUTH,  # asked once more, so that this verdict does not count
    "winner": _TEXT,  # of the match, both orders together
    "decided_by": _TEXT,
    "flipped": _TRUTH,  # the other order gave the other winner
    "candidate": _TEXT,  # whose answer has `score`; or the reviewer's own, in a listing
    "score": _NUMBER,
    "grades": _LIST,  # dicts of id and grade
    "stars": _WHOLE,
    "correct": _TRUTH,  # whether an answer agrees with the key, where a rule decided that
    "groups": _LIST,  # a listing: lists of tied models, the best first
    "shown": _LIST,  # the order in which a listing's answers were shown
    "left_out": _LIST,
    "tiers": _LIST,  # dicts of model and tier
}
"""Columns of `ballots_df`. What judges write beside their votes is left out."""

_NO_VERDICT = ("refinement", "criterion")


def leaderboard_df(logs: Paths, *, how: Resampling = Resampling()) -> "pd.DataFrame":
    """The leaderboards of ranking logs, a row for each model; columns as `LEADERBOARD`.

    Args:
        logs: ranking logs, and folders that hold some.
        how: level, draws and seed of the intervals.

    Raises:
        RankingLogError: a path holds no ranking log.
        ValueError: level or draws are out of range.
    """
    boards = (
        board
        for log in read_ranking_logs(logs, with_votes=False)
        for board in boards_of(log, how=how, views=False)
    )
    return _frame((row for board in boards for row in _board_rows(board)), LEADERBOARD)


def rankings_df(logs: Paths) -> "pd.DataFrame":
    """The ranking of every item of ranking logs, a row for each model; columns as `RANKINGS`.

    Raises:
        RankingLogError: a path holds no ranking log.
    """
    rows = (
        {**shared, **row}
        for shared, one in _items(read_ranking_logs(logs, with_votes=False))
        if one.ballots and one.placement
        for row in item_ranking(RankedItem(one.ballots, one.placement))
    )
    return _frame(rows, RANKINGS)


def ballots_df(logs: Paths) -> "pd.DataFrame":
    """The verdicts in ranking logs, a row for each; columns as `BALLOTS`.

    Raises:
        RankingLogError: a path holds no ranking log.
    """
    rows = (
        {**shared, "ballot": number, "counts": one.problem is None, **row}
        for shared, one in _items(read_ranking_logs(logs))
        if one.ballots
        for number, (row, _) in enumerate(item_ballots(one.ballots))
        if row["kind"] not in _NO_VERDICT
    )
    return _frame(rows, BALLOTS)


def _board_rows(board: Leaderboard) -> Iterator[Row]:
    shared = {
        "log": board.log,
        "eval_id": board.eval_id,
        "benchmark": board.benchmark,
        "protocol": board.protocol,
        "judge": ", ".join(board.judges) or None,
        "n_items": board.n_items,
        "level": board.level,
    }
    yield from ({**shared, **asdict(row), row.NAME: row.value} for row in board.rows)


def _items(logs: Iterable[RankingLog]) -> Iterator[tuple[Row, JudgedItem]]:
    """Every item with ballots, and the columns that its rows begin with."""
    for log in logs:
        for one in log.samples:
            if one.ballots:
                shared = {
                    "log": log.path,
                    "eval_id": log.eval_id,
                    "benchmark": one.ballots.benchmark,
                    "protocol": one.ballots.protocol,
                    "item_id": one.ballots.item_id,
                    "epoch": one.epoch,
                    "input_hash": one.ballots.input_hash,
                }
                yield shared, one


def _frame(rows: Iterable[Mapping[str, Any]], columns: Mapping[str, str]) -> "pd.DataFrame":
    # Importing pandas takes half a second; nothing but these frames needs it.
    import pandas as pd

    made = list(rows)
    return pd.DataFrame(
        {
            name: pd.Series([row.get(name) for row in made], dtype=kind)
            for name, kind in columns.items()
        }
    )
