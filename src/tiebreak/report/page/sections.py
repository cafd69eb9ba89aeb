"""From the contents of a report to its page: the sections, their headings and leads.

A section has the sheets of its findings, the same as on a terminal, and their pictures. Several
boards are shown side by side before the sections, with every model's place on each.

A board is drawn with one row per model and marks on a common axis (`drawn_board`). The template
turns it into elements and SVG, so that rows fold on a phone and open to show their numbers.
`leaderboard_figure` draws the same as a file.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from tiebreak.analysis.alignment import Alignment
from tiebreak.analysis.comparison import Comparison
from tiebreak.analysis.contests import ContestReport
from tiebreak.analysis.entries import Entry
from tiebreak.analysis.leaderboard import Leaderboard, LeaderboardRow
from tiebreak.analysis.peers.review import PeerReport, PeerReview
from tiebreak.analysis.stars import StarBoard, StarReport, StarRow
from tiebreak.analysis.win_rates import WinRates, win_rates
from tiebreak.rankers.pairwise_tests import Pair, items_needed, items_to_tell_apart
from tiebreak.reason import Reason
from tiebreak.report.cells import (
    UNDEFINED,
    Cell,
    Tone,
    decimal,
    forecast,
    money,
    ranks,
    signed,
    whole,
    words,
)
from tiebreak.report.figures.boards import (
    lanes,
    leaderboard_figure,
    native_figure,
    natives_on_axis,
    subjects_figure,
)
from tiebreak.report.figures.boxes import (
    alignment_figure,
    reviewer_boxes_figure,
    self_preference_figure,
    stability_figure,
    views_figure,
)
from tiebreak.report.figures.canvas import Drawing, columns
from tiebreak.report.figures.contests import contest_figures
from tiebreak.report.figures.matrices import review_matrix_figure, win_rate_figure
from tiebreak.report.figures.prices import price_figure
from tiebreak.report.page.contents import Contents
from tiebreak.report.page.items import ChunkWriter, items_view
from tiebreak.report.page.view import (
    BoardRow,
    BoardVerdictView,
    DrawnBoard,
    Gallery,
    Overview,
    Page,
    PageSection,
    Part,
)
from tiebreak.report.sheet import Column, Section, Sheet, Table, model_names, one_line
from tiebreak.report.sheets import contest, leaderboard, sheets_of, stars
from tiebreak.text import count, listed, p_value, percent

Pictures = Sequence[Drawing | None]
Made = tuple[Sheet, Pictures]
"""A sheet and its pictures, None if they cannot be drawn; a sheet of only a title is left out."""


Board = Leaderboard | StarBoard


class Shown(NamedTuple):
    """A board on the page, the name of its protocol or run, and the part that shows it."""

    board: Board
    name: str
    part: Part


_HEADINGS: Final = {
    "leaderboards": (
        "Leaderboards",
        "Borda: the mean share of the other models that a model is placed before, from 0 to 1. "
        "Ranks: what tests of all pairs of models leave open, for all models at once.",
    ),
    "stars": (
        "Answers judged by stars",
        "Absolute and relative scores, 0 to 100, and scores by subject, 0 to 10 (LLMEval-Fair). "
        "All logs of a benchmark are one board, which says whether models answered the same "
        "questions.",
    ),
    "native": (
        "Native score and judged rank",
        "The benchmark's own score beside what the judges found. Judging is there to tell models "
        "apart that share a native score.",
    ),
    "winrates": (
        "Win rates",
        "How often the model of a row beats the model of a column; a tie counts one half. "
        "These are shares of the matches that were played; the leaderboard's tests say whether two "
        "models differ.",
    ),
    "protocols": (
        "Protocols and their price",
        "How far each protocol agrees with the reference, and what an item costs under it. The "
        "noise ceiling is how far the reference agrees with itself.",
    ),
    "csd": (
        "Contests over benchmarks",
        "Swiss-system contests over many benchmarks (CSD): expected wins, and what elimination "
        "after each round does to them.",
    ),
    "peers": (
        "Peer review",
        "Models rank each other's answers, and their own, without knowing whose they are.",
    ),
    "people": (
        "Alignment with people",
        "Whether reviewers, aggregators, the four views and the native score rank models as "
        "people do.",
    ),
    "stability": (
        "Stability",
        "Whether the ranking depends on its items or on its run: rankings of random parts of the "
        "items against that of all, and repeated runs against each other.",
    ),
    "receipt": ("Receipt", "What was asked, and what it cost."),
}


def page_of(
    contents: Contents,
    gallery: Gallery,
    shelf: ChunkWriter,
    *,
    version: str,
    title: str | None = None,
) -> Page:
    """The page of a report; adds its pictures to the gallery and its items to the shelf.

    Both must be empty. Without a title the page names the benchmarks.

    Raises:
        MissingPackageError: matplotlib is not installed.
    """
    sections = tuple(sections_of(contents, gallery))
    boards = list(_boards(contents, sections))
    return Page(
        title=one_line(title or _title(contents)),
        version=version,
        made=" · ".join(map(one_line, _made(contents))),
        verdicts=tuple(_verdict(board.board, board.part) for board in boards),
        overview=overview_of(boards) if len(boards) > 1 else None,
        sections=sections,
        items=items_view(contents, shelf),
    )


def sections_of(contents: Contents, gallery: Gallery) -> Iterator[PageSection]:
    """The sections that have a part, in the order of the page; parts fold if there are several."""
    warned: set[str] = set()
    for id, findings in _findings(contents):
        made = [(sheet, gallery.figure_views(pictures)) for sheet, pictures in findings]
        shown = [(s, pictures) for s, pictures in made if pictures or s.sections or s.notes]
        parts = []
        for number, (sheet, pictures) in enumerate(shown, start=1):
            # Do not repeat warnings of earlier sections.
            new = replace(sheet, warnings=tuple(w for w in sheet.warnings if w not in warned))
            folded = len(shown) > 1 and bool(
                pictures or any(section.table for section in sheet.sections)
            )
            parts.append(Part(f"{id}-{number}", new, pictures, folded))
        warned.update(warning for sheet, _ in shown for warning in sheet.warnings)
        if parts:
            yield PageSection(id, *_HEADINGS[id], tuple(parts))


def _findings(contents: Contents) -> Iterator[tuple[str, Iterable[Made]]]:
    entries, notes = contents.entries, contents.notes
    yield "leaderboards", leaderboards(entries)
    if contents.stars is not None:
        yield "stars", star_boards(contents.stars)
    yield "native", native_scores(entries)
    yield "winrates", rates_of_winning(entries)
    if contents.comparison is not None:
        yield "protocols", protocols(contents.comparison)
    if contents.contest is not None:
        yield "csd", contests(contents.contest)
    if contents.peers is not None:
        yield "peers", peer_reviews(contents.peers)
        notes += tuple(map(str, contents.peers.notes))
    if contents.alignment is not None:
        yield "people", people(contents.alignment)
    if contents.stability is not None:
        [sheet] = sheets_of(contents.stability)
        yield "stability", [(sheet, [stability_figure(contents.stability)])]
    yield "receipt", receipts(entries, notes)


def _boards(contents: Contents, sections: Iterable[PageSection]) -> Iterator[Shown]:
    shown = {section.id: section.parts for section in sections}
    entries = boarded(contents.entries)
    for entry, part in zip(entries, shown.get("leaderboards", ()), strict=True):
        yield Shown(entry.board, entry.name, part)
    # The last part of "stars", all benchmarks side by side, has no board: zip stops before it.
    joined = contents.stars.boards if contents.stars else ()
    for board, part in zip(joined, shown.get("stars", ()), strict=False):
        yield Shown(board, "stars", part)


def _verdict(board: Board, part: Part) -> BoardVerdictView:
    """The verdict of a board; what the sentence says of the judge is shown as a badge instead."""
    sheet, state, reason = part.sheet, _trust(board), ""
    sentence, drawn = sheet.verdict, drawn_board(board, sheet)
    # The sentence ends with the judge's trust, here a badge, unless a warning says the same.
    if state and sentence == str(board.verdict.sentence):
        *statements, judge = board.verdict.sentence["statements"]
        sentence = str(Reason("verdict", statements=statements))
        reason = "; ".join(map(str, judge["clauses"]))
    ranked = any(row.rank is not None for row in board.rows)
    picture = part.figures[0].file if ranked else ""
    return BoardVerdictView(
        sheet.title, part.id, sentence, drawn, state, reason, picture, _to_decide(board)
    )


def _to_decide(board: Board) -> str:
    """A guess of how many items would tell the two leading models apart, "" if apart or unknown."""
    pair = next(iter(board.pairs), None)
    if isinstance(board, StarBoard) or pair is None or pair.apart is not False:
        return ""
    if pair.n_items < items_needed(level=board.level):  # no result could tell them apart
        return ""
    likely, least = items_to_tell_apart(
        pair.n_items, pair.p, len(board.verdict.tiers[0]), level=board.level
    )
    more = f" ({forecast(likely - pair.n_items)} more)" if math.isfinite(likely) else ""
    bound = f", {forecast(least)} at least" if least > pair.n_items else ""
    return (
        f"To tell {one_line(pair.above)} and {one_line(pair.below)} apart takes about "
        f"{forecast(likely)} items{more} if they differ as they seem to{bound}. This is a guess; "
        "about one such guess in three is within a factor of 2."
    )


def _title(contents: Contents) -> str:
    benchmarks = list(dict.fromkeys(entry.board.benchmark for entry in contents.entries))
    if not benchmarks and contents.contest is not None:
        benchmarks = list(contents.contest.benchmarks)
    if len(benchmarks) > 3:
        return f"Which model is better? {count(len(benchmarks), 'benchmark')}"
    return f"Which model is better? {', '.join(benchmarks)}"


# Sentences give up to this many names, and only the number of the others.
_NAMED: Final = 4


def _made(contents: Contents) -> Iterator[str]:
    boards = [entry.board for entry in contents.entries]
    sizes: dict[str, int] = {}
    for board in boards:
        sizes[board.benchmark] = max(board.n_items, sizes.get(board.benchmark, 0))
    if sizes:
        yield count(sum(sizes.values()), "item")
    if judges := list(dict.fromkeys(judge for board in boards for judge in board.judges)):
        yield f"judged by {listed(judges, most=_NAMED)}"
    days = sorted({log.created[:10] for log in contents.logs} - {""})
    if days:
        yield " to ".join(dict.fromkeys((days[0], days[-1])))


def overview_of(boards: Sequence[Shown]) -> Overview:
    """All boards of a page side by side, in one common order of models."""
    plain = [shown.board for shown in boards]
    order = list(dict.fromkeys(row.model for board in plain for row in board.rows))
    heads = (
        BoardVerdictView(
            one_line(name),
            shown.part.anchor,
            "",
            drawn_board(shown.board, shown.part.sheet, order),
            _trust(shown.board),
        )
        for name, shown in zip(_names(boards), boards, strict=True)
    )
    return Overview(tuple(_sentences(plain)), tuple(heads))


def _names(boards: Sequence[Shown]) -> list[str]:
    """Names that distinguish the boards: the protocol, the benchmark, or both."""
    if len({board.board.benchmark for board in boards}) == 1:
        return [board.name for board in boards]
    if len({board.name for board in boards}) == 1:
        return [board.board.benchmark for board in boards]
    return [f"{board.board.benchmark} · {board.name}" for board in boards]


def _trust(board: Board) -> str:
    return board.verdict.trust.state if board.judges else ""


def _sentences(boards: Sequence[Board]) -> Iterator[str]:
    """Which model is first on how many boards, and how far their judges can be trusted."""
    ranked = [board for board in boards if board.rows]
    first = Counter(row.model for board in ranked for row in board.rows if row.rank == 1)
    even = sum(len(board.verdict.tiers) < 2 for board in ranked)
    if even == len(ranked) > 0:
        none = "Neither board" if even == 2 else f"None of the {even} boards"
        yield f"{none} tells any two models apart, so no order below is a ranking."
    elif first:
        yield _first(ranked, first)
        if even:
            yield f"On {even} of them no two models are told apart."
    trust = Counter(state for board in boards if (state := _trust(board)))
    if trust:
        states = ("fine", "unknown", "doubtful")
        counts = ", ".join(f"{state} on {trust[state]}" for state in states if trust[state])
        yield f"The judge is {counts} of {count(trust.total(), 'judged board')}."


def _first(boards: Sequence[Board], first: Counter[str]) -> str:
    model, times = min(first.items(), key=lambda pair: (-pair[1], pair[0]))
    if times == len(boards):
        all_boards = "both boards" if len(boards) == 2 else f"all {len(boards)} boards"
        alone = sum(board.verdict.tiers[:1] == ((model,),) for board in boards)
        some = {0: "none", len(boards): "each"}.get(alone, str(alone))
        apart = f"it is told apart from every other model on {some} of them"
        return f"{model} stands first on {all_boards}; {apart}."
    ordered = sorted(first.items(), key=lambda pair: (-pair[1], pair[0]))
    leaders = [f"{name} on {n}" for name, n in ordered[:_NAMED]]
    if len(ordered) > _NAMED:
        leaders.append(count(len(ordered) - _NAMED, "other model"))
    return f"No model stands first on all {len(boards)} boards: {', '.join(leaders)}."


def boarded(entries: Sequence[Entry]) -> list[Entry]:
    """The logs with a leaderboard of their own; logs by stars are joined (`star_boards`)."""
    return [entry for entry in entries if entry.board.placed_by != "stars"]


def leaderboards(entries: Sequence[Entry]) -> Iterator[Made]:
    """Ranks with their intervals, second views, the judge's reliability, tests of all pairs."""
    for entry in boarded(entries):
        sheet = leaderboard.board_sheet(entry.board, entry.name)
        sheet = sheet.plus(pairs_section(entry.board))
        yield sheet, [leaderboard_figure(entry.board)]


