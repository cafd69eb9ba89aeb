"""When models came out, from a CSV file.

A model a line::

    model,date,series
    openai/gpt-4o,2024-11-20,GPT
    openai/gpt-5,2025-06,GPT

`series` may be left out. A date is a day, a month or a year; where the day is not known it is the
first that there is. For separators and encoding see `delimited`.
"""

from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Final

from tiebreak.tables.delimited import read_delimited
from tiebreak.tables.errors import shown

_NAMES: Final = {name: name for name in ("model", "date", "series")}
_DATES: Final = ("%Y-%m-%d", "%Y-%m", "%Y")


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
    table = read_delimited(Path(path)).named(_NAMES)
    table.require(("model", "date"), "give the columns model and date, perhaps series")
    dates: list[ReleaseDate] = []
    for row in table.rows:
        model = table.label(row, "model", "the model has no name")
        table.once(model, row, f"{shown(model)} is there")
        day = _day(row.cells["date"])
        if day is None:
            text = shown(row.cells["date"])
            raise table.wrong(row, f"{text} is no date; write 2025-06-07, 2025-06 or 2025", "date")
        dates.append(ReleaseDate(model, day, row.cells.get("series", "")))
    return tuple(dates)


def _day(text: str) -> date | None:
    for form in _DATES:
        with suppress(ValueError):
            return datetime.strptime(text, form).date()
    return None
