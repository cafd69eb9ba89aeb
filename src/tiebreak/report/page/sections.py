"""From the contents of a report to its page: which sections there are, and what leads into them."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from tiebreak.report.page import parts
from tiebreak.report.page.contents import Contents
from tiebreak.report.page.gallery import Gallery
from tiebreak.report.page.items import items_view
from tiebreak.report.page.overview import Board, Shown, overview_of
from tiebreak.report.page.parts import Made
from tiebreak.report.page.shelf import Shelf
from tiebreak.report.page.view import Found, Page, PageSection, Part, Warned
from tiebreak.report.sheet import one_line
from tiebreak.report.sheets.leaderboard import tiers_of
from tiebreak.words import count

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
        "The benchmark's own score beside what the judges found. Models that share a native score "
        "are what judging is there to tell apart.",
    ),
    "winrates": (
        "Win rates",
        "How often the model of a row beats the model of a column; a tie counts one half. "
        "These are shares of what was played; whether two models differ, the tests of the "
        "leaderboard say.",
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
        "Models that rank each other's answers without knowing whose they are, and their own.",
    ),
    "people": (
        "Alignment with people",
        "Whether reviewers, aggregators, the four views and the native score rank models as "
        "people do.",
    ),
    "stability": (
        "Stability",
        "Whether a ranking is an accident of its items or of its run: leaderboards of random parts "
        "of the items against that of all, and repeated runs against each other.",
    ),
    "receipt": ("Receipt", "What was asked, and what it cost."),
}


def page_of(
    contents: Contents, gallery: Gallery, shelf: Shelf, *, version: str, title: str | None = None
) -> Page:
    """The page of a report; its pictures hang in the gallery, and its items stand on the shelf.

    Args:
        contents: what the report is about.
        gallery: an empty one.
        shelf: an empty one.
        version: of this package.
        title: the page's; by default it names the benchmarks.

    Raises:
        MissingPackageError: matplotlib is not installed.
    """
    sections = tuple(sections_of(contents, gallery))
    boards = list(_boards(contents, sections))
    return Page(
        title=one_line(title or _title(contents)),
        version=version,
        created=_created(contents),
        verdicts=tuple(_verdict(one.board, one.part) for one in boards),
        overview=overview_of(boards) if len(boards) > 1 else None,
        warnings=tuple(_warnings(sections)),
        sections=sections,
        items=items_view(contents, shelf),
    )


def sections_of(contents: Contents, gallery: Gallery) -> Iterator[PageSection]:
    """The sections that have a part, in the order of the page; several parts are folded."""
    said: set[str] = set()
    for id, found in _found(contents):
        made = [(sheet, gallery.hang(pictures)) for sheet, pictures in found]
        shown = [(s, pictures) for s, pictures in made if pictures or s.sections or s.notes]
        parts = []
        for number, (sheet, pictures) in enumerate(shown, start=1):
            # What the section before has warned of is not said again.
            new = replace(sheet, warnings=tuple(w for w in sheet.warnings if w not in said))
            folded = len(shown) > 1 and bool(pictures or any(one.table for one in sheet.sections))
            parts.append(Part(f"{id}-{number}", new, pictures, folded))
        said.update(warning for sheet, _ in shown for warning in sheet.warnings)
        if parts:
            yield PageSection(id, *_HEADINGS[id], tuple(parts))


def _found(contents: Contents) -> Iterator[tuple[str, Iterable[Made]]]:
    entries, notes = contents.entries, contents.notes
    yield "leaderboards", parts.leaderboards(entries)
    if contents.stars is not None:
        yield "stars", parts.star_boards(contents.stars)
    yield "native", parts.native_scores(entries)
    yield "winrates", parts.rates_of_winning(entries)
    if contents.comparison is not None:
        yield "protocols", parts.protocols(contents.comparison)
    if contents.contest is not None:
        yield "csd", parts.contests(contents.contest)
    if contents.peers is not None:
        yield "peers", parts.peer_reviews(contents.peers)
        notes += contents.peers.notes
    if contents.alignment is not None:
        yield "people", parts.people(contents.alignment)
    if contents.stability is not None:
        yield "stability", parts.stabilities(contents.stability)
    yield "receipt", parts.receipts(entries, notes)


def _boards(contents: Contents, sections: Iterable[PageSection]) -> Iterator[Shown]:
    """Every leaderboard and star board."""
    shown = {section.id: section.parts for section in sections}
    own = parts.boarded(contents.entries)
    for entry, part in zip(own, shown.get("leaderboards", ()), strict=True):
        yield Shown(entry.board, entry.name, part)
    # Benchmarks side by side come last, and have no verdict of their own.
    joined = contents.stars.boards if contents.stars else ()
    for board, part in zip(joined, shown.get("stars", ()), strict=False):
        yield Shown(board, "stars", part)


def _verdict(board: Board, part: Part) -> Found:
    """What a board found: without what its first warning, which stands beside it, repeats."""
    sheet, trust = part.sheet, board.verdict.trust.state if board.judges else ""
    return Found(sheet.title, part.id, sheet.verdict, tiers_of(board), trust)


def _warnings(sections: Iterable[PageSection]) -> Iterator[Warned]:
    """Which parts have warnings, and how many."""
    for section in sections:
        for part in section.parts:
            if part.sheet.warnings:
                # Warnings stand before what is folded.
                title = f"{section.title}: {part.sheet.title}"
                yield Warned(title, part.id, len(part.sheet.warnings))


def _title(contents: Contents) -> str:
    benchmarks = list(dict.fromkeys(entry.board.benchmark for entry in contents.entries))
    if not benchmarks and contents.contest is not None:
        benchmarks = list(contents.contest.benchmarks)
    if len(benchmarks) > 3:
        return f"Which model is better? {count(len(benchmarks), 'benchmark')}"
    return f"Which model is better? {', '.join(benchmarks)}"


def _created(contents: Contents) -> str:
    """The days on which the logs were made."""
    days = sorted({one_line(log.created[:10]) for log in contents.logs})
    return " to ".join(days if len(days) < 3 else (days[0], days[-1]))
