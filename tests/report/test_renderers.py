"""Six renderers of sheets, with hostile names in every place: each shows the text as a text."""

import ast
import csv as standard_csv
import io
import json
import re
import shutil
import subprocess
from dataclasses import dataclass
from datetime import date
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from pydantic import BaseModel
from rich.cells import cell_len
from rich.console import Console

import tiebreak.report
from tests.cases import cases, some
from tests.report.figures.test_every_figure import FIGURES
from tests.report.showing import printed
from tiebreak.rankers.intervals import Estimate
from tiebreak.report import csv, html, latex, markdown
from tiebreak.report.cells import Cell, bounds, integer, interval, number, share, span, words
from tiebreak.report.json import document, json_ready
from tiebreak.report.sheet import Column, Section, Sheet, Table, names, numbers
from tiebreak.report.terminal import show
from tiebreak.tables import read_human_ranking
from tiebreak.tables.delimited import unsafe

SOURCES = Path(tiebreak.report.__file__).parents[1]
HOSTILE = cases(__file__, "hostile")


def sheet(name: str) -> Sheet:
    """A sheet with a name in every place that holds text."""
    undefined = span(Estimate(np.nan, np.nan, np.nan, 0))
    rows = [
        (words(name), number(0.5), span(Estimate(0.5, -0.25, 0.75, 9)), words(f"w {name}")),
        (words("plain"), number(float("nan")), undefined, words("w")),
    ]
    columns = (names(name), *numbers("ρ", "95%"), Column(f"wide {name}", numeric=False, spare=1))
    table = Table.of(columns, rows, f"caption {name}", rules=[1])
    section = Section.of(table, legend=[f"legend {name}"], lines=[f"line {name}"], heading=name)
    return Sheet(
        f"title {name}", (f"sub {name}",), f"verdict {name}", (f"w {name}",), (section,), (name,)
    )


def test_a_command_is_not_folded_on_a_terminal() -> None:
    """It is indented, and copied from there."""
    command = " ".join(f"--option-{number}=1" for number in range(20))
    lines = printed(Sheet("t", sections=(Section.of(lines=["Run it:", f"  {command}"]),)), width=40)
    assert command in lines.splitlines()


