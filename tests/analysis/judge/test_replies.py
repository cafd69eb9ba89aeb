from dataclasses import replace

import pytest
from scipy.stats import binomtest

from tests.ranking_logs.builders import call, graded, item, listed, match
from tiebreak.analysis.judge.figures import judge_replies


def test_questions_by_judge() -> None:
    items = [
        # Two orders are two questions; the second match has no verdict. The repetition and the
        # repair are further tries of a question, no further questions.
        item(
            "q1",
            [match("a", "b", 0.3, second_order=0.1), match("b", "c", None)],
            calls=[call("seed", model="s/seeder"), *[call()] * 3, call(attempt=1, repair=True)],
        ),
        item("q2", [match("a", "b", 0.3)], calls=[call(model="j/other")]),
        listed("q3", None, calls=[call("list")]),
        graded("q4", {"a": 0.5, "b": None}, calls=[call("score", model="j/other")] * 2),
    ]
    mine, other = judge_replies(items)
    assert (mine.model, mine.n_questions, mine.n_unscored) == ("j/judge", 4, 2)
    assert (other.model, other.n_questions, other.n_unscored) == ("j/other", 3, 1)
    assert mine.unscored_rate == 0.5
    expected = binomtest(1, 3).proportion_ci(0.95, method="wilson")
    assert (other.lower, other.upper) == pytest.approx((expected.low, expected.high))


def test_a_reply_that_a_repetition_replaced_is_no_question() -> None:
    first = match("a", "b", 0.3)
    again = replace(first, discarded=match("a", "b", None).verdicts)
    [judge] = judge_replies([item("q", [again], calls=[call(), call(attempt=1)])])
    assert (judge.n_questions, judge.n_unscored) == (1, 0)


def test_a_match_with_one_verdict_of_two_has_an_unusable_reply() -> None:
    first = match("a", "b", 0.3)
    half = replace(first, verdicts=(*first.verdicts, *match("a", "b", None).verdicts))
    [judge] = judge_replies([item("q", [half], calls=[call()] * 2)])
    assert (judge.n_questions, judge.n_unscored) == (2, 1)


def test_who_was_not_asked_owes_no_reply() -> None:
    """Without its rubric `fixed_rubric` asks for no points: all are unscored, by no judge."""
    items = [graded("q", {"a": None, "b": None}, calls=[call("rubric")])]
    assert judge_replies(items) == ()
    assert judge_replies([]) == ()
