"""Rows of one item are drawn together: copies of them are no evidence, and narrow no interval."""

from typing import Any

import numpy as np
import pytest

from tests.rankers.ballots import FloatArray, panel, uniform
from tiebreak import rankers
from tiebreak.rankers import Resampling
from tiebreak.rankers.linked import linked_scores

N = 25
RANKS = panel(14, N, 4, 5)
SHOWN = np.stack([uniform(np.random.default_rng(seed), 4, 5) for seed in range(N)])
SCORES = np.random.default_rng(2).random((N, 5)) + np.linspace(0.4, 0, 5)


def bounds(*estimates: Any) -> list[tuple[float, float, float, int]]:
    return [(one.value, one.lower, one.upper, one.n_items) for one in estimates]


def figures(copies: int, *, known: bool = True, seed: int = 0) -> dict[str, Any]:
    """Figures of all items so many times over, and whether it is known which rows are one item."""
    ranks, shown, scores = (np.repeat(rows, copies, axis=0) for rows in (RANKS, SHOWN, SCORES))
    items = np.repeat(np.arange(N), copies) if known else None
    how: dict[str, Any] = {"items": items, "how": Resampling(seed=seed, draws=500)}
    votes = rankers.effective_votes(ranks, scores, **how)
    means = rankers.bootstrap_items(scores, **how)
    linked = linked_scores(scores, items)
    pairs = rankers.separation(scores, range(5), items=items).pairs
    return {
        "without a reviewer": bounds(*rankers.leave_one_out(ranks, **how).distances),
        "places": bounds(*(one.tau for one in rankers.presentation_bias(ranks, shown, **how))),
        "W": bounds(rankers.kendall_w(ranks, **how)[1]),
        "agreement": bounds(rankers.reviewer_agreement(ranks, **how).panel),
        "votes": (votes.estimate, votes.at_least),
        "means": (means.mean, means.lower, means.upper),
        "linked": (linked.score, linked.error),
        "pairs": [(pair.p, pair.p_adjusted, pair.n_items) for pair in pairs],
    }


ONCE, THRICE, UNKNOWN, ANEW = (
    figures(1),
    figures(3),
    figures(3, known=False),
    figures(3, seed=1),
)


@pytest.mark.parametrize("name", ONCE)
def test_copies_count_once(name: str) -> None:
    first: FloatArray = np.array(ONCE[name])
    np.testing.assert_allclose(THRICE[name], first, rtol=1e-6)
    assert not np.allclose(UNKNOWN[name], first, rtol=0.02, equal_nan=True)


@pytest.mark.parametrize("name", ["without a reviewer", "votes", "means"])
def test_what_is_drawn_has_a_seed(name: str) -> None:
    assert not np.array_equal(ANEW[name], THRICE[name], equal_nan=True)
    np.testing.assert_array_equal(figures(3)[name], THRICE[name])
