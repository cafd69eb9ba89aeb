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


def test_by_hand(tmp_path: Path) -> None:
    panel = panel_of(
        tmp_path,
        reviews("q1", {"a": "abc", "b": "bac", "c": "abc"}),
        reviews("q2", {"a": "abc", "b": "bca", "c": "cab"}),
        reviews("q3", {"a": "bac", "b": "bac", "c": None}),
        identical("q4", "abc"),
    )
    found = ranking(panel, "kemeny_young", "borda")
    rows = {row.model: row for row in found.rows}
    # q1: abc. q2 goes round, at a cost of 4 by abc, bca and cab alike: the mean of the first and
    # the last by columns, abc and cab, is 1.5 2.5 2. q3: bac. Nobody is asked about q4.
    assert [row.model for row in found.rows] == ["a", "b", "c"]
    assert [rows[m].mean_rank for m in "abc"] == pytest.approx([4.5 / 3, 5.5 / 3, 8 / 3])
    assert [row.rank for row in found.rows] == [1, 2, 3]
    assert {row.n_items for row in found.rows} == {3}
    # All at once: a before b 4:4, a before c 6:2, b before c 7:1.
    assert [rows[m].at_once for m in "abc"] == [1, 2, 3]
    assert found.kemeny is not None
    assert (found.kemeny.cost, found.kemeny.n_optima, found.kemeny.optimal) == (7, 2, True)
    # Of q1 and q3 the order is unique, q2 has three. Cost 1 + 4 + 0 of 9 + 9 + 6 pairs.
    orders = found.orders
    assert (orders.n_items, orders.n_unique, orders.cost, orders.pairs) == (3, 2, 5, 24)
    # Borda ranks: q1 1 2 3; q2 all 2; q3 2 1 3.
    borda = found.by_method.consensuses["borda"]
    assert borda.scores.tolist() == pytest.approx([5 / 3, 5 / 3, 8 / 3])
    assert (borda.used, found.by_method.n_items) == (8, 3)


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