def star_boards(report: StarReport) -> Iterator[Made]:
    """Absolute, relative and subject scores; then benchmarks side by side."""
    for board in report.boards:
        sheet = stars.board_sheet(board).plus(pairs_section(board))
        yield sheet, [leaderboard_figure(board), subjects_figure(board)]
    if report.styles:
        yield stars.styles_sheet(report), []


def native_scores(entries: Sequence[Entry]) -> Iterator[Made]:
    """Native score against judged score."""
    for entry in entries:
        if entry.board.rule.asks is not None and len(entry.board.rows) > 1:
            yield _of(entry), [native_figure(entry.board)]


def rates_of_winning(entries: Sequence[Entry]) -> Iterator[Made]:
    """How often each model beats every other model."""
    for entry in entries:
        if entry.board.rule.asks is not None and entry.board.rows:
            rates = win_rates(entry.ranked, models=[row.model for row in entry.board.rows])
            sheet = _of(entry).plus(rates_section(rates))
            yield sheet, [win_rate_figure(_label(entry), rates)]


def protocols(compared: Comparison) -> Iterator[Made]:
    """Agreement with the reference and its price, over all benchmarks and for each."""
    picture: Pictures = [price_figure(compared)]
    *sheets, intervals = sheets_of(compared)
    notes = intervals.notes
    if compared.totals:
        yield sheets.pop().plus(notes=notes), picture
        picture, notes = [], ()
    for benchmark, sheet in zip(compared.benchmarks, sheets, strict=True):
        if len(benchmark.logs) > 1 or benchmark.orders:
            yield sheet.plus(*intervals.sections, notes=notes), picture
            picture = []


