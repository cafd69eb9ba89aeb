"""Reviews that go wrong: unusable replies, reviewers that fail, answers that do not fit."""

import dataclasses
import json
from collections.abc import Mapping
from typing import Any, TypeVar

import anyio
import numpy as np
import pytest
from inspect_ai.model import Model, ModelOutput, ModelUsage, get_model

from tests.scorers.judges import NotingJudge, contest_of, ladder, names
from tests.scorers.reviews import by_reviewer, panel, peers, review
from tiebreak.scorers.ballots import ItemBallots
from tiebreak.scorers.contest import Contest
from tiebreak.scorers.judge import ModelFailedError, Question, Reply
from tiebreak.scorers.model_judge import ModelJudge
from tiebreak.scorers.placement import NotPlacedError, place, review_ranks
from tiebreak.scorers.protocols import find_protocol, judge_item

T = TypeVar("T")


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
        ({"R3": 1}, "at least two responses"),
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


def test_silence_of_all_is_an_item_without_a_ranking() -> None:
    ballots = review(contest_of(3), panel(3, silent=lambda question: True))
    assert ballots.complete
    assert len(ballots.calls) == 6  # a try and its repair each
    with pytest.raises(NotPlacedError, match=r"kemeny_young can use no review \(silent\)"):
        place(ballots)
