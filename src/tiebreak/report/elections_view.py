"""A consensus on a terminal, and as data."""

from collections.abc import Iterator
from typing import Any

from rich.console import Console
from rich.table import Table

from tiebreak.analysis.consensus import Election
from tiebreak.rankers.aggregators import AGGREGATORS
from tiebreak.report.aggregation import (
    consensus_as_dict,
    consensus_lines,
    consensus_table,
    new_table,
    places,
)
from tiebreak.report.cells import UNDEFINED
from tiebreak.report.terminal import plain
from tiebreak.words import count


def election_as_dict(election: Election) -> dict[str, Any]:
    """An election as data that `json.dumps(…, allow_nan=False)` accepts; undefined is null."""
    return {
        "name": election.name,
        "source": election.source,
        "candidates": list(election.names),
        "n_items": election.n_items,
        "notes": list(election.notes),
        "failed": dict(election.failed),
        "results": [
            consensus_as_dict(
                election.names, consensus, election.kemeny if method == "kemeny_young" else None
            )
            for method, consensus in election.consensuses.items()
        ],
    }


def render_election(election: Election, console: Console | None = None) -> None:
    """Print one method's ranking with its scores, or the places by several side by side."""
    console = console or Console(highlight=False)
    console.print(plain(election.name, "bold"))
    console.print(plain(election.source, "dim"))
    console.print()
    if len(election.consensuses) == 1:
        (consensus,) = election.consensuses.values()
        console.print(consensus_table(election.names, consensus))
    else:
        console.print(_side_by_side(election))
    for line in _lines(election):
        console.print(plain(line))
    for note in election.notes:
        console.print(plain(f"Note: {note}", "yellow"))


def _side_by_side(election: Election) -> Table:
    """Places by each method, in the order of the first."""
    table = new_table(
        "Candidate", *(AGGREGATORS[method].heading for method in election.consensuses)
    )
    columns = [places(consensus) for consensus in election.consensuses.values()]
    first = next(iter(election.consensuses.values()))
    for row in [column for group in first.groups for column in group]:
        shown = [places_of.get(row, UNDEFINED) for places_of in columns]
        table.add_row(plain(election.names[row]), *shown)
    return table


def _lines(election: Election) -> Iterator[str]:
    several = len(election.consensuses) > 1
    if election.n_items is not None:
        yield f"By mean rank over {count(election.n_items, 'item')}, each counted on its own"
    if several:
        yield "Places by " + ", ".join(
            f"{method} ({AGGREGATORS[method].heading})" for method in election.consensuses
        )
    for method, consensus in election.consensuses.items():
        kemeny = election.kemeny if method == "kemeny_young" else None
        if kemeny is not None or consensus.dropped or not several:
            yield from consensus_lines(election.names, consensus, kemeny)
    for method, reason in election.failed.items():
        yield f"{method}: no result: {reason}"