def contests(report: ContestReport) -> Iterator[Made]:
    """Expected wins, the cost of elimination, and the effect of changed scores."""
    [sheet] = contest.sheets_of(report)
    yield sheet, contest_figures(report)


def peer_reviews(report: PeerReport) -> Iterator[Made]:
    """Each peer review, then the comparison of sparse with full reviews."""
    *sheets, _ = sheets_of(report)
    yield from map(_review, report.reviews, sheets)
    yield from ((sparse, []) for sparse in sheets[len(report.reviews) :])


def people(aligned: Alignment) -> Iterator[Made]:
    """Each board or peer review against people; the first part has the pictures of all reviews."""
    reviewed = any(benchmark.order is None for benchmark in aligned.benchmarks)
    picture: Pictures = [alignment_figure(aligned), views_figure(aligned)] if reviewed else []
    _, *sheets, legend = sheets_of(aligned)
    notes = legend.notes
    for sheet in sheets:
        subtitle = (*sheet.subtitle, f"people: {aligned.source}")
        yield replace(sheet, subtitle=subtitle).plus(*legend.sections, notes=notes), picture
        picture, notes = [], ()


def receipts(entries: Sequence[Entry], notes: Sequence[str]) -> Iterator[Made]:
    """The cost of all logs together, notes on what was left out, and the bill of each log."""
    bills = [entry.board.receipt for entry in entries]
    lines = []
    if len(bills) > 1:
        paid = [bill.paid for bill in bills]
        known = [amount for amount in paid if amount is not None]
        lines.append(
            f"{sum(bill.n_calls for bill in bills):,} calls, of which "
            f"{sum(bill.n_cached for bill in bills):,} from the cache · paid "
            f"{money(sum(known) if len(known) == len(paid) else None)}"
        )
    total = [Section.of(lines=lines)] if lines else []
    yield Sheet("All logs together").plus(*total, notes=notes), []
    for entry in entries:
        if entry.board.judges:
            yield _of(entry).plus(*leaderboard.bill_sections(entry.board)), []


