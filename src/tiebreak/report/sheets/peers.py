"""Sheets and data of peer reviews: ranking, self-preference, worth of each reviewer, bill."""

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from tiebreak.analysis.peers.panel import Panel, PanelWorth, ReviewRecord, largest_shift
from tiebreak.analysis.peers.review import (
    PeerRanking,
    PeerReport,
    PeerReview,
    SparseAgreement,
    item_elections,
)
from tiebreak.analysis.peers.self_preference import SelfPreference, side
from tiebreak.analysis.receipt import Receipt
from tiebreak.rankers.dependence import EffectiveVotes
from tiebreak.rankers.intervals import Estimate
from tiebreak.reason import Reason, Remark
from tiebreak.report.cells import (
    UNDEFINED,
    Cell,
    Tone,
    decimal,
    dollars,
    estimate,
    integer,
    number,
    rank,
    rank_range,
    rate,
    share,
    share_estimate,
    signed,
    signed_interval,
    span,
    words,
)
from tiebreak.report.json import document, json_ready, only
from tiebreak.report.sheet import (
    Column,
    Section,
    Sheet,
    Table,
    interval_heading,
    model_names,
    names,
    numbers,
)
from tiebreak.report.sheets.consensus import consensus_lines, election_data, sheet_of
from tiebreak.report.sheets.leaderboard import bill_lines
from tiebreak.text import count, natural_key


def sheets_of(report: PeerReport) -> list[Sheet]:
    """A sheet per review, one that compares sparse with full reviews, one on the intervals."""
    how = report.how
    intervals = f"Intervals: bootstrap over items, {how.draws:,} draws, seed {how.seed}"
    return [
        *(review_sheet(review, how.level) for review in report.reviews),
        *([sparse_sheet(report.sparse)] if report.sparse else []),
        Sheet(sections=(Section.of(legend=[intervals]),), notes=tuple(map(str, report.notes))),
    ]


def data_of(report: PeerReport, *, items: bool = False) -> dict[str, Any]:
    """The fields of the parts of `PeerReport` under "tiebreak/peer-review", version 2.

    The shape; ESTIMATE has the fields of `Estimate`, ELECTION is what `tiebreak aggregate --json`
    prints::

        {"format", "version", "level", "draws", "seed",
         "reviews": [
            {"benchmark", "log", "models": [], "aggregator", "degree",
             "n_items", "n_identical", "n_unusable",
             "ranking": {"methods": [], "rows": [of `PeerRank`], "by_method": ELECTION,
                         "at_once": null or ELECTION, "orders": of `ItemOrders`},
             "views": [of `SelfPreference`],
             "panel": {"reviewers": [
                          {"name", "model", "candidate", "replies": null or of `JudgeReplies`,
                           "reason", "n_partial", "n_cut", "n_left_out", "agreement": ESTIMATE,
                           "distance": ESTIMATE, "errors": ESTIMATE, "shift", "moved",
                           "first_changes", "kendall_without",
                           "mean_ranks_without": {MODEL: number},
                           "presentation": of `PresentationBias`}],
                       "agreement": ESTIMATE, "tau": [[]], "tau_n_items": [[]],
                       "alpha": ESTIMATE, "kendall_w": ESTIMATE,
                       "votes": of `EffectiveVotes`, "errors": ESTIMATE,
                       "majority_errors": ESTIMATE, "without_method"},
             "receipt": of `Receipt`, "verdict", "warnings": [], "notes": [],
             "items": [{"item_id", "n_reviews", "election": null or ELECTION}]}],
         "sparse": [of `SparseAgreement`], "notes": []}

    Matrices and lists over reviewers are in the order of `reviewers`. The key "items", the Kemeny
    order of each item with its certificate, is present only with `items`.
    """
    return document(
        "tiebreak/peer-review",
        2,
        **json_ready(report.how),
        reviews=[_review(review, items=items) for review in report.reviews],
        **only(report, "sparse", "notes"),
    )


