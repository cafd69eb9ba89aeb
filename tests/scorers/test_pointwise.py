"""Points for each candidate on its own, with and without a rubric that is written first."""

from dataclasses import replace

import anyio
import pytest

from tests.scorers.judges import (
    NotingJudge,
    contest_of,
    judged,
    judged_all,
    ladder,
    names,
    session_of,
    silent_on,
)
from tests.scorers.tournament import planted_contest
from tiebreak.scorers.baselines import SAMPLE_TASKS, share_rubric
from tiebreak.scorers.placement import NotPlacedError, place
from tiebreak.scorers.questions import RubricQuestion, ScoreQuestion
from tiebreak.scorers.rubric import load_rubric


def is_rubric(question: object) -> bool:
    return isinstance(question, RubricQuestion)


def test_points_are_grades_over_ten_and_equal_ones_are_tied() -> None:
    quality = {"a": 9.0, "b": 7.0, "c": 7.0, "d": 10.0}
    ballots = judged("pointwise", planted_contest(quality), NotingJudge(quality))
    assert {one.candidate: one.score for one in ballots.scores} == pytest.approx(
        {"a": 0.9, "b": 0.7, "c": 0.7, "d": 1.0}
    )
    assert place(ballots).order == (("d",), ("a",), ("b", "c"))


def test_who_is_unscored_has_no_rank() -> None:
    ballots = judged("pointwise", contest_of(4), NotingJudge(ladder(4), silent=silent_on("m00")))
    assert place(ballots).order == (("m01",), ("m02",), ("m03",))
    [unscored] = [one for one in ballots.scores if one.unscored]
    assert (unscored.candidate, unscored.score, unscored.grades) == ("m00", None, {})
    assert len(ballots.calls) == 3 + 4  # two tries and two repairs for it


def test_points_of_one_candidate_are_no_ranking() -> None:
    judge = NotingJudge(ladder(3), silent=lambda question: not silent_on("m00")(question))
    with pytest.raises(NotPlacedError, match=r"fewer than two candidates have points \(silent\)"):
        place(judged("pointwise", contest_of(3), judge))


@pytest.mark.parametrize("n_items", [1, 2, 7])
def test_one_rubric_for_all_items_that_are_judged_at_the_same_time(n_items: int) -> None:
    contests = [contest_of(3, item_id=str(i)) for i in range(n_items)]
    judge = NotingJudge(ladder(3))
    items = judged_all("fixed_rubric", contests, judge)
    [written] = [question for question in judge.asked if is_rubric(question)]
    assert isinstance(written, RubricQuestion)
    assert written.tasks == tuple(c.task for c in contests[:SAMPLE_TASKS])
    # The item that needed it first holds the call; all others waited, and hold what came of it.
    assert sorted(len(item.calls) for item in items) == [3] * (n_items - 1) + [4]
    for item in items:
        assert len(item.criteria) == 4
        assert {call.depth for call in item.calls if call.kind == "score"} == {1}
    graded = [question for question in judge.asked if isinstance(question, ScoreQuestion)]
    assert len(graded) == 3 * n_items
    assert all(question.criteria == items[0].criteria for question in graded)


def test_every_benchmark_and_task_type_has_a_rubric_of_its_own() -> None:
    one = contest_of(2, item_id="1")
    other = replace(contest_of(2, item_id="2"), benchmark="other")
    typed = replace(
        contest_of(2, item_id="3"), rubric_name="general_qa", rubric=load_rubric("general_qa")
    )
    judge = NotingJudge(ladder(2))
    judged_all("fixed_rubric", [one, other, typed, one], judge)
    written = [question for question in judge.asked if isinstance(question, RubricQuestion)]
    assert sorted((q.benchmark, q.rubric.task_type) for q in written) == [
        ("other", "math_reasoning"),
        ("planted", "general_qa"),
        ("planted", "math_reasoning"),
    ]


def test_without_a_rubric_nobody_is_graded_and_all_are_told_why() -> None:
    contests = [contest_of(3, item_id=str(i)) for i in range(4)]
    judge = NotingJudge(ladder(3), silent=is_rubric)
    items = judged_all("fixed_rubric", contests, judge)
    assert all(map(is_rubric, judge.asked))
    assert len(judge.asked) == 2  # asked again once, and not for every item
    assert sum(len(item.calls) for item in items) == 4
    for item in items:
        assert item.complete
        assert item.criteria == ()
        assert [one.candidate for one in item.scores] == names(3)
        reasons = {one.unscored for one in item.scores}
        assert reasons == {"the rubric call gave no usable reply (silent)"}
        with pytest.raises(NotPlacedError, match="rubric call gave no usable reply"):
            place(item)


def test_when_the_first_item_fails_the_next_one_asks_for_the_rubric() -> None:
    contests = [contest_of(2, item_id=str(i)) for i in range(2)]
    [shared] = share_rubric(contests).values()
    asked = []

    class Failing(NotingJudge):
        async def ask(self, question, *, depth, attempt=0):  # type: ignore[no-untyped-def]
            asked.append(question)
            await anyio.sleep(0)
            if len(asked) == 1:
                raise RuntimeError("the provider fails")
            return await super().ask(question, depth=depth, attempt=attempt)

    async def run() -> None:
        judge = Failing(ladder(2))
        with pytest.raises(RuntimeError):
            await shared.of(session_of(contests[0], judge))
        assert (await shared.of(session_of(contests[1], judge))).value is not None

    anyio.run(run)
    assert len(asked) == 2