def _review(review: PeerReview, sheet: Sheet) -> Made:
    if review.panel.degree is not None:
        sheet = replace(sheet, title=f"{sheet.title} · degree {review.panel.degree}")
    draw = (review_matrix_figure, self_preference_figure, reviewer_boxes_figure)
    return sheet, [figure(review) for figure in draw]


def _of(entry: Entry) -> Sheet:
    return Sheet(_label(entry), (f"log: {entry.board.log}",))


def _label(entry: Entry) -> str:
    """Benchmark and protocol, with the number of the run if there are several."""
    return f"{entry.board.benchmark} · {entry.name}"


def pairs_section(board: Leaderboard | StarBoard) -> Section:
    """The matrix of differences between all pairs of models; empty with fewer than two models.

    A cell holds the score of the row's model minus that of the column's, and below it the p-value,
    adjusted for all pairs.
    """
    models = [row.model for row in board.rows]
    pairs = {(pair.above, pair.below): pair for pair in board.pairs}
    # Scores by stars are out of 100.
    digits = 2 if isinstance(board, StarBoard) else 3
    legend = (
        "A cell: the score of the row's model minus that of the column's; below it the p-value, "
        f"adjusted for all pairs. * told apart ({board.level * 100:g}% for all pairs together)."
    )
    table = _matrix(
        models,
        lambda i, j: _difference(pairs, models[i], models[j], digits),
        "Differences between all pairs of models",
    )
    return Section.of(table, legend=[legend]) if pairs else Section.of()