def review_sheet(review: PeerReview, level: float) -> Sheet:
    """The sheet of one peer review."""
    panel, by_method = review.panel, review.ranking.by_method
    sizes = (
        count(review.n_rows, "item"),
        count(len(panel.models), "model"),
        count(len(panel.reviewers), "reviewer"),
    )
    several = len(by_method.consensuses) > 1
    return Sheet(
        f"{panel.benchmark} · peer review · {' · '.join(sizes)}",
        (f"log: {panel.log}",),
        str(review.verdict),
        warnings=tuple(map(str, review.warnings)),
        sections=(
            Section.of(_ranking(review.ranking, level), lines=_ranking_lines(review)),
            *([Section.of(legend=[by_method.source], heading=by_method.name)] * several),
            *(sheet_of(by_method).sections if several else ()),
            *_views(_in_order(review), level),
            *panel_sections(review.worth, level),
            Section.of(_bills(review.receipt), lines=bill_lines(review.receipt)),
        ),
        notes=tuple(map(str, (*(by_method.notes if several else ()), *review.notes))),
    )


def sparse_sheet(agreements: Sequence[SparseAgreement]) -> Sheet:
    """Agreement of sparse peer reviews with full ones, and their price per item relative to it."""
    columns = (
        *(names("Benchmark"), *numbers("Degree", "Items", "ρ", "τ", "Top-1")),
        *numbers("τ per item", "Calls ×", "Tokens ×"),
    )
    rows = [
        (
            *(words(agreement.benchmark), rank(agreement.degree), integer(agreement.n_items)),
            *(number(agreement.macro.spearman.value, 2), number(agreement.macro.kendall.value, 2)),
            *(number(agreement.macro.top1.value, 2), number(agreement.per_item.value, 2)),
            number(agreement.price.relative_calls, 2),
            number(agreement.price.relative_tokens, 2),
        )
        for agreement in agreements
    ]
    table = Table.of(columns, rows, "Agreement and price")
    section = Section.of(table, lines=_sparse_lines(agreements))
    return Sheet("Sparse peer review beside the full one", sections=(section,))


def _ranking(ranking: PeerRanking, level: float) -> Table:
    """Ranks by mean rank over items, and in the consensus of all ballots at once."""
    columns = (
        *(model_names(), *numbers("#", "Mean rank", interval_heading(level))),
        *(Column("Ranks", spare=1), Column("All at once")),
    )
    rows = [
        (
            *(words(row.model), rank(row.rank)),
            *(number(row.mean_rank, 2), span(row)),
            *(rank_range(row.rank_lower, row.rank_upper), rank(row.at_once)),
        )
        for row in ranking.rows
    ]
    return Table.of(columns, rows, "Ranking")


def _ranking_lines(review: PeerReview) -> Iterator[Remark]:
    ranking, orders = review.ranking, review.ranking.orders
    yield Reason("mean_rank_by", method=ranking.methods[0], n=review.n_reviewed)
    for method, reason in ranking.by_method.failed.items():
        yield f"{method}: no result ({reason})"
    if orders.reason is not None:
        yield f"Kemeny orders of the items: {UNDEFINED} ({orders.reason})"
    elif orders.n_items:
        swapped = orders.cost / orders.pairs if orders.pairs else math.nan
        yield (
            f"Kemeny orders of the items: all proven optimal, unique in {orders.n_unique:,} of "
            f"{count(orders.n_items, 'item')}; {rate(swapped)} of the pairs in ballots are ordered "
            "the other way round"
        )
    if ranking.at_once is not None:
        [consensus] = ranking.at_once.consensuses.values()
        # The first line explains scores, and only the order is shown here.
        _, *lines = consensus_lines(ranking.at_once.names, consensus, ranking.kemeny)
        yield f"All at once, {count(consensus.used, 'ballot')}. {'. '.join(lines)}"


