"""The correctness guard: who failed never comes before who passed, and no other order changes."""

import re
from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import cases
from tests.harness import ROOT
from tests.ranking_logs.builders import item, match
from tests.scorers.judges import NotingJudge, judged
from tests.scorers.tournament import planted_contest
from tiebreak.candidates import passed
from tiebreak.candidates.native import VERIFIED
from tiebreak.scorers.ballots import ItemBallots, PointScore, Reviewer
from tiebreak.scorers.catalogue import ONE_JUDGE, PROTOCOLS
from tiebreak.scorers.placement import board_scores, guarded, mean_points, place, results

NAMES = "abcdef"
Known = dict[str, bool]
known = st.dictionaries(st.sampled_from(NAMES), st.booleans())
grades = st.dictionaries(
    st.sampled_from(NAMES), st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]), min_size=2
)


def graded(scores: Mapping[str, float], verdicts: Known, *, stratified: bool = True) -> ItemBallots:
    return item("q", groups=[*NAMES]).model_copy(
        update={
            "placed_by": "grades",
            "scores": tuple(PointScore(candidate=n, score=s) for n, s in scores.items()),
            "passed": verdicts,
            "stratified": stratified,
        }
    )


@pytest.mark.parametrize(
    ("metric", "score", "said"),
    cases(__file__, "passed"),
)
def test_what_counts_as_passed(metric: str | None, score: float, said: bool | None) -> None:
    assert passed(metric, score) is said


def test_the_page_lists_what_is_verified() -> None:
    page = (ROOT / "docs" / "protocols.md").read_text(encoding="utf-8")
    section = page.partition("## The correctness guard")[2].partition("- **Not verified**")[0]
    assert set(re.findall("`([^`]+)`", section)) == VERIFIED.keys()


@given(grades, known)
def test_only_what_failed_and_passed_changes_places(
    scores: dict[str, float], verdicts: Known
) -> None:
    before = place(graded(scores, {})).ranks
    after = place(graded(scores, verdicts)).ranks
    assert after.keys() == before.keys()
    assert sum(after.values()) == sum(before.values())
    for one, other in permutations(after, 2):
        if verdicts.get(one) is True and verdicts.get(other) is False:
            assert after[one] < after[other]
        elif verdicts.get(one) is verdicts.get(other):
            assert (after[one] < after[other]) is (before[one] < before[other])
            assert (after[one] == after[other]) is (before[one] == before[other])
    assert guarded(graded(scores, verdicts), after) == after
    assert place(graded(scores, verdicts, stratified=False)).ranks == before
    ahead = all(
        before[one] < before[other]
        for one, other in permutations(before, 2)
        if (verdicts.get(one), verdicts.get(other)) == (True, False)
    )
    assert (after == before) is ahead


@given(st.permutations(NAMES), known)
def test_who_is_unknown_keeps_as_many_of_the_others_before_it(
    order: list[str], verdicts: Known
) -> None:
    scores = {name: 1 - place / 10 for place, name in enumerate(order)}
    before, after = place(graded(scores, {})).ranks, place(graded(scores, verdicts)).ranks
    for name in set(NAMES) - verdicts.keys():
        assert sum(after[one] < after[name] for one in verdicts) == sum(
            before[one] < before[name] for one in verdicts
        )


@pytest.mark.parametrize("name", [*ONE_JUDGE, "peer_review"])
@pytest.mark.parametrize("stratified", [True, False])
def test_under_every_protocol(name: str, stratified: bool) -> None:
    # The judge likes what failed best.
    qualities = {"a": 9.0, "b": 7.0, "c": 5.0, "d": 3.0, "e": 1.0, "f": 0.0}
    verdicts = {"a": False, "b": True, "c": False, "d": True, "e": True, "f": False}
    contest = planted_contest(qualities)
    contest = replace(
        contest,
        passed=verdicts,
        stratified=stratified,
        native={name: float(passed) for name, passed in verdicts.items()},
    )
    judge = NotingJudge(qualities, reviewers=[Reviewer(name=n, model=n, candidate=n) for n in "ab"])
    # In rounds of one match each a model may meet only some of its own kind: all are played.
    settings = {"rounds": 5} if name == "round_robin" else {}
    if name == "swiss":
        settings = {"rounds": 3}
    placement = place(judged(name, contest, judge, **settings))
    own = "".join("".join(sorted(group)) for group in placement.order)
    exact = PROTOCOLS[name].orders_all
    if name == "original" or stratified:
        assert own == "bdeacf" if exact else {*own[:3]} == {*"bde"}
    if stratified:
        assert min(placement.borda[one] for one in "bde") > max(
            placement.borda[one] for one in "acf"
        )
    elif name != "original":
        assert own[0] == "a"
        assert not exact or (own == "abcdef") is (name != "swiss")


def test_identical_answers_are_told_apart_by_what_is_verified() -> None:
    # The same text passed for one model and failed for another: its tests time out now and then.
    same = item("q", groups=[["a", "b"]]).model_copy(
        update={"passed": {"a": False, "b": True}, "stratified": True}
    )
    assert place(same).ranks == {"a": 2, "b": 1}
    table = board_scores(
        [same.model_copy(update={"placed_by": "points"})], [place(same)], ["a", "b"]
    )
    assert table.tolist() == [[0, 1]]


def test_a_log_without_the_setting_stays_as_it_was() -> None:
    old = item("q", [match("a", "b", 0.5)], native={"a": 0.0, "b": 1.0}, groups=[["a"], ["b"]])
    stored = old.model_dump(mode="json", exclude={"passed", "stratified"}) | {"version": 3}
    assert place(ItemBallots.model_validate(stored)).ranks == {"a": 1, "b": 2}
    pairs = [frozenset(pair) for pair in combinations("ab", 2)]
    assert {frozenset(found[:2]) for found in results(old)} == set(pairs)


def test_points_of_a_stratified_item_by_hand() -> None:
    """a and b passed, c and d failed; a beat b, and a judge liked c better than a.

    What is verified counts against all; for the rest a model's results of its own kind stand, and
    ½ where it met none of it.
    """
    made = item(
        "q", [match("a", "b", 0.5), match("a", "c", -0.5)], groups=[[one] for one in "abcd"]
    ).model_copy(
        update={
            "passed": dict(zip("abcd", (True, True, False, False), strict=True)),
            "stratified": True,
        }
    )
    means = mean_points(made)
    # d met nobody, so that nothing is said of it.
    assert means == pytest.approx({"a": 3 / 3, "b": 2 / 3, "c": 0.5 / 3})
    assert mean_points(made.model_copy(update={"stratified": False})) == {
        **{"a": 0.5, "b": 0.0, "c": 1.0},
    }
    # Against a baseline only matches with it count.
    assert mean_points(made.model_copy(update={"baseline": "a"})) == {
        **{"a": 0.5, "b": 0.0, "c": 0.0},
    }
    unknown = made.model_copy(update={"passed": {"a": True, "b": True, "c": False}})
    assert mean_points(unknown) == pytest.approx(
        # Of d nothing is known: it counts as one of each model's own kind.
        {"a": (1 + 2 * 1) / 3, "b": (1 + 2 * 0) / 3, "c": (0 + 0 + 0.5) / 3}
    )
