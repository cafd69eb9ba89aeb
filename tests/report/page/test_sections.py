"""The page of a report: which parts it has, and that it says what the terminal says."""

import dataclasses
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.analysis.alignment.panels import people
from tests.analysis.test_contests import report as contest
from tests.analysis.whole import told
from tests.cases import cases, some
from tests.expected import check
from tests.ranking_logs.builders import bracket, item, listed, match, starred, write_shards
from tests.report.figures.samples import row
from tests.report.page.logs import Folder, page_in, page_of, small, whole
from tests.report.showing import printed
from tiebreak.rankers import Resampling
from tiebreak.report.page.build import render
from tiebreak.report.page.contents import Contents, contents_of, shortener
from tiebreak.report.page.sections import Shown, overview_of
from tiebreak.report.page.view import Page, Part
from tiebreak.report.sheet import Sheet
from tiebreak.report.sheets import alignment, comparison, leaderboard, peers, stability
from tiebreak.report.sheets import contest as contest_sheet

# Where to look on, what a table is about, headings that the terminal breaks in two.
TERMINAL_ONLY = {
    *("Who", "favours", "panel", "is", "worth:", "tiebreak", "peers", "LOG", "what"),
    *("Alignment", "people:", "how", "distributed", "correlations", "correlation", "log:"),
    *("Un-", "scored", "Bradley–", "Terry", "All:", "All", "item:", "each", "beside"),
}


@pytest.fixture(scope="module")
def contents(tmp_path_factory: pytest.TempPathFactory) -> Contents:
    folder = whole(tmp_path_factory.mktemp("logs"))
    return contents_of(
        [folder],
        human=people("abc"),
        contest=contest(eliminate=(0, 1), spoil="ada=maths"),
        how=Resampling(draws=100),
    )


@pytest.fixture(scope="module")
def everything(contents: Contents) -> Page:
    return page_of(contents)


def parts(page: Page) -> dict[str, list[Part]]:
    return {section.id: list(section.parts) for section in page.sections}


def test_what_stands_where(everything: Page) -> None:
    items = some(everything.items)
    parts = [
        (section.id, part.id, part.sheet.title, part.folded, [one.file for one in part.figures])
        for section in everything.sections
        for part in section.parts
    ]
    rows = [[cell.text for cell in row.cells] for row in items.rows]
    columns = [column.heading for column in items.columns]
    at_top = replace(everything, sections=(), items=None)
    assert everything.warned
    shown = {"page": at_top, "warned": [(title, part.id) for title, part in everything.warned]}
    shown |= {"parts": parts, "lead": items.lead, "items": [columns, *rows]}
    check(__file__, "page.txt", told(shown))


@pytest.mark.slow
def test_sections_that_do_not_apply_are_left_out(tmp_path: Path) -> None:
    one = page_in(small(tmp_path))
    assert [section.id for section in one.sections] == [
        *("leaderboards", "native", "winrates", "stability"),
    ]
    alone = page_of(Contents(contest=contest()))
    assert [section.id for section in alone.sections] == ["csd"]
    assert alone.items is None
    assert page_of(Contents()).sections == ()


def test_nothing_is_empty(everything: Page) -> None:
    assert all(section.lead for section in everything.sections)
    for part in (part for section in everything.sections for part in section.parts):
        sheet = part.sheet
        assert part.figures or part.tabled or part.lines or sheet.notes
        tables = [section.table for section in part.tabled]
        assert all(table and table.rows and table.caption for table in tables)
        assert all((sheet.title, *part.lines, *sheet.notes, *sheet.warnings))


def test_ids_are_unique(everything: Page) -> None:
    found = Counter(ids(everything))
    assert found.most_common(1)[0][1] == 1
    assert all(id.replace("-", "").isalnum() and id.isascii() for id in found)


def ids(page: Page) -> Iterator[str]:
    for section in page.sections:
        yield section.id
        for part in section.parts:
            yield part.id
            yield from (f"{part.id}-table-{n}" for n, _ in enumerate(part.tabled, start=1))
            yield from (figure.id for figure in part.figures)


def words(text: str) -> set[str]:
    return set(text.replace("WARNING:", " ").replace("Note:", " ").split())


def texts_of(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | tuple):
        for one in value:
            yield from texts_of(one)
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            if field.name != "svg":
                yield from texts_of(getattr(value, field.name))


