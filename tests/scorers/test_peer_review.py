"""Peer review: who is shown what, in full and in sparse mode."""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import anyio
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.scorers.judges import NotingJudge, contest_of, ladder, names
from tests.scorers.reviews import by_reviewer, orders, panel, peers, review
from tests.scorers.tournament import planted_contest
from tiebreak.rankers import AGGREGATORS, aggregate_items
from tiebreak.rankers.errors import UnprovenOrderError
from tiebreak.scorers.ballots import ItemBallots, Listing, Reviewer
from tiebreak.scorers.placement import NotPlacedError, place
from tiebreak.scorers.protocols import find_protocol, judge_item
from tiebreak.scorers.questions import ListQuestion, ReviewQuestion
from tiebreak.scorers.session import ProtocolError


@pytest.mark.parametrize(("n", "outsiders"), [(2, 0), (2, 1), (5, 2), (30, 0), (3, 27)])
def test_every_reviewer_ranks_all_answers_once_its_own_among_them(n: int, outsiders: int) -> None:
    judge = panel(n, outsiders)
    ballots = review(contest_of(n), judge)
    assert [q.reviewer for q in judge.reviewed] == [one.name for one in judge.reviewers]
    assert len(judge.asked) == len(ballots.calls) == n + outsiders
    assert ballots.reviewers == judge.reviewers
    for question, (name, listing) in zip(judge.reviewed, by_reviewer(ballots).items(), strict=True):
        assert question.reviewer == name
        assert list(question.labelled) == [f"R{i}" for i in range(1, n + 1)]
        assert tuple(question.labelled.values()) == listing.shown
        assert sorted(listing.shown) == names(n)
        # The candidates are named from the best to the worst.
        assert listing == Listing(
            groups=tuple((m,) for m in names(n)), reviewer=name, shown=listing.shown
        )
    # All at the same time, and each call on the bill of its reviewer.
    assert {call.depth for call in ballots.calls} == {0}
    assert {(call.role, call.kind) for call in ballots.calls} == {("peers", "list")}
    assert [call.reviewer for call in ballots.calls] == [one.name for one in judge.reviewers]
    assert place(ballots).order == tuple((m,) for m in names(n))


def test_who_has_no_reviewers_is_told() -> None:
    async def run() -> None:
        with pytest.raises(ProtocolError, match="a panel of reviewers, but the judge has none"):
            await judge_item(find_protocol("peer_review"), contest_of(3), NotingJudge(ladder(3)))

    anyio.run(run)


def test_every_reviewer_has_an_order_of_its_own() -> None:
    first = orders(review(contest_of(8), panel(8)))
    assert orders(review(contest_of(8), panel(8))) == first
    assert len(set(first.values())) == 8  # of 8! = 40,320
    item = orders(review(contest_of(8, item_id="another"), panel(8)))
    seed = orders(review(contest_of(8, seed=1), panel(8)))
    for name, shown in first.items():
        assert len({shown, item[name], seed[name]}) == 3
    # It does not hang on who else is asked: a panel that grows pays for the newcomers only.
    more = orders(review(contest_of(8), panel(8, outsiders=3)))
    assert {name: more[name] for name in first} == first


def test_a_prompt_names_nobody_and_is_the_same_for_all() -> None:
    models = ["acme/zeta-9000", "globex/omega-pro", "initech/sigma"]
    contest = planted_contest({name: float(i) for i, name in enumerate(models)})
    reviewers = tuple(Reviewer(name=m, model=f"lab/{m}", candidate=m) for m in models)
    judge = NotingJudge({name: float(i) for i, name in enumerate(models)}, reviewers=reviewers)
    review(contest, judge)
    assert len(judge.reviewed) == 3
    for question in judge.reviewed:
        prompt = question.prompt()
        for word in ("acme", "zeta", "globex", "omega", "initech", "sigma", "lab/"):
            assert word not in prompt.system + prompt.user
        # Word for word what a judge of listwise ranking reads, whoever is asked.
        assert prompt == ListQuestion(contest, question.labelled).prompt()
        assert prompt == ReviewQuestion(contest, question.labelled, "another").prompt()


