from typing import get_args

from tiebreak.scorers.ballots import Rule
from tiebreak.scorers.rules import RULES


def test_every_rule_has_its_meaning() -> None:
    assert set(RULES) == set(get_args(Rule))
    for name, rule in RULES.items():
        # Who asks has words for a reply without a verdict; who lets candidates meet, for a tie.
        assert bool(rule.asks) == bool(rule.unscored) == all(rule.noun), name
        assert rule.by_matches == bool(rule.tied), name


def test_what_is_asked_under_each_rule() -> None:
    asked = {name: rule.asks for name, rule in RULES.items()}
    assert asked == {
        **dict.fromkeys(("elimination", "least_squares", "win_rate", "insertion"), "match"),
        "points": "match",
        "grades": "score",
        "listing": "list",
        "consensus": "list",
        "native": None,
    }
    assert [name for name, rule in RULES.items() if rule.reviewed] == ["consensus"]
    assert [name for name, rule in RULES.items() if rule.knockout] == ["elimination"]
