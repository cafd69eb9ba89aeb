import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cases import cases
from tests.rankers.ballots import FloatArray
from tests.rankers.rounds import Match, columns
from tiebreak.rankers import Resampling
from tiebreak.rankers.errors import NoFitError
from tiebreak.rankers.massey import (
    closed,
    implied_wins,
    least_squares,
    least_squares_statistic,
)
from tiebreak.rankers.matches import Matches
from tiebreak.reason import Reason


def by_design_matrix(matches: list[Match], n: int, weight: FloatArray | None = None) -> FloatArray:
    """The definition: one equation a match, solved by NumPy's least squares of least norm."""
    rows, margins = np.zeros((len(matches), n)), np.zeros(len(matches))
    for row, (i, j, result, item) in enumerate(matches):
        root = 1.0 if weight is None else math.sqrt(weight[item])
        rows[row, i], rows[row, j], margins[row] = root, -root, root * (2 * result - 1)
    # Of all solutions the one of least norm has sum 0.
    return np.asarray(np.linalg.lstsq(rows, margins, rcond=None)[0], np.float64)


def components(pairs: set[tuple[int, int]], n: int) -> int:
    """Number of connected groups, by merging."""
    group = list(range(n))
    for i, j in pairs:
        group = [group[j] if g == group[i] else g for g in group]
    return len(set(group))


any_match = st.tuples(
    st.integers(0, 4), st.integers(0, 4), st.sampled_from([0.0, 0.5, 1.0]), st.integers(0, 3)
).filter(lambda match: match[0] != match[1])


@pytest.mark.slow
@settings(deadline=None, max_examples=80)
@given(st.lists(any_match, min_size=1, max_size=20))
def test_against_the_design_matrix(matches: list[Match]) -> None:
    if components({(i, j) for i, j, _, _ in matches}, 5) == 1:
        score = least_squares(**columns(matches, 5), how=Resampling(draws=1)).score
        np.testing.assert_allclose(score, by_design_matrix(matches, 5), atol=1e-8)
        assert abs(score.sum()) < 1e-7
    else:
        with pytest.raises(NoFitError):
            least_squares(**columns(matches, 5), how=Resampling(draws=1))


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(
    st.lists(any_match, min_size=4, max_size=20),
    st.lists(st.integers(0, 3), min_size=4, max_size=4),
)
def test_a_draw_weighs_items(matches: list[Match], counts: list[int]) -> None:
    statistic = least_squares_statistic(Matches.of(**columns(matches, 5), n_items=4))
    weight = np.array(counts, dtype=np.float64)
    strengths = statistic(np.stack([weight, np.zeros(4)]))
    assert np.isnan(strengths[1]).all()
    if components({(i, j) for i, j, _, item in matches if counts[item]}, 5) == 1:
        expected = by_design_matrix(matches, 5, weight)
        np.testing.assert_allclose(strengths[0], expected, atol=1e-8)
    else:
        assert np.isnan(strengths[0]).all()


def test_draws_that_are_not_connected_are_left_out_and_counted() -> None:
    # Model 2 plays in items 0 and 1 only: of 4⁴ draws 2⁴ leave it out, 1 in 16.
    matches: list[Match] = [(0, 1, 1, 0), (1, 2, 1, 0), (0, 2, 0, 1), (0, 1, 0, 2), (0, 1, 1, 3)]
    result = least_squares(**columns(matches), how=Resampling())
    # Standard error √(2000 · 1/16 · 15/16) = 11.
    assert result.undefined[0] == result.undefined[2] == pytest.approx(125, abs=45)
    assert result.reason == Reason("infinite_draws", n=result.undefined[0], draws=2000)


@pytest.mark.parametrize(("matches", "added"), cases(__file__, "closure"))
def test_closure_by_hand(matches: list[tuple[int, int, float]], added: list[list[int]]) -> None:
    wins = np.zeros((4, 4))
    for first, second, result in matches:
        wins[first, second] += result
        wins[second, first] += 1 - result
    assert np.argwhere(implied_wins(wins)).tolist() == added


def closed_by_search(matches: list[Match]) -> list[Match]:
    """Closure item by item, by depth-first search."""
    more: list[Match] = []
    for item in {match[3] for match in matches}:
        points = dict.fromkeys(((i, j) for i in range(5) for j in range(5)), 0.0)
        met = set()
        for i, j, result, where in matches:
            if where == item:
                points[i, j] += result
                points[j, i] += 1 - result
                met |= {(i, j), (j, i)}

        def reach(start: int, points: dict[tuple[int, int], float] = points) -> set[int]:
            seen: set[int] = set()
            todo = [start]
            while todo:
                here = todo.pop()
                new = {j for j in range(5) if points[here, j] > points[j, here]} - seen
                seen |= new
                todo += new
            return seen

        more += [
            (i, k, 1.0, item)
            for i in range(5)
            for k in reach(i)
            if i not in reach(k) and (i, k) not in met
        ]
    return matches + more


@pytest.mark.slow
@settings(deadline=None, max_examples=100)
@given(st.lists(any_match, min_size=1, max_size=25))
def test_closure_against_search(matches: list[Match]) -> None:
    expected = least_squares_statistic(
        Matches.of(**columns(closed_by_search(matches), 5), n_items=4)
    )
    found = least_squares_statistic(closed(Matches.of(**columns(matches, 5), n_items=4)))
    counts = np.vstack([np.ones((1, 4)), np.eye(4)])
    np.testing.assert_allclose(found(counts), expected(counts), atol=1e-8)


def test_closure_may_connect_nothing_new_but_adds_evidence() -> None:
    # In item 0 the chain 0 > 1 > 2; in item 1 2 beats 0. Without closure (margins 1, 1, −1 for the
    # three pairs) all are equal: 0 has one win and one loss, and so has everyone. With 0 > 2 added
    # in item 0 the pair (0, 2) is even: least at s0 − s1 = s1 − s2 = a of 2(1 − a)² + 2(2a)²
    # + 2 (its two matches miss by 1 ∓ 2a): derivative −4(1 − a) + 16a = 0, a = 1/5.
    matches: list[Match] = [(0, 1, 1, 0), (1, 2, 1, 0), (2, 0, 1, 1)]
    plain = least_squares(**columns(matches), how=Resampling(draws=1)).score
    more = least_squares(**columns(matches), closure=True, how=Resampling(draws=1)).score
    np.testing.assert_array_equal(plain, [0, 0, 0])
    np.testing.assert_allclose(more, [0.2, 0, -0.2], atol=1e-9)


@pytest.mark.parametrize(
    ("matches", "n_models", "message"),
    [
        ([(2, 3, 0.5, 0), (0, 1, 0.5, 0)], 4, "models 0, 1 never met any of 2, 3,"),
        ([(0, 2, 1, 0)], 3, "models 0, 2 never met any of 1,"),
    ],
)
def test_unconnected_models_are_named(matches: list[Match], n_models: int, message: str) -> None:
    with pytest.raises(NoFitError, match=message):
        least_squares(**columns(matches, n_models))
    statistic = least_squares_statistic(Matches.of(**columns(matches, n_models)))
    assert np.isnan(statistic(np.ones((1, 1)))).all()