class Reader(HTMLParser):
    """The tags of a fragment, and its rows of cells."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.rows: list[list[str]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        if tag != "br":
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data
        if {"td", "th"} & set(self.open):
            self.rows[-1][-1] += data


def read(fragment: str) -> Reader:
    reader = Reader()
    reader.feed(fragment)
    reader.close()
    assert reader.open == []
    return reader


@pytest.mark.parametrize("name", HOSTILE)
def test_html_shows_the_text_and_no_markup_of_it(name: str) -> None:
    found = read(html.fragment(sheet(name)))
    assert found.tags <= {
        *("div", "h3", "h4", "p", "small", "bdi", "strong", "em", "ul", "li"),
        *("table", "caption", "thead", "tbody", "tr", "th", "td", "br"),
    }
    shown = name.replace("\x1b", "‹U+001B›").replace("\u202e", "‹U+202E›")
    assert found.rows[1] == [shown, "0.500", "-0.25 to 0.75", f"w {shown}"]
    assert found.rows[2][1:3] == ["–", "–"]
    for place in ("title", "sub", "verdict", "legend", "line", "caption"):
        assert f"{place} {shown}" in found.text
    assert "\x1b" not in found.text


def test_html_says_what_cells_sort_by() -> None:
    fragment = html.fragment(sheet("Model"))
    assert '<th scope="row" data-sort="model"><bdi>Model</bdi></th>' in fragment
    assert '<td class="num" data-sort="0.5">0.500</td>' in fragment
    assert '<td class="num">–</td>' in fragment
    assert fragment.count("<tbody>") == 2


def cells_of(line: str) -> list[str]:
    """The cells of a row as GitHub reads it: bars separate, character references are texts."""
    assert line.startswith("| ")
    assert line.endswith(" |")
    raw = re.split(r"(?<!\\)\|", line[1:-1])
    return [re.sub(r"&#(\d+);", lambda found: chr(int(found[1])), cell).strip() for cell in raw]


@pytest.mark.parametrize("name", HOSTILE)
def test_markdown_has_the_cells(name: str) -> None:
    text = markdown.text([sheet(name)])
    shown = " ".join(name.split()).replace("\x1b", r"\x1b").replace("\u202e", r"\u202e")
    rows = [cells_of(line) for line in text.splitlines() if line.startswith("|")]
    assert [cells[0] for cells in rows] == [shown, ":--", shown, "plain"]
    assert rows[2][1:3] == ["0.500", "-0.25 to 0.75"]
    assert rows[1] == [":--", "--:", "--:", ":--"]
    assert {len(cells) for cells in rows} == {4}
    # Nothing of the name is left that could begin markup.
    assert not re.search(r"<(?!/?br)|\*x\*|`z`|\]\(|~~|\$m", text)
    assert f"## {markdown.inline(f'title {name}', None)}" in text.splitlines()


@pytest.mark.parametrize("name", HOSTILE)
def test_latex_has_no_command_of_a_name(name: str) -> None:
    text = latex.text([sheet(name)])
    commands = set(re.findall(r"\\([a-z]+)", text))
    assert commands <= {
        *("section", "subsection", "textbf", "begin", "end", "centering", "caption", "toprule"),
        *("midrule", "bottomrule", "rho", "textbackslash", "textbar", "textasciitilde"),
        *("textasciicircum", "textless", "textgreater", "char", "textasciigrave"),
        *("textendash", "resizebox", "ifdim", "width", "columnwidth", "else", "fi", "shortstack"),
    }
    rows = [line for line in text.splitlines() if line.endswith(r" \\")]
    assert len(rows) == 3
    assert all(len(re.findall(r"(?<!\\)&", row)) == 3 for row in rows)
    assert not re.search(r"(?<!\\)[%#_$](?!\\rho)", text.replace(r"$\rho$", ""))
    # Braces are balanced once the escaped ones are gone.
    bare = re.sub(r"\\[{}]", "", text)
    assert bare.count("{") == bare.count("}")
    assert text.count(r"\midrule") == 2


def test_latex_signs() -> None:
    assert latex.escape("0.1–0.2, ρ ≥ 0.9 ± 1 → α × 2") == (
        r"0.1\textendash{}0.2, $\rho$ $\geq$ 0.9 $\pm$ 1 $\to$ $\alpha$ $\times$ 2"
    )
    assert latex.escape("a--b ''") == "a-{}-b '{}'"


@pytest.mark.parametrize("room", ["report", "analysis"])
def test_pdflatex_knows_every_sign_that_may_come(room: str) -> None:
    texts = {
        node.value
        for path in (SOURCES / room).rglob("*.py")
        if path.stem != "terminal"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    # Those of Latin 1 and quotation marks it sets as they are; frames of terminals never come.
    unknown = {sign for text in texts for sign in latex.escape(text) if sign > "\xff"}
    assert unknown <= set("“”‘‹›π")


@pytest.mark.slow
@pytest.mark.parametrize("layout", ["onecolumn", "twocolumn"])
def test_a_paper_compiles(layout: str, tmp_path: Path) -> None:
    if shutil.which("pdflatex") is None:
        pytest.skip("no pdflatex on this machine (apt-get install texlive-latex-recommended)")
    figure = some(FIGURES["alignment"](("ada", "ben")))
    (tmp_path / "figure.pdf").write_bytes(figure.printed("pdf", 85 / 25.4))
    assert not figure.alt.startswith(figure.title)
    [caption] = [line for line in figure.caption.splitlines() if line.startswith(r"\caption")]
    packages = r"\usepackage[utf8]{inputenc}\usepackage{booktabs}\usepackage{graphicx}"
    (tmp_path / "paper.tex").write_text(
        f"\\documentclass[{layout}]{{article}}{packages}\\begin{{document}}"
        f"\\begin{{figure}}\\includegraphics{{figure.pdf}}{caption}\\end{{figure}}"
        f"{latex.text(map(sheet, HOSTILE))}{latex.escape('κρτΛ ≥◆▲■★ ½§² “a”')}"
        r"\end{document}",
        encoding="utf-8",
    )
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    compiled = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert compiled.returncode == 0, compiled.stdout
    assert not re.findall(r"Overfull .* in alignment", compiled.stdout)


@pytest.mark.parametrize("width", [60, 80, 100, 200])
@pytest.mark.parametrize("name", HOSTILE)
def test_a_terminal_shows_plain_text(name: str, width: int) -> None:
    text = printed(sheet(name), width)
    shown = " ".join(name.split()).replace("\x1b", r"\x1b").replace("\u202e", r"\u202e")
    assert "\x1b" not in text
    squeezed = "".join(text.split())
    for place in ("title", "sub", "verdict", "legend", "line", "WARNING: w", "Note:"):
        assert "".join(f"{place} {shown}".split()) in squeezed
    assert max(map(cell_len, text.splitlines())) <= width
    assert "…" not in text


def test_blocks_are_apart_by_one_line() -> None:
    lines = printed([sheet("n"), Sheet(notes=("alone",))]).splitlines()
    blank = [number for number, line in enumerate(lines) if not line]
    assert [lines[number + 1].split()[0] for number in blank] == ["n", "n", "Note:", "Note:"]
    assert lines[-1] == "Note: alone"


def test_a_second_line_of_a_cell() -> None:
    cell = Cell("8.0", 8.0, under="7–14")
    table = Table.of(
        (names("Protocol"), Column("Per item", short="Per\nitem")), [(words("a"), cell)]
    )
    one = Sheet(sections=(Section.of(table),))
    assert [line.split() for line in printed(one, 16).splitlines() if "─" not in line] == [
        *(["Per"], ["Protocol", "item"], ["a", "8.0"], ["7–14"]),
    ]
    assert "| a | 8.0 (7–14) |" in markdown.text([one])
    assert "a & 8.0 (7\\textendash{}14)" in latex.text([one])
    assert ["a", "8.07–14"] in read(html.fragment(one)).rows
    assert "| Protocol | Per item |" in markdown.text([one])


def test_headings_that_occur_twice_are_named_apart() -> None:
    table = Table.of(map(Column, ("#", "Model", "ρ", "95%", "τ", "95%", "Terry", "#")), [])
    assert table.headings == ("#", "Model", "ρ", "ρ 95%", "τ", "τ 95%", "Terry", "Terry #")


def test_rules_part_the_rows() -> None:
    rows = [(words(name),) for name in "abcd"]
    # The last row has nothing below it, the first nothing above.
    bodies = Table.of([names("Rater")], rows, rules=(0, 2, 3, 4)).bodies
    assert [[row[0].text for row in body] for body in bodies] == [["a", "b"], ["c"], ["d"]]
    with pytest.raises(ValueError, match="one cell for each column"):
        Table.of([names("Rater")], [(words("a"), words("b"))])


@pytest.mark.parametrize(
    ("cell", "text", "key"),
    [
        (number(-0.0001, 2), "0.00", -0.0001),
        (number(float("nan")), "–", None),
        (number(2.5, 1, unit="×"), "2.5×", 2.5),
        (share(0.001), "<1%", 0.001),
        (span(Estimate(0.1, -0.123, -0.004, 9)), "-0.12 to 0.00", -0.123),
        (integer(1200), "1,200", 1200),
        (integer(None), "–", None),
        (words("Kept"), "Kept", "kept"),
        (words(""), "", None),
        (words("–"), "–", None),
    ],
)
def test_cells(cell: Cell, text: str, key: object) -> None:
    assert (cell.text, cell.key) == (text, key)
    assert interval(0.7, 0.812) == "0.700–0.812"


class Pair(NamedTuple):
    low: float
    high: float


class Model(BaseModel):
    name: str
    known: bool = True


@dataclass(frozen=True)
class Finding:
    pair: Pair
    models: tuple[Model, ...]
    rates: np.ndarray
    by_name: dict[str, float]
    n: np.int64


def test_json_takes_what_findings_are_made_of() -> None:
    finding = Finding(
        Pair(1.0, float("inf")), (Model(name="m"),), np.array([[0.5, np.nan]]), {"a": np.nan},
        np.int64(3),
    )  # fmt: skip
    data = json_ready(finding)
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    assert data == {
        "pair": {"low": 1.0, "high": None},
        "models": [{"name": "m", "known": True}],
        "rates": [[0.5, None]],
        "by_name": {"a": None},
        "n": 3,
    }

    assert document("tiebreak/x", 2, part=(n for n in (1, 2))) == {
        "format": "tiebreak/x",
        "version": 2,
        "part": [1, 2],
    }
    assert json_ready([date(2026, 5, 1), True, (1, float("nan"))]) == [
        "2026-05-01",
        True,
        [1, None],
    ]


@pytest.mark.parametrize("name", HOSTILE)
def test_csv_reads_back(name: str) -> None:
    rows = [{"model": name, "score": 0.1, "n": 1}, {"model": "b", "score": np.nan, "n": None}]
    first, second = standard_csv.DictReader(io.StringIO(csv.text(rows)))
    assert first | {"model": unsafe(first["model"])} == {"model": name, "score": "0.1", "n": "1"}
    assert second == {"model": "b", "score": "", "n": ""}
    assert csv.text([], ["a", "b"]) == "a,b\n"


@pytest.mark.parametrize(
    "name", ["=1+1", "+x", "-x", "@x", "\tx", "\rx", "\nx", " =x", "＝x", "'=x", "'x", "''"]
)
def test_no_name_is_a_formula_and_our_readers_read_it(name: str, tmp_path: Path) -> None:
    rows = [{"model": name, "rank": -1.5, "n": -2}]
    [row] = standard_csv.DictReader(io.StringIO(csv.text(rows), newline=""))
    assert row == {"model": f"'{name}", "rank": "-1.5", "n": "-2"}  # numbers are no texts
    path = tmp_path / "ranks.csv"
    path.write_bytes(csv.text([{"model": name, "rank": 1}, {"model": "x", "rank": 2}]).encode())
    assert dict(read_human_ranking(path).ranks[""]) == {name: 1, "x": 2}


class Coded(io.StringIO):
    """A terminal's output in some encoding."""

    def __init__(self, encoding: str) -> None:
        super().__init__()
        self._encoding = encoding

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._encoding


