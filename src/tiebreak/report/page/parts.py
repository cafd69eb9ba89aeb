"""The parts of a page: for every finding its sheet, the same as on a terminal, and its pictures."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from tiebreak.analysis.alignment.align import Alignment
from tiebreak.analysis.comparison import Comparison
from tiebreak.analysis.contests import ContestReport
from tiebreak.analysis.entries import Entry
from tiebreak.analysis.peers.review import PeerReport, PeerReview
from tiebreak.analysis.stability import StabilityReport
from tiebreak.analysis.stars import StarReport
from tiebreak.analysis.win_rates import win_rates
from tiebreak.report import figures
from tiebreak.report.cells import money
from tiebreak.report.figures import Drawing
from tiebreak.report.sheet import Section, Sheet
from tiebreak.report.sheets import (
    alignment,
    comparison,
    contest,
    leaderboard,
    pairs,
    peers,
    stability,
    stars,
)

Pictures = Sequence[Drawing | None]
Made = tuple[Sheet, Pictures]
"""A sheet and its pictures; what cannot be drawn is None. A sheet of a title alone is left out."""


def boarded(entries: Sequence[Entry]) -> list[Entry]:
    """The logs that have a leaderboard of their own: those by stars are joined (`star_boards`)."""
    return [entry for entry in entries if entry.board.placed_by != "stars"]


def leaderboards(entries: Sequence[Entry]) -> Iterator[Made]:
    """Ranks with their intervals, second views, the judge's reliability, tests of all pairs."""
    for entry in boarded(entries):
        sheet = leaderboard.board_sheet(entry.board, entry.name)
        sheet = sheet.plus(pairs.pairs_section(entry.board))
        yield sheet, [figures.leaderboard_figure(entry.board)]


def star_boards(report: StarReport) -> Iterator[Made]:
    """Absolute, relative and subject scores; then benchmarks side by side."""
    for board in report.boards:
        sheet = stars.board_sheet(board).plus(pairs.pairs_section(board))
        yield sheet, [figures.star_scores_figure(board), figures.subjects_figure(board)]
    if report.styles:
        yield stars.styles_sheet(report.styles), []


def native_scores(entries: Sequence[Entry]) -> Iterator[Made]:
    """Native score against judged score."""
    for entry in entries:
        if entry.board.rule.asks is not None and len(entry.board.rows) > 1:
            yield _of(entry), [figures.native_figure(entry.board)]


def rates_of_winning(entries: Sequence[Entry]) -> Iterator[Made]:
    """How often each model beats each other one."""
    for entry in entries:
        if entry.board.rule.asks is not None and entry.board.rows:
            rates = win_rates(entry.ranked, models=[row.model for row in entry.board.rows])
            yield _of(entry), [figures.win_rate_figure(_label(entry), rates)]


def protocols(found: Comparison) -> Iterator[Made]:
    """Agreement with the reference and its price: of all benchmarks, and of each."""
    picture: Pictures = [figures.price_figure(found)]
    notes = found.notes
    if found.totals:
        yield comparison.totals_sheet(found).plus(notes=notes), picture
        picture, notes = [], ()
    for one in found.benchmarks:
        if len(one.logs) > 1 or one.orders:
            sheet = comparison.benchmark_sheet(one, found)
            yield sheet.plus(comparison.intervals(found), notes=notes), picture
            picture = []


def contests(report: ContestReport) -> Iterator[Made]:
    """Expected wins, what elimination costs, what other scores would do."""
    [sheet] = contest.sheets_of(report)
    yield sheet, figures.contest_figures(report)


def peer_reviews(report: PeerReport) -> Iterator[Made]:
    """Each peer review, then sparse ones beside full ones."""
    for review in report.reviews:
        yield _review(review, report.how.level)
    if report.sparse:
        yield peers.sparse_sheet(report.sparse), []


def people(found: Alignment) -> Iterator[Made]:
    """Each benchmark's raters against people; the pictures stand in the first part."""
    picture: Pictures = [figures.alignment_figure(found), figures.views_figure(found)]
    notes = found.notes
    for one in found.benchmarks:
        sheet = alignment.benchmark_sheet(one, found.level)
        subtitle = (*sheet.subtitle, f"people: {found.source}")
        yield replace(sheet, subtitle=subtitle).plus(alignment.legend(found), notes=notes), picture
        picture, notes = [], ()


def stabilities(report: StabilityReport) -> Iterator[Made]:
    """Leaderboards of parts of the items, and of repeated runs."""
    [sheet] = stability.sheets_of(report)
    yield sheet, [figures.stability_figure(report)]


def receipts(entries: Sequence[Entry], notes: Sequence[str]) -> Iterator[Made]:
    """What all logs cost together, what was left out of the report, and the bill of each log."""
    bills = [entry.board.receipt for entry in entries]
    lines = []
    if len(bills) > 1:
        paid = [bill.paid for bill in bills]
        known = [amount for amount in paid if amount is not None]
        lines.append(
            f"{sum(one.n_calls for one in bills):,} calls, of which "
            f"{sum(one.n_cached for one in bills):,} from the cache · paid "
            f"{money(sum(known) if len(known) == len(paid) else None)}"
        )
    total = [Section.of(lines=lines)] if lines else []
    yield Sheet("All logs together").plus(*total, notes=notes), []
    for entry in entries:
        if entry.board.receipt.n_calls:
            yield _of(entry).plus(*leaderboard.receipt_sections(entry.board.receipt)), []


def _review(review: PeerReview, level: float) -> Made:
    sheet = peers.review_sheet(review, level)
    if review.panel.degree is not None:
        sheet = replace(sheet, title=f"{sheet.title} · degree {review.panel.degree}")
    draw = (figures.review_matrix_figure, figures.self_preference_figure)
    return sheet, [*(one(review) for one in draw), figures.reviewer_boxes_figure(review)]


def _of(entry: Entry) -> Sheet:
    return Sheet(_label(entry), (f"log: {entry.board.log}",))


def _label(entry: Entry) -> str:
    """Benchmark and protocol, with the number of the run where there are several."""
    return f"{entry.board.benchmark} · {entry.name}"