def rates_section(rates: WinRates) -> Section:
    """The matrix of win rates, folded; a cell has the rate and the number of results behind it."""
    noun = "matches" if rates.by == "matches" else "items"

    def cell(i: int, j: int) -> Cell:
        if not rates.n[i, j]:
            return Cell(UNDEFINED if i != j else "")
        rate = float(rates.rate[i, j])
        return Cell(percent(rate), rate, under=f"{rates.n[i, j]:,}")

    table = _matrix(rates.models, cell, f"Win rates, and the number of {noun} behind each")
    return Section.of(replace(table, folded=True))


def _matrix(models: Sequence[str], cell: Callable[[int, int], Cell], caption: str) -> Table:
    # Columns have the number of their row: names above 30 columns would not fit on any screen.
    columns = [Column(f"{n}.", meaning=model) for n, model in enumerate(models, start=1)]
    rows = [
        (words(f"{i + 1}. {model}"), *(cell(i, j) for j in range(len(models))))
        for i, model in enumerate(models)
    ]
    return Table.of((model_names(), *columns), rows, caption)


def _difference(
    pairs: Mapping[tuple[str, str], Pair[str]], model: str, other: str, digits: int
) -> Cell:
    pair, sign = pairs.get((model, other)), 1
    if pair is None:
        pair, sign = pairs.get((other, model)), -1
    if pair is None or math.isnan(pair.difference):
        return Cell(UNDEFINED if model != other else "")
    shown = signed(sign * pair.difference, digits)
    star = "*" if pair.apart else ""
    tone: Tone = ("good" if sign * pair.difference > 0 else "bad") if pair.apart else ""
    below = UNDEFINED if math.isnan(pair.p_adjusted) else p_value(pair.p_adjusted)
    return Cell(f"{shown.text}{star}", shown.key, tone, below)


