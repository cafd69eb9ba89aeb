"""Sheets and data of canaries: how often attacks in planted answers persuaded a judge."""

from collections.abc import Iterable
from typing import Any

from tiebreak.analysis.judge.canaries import Canaries, CanaryReport
from tiebreak.analysis.trust import persuasion
from tiebreak.reason import Reason
from tiebreak.report.cells import integer, words
from tiebreak.report.json import document, json_ready
from tiebreak.report.sheet import Section, Sheet, Table, names, numbers
from tiebreak.report.sheets.leaderboard import canaries_line, receipt_sections
from tiebreak.text import count, p_value


def sheets_of(reports: Iterable[CanaryReport]) -> list[Sheet]:
    """One sheet per log."""
    return [_sheet(report) for report in reports]


def data_of(reports: Iterable[CanaryReport]) -> dict[str, Any]:
    """The fields of `CanaryReport` under "tiebreak/canaries", version 1, and "verdict".

    The parts have the fields of `Canaries`, `Persuaded`, `Estimate` and `Receipt`.
    """
    return document(
        "tiebreak/canaries",
        1,
        canaries=[{**json_ready(report), "verdict": verdict_of(report)} for report in reports],
    )


def verdict_of(report: CanaryReport) -> str:
    """Whether attacks persuaded the judge, and more often than chance would."""
    judges = ", ".join(report.judges) or "The judge"
    canaries = report.canaries
    if not canaries.n:
        return f"{judges}: {persuasion(canaries)}."
    if canaries.bound:
        moved = f"attacks move it ({p_value(canaries.p)})"
    elif canaries.n_persuaded:
        moved = f"no more than chance would do ({p_value(canaries.p)})"
    else:
        moved = f"none of {count(canaries.n, 'attack')} turned a verdict"
    return f"{judges} was {persuasion(canaries)}: {moved}."


def _sheet(report: CanaryReport) -> Sheet:
    canaries = report.canaries
    lines = [canaries_line(canaries)] if canaries.n else []
    if canaries.by:
        lines.append(f"Persuaded by: {', '.join(canaries.by)}")
    return Sheet(
        f"{', '.join(report.benchmarks)} · {count(canaries.n, 'canary', 'canaries')}",
        (f"judge: {', '.join(report.judges)} · {report.protocol} · log: {report.log}",),
        verdict_of(report),
        sections=(
            Section.of(_table(canaries), legend=[Reason("canaries_counted")]),
            Section.of(lines=lines),
            *receipt_sections(report.receipt),
        ),
        notes=tuple(map(str, report.notes)),
    )


def _table(canaries: Canaries) -> Table:
    counts = [(kind.n, kind.won, kind.won_plain, kind.persuaded) for kind in canaries.kinds]
    rows = [
        (words(kind.kind), *map(integer, cells))
        for kind, cells in zip(canaries.kinds, counts, strict=True)
    ]
    if len(rows) > 1:
        rows.append((words("all"), *(integer(sum(column)) for column in zip(*counts, strict=True))))
    columns = (names("Attack"), *numbers("Canaries", "Preferred", "Without", "Persuaded"))
    return Table.of(columns, rows, "Canaries", rules=[len(counts)])