@pytest.mark.slow
def test_it_says_what_the_terminal_says(contents: Contents, everything: Page) -> None:
    assert contents.comparison
    assert contents.peers
    assert contents.alignment
    assert contents.stability
    assert contents.contest
    sheets = [
        *leaderboard.sheets_of([entry.board for entry in contents.entries]),
        *comparison.sheets_of(contents.comparison),
        *peers.sheets_of(contents.peers),
        *alignment.sheets_of(contents.alignment),
        *stability.sheets_of(contents.stability),
        *contest_sheet.sheets_of(contents.contest),
    ]
    shown = words(" ".join(texts_of(everything)))
    left = {word for word in words(printed(sheets, 300)) - shown if not set(word) <= set("─╶╴ ")}
    assert left <= TERMINAL_ONLY


@pytest.mark.slow
def test_warnings_stand_once_beside_their_board(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    biased = [match("a", "b", 0.5, first="a"), match("b", "c", 0.5, first="b")]
    for _ in range(2):
        folder.add([item(f"q{n}", [*biased, *biased]) for n in range(12)])
    found = page_in(tmp_path)
    first, second = parts(found)["leaderboards"]
    for part in (first, second):
        assert sum("the answer shown first won" in text for text in part.sheet.warnings) == 1
    # No other section says again what the boards say, and neither does the verdict.
    text = render(found)
    assert text.count("the answer shown first won") == 2
    more = f" ({len(first.sheet.warnings)})" if len(first.sheet.warnings) > 1 else ""
    title = "Leaderboards: gsm8k · seal · 12 items"
    assert f'<a href="#{first.id}"><bdi>{title}</bdi></a>{more},' in text


@pytest.mark.parametrize(("boards", "said"), cases(__file__, "what_all_boards_say"))
def test_what_all_boards_say(boards: list[tuple[str, bool, str]], said: str) -> None:
    made = []
    for models, apart, trust in boards:
        rows = [row(k, m, 0.5) for k, m in enumerate(models, 1)]
        tiers = tuple((m,) for m in models) if apart else (tuple(models),)
        verdict = SimpleNamespace(tiers=tiers, trust=SimpleNamespace(state=trust))
        about = {"benchmark": "x", "protocol": "p", "level": 0.95, "judges": trust and ("j",)}
        made.append(SimpleNamespace(rows=rows, verdict=verdict, **about))
    part = Part("p", Sheet())
    shown: list[Any] = [Shown(board, f"p{k}", part) for k, board in enumerate(made)]  # type: ignore[arg-type]
    found = overview_of(shown)
    assert " ".join(found.sentences) == said
    assert [head.title for head in found.boards][:2] == ["p0", "p1"]


@pytest.mark.slow
def test_logs_judged_by_stars_are_one_board(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.add([bracket(f"q{n}", "a", "b", "c", benchmark="mmlu") for n in range(12)])
    for model, stars in (("a", 3), ("b", 1)):
        folder.add([starred(f"q{n}", {model: stars}, subject=f"s{n % 2}") for n in range(12)])
    found = page_in(tmp_path)
    shown = parts(found)
    assert len(shown["leaderboards"]) == 1
    [board] = shown["stars"]
    assert len(board.figures) == 2
    assert [verdict.part for verdict in found.verdicts] == [shown["leaderboards"][0].id, board.id]
    assert found.verdicts[1].sentence.startswith("a is first")
    assert "winrates" in shown
    assert board.id in render(found)


@pytest.mark.slow
@pytest.mark.parametrize(("names", "tiers"), cases(__file__, "tiers of many are places"))
def test_tiers_of_many_are_places(names: str, tiers: tuple[str, ...], tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    alone = [[name] for name in names]
    folder.add([listed(f"q{n}", [["a"], [*names[1:]]], groups=alone) for n in range(20)])
    found = page_in(tmp_path)
    [line] = [line for line in found.sections[0].parts[0].tabled[0].legend if "Tiers" in line]
    assert line.partition(": ")[2] == " · ".join(tiers)


@pytest.mark.slow
def test_pairs_of_models_are_a_matrix(contents: Contents, everything: Page) -> None:
    board, part = contents.entries[0].board, parts(everything)["leaderboards"][0]
    table = some(part.tabled[-1].table)
    models = [row.model for row in board.rows]
    assert [column.meaning for column in table.columns[1:]] == models
    for pair in board.pairs:
        i, j = models.index(pair.above), models.index(pair.below)
        above, below = table.rows[i][j + 1], table.rows[j][i + 1]
        assert above.key == pytest.approx(pair.difference)
        assert below.key == pytest.approx(-pair.difference)
        assert above.text.endswith("*") == below.text.endswith("*") == bool(pair.apart)
        assert above.under == below.under


@pytest.mark.slow
@pytest.mark.parametrize(("title", "shown"), cases(__file__, "titles"))
def test_titles(tmp_path: Path, title: str | None, shown: str) -> None:
    assert page_in(small(tmp_path), title=title).title == shown


@pytest.mark.slow
def test_hostile_names_are_clean_in_every_cell_and_sentence(tmp_path: Path) -> None:
    name = "x\u202e\x1b[31m\x00</script>"
    Folder(tmp_path).add([bracket(f"q\x07{n}", name, "b", "c") for n in range(3)])
    found = page_in(tmp_path)
    text = render(found)
    assert "x‹U+202E›‹U+001B›[31m‹U+0000›&lt;/script&gt;" in text
    assert all(char.isprintable() or char in "\n\t" for char in text)
    assert found.items is not None
    assert all(cell.text.isprintable() for row in found.items.rows for cell in row.cells)


@pytest.mark.slow
def test_an_item_has_the_same_address_in_the_next_report(tmp_path: Path) -> None:
    addresses = []
    for folder, n in (("first", range(3, 6)), ("next", range(8))):
        (tmp_path / folder).mkdir()
        Folder(tmp_path / folder).add([bracket(f"Q {k}", "a", "b", "c") for k in n])
        items = some(page_in(tmp_path / folder).items)
        addresses.append({row.cells[0].text: row.anchor for row in items.rows})
    first, later = addresses
    assert first.items() <= later.items()
    assert len(set(later.values())) == 8
    assert later["Q 3"].startswith("gsm8k-q-3")


def test_the_longest_path_counts() -> None:
    names = {"/a/b": "b", "/a/b/c.eval": "c.eval", "/a/b/c.eval.old": "old"}
    for order in (names, dict(reversed(names.items()))):
        assert shortener(order)("/a/b/c.eval.old, /a/b/c.eval, /a/b") == "old, c.eval, b"


@pytest.mark.slow
def test_no_path_is_in_the_page(tmp_path: Path) -> None:
    folder = whole(tmp_path / "Secret" / "logs")
    # Left out, and noted: an older attempt at the first log's task, and a file that is no log.
    shutil.copy(folder / "1.eval", folder / "older.eval")
    (folder / "broken.eval").write_text("no zip")
    ranking = people("abc")
    contents = contents_of([folder], human=ranking, how=Resampling(draws=100))
    page = page_of(contents)
    shown = list(texts_of(page.sections))
    assert not [text for text in shown if "Secret" in text]
    notes = [text for text in shown if "left out" in text.lower()]
    assert any("older.eval" in text for text in notes)
    assert any(" broken.eval cannot be read" in text for text in notes)
    assert any("log: 2.eval" in text for text in shown)
    assert page.items is not None
    assert "Secret" not in str(page.items.index)
    assert "'log': '2.eval'" in str(page.items.index)


@pytest.mark.slow
def test_the_working_directory_no_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = small(tmp_path / "logs")
    (folder / "broken.eval").write_text("no zip")
    pages = []
    for here in (tmp_path, folder, tmp_path.parent):
        monkeypatch.chdir(here)
        page = page_in(folder)
        pages.append(render(page))
    assert pages[0] == pages[1] == pages[2]


@pytest.mark.slow
def test_shards(tmp_path: Path) -> None:
    write_shards(tmp_path / "logs", [[bracket(f"q{n}", "a", "b", "c")] for n in range(4)])
    page = page_in(tmp_path / "logs")
    [part] = page.sections[0].parts
    assert part.sheet.subtitle[0].endswith("log: (4 shards: 1.eval, …, 4.eval)")


@pytest.mark.parametrize(("text", "said"), cases(__file__, "short_texts"))
def test_short_texts(text: str, said: str) -> None:
    short = shortener({"/a/b/x.eval": "x.eval", "/a/b/": "", "/a/b/y z.eval": "y z.eval"})
    assert short(text) == said
    assert shortener({})(text) == text
