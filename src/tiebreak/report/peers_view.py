"""A peer review on a terminal: warnings, ranking, self-preference, the panel, the bill.

Everything that comes from logs is printed as plain text (see `cells.plain`).
"""

import math
from collections.abc import Iterable, Iterator, Sequence

from rich.console import Console

from tiebreak.analysis.peers.review import PeerReport, PeerReview
from tiebreak.analysis.peers.self_preference import SelfPreference
from tiebreak.analysis.peers.sparse import SparseAgreement
from tiebreak.analysis.peers.worth import PanelWorth, largest_shift, most_alike
from tiebreak.analysis.receipt import Receipt
from tiebreak.report.aggregation import consensus_lines
from tiebreak.report.cells import UNDEFINED, decimal, money, rate, signed_interval
from tiebreak.report.elections_view import render_election
from tiebreak.report.peers_tables import (
    agreement_matrix,
    bills_table,
    bounds,
    gaps_table,
    ranking_table,
    reviewers_table,
    reviews_table,
    sparse_table,
    views_table,
)
from tiebreak.report.terminal import plain
from tiebreak.words import count

# From this width on there is room for the columns that 80 characters have none for.
WIDE = 100
# So many reviewers' agreements with each other fit side by side.
MATRIX_UP_TO = 8

LEGEND_VIEWS = (
    "Mean ranks. SR: by itself; PR: by its peers; SIA: in the consensus of all ballots; SFA: the "
    "same without own ranks. Differences: over the items that have both; PR−SR > 0: it favours "
    "itself. Gap: none, or removed, reduced or kept by aggregation, as far as the intervals tell. "
    "Fair gap: by each two ballots without the other reviewer's answer, since a fair model among "
    "others that favour themselves has a PR−SR, too"
)
LEGEND_REVIEWERS = (
    "τ: agreement with the others. Far: pairs that the others' consensus orders the other way "
    "round; 50% by chance. Without it: most places by which a model moves, and who is first then"
)
LEGEND_REVIEWS = (
    "Unscored: without a usable reply. Partial: does not place all answers shown. Left out: "
    "answers not shown, in so many reviews, because they did not fit its context. Place τ: of rank "
    "with place of presentation; 0 without bias"
)


def render_peer_report(report: PeerReport, console: Console | None = None) -> None:
    """Print a report of peer reviews.

    Args:
        report: what to print.
        console: where to print; standard output by default. At 100 columns and more the ranking
            also shows rank intervals and the share of draws in which a model came first.
    """
    console = console or Console(highlight=False)
    for number, review in enumerate(report.reviews):
        if number:
            console.print()
        _render(review, report.how.level, console)
    console.print()
    if report.sparse:
        console.print(plain("Sparse peer review beside the full one", "bold"))
        console.print()
        console.print(sparse_table(report.sparse))
        _say(sparse_lines(report.sparse), console)
        console.print()
    how = report.how
    _say([f"Intervals: bootstrap over items, {how.draws:,} draws, seed {how.seed}"], console, "dim")
    _say((f"Note: {note}" for note in report.notes), console, "yellow")


def _render(review: PeerReview, level: float, console: Console) -> None:
    panel = review.panel
    sizes = (
        count(review.n_rows, "item"),
        count(len(panel.models), "model"),
        count(len(panel.reviewers), "reviewer"),
    )
    _say([f"{panel.benchmark} · peer review · {' · '.join(sizes)}"], console, "bold")
    _say([f"log: {panel.log}"], console, "dim")
    _say((f"WARNING: {warning}" for warning in review.warnings), console, "bold red")
    console.print()
    console.print(ranking_table(review.ranking, level, wide=console.width >= WIDE))
    _say(ranking_lines(review), console)
    if len(review.ranking.by_method.consensuses) > 1:
        console.print()
        render_election(review.ranking.by_method, console)
    console.print()
    _render_views(views_in_order(review), level, console)
    console.print()
    console.print(reviewers_table(review.worth, level))
    _say([LEGEND_REVIEWERS], console, "dim")
    if 2 < len(panel.reviewers) <= MATRIX_UP_TO:
        console.print()
        console.print(agreement_matrix(review.worth))
    _say(panel_lines(review.worth), console)
    console.print()
    console.print(reviews_table(review.worth, level))
    _say([LEGEND_REVIEWS], console, "dim")
    console.print()
    console.print(bills_table(review.receipt))
    _say(receipt_lines(review.receipt), console)
    if review.notes:
        console.print()
    _say((f"Note: {note}" for note in review.notes), console, "yellow")


def _render_views(rows: Sequence[SelfPreference], level: float, console: Console) -> None:
    if on_themselves(rows):
        console.print(views_table(rows))
        console.print()
        console.print(gaps_table(rows, level))
        _say([LEGEND_VIEWS], console, "dim")
    _say(views_lines(rows), console)