# Names up to this many letters are short, and of medium length.
_SHORT, _MEDIUM = 12, 26


def drawn_board(
    board: Leaderboard | StarBoard, sheet: Sheet, order: Sequence[str] = ()
) -> DrawnBoard:
    """A drawn board; its numbers are the first table of `sheet`. Models of `order` come first.

    The axis always is the full scale, 0 to 1, or 0 to 100 for stars, so that boards side by side
    can be compared.
    """
    placed: Sequence[LeaderboardRow | StarRow] = board.rows
    models = [row.model for row in placed]
    natives, tiers = natives_on_axis(board), board.verdict.tiers
    bars, numbers = lanes(tiers, models), _numbers(sheet)
    top, digits = (100, 1) if isinstance(board, StarBoard) else (1, 3)
    rows = {
        row.model: BoardRow(
            place=whole(row.rank),
            model=one_line(row.model),
            score=decimal(row.value, digits),
            ranks=_ranks(row.rank_lower, row.rank_upper),
            value=_percent(row.value / top),
            lower=_percent(row.lower / top),
            upper=_percent(row.upper / top),
            native=_percent(natives.get(row.model, math.nan)),
            bars=tuple(_bar(place, lane) for lane in bars),
            leads=len(tiers) > 1 and row.model in tiers[0],
            numbers=next(numbers, ""),
        )
        for place, row in enumerate(placed)
    }
    longest = max(map(columns, models), default=0)
    return DrawnBoard(
        tuple(rows[model] for model in dict.fromkeys([*order, *models]) if model in rows),
        tuple((f"{top * step / 4:g}", f"{25 * step}%") for step in range(5)),
        "short" if longest <= _SHORT else "medium" if longest <= _MEDIUM else "long",
        " · ".join(_marks(board, native=bool(natives), aside=bool(order))),
    )


def _marks(board: Leaderboard | StarBoard, *, native: bool, aside: bool) -> Iterator[str]:
    score = "score by stars" if isinstance(board, StarBoard) else "Borda score"
    yield f"Dot: {score}, line: its {board.level * 100:g}% interval"
    if native:
        yield "Diamond: native score"
    if any(len(tier) > 1 for tier in board.verdict.tiers):
        tiers = "Shaded: the first tier" if aside else "Bars: tiers"
        yield f"{tiers}, in which no two models are told apart"


def _percent(share: float) -> str:
    return "" if math.isnan(share) else f"{share * 100:.4g}%"


def _ranks(lower: int | None, upper: int | None) -> str:
    shown = ranks(lower, upper)
    return "" if shown == UNDEFINED else f"rank{'s' if lower != upper else ''} {shown}"


def _bar(row: int, lane: Sequence[tuple[int, int]]) -> str:
    """CSS class of a lane of tiers in a row: "", or "first", "on", "last", "alone" in a tier."""
    for first, last in lane:
        if first <= row <= last:
            return "alone" if first == last else {first: "first", last: "last"}.get(row, "on")
    return ""


def _numbers(sheet: Sheet) -> Iterator[str]:
    """Each row of the first table as text: "Borda 0.733 · 95% interval 0.643–0.817 · …"."""
    tables = [section.table for section in sheet.sections if section.table]
    for table in tables[:1]:
        for cells in table.rows:
            pairs = list(zip(table.headings, cells, strict=True))[2:]
            yield " · ".join(f"{heading} {cell.text}" for heading, cell in pairs)
