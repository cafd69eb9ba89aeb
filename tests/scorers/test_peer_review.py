"""Peer review: who is shown what, and what becomes of the replies."""

import dataclasses
import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, TypeVar

import anyio
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inspect_ai.model import Model, ModelOutput, ModelUsage, get_model

from tests.scorers.judges import NotingJudge, contest_of, judged, ladder, names, session_of
from tests.scorers.tournament import planted_contest
from tiebreak.rankers import METHODS, aggregate_items
from tiebreak.rankers.errors import UnprovenOrderError
from tiebreak.scorers.ballots import ItemBallots, Listing, Reviewer
from tiebreak.scorers.contest import Contest
from tiebreak.scorers.judge import Judge, ModelFailedError, Question, Reply
from tiebreak.scorers.model_judge import ModelJudge
from tiebreak.scorers.placement import NotPlacedError, place, review_ranks
from tiebreak.scorers.protocols import ProtocolError, find_protocol, judge_item
from tiebreak.scorers.questions import ListQuestion, ReviewQuestion

T = TypeVar("T")


def peers(n: int, outsiders: int = 0) -> tuple[Reviewer, ...]:
    """The first n candidates as reviewers, and some that are none."""
    inside = [Reviewer(name=name, model=f"acme/{name}", candidate=name) for name in names(n)]
    outside = [Reviewer(name=f"other/{i}", model=f"other/{i}") for i in range(outsiders)]
    return (*inside, *outside)


def panel(n: int, outsiders: int = 0, **more: Any) -> NotingJudge:
    return NotingJudge(ladder(n), reviewers=peers(n, outsiders), **more)


def review(contest: Contest, judge: Judge, **given: Any) -> ItemBallots:
    return judged("peer_review", contest, judge, **given)


def by_reviewer(ballots: ItemBallots) -> dict[str, Listing]:
    found = {one.reviewer: one for one in ballots.listings}
    assert len(found) == len(ballots.listings)
    return found


def orders(ballots: ItemBallots) -> dict[str, tuple[str, ...]]:
    return {name: one.shown for name, one in by_reviewer(ballots).items()}


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
        with pytest.raises(ProtocolError, match="asks a panel of reviewers, and there is none"):
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


def test_no_place_is_anybodys() -> None:
    n, items = 4, 300
    places: Counter[tuple[str, str, int]] = Counter()
    neighbours: Counter[tuple[str, str]] = Counter()
    for item in range(items):
        shown = orders(review(contest_of(n, item_id=str(item)), panel(n)))
        places.update((r, m, p) for r, order in shown.items() for p, m in enumerate(order))
        neighbours.update(pair for order in shown.values() for pair in pairwise(order))
    # Binomial(300, 1/4): 75 ± 7.5; 4⁓5 standard deviations over the 64 cells.
    assert len(places) == n**3
    assert all(abs(seen - 75) < 34 for seen in places.values())
    # Each of 12 ordered pairs is next to each other in 3 · 3!/4! · 2!/2! = 1/4 of the orders.
    assert all(abs(seen - 300) < 68 for seen in neighbours.values())
    assert len(neighbours) == n * (n - 1)


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


def test_equal_places_are_ties_and_what_is_left_out_has_none() -> None:
    tastes = {
        "m00": {"m00": 2.0, "m01": 1.0, "m02": 2.0, "m03": 1.0},
        "m01": {"m00": 3.0, "m01": 3.0, "m02": 3.0, "m03": 3.0},
        "m02": {"m03": 5.0, "m01": 4.0},
    }
    judge = NotingJudge(ladder(4), reviewers=peers(4), tastes=tastes)
    ballots = review(contest_of(4), judge)
    said = by_reviewer(ballots)
    assert said["m00"].groups == (("m00", "m02"), ("m01", "m03"))
    assert said["m01"].groups == (tuple(names(4)),)
    assert said["m02"].groups == (("m03",), ("m01",))  # a partial ballot
    assert said["m03"].groups == tuple((m,) for m in names(4))
    # No second turn and no second try.
    assert len(judge.asked) == len(ballots.calls) == 4
    assert all(one.unscored is None for one in ballots.listings)
    assert sorted(said["m02"].shown) == names(4)
    nan = math.nan
    expected = np.array([[1, 2, 1, 2], [1, 1, 1, 1], [nan, 2, nan, 1], [1, 2, 3, 4]])
    assert np.array_equal(review_ranks(ballots, names(4)), expected, equal_nan=True)


