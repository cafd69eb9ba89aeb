"""What an import did, as a sheet and as data."""

from collections.abc import Iterator
from typing import Any

from tiebreak.fair.bank.importing import ImportReport
from tiebreak.fair.bank.question import Remarks
from tiebreak.report.cells import integer, words
from tiebreak.report.json import document, json_ready
from tiebreak.report.sheet import Section, Sheet, Table, names, numbers
from tiebreak.text import count, listed

_NEAR = {
    "draft": "imported as drafts, which are not asked until somebody approves them",
    "skip": "left out",
    "keep": "imported as they are",
}


def sheets_of(report: ImportReport) -> list[Sheet]:
    """What became of each file's rows, and the rows that something is wrong with."""
    kinds = (
        (report.faults, "Faults"),
        (report.duplicates, "The same as another, left out"),
        (report.near, f"Nearly the same as another, {_NEAR[report.near_duplicates]}"),
    )
    sections = (section_of(remarks, heading) for remarks, heading in kinds if remarks.total)
    return [
        Sheet(
            f"Import into {report.bank}",
            verdict=_verdict(report),
            sections=(Section.of(_files(report)), *sections),
            notes=tuple(_notes(report)),
        )
    ]


def data_of(report: ImportReport) -> dict[str, Any]:
    """The fields of `ImportReport` under "tiebreak/bank-import", version 1."""
    return document("tiebreak/bank-import", 1, n_imported=report.n_imported, **json_ready(report))


def _verdict(report: ImportReport) -> str:
    if report.refused:
        faulty = sum(file.faulty for file in report.files)
        return f"Nothing was imported: {count(faulty, 'row has faults', 'rows have faults')}."
    if not report.n_imported:
        return "Nothing new: the bank is as it was."
    return f"{count(report.n_imported, 'question was', 'questions were')} imported."


def _files(report: ImportReport) -> Table:
    figures = numbers("Rows", "Imported", "Already there", "Same", "Near", "Faulty")
    return Table.of(
        (names("File", 20), *figures),
        (
            (
                *(words(file.name), integer(file.rows), integer(file.imported)),
                *(integer(file.known), integer(file.duplicates)),
                *(integer(file.near), integer(file.faulty)),
            )
            for file in report.files
            if not file.before
        ),
        "Files",
    )


def section_of(remarks: Remarks, heading: str) -> Section:
    """Remarks of one kind, a line each, the last one with how many more there are."""
    more = remarks.total - len(remarks.shown)
    lines = [f"{remark.where}: {remark.what}" for remark in remarks.shown]
    lines += [f"… and {more:,} more"] if more else []
    return Section.of(heading=f"{heading} ({remarks.total:,})", lines=lines)


def _notes(report: ImportReport) -> Iterator[str]:
    for file in report.files:
        if file.before:
            yield f"{file.name} was imported before ({file.before}), and changes nothing"
    if report.unread:
        yield f"Fields that a bank has no place for, and left out: {listed(report.unread)}"
    if report.refused:
        yield "Mend these rows, or import the others with --skip-faulty"
