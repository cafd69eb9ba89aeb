"""One set of ballots, counted by one method or by several."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.table import Table

from tiebreak.rankers import (
    METHODS,
    Consensus,
    KemenyResult,
    Profile,
    RankingError,
    aggregate_items,
    consensus_by,
    kemeny_young,
    mean_rank,
)
from tiebreak.rankers.profile import FloatArray
from tiebreak.rankers.voting import kendall
from tiebreak.report.aggregation import (
    consensus_as_dict,
    consensus_lines,
    consensus_table,
    new_table,
    places,
)
from tiebreak.report.cells import UNDEFINED, plain
from tiebreak.report.words import count

# As the peer-review paper heads its tables: eight columns and the names fit into 80 characters.
_SHORT = {
    "average": "Avg",
    "borda": "Bor",
    "copeland": "Cop",
    "dodgson": "Dod",
    "irv": "IRV",
    "kemeny_young": "Kem",
    "kendall": "Ken",
    "spearman": "Spm",
}


@dataclass(frozen=True, eq=False, slots=True)
class Election:
    """What each method makes of the same ballots.

    `consensuses` by name of the method; `failed` says why a method has none. `kemeny` is the whole
    result of Kemeny–Young, where that is one of the methods and all ballots were counted at once.
    `n_items` is the number of items that were counted one by one, None if they were not.
    """

    name: str
    source: str
    names: tuple[str, ...]
    consensuses: Mapping[str, Consensus]
    failed: Mapping[str, str]
    kemeny: KemenyResult | None
    n_items: int | None = None
    notes: tuple[str, ...] = ()


def elect(
    name: str,
    source: str,
    profile: Profile,
    methods: Sequence[str],
    *,
    items: FloatArray | None = None,
    time_limit: float | None = None,
    notes: Sequence[str] = (),
) -> Election:
    """Count ballots by some methods.

    Args:
        name: heading.
        source: where the ballots come from.
        profile: the ballots.
        methods: names in `rankers.METHODS`.
        items: the same ballots by item, shape (items, ballots, N). If given, each item has a
            consensus of its own, and the result is by the mean rank in these.
        time_limit: seconds for Kemeny–Young, and for Kendall, over all ballots.
        notes: sentences to print with the result.

    Raises:
        RankingError: no method could count these ballots.
    """
    consensuses: dict[str, Consensus] = {}
    failed: dict[str, RankingError] = {}
    kemeny = None
    for method in methods:
        try:
            if items is not None:
                means = mean_rank(aggregate_items(items, method))
                consensuses[method] = consensus_by(
                    method, means, ascending=True, used=profile.n_ballots
                )
            elif method == "kemeny_young":
                kemeny = kemeny_young(profile, time_limit=time_limit)
                consensuses[method] = consensus_by(
                    method, kemeny.ranks, ascending=True, used=profile.n_ballots
                )
            elif method == "kendall":
                consensuses[method] = kendall(profile, time_limit=time_limit)
            else:
                consensuses[method] = METHODS[method](profile)
        # Kendall, say, reads complete ballots only: without any the others still have an answer.
        except RankingError as error:
            failed[method] = error
    if not consensuses:
        first = failed[methods[0]]
        raise type(first)(f"{source}: {first}") from first
    reasons = {method: str(error) for method, error in failed.items()}
    return Election(
        name=name,
        source=source,
        names=profile.names,
        consensuses=consensuses,
        failed=reasons,
        kemeny=kemeny,
        n_items=None if items is None else len(items),
        notes=tuple(notes),
    )


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
    table = new_table("Candidate", *(_SHORT[method] for method in election.consensuses))
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
            f"{method} ({_SHORT[method]})" for method in election.consensuses
        )
    for method, consensus in election.consensuses.items():
        kemeny = election.kemeny if method == "kemeny_young" else None
        if kemeny is not None or consensus.dropped or not several:
            yield from consensus_lines(election.names, consensus, kemeny)
    for method, reason in election.failed.items():
        yield f"{method}: no result: {reason}"
