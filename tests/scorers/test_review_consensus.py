"""From the reviews of an item to its ranking."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.scorers.judges import contest_of, names
from tests.scorers.reviews import panel, review
from tiebreak.rankers import AGGREGATORS, aggregate_items
from tiebreak.rankers.errors import UnprovenOrderError
from tiebreak.scorers.ballots import ItemBallots, Listing, Reviewer
from tiebreak.scorers.placement import NotPlacedError, place


@st.composite
def profiles(draw: st.DrawFn) -> list[list[int | None]]:
    """Places that up to five reviewers give two to six candidates, ties and gaps included."""
    n, reviewers = draw(st.integers(2, 6)), draw(st.integers(1, 5))
    place_ = st.one_of(st.none(), st.integers(1, n))
    return draw(st.lists(st.lists(place_, min_size=n, max_size=n), min_size=reviewers, max_size=5))


def with_places(rows: Sequence[Sequence[int | None]], method: str) -> ItemBallots:
    n = len(rows[0])
    listings = []
    for number, row in enumerate(rows):
        given = sorted({own for own in row if own is not None})
        groups = [tuple(m for m, own in zip(names(n), row, strict=True) if own == p) for p in given]
        listings.append(Listing(groups=tuple(groups), reviewer=f"r{number}"))
    contest = contest_of(n)
    return contest.ballots("peer_review", "consensus").model_copy(
        update={
            "listings": tuple(listings),
            "reviewers": tuple(Reviewer(name=f"r{i}", model="x") for i in range(len(rows))),
            "aggregator": method,
            "complete": True,
        }
    )


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(profiles(), st.sampled_from(sorted(AGGREGATORS)))
def test_the_placement_is_the_consensus(rows: list[list[int | None]], method: str) -> None:
    ballots = with_places(rows, method)
    table = np.array([[np.nan if own is None else own for own in row] for row in rows])
    expected = dict(zip(ballots.models, aggregate_items(table[None], method)[0], strict=True))
    ranked = {model: rank for model, rank in expected.items() if not np.isnan(rank)}
    if not ranked:
        with pytest.raises(NotPlacedError, match=f"{method} can use no review"):
            place(ballots)
        return
    placement = place(ballots)
    assert placement.ranks == pytest.approx(ranked)
    best_first = [[placement.ranks[model] for model in group] for group in placement.order]
    assert all(max(one) - min(one) < 1e-9 for one in best_first)
    assert all(better[0] < worse[0] for better, worse in pairwise(best_first))
    assert {model for group in placement.order for model in group} == ranked.keys()


def test_an_item_without_a_proven_order_is_not_placed(monkeypatch: pytest.MonkeyPatch) -> None:
    def unproven(*_: object) -> None:
        raise UnprovenOrderError("the search takes too much memory")

    monkeypatch.setattr("tiebreak.scorers.placement.aggregate_items", unproven)
    with pytest.raises(NotPlacedError, match="kemeny_young finds no ranking: the search takes"):
        place(with_places([[1, 2, 3]], "kemeny_young"))


def test_the_method_is_kept_with_the_ballots() -> None:
    ballots = review(contest_of(3), panel(3), method="borda")
    assert ballots.aggregator == "borda"
    assert review(contest_of(3), panel(3)).aggregator == "kemeny_young"


def test_methods_may_differ() -> None:
    # m00 has a majority over each other one; m01 has the best mean: 1.5 … 2 against 2.2.
    rows = [[1, 2, 3, 4]] * 3 + [[4, 1, 2, 3]] * 2
    assert place(with_places(rows, "kemeny_young")).order[0] == ("m00",)
    # (3 · 1 + 2 · 4) / 5 = 2.2 and (3 · 2 + 2 · 1) / 5 = 1.6
    assert place(with_places(rows, "average")).order[0] == ("m01",)
