"""The rows of ballots: one judged ballot a row; and, apart from them, what judges wrote.

Judges give their reasons in their own words, and so quote answers. These words (`text_rows`) are
published with the answers only.
"""

from collections.abc import Iterator

from tiebreak.analysis.rows import Entry, Row, item_ballots
from tiebreak.publish.facts import public_words
from tiebreak.publish.rows import item_columns
from tiebreak.publish.runs import Run


def ballot_rows(run: Run) -> list[Row]:
    """All ballots of a run in the order of the log; `ballot` numbers those of an item."""
    return [row for row, _ in _entries(run)]


def text_rows(run: Run) -> list[Row]:
    """What judges wrote, by ballot and by what it is about."""
    names = ("run_id", "benchmark", "protocol", "item_id", "input_hash", "repetition", "ballot")
    return [
        {**{name: row[name] for name in names}, "about": about, "text": text}
        for row, words in _entries(run)
        for about, text in words
        if text
    ]


def _entries(run: Run) -> Iterator[Entry]:
    for one in run.judged:
        shared = item_columns(run, one.ballots, one.repetition) | {"counts": one.counts}
        for number, (row, words) in enumerate(item_ballots(one.ballots)):
            reason = public_words(row.get("unscored"))
            yield {**shared, "ballot": number, **row, "unscored": reason}, words
