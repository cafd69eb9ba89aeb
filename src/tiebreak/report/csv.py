"""The rows of a finding as CSV.

Names of models and items come from logs: an apostrophe keeps a spreadsheet from running one as a
formula. Where Tiebreak reads a table it takes the apostrophe off again.
"""

import csv
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tiebreak.report import ReportError
from tiebreak.report.json import json_ready
from tiebreak.tables.delimited import safe

Rows = Sequence[dict[str, Any]]


def one_table(tables: Mapping[str, Rows]) -> Rows:
    """The only one of some tables, by name, that has rows.

    Raises:
        ReportError: several have, or none.
    """
    filled = {name: rows for name, rows in tables.items() if rows}
    if len(filled) != 1:
        raise ReportError(
            f"CSV is one table, and here are {len(filled)} ({', '.join(filled) or 'none'}): ask "
            "for one of them at a time, with fewer logs or options, or for --json"
        )
    return filled.popitem()[1]


def text(
    rows: Rows, columns: Sequence[str] | None = None, *, shown: Callable[[str], str] = str
) -> str:
    """One line for each row, under a header line; undefined numbers are empty.

    All rows have the same keys, which are the header where `columns` does not give it. Texts are
    written as `shown`, which by default changes nothing.

    Raises:
        ReportError: there is neither a row nor a header.
    """
    if not (rows or columns):
        raise ReportError("No row to print as CSV: --json shows what there is")
    target = _Lines()
    writer = csv.DictWriter(target, columns or list(rows[0]))
    for row in (dict(zip(writer.fieldnames, writer.fieldnames, strict=True)), *rows):
        cells = json_ready(row).items()
        writer.writerow(
            {k: shown(safe(value)) if isinstance(value, str) else value for k, value in cells}
        )
    return "".join(target)


class _Lines(list[str]):
    """Takes lines that end as CSV's do, without which no carriage return is put in quotes."""

    def write(self, line: str) -> None:
        self.append(line.removesuffix("\r\n") + "\n")
