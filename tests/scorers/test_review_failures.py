"""Reviews that go wrong: reviewers that fail, answers that do not fit."""

import dataclasses
from collections.abc import Mapping
from typing import Any, TypeVar

import anyio
import pytest

from tests.cases import cases
from tests.scorers.judges import NotingJudge, contest_of, ladder, names
from tests.scorers.reviews import by_reviewer, panel, peers, review
from tiebreak.scorers.ballots import ItemBallots
from tiebreak.scorers.contest import Contest
from tiebreak.scorers.judge import ModelFailedError, Question, Reply
from tiebreak.scorers.placement import NotPlacedError, place
from tiebreak.scorers.protocols import find_protocol, judge_item

T = TypeVar("T")


# Reviewers that fail.


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
    cases(__file__, "lengths"),
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
