"""Sheets and data of a consensus of rankings, by one aggregator or by several side by side."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from tiebreak.analysis.consensus import Election
from tiebreak.rankers.aggregators import AGGREGATORS
from tiebreak.rankers.consensus import Consensus, consensus_by
from tiebreak.rankers.contests.expected_wins import CsdResult
from tiebreak.rankers.kemeny.certificate import KemenyResult
from tiebreak.reason import Reason, Remark
from tiebreak.report.cells import UNDEFINED, Cell, number, words
from tiebreak.report.json import document, json_ready, only
from tiebreak.report.sheet import Column, Section, Sheet, Table, model_names, numbers
from tiebreak.text import count, listed

# Sentences name up to this many cycles and pairs that may be swapped; --json has all of them.
LISTED = 3
# Sentences name up to this many candidates of a cycle.
NAMED = 8


def sheets_of(elections: Iterable[Election]) -> list[Sheet]:
    """One sheet per election."""
    return [sheet_of(election) for election in elections]


def sheet_of(election: Election) -> Sheet:
    """The ranking by one method with its scores, or the places by several methods."""
    if len(election.consensuses) == 1:
        (consensus,) = election.consensuses.values()
        table = _scores(election, consensus)
    else:
        table = _side_by_side(election)
    return Sheet(
        election.name,
        (election.source,),
        sections=(Section.of(table, lines=_lines(election)),),
        notes=tuple(map(str, election.notes)),
    )


def data_of(elections: Iterable[Election]) -> dict[str, Any]:
    """Elections under "tiebreak/consensus", version 1.

    The shape::

    {"format", "version", "elections": [
        {"name", "source", "candidates": [], "n_items", "time_limit", "notes": [],
         "failed": {METHOD: why},
         "results": [
            {"method", "ascending", "used", "dropped",
             "ranking": [{"rank", "candidate", "score"}],       best first; equal rank = tied
             "kemeny": null or {"order": [], "cost", "lower_bound", "gap", "optimal", "complete",
                                "unique", "n_optima", "margin", "method", "orders": [[]],
                                "interchangeable": [[]], "condorcet_winner", "cycles": [[]],
                                "certificate": {"cycles": [{"cycle": [], "weight"}],
                                                "denominator", "value"}}}],
         "csd": null or {"iterations", "seed",
                         "ranking": [{"rank", "candidate", "score"}]}}]}   score: expected wins
    """
    return document("tiebreak/consensus", 1, elections=list(map(election_data, elections)))


def election_data(election: Election) -> dict[str, Any]:
    """The data of one election; candidates are given by name instead of column."""
    data: dict[str, Any] = json_ready(
        {
            **only(election, "name", "source"),
            "candidates": election.names,
            **only(election, "n_items", "time_limit", "notes", "failed"),
            "results": [
                {
                    **only(consensus, "method", "ascending", "used", "dropped"),
                    "ranking": _ranking(election.names, consensus),
                    "kemeny": kemeny and kemeny_data(election.names, kemeny),
                }
                for consensus, kemeny in _results(election)
            ],
            "csd": election.csd
            and {
                **only(election.csd, "iterations", "seed"),
                "ranking": _ranking(election.names, _by_wins(election.csd)),
            },
        }
    )
    return data


def places(consensus: Consensus) -> dict[int, str]:
    """The place of every column, best first: "1", "2=", "2=", "4"; "=" marks a shared place."""
    shown: dict[int, str] = {}
    for group in consensus.groups:
        place = f"{len(shown) + 1}{'=' if len(group) > 1 else ''}"
        shown |= dict.fromkeys(group, place)
    return shown


def consensus_lines(
    names: Sequence[str], consensus: Consensus, kemeny: KemenyResult | None = None
) -> Iterator[str]:
    """How many ballots a method counted, and for Kemeny–Young the lines of `kemeny_lines`."""
    better = "lower" if consensus.ascending else "higher"
    dropped = f", {consensus.dropped:,} dropped" if consensus.dropped else ""
    used = count(consensus.used, "ballot")
    yield f"{consensus.method}: {used} counted{dropped}; a {better} score is better"
    if kemeny is not None:
        yield from kemeny_lines(names, kemeny)


def kemeny_lines(names: Sequence[str], kemeny: KemenyResult) -> Iterator[str]:
    """What is proven of a Kemeny order, the Condorcet winner, cycles and exchangeable pairs."""
    yield cost_line(kemeny)
    if kemeny.condorcet_winner is not None:
        yield f"{names[kemeny.condorcet_winner]} beats every other candidate by majority"
    for cycle in kemeny.cycles[:LISTED]:
        yield f"Majorities go round among {listed([names[column] for column in cycle], most=NAMED)}"
    if len(kemeny.cycles) > LISTED:
        yield f"{count(len(kemeny.cycles), 'such cycle')} in all"
    for above, below in kemeny.interchangeable[:LISTED]:
        yield f"{names[above]} and {names[below]} may swap places at no cost"
    if len(kemeny.interchangeable) > LISTED:
        yield f"{count(len(kemeny.interchangeable), 'such pair')} of neighbours in all"


def _results(election: Election) -> Iterator[tuple[Consensus, KemenyResult | None]]:
    for method, consensus in election.consensuses.items():
        yield consensus, election.kemeny if method == "kemeny_young" else None


def _scores(election: Election, consensus: Consensus) -> Table:
    wins = [places(_by_wins(election.csd))] if election.csd else []
    return Table.of(
        (Column("#"), model_names("Candidate"), Column("Score"), *numbers(*["CSD"][: len(wins)])),
        (
            (
                _place(place),
                words(election.names[column]),
                number(float(consensus.scores[column])),
                *(_place(places_of[column]) for places_of in wins),
            )
            for column, place in places(consensus).items()
        ),
    )


def _side_by_side(election: Election) -> Table:
    """Places by each method and by expected wins; rows are in the order of the first method."""
    columns = [places(consensus) for consensus in election.consensuses.values()]
    headings = [AGGREGATORS[method].heading for method in election.consensuses]
    if election.csd is not None:
        columns, headings = [*columns, places(_by_wins(election.csd))], [*headings, "CSD"]
    return Table.of(
        (model_names("Candidate"), *numbers(*headings)),
        (
            (
                words(election.names[row]),
                *(_place(places_of.get(row, UNDEFINED)) for places_of in columns),
            )
            for row in columns[0]
        ),
    )


def _by_wins(contest: CsdResult) -> Consensus:
    rounds = len(contest.eliminate)
    return consensus_by("csd", contest.expected_wins, ascending=False, used=rounds)


def _place(place: str) -> Cell:
    return Cell(place, None if place == UNDEFINED else int(place.rstrip("=")))


def _lines(election: Election) -> Iterator[Remark]:
    several = len(election.consensuses) > 1
    if election.n_items is not None:
        yield f"By mean rank over {count(election.n_items, 'item')}, each counted on its own"
    if several:
        yield "Places by " + ", ".join(
            f"{method} ({AGGREGATORS[method].heading})" for method in election.consensuses
        )
    for consensus, kemeny in _results(election):
        if kemeny is not None or consensus.dropped or not several:
            yield from consensus_lines(election.names, consensus, kemeny)
        if kemeny is not None and not kemeny.complete and election.time_limit is not None:
            yield Reason("search_stopped", seconds=election.time_limit)
    if election.csd is not None:
        yield Reason("places_by_csd", n=election.csd.iterations)
    if election.of_benchmarks:
        yield "How far other items or benchmarks would move the order is not in these numbers"
    for method, reason in election.failed.items():
        yield f"{method}: no result: {reason}"


def _ranking(names: Sequence[str], consensus: Consensus) -> list[dict[str, Any]]:
    return [
        {
            "rank": consensus.ranks[column],
            "candidate": names[column],
            "score": consensus.scores[column],
        }
        for group in consensus.groups
        for column in group
    ]


def kemeny_data(names: Sequence[str], kemeny: KemenyResult) -> dict[str, Any]:
    """The fields of `KemenyResult`, with candidates' names instead of columns."""

    def named(columns: Sequence[int]) -> list[str]:
        return [names[column] for column in columns]

    winner, certificate = kemeny.condorcet_winner, kemeny.certificate
    plain = ("cost", "lower_bound", "gap", "optimal", "complete", "unique", "n_optima", "margin")
    return {
        "order": named(kemeny.order),
        **only(kemeny, *plain, "method"),
        "orders": map(named, kemeny.orders),
        "interchangeable": map(named, kemeny.interchangeable),
        "condorcet_winner": None if winner is None else names[winner],
        "cycles": map(named, kemeny.cycles),
        "certificate": {
            "cycles": [
                {"cycle": named(cycle), "weight": weight}
                for cycle, weight in sorted(certificate.cycles.items())
            ],
            **only(certificate, "denominator", "value"),
        },
    }


def cost_line(kemeny: KemenyResult) -> str:
    """The cost of a Kemeny order, and whether it is proven optimal and unique."""
    cost = f"Cost: {count(kemeny.cost, 'pairwise disagreement')}"
    if not kemeny.optimal:
        return f"{cost}, not proven: an optimal order may cost up to {kemeny.gap:,} less"
    if kemeny.unique:
        more = "" if kemeny.margin is None else f"; any other costs at least {kemeny.margin:,} more"
        return f"{cost}, proven optimal, by this order alone{more}"
    if kemeny.n_optima is None:
        rest = "others are" if kemeny.unique is False else "others may be"
        return f"{cost}, proven optimal; {rest} optimal, too"
    return f"{cost}, proven optimal; one of {kemeny.n_optima:,} optimal orders"