def test_signs_that_an_encoding_lacks_have_others_in_their_place() -> None:
    file = Coded("ascii")
    show(Sheet("a · b", verdict="0.1–0.2, p ≤ .05 …, ρ"), Console(file=file, width=80))
    assert file.getvalue() == "a - b\n0.1-0.2, p <= .05 ..., \\u03c1\n"
    latin = Coded("latin-1")
    show(Sheet("été – 2 × 3"), Console(file=latin, width=80))
    assert latin.getvalue() == "été - 2 x 3\n"


@pytest.mark.parametrize(
    ("encoding", "width", "lines"), cases(__file__, "a wide terminal draws intervals")
)
def test_a_wide_terminal_draws_intervals(encoding: str, width: int, lines: list[str]) -> None:
    rows = [("ada", 0.0, 1.0, 0.77), ("ben", 0.0, 0.4, 0.21), ("cleo", np.nan, np.nan, 0.5)]
    table = Table.of(
        (names("Model"), Column("Borda"), Column("95% interval", left=True)),
        [(words(name), number(v), bounds(low, high, value=v)) for name, low, high, v in rows],
    )
    found = Sheet(sections=(Section.of(table),))
    for terminal in (True, False):
        file = Coded(encoding)
        show(found, Console(file=file, width=width, force_terminal=terminal, color_system=None))
        shown = file.getvalue().splitlines()
        assert ("0 to 1" in shown[0]) == (terminal and width == 80)
        for line, drawn in zip(shown[2:], lines, strict=True):
            assert line.rstrip().endswith(drawn if terminal else "")
            assert ("●" in line or "o-" in line) == bool(terminal and drawn)
        assert "Not shown" not in file.getvalue()


@pytest.mark.parametrize(
    ("lines", "left"), [((), Section()), (("a line",), Section(lines=("a line",), heading="h"))]
)
def test_a_table_without_rows_takes_its_legend_and_heading_along(
    lines: tuple[str, ...], left: Section
) -> None:
    empty = Table.of(numbers("n"), [])
    assert Section.of(empty, legend=["how to read it"], lines=lines, heading="h") == left
