"""Reports of peer reviews as JSON-ready data."""

from dataclasses import asdict
from typing import Any

from tiebreak.analysis.peers.panel import Panel
from tiebreak.analysis.peers.ranking import item_elections
from tiebreak.analysis.peers.review import PeerReport, PeerReview
from tiebreak.analysis.peers.worth import PanelWorth, ReviewRecord
from tiebreak.report.elections_view import election_as_dict
from tiebreak.report.export import json_ready
from tiebreak.report.json import json_ready as json_of

FORMAT = "tiebreak/peer-review"
# Raised when a key is renamed, removed or changes its meaning; new keys do not raise it.
VERSION = 1


def peer_report_as_dict(report: PeerReport, *, items: bool = False) -> dict[str, Any]:
    """A report as data that `json.dumps(…, allow_nan=False)` accepts; undefined is null.

    The shape; what each number means is said at the dataclasses. ESTIMATE stands for {"value",
    "lower", "upper", "n_items", "reason"}, ELECTION for what `tiebreak aggregate --json` prints::

        {"format": "tiebreak/peer-review", "version": 1, "level", "draws", "seed",
         "reviews": [
            {"benchmark", "log", "models": [], "aggregator", "degree",
             "n_items", "n_identical", "n_unusable",
             "ranking": {"methods": [],
                         "rows": [{"rank", "model", "mean_rank", "lower", "upper", "rank_lower",
                                   "rank_upper", "prob_first", "n_items", "at_once"}],
                         "by_method": ELECTION, "at_once": null or ELECTION,
                         "orders": {"n_items", "n_unique", "cost", "pairs", "reason"}},
             "views": [{"model", "sr", "pr", "sia", "sfa", "gap": ESTIMATE, "fair_gap": ESTIMATE,
                        "remainder": ESTIMATE, "verdict", "reason"}],
             "panel": {"reviewers": [
                          {"name", "model", "candidate",
                           "replies": null or {"n_questions", "n_unscored", "unscored_rate",
                                               "lower", "upper"},
                           "reason", "n_partial", "n_cut", "n_left_out", "agreement": ESTIMATE,
                           "distance": ESTIMATE, "shift", "moved", "first_changes",
                           "kendall_without": {"value", "n", "reason"},
                           "mean_ranks_without": {MODEL: number},
                           "presentation": {"tau": ESTIMATE, …}}],
                       "agreement": ESTIMATE, "tau": [[]], "tau_n_items": [[]],
                       "alpha": ESTIMATE, "kendall_w": ESTIMATE,
                       "votes": ESTIMATE, "error_correlation": ESTIMATE,
                       "error_correlations": [[]], "reliability": [], "without_method"},
             "receipt": {…}, "warnings": [], "notes": [],
             "items": [{"item_id", "n_reviews", "election": null or ELECTION}]}],
         "sparse": [{"benchmark", "log", "full", "degree", "n_items", "n_models", "macro": {…},
                     "per_item": ESTIMATE, "price": {…}}],
         "notes": []}

    Matrices and lists over reviewers are in the order of `reviewers`. `receipt` is that of
    `tiebreak rank --json`; `macro` and `price` are as in `tiebreak compare --json`.

    Args:
        report: what `peer_report` returned.
        items: whether to add `items`: the Kemeny order of each item, with its certificate.
    """
    data: dict[str, Any] = json_ready(
        {
            "format": FORMAT,
            "version": VERSION,
            **asdict(report.how),
            "reviews": [_review(review, items=items) for review in report.reviews],
            "sparse": [asdict(one) for one in report.sparse],
            "notes": report.notes,
        }
    )
    return data


def _review(review: PeerReview, *, items: bool) -> dict[str, Any]:
    panel, ranking = review.panel, review.ranking
    data = {
        "benchmark": panel.benchmark,
        "log": panel.log,
        "models": panel.models,
        "aggregator": panel.aggregator,
        "degree": panel.degree,
        "n_items": review.n_rows,
        "n_identical": review.n_identical,
        "n_unusable": review.n_unusable,
        "ranking": {
            "methods": ranking.methods,
            "rows": json_of(ranking.rows),
            "by_method": election_as_dict(ranking.by_method),
            "at_once": None if ranking.at_once is None else election_as_dict(ranking.at_once),
            "orders": asdict(ranking.orders),
        },
        "views": [asdict(row) for row in review.views],
        "panel": _panel(panel, review.worth),
        "receipt": asdict(review.receipt),
        "warnings": review.warnings,
        "notes": review.notes,
    }
    return data | {"items": _items(panel)} if items else data


def _panel(panel: Panel, worth: PanelWorth) -> dict[str, Any]:
    return {
        "reviewers": [
            _reviewer(panel, worth, number, one) for number, one in enumerate(worth.reviewers)
        ],
        "agreement": asdict(worth.agreement.panel),
        "tau": worth.agreement.tau.tolist(),
        "tau_n_items": worth.agreement.n_items.tolist(),
        "alpha": asdict(worth.alpha),
        "kendall_w": asdict(worth.concordance.mean),
        "votes": asdict(worth.votes.votes),
        "error_correlation": asdict(worth.votes.rho),
        "error_correlations": worth.votes.correlations.tolist(),
        "reliability": worth.votes.reliability.tolist(),
        "without_method": worth.without.method,
    }


def _reviewer(panel: Panel, worth: PanelWorth, number: int, one: ReviewRecord) -> dict[str, Any]:
    replies = None if one.replies is None else asdict(one.replies)
    if replies is not None:
        del replies["model"]  # It is the reviewer's name.
    without = worth.without.mean_ranks_without[number].tolist()
    return {
        **one.reviewer.model_dump(),
        "replies": replies,
        "reason": one.reason,
        "n_partial": one.n_partial,
        "n_cut": one.n_cut,
        "n_left_out": one.n_left_out,
        "agreement": asdict(one.agreement),
        "distance": asdict(one.distance),
        "shift": one.shift,
        "moved": one.moved,
        "first_changes": one.first_changes,
        "kendall_without": asdict(worth.without.kendall[number]),
        "mean_ranks_without": dict(zip(panel.models, without, strict=True)),
        "presentation": asdict(one.presentation),
    }


def _items(panel: Panel) -> list[dict[str, Any]]:
    return [
        {
            "item_id": item_id,
            "n_reviews": sum(one.unscored is None for one in ballots.listings),
            "election": None if election is None else election_as_dict(election),
        }
        for item_id, ballots, election in zip(
            panel.item_ids, panel.ballots, item_elections(panel), strict=True
        )
    ]
