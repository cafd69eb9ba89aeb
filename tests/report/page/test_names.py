"""File names for paths: no folder of the reader's machine gets into a page."""

import shutil
from pathlib import Path

import pytest

from tests.analysis.alignment.panels import people
from tests.cases import cases
from tests.ranking_logs.builders import bracket, write_shards
from tests.report.page.logs import small, whole
from tests.report.page.test_sections import texts_of
from tiebreak.rankers import Resampling
from tiebreak.report.page.build import render
from tiebreak.report.page.contents import contents_of, shortener
from tiebreak.report.page.items import Shelf
from tiebreak.report.page.sections import page_of
from tiebreak.report.page.view import Gallery


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
    page = page_of(contents, Gallery(), Shelf(), version="1")
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
def test_the_working_directory_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = small(tmp_path / "logs")
    (folder / "broken.eval").write_text("no zip")
    pages = []
    for here in (tmp_path, folder, tmp_path.parent):
        monkeypatch.chdir(here)
        page = page_of(
            contents_of([folder], how=Resampling(draws=100)), Gallery(), Shelf(), version="1"
        )
        pages.append(render(page))
    assert pages[0] == pages[1] == pages[2]


@pytest.mark.slow
def test_shards(tmp_path: Path) -> None:
    write_shards(tmp_path / "logs", [[bracket(f"q{n}", "a", "b", "c")] for n in range(4)])
    page = page_of(
        contents_of([tmp_path / "logs"], how=Resampling(draws=100)), Gallery(), Shelf(), version="1"
    )
    [part] = page.sections[0].parts
    assert part.sheet.subtitle[0].endswith("log: (4 shards: 1.eval, …, 4.eval)")


@pytest.mark.parametrize(("text", "said"), cases(__file__, "short_texts"))
def test_short_texts(text: str, said: str) -> None:
    short = shortener({"/a/b/x.eval": "x.eval", "/a/b/": "", "/a/b/y z.eval": "y z.eval"})
    assert short(text) == said
    assert shortener({})(text) == text
