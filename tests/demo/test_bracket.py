"""The bracket of an item as text."""

from tests.expected import check
from tests.ranking_logs.builders import item, match
from tiebreak.demo.screen import drawn
from tiebreak.scorers.ballots import Match

NAMES = {f"m/{name}": name for name in ("greedy", "hot", "warmer", "bare", "twin", *"abc")}
BRACKETS: list[list[Match]] = [
    [
        match("m/greedy", "m/hot", 0.5),
        match("m/warmer", "m/bare", 0.0),
        match("m/greedy", "m/warmer", -0.5, round=2),
    ],
    # A bye, and a match without a verdict.
    [match("m/b", "m/c", None), match("m/a", "m/b", -0.5, round=2)],
    [match("m/a", "m/b", 0.5)],
]


def test_who_met_whom_and_who_went_on() -> None:
    drawings = (
        drawn(item("q", played, groups=[["m/bare", "m/twin"]]), NAMES) for played in BRACKETS
    )
    check(__file__, "brackets.txt", "\n\n".join([*drawings, ""]))
