"""Ranking logs as pandas data frames, as Inspect has `evals_df` and `samples_df`.

    leaderboard_df   a row for each leaderboard and model
    rankings_df      a row for each ranked item and model
    ballots_df       a row for each verdict of a judge

The columns and their dtypes are those of `LEADERBOARD`, `RANKINGS` and `BALLOTS`, whatever the logs
hold; logs without a ranking give a frame without rows. An undefined cell is missing (`NaN`, `<NA>`
or None), never 0. Published tables have the same rows.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from tiebreak.analysis.item_table import or_nan
from tiebreak.analysis.judge.figures import judges_of
from tiebreak.analysis.leaderboard import boards_of
from tiebreak.paths import Paths
from tiebreak.rankers.uncertainty import Resampling
from tiebreak.ranking_logs import JudgedItem, RankingLog, read_ranking_logs
from tiebreak.ranking_logs.log import RankedItem
from tiebreak.scorers.ballots import ItemBallots, Listing, Match

if TYPE_CHECKING:
    import pandas as pd


Row = dict[str, Any]


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
    "normalized_borda": _NUMBER,  # as `borda` of a board, on this item
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

    Raises:
        RankingLogError: a path holds no ranking log.
        ValueError: level or draws are out of range.
    """
    rows: list[Row] = []
    for log in read_ranking_logs(logs, with_votes=False):
        for board in boards_of(log, how=how, views=False):
            shared = _fields(board, *_LOG, "n_items", "level")
            shared["judge"] = ", ".join(board.judges) or None
            rows += ({**shared, **asdict(row), row.NAME: row.value} for row in board.rows)
    return _frame(rows, LEADERBOARD)


def rankings_df(logs: Paths) -> "pd.DataFrame":
    """The ranking of every item of ranking logs, a row for each model; columns as `RANKINGS`.

    Raises:
        RankingLogError: a path holds no ranking log.
    """
    rows = (
        {**shared, **row}
        for shared, sample in _items(read_ranking_logs(logs, with_votes=False))
        if sample.ballots and sample.placement
        for row in item_ranking(RankedItem(sample.ballots, sample.placement))
    )
    return _frame(rows, RANKINGS)


def ballots_df(logs: Paths) -> "pd.DataFrame":
    """The verdicts in ranking logs, a row for each; columns as `BALLOTS`.

    Raises:
        RankingLogError: a path holds no ranking log.
    """
    rows = (
        {**shared, "ballot": number, "counts": sample.problem is None, **row, **votes_of(row)}
        for shared, sample in _items(read_ranking_logs(logs))
        if sample.ballots
        for number, (row, _) in enumerate(item_ballots(sample.ballots))
        if row["kind"] not in _NO_VERDICT
    )
    return _frame(rows, BALLOTS)


def _items(logs: Iterable[RankingLog]) -> Iterator[tuple[Row, JudgedItem]]:
    """Every item that has ballots, after the columns that all its rows have in common."""
    for log in logs:
        for sample in log.samples:
            if sample.ballots:
                shared = {"log": log.path, "eval_id": log.eval_id, "epoch": sample.epoch}
                of_item = ("benchmark", "protocol", "item_id", "input_hash")
                yield shared | _fields(sample.ballots, *of_item), sample


def _fields(value: object, *names: str) -> Row:
    return {name: getattr(value, name) for name in names}


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


# A ballot: its columns, and the texts that a judge wrote, as (subject, text).
Entry = tuple[Row, list[tuple[str, str]]]


def item_ranking(ranked: RankedItem) -> Iterator[Row]:
    """Rows of an item's ranking, one per model, the best first."""
    item, placement = ranked
    leader = {model: group[0] for group in item.groups for model in group}
    for place, tied in enumerate(placement.order, start=1):
        for model in tied:
            yield {
                "model": model,
                "rank": float(placement.ranks[model]),
                "normalized_borda": placement.borda.get(model, math.nan),
                "n_models": len(placement.ranks),
                "tied_group": place,
                "judged_answer_of": leader[model],
                "native_score": or_nan(item.native.get(model)),
                "margin": or_nan(placement.margins.get(model)),
            }


