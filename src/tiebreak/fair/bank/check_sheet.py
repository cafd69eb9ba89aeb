"""What is wrong with a bank, as a sheet and as data."""

from typing import Any

from tiebreak.fair.bank.checks import KINDS, WARNINGS, BankCheck
from tiebreak.fair.bank.import_sheet import section_of
from tiebreak.report.cells import integer, words
from tiebreak.report.json import document, json_ready
from tiebreak.report.sheet import Section, Sheet, Table, names, numbers
from tiebreak.text import count

_MEANINGS = {
    "format": "texts, keys, options, blanks, ids and dates of each question",
    "siblings": "one category for all that share a raw_uuid",
    "parents": "each variant's parent is there",
    "statements": "one statement for each option of a choice, one of them true",
    "duplicates": "no text and options twice",
    "near duplicates": "no approved question nearly twice (for a person to decide)",
}


def sheets_of(check: BankCheck) -> list[Sheet]:
    """Each kind of check with what it found."""
    table = Table.of(
        (names("Checked", 16), *numbers("Found"), names("What holds", 44)),
        (
            (words(kind), integer(check.remarks[kind].total), words(_MEANINGS[kind]))
            for kind in KINDS
        ),
        "Checks",
    )
    found = [
        section_of(remarks, kind.capitalize())
        for kind, remarks in check.remarks.items()
        if remarks.total
    ]
    return [
        Sheet(
            f"{check.bank}: {count(check.n_questions, 'question')}",
            verdict=_verdict(check),
            sections=(Section.of(table), *found),
            notes=("Rejected questions are left out",),
        )
    ]


def data_of(check: BankCheck) -> dict[str, Any]:
    """The fields of `BankCheck` under "tiebreak/bank-check", version 1."""
    content = json_ready(check)
    return document("tiebreak/bank-check", 1, n_wrong=check.n_wrong, **content)


def _verdict(check: BankCheck) -> str:
    near = sum(check.remarks[kind].total for kind in WARNINGS)
    look = f"; {count(near, 'near duplicate')} to look at" if near else ""
    if check.n_wrong:
        return f"{count(check.n_wrong, 'thing is', 'things are')} wrong{look}."
    return f"Nothing is wrong{look}."
