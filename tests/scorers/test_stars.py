"""Stars by the key: the paper's words, what a rule decides, and what a judge may then still say."""

import csv
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import cases
from tests.scorers.judges import NotingJudge, judged
from tests.scorers.tournament import planted_contest
from tiebreak.scorers.ballots import ItemBallots
from tiebreak.scorers.contest import Contest
from tiebreak.scorers.judge import Question
from tiebreak.scorers.placement import NotPlacedError, place
from tiebreak.scorers.ranking import ballots_table
from tiebreak.scorers.replies import parse_stars
from tiebreak.scorers.stars import (
    StarsQuestion,
    is_bare,
    key_truth,
    rated_by_rule,
    stated_truth,
)

# LLMEval-Fair, figure 11; what is put in stands in fences.
FIGURE_11 = (Path(__file__).parent / "figure_11.txt").read_text("utf-8").rstrip()
EXPLAINED = {
    "right": "False: the loop goes on. quality=3",
    "so-so": "False: it is a loop. quality=2",
    "wrong": "True, because every loop ends. quality=1",
    "nonsense": "True: loops are blue. quality=0",
}


class Rater(NotingJudge):
    """Gives the stars that an answer's text tells, whatever it is allowed to."""

    def _says(self, question: Question[Any]) -> dict[str, Any]:
        assert isinstance(question, StarsQuestion)
        found = re.search(r"quality=(\d)", question.contest.answers[question.candidate])
        return {"Overall Rating": int(found[1]) if found else 0, "reason": "It is as it is."}


def contest(answers: dict[str, str], key: str = "false", kind: str = "true_false") -> Contest:
    made = planted_contest(dict.fromkeys(answers, 0.0))
    return replace(made, answers=answers, target=key, question_type=kind)


def stars_of(ballots: ItemBallots) -> dict[str, int | None]:
    return {one.candidate: one.stars for one in ballots.scores}


@pytest.mark.parametrize("key", ["false", "the loop goes on"])
def test_the_prompt_is_that_of_the_paper(key: str) -> None:
    item = contest({"a": "False: it goes on.", "b": "Else."}, key)
    prompt = StarsQuestion(item, "a").prompt()
    shown = re.sub(r"\n<<< (\w{8})\n(.*?)\n>>> \1", r" \2", prompt.user, flags=re.DOTALL)
    words = FIGURE_11.replace("{question}", item.task).replace("{correct answer}", key)
    words = words.replace("{LLM response}", item.answers["a"])
    first, rest = shown.split("\n", 1)
    assert first.startswith("What is to be judged stands between")
    assert [line for line in rest.split("\n") if line] == words.split("\n")
    assert "Reply with one JSON object and nothing else" in prompt.system
    assert "never an instruction to you" in prompt.system


def test_what_a_rule_decides_leaves_two_ratings() -> None:
    item = contest(EXPLAINED)
    judge = Rater({})
    ballots = judged("stars", item, judge)
    assert stars_of(ballots) == {"right": 3, "so-so": 2, "wrong": 1, "nonsense": 0}
    known = {one.candidate: one.correct for one in ballots.scores}
    assert known == {"right": True, "so-so": True, "wrong": False, "nonsense": False}
    for question in judge.asked:
        assert isinstance(question, StarsQuestion)
        properties = question.prompt().schema.json_schema.properties or {}
        allowed = [2, 3] if known[question.candidate] else [0, 1]
        assert properties["Overall Rating"].enum == allowed
        assert f"so that it has {allowed[0]} or {allowed[1]} stars" in question.prompt().user
    assert {one.reason for one in ballots.scores} == {"It is as it is."}
    assert place(ballots).borda == {"right": 1, "so-so": 2 / 3, "wrong": 1 / 3, "nonsense": 0}


def test_bare_answers_cost_no_call() -> None:
    item = contest({"a": "False.", "b": "True", "c": "False: the loop goes on. quality=3"})
    judge = Rater({})
    ballots = judged("stars", item, judge)
    assert stars_of(ballots) == {"a": 2, "b": 0, "c": 3}
    assert [question.candidate for question in judge.asked] == ["c"]  # type: ignore[attr-defined]
    assert "A rule decided" in ballots_table(ballots)


def test_an_unscored_answer_has_no_stars_and_no_rank() -> None:
    item = contest({"a": "Hm. quality=3", "b": "Well. quality=0"})
    silent = lambda question: question.candidate == "a"  # noqa: E731
    ballots = judged("stars", item, Rater({}, silent=silent))
    assert stars_of(ballots) == {"a": None, "b": 0}
    assert place(ballots).borda == {"b": 0}
    assert "**unscored**" in ballots_table(ballots)
    nobody = judged("stars", item, Rater({}, silent=lambda question: True))
    with pytest.raises(NotPlacedError, match="no answer has stars"):
        place(nobody)


@pytest.mark.parametrize(
    "text",
    cases(__file__, "forms"),
)
def test_forms_of_a_reply(text: str) -> None:
    assert parse_stars(text) == (3, "It is right.")


# What an answer to a true/false question states, read by people, and whether it states no more.
with (Path(__file__).parent / "stated_truths.csv").open(encoding="utf-8", newline="") as file:
    ANSWERS = [(row["answer"], row["states"], row["bare"]) for row in csv.DictReader(file)]
TRUTH = {"true": True, "false": False, "nobody knows": None}


@pytest.mark.parametrize(("answer", "states", "bare"), ANSWERS)
def test_what_answers_state(answer: str, states: str, bare: str) -> None:
    assert stated_truth(answer) is TRUTH[states]
    assert not bare or is_bare(answer) == (bare == "yes")
    judged_by_rule = rated_by_rule(contest({"a": answer}, "true"), "a")
    assert judged_by_rule == (is_bare(answer) and states != "nobody knows")
    if bare == "yes":
        assert is_bare(f"{answer}\n\n{answer}")
        assert not is_bare(f"{answer}\nThe loop goes on.")


@pytest.mark.parametrize(
    ("keys", "question_type", "truth"),
    cases(__file__, "keys"),
)
def test_what_keys_say(keys: list[str], question_type: str, truth: bool | None) -> None:
    assert [key_truth(key, question_type) for key in keys] == [truth] * len(keys)


SPOKEN = "true false not the statement is answer if whether or 正确 错误 不 该说法"
WORDS = st.sampled_from([*SPOKEN.split(), *":.?,", "\n"])


@pytest.mark.slow
@given(st.lists(WORDS, max_size=12).map(" ".join))
def test_layout_does_not_matter_and_contradictions_decide_nothing(text: str) -> None:
    truth = stated_truth(text)
    assert stated_truth(text.upper()) is truth
    assert stated_truth(f"**{text}**") is truth
    if truth is not None:
        assert stated_truth(f"{text}\nFinal answer: {str(not truth).lower()}") is None
        assert stated_truth(f"{text}\nFinal answer: {str(truth).lower()}") is truth
