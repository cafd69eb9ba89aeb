"""Peer review by real runs: what reviewers say, and what is made of it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from inspect_ai import score
from scipy.stats import kendalltau, pearsonr

from tests.inspect_tasks.reviews import (
    ITEMS,
    MODELS,
    NOISY,
    N,
    answer,
    only_panel,
    quality,
    review,
    said,
    write_answers,
)
from tests.inspect_tasks.runs import ballots_of, boards_by_protocol, real_calls, write_pool
from tiebreak.analysis.alignment import align
from tiebreak.rankers import aggregate_items, peer_views
from tiebreak.scorers.ranking import exact_values, ranking
from tiebreak.tables.human import HumanRanking

pytestmark = pytest.mark.slow

# What is planted: m0 prefers itself, m1 prefers m2, the others are fair.
BIASED = ["planted/me=0+self=2", "planted/me=1+friend=2+ally=1", "planted/me=2", "planted/me=3"]


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_answers(tmp_path_factory.mktemp("pool"))


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


def test_leaving_out_self_assigned_ranks_undoes_self_preference(pool: Path, tmp_path: Path) -> None:
    fair = [f"planted/me={m}+noise=0.2+seed={m}" for m in range(N)]
    selfish = ["planted/me=0+self=2+noise=0.2+seed=0", *fair[1:]]
    review(pool, tmp_path / "fair", fair)
    review(pool, tmp_path / "selfish", selfish)
    views = [
        peer_views(panel.ranks, panel.own)
        for panel in (only_panel(tmp_path / "fair"), only_panel(tmp_path / "selfish"))
    ]
    # Its own rank aside, m0 says the same about the others.
    assert np.array_equal(views[0].self_free, views[1].self_free)
    assert views[1].gap[0] - views[0].gap[0] > 0.5
    assert views[1].sia[0] < views[0].sia[0]


def test_views_beside_people(pool: Path, tmp_path: Path) -> None:
    """SR, PR and both consensuses of a real log, against people who know the qualities (fig. 4)."""
    review(pool, tmp_path / "out", [*BIASED[:3], "planted/x"], reviewers=[*MODELS[:3], None])
    people = np.array(ranked([sum(quality(m, i) for i in range(ITEMS)) for m in range(N)]))
    human = HumanRanking("arena.csv", {"": dict(zip(MODELS, people.tolist(), strict=True))})
    [one] = align([tmp_path / "out"], human, methods=["kemeny_young"]).benchmarks
    views = {rater.name: rater for rater in one.raters if rater.kind == "view"}
    ranks = expected_ranks([{0: 2}, {2: 1}, {}, {}]).astype(float)
    own = np.array([[k == m for m in range(N)] for k in range(3)] + [[False] * N])
    said = {
        "SR": np.nanmax(np.where(own, ranks, np.nan)[:, :3, :3], axis=1),
        "PR": np.nanmean(np.where(own, np.nan, ranks), axis=1),
        "SIA": aggregate_items(ranks),
        "SFA": aggregate_items(np.where(own, np.nan, ranks)),
    }
    for name, places in said.items():
        whole = people[: places.shape[1]]
        expected = [
            kendalltau(row, whole).statistic if np.ptp(row) > 1e-9 else np.nan for row in places
        ]
        np.testing.assert_allclose(views[name].kendall.values, expected, atol=1e-12)
        macro = pearsonr(places.mean(axis=0), whole).statistic
        assert views[name].pearson.macro.value == pytest.approx(macro)
    assert "No SR of m3: no reviewer is this candidate" in map(str, one.notes)
    assert views["SR"].kendall.mean.value < views["SFA"].kendall.mean.value


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


def test_scores_can_be_computed_again(pool: Path, tmp_path: Path, calls: Path) -> None:
    log = review(pool, tmp_path / "out")
    paid = len(real_calls(calls))
    again = score(log, ranking(), action="overwrite")
    assert again.results is not None
    assert log.results is not None
    assert [(one.name, one.metrics) for one in again.results.scores] == [
        (one.name, one.metrics) for one in log.results.scores
    ]
    assert len(real_calls(calls)) == paid == N * ITEMS


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


def test_a_small_context_leaves_out_the_longest(tmp_path: Path, calls: Path) -> None:
    def lengthy(model: int, item: int) -> str:
        return answer(model, item) + " at great length" * (100 if model == 1 and item > 2 else 0)

    pool = write_pool(tmp_path / "logs", N, ITEMS, lengthy)
    peers = [*NOISY[:3], "planted/context=2500"]
    log = review(pool, tmp_path / "out", peers)
    assert log.status == "success"
    items = ballots_of(log)
    assert {name: item.listings[3].left_out for name, item in items.items()} == {
        **dict.fromkeys(["q0", "q1", "q2"], ()),
        **dict.fromkeys(["q3", "q4", "q5"], ("m1",)),
    }
    for item in items.values():
        *others, small = item.listings
        assert not any(one.left_out for one in others)
        assert sorted((*small.shown, *small.left_out)) == MODELS
        assert small.unscored is None
        calls_of = [call for call in item.calls if call.reviewer == "m3"]
        assert len(calls_of) == len(small.left_out) + 1
        assert not any(call.repair for call in calls_of)
    panel = only_panel(tmp_path / "out")
    assert np.array_equal(np.isnan(panel.shown), np.isnan(panel.ranks))
    # The question that was too long is not asked again either.
    paid = len(real_calls(calls))
    assert said(review(pool, tmp_path / "again", peers)) == said(log)
    assert len(real_calls(calls)) == paid


def test_sparse_reviews(pool: Path, tmp_path: Path, calls: Path) -> None:
    log = review(pool, tmp_path / "out", degree=2)
    assert len(real_calls(calls)) == N * ITEMS
    panel = only_panel(tmp_path / "out")
    assert panel.degree == 2
    seen = ~np.isnan(panel.shown)
    assert (seen.sum(axis=2) == 2).all()
    assert (seen.sum(axis=1) == 2).all()
    assert not seen[:, range(N), range(N)].any()
    assert len({row.tobytes() for row in seen}) > 1  # drawn for each item
    board = boards_by_protocol(tmp_path / "out")["peer_review"]
    assert board.n_items == ITEMS
    assert said(review(pool, tmp_path / "again", degree=2)) == said(log)


def test_identical_answers_are_shown_once(tmp_path: Path, calls: Path) -> None:
    def twins(model: int, item: int) -> str:
        return "four" if item == 1 else answer(0 if model == 1 else model, item)

    pool = write_pool(tmp_path / "logs", N, 2, twins)
    log = review(pool, tmp_path / "out")
    items = ballots_of(log)
    assert items["q1"].calls == ()
    assert len(real_calls(calls)) == N
    assert all(sorted(one.shown) == ["m0", "m2", "m3"] for one in items["q0"].listings)
    panel = only_panel(tmp_path / "out")
    assert np.array_equal(panel.ranks[0, :, 0], panel.ranks[0, :, 1])
    assert [one.name for one in panel.reviewers] == MODELS
    assert np.isnan(panel.ranks[1]).all()
    # Three others there are not: all are shown, as without a degree.
    assert said(review(pool, tmp_path / "sparse", degree=3)) == said(log)
    assert len(real_calls(calls)) == N
