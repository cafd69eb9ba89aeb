"""What every protocol asks, records and shows of one item, as a whole and to the letter."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from tests.expected import check
from tests.scorers.judges import NotingJudge, contest_of, judged, names, silent_about
from tests.scorers.reviews import review
from tests.scorers.test_jury import Bench
from tests.scorers.tournament import planted_contest
from tiebreak.scorers.ballots import ItemBallots, Reviewer
from tiebreak.scorers.judge import Jury, Question
from tiebreak.scorers.placement import place
from tiebreak.scorers.questions import RefineQuestion
from tiebreak.scorers.ranking import ballots_table

# Two close to each other, two equal, one that is far behind.
QUALITIES = dict(zip(names(6), (8.0, 7.5, 7.5, 6.0, 5.75, 1.0), strict=True))


def told(ballots: ItemBallots, *judges: NotingJudge) -> str:
    """The ballots, a line each; the table; and what was asked of whom, in order."""
    data = ballots.model_dump(mode="json")
    few = {name: value for name, value in data.items() if not _listed(value)}
    lines = [_json(few)]
    for name, value in data.items():
        if _listed(value):
            lines += [
                f"{name}:",
                *(_json(_given(one) if name == "calls" else one) for one in value),
            ]
    try:
        ranks = dict(place(ballots).ranks)
    except ValueError as error:
        ranks = {str(error): 0.0}
    asked = [_asked(question) for judge in judges for question in judge.asked]
    return "\n".join([*lines, "ranks: " + _json(ranks), ballots_table(ballots), *asked]) + "\n"


def _listed(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict)


def _given(call: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in call.items() if value or name == "depth"}


def _json(value: Any) -> str:
    """Without what is empty, and what a long list of votes repeats."""
    return json.dumps(_short(value), ensure_ascii=False)


def _short(value: Any) -> Any:
    if isinstance(value, dict):
        if value.keys() >= {"vote", "confidence"}:
            return f"{value['vote']} {value['confidence']:.6g}"
        return {k: _short(v) for k, v in value.items() if v not in ("", [], {}, None)}
    if isinstance(value, list):
        return [_short(one) for one in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value


def _asked(question: Question[Any]) -> str:
    shown = [
        *(getattr(question, name, "") for name in ("left", "right", "candidate", "reviewer")),
        *getattr(question, "labelled", {}).items(),
    ]
    if isinstance(question, RefineQuestion):
        shown += [question.match.high, question.match.low, question.new_id, question.others]
    return f"asked {question.role} {question.kind}: {' '.join(map(str, filter(None, shown)))}"


CASES: Mapping[str, tuple[str, dict[str, Any]]] = {
    "seal": ("seal", {}),
    "flat_bracket": ("flat_bracket", {"swap": "always"}),
    "swiss": ("swiss", {"rounds": 2, "swap": "never"}),
    "sorted": ("sorted", {"swap": "close"}),
    "round_robin": ("round_robin", {"rounds": 2, "swap": "sample"}),
    "full_pairwise": ("full_pairwise", {"swap": "never", "checklist": "ties"}),
    "pointwise": ("pointwise", {}),
    "fixed_rubric": ("fixed_rubric", {}),
    "listwise": ("listwise", {}),
    "original": ("original", {}),
}


PASSED = dict(zip(names(5), (False, True, True, False), strict=False))
OTHERS: Mapping[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "seal_twins": ("seal", {"tiers": 1}, {}),
    "swiss_odd": ("swiss", {"rounds": 3, "refine": False}, {}),
    "newcomers": ("round_robin", {"rounds": 2, "newcomers": ["m03", "x"]}, {}),
    "baseline": ("round_robin", {"baseline": "m02"}, {}),
    "stratified": ("full_pairwise", {}, {"passed": PASSED, "stratified": True}),
}


@pytest.mark.parametrize("name", OTHERS)
def test_an_item_with_identical_answers_as_a_whole(name: str) -> None:
    """Five answers of seven models, the third item of four; nothing but m04 is told apart well."""
    protocol, settings, more = OTHERS[name]
    qualities = dict(zip(names(5), (3.0, 3.5, 3.5, 2.5, 0.5), strict=True))
    twins = {"m01": ("x",), "m03": ("y",)}
    contest = replace(planted_contest(qualities, twins=twins), position=2, n_items=4, **more)
    judge = NotingJudge(qualities, scale=2.0)
    check(__file__, f"{name}.txt", told(judged(protocol, contest, judge, **settings), judge))


@pytest.mark.parametrize(("protocol", "rotate"), [("full_pairwise", True), ("pointwise", False)])
def test_a_jury_as_a_whole(protocol: str, rotate: bool) -> None:
    """b is of another opinion; c fails, so that others take its turns, or it is left out."""
    tastes = {"a": QUALITIES, "b": {n: 9.0 - q for n, q in QUALITIES.items()}, "c": QUALITIES}
    bench = Bench(tastes, Jury(("c", "b", "a"), rotate, 2 - rotate), failing=["c"])
    ballots = judged(protocol, replace(contest_of(4), position=1, n_items=2), bench)
    check(__file__, f"jury_{protocol}.txt", told(ballots, *bench.all.values()))


@pytest.mark.parametrize("name", CASES)
def test_an_item_as_a_whole(name: str) -> None:
    """One match has no usable reply, and neither has one answer's grade."""
    protocol, settings = CASES[name]
    about = silent_about("m01", "m03")

    def silent(question: Question[Any]) -> bool:
        return about(question) or getattr(question, "candidate", "") == "m03"

    judge = NotingJudge(QUALITIES, silent=silent, scale=4.0)
    contest = replace(contest_of(6), native=dict.fromkeys(names(6), 0.5) | {"m05": None})
    check(__file__, f"{name}.txt", told(judged(protocol, contest, judge, **settings), judge))


def test_reviews_as_a_whole() -> None:
    reviewers = [
        *(Reviewer(name=one, model=f"x/{one}", candidate=one) for one in names(4)),
        Reviewer(name="x/outside", model="x/outside"),
    ]
    tastes = {"m01": {"m00": 1.0, "m01": 9.0, "m03": 1.0}, "m02": {"m00": 2.0, "m02": 1.0}}
    judge = NotingJudge(QUALITIES, reviewers=reviewers, tastes=tastes)
    found = review(contest_of(4), judge)
    check(__file__, "peer_review.txt", told(found, judge))


@pytest.mark.parametrize("name", ["seal", "listwise", "fixed_rubric", "peer_review"])
def test_prompts_as_a_whole(name: str) -> None:
    """The first question of every kind and role, and the last: checklists have grown by then."""
    judge = NotingJudge(QUALITIES, scale=4.0)
    if name == "peer_review":
        judge.reviewers = (Reviewer(name="m00", model="x/m00", candidate="m00"),)
        review(contest_of(3), judge)
    else:
        judged(name, contest_of(4), judge)
    first = {(q.role, q.kind): q for q in reversed(judge.asked)}
    last = {(q.role, q.kind): q for q in judge.asked}
    asked = dict.fromkeys(_words(one) for kinds in (first, last) for one in kinds.values())
    text = "".join(asked)
    check(__file__, f"{name}_prompts.txt", text)


def _words(question: Question[Any]) -> str:
    prompt = question.prompt()
    schema = json.dumps(prompt.schema.json_schema.model_dump(exclude_none=True))
    # The instructions before it are those of a template, as they are.
    system = "Principles:" + prompt.system.partition("\nPrinciples:")[2]
    parts = (f"=== {question.role} {question.kind}\n{system}", prompt.user, f"{schema}\n")
    return "\n---\n".join(parts)
