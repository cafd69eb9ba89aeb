"""Peer review by real runs: what reviewers say, and what is made of it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.inspect_tasks.reviews import ITEMS, MODELS, N, only_panel, quality, review
from tests.inspect_tasks.runs import ballots_of, boards_by_protocol, real_calls
from tiebreak.rankers import peer_views
from tiebreak.scorers.ranking import exact_values

pytestmark = pytest.mark.slow

# What is planted: m0 prefers itself, m1 prefers m2, the others are fair.
BIASED = ["planted/me=0+self=2", "planted/me=1+friend=2+ally=1", "planted/me=2", "planted/me=3"]


def ranked(liking: Sequence[float]) -> list[int]:
    """Places of numbers, the highest first."""
    return [1 + sum(other > own for other in liking) for own in liking]


def expected_ranks(biases: Sequence[Mapping[int, float]]) -> np.ndarray[Any, Any]:
    """What planted reviewers say, shape (items, reviewers, models): the best first, by hand."""
    return np.array(
        [
            [ranked([quality(m, i) + bias.get(m, 0) for m in range(N)]) for bias in biases]
            for i in range(ITEMS)
        ]
    )


def test_planted_preferences_are_in_the_data(pool: Path, tmp_path: Path) -> None:
    log = review(pool, tmp_path / "out", [*BIASED, "planted/order=1"], reviewers=[*MODELS, None])
    assert log.status == "success"
    panel = only_panel(tmp_path / "out")
    assert panel.models == tuple(MODELS)
    assert panel.own == (0, 1, 2, 3, None)
    assert panel.item_ids == tuple(f"q{i}" for i in range(ITEMS))
    assert panel.degree is None
    assert panel.aggregator == "kemeny_young"
    assert np.array_equal(panel.native, np.ones((ITEMS, N)))
    ranks = expected_ranks([{0: 2}, {2: 1}, {}, {}])
    assert np.array_equal(panel.ranks[:, :4], ranks)
    # One that looks at nothing repeats what it was shown, each time in another order.
    assert np.array_equal(panel.ranks[:, 4], panel.shown[:, 4])
    assert len({tuple(row) for row in panel.shown.reshape(-1, N)}) > 10  # of 30, from 24

    # The gap of m0: it always has itself first, the others' mean is over four.
    views = peer_views(panel.ranks, panel.own)
    others = panel.ranks[:, 1:, 0].mean(axis=1)
    assert np.allclose(views.gaps[:, 0], others - 1)
    assert views.gap[0] > 1
    # m1's friend gains by it, which no self-preference shows.
    friendly = (panel.ranks[:, 1, 2] < panel.ranks[:, 2, 2]).sum()
    assert friendly >= 3
    assert views.gap[1] < 0.5


def test_the_method_that_was_asked_for_makes_the_scores(pool: Path, tmp_path: Path) -> None:
    log = review(pool, tmp_path / "out", method="average")
    assert {item.aggregator for item in ballots_of(log).values()} == {"average"}
    panel = only_panel(tmp_path / "out")
    assert panel.aggregator == "average"
    for sample, ranks in zip(log.samples or [], panel.ranks, strict=True):
        [found] = (sample.scores or {}).values()
        # Better than k others, and level with j: (k + j/2) / (N - 1).
        means = ranks.mean(axis=0)
        better = (means[:, None] < means - 1e-9).sum(axis=1)
        level = (abs(means[:, None] - means) < 1e-9).sum(axis=1) - 1
        expected = dict(zip(MODELS, (better + level / 2) / (N - 1), strict=True))
        assert exact_values(found) == pytest.approx(expected)


def test_unusable_and_partial_replies(pool: Path, tmp_path: Path, calls: Path) -> None:
    peers = ["planted/stranger=1", "planted/missing=0.4+seed=2", "planted/malformed=1", "planted/x"]
    log = review(pool, tmp_path / "out", peers)
    assert log.status == "success"
    items = ballots_of(log).values()
    strange, partial, silent, sound = (
        [one for item in items for one in item.listings if one.reviewer == name] for name in MODELS
    )
    assert all("none of R1, R2, R3, R4" in (one.unscored or "") for one in strange)
    assert all("no JSON object" in (one.unscored or "") for one in silent)
    assert not any(one.groups for one in (*strange, *silent))
    assert all(len(one.groups) == N for one in sound)
    # Labels that are left out are no mistake, unless fewer than two are left.
    assert {len(one.groups) for one in partial if one.unscored is None} >= {2, 3}
    turns = Counter((call.reviewer, call.repair) for item in items for call in item.calls)
    # Those who said nothing usable of any item are not asked to repair it.
    assert turns["m0", False] == turns["m2", False] == turns["m3", False] == ITEMS
    assert turns["m0", True] == turns["m2", True] == turns["m3", True] == 0
    assert len(real_calls(calls)) == sum(turns.values())
    # Those who say nothing usable leave the ranking to the others.
    board = boards_by_protocol(tmp_path / "out")["peer_review"]
    assert board.n_items == ITEMS
    ranks = only_panel(tmp_path / "out").ranks
    assert np.isnan(ranks[:, [0, 2]]).all()
    assert np.array_equal(ranks[:, 3], expected_ranks([{}])[:, 0])
