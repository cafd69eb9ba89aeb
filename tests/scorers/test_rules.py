from typing import get_args

import pytest

from tests.cases import cases
from tests.ranking_logs.builders import graded, item
from tests.scorers.bouts import bouts
from tiebreak.scorers.ballots import Rule
from tiebreak.scorers.rules import ANEW, RULES, fitting


def test_every_rule_has_its_meaning() -> None:
    assert set(RULES) == set(get_args(Rule))
    for name, rule in RULES.items():
        # Who asks has words for a reply without a verdict; who lets candidates meet, for a tie.
        assert bool(rule.asks) == bool(rule.unscored) == all(rule.noun), name
        assert rule.by_matches == bool(rule.tied), name
        assert rule.by_grades == (rule.asks == "score"), name
        # Who may rank ballots that name another says which.
        assert bool(rule.fits) == bool(rule.needs), name


MATCHES = cases(__file__, "matches")
BRACKETS = {"a bracket", "a bracket, an unscored match"}


@pytest.mark.parametrize("name", MATCHES)
@pytest.mark.parametrize("seeded", [True, False])
def test_which_rules_fit_matches(name: str, seeded: bool) -> None:
    made = item("q", bouts(MATCHES[name]), groups=[[one] for one in "abcd"]).model_copy(
        update={"placed_by": "insertion", **({} if seeded else {"seeds": ()})}
    )
    expected = {"insertion", "least_squares"}
    if name in BRACKETS:
        expected |= {"elimination_tied", "elimination"} if seeded else {"elimination_tied"}
    if name == "all pairs":
        expected |= {"win_rate", "points"}
    assert set(fitting([made])) == expected


def test_which_rules_fit_other_ballots() -> None:
    own = item("q", bouts(MATCHES["two in one round"]), groups=[[one] for one in "abcd"])
    # A knockout of the user's own is one because its protocol says so.
    assert fitting([own]) == ("elimination", "elimination_tied", "least_squares")
    identical = item("q", groups=[["a", "b", "c"]])
    assert fitting([identical]) == ANEW
    assert fitting([identical, own]) == fitting([own])
    assert fitting([graded("q", {"a": 1, "b": 0})]) == ("grades",)
    assert fitting([graded("q", {"a": 1}, groups=[["a", "b"]])]) == ("grades",)
    assert fitting([own, graded("q", {"a": 1, "b": 0})]) == ()
    assert fitting([]) == tuple(RULES)
