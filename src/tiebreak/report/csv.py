"""The rows of a finding as CSV.

Names of models and items come from logs: a leading apostrophe keeps spreadsheets from running a
name as a formula. Tiebreak removes the apostrophe when it reads a table.
"""

import csv
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tiebreak.report import ReportError
from tiebreak.report.json import json_ready
from tiebreak.tables.delimited import safe

Rows = Sequence[dict[str, Any]]


def one_table(tables: Mapping[str, Rows]) -> Rows:
    """The rows of the only table, of these tables by name, that has any.

    Raises:
        ReportError: several tables have rows, or none.
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
    """A header line and one line per row; undefined numbers are empty.

    All rows have the same keys, which are the header unless `columns` gives it. `shown` is applied
    to every text; by default it changes nothing.

    Raises:
        ReportError: there are neither rows nor columns.
    """
    if not (rows or columns):
        raise ReportError("No row to print as CSV: --json shows what there is")
    target = _Lines()
    writer = csv.DictWriter(target, columns or list(rows[0]))
    # The header is written as a row, because names of columns may be foreign, too.
    for row in (dict(zip(writer.fieldnames, writer.fieldnames, strict=True)), *rows):
        cells = json_ready(row).items()
        writer.writerow(
            {k: shown(safe(value)) if isinstance(value, str) else value for k, value in cells}
        )
    return "".join(target)


class _Lines(list[str]):
    """Ends lines with LF; `csv.writer` quotes a carriage return only if it ends them with CR LF."""

    def write(self, line: str) -> None:
        self.append(line.removesuffix("\r\n") + "\n")