# Sparse mode.


@pytest.mark.slow
@pytest.mark.parametrize(("n", "outsiders", "degree"), [(6, 0, 3), (6, 2, 2), (30, 0, 3)])
def test_sparse_reviewers_see_a_few_of_the_others(n: int, outsiders: int, degree: int) -> None:
    judge = panel(n, outsiders)
    ballots = review(contest_of(n), judge, degree=degree)
    assert len(ballots.calls) == n + outsiders
    assert orders(ballots) == {q.reviewer: tuple(q.labelled.values()) for q in judge.reviewed}
    reviews: Counter[str] = Counter()
    for name, listing in by_reviewer(ballots).items():
        assert len(set(listing.shown)) == degree
        assert name not in listing.shown
        assert listing.left_out == ()
        assert listing.groups == tuple((m,) for m in sorted(listing.shown))
        reviews.update(listing.shown)
    # Everybody is reviewed equally often.
    fair, more = divmod((n + outsiders) * degree, n)
    assert sorted(reviews.values()) == [fair] * (n - more) + [fair + 1] * more
    # Each answer can be compared with each other one, in a chain of ballots.
    reached, seen = {names(n)[0]}, -1
    while seen != len(reached):
        seen = len(reached)
        for listing in ballots.listings:
            if reached & set(listing.shown):
                reached |= set(listing.shown)
    assert reached == set(names(n))
    assert place(ballots).ranks.keys() == set(names(n))


# Identical answers.


def test_an_identical_answer_is_an_own_answer_in_sparse_mode() -> None:
    twins = {"m00": ["m01", "m02"]}
    qualities = {"m00": 4.0, "m03": 3.0, "m04": 2.0, "m05": 1.0}
    judge = NotingJudge(qualities, reviewers=peers(6))
    for item in range(10):
        contest = planted_contest(qualities, twins=twins, item_id=str(item))
        shown = orders(review(contest, judge, degree=2))
        assert {len(one) for one in shown.values()} == {2}
        for name, one in shown.items():
            assert ("m00" if name in ("m01", "m02") else name) not in one


def test_all_is_shown_where_reviewers_of_others_answers_cannot_link_all() -> None:
    """All reviewers gave one answer: nobody else could review it."""
    qualities = {"m00": 4.0, "m02": 3.0, "m03": 2.0, "m04": 1.0}
    contest = planted_contest(qualities, twins={"m00": ["m01"]})
    judge = NotingJudge(qualities, reviewers=peers(2))
    ballots = review(contest, judge, degree=3)
    assert ballots == review(contest, judge)
    assert place(ballots).ranks == {"m00": 1.5, "m01": 1.5, "m02": 3, "m03": 4, "m04": 5}
    # One more reviewer, who gave another answer, is enough.
    judge = NotingJudge(qualities, reviewers=peers(3))
    assert {len(one) for one in orders(review(contest, judge, degree=2)).values()} == {2}


# From the reviews of an item to its ranking.


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


def test_the_graph_is_drawn_for_each_item() -> None:
    def graph(**more: Any) -> dict[str, frozenset[str]]:
        shown = orders(review(contest_of(8, **more), panel(8), degree=3))
        return {name: frozenset(one) for name, one in shown.items()}

    assert graph() == graph()
    others = [graph(item_id=str(i)) for i in range(5)] + [graph(seed=s) for s in range(1, 6)]
    assert all(other != graph() for other in others)


@pytest.mark.parametrize("degree", [4, 5, 30])
def test_a_degree_that_leaves_nothing_out_is_the_full_mode(degree: int) -> None:
    full = review(contest_of(4), panel(4))
    assert review(contest_of(4), panel(4), degree=degree) == full
    assert all(name in one.shown for name, one in by_reviewer(full).items())
