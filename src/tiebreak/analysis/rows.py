"""Rankings and ballots as flat rows, as data frames and published tables have them."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from tiebreak.analysis.item_table import ItemTable
from tiebreak.analysis.judge.replies import judges_of
from tiebreak.ranking_logs.log import RankedItem
from tiebreak.scorers.ballots import ItemBallots, Listing, Match, Vote

Row = dict[str, Any]

# A ballot: its columns, and the words in it as (about what, text).
Entry = tuple[Row, list[tuple[str, str]]]


def item_ranking(ranked: RankedItem) -> Iterator[Row]:
    """The place of every model in an item, the best first."""
    item, placement = ranked
    table = ItemTable.of([ranked])
    leader = {model: group[0] for group in item.groups for model in group}
    for place, tied in enumerate(placement.order, start=1):
        for model in tied:
            column = table.models.index(model)
            yield {
                "model": model,
                "rank": float(placement.ranks[model]),
                "normalized_borda": placement.borda.get(model, math.nan),
                "n_models": len(placement.ranks),
                "tied_group": place,
                "judged_answer_of": leader[model],
                "native_score": float(table.native[0, column]),
                "margin": float(table.margins[0, column]),
            }


def item_ballots(item: ItemBallots) -> Iterator[Entry]:
    """All ballots on an item: each as its columns, and the words that a judge wrote in it."""
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
    for match in item.matches:
        yield from _match(item, match)
    for refinement in item.refinements:
        texts = ("description", "differentiator", "higher_snippet", "lower_snippet")
        yield (
            {
                "kind": "refinement",
                "judge": judges_of(item, "refine") or None,
                "unscored": refinement.unscored,
                "round": refinement.round,
                "slot": refinement.slot,
                "checklist_id": refinement.item_id or None,
                "principle_id": refinement.principle_id or None,
                "anchor_split": refinement.anchor_split,
                "duplicate_of": refinement.duplicate_of,
            },
            [(name, getattr(refinement, name)) for name in texts],
        )
    for points in (part for one in item.scores for part in one.parts or (one,)):
        yield (
            {
                "kind": "points",
                "judge": points.judge or judges_of(item, "score") or None,
                "unscored": points.unscored,
                "candidate": points.candidate,
                "score": points.score,
                "grades": [{"id": key, "grade": grade} for key, grade in points.grades.items()],
                "stars": points.stars,
                "correct": points.correct,
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


def _match(item: ItemBallots, match: Match) -> Iterator[Entry]:
    critique = match.critique or ""
    for verdict in (*match.verdicts, *match.discarded):
        row = {
            "kind": "verdict",
            "judge": verdict.judge or judges_of(item, "match") or None,
            "unscored": verdict.unscored,
            "round": match.round,
            "slot": match.slot,
            "left": verdict.first,
            "right": match.low if verdict.first == match.high else match.high,
            "margin": verdict.margin,
            "checklist_margin": verdict.checklist_margin,
            "principles": _votes(verdict.principles),
            "checklist": _votes(verdict.checklist),
            "discarded": any(verdict is one for one in match.discarded),
            "winner": None if match.decided_by in ("tie", "unscored") else match.winner,
            "decided_by": match.decided_by,
            "flipped": match.flipped,
        }
        votes = [*verdict.principles.items(), *verdict.checklist.items()]
        yield row, [("critique", critique), *((f"vote: {key}", v.reasoning) for key, v in votes)]
        critique = ""  # once a match


def _votes(votes: Mapping[str, Vote]) -> list[dict[str, Any]]:
    return [
        {"id": key, "vote": vote.vote, "confidence": vote.confidence} for key, vote in votes.items()
    ]


def _listing(item: ItemBallots, listing: Listing) -> Row:
    reviewer = next((one for one in item.reviewers if one.name == listing.reviewer), None)
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
