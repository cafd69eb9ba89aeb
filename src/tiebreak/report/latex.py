r"""Render sheets as LaTeX for a paper.

The text needs \usepackage[utf8]{inputenc}, \usepackage{booktabs} and \usepackage{graphicx}, which
shrinks tables that are wider than their column. Names in scripts other than Latin need XeLaTeX or
LuaLaTeX.
"""

import re
import textwrap
from collections.abc import Iterable, Iterator
from typing import Final

from tiebreak.report.sheet import Sheet, Table, one_line

# Two hyphens or apostrophes in a row would become a dash or a quotation mark.
_LIGATURE: Final = re.compile(r"([-'])(?=\1)")
_MATHEMATICS: Final = {
    **{"α": r"\alpha", "δ": r"\delta", "κ": r"\kappa", "ρ": r"\rho", "σ": r"\sigma", "τ": r"\tau"},
    **{"χ": r"\chi", "Δ": r"\Delta", "Λ": r"\Lambda", "Σ": r"\Sigma", "Φ": r"\Phi"},
    **{"×": r"\times", "±": r"\pm", "≥": r"\geq", "≤": r"\leq", "→": r"\to", "−": "-"},
    **{"√": r"\surd", "⅓": r"\frac{1}{3}", "₂": "_2"},
    # Markers of figures. The standard fonts have some of them only as outlines.
    **{"●": r"\bullet", "○": r"\circ", "•": r"\cdot", "▲": r"\triangle", "◆": r"\diamond"},
    **{"★": r"\star", "■": r"\rule{1ex}{1ex}"},
}
_SIGNS: Final = str.maketrans(
    {
        **{char: f"\\{char}" for char in "&%$#_{}"},
        **{"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"},
        **{"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"\char34{}"},
        **{
            "–": r"\textendash{}",
            "—": r"\textemdash{}",
            "…": r"\dots{}",
            "·": r"\textperiodcentered{}",
            "’": "'",
        },
        **{sign: f"${command}$" for sign, command in _MATHEMATICS.items()},
        **{"`": r"\textasciigrave{}", "\ufffd": "?"},
        # After \\ at the end of a row these would be read as arguments of that command.
        **{"[": "{[}", "*": "{*}"},
    }
)


def text(sheets: Iterable[Sheet]) -> str:
    """All sheets in order, each in its own section."""
    return "\n".join(f"{block}\n" for sheet in sheets for block in _blocks(sheet))


def table(made: Table, caption: str = "") -> str:
    """A `table` environment with all columns of the table, no wider than the text column."""
    sides = "".join("l" if column.left or not column.numeric else "r" for column in made.columns)
    rows = [[f"{c.text} ({c.under})" if c.under else c.text for c in row] for row in made.rows]
    headings = [
        _heading(heading, side, max((len(row[place]) for row in rows), default=len(heading)))
        for place, (heading, side) in enumerate(zip(made.headings, sides, strict=True))
    ]
    body = []
    for number, row in enumerate(rows):
        body += [r"\midrule"] if number in (0, *made.rules) else []
        body.append(_row(map(escape, row)))
    lines = [
        *(r"\begin{table}", r"\centering"),
        *([f"\\caption{{{escape(caption)}}}"] if caption else []),
        r"\resizebox{\ifdim\width>\columnwidth\columnwidth\else\width\fi}{!}"
        f"{{\\begin{{tabular}}{{{sides}}}",
        *(r"\toprule", _row(headings)),
        *body,
        *(r"\bottomrule", r"\end{tabular}}", r"\end{table}"),
    ]
    return "\n".join(lines)


def escape(text: str) -> str:
    """The text escaped so that LaTeX prints exactly its characters."""
    return _LIGATURE.sub(r"\1{}", one_line(text).translate(_SIGNS))


def _blocks(sheet: Sheet) -> Iterator[str]:
    if sheet.title:
        yield f"\\section*{{{escape(sheet.title)}}}"
    yield from map(escape, (*sheet.subtitle, *filter(None, [sheet.verdict])))
    yield from (f"\\textbf{{Warning:}} {escape(warning)}" for warning in sheet.warnings)
    for section in sheet.sections:
        if section.heading:
            yield f"\\subsection*{{{escape(section.heading)}}}"
        if section.table:
            named = section.table.caption or section.heading
            # A paper may take the table alone, so its caption names the finding, as a figure's.
            yield table(section.table, ": ".join(filter(None, (sheet.title, named))))
        yield from map(escape, (*section.legend, *section.lines))
    yield from (f"\\textbf{{Note:}} {escape(note)}" for note in sheet.notes)


def _heading(heading: str, side: str, width: int) -> str:
    """A heading, broken into several lines if it is wider than the cells below it."""
    lines = textwrap.wrap(one_line(heading), max(width, 1), break_long_words=False)
    shown = r"\\ ".join(map(escape, lines))
    return f"\\shortstack[{side}]{{{shown}}}" if len(lines) > 1 else shown


def _row(cells: Iterable[str]) -> str:
    return f"{' & '.join(cells)} \\\\"
