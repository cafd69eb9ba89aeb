"""Read the release dates of models from a CSV file.

One model per line::

    model,date,series
    openai/gpt-4o,2024-11-20,GPT
    openai/gpt-5,2025-06,GPT

`series` is optional. A date is a day, a month or a year; a month or a year stands for its first
day. For separators and encoding see `delimited`.
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
    """Release date of a model, and the series that it belongs to, "" if unknown."""

    model: str
    date: date
    series: str = ""


def read_dates(path: str | Path) -> tuple[ReleaseDate, ...]:
    """Read release dates, in the order of the file.

    Raises:
        TableError: a column is missing; a cell is not a date like 2025-06-07, 2025-06 or 2025; a
            model occurs twice; or as for `read_delimited`.
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