def _in_order(review: PeerReview) -> list[SelfPreference]:
    place = {row.model: number for number, row in enumerate(review.ranking.rows)}
    return sorted(review.views, key=lambda row: place[row.model])


def _views(rows: Sequence[SelfPreference], level: float) -> Iterator[Section]:
    """The four views with their differences and verdicts, and the intervals of the differences."""
    undefined: dict[Reason, list[str]] = {}
    for row in rows:
        if row.reason:
            undefined.setdefault(row.reason, []).append(row.model)
    if all(math.isnan(row.sr) for row in rows):
        # No model has ranked its own answers, so there is nothing to compare.
        yield Section.of(lines=[f"Self-preference: {UNDEFINED} ({'; '.join(map(str, undefined))})"])
        return
    lines = [f"No verdict on {', '.join(models)}: {why}" for why, models in undefined.items()]
    yield Section.of(_four_views(rows), legend=[Reason("four_views")])
    yield Section.of(_gaps(rows, level), legend=[Reason("gaps_of_views")], lines=lines)


def _four_views(rows: Iterable[SelfPreference]) -> Table:
    """The four views of every model (Peer review, table 3)."""
    columns = numbers("SR", "PR", "PR−SR", "SIA", "SFA", "SFA−SIA", "Gap")
    cells = [
        (
            words(row.model),
            *(number(row.sr, 2), number(row.pr, 2), _difference(row, row.gap)),
            *(number(row.sia, 2), number(row.sfa, 2), _difference(row, row.remainder)),
            words(row.verdict or UNDEFINED),
        )
        for row in rows
    ]
    return Table.of((model_names(), *columns), cells, "Self-preference")


def _gaps(rows: Iterable[SelfPreference], level: float) -> Table:
    within = interval_heading(level)
    columns = (
        model_names(),
        *numbers(f"PR−SR {within}", "Fair gap", within, "p", f"SFA−SIA {within}"),
    )
    cells = [
        (
            *(words(row.model), span(row.gap), _difference(row, row.fair_gap)),
            *(span(row.fair_gap), number(row.p_adjusted, 3), span(row.remainder)),
        )
        for row in rows
    ]
    return Table.of(columns, cells, "The figures behind the verdicts")


def _bills(receipt: Receipt) -> Table:
    columns = numbers("Calls", "Cached", "Tokens in", "out", "Worth", "Paid")
    rows = [
        (
            words(use.reviewer or use.role),
            *map(integer, (use.n_calls, use.n_cached, use.input_tokens, use.output_tokens)),
            *map(dollars, (use.cost, use.paid)),
        )
        for use in receipt.usage
    ]
    return Table.of((model_names("Reviewer"), *columns), rows, "Calls, tokens and money")


def _sparse_lines(agreements: Iterable[SparseAgreement]) -> Iterator[str]:
    for agreement in agreements:
        rho, tau, per_item = agreement.macro.spearman, agreement.macro.kendall, agreement.per_item
        yield (
            f"{agreement.benchmark}, degree {agreement.degree}: "
            f"ρ {signed_interval(rho.lower, rho.upper)}, τ {signed_interval(tau.lower, tau.upper)}"
            f", τ per item {signed_interval(per_item.lower, per_item.upper)}; the same model first "
            f"in {rate(agreement.macro.top1_share)} of the draws · {agreement.log} beside "
            f"{agreement.full}"
        )
        for reason in dict.fromkeys(filter(None, (rho.reason, per_item.reason))):
            yield f"{agreement.benchmark}, degree {agreement.degree}: {reason}"


def _difference(row: SelfPreference, estimate: Estimate) -> Cell:
    """A signed difference; for a biased model bad if it favours itself, good if it harms itself."""
    tones: dict[int, Tone] = {1: "bad", 0: "", -1: "good"}
    return signed(estimate.value, tone=tones[side(estimate)] if row.biased else "")


