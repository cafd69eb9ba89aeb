"""Sheets and data on how many labels of people would tell the two leading models apart."""

from collections.abc import Sequence
from typing import Any

from tiebreak.analysis.anchored import LabelsNeeded
from tiebreak.rankers.intervals import Estimate
from tiebreak.reason import Reason
from tiebreak.report.cells import forecast
from tiebreak.report.json import document, flat, only
from tiebreak.report.sheet import Sheet
from tiebreak.text import percent


def sheets_of(boards: Sequence[LabelsNeeded]) -> list[Sheet]:
    """One sheet per board."""
    return [
        Sheet(
            f"{board.benchmark} · {board.protocol} · labels that tell models apart",
            (f"people: {board.source} ({board.n_labels:,} labels)",),
            f"To tell {board.rows[0].model} and {board.rows[1].model} apart in "
            f"{percent(needed.power)} of cases, if they differ as they seem to, it takes "
            f"{_labels(needed.with_judge)} with the judge, {_labels(needed.alone)} without.",
            notes=tuple(map(str, (Reason("labels_forecast"), *board.notes))),
        )
        for needed in boards
        for board in [needed.board]
    ]


def _labels(part: Estimate) -> str:
    value, lower, upper = map(forecast, (part.value, part.lower, part.upper))
    return f"{value} labels ({lower} to {upper})"


def data_of(boards: Sequence[LabelsNeeded]) -> dict[str, Any]:
    """The fields of `LabelsNeeded` under "tiebreak/labels-needed", version 1; null is infinite."""
    return document("tiebreak/labels-needed", 1, boards=boards)


def rows_of(boards: Sequence[LabelsNeeded]) -> list[dict[str, Any]]:
    """One row per board."""
    return [
        only(needed.board, "benchmark", "protocol", "log", "n_labels")
        | {"first": needed.board.rows[0].model, "second": needed.board.rows[1].model}
        | flat(needed, "with_judge", "alone")
        for needed in boards
    ]
