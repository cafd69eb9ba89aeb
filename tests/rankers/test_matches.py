from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.rankers.ballots import FloatArray
from tests.rankers.rounds import ROUND, columns
from tiebreak.rankers.massey import least_squares
from tiebreak.rankers.matches import Matches, pair_points
from tiebreak.rankers.strength import bradley_terry, elo
from tiebreak.rankers.uncertainty import Resampling


@st.composite
def judgings(draw: st.DrawFn) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Results of all pairs on some items, shape (items, N, N), and whether a judge has to say them.

    Those of the first models are known: they gave one answer, or some of them passed a test. Which
    of the others are judged is drawn as well: NaN where they are not.
    """
    n, n_items = draw(st.integers(2, 5)), draw(st.integers(1, 6))
    result = np.full((n_items, n, n), np.nan)
    differ = np.ones((n_items, n, n), dtype=np.bool_)
    for item in range(n_items):
        known = draw(st.integers(0, n))
        differ[item, :known, :known] = False
        for one, other in combinations(range(n), 2):
            got = draw(
                st.sampled_from([0.0, 0.5, 1.0, *([None] if differ[item, one, other] else [])])
            )
            if got is not None:
                result[item, one, other], result[item, other, one] = got, 1 - got
    return result, differ


def table(result: FloatArray, differ: NDArray[np.bool_]) -> FloatArray:
    n_items, n, _ = result.shape
    upper = np.triu(np.ones((n, n), dtype=np.bool_), 1)
    parts = []
    for asked in (differ, ~differ):
        item, one, other = np.nonzero(~np.isnan(result) & upper & asked)
        found = result[item, one, other]
        parts.append(Matches.of(one, other, found, item, n, n_items) if len(item) else None)
    judged, known = parts
    return pair_points(judged, known, np.ones((n_items, n), dtype=np.bool_))


def met_everyone(result: FloatArray, differ: NDArray[np.bool_]) -> bool:
    met = np.any(~np.isnan(result) & differ, axis=0) | ~np.any(differ, axis=0)
    return bool(met[np.triu_indices(len(met), 1)].all())


@given(judgings())
def test_means_of_columns_are_means_over_opponents_of_pairs(
    given_results: tuple[FloatArray, NDArray[np.bool_]],
) -> None:
    result, differ = given_results
    if not met_everyone(result, differ):
        return
    n_items, n, _ = result.shape
    expected = []
    for one in range(n):
        pairs = []
        for other in set(range(n)) - {one}:
            apart = differ[:, one, other]
            judged = [r for r in result[apart, one, other] if not np.isnan(r)]
            mean = np.mean(judged) if judged else 0.0
            known = result[~apart, one, other].sum()
            pairs.append((apart.sum() * mean + known) / n_items)
        expected.append(np.mean(pairs))
    assert table(result, differ).mean(axis=0) == pytest.approx(expected, abs=1e-12)


def test_absent_models_have_no_cell_and_nothing_judged_is_a_half() -> None:
    present = np.array([[True, True, False], [True, True, True]])
    cells = pair_points(None, None, present)
    assert np.isnan(cells[0, 2])
    assert np.nan_to_num(cells, nan=0.5) == pytest.approx(0.5)


# What all that fit strengths have in common.

METHODS = [
    partial(bradley_terry, how=Resampling(draws=20, seed=3)),
    partial(elo, how=Resampling(draws=20, seed=3)),
    partial(least_squares, how=Resampling(draws=20, seed=3)),
    partial(least_squares, how=Resampling(draws=20, seed=3), closure=True),
]


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS, ids=range(4))
def test_neither_the_order_of_matches_nor_of_sides_nor_names_of_items_matter(method: Any) -> None:
    once = method(**columns(ROUND))
    turned = columns([(j, i, 1 - result, item) for i, j, result, item in reversed(ROUND)])
    for other in (turned, columns(ROUND) | {"items": ["a", "a", "b", "b", "c"]}):
        again = method(**other)
        for field in ("score", "lower", "upper", "first_share", "undefined"):
            np.testing.assert_array_equal(getattr(once, field), getattr(again, field))
    seeded = method(**columns(ROUND), how=Resampling(draws=20, seed=4))
    assert (seeded.undefined != once.undefined).any() or (seeded.lower != once.lower).any()