# Real replies, through the judge that repairs.


def reply(places: Mapping[str, Any] | str) -> ModelOutput:
    text = places if isinstance(places, str) else json.dumps({"places": places})
    output = ModelOutput.from_content("x", text)
    output.usage = ModelUsage()  # else the mock counts tokens, with a table from the network
    return output


def mocked(*outputs: ModelOutput) -> Model:
    return get_model("mockllm/model", custom_outputs=list(outputs), memoize=False)


FIRST_IS_BEST = {"R1": 1, "R2": 2, "R3": 3}


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ({**FIRST_IS_BEST, "R4": 4}, "none of R1, R2, R3"),
        ({"m00": 1, "m01": 2, "m02": 3}, "none of R1, R2, R3"),
        ('{"places": {"R1": 1, "R2": 2, "R1": 3}}', "names a key more than once"),
        ({"R3": 1}, "at least two responses"),
        ({}, "at least two responses"),
        ({"R1": 0, "R2": 1}, "R1 is 0, not a whole number from 1 to 3"),
        ("I would rather not say.", "no JSON object"),
        ("", "it is empty"),
    ],
)
@pytest.mark.parametrize("mends", [True, False])
def test_a_wrong_reply_gets_one_more_turn_and_is_then_unscored(
    bad: Mapping[str, Any] | str, words: str, mends: bool
) -> None:
    models = {
        "m00": mocked(reply(bad), reply(FIRST_IS_BEST if mends else bad)),
        "m01": mocked(reply(FIRST_IS_BEST)),
    }
    ballots = review(contest_of(3), ModelJudge(models, reviewers=peers(2)))
    assert [(c.reviewer, c.repair, c.attempt, c.depth) for c in ballots.calls] == [
        ("m00", False, 0, 0),
        ("m00", True, 0, 1),
        ("m01", False, 0, 0),
    ]
    wrong, right = ballots.listings
    assert right.groups == tuple((m,) for m in right.shown)
    if mends:
        assert wrong.unscored is None
        assert wrong.groups == tuple((m,) for m in wrong.shown)
        return
    assert words in (wrong.unscored or "")
    assert wrong.groups == ()  # and no tie of all
    assert np.isnan(review_ranks(ballots, names(3))[0]).all()
    # The other's ranking alone decides.
    assert place(ballots).order == right.groups


def test_a_partial_reply_gets_no_second_turn() -> None:
    models = {"m00": mocked(reply({"R3": 1, "R1": 3}))}
    ballots = review(contest_of(3), ModelJudge(models, reviewers=peers(1)))
    [listing] = ballots.listings
    assert listing.groups == ((listing.shown[2],), (listing.shown[0],))
    assert len(ballots.calls) == 1
    assert place(ballots).ranks == {listing.shown[2]: 1, listing.shown[0]: 2}


def test_a_reviewer_whose_reply_is_cut_short_by_its_context_is_not_asked_with_less() -> None:
    """Only a question that does not fit loses answers, not one whose repair turn does not."""
    too_long = reply("")
    too_long.choices[0].stop_reason = "model_length"
    models = {"m00": mocked(reply("No."), too_long)}
    ballots = review(contest_of(3), ModelJudge(models, reviewers=peers(1)))
    [listing] = ballots.listings
    assert listing.left_out == ()
    assert "model_length" in (listing.unscored or "")
    assert len(ballots.calls) == 2


# Reviewers that fail.


