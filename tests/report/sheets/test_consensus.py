"""Consensus rankings and contests on a terminal and as JSON."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from rich.cells import cell_len

from tests.report.showing import printed, round_trip, texts
from tiebreak.analysis.consensus import Election
from tiebreak.analysis.contests import ContestReport
from tiebreak.rankers.aggregation import aggregate
from tiebreak.rankers.consensus import Consensus
from tiebreak.rankers.contests.expected_wins import CsdResult, csd
from tiebreak.rankers.contests.sensitivity import FailureSensitivity, failure_sensitivity
from tiebreak.rankers.kemeny.certificate import KemenyResult
from tiebreak.rankers.kemeny.solve import kemeny_young
from tiebreak.rankers.profile import Profile
from tiebreak.report.sheet import Sheet
from tiebreak.report.sheets import contest
from tiebreak.report.sheets.consensus import consensus_lines, election_data, sheet_of

# a > b > c > a by two votes to one each; everybody puts d last.
CYCLE = Profile.from_orderings([["a", "b", "c", "d"], ["b", "c", "a", "d"], ["c", "a", "b", "d"]])
HOSTILE = ("[red]a[/red]", "b\x1b[31m", "c\nd", "名" * 30)


def election(
    names: Sequence[str], consensus: Consensus, kemeny: KemenyResult | None = None
) -> Election:
    return Election("e", "f", tuple(names), {consensus.method: consensus}, {}, kemeny)


def result_data(
    names: Sequence[str], consensus: Consensus, kemeny: KemenyResult | None = None
) -> dict[str, Any]:
    [result] = round_trip(election_data(election(names, consensus, kemeny)))["results"]
    return dict(result)


def contest_of(
    models: Sequence[str], result: CsdResult, sensitivity: FailureSensitivity | None = None
) -> ContestReport:
    return ContestReport(tuple(models), (), (), None, result, sensitivity)


def rows(sheet: Sheet, number: int = 0) -> list[list[str]]:
    """The cells of a table."""
    table = sheet.sections[number].table
    assert table is not None
    return texts(table)


def test_a_consensus_with_ties() -> None:
    consensus = aggregate(CYCLE, "average")
    data = result_data(CYCLE.names, consensus)
    # Mean ranks: (1 + 3 + 2) / 3 = 2 for a, b and c; 4 for d.
    assert data["ranking"] == [
        {"rank": 2.0, "candidate": "a", "score": 2.0},
        {"rank": 2.0, "candidate": "b", "score": 2.0},
        {"rank": 2.0, "candidate": "c", "score": 2.0},
        {"rank": 4.0, "candidate": "d", "score": 4.0},
    ]
    assert (data["method"], data["used"], data["dropped"]) == ("average", 3, 0)
    assert data["kemeny"] is None
    shown = rows(sheet_of(election(CYCLE.names, consensus)))
    assert [row[:2] for row in shown] == [["1=", "a"], ["1=", "b"], ["1=", "c"], ["4", "d"]]


def test_kemeny_in_names() -> None:
    consensus, kemeny = aggregate(CYCLE), kemeny_young(CYCLE)
    data = result_data(CYCLE.names, consensus, kemeny)["kemeny"]
    # In each rotation of the cycle two arcs are obeyed and one is not: 1 + 1 + 2 = 4 disagreements.
    assert (data["order"], data["cost"], data["gap"]) == (["a", "b", "c", "d"], 4, 0)
    assert (data["optimal"], data["unique"], data["n_optima"]) == (True, False, 3)
    assert data["orders"] == [["a", "b", "c", "d"], ["b", "c", "a", "d"], ["c", "a", "b", "d"]]
    assert data["cycles"] == [["a", "b", "c"]]
    assert data["condorcet_winner"] is None
    # The certificate says the same as the result's own, by name.
    weights = {tuple(one["cycle"]): one["weight"] for one in data["certificate"]["cycles"]}
    assert weights == {
        tuple(CYCLE.names[column] for column in cycle): weight
        for cycle, weight in kemeny.certificate.cycles.items()
    }
    assert weights
    assert data["certificate"]["denominator"] == kemeny.certificate.denominator
    lines = list(consensus_lines(CYCLE.names, consensus, kemeny))
    assert lines == [
        "kemeny_young: 3 ballots counted; a lower score is better",
        "Cost: 4 pairwise disagreements, proven optimal; one of 3 optimal orders",
        "Majorities go round among a, b, c",
    ]


def test_condorcet_winner_and_pairs_that_may_swap() -> None:
    profile = Profile.from_orderings([["a", "b", "c"], ["a", "c", "b"]])
    kemeny = kemeny_young(profile)
    data = result_data(profile.names, aggregate(profile), kemeny)["kemeny"]
    assert data["condorcet_winner"] == "a"
    assert data["interchangeable"] == [["b", "c"]]
    lines = list(consensus_lines(profile.names, aggregate(profile), kemeny))
    assert lines[1:] == [
        "Cost: 1 pairwise disagreement, proven optimal; one of 2 optimal orders",
        "a beats every other candidate by majority",
        "b and c may swap places at no cost",
    ]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"unique": True, "n_optima": 1, "margin": 2}, "by this order alone; any other costs at"),
        ({"unique": True, "n_optima": None, "margin": None}, "optimal, by this order alone"),
        ({"unique": False, "n_optima": None}, "others are optimal, too"),
        ({"unique": None, "n_optima": None}, "others may be optimal, too"),
        (
            {"optimal": False, "lower_bound": 1},
            "not proven: an optimal order may cost up to 3",
        ),
    ],
)
def test_how_sure_the_cost_is(change: dict[str, Any], words: str) -> None:
    kemeny: KemenyResult = replace(kemeny_young(CYCLE), **change)
    assert words in list(consensus_lines(CYCLE.names, aggregate(CYCLE), kemeny))[1]


def test_undefined_numbers() -> None:
    ranks = np.array([1.5, 1.5])
    consensus = Consensus("x", ranks, np.array([np.nan, 1.0]), True, used=1, dropped=2)
    data = result_data(("a", "b"), consensus)
    assert [row["score"] for row in data["ranking"]] == [None, 1.0]
    assert "–" in rows(sheet_of(election(("a", "b"), consensus)))[0]
    [line] = consensus_lines(("a", "b"), consensus)
    assert line == "x: 1 ballot counted, 2 dropped; a lower score is better"


SCORES = np.array([[0.9, 0.1], [0.5, 0.5], [0.95, 0.7]])
MODELS = ("first", "second", "third")


def test_a_contest() -> None:
    result = csd(SCORES, eliminate=1, iterations=2000, seed=3)
    data = round_trip(contest.data_of(contest_of(MODELS, result)))["contest"]
    order = np.argsort(-result.expected_wins)
    assert [row["model"] for row in data["rows"]] == [MODELS[row] for row in order]
    for row in data["rows"]:
        column = MODELS.index(row["model"])
        for field in ("expected_wins", "standard_error", "rank"):
            assert row[field] == getattr(result, field)[column]
        for field in ("rank_lower", "rank_upper"):
            assert row[f"simulation_{field}"] == getattr(result, field)[column]
            assert row[field] is None  # no standard errors are known
        assert isinstance(row["rank"], int)
    assert (data["iterations"], data["seed"], data["eliminate"]) == (2000, 3, [1, 1])
    [sheet] = contest.sheets_of(contest_of(MODELS, result))
    best = int(order[0])
    assert rows(sheet)[0] == [
        "1",
        MODELS[best],
        f"{result.expected_wins[best]:.3f}",
        f"{result.standard_error[best]:.4f}",
        f"{int(result.rank_lower[best])}–{int(result.rank_upper[best])}",
    ]


def test_a_contest_without_errors() -> None:
    result = csd(SCORES, iterations=1)
    data = round_trip(contest.data_of(contest_of(MODELS, result)))["contest"]
    assert data["reason"]
    assert {row["standard_error"] for row in data["rows"]} == {None}
    assert {row["rank_lower"] for row in data["rows"]} == {None}
    [sheet] = contest.sheets_of(contest_of(MODELS, result))
    assert str(rows(sheet)).count("–") == 6


def test_failure_sensitivity() -> None:
    result = failure_sensitivity(SCORES, eliminate=(0, 1), iterations=2000, seed=3)
    report = contest_of(MODELS, csd(SCORES, iterations=10), result)
    data = round_trip(contest.data_of(report))["sensitivity"]
    assert data["eliminate"] == [0, 1]
    for row in data["rows"]:
        column = MODELS.index(row["model"])
        assert row["expected_wins"] == result.expected_wins[:, column].tolist()
        assert row["standard_error"] == result.standard_error[:, column].tolist()
        for field in ("slope", "slope_error", "delta", "delta_error"):
            assert row[field] == getattr(result, field)[column]
        assert row["label"] == result.labels[column]
    first = [row["expected_wins"][0] for row in data["rows"]]
    assert first == sorted(first, reverse=True)
    [sheet] = contest.sheets_of(report)
    assert sheet.sections[1].table is not None
    assert {"T = 0", "T = 1"} < set(sheet.sections[1].table.headings)
    row = next(row for row in rows(sheet, 1) if row[0] == "third")
    assert row == [
        "third",
        *(f"{value:.3f}" for value in result.expected_wins[:, 2]),
        f"{result.slope[2]:.3f}",
        f"{result.slope_error[2]:.4f}",
        result.labels[2],
    ]


def test_names_are_text() -> None:
    scores = np.array([[0.9, 0.1], [0.5, 0.5], [0.95, 0.7], [0.1, 0.2]])
    sensitivity = failure_sensitivity(scores, eliminate=(0, 1), iterations=200)
    sheets = [
        sheet_of(election(HOSTILE, aggregate(CYCLE, "average"))),
        *contest.sheets_of(contest_of(HOSTILE, csd(scores, iterations=200), sensitivity)),
    ]
    for sheet, tables in zip(sheets, (1, 2), strict=True):
        text = printed(sheet)
        assert text.count("[red]a[/red]") == tables
        assert r"b\x1b[31m" in text
        assert "c d" in text
        assert text.count("名") == 30 * tables
        assert "\x1b" not in text
        assert max(map(cell_len, text.splitlines())) <= 80


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
