"""When models came out, from a CSV file.

A model a line::

    model,date,series
    openai/gpt-4o,2024-11-20,GPT
    openai/gpt-5,2025-06,GPT

`series` may be left out. A date is a day, a month or a year; where the day is not known it is the
first that there is. For separators and encoding see `delimited`.
"""

import re
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Final

from tiebreak.tables.delimited import read_delimited
from tiebreak.tables.errors import shown

_NAMES: Final = {name: name for name in ("model", "date", "series")}
_DATE: Final = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?")


@dataclass(frozen=True, slots=True)
class ReleaseDate:
    """A model's date, and the series that it belongs to, "" where nobody says."""

    model: str
    date: date
    series: str = ""


def read_dates(path: str | Path) -> tuple[ReleaseDate, ...]:
    """Read models' dates, in the order of the file.

    Raises:
        TableError: a column is missing; a cell that is no date, such as 2025-06-07; a model that
            is there twice; as `read_delimited`.
    """
    table = read_delimited(Path(path))
    form = "give the columns model and date, perhaps series"
    columns = table.meanings(_NAMES, ("model", "date"), form)
    dates: list[ReleaseDate] = []
    lines: dict[str, int] = {}
    for row in table.rows:
        model = table.label(row, columns["model"], "the model has no name")
        table.once(lines, model, row, f"{shown(model)} is there")
        day = _day(row.cells[columns["date"]])
        if day is None:
            text = shown(row.cells[columns["date"]])
            raise table.wrong(row, f"{text} is no date; write 2025-06-07, 2025-06 or 2025", "date")
        series = row.cells[columns["series"]] if "series" in columns else ""
        dates.append(ReleaseDate(model, day, series))
    return tuple(dates)


def _day(text: str) -> date | None:
    parts = _DATE.fullmatch(text)
    if parts is None:
        return None
    year, month, day = (int(part) if part else 1 for part in parts.groups())
    try:
        return date(year, month, day)
    except ValueError:
        return None