def test_one_reviewer_whose_provider_fails_does_not_end_the_item() -> None:
    judge = panel(4, failing=["m02"])
    ballots = review(contest_of(4), judge)
    assert ballots.complete
    said = by_reviewer(ballots)
    assert said["m02"].unscored == "error: m02 is out of order"
    assert said["m02"].groups == ()
    assert [name for name, one in said.items() if one.unscored is None] == ["m00", "m01", "m03"]
    assert [call.reviewer for call in ballots.calls] == ["m00", "m01", "m03"]
    assert np.isnan(review_ranks(ballots, names(4))[2]).all()
    assert place(ballots).order == tuple((m,) for m in names(4))


class Slow(NotingJudge):
    """Some of its calls have ended before the provider refuses the next one."""

    async def ask(self, question: Question[T], *, depth: int, attempt: int = 0) -> Reply[T]:
        answered = await NotingJudge(ladder(3)).ask(question, depth=depth, attempt=attempt)
        self.asked.append(question)
        error = ModelFailedError(f"{question.reviewer} went away")
        error.calls = answered.calls
        raise error


def test_an_item_errs_when_all_reviewers_fail_and_keeps_what_was_paid_for() -> None:
    stages: list[ItemBallots] = []
    judge = Slow(ladder(3), reviewers=peers(3))

    async def run() -> None:
        with pytest.raises(ModelFailedError, match="m00 went away"):
            await judge_item(find_protocol("peer_review"), contest_of(3), judge, stages.append)

    anyio.run(run)
    last = stages[-1]
    assert not last.complete
    assert [call.reviewer for call in last.calls] == names(3)
    assert [one.unscored for one in last.listings] == [f"error: {m} went away" for m in names(3)]
    with pytest.raises(NotPlacedError, match="cut short"):
        place(last)


def test_silence_of_all_is_an_item_without_a_ranking() -> None:
    ballots = review(contest_of(3), panel(3, silent=lambda question: True))
    assert ballots.complete
    assert len(ballots.calls) == 6  # a try and its repair each
    with pytest.raises(NotPlacedError, match=r"kemeny_young can use no review \(silent\)"):
        place(ballots)


# Answers that do not fit.

LENGTHS = {"m00": 10, "m01": 50, "m02": 40, "m03": 40, "m04": 20}


def long_contest(lengths: Mapping[str, int] = LENGTHS) -> Contest:
    answers = {name: name[-1] * length for name, length in lengths.items()}
    return dataclasses.replace(contest_of(len(lengths)), answers=answers)


def fits_in(room: int) -> Any:
    """Whether all answers together have no more than so many characters."""
    return lambda q: sum(LENGTHS[name] for name in q.labelled.values()) <= room


@pytest.mark.parametrize(
    ("room", "left_out"),
    [
        (160, []),
        (159, ["m01"]),
        (110, ["m01"]),
        (109, ["m01", "m03"]),  # of two that are equally long, the later name first
        (69, ["m01", "m03", "m02"]),
        (30, ["m01", "m03", "m02"]),
    ],
)
def test_the_longest_answers_are_left_out_until_the_rest_fits(
    room: int, left_out: list[str]
) -> None:
    judge = panel(5, fits=fits_in(room))
    contest = long_contest()
    ballots = review(contest, judge)
    assert len(ballots.calls) == len(judge.asked) == 5 * (len(left_out) + 1)
    kept = [name for name in names(5) if name not in left_out]
    for name, listing in by_reviewer(ballots).items():
        assert listing.unscored is None
        assert list(listing.left_out) == left_out
        assert sorted(listing.shown) == kept
        assert listing.groups == tuple((m,) for m in kept)
        tries = [q for q in judge.reviewed if q.reviewer == name]
        calls = [call for call in ballots.calls if call.reviewer == name]
        assert [call.depth for call in calls] == [*range(len(tries))]
        for question in tries:
            # Whole answers, without a gap in their labels, and in the order of the first try.
            shown = list(question.labelled.values())
            assert list(question.labelled) == [f"R{i}" for i in range(1, len(shown) + 1)]
            assert shown == [m for m in tries[0].labelled.values() if m in shown]
            for model, answer in contest.answers.items():
                assert (f"\n{answer}\n" in question.prompt().user) == (model in shown)
        assert tuple(tries[-1].labelled.values()) == listing.shown
    # What nobody saw has no rank.
    assert place(ballots).ranks.keys() == set(kept)


