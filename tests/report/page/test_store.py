"""The embedded store: what goes in comes out, whatever the texts are, and cannot leave its tag."""

import base64
import gzip
import json
import math
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cases import cases
from tiebreak.report.page.items import ChunkWriter, pack, remove_earlier, unpack

# All code points, lone surrogates and NUL among them, and what ends or opens things in HTML.
TEXTS = st.one_of(
    st.text(st.characters()),
    st.text(st.sampled_from("</script><!---->&\"'\\\x00\r\n\u2028\ud800\udfff\U0001f600")),
)
STORIES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(2**53), 2**53), TEXTS),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(TEXTS, inner, max_size=4)),
    max_leaves=12,
)


def joined(text: str) -> str:
    """A text as JSON means it: two surrogates that fit together are one character."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


def packed(stories: list[dict[str, Any]]) -> list[str]:
    """The chunks of some stories."""
    chunks: list[str] = []
    pack(stories, chunks.append)
    return chunks


def as_json_means(value: Any) -> Any:
    if isinstance(value, str):
        return joined(value)
    if isinstance(value, list):
        return [as_json_means(one) for one in value]
    if isinstance(value, dict):
        return {joined(key): as_json_means(one) for key, one in value.items()}
    return value


@pytest.mark.slow
@settings(deadline=None, max_examples=80)
@given(st.lists(st.dictionaries(st.sampled_from("ab"), STORIES), max_size=6), st.integers(1, 200))
def test_what_goes_in_comes_out(stories: list[dict[str, Any]], size: int) -> None:
    chunks: list[str] = []
    starts, _ = pack(stories, chunks.append, size=size)
    found: list[Any] = []
    for (first, number), chunk in zip(starts, chunks, strict=True):
        assert (first, chunks[number]) == (len(found), chunk)
        found += unpack(chunk)
    assert found == as_json_means(stories)


@settings(deadline=None, max_examples=80)
@given(st.lists(st.lists(TEXTS, max_size=4), max_size=12), st.integers(1, 200))
def test_texts_are_where_their_numbers_say(items: list[list[str]], size: int) -> None:
    chunks: list[str] = []
    packed = pack([{"texts": texts} for texts in items], chunks.append, size=size)
    texts, stories = (
        [piece for first, chunk in starts for piece in unpack(chunks[chunk])]
        for starts in (packed.texts, packed.stories)
    )
    assert [[texts[n] for n in story["texts"]] for story in stories] == as_json_means(items)
    assert sorted(chunk for starts in packed for _, chunk in starts) == [*range(len(chunks))]


def test_a_text_stands_once_among_the_chunks_that_an_item_may_need() -> None:
    # Every text but "often" fills a chunk; the last item is out of reach of the first chunk.
    items = [["often", f"{n} {'x' * 100}"] for n in range(6)]
    chunks: list[str] = []
    _, starts = pack([{"texts": texts} for texts in items], chunks.append, size=100)
    held = [unpack(chunks[chunk]) for _, chunk in starts]
    assert ["often" in texts for texts in held] == [True, False, False, False, False, True]


@settings(deadline=None, max_examples=50)
@given(TEXTS)
def test_a_chunk_cannot_leave_its_tag(text: str) -> None:
    [chunk] = packed([{"task": text}])
    assert re.fullmatch("[A-Za-z0-9+/]+=*", chunk)
    # What a browser does: bytes, gunzip, strict UTF-8, JSON.
    gzip.decompress(base64.b64decode(chunk)).decode("utf-8")


@pytest.mark.parametrize(("lengths", "places"), cases(__file__, "where_chunks_end"))
def test_where_chunks_end(lengths: list[int], places: list[int]) -> None:
    chunks: list[str] = []
    starts, _ = pack(({"t": "x" * n} for n in lengths), chunks.append, size=100)
    assert [sum(first <= n for first, _ in starts) - 1 for n in range(len(lengths))] == places
    assert len(chunks) == len(set(places))


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_numbers_that_json_does_not_have(number: float) -> None:
    for text in ("plain", "\ud800"):
        [chunk] = packed([{"margin": number, "deep": [0.5, number], "text": text}])
        assert unpack(chunk)[0] == {"margin": None, "deep": [0.5, None], "text": text}


def test_the_same_bytes() -> None:
    stories = [{"task": "What?", "margin": 0.25}] * 3
    assert packed(stories) == packed(json.loads(json.dumps(stories)))


@pytest.mark.parametrize(("lengths", "most", "in_page", "n_files"), cases(__file__, "shelves"))
def test_in_the_page_or_beside_it(
    tmp_path: Path, lengths: list[int], most: int, in_page: int, n_files: int
) -> None:
    chunks = [letter * length for letter, length in zip("abcd", lengths, strict=False)]
    shelf = ChunkWriter(tmp_path / "report", most=most)
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
    shelf = ChunkWriter(most=1)
    shelf.put("abc")
    assert (shelf.chunks, shelf.names, shelf.summary) == (["abc"], [], "")


def shelf_of(folder: Path, *chunks: str) -> ChunkWriter:
    shelf = ChunkWriter(folder, most=0)
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
    remove_earlier(ChunkWriter(tmp_path), tmp_path)
    (tmp_path / "items").mkdir()
    remove_earlier(ChunkWriter(tmp_path), tmp_path)
    assert (tmp_path / "items").exists()
    shelf_of(tmp_path, "a")
    remove_earlier(ChunkWriter(tmp_path), tmp_path)
    assert not (tmp_path / "items").exists()
