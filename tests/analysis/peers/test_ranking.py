"""The ranking of a peer review: by hand, with brute force as oracle, and what cannot be ranked."""

from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.analysis.peers.builders import by_scores, identical, panel_of, read_panels, reviews
from tests.ranking_logs.builders import sample, write_log
from tiebreak.analysis.peers.panel import Panel
from tiebreak.analysis.peers.review import PeerRanking, item_elections, peer_ranking
from tiebreak.rankers import Resampling, aggregate_items, check_certificate

HOW = Resampling(draws=200)


def ranking(panel: Panel, *methods: str) -> PeerRanking:
    chosen = methods or ("kemeny_young",)
    return peer_ranking(panel, chosen, aggregate_items(panel.ranks, chosen[0]), HOW)


def disagreements(order: tuple[int, ...], ballots: NDArray[np.float64]) -> int:
    """Pairs of a before b for which a ballot ranks b strictly before a."""
    return sum(
        bool(ballot[b] < ballot[a])
        for ballot in ballots
        for place, a in enumerate(order)
        for b in order[place + 1 :]
    )


def test_epochs_of_an_item_are_drawn_together(tmp_path: Path) -> None:
    items = [reviews("q1", dict.fromkeys("ab", order)) for order in ("ab", "ba", "ab")]
    log = write_log(tmp_path / "1.eval", [sample(one, f"q1 {n}") for n, one in enumerate(items)])
    [panel] = read_panels([log])
    first = ranking(panel).rows[0]
    assert (first.model, first.n_items) == ("a", 1)
    assert first.mean_rank == pytest.approx(4 / 3)
    assert np.isnan(first.lower)


@pytest.mark.slow
def test_the_orders_of_items_by_brute_force(tmp_path: Path) -> None:
    scores = np.random.default_rng(2).normal(size=(12, 4, 4))
    panel = panel_of(tmp_path, *by_scores(scores))
    cost = unique = 0
    for ballots in panel.ranks:
        costs = sorted(disagreements(order, ballots) for order in permutations(range(4)))
        cost += costs[0]
        unique += costs[0] < costs[1]
    found = ranking(panel).orders
    assert (found.n_items, found.cost, found.n_unique) == (12, cost, unique)
    assert 0 < unique < 12
    # Four ballots of four candidates without ties: 6 pairs each.
    assert found.pairs == 12 * 4 * 6


def test_certificates_of_items_can_be_checked(tmp_path: Path) -> None:
    scores = np.random.default_rng(3).normal(size=(5, 5, 5))
    panel = panel_of(tmp_path, *by_scores(scores), identical("same", "abcde"))
    *elections, last = item_elections(panel)
    assert last is None
    for number, (election, ballots) in enumerate(zip(elections, panel.ranks, strict=False)):
        assert election is not None
        assert election.kemeny is not None
        assert election.name == f"q{number}"
        assert election.kemeny.cost == min(
            disagreements(order, ballots) for order in permutations(range(5))
        )
        check_certificate(ballots, election.kemeny)


def test_a_model_that_nobody_ranks_has_no_place(tmp_path: Path) -> None:
    panel = panel_of(
        tmp_path,
        *(reviews(f"q{k}", {"a": "ab", "b": "ab", "X1": "ba"}, models="abc") for k in range(3)),
    )
    found = ranking(panel, "kemeny_young", "kendall", "average")
    assert [(row.model, row.rank, row.at_once) for row in found.rows] == [
        ("a", 1, 1),
        ("b", 2, 2),
        ("c", None, None),
    ]
    assert np.isnan(found.rows[2].mean_rank)
    assert found.rows[2].n_items == 0
    assert list(found.by_method.consensuses) == ["kemeny_young", "kendall", "average"]


def test_a_method_that_reads_nothing_is_named(tmp_path: Path) -> None:
    # Every ballot leaves one answer out, and Kendall reads complete ones only.
    panel = panel_of(
        tmp_path, *(reviews(f"q{k}", {"a": "bc", "b": "ac", "c": "ab"}) for k in range(3))
    )
    found = ranking(panel, "kemeny_young", "kendall")
    assert list(found.by_method.consensuses) == ["kemeny_young"]
    assert list(found.by_method.failed) == ["kendall"]