def _review(review: PeerReview, *, items: bool) -> dict[str, Any]:
    panel, ranking = review.panel, review.ranking
    data = {
        **only(panel, "benchmark", "log", "models", "aggregator", "degree"),
        "n_items": review.n_rows,
        **only(review, "n_identical", "n_unusable"),
        "ranking": {
            **only(ranking, "methods", "rows"),
            "by_method": election_data(ranking.by_method),
            "at_once": ranking.at_once and election_data(ranking.at_once),
            "orders": ranking.orders,
        },
        "views": review.views,
        "panel": panel_data(panel, review.worth),
        **only(review, "receipt", "verdict", "warnings", "notes"),
    }
    return data | {"items": _items(panel)} if items else data


def _items(panel: Panel) -> list[dict[str, Any]]:
    items = [
        {
            "item_id": item_id,
            "n_reviews": sum(listing.unscored is None for listing in ballots.listings),
            "election": election and election_data(election),
        }
        for item_id, ballots, election in zip(
            panel.item_ids, panel.ballots, item_elections(panel), strict=True
        )
    ]
    return sorted(items, key=lambda item: natural_key(str(item["item_id"])))


# The matrix of agreement between reviewers is shown for up to this many, which fit side by side.
MATRIX_UP_TO = 8


def panel_sections(worth: PanelWorth, level: float) -> Iterator[Section]:
    """Agreement of each reviewer with the others and of every two, errors, and review counts."""
    matrix = 2 < len(worth.reviewers) <= MATRIX_UP_TO
    lines = list(_panel_lines(worth))
    table = _agreements(worth, level)
    yield Section.of(
        table, legend=[Reason("agreement_of_reviewers")], lines=[] if matrix else lines
    )
    if matrix:
        yield Section.of(_matrix(worth), lines=lines)
    if not math.isnan(worth.errors.value):
        yield Section.of(_errors(worth, level), legend=[Reason("wrong_before_right")])
    yield Section.of(_reviews(worth, level), legend=[Reason("counts_of_reviews")])


def _agreements(worth: PanelWorth, level: float) -> Table:
    columns = numbers(
        "τ", interval_heading(level), "Far", interval_heading(level), "Moves", "First"
    )
    first = {None: UNDEFINED, True: "other", False: "same"}
    rows = [
        (
            *(words(reviewer.reviewer.name), *estimate(reviewer.agreement)),
            *share_estimate(reviewer.distance),
            rank(None if reviewer.shift is None else abs(reviewer.shift)),
            words(first[reviewer.first_changes]),
        )
        for reviewer in worth.reviewers
    ]
    return Table.of((model_names("Reviewer"), *columns), rows, "Reviewers")


def _matrix(worth: PanelWorth) -> Table:
    """Kendall's τ-b of every two reviewers; columns are headed by the reviewers' numbers."""
    labels = [
        f"{place} {reviewer.reviewer.name}"
        for place, reviewer in enumerate(worth.reviewers, start=1)
    ]
    columns = (names("τ of two"), *numbers(*(name.split()[0] for name in labels)))
    rows = [
        (
            words(name),
            *(
                Cell("") if row == other else number(tau, 2)
                for other, tau in enumerate(worth.agreement.tau[row].tolist())
            ),
        )
        for row, name in enumerate(labels)
    ]
    return Table.of(columns, rows, "Agreement of every two reviewers")


def _panel_lines(worth: PanelWorth) -> Iterator[Remark]:
    figures = {
        "Agreement of two reviewers, mean Kendall τ-b": worth.agreement.panel,
        "Krippendorff's α of the ranks": worth.alpha,
        "Kendall's W, mean over items": worth.kendall_w,
    }
    for name, figure in figures.items():
        if math.isnan(figure.value):
            yield f"{name}: {UNDEFINED} ({figure.reason})"
        else:
            remark = f"; {figure.reason}" if figure.reason else ""
            span = signed_interval(figure.lower, figure.upper)
            yield f"{name}: {decimal(figure.value, 2)} ({span}{remark})"
    yield _votes(worth.votes)
    most = largest_shift(worth.reviewers)
    if most is None:
        yield "No model moves when a reviewer is left out"
    else:
        shift = most.shift or 0
        yield (
            f"Without {most.reviewer.name}, {most.moved} {'falls' if shift > 0 else 'rises'} by "
            f"{count(abs(shift), 'place')}; no reviewer matters more (consensus by "
            f"{worth.without.method})"
        )


