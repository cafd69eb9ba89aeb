"""The same ballots by several methods: what is counted, what cannot be, and what is printed."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, combinations, permutations
from typing import Any

import numpy as np
import pytest

from tests.report.showing import printed as show
from tests.report.showing import round_trip
from tiebreak.analysis.consensus import Election, elect
from tiebreak.analysis.contests import contest_report, with_csd, with_kemeny
from tiebreak.rankers import AGGREGATORS, Profile, csd
from tiebreak.rankers.contests.rounds import Missing
from tiebreak.rankers.errors import RankingError
from tiebreak.reason import Reason
from tiebreak.report.sheet import Sheet
from tiebreak.report.sheets import consensus, contest
from tiebreak.report.sheets.consensus import election_data, sheet_of
from tiebreak.tables import BallotFile, ScoreTable, score_ballots

NAN = np.nan
NOBODY_COMPLETE = Profile.from_ranks(np.array([[1, 2, NAN], [NAN, 1, 2]]), ["a", "b", "c"])


def ballots(profile: Profile, **more: Any) -> BallotFile:
    return BallotFile("e", "f.csv", profile, **more)


def printed(election: Election) -> str:
    return show(sheet_of(election))


def test_a_method_that_cannot_count_leaves_the_others() -> None:
    election = elect(ballots(NOBODY_COMPLETE), ["kendall", "borda"])
    assert list(election.consensuses) == ["borda"]
    assert "complete" in str(election.failed["kendall"])
    assert "kendall: no result" in printed(election)
    data = round_trip(election_data(election))
    assert data["failed"].keys() == {"kendall"}
    assert [one["method"] for one in data["results"]] == ["borda"]
    with pytest.raises(RankingError, match=r"f\.csv: .*complete"):
        elect(ballots(NOBODY_COMPLETE), ["kendall"])


def test_item_by_item() -> None:
    # Item 0 says a, b, c unanimously; items 1 and 2 say b, a, c.
    profile = Profile.from_ranks(np.array([[1, 2, 3]] * 2 + [[2, 1, 3]] * 3))
    election = elect(ballots(profile, items=("q0", "q0", "q1", "q1", "q2")), per_item=True)
    consensus = election.consensuses["kemeny_young"]
    np.testing.assert_allclose(consensus.scores, [5 / 3, 4 / 3, 3])
    assert (consensus.ranks.tolist(), consensus.used) == ([2, 1, 3], 5)
    assert election.kemeny is None
    assert "mean rank over 3 items" in printed(election)


def test_a_time_limit_reaches_kemeny() -> None:
    rng = np.random.default_rng(0)
    hard = Profile.from_ranks(rng.random((11, 60)))
    every = elect(ballots(hard), tuple(AGGREGATORS), time_limit=0.0)
    assert every.kemeny is not None
    assert not every.kemeny.optimal
    text = " ".join(printed(every).split())
    assert "not proven" in text
    assert "stopped at a limit, of 0 s or of memory; --time-limit" in text
    assert set(every.failed) == {"dodgson", "kendall"}
    assert "not proven in time" in str(every.failed["dodgson"])


# --- CSD and Kemeny–Young beside each other: each is what it is alone.


RNG = np.random.default_rng(5)
FULL = ScoreTable(tuple("abcde"), tuple("ABCDEF"), RNG.integers(0, 6, (5, 6)).astype(np.float64))
HOLES = replace(FULL, scores=np.where(np.arange(30).reshape(5, 6) % 7 == 3, NAN, FULL.scores))


def said(sheet: Sheet) -> str:
    return " ".join(show(sheet).split())


def cheapest(scores: np.ndarray[tuple[int, int], np.dtype[np.float64]]) -> int:
    """The fewest scores that an order of the models contradicts, over all orders."""
    return min(
        sum(int(np.sum(scores[above] < scores[below])) for above, below in combinations(order, 2))
        for order in permutations(range(len(scores)))
    )


PLAYED: dict[str, tuple[ScoreTable, Sequence[Sequence[int]], Missing]] = {
    "benchmarks": (FULL, [[column] for column in range(6)], "error"),
    "groups": (FULL, [[4, 1], [0], [2, 3]], "error"),
    "available": (HOLES, [[4, 1], [0, 2], [3, 5]], "available"),
    "worst": (HOLES, [[column] for column in range(6)], "worst"),
}


@pytest.mark.parametrize("name", PLAYED)
def test_kemeny_beside_a_contest_is_that_of_the_benchmarks_it_plays(name: str) -> None:
    table, rounds, missing = PLAYED[name]
    report = contest_report(table, rounds, options={"iterations": 10, "missing": missing})
    beside = with_kemeny(report)
    assert beside.election is not None
    kemeny = beside.election.kemeny
    assert kemeny is not None
    assert kemeny.optimal
    assert kemeny.cost == cheapest(table.scores[:, sorted(chain.from_iterable(rounds))])
    np.testing.assert_array_equal(beside.result.expected_wins, report.result.expected_wins)
    assert f"Cost: {kemeny.cost} pairwise" in said(contest.sheets_of(beside)[0])
    data = round_trip(contest.data_of(beside))
    assert data["kemeny"]["order"] == [table.models[row] for row in kemeny.order]
    ranks = {row["model"]: row["kemeny_rank"] for row in data["contest"]["rows"]}
    assert ranks == dict(zip(table.models, kemeny.ranks, strict=True))


def test_a_model_that_no_benchmark_compares_has_no_place() -> None:
    scores = np.array([[1, NAN, 2], [2, NAN, 1], [NAN, 3, NAN]])
    table = ScoreTable(tuple("abc"), tuple("ABC"), scores)
    beside = with_kemeny(contest_report(table, options={"iterations": 10, "missing": "worst"}))
    ranks = {row["model"]: row["kemeny_rank"] for row in contest.data_of(beside)["contest"]["rows"]}
    assert ranks == {"a": 1, "b": 2, "c": None}
    text = said(contest.sheets_of(beside)[0])
    assert "For Kem: the scores: no ballot ranks 'c'; left out." in text
    assert "For Kem: B: only 'c' has a score" in text


def test_what_is_not_proven_in_time_is_said() -> None:
    scores = RNG.random((60, 11))
    table = ScoreTable(tuple(map(str, range(60))), tuple(map(str, range(11))), scores)
    report = with_kemeny(contest_report(table, options={"iterations": 2}), time_limit=0)
    assert "not proven: an optimal order may cost" in said(contest.sheets_of(report)[0])
    # A contest without its table has no election.
    alone = replace(contest_report(FULL, options={"iterations": 10}), table=None)
    assert with_kemeny(alone) is alone


@pytest.mark.parametrize("methods", [["borda"], ["kemeny_young", "borda"]], ids=len)
def test_csd_beside_an_election_is_that_of_the_scores(methods: list[str]) -> None:
    ballots = score_ballots(FULL, weights={"C": 5})
    election = with_csd(elect(ballots, methods), FULL, {"iterations": 50, "seed": 3})
    alone = csd(FULL.scores, iterations=50, seed=3)
    assert election.csd is not None
    np.testing.assert_array_equal(election.csd.expected_wins, alone.expected_wins)
    assert "CSD: place by expected wins in 50 Swiss-system contests" in show(
        consensus.sheet_of(election)
    )
    data = round_trip(consensus.election_data(election))["csd"]
    assert (data["iterations"], data["seed"]) == (50, 3)
    assert [row["score"] for row in data["ranking"]] == sorted(alone.expected_wins, reverse=True)


def test_a_contest_that_cannot_be_played_leaves_the_election() -> None:
    election = with_csd(elect(score_ballots(HOLES)), HOLES)
    assert election.csd is None
    assert election.kemeny is not None
    assert election.failed["csd"] == Reason("missing_score", model="a", benchmark="D")
    none = with_csd(elect(score_ballots(FULL)), FULL, {"iterations": 0})
    assert "iterations" in str(none.failed["csd"])
    # A model that no ballot ranks is in neither.
    alone = replace(FULL, models=tuple("abcdef"), scores=np.vstack([FULL.scores, [NAN] * 6]))
    election = with_csd(elect(score_ballots(alone, drop_unranked=True)), alone, {"iterations": 50})
    assert election.names == FULL.models
    assert election.csd is not None
    expected = csd(FULL.scores, iterations=50).expected_wins
    np.testing.assert_array_equal(election.csd.expected_wins, expected)
