"""Consensus rankings and contests on a terminal and as JSON."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.cells import cell_len

from tests.analysis.test_comparison import Folder, full, lists
from tests.cases import cases, some
from tests.ranking_logs.builders import call
from tests.report.showing import printed, round_trip, texts
from tiebreak.analysis.consensus import Election
from tiebreak.rankers.aggregation import aggregate
from tiebreak.rankers.consensus import Consensus
from tiebreak.rankers.kemeny.certificate import KemenyResult
from tiebreak.rankers.kemeny.solve import kemeny_young
from tiebreak.rankers.profile import Profile
from tiebreak.report.sheet import Sheet
from tiebreak.report.sheets import comparison
from tiebreak.report.sheets.consensus import consensus_lines, election_data, sheet_of

# a > b > c > a by two votes to one each; everybody puts d last.
CYCLE = Profile.from_orderings([["a", "b", "c", "d"], ["b", "c", "a", "d"], ["c", "a", "b", "d"]])


def election(
    names: Sequence[str], consensus: Consensus, kemeny: KemenyResult | None = None
) -> Election:
    return Election("e", "f", tuple(names), {consensus.method: consensus}, {}, kemeny)


def result_of(*found: Any) -> dict[str, Any]:
    [result] = round_trip(election_data(election(*found)))["results"]
    return dict(result)


def rows(sheet: Sheet, number: int = 0) -> list[list[str]]:
    """The cells of a table."""
    table = some(sheet.sections[number].table)
    return texts(table)


def test_condorcet_winner_and_pairs_that_may_swap() -> None:
    profile = Profile.from_orderings([["a", "b", "c"], ["a", "c", "b"]])
    kemeny = kemeny_young(profile)
    data = result_of(profile.names, aggregate(profile), kemeny)["kemeny"]
    assert data["condorcet_winner"] == "a"
    assert data["interchangeable"] == [["b", "c"]]
    lines = list(consensus_lines(profile.names, aggregate(profile), kemeny))
    assert lines[1:] == [
        "Cost: 1 pairwise disagreement, proven optimal; one of 2 optimal orders",
        "a beats every other candidate by majority",
        "b and c may swap places at no cost",
    ]


@pytest.mark.parametrize(("change", "words"), cases(__file__, "costs"))
def test_how_sure_the_cost_is(change: dict[str, Any], words: str) -> None:
    kemeny: KemenyResult = replace(kemeny_young(CYCLE), **change)
    assert words in list(consensus_lines(CYCLE.names, aggregate(CYCLE), kemeny))[1]


def test_undefined_numbers() -> None:
    ranks = np.array([1.5, 1.5])
    consensus = Consensus("x", ranks, np.array([np.nan, 1.0]), True, used=1, dropped=2)
    data = result_of(("a", "b"), consensus)
    assert [row["score"] for row in data["ranking"]] == [None, 1.0]
    assert "–" in rows(sheet_of(election(("a", "b"), consensus)))[0]
    [line] = consensus_lines(("a", "b"), consensus)
    assert line == "x: 1 ballot counted, 2 dropped; a lower score is better"


def test_long_lists_are_cut_on_the_terminal() -> None:
    # Ten candidates, each ballot the one before turned round by one place: one cycle of all.
    names = [f"m{i}" for i in range(10)]
    turned = Profile.from_orderings([names[i:] + names[:i] for i in range(10)], names)
    kemeny = kemeny_young(turned)
    lines = list(consensus_lines(names, aggregate(turned), kemeny))
    assert "Majorities go round among m0, m1, m2, m3, m4, m5, m6, m7 and 2 more" in lines
    # Nobody is compared across five pairs, in which all may swap.
    pairs = [[first, second] for first, second in zip(names[::2], names[1::2], strict=True)]
    free = Profile.from_orderings([order for pair in pairs for order in (pair, pair[::-1])], names)
    lines = list(consensus_lines(names, aggregate(free), kemeny_young(free)))
    assert sum("may swap places" in line for line in lines) == 3
    assert "9 such pairs of neighbours in all" in lines


def test_more_protocols_than_there_is_room_for_go_below(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.add(*full(2))
    labels = [f"protocol_number_{k} " + "x" * k for k in range(12)]
    for label in labels:
        folder.add(*lists(2, "abcd", protocol=label))
    text = printed(comparison.sheets_of(folder.compare()), 80)
    assert max(cell_len(row) for row in text.splitlines()) <= 80
    assert text.count("Rank and") == 2
    # One cell for each log and model, and none is lost.
    assert text[text.index("Rank and") :].count("#1 1.00") == 13


def test_money_is_left_out_where_no_price_is_known(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.add(*full(1, calls=[call()]))
    folder.add(*lists(1, "abcd", calls=[call("list")]))
    text = printed(comparison.sheets_of(folder.compare()), 120)
    assert "$" not in text
    assert "No price known for j/judge" in text
