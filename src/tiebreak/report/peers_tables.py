"""The tables of a peer review: ranking, views, reviewers, agreement, sparse beside full."""

import math
from collections.abc import Iterable, Sequence

from rich.table import Table
from rich.text import Text

from tiebreak.analysis.peers.ranking import PeerRanking
from tiebreak.analysis.peers.self_preference import SelfPreference, side
from tiebreak.analysis.peers.sparse import SparseAgreement
from tiebreak.analysis.peers.worth import PanelWorth
from tiebreak.analysis.receipt import Receipt
from tiebreak.rankers.intervals import Estimate
from tiebreak.report.cells import (
    UNDEFINED,
    decimal,
    money,
    percents,
    ranks,
    rate,
    signed_interval,
    whole,
)
from tiebreak.report.comparison_view import new_table
from tiebreak.report.terminal import plain

# Between many columns there is no room for more if a name is to keep its line in 80 characters.
_NARROW = (0, 1, 0, 0)


def ranking_table(ranking: PeerRanking, level: float, *, wide: bool) -> Table:
    """Places by mean rank over items, and in the order of all ballots at once."""
    more = ("Ranks", "P(first)") if wide else ()
    table = new_table("Model", "#", "Mean rank", _heading(level), *more, "All at once")
    for row in ranking.rows:
        cells = [decimal(row.mean_rank, 2), signed_interval(row.lower, row.upper)]
        if wide:
            cells += [ranks(row.rank_lower, row.rank_upper), rate(row.prob_first)]
        table.add_row(plain(row.model), whole(row.rank), *cells, whole(row.at_once))
    return table


def views_table(rows: Iterable[SelfPreference]) -> Table:
    """The four views, their differences, and the verdict (Peer review, table 3)."""
    table = new_table("Model", "SR", "PR", "PR−SR", "SIA", "SFA", "SFA−SIA", "Gap")
    table.padding = _NARROW
    for row in rows:
        table.add_row(
            plain(row.model),
            *(decimal(row.sr, 2), decimal(row.pr, 2), _difference(row.gap)),
            *(decimal(row.sia, 2), decimal(row.sfa, 2), _difference(row.remainder)),
            row.verdict or UNDEFINED,
        )
    return table


def gaps_table(rows: Iterable[SelfPreference], level: float) -> Table:
    """The intervals behind the verdicts."""
    table = new_table("Model", "PR−SR", "Fair gap", "", "SFA−SIA")
    table.padding = _NARROW
    for number in (1, 3, 4):
        table.columns[number].header = f"{table.columns[number].header}\n{_heading(level)}".lstrip()
    for row in rows:
        table.add_row(
            plain(row.model),
            bounds(row.gap),
            _difference(row.fair_gap),
            *(bounds(row.fair_gap), bounds(row.remainder)),
        )
    return table


def reviews_table(worth: PanelWorth, level: float) -> Table:
    """How each reviewer works: how often in vain, and whether it goes by the order shown."""
    headings = ("Reviews", "Unscored", "Partial", "Left out", "Place τ", _heading(level))
    table = new_table("Reviewer", *headings)
    table.padding = _NARROW
    for one in worth.reviewers:
        replies, place = one.replies, one.presentation
        panel = "" if one.reviewer.candidate else " (panel)"
        table.add_row(
            plain(f"{one.reviewer.name}{panel}"),
            f"{replies.n_questions:,}" if replies else "0",
            rate(replies.unscored_rate if replies else math.nan),
            f"{one.n_partial:,}",
            f"{one.n_left_out:,} in {one.n_cut:,}" if one.n_cut else "0",
            Text(decimal(place.tau.value, 2), style="bold red" if place.bound else ""),
            bounds(place.tau),
        )
    return table


def bills_table(receipt: Receipt) -> Table:
    """Calls, tokens and money by reviewer."""
    table = new_table("Reviewer", "Calls", "Cached", "Tokens in", "out", "Worth", "Paid")
    table.padding = _NARROW
    for use in receipt.usage:
        table.add_row(
            plain(use.reviewer or use.role),
            *(f"{use.n_calls:,}", f"{use.n_cached:,}"),
            *(f"{use.input_tokens:,}", f"{use.output_tokens:,}", money(use.cost), money(use.paid)),
        )
    return table


def reviewers_table(worth: PanelWorth, level: float) -> Table:
    """How each one's ballots go with the others', and what is without it."""
    interval = _heading(level)
    table = new_table("Reviewer", "τ", interval, "Far", interval, "Moves", "First")
    table.padding = _NARROW
    for one in worth.reviewers:
        far = one.distance
        table.add_row(
            plain(one.reviewer.name),
            *(decimal(one.agreement.value, 2), bounds(one.agreement), rate(far.value)),
            UNDEFINED if math.isnan(far.lower) else percents(far.lower, far.upper),
            whole(None if one.shift is None else abs(one.shift)),
            {None: UNDEFINED, True: "other", False: "same"}[one.first_changes],
        )
    return table


def agreement_matrix(worth: PanelWorth) -> Table:
    """Kendall's τ-b of every two reviewers; numbers stand for the names in the columns."""
    names = [f"{number} {one.reviewer.name}" for number, one in enumerate(worth.reviewers, start=1)]
    table = new_table("τ of two", *(name.split()[0] for name in names))
    for row, name in enumerate(names):
        taus = worth.agreement.tau[row].tolist()
        cells = ["" if row == other else decimal(tau, 2) for other, tau in enumerate(taus)]
        table.add_row(plain(name), *cells)
    return table


def sparse_table(found: Sequence[SparseAgreement]) -> Table:
    """Agreement of sparse logs with full ones, and an item's price beside theirs."""
    table = new_table(
        *("Benchmark", "Degree", "Items", "ρ", "τ", "Top-1", "τ per\nitem", "Calls\n×"),
        "Tokens\n×",
    )
    for one in found:
        table.add_row(
            plain(one.benchmark),
            *(str(one.degree), f"{one.n_items:,}"),
            *(decimal(one.macro.spearman.value, 2), decimal(one.macro.kendall.value, 2)),
            *(decimal(one.macro.top1.value, 2), decimal(one.per_item.value, 2)),
            *(decimal(one.price.relative_calls, 2), decimal(one.price.relative_tokens, 2)),
        )
    return table


def bounds(estimate: Estimate) -> str:
    """The interval of a figure."""
    return signed_interval(estimate.lower, estimate.upper)


def _heading(level: float) -> str:
    return f"{level * 100:g}% interval"


def _difference(estimate: Estimate) -> Text:
    """With its sign: red where a model favours itself for sure, blue where it harms itself."""
    if math.isnan(estimate.value):
        return Text(UNDEFINED)
    style = {1: "red", 0: "", -1: "blue"}[side(estimate)]
    return Text(f"{round(estimate.value, 2) + 0:+.2f}", style=style)