def _votes(votes: EffectiveVotes) -> Remark:
    if votes.undefined:
        return f"Independent votes: {UNDEFINED} ({votes.undefined})"
    between = f"Independent votes: between {decimal(votes.at_least, 1)} and {votes.n_reviewers}"
    if math.isnan(votes.estimate):
        return Reason("votes_between", between=between, reason=votes.reason)
    return Reason("votes_about", between=between, estimate=votes.estimate, n=votes.n_mixed)


def _errors(worth: PanelWorth, level: float) -> Table:
    figures = [
        *((reviewer.reviewer.name, reviewer.errors) for reviewer in worth.reviewers),
        ("all of them", worth.errors),
        ("their majority", worth.majority_errors),
    ]
    columns = numbers("Wrong", interval_heading(level), "Items")
    rows = [
        (words(name), *share_estimate(figure), integer(figure.n_items)) for name, figure in figures
    ]
    return Table.of((model_names("Reviewer"), *columns), rows, "Wrong before right")


def _reviews(worth: PanelWorth, level: float) -> Table:
    """Unusable and partial reviews of each reviewer, and correlation with the order shown."""
    columns = numbers(
        "Reviews", "Unscored", "Partial", "Left out", "Place τ", interval_heading(level)
    )
    rows = [
        (
            words(f"{reviewer.reviewer.name}{'' if reviewer.reviewer.candidate else ' (panel)'}"),
            integer(reviewer.replies.n_questions if reviewer.replies else 0),
            share(reviewer.replies.unscored_rate.value if reviewer.replies else math.nan),
            integer(reviewer.n_partial),
            Cell(
                f"{reviewer.n_left_out:,} in {reviewer.n_cut:,}" if reviewer.n_cut else "0",
                reviewer.n_left_out,
            ),
            number(shown.tau.value, 2, tone="bad" if shown.bound else ""),
            span(shown.tau),
        )
        for reviewer in worth.reviewers
        for shown in [reviewer.presentation]
    ]
    return Table.of((model_names("Reviewer"), *columns), rows, "Reviews")


def panel_data(panel: Panel, worth: PanelWorth) -> dict[str, Any]:
    """The value of "panel" in `data_of`."""
    return {
        "reviewers": [
            _reviewer(panel, worth, number, reviewer)
            for number, reviewer in enumerate(worth.reviewers)
        ],
        "agreement": worth.agreement.panel,
        "tau": worth.agreement.tau,
        "tau_n_items": worth.agreement.n_items,
        "alpha": worth.alpha,
        "kendall_w": worth.kendall_w,
        "votes": worth.votes,
        "errors": worth.errors,
        "majority_errors": worth.majority_errors,
        "without_method": worth.without.method,
    }


def _reviewer(panel: Panel, worth: PanelWorth, number: int, record: ReviewRecord) -> dict[str, Any]:
    replies = json_ready(record.replies)
    if replies is not None:
        del replies["model"]  # The reviewer has it as its name.
    without = worth.without.mean_ranks_without[number].tolist()
    return {
        **record.reviewer.model_dump(),
        "replies": replies,
        **only(record, "reason", "n_partial", "n_cut", "n_left_out", "agreement", "distance"),
        **only(record, "errors", "shift", "moved", "first_changes"),
        "kendall_without": worth.without.kendall[number],
        "mean_ranks_without": dict(zip(panel.models, without, strict=True)),
        "presentation": record.presentation,
    }
