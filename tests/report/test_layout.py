"""Tables fit the width of a terminal: no line is wider, no word is split, names stay apart."""

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from tests.cases import cases
from tests.report.showing import printed
from tiebreak.report import latex, markdown
from tiebreak.report.cells import bounds, number, rank, words
from tiebreak.report.sheet import Column, Section, Sheet, Table, model_names, names
from tiebreak.report.terminal import common_prefix, fold, lay_out

WORDS = st.text("abcxyz0189模型é", min_size=1, max_size=9)
NAMES = st.lists(
    st.tuples(WORDS, st.sampled_from(["/", ":", "-", "_", ".", " "])), min_size=1, max_size=6
).map(lambda parts: "".join(word + separator for word, separator in parts)[:-1])
MODELS = st.lists(NAMES, min_size=1, max_size=5, unique=True)
COLUMNS = st.lists(
    st.builds(Column, NAMES, st.booleans(), st.booleans(), st.sampled_from([0, 6]),
              spare=st.integers(0, 3), short=st.sampled_from(["", "x", "a\nb"])),
    max_size=9,
)  # fmt: skip


@st.composite
def tables(draw: st.DrawFn) -> Table:
    models = draw(MODELS)
    columns = draw(COLUMNS)
    others = [[words(draw(NAMES)) for _ in columns] for _ in models]
    rows = [(words(model), *more) for model, more in zip(models, others, strict=True)]
    return Table.of((model_names(), *columns), rows)


def breaks(text: str, lines: list[str]) -> Iterator[tuple[str, str]]:
    """What stands before and after each line end of a folded text; all of the text is there."""
    for place, line in enumerate(lines):
        assert text.startswith(line)
        text = text.removeprefix(line)
        if place < len(lines) - 1:
            yield line[-1], text[0]
            text = text.removeprefix(" ")
    assert text == ""


def whole(text: str, lines: list[str]) -> bool:
    """Whether a text is folded at blanks, separators and ideographs alone."""
    return all(
        before in "/:-_." or after == " " or 2 in (cell_len(before), cell_len(after))
        for before, after in breaks(text, lines)
    )


@given(NAMES, st.integers(10, 40))
@settings(max_examples=200, deadline=None)
def test_a_name_folds_where_it_has_parts(name: str, width: int) -> None:
    lines = fold(name, width)
    assert max(map(cell_len, lines)) <= width
    assert whole(name, lines)


@given(tables(), st.integers(20, 130))
@settings(max_examples=40, deadline=None)
def test_no_line_is_wider_and_no_word_is_split(table: Table, width: int) -> None:
    shown = printed(Sheet("t", sections=(Section.of(table),)), width)
    assert max(map(cell_len, shown.splitlines())) <= width
    assert "…" not in shown
    layout = lay_out(table, width)
    for row, texts in zip(table.rows, layout.rows, strict=True):
        for place, text in zip(layout.columns, texts, strict=True):
            full = row[place].text.removeprefix(layout.prefix if place == 0 else "")
            assert full
            assert whole(full, text.split("\n"))
    shown_headings = [table.headings[place] for place in layout.columns]
    assert sorted((*shown_headings, *layout.left_out)) == sorted(table.headings)
    assert 0 in layout.columns


@given(MODELS, st.sampled_from(["", "openai/", "openai/gpt-", "a.b-"]))
@settings(max_examples=150, deadline=None)
def test_a_prefix_leaves_every_name_something(models: list[str], start: str) -> None:
    given_names = [start + model for model in models]
    prefix = common_prefix([*given_names, "–", ""])
    assert all(name.startswith(prefix) and name != prefix for name in given_names)
    assert prefix == "" or prefix[-1] in "/-_ "
    assert len(prefix) >= len(start[: start.rfind("-") + 1 or None]) or len(models) == 1


def test_prefixes() -> None:
    assert common_prefix(["openai/gpt-5", "openai/gpt-5-mini"]) == "openai/gpt-"
    # A point parts the number of a version.
    assert common_prefix(["gpt-4.1", "gpt-4.5"]) == "gpt-"
    assert common_prefix(["a/", "a/b"]) == ""
    assert common_prefix(["a/b", "a/b"]) == ""
    assert common_prefix([]) == ""


@pytest.mark.parametrize(("text", "width", "lines"), cases(__file__, "folds"))
def test_folds(text: str, width: int, lines: list[str]) -> None:
    assert fold(text, width) == lines


BOARD = Table.of(
    (
        *(Column("#"), model_names(), Column("Borda"), Column("95% interval", left=True)),
        *(Column("Native", spare=2), Column("W–L–T", spare=3), Column("Unscored", spare=4)),
    ),
    [
        (
            *(rank(place), words(model), number(0.5), bounds(0.4, 0.6)),
            *(words("0.970 (of 120)"), words("112–120–13"), words("30%")),
        )
        for place, model in enumerate(
            ("openai/gpt-5-2025-08-07", "openai/gpt-5-mini-2025-08-07", "openai/o3"), start=1
        )
    ],
)


def lines_at(width: int) -> list[str]:
    return [
        line.rstrip() for line in printed(Sheet(sections=(Section.of(BOARD),)), width).split("\n")
    ]


def test_what_is_given_up_is_said() -> None:
    wide = lines_at(120)
    assert wide[0].split("  ")[-1] == " Unscored"
    assert not any("Models:" in line or "Not shown" in line for line in wide)
    assert lines_at(80)[-2] == "Models: each name begins with openai/, left out here."
    assert any(line.startswith("1  gpt-5-2025-08-07 ") for line in lines_at(80))
    assert lines_at(57)[-3:-1] == [
        "Models: each name begins with openai/, left out here.",
        "Not shown at 57 columns: W–L–T, Unscored; --json has all.",
    ]


def test_other_forms_have_whole_names_and_all_columns() -> None:
    for text in (markdown.table(BOARD), latex.table(BOARD)):
        assert "openai/gpt-5-mini-2025-08-07" in text
        assert "Unscored" in text


def test_columns_go_by_importance_and_names_stay() -> None:
    columns = [names("Who"), *(Column(f"c{n}", spare=n % 3) for n in range(6))]
    table = Table.of(columns, [[words("somebody"), *[words("1234567")] * 6]])
    assert [lay_out(table, width).left_out for width in (62, 61, 52, 43, 34, 23, 15)] == [
        (),
        ("c5",),
        ("c2", "c5"),
        ("c2", "c4", "c5"),
        ("c1", "c2", "c4", "c5"),
        ("c1", "c2", "c3", "c4", "c5"),
        ("c0", "c1", "c2", "c3", "c4", "c5"),
    ]
