"""The rows of a finding as CSV."""

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any

from tiebreak.report.json import json_ready


def text(rows: Sequence[Mapping[str, Any]], columns: Sequence[str] | None = None) -> str:
    """One line for each row, under a header line; undefined numbers are empty.

    Args:
        rows: all with the same keys.
        columns: the header, where there may be no row; by default the keys of the first.
    """
    target = io.StringIO()
    writer = csv.DictWriter(target, columns or list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(json_ready(row) for row in rows)
    return target.getvalue()