def item_ballots(item: ItemBallots) -> Iterator[Entry]:
    """All ballots on an item, each as its columns and the texts that a judge wrote in it.

    `principles` and `checklist` hold `Vote`s by id.
    """
    if item.tiering is not None and (item.tiering.tiers or item.tiering.unscored):
        tiers = sorted(item.tiering.tiers.items())
        yield (
            {
                "kind": "tiering",
                "judge": judges_of(item, "seed") or None,
                "unscored": item.tiering.unscored,
                "tiers": [{"model": model, "tier": tier} for model, tier in tiers],
            },
            [("tiering", item.tiering.reasoning)],
        )
    judges = judges_of(item, "match") or None
    for match in item.matches:
        yield from _match(match, judges)
    for refinement in item.refinements:
        texts = ("description", "differentiator", "higher_snippet", "lower_snippet")
        yield (
            {
                "kind": "refinement",
                "judge": judges_of(item, "refine") or None,
                **_fields(refinement, "unscored", "round", "slot"),
                "checklist_id": refinement.item_id or None,
                "principle_id": refinement.principle_id or None,
                **_fields(refinement, "anchor_split", "duplicate_of"),
            },
            list(_fields(refinement, *texts).items()),
        )
    for points in (part for score in item.scores for part in score.parts or (score,)):
        yield (
            {
                "kind": "points",
                "judge": points.judge or judges_of(item, "score") or None,
                **_fields(points, "unscored", "candidate", "score", "stars", "correct"),
                "grades": [{"id": key, "grade": grade} for key, grade in points.grades.items()],
            },
            [("reason", points.reason)],
        )
    for listing in item.listings:
        yield _listing(item, listing), []
    for criterion in item.criteria:
        levels = {"full": criterion.full, "half": criterion.half, "none": criterion.none}
        yield (
            {
                "kind": "criterion",
                "judge": judges_of(item, "rubric") or None,
                "principle_id": criterion.principle_id,
            },
            [(f"marks: {level}", text) for level, text in levels.items()],
        )


def _match(match: Match, judges: str | None) -> Iterator[Entry]:
    words = [("critique", match.critique or "")]  # with the first verdict only
    winner = None if match.decided_by in ("tie", "unscored") else match.winner
    for number, verdict in enumerate((*match.verdicts, *match.discarded)):
        row = {
            "kind": "verdict",
            "judge": verdict.judge or judges,
            "unscored": verdict.unscored,
            "round": match.round,
            "slot": match.slot,
            "left": verdict.first,
            "right": match.low if verdict.first == match.high else match.high,
            "margin": verdict.margin,
            "checklist_margin": verdict.checklist_margin,
            "principles": verdict.principles,
            "checklist": verdict.checklist,
            "discarded": number >= len(match.verdicts),
            "winner": winner,
            "decided_by": match.decided_by,
            "flipped": match.flipped,
        }
        votes = (*verdict.principles.items(), *verdict.checklist.items())
        yield row, words + [(f"vote: {key}", vote.reasoning) for key, vote in votes]
        words = []


def votes_of(row: Row) -> dict[str, list[Row]]:
    """The votes of a ballot as lists of dicts, one for principles and one for checklist items."""
    return {
        part: [
            {"id": key, "vote": vote.vote, "confidence": vote.confidence}
            for key, vote in row[part].items()
        ]
        for part in ("principles", "checklist")
        if part in row
    }


def _listing(item: ItemBallots, listing: Listing) -> Row:
    reviewer = next(
        (reviewer for reviewer in item.reviewers if reviewer.name == listing.reviewer), None
    )
    named = reviewer.model if reviewer else listing.reviewer
    return {
        "kind": "listing",
        "judge": named or judges_of(item, "list") or None,
        "unscored": listing.unscored,
        "groups": [list(group) for group in listing.groups],
        "shown": list(listing.shown) or None,
        "left_out": list(listing.left_out),
        "candidate": reviewer.candidate if reviewer else None,
    }
