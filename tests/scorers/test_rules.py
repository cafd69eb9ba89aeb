from itertools import combinations
from typing import get_args

import pytest

from tests.ranking_logs.builders import graded, item, match
from tiebreak.scorers.ballots import Rule
from tiebreak.scorers.rules import ANEW, RULES, fitting


def test_every_rule_has_its_meaning() -> None:
    assert set(RULES) == set(get_args(Rule))
    for name, rule in RULES.items():
        # Who asks has words for a reply without a verdict; who lets candidates meet, for a tie.
        assert bool(rule.asks) == bool(rule.unscored) == all(rule.noun), name
        assert rule.by_matches == bool(rule.tied), name
        # Who may rank ballots that name another says which.
        assert bool(rule.fits) == bool(rule.needs), name


def test_what_is_asked_under_each_rule() -> None:
    for rule in RULES.values():
        assert (rule.by_matches, rule.by_grades) == (rule.asks == "match", rule.asks == "score")
    asked = {name: rule.asks for name, rule in RULES.items()}
    assert asked == {
        **dict.fromkeys(("elimination", "elimination_tied", "least_squares"), "match"),
        **dict.fromkeys(("win_rate", "insertion", "points"), "match"),
        **dict.fromkeys(("grades", "stars"), "score"),
        "listing": "list",
        "consensus": "list",
        "native": None,
    }
    assert [name for name, rule in RULES.items() if rule.reviewed] == ["consensus"]
    assert [name for name, rule in RULES.items() if rule.knockout] == [
        "elimination",
        "elimination_tied",
    ]
    assert [name for name, rule in RULES.items() if rule.results_only] == ["win_rate", "points"]
    assert [name for name, rule in RULES.items() if rule.judges_one] == ["stars"]


MATCHES = {
    "a bracket": [match("a", "d", 1), match("b", "c", 1), match("a", "b", 1, round=2)],
    "a bracket, an unscored match": [
        match("a", "d", None),
        match("b", "c", 1),
        match("a", "b", 1, round=2),
    ],
    "one after the other: more rounds than it takes": [
        match("a", "b", 1),
        match("a", "c", 1, round=2),
        match("a", "d", 1, round=3),
    ],
    "two in one round": [match("a", "d", 1), match("a", "c", 1), match("a", "b", 1, round=2)],
    "one plays on after a loss": [
        match("a", "d", 1),
        match("b", "c", 1),
        match("c", "a", 1, round=2),
    ],
    "one out, three left": [match("a", "b", 1)],
    "twice out": [match("a", "b", 1), match("c", "b", 1, round=2), match("a", "c", 1, round=2)],
    "Swiss rounds": [
        match("a", "d", 1),
        match("b", "c", 1),
        match("a", "b", 1, round=2),
        match("c", "d", 1, round=2),
    ],
    "all pairs": [match(one, other, 1) for one, other in combinations("abcd", 2)],
}
BRACKETS = {"a bracket", "a bracket, an unscored match"}


@pytest.mark.parametrize("name", MATCHES)
@pytest.mark.parametrize("seeded", [True, False])
def test_which_rules_fit_matches(name: str, seeded: bool) -> None:
    made = item("q", MATCHES[name], groups=[[one] for one in "abcd"]).model_copy(
        update={"placed_by": "insertion", **({} if seeded else {"seeds": ()})}
    )
    expected = {"insertion", "least_squares"}
    if name in BRACKETS:
        expected |= {"elimination_tied", "elimination"} if seeded else {"elimination_tied"}
    if name == "all pairs":
        expected |= {"win_rate", "points"}
    assert set(fitting([made])) == expected


def test_which_rules_fit_other_ballots() -> None:
    own = item("q", MATCHES["two in one round"], groups=[[one] for one in "abcd"])
    # A knockout of the user's own is one because its protocol says so.
    assert fitting([own]) == ("elimination", "elimination_tied", "least_squares")
    identical = item("q", groups=[["a", "b", "c"]])
    assert fitting([identical]) == ANEW
    assert fitting([identical, own]) == fitting([own])
    assert fitting([graded("q", {"a": 1, "b": 0})]) == ("grades",)
    assert fitting([graded("q", {"a": 1}, groups=[["a", "b"]])]) == ("grades",)
    assert fitting([own, graded("q", {"a": 1, "b": 0})]) == ()
    assert fitting([]) == tuple(RULES)