def views_in_order(review: PeerReview) -> list[SelfPreference]:
    """The views on each model, in the order of the ranking."""
    place = {row.model: number for number, row in enumerate(review.ranking.rows)}
    return sorted(review.views, key=lambda row: place[row.model])


def on_themselves(rows: Iterable[SelfPreference]) -> bool:
    """Whether a model has ranked its own answers: else the views compare nothing."""
    return not all(math.isnan(row.sr) for row in rows)


def views_lines(rows: Sequence[SelfPreference]) -> Iterator[str]:
    """Why there is no verdict on some models, or on any."""
    undefined: dict[str, list[str]] = {}
    for row in rows:
        if row.reason:
            undefined.setdefault(row.reason, []).append(row.model)
    if not on_themselves(rows):
        yield f"Self-preference: {UNDEFINED} ({'; '.join(undefined)})"
        return
    for reason, models in undefined.items():
        yield f"No verdict on {', '.join(models)}: {reason}"


def ranking_lines(review: PeerReview) -> Iterator[str]:
    """How the ranking was made, and how sure it is."""
    ranking, orders = review.ranking, review.ranking.orders
    yield (
        f"Mean rank: by {ranking.methods[0]}, item by item ({count(review.n_reviewed, 'item')}). "
        "All at once: place in the Kemeny order of the ballots of all items"
    )
    for method, reason in ranking.by_method.failed.items():
        yield f"{method}: no result ({reason})"
    if orders.reason is not None:
        yield f"Kemeny orders of the items: {UNDEFINED} ({orders.reason})"
    elif orders.n_items:
        share = orders.cost / orders.pairs if orders.pairs else math.nan
        yield (
            f"Kemeny orders of the items: all proven optimal, unique in {orders.n_unique:,} of "
            f"{count(orders.n_items, 'item')}; {rate(share)} of the pairs in ballots are ordered "
            "the other way round"
        )
    if ranking.at_once is not None:
        [consensus] = ranking.at_once.consensuses.values()
        # The first line is about scores, which an order of places does not need.
        _, *lines = consensus_lines(ranking.at_once.names, consensus, ranking.kemeny)
        yield f"All at once, {count(consensus.used, 'ballot')}. {'. '.join(lines)}"


def panel_lines(worth: PanelWorth) -> Iterator[str]:
    """The whole panel in four figures, and who matters most."""
    figures = {
        "Agreement of two reviewers, mean Kendall τ-b": worth.agreement.panel,
        "Krippendorff's α of the ranks": worth.alpha,
        "Kendall's W, mean over items": worth.concordance.mean,
        f"Independent votes, of {worth.votes.n_reviewers}": worth.votes.votes,
    }
    for name, figure in figures.items():
        if math.isnan(figure.value):
            yield f"{name}: {UNDEFINED} ({figure.reason})"
        else:
            said = f"; {figure.reason}" if figure.reason else ""
            yield f"{name}: {decimal(figure.value, 2)} ({bounds(figure)}{said})"
    if not math.isnan(worth.votes.votes.value):
        yield "(What most reviewers have in common counts as the truth, even where all err alike)"
    alike = most_alike(worth)
    if alike is not None:
        one, other, correlation = alike
        # As an estimate it may be above 1.
        shown = decimal(min(correlation, 1.0), 2)
        yield f"Most alike in their errors: {one} and {other} (correlation {shown})"
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


def receipt_lines(receipt: Receipt) -> Iterator[str]:
    """The bill in sentences."""
    yield (
        f"All: {count(receipt.n_calls, 'call')}, of which {receipt.n_cached:,} from the cache · "
        f"tokens: {receipt.input_tokens:,} in, {receipt.output_tokens:,} out · worth "
        f"{money(receipt.cost)}, paid in this run {money(receipt.paid)}"
    )
    if receipt.unpriced_models:
        models = ", ".join(receipt.unpriced_models)
        yield f"No price known for {models}; give prices with --model-cost-config FILE"


def sparse_lines(found: Iterable[SparseAgreement]) -> Iterator[str]:
    """The intervals of each sparse log, and which full one it stands beside."""
    for one in found:
        rho, tau = one.macro.spearman, one.macro.kendall
        yield (
            f"{one.benchmark}, degree {one.degree}: ρ {signed_interval(rho.lower, rho.upper)}, "
            f"τ {signed_interval(tau.lower, tau.upper)}, τ per item {bounds(one.per_item)}; the "
            f"same model first in {rate(one.macro.top1_share)} of the draws · {one.log} beside "
            f"{one.full}"
        )
        for reason in dict.fromkeys(filter(None, (rho.reason, one.per_item.reason))):
            yield f"{one.benchmark}, degree {one.degree}: {reason}"


def _say(lines: Iterable[str], console: Console, style: str = "") -> None:
    for line in lines:
        console.print(plain(line, style))