def test_context_is_a_matter_of_each_reviewer() -> None:
    small = fits_in(110)
    judge = panel(5, fits=lambda q: q.reviewer != "m03" or small(q))
    ballots = review(long_contest(), judge)
    assert {name: one.left_out for name, one in by_reviewer(ballots).items()} == {
        **dict.fromkeys(names(5), ()),
        "m03": ("m01",),
    }
    assert place(ballots).order == tuple((m,) for m in names(5))


def test_a_reviewer_into_whose_context_no_two_answers_fit_is_unscored() -> None:
    judge = panel(5, fits=lambda q: q.reviewer != "m03")
    ballots = review(long_contest(), judge)
    listing = by_reviewer(ballots)["m03"]
    assert listing.unscored == "fewer than two answers fit its context"
    assert listing.groups == ()
    assert listing.shown == ()
    assert list(listing.left_out) == ["m01", "m03", "m02", "m04", "m00"]
    assert sum(call.reviewer == "m03" for call in ballots.calls) == 4  # of 5, 4, 3 and 2 answers
    assert place(ballots).order == tuple((m,) for m in names(5))


# Sparse mode.


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


def test_the_largest_sparse_degree_leaves_out_the_own_answer_alone() -> None:
    for name, listing in by_reviewer(review(contest_of(4), panel(4), degree=3)).items():
        assert sorted(listing.shown) == [m for m in names(4) if m != name]


# Identical answers.


def twins_contest() -> Contest:
    return planted_contest({"m00": 3.0, "m02": 2.0, "m03": 1.0}, twins={"m00": ["m01"]})


def test_identical_answers_are_shown_once_and_share_their_place() -> None:
    judge = NotingJudge({"m00": 3.0, "m02": 2.0, "m03": 1.0}, reviewers=peers(4))
    ballots = review(twins_contest(), judge)
    assert len(ballots.calls) == 4  # both who gave the answer are asked
    assert {frozenset(one.shown) for one in ballots.listings} == {frozenset(["m00", "m02", "m03"])}
    assert np.array_equal(review_ranks(ballots, names(4)), [[1, 1, 2, 3]] * 4)
    # A consensus without ties has them at 1.5 as well, by the mean of two optimal orders.
    assert place(ballots).ranks == {"m00": 1.5, "m01": 1.5, "m02": 3, "m03": 4}
    assert place(ballots).order == (("m00", "m01"), ("m02",), ("m03",))


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


def test_nobody_is_asked_where_all_answers_are_identical() -> None:
    judge = panel(3)
    ballots = review(planted_contest({"m00": 1.0}, twins={"m00": ["m01", "m02"]}), judge)
    assert ballots.complete
    assert judge.asked == []
    assert place(ballots).ranks == dict.fromkeys(names(3), 2.0)


# From ballots to a ranking.


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


@settings(deadline=None, max_examples=60)
@given(profiles(), st.sampled_from(sorted(METHODS)))
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


def test_reviews_of_a_protocol_of_ones_own() -> None:
    async def run() -> None:
        judge = panel(4)
        session = session_of(contest_of(4), judge)
        assert session.reviewers == judge.reviewers
        first, second = await session.reviews({"m00": ["m03", "m01"], "m02": names(4)})
        assert first.groups == (("m01",), ("m03",))
        assert second.groups == tuple((m,) for m in names(4))
        assert session.depth == 1
        [third] = await session.reviews({"m01": names(2)})
        assert list(session.ballots.listings) == [first, second, third]
        assert [call.depth for call in session.ballots.calls] == [0, 0, 1]

    anyio.run(run)
