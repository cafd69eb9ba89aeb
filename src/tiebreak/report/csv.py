"""The rows of a finding as CSV.

Names of models and items come from logs: an apostrophe keeps a spreadsheet from running one as a
formula. Where Tiebreak reads a table it takes the apostrophe off again.
"""

import csv
from collections.abc import Mapping, Sequence
from typing import Any

from tiebreak.report.json import json_ready
from tiebreak.tables.delimited import safe


def text(rows: Sequence[Mapping[str, Any]], columns: Sequence[str] | None = None) -> str:
    """One line for each row, under a header line; undefined numbers are empty.

    All rows have the same keys, which are the header where `columns` does not give it.
    """
    target = _Lines()
    writer = csv.DictWriter(target, columns or list(rows[0]))
    writer.writerow({name: safe(name) for name in writer.fieldnames})
    for row in rows:
        cells = json_ready(row).items()
        writer.writerow({name: safe(it) if isinstance(it, str) else it for name, it in cells})
    return "".join(target)


class _Lines(list[str]):
    """Takes lines that end as CSV's do, without which no carriage return is put in quotes."""

    def write(self, line: str) -> None:
        self.append(line.removesuffix("\r\n") + "\n")
