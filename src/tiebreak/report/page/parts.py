"""The parts of a page: for every finding its pictures, its tables and what is said of them.

Tables and sentences are those of the terminal; a page shows the wide ones.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from rich.table import Table

from tiebreak.analysis.alignment.align import Alignment
from tiebreak.analysis.comparison import BenchmarkComparison, Comparison
from tiebreak.analysis.contests import ContestReport
from tiebreak.analysis.entries import Entry
from tiebreak.analysis.peers.review import PeerReport, PeerReview
from tiebreak.analysis.stability import StabilityReport
from tiebreak.analysis.win_rates import win_rates
from tiebreak.report import alignment_view, board_lines, comparison_view, stability_view
from tiebreak.report import contests_view as contests
from tiebreak.report import peers_tables as peer_tables
from tiebreak.report import peers_view as peer_view
from tiebreak.report.aggregation import csd_table, sensitivity_table
from tiebreak.report.board_tables import kinds_table, rows_table, usage_table, views_table
from tiebreak.report.cells import money
from tiebreak.report.figures import (
    Drawing,
    alignment_figure,
    leaderboard_figure,
    native_figure,
    perturbation_figure,
    price_figure,
    review_matrix_figure,
    reviewer_boxes_figure,
    self_preference_figure,
    sensitivity_figure,
    stability_figure,
    win_rate_figure,
    wins_figure,
)
from tiebreak.report.page.gallery import Gallery
from tiebreak.report.page.names import shortener
from tiebreak.report.page.tables import table_view
from tiebreak.report.page.view import Part
from tiebreak.report.sheet import one_line
from tiebreak.words import count

Captioned = tuple[str, Table | None]


class Parts:
    """Makes the parts of one page: ids are counted, pictures hang in one gallery.

    `names` are what is said for paths, as in `file_names`.
    """

    def __init__(self, gallery: Gallery, names: Mapping[str, str]) -> None:
        self._gallery = gallery
        self._short = shortener(names)
        self._made: dict[str, int] = {}

    def part(
        self,
        section: str,
        title: str,
        subtitle: str = "",
        *,
        warnings: Iterable[str] = (),
        figures: Iterable[Drawing | None] = (),
        tables: Iterable[Captioned] = (),
        lines: Iterable[str] = (),
        notes: Iterable[str] = (),
    ) -> Part:
        """A part with clean texts; tables without a row are left out."""
        number = self._made[section] = self._made.get(section, 0) + 1
        id = f"{section}-{number}"
        shown = [(caption, table) for caption, table in tables if table and table.row_count]
        return Part(
            id=id,
            title=self._clean(title),
            subtitle=self._clean(subtitle),
            warnings=self._all_clean(warnings),
            figures=self._gallery.hang(figures),
            tables=tuple(
                table_view(table, f"{id}-table-{place}", self._clean(caption))
                for place, (caption, table) in enumerate(shown, start=1)
            ),
            lines=self._all_clean(lines),
            notes=self._all_clean(notes),
        )

    def leaderboard(self, entry: Entry) -> Part:
        """Ranks with their intervals, second views, the judge's reliability."""
        board = entry.board
        lines: list[str] = []
        if board.settled is not None:
            lines.append(board_lines.settled_line(board.settled))
        if board.rows:
            lines += [board_lines.intervals_line(board), board_lines.spread_line(board)]
        else:
            lines.append("No item could be ranked.")
        views = views_table(board, wide=True)
        return self.part(
            "leaderboards",
            label(entry),
            f"{count(board.n_items, 'item')} · {board_lines.source_line(board)}",
            warnings=board.warnings,
            figures=[leaderboard_figure(board)],
            tables=[
                ("Ranking", rows_table(board, wide=True)),
                (board_lines.views_line(board) if views else "", views),
            ],
            lines=chain(lines, board_lines.judge_lines(board), board_lines.undefined_views(board)),
            notes=(*board.notes, *board_lines.unranked_notes(board)),
        )

    def native(self, entry: Entry) -> Part | None:
        """Native score against judged score."""
        if entry.board.rule.asks is None:
            return None
        return self._pictured("native", entry, native_figure(entry.board))

    def win_rates(self, entry: Entry) -> Part | None:
        """How often each model beats each other one."""
        if entry.board.rule.asks is None or not entry.board.rows:
            return None
        rates = win_rates(entry.ranked, models=[row.model for row in entry.board.rows])
        return self._pictured("winrates", entry, win_rate_figure(label(entry), rates))

    def protocols(self, comparison: Comparison) -> Iterator[Part]:
        """Agreement with the reference and its price: of all benchmarks, and of each."""
        compared = [one for one in comparison.benchmarks if len(one.logs) > 1 or one.orders]
        figure = price_figure(comparison)
        if comparison.totals:
            yield self.part(
                "protocols",
                f"All {count(len(comparison.benchmarks), 'benchmark')}",
                figures=[figure],
                tables=[("Means over benchmarks", comparison_view.totals_table(comparison.totals))],
                notes=comparison.notes,
            )
            figure = None
        for one in compared:
            yield self._compared(one, comparison, figure)

    def contest(self, report: ContestReport) -> Part:
        """Expected wins, what elimination costs, what a spoilt score does."""
        names, sensitivity = report.models, report.sensitivity
        return self.part(
            "csd",
            contests.title_line(report),
            contests.rounds_line(report),
            figures=[sensitivity_figure(report), wins_figure(report), perturbation_figure(report)],
            tables=[
                ("Expected wins", csd_table(names, report.result)),
                (
                    "What elimination costs",
                    None if sensitivity is None else sensitivity_table(names, sensitivity),
                ),
            ],
            lines=chain(contests.intervals_lines(report), contests.spoilt_lines(report)),
            notes=report.notes,
        )

    def peers(self, report: PeerReport) -> Iterator[Part]:
        """Each peer review, then sparse ones beside full ones."""
        for review in report.reviews:
            yield self._review(review, report.how.level)
        if report.sparse:
            yield self.part(
                "peers",
                "Sparse peer review beside the full one",
                tables=[("Agreement and price", peer_tables.sparse_table(report.sparse))],
                lines=peer_view.sparse_lines(report.sparse),
            )

    def people(self, alignment: Alignment) -> Iterator[Part]:
        """Each benchmark's raters against people; the picture stands in the first part."""
        figure = alignment_figure(alignment)
        for one in alignment.benchmarks:
            pearson, kendall = alignment_view.micro_tables(one.raters, alignment.level)
            yield self.part(
                "people",
                alignment_view.title_line(one),
                f"log: {one.log} · people: {alignment.source}",
                figures=[figure],
                tables=[
                    ("Item by item: Pearson", pearson),
                    ("Item by item: Kendall", kendall),
                    ("Over all items", alignment_view.macro_table(one.raters, alignment.level)),
                ],
                lines=[alignment_view.LEGEND, alignment_view.intervals_line(alignment)],
                notes=(*one.notes, *(alignment.notes if figure is not None else ())),
            )
            figure = None

    def stability(self, report: StabilityReport) -> Part:
        """Leaderboards of parts of the items, and of repeated runs."""
        return self.part(
            "stability",
            "Of the items, and of the run",
            figures=[stability_figure(report)],
            tables=[
                (
                    stability_view.subsamples_line(report),
                    stability_view.subsamples_table(report),
                ),
                ("Run against run", stability_view.runs_table(report)),
            ],
            notes=report.notes,
        )

    def receipt(self, entry: Entry) -> Part | None:
        """Calls, tokens and money of one leaderboard."""
        receipt = entry.board.receipt
        if not receipt.n_calls:
            return None
        return self.part(
            "receipt",
            label(entry),
            f"log: {entry.board.log}",
            tables=[
                ("Calls by what they were for", kinds_table(receipt)),
                ("Tokens and money by model", usage_table(receipt)),
            ],
            lines=board_lines.receipt_lines(receipt),
        )

    def logs(self, entries: Sequence[Entry], notes: Sequence[str]) -> Part | None:
        """What all logs cost together, and what was left out of the report."""
        receipts = [entry.board.receipt for entry in entries]
        lines = []
        if len(receipts) > 1:
            paid = [receipt.paid for receipt in receipts]
            known = [amount for amount in paid if amount is not None]
            lines.append(
                f"{sum(one.n_calls for one in receipts):,} calls, of which "
                f"{sum(one.n_cached for one in receipts):,} from the cache · paid "
                f"{money(sum(known) if len(known) == len(paid) else None)}"
            )
        if not (lines or notes):
            return None
        return self.part("receipt", "All logs together", lines=lines, notes=notes)

    def _pictured(self, section: str, entry: Entry, drawing: Drawing | None) -> Part | None:
        if drawing is None:
            return None
        return self.part(section, label(entry), f"log: {entry.board.log}", figures=[drawing])

    def _compared(
        self, one: BenchmarkComparison, comparison: Comparison, figure: Drawing | None
    ) -> Part:
        level = comparison.level
        return self.part(
            "protocols",
            comparison_view.title_line(one),
            comparison_view.source_line(one),
            warnings=one.warnings,
            figures=[figure],
            tables=[
                (
                    f"Agreement with {one.reference.name}",
                    comparison_view.agreement_table(one, level, wide=True),
                ),
                ("What an item costs", comparison_view.price_table(one.logs, wide=True)),
                (
                    "What the judge goes by",
                    comparison_view.judge_table(one.logs, level, wide=True),
                ),
            ],
            lines=[comparison_view.LEGEND, comparison_view.intervals_line(comparison)],
            notes=(*one.notes, *(() if comparison.totals else comparison.notes)),
        )

    def _review(self, review: PeerReview, level: float) -> Part:
        panel, worth = review.panel, review.worth
        views = peer_view.views_in_order(review)
        themselves = peer_view.on_themselves(views)
        pairs = 2 < len(panel.reviewers) <= peer_view.MATRIX_UP_TO
        sparse = "" if panel.degree is None else f" · degree {panel.degree}"
        return self.part(
            "peers",
            f"{panel.benchmark} · peer review{sparse}",
            f"{count(review.n_rows, 'item')} · {count(len(panel.models), 'model')} · "
            f"{count(len(panel.reviewers), 'reviewer')} · log: {panel.log}",
            warnings=review.warnings,
            figures=[
                review_matrix_figure(review),
                self_preference_figure(review),
                reviewer_boxes_figure(review),
            ],
            tables=[
                ("Ranking", peer_tables.ranking_table(review.ranking, level, wide=True)),
                (
                    f"Self-preference. {peer_view.LEGEND_VIEWS}",
                    peer_tables.views_table(views) if themselves else None,
                ),
                (
                    "The intervals behind the verdicts",
                    peer_tables.gaps_table(views, level) if themselves else None,
                ),
                (
                    f"Reviewers. {peer_view.LEGEND_REVIEWERS}",
                    peer_tables.reviewers_table(worth, level),
                ),
                (
                    "Agreement of every two reviewers",
                    peer_tables.agreement_matrix(worth) if pairs else None,
                ),
                (
                    f"Reviews. {peer_view.LEGEND_REVIEWS}",
                    peer_tables.reviews_table(worth, level),
                ),
            ],
            lines=chain(
                peer_view.ranking_lines(review),
                peer_view.views_lines(views),
                peer_view.panel_lines(worth),
            ),
            notes=review.notes,
        )

    def _all_clean(self, texts: Iterable[str]) -> tuple[str, ...]:
        return tuple(self._clean(text) for text in texts if text)

    def _clean(self, text: str) -> str:
        return one_line(self._short(text))


def label(entry: Entry) -> str:
    """Benchmark and protocol, with the number of the run where there are several."""
    return f"{entry.board.benchmark} · {entry.name}"
