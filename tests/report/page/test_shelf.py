"""The shelf: chunks stay in the page until they are too much for it, and then are scripts."""

import re
from pathlib import Path

import pytest

from tiebreak.report.page.items import Shelf, remove_earlier


@pytest.mark.parametrize(
    ("lengths", "most", "in_page", "n_files"),
    [
        ([], 10, 0, 0),
        ([5, 5], 10, 2, 0),
        # All of them, as soon as they are too long together.
        ([5, 6], 10, 0, 2),
        ([5, 6, 1, 1], 10, 0, 4),
        ([11], 10, 0, 1),
    ],
)
def test_in_the_page_or_beside_it(
    tmp_path: Path, lengths: list[int], most: int, in_page: int, n_files: int
) -> None:
    chunks = [letter * length for letter, length in zip("abcd", lengths, strict=False)]
    shelf = Shelf(tmp_path / "report", most=most)
    for chunk in chunks:
        shelf.put(chunk)
    assert shelf.chunks == (chunks if in_page else [])
    assert len(shelf.files) == n_files
    assert (tmp_path / "report").exists() is bool(n_files)
    for number, (file, name) in enumerate(zip(shelf.files, shelf.names, strict=True)):
        assert file == tmp_path / "report" / name
        assert re.fullmatch(rf"items/000{number}-[0-9a-f]{{16}}\.js", name)
        assert file.read_text() == f'tiebreak.part({number},"{chunks[number]}");\n'


def test_without_a_folder_all_is_in_the_page() -> None:
    shelf = Shelf(most=1)
    shelf.put("abc")
    assert (shelf.chunks, shelf.names, shelf.summary) == (["abc"], [], "")


def shelf_of(folder: Path, *chunks: str) -> Shelf:
    shelf = Shelf(folder, most=0)
    for chunk in chunks:
        shelf.put(chunk)
    return shelf


def test_what_nobody_but_an_earlier_report_wrote_is_removed(tmp_path: Path) -> None:
    earlier = shelf_of(tmp_path, "a", "b", "c").files
    changed = earlier[2]
    changed.write_text("mine")
    folder = tmp_path / "items"
    others = [
        folder / "mine.js",
        folder / f"9999-{'0' * 16}.js",
        folder / f"{earlier[0].stem}.js.map",
        folder / "0000-0123456789abcdef.js",
    ]
    for path in others[:-1]:
        path.write_bytes(earlier[0].read_bytes())
    others[-1].mkdir()
    now = shelf_of(tmp_path, "a", "x")
    remove_earlier(now, tmp_path)
    assert set(folder.iterdir()) == {*now.files, *others, changed}
    assert earlier[0] == now.files[0]


def test_a_folder_that_is_empty_then_goes_as_well(tmp_path: Path) -> None:
    remove_earlier(Shelf(tmp_path), tmp_path)
    (tmp_path / "items").mkdir()
    remove_earlier(Shelf(tmp_path), tmp_path)
    assert (tmp_path / "items").exists()
    shelf_of(tmp_path, "a")
    remove_earlier(Shelf(tmp_path), tmp_path)
    assert not (tmp_path / "items").exists()
