"""Scores as ballots: against every order of the models, counted in fractions of the scores."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tests.tables.builders import write
from tiebreak.rankers import check_certificate, kemeny_young
from tiebreak.tables import ScoreTable, TableError, read_scores, score_ballots
from tiebreak.tables.benchmark_ballots import Ties, Weights

NAN = np.nan


def table(scores: object, errors: object = None) -> ScoreTable:
    """Models a, b, … in rows, benchmarks A, B, … in columns."""
    values = np.array(scores, dtype=np.float64)
    return ScoreTable(
        tuple("abcdefgh"[: len(values)]),
        tuple("ABCDEFGH"[: values.shape[1]]),
        values,
        ("s.csv",),
        errors=None if errors is None else np.array(errors, dtype=np.float64),
    )


def cheapest(scores: ScoreTable, weights: Mapping[str, Fraction]) -> tuple[Fraction, set[str]]:
    """The least weight of scores that an order contradicts, and all orders that have it."""
    found: dict[str, Fraction] = {}
    for order in permutations(range(len(scores.models))):
        name = "".join(scores.models[row] for row in order)
        found[name] = sum(
            (
                weights.get(benchmark, Fraction(1))
                for benchmark, column in zip(scores.benchmarks, scores.scores.T, strict=True)
                for above, below in combinations(order, 2)
                if column[above] < column[below]  # False where one is NaN
            ),
            Fraction(0),
        )
    least = min(found.values())
    return least, {name for name, cost in found.items() if cost == least}


def ranked(scores: ScoreTable, ties: Ties = "equal") -> list[list[float | None]]:
    """Ranks by ballot."""
    ranks = score_ballots(scores, ties=ties).profile.ranks
    return [[None if np.isnan(rank) else rank for rank in ballot] for ballot in ranks.tolist()]


SHAPES = st.tuples(st.integers(2, 5), st.integers(1, 4))
CELLS = st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0, NAN])
WEIGHTS = st.lists(st.fractions(Fraction(1, 4), 3, max_denominator=4), min_size=4, max_size=4)


@settings(deadline=None)
@given(arrays(np.float64, SHAPES, elements=CELLS), WEIGHTS)
def test_kemeny_over_benchmarks_is_the_cheapest_of_all_orders(
    scores: np.ndarray[tuple[int, int], np.dtype[np.float64]], weights: Sequence[Fraction]
) -> None:
    given_scores = table(scores)
    weight = dict(zip(given_scores.benchmarks, weights, strict=False))
    try:
        ballots = score_ballots(given_scores, weights=weight, drop_unranked=True)
    except TableError as error:
        assert "no benchmark has scores of two models" in str(error)  # noqa: PT017
        return
    names = ballots.profile.names
    kept = given_scores.scores[[given_scores.models.index(name) for name in names]]
    least, orders = cheapest(replace(given_scores, models=names, scores=kept), weight)
    result = kemeny_young(ballots.profile, max_orders=200)
    check_certificate(ballots.profile, result)
    assert {"".join(names[row] for row in order) for order in result.orders} == orders
    [*ratios] = {
        Fraction(ballots.reviewers.count(name)) / weight[name] for name in ballots.reviewers
    }
    assert len(ratios) == 1
    assert result.cost == least * ratios[0]


def test_ties_holes_and_rounding() -> None:
    scores = table([[0.1 + 0.2, 3, NAN], [0.3, NAN, 1], [0.2, 5, 0], [NAN, 4, NAN]])
    assert ranked(scores) == [[1.5, 1.5, 3, None], [3, None, 1, 2], [None, 1, 2, None]]
    ballots = score_ballots(scores)
    assert ballots.reviewers == ("A", "B", "C")
    assert (ballots.name, ballots.source) == ("4 models · 3 benchmarks", "s.csv")


def test_ties_by_standard_error_go_from_the_top() -> None:
    # .90 and .87 are .03 apart, at most √(.03² + .01²) = .0316; .86 is .04 from .90, more than
    # √(.03² + .01²), and opens a group, though it is nearer than that to .87; .85 joins it.
    scores = table([[0.86], [0.90], [0.85], [0.87], [0.5]], [[0.01], [0.03], [0.01], [0.01], [1]])
    # The last has so large an error that it joins any group that is open.
    assert ranked(scores, "se") == [[4, 1.5, 4, 1.5, 4]]
    assert "4 of 10 pairs of different scores are tied" in score_ballots(scores, ties="se").notes[1]
    # Equal scores are tied whatever their errors and the order of the models.
    for order in permutations(range(3)):
        rows = np.array([[0.9, 0.01], [0.85, 0.01], [0.85, 0.1]])[list(order)]
        [ranks] = ranked(table(rows[:, :1], rows[:, 1:]), "se")
        assert [ranks[order.index(row)] for row in range(3)] == [1, 2.5, 2.5]


def test_errors_of_zero_tie_only_what_is_equal() -> None:
    scores = [[0.5, 1], [0.4, NAN], [0.5, 0]]
    zero = table(scores, np.zeros((3, 2)))
    assert ranked(zero, "se") == ranked(zero)
    wide = table(scores, np.full((3, 2), 9.0))
    assert ranked(wide, "se") == [[2, 2, 2], [1.5, None, 1.5]]


@pytest.mark.parametrize(
    ("weights", "counted"),
    [
        ({}, "ABC"),
        ({"A": 2, "B": "1/2"}, "AAAABCC"),
        ({"A": "0.5", "B": Fraction(1, 2), "C": 0.5}, "ABC"),
        ({"A": "1/3", "B": " 1/3 ", "C": "2/3"}, "ABCC"),
    ],
)
def test_weights_are_exact(weights: Weights, counted: str) -> None:
    ballots = score_ballots(table([[1, 1, 1], [2, 2, 2]]), weights=weights)
    assert "".join(ballots.reviewers) == counted
    assert any("Weights: A 2, B 1/2" in note for note in ballots.notes) == (len(counted) == 7)
    with pytest.raises(TableError, match=r"no benchmark 'a'; there are 'A', 'B'"):
        score_ballots(table([[1, 2], [2, 1]]), weights={"a": 2})


def test_a_benchmark_of_one_model_compares_nothing() -> None:
    ballots = score_ballots(table([[1, 2, NAN], [2, NAN, NAN]]))
    assert ballots.reviewers == ("A",)
    assert ballots.notes == (
        "B: only 'a' has a score, which compares nothing; left out",
        "C: no model has a score, which compares nothing; left out",
        "One benchmark is one ballot: the result is the order of A, by any method",
    )


def test_models_that_cannot_be_placed(tmp_path: Path) -> None:
    path = write(tmp_path / "s.csv", "model,A,B\na,1,\nb,2,\nc,,3\n")
    with pytest.raises(TableError, match=r"s\.csv: no ballot ranks 'c'.*--drop-unranked"):
        score_ballots(read_scores(path))
    dropped = score_ballots(read_scores(path), drop_unranked=True)
    assert dropped.profile.names == ("a", "b")
    assert any("'c'; left out" in note for note in dropped.notes)
    for scores, words in (
        ([[1.0, 2.0]], r"s\.csv: one model, 'a', leaves nothing to rank"),
        ([[1, NAN], [NAN, 1]], "no benchmark has scores of two models"),
    ):
        with pytest.raises(TableError, match=words):
            score_ballots(table(scores))


def test_standard_errors_are_needed() -> None:
    for errors, words in (
        (None, "4 of 4 have none, such as 'a' on 'A'"),
        ([[1, 1], [1, NAN]], "1 of 4 have none, such as 'b' on 'B'.*--stderr FILE"),
    ):
        with pytest.raises(TableError, match=words):
            score_ballots(table([[1, 2], [2, 1]], errors), ties="se")
    # Where there is no score no error is needed.
    score_ballots(table([[1, 2], [2, NAN]], [[1, 1], [1, NAN]]), ties="se")


def test_of_many_files_the_first_are_named() -> None:
    scores = replace(table([[1], [2]]), sources=tuple(f"{n}.eval" for n in range(5)))
    assert score_ballots(scores).source == "0.eval, 1.eval, 2.eval and 2 more files"
