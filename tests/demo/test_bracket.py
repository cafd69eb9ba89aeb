"""The bracket of an item as text."""

from textwrap import dedent

import pytest

from tests.ranking_logs.builders import item, match
from tiebreak.demo.screen import drawn
from tiebreak.scorers.ballots import Match


@pytest.mark.parametrize(
    ("matches", "picture"),
    [
        (
            [
                match("m/greedy", "m/hot", 0.5),
                match("m/warmer", "m/bare", 0.0),
                match("m/greedy", "m/warmer", -0.5, round=2),
            ],
            """\
            greedy ─┐
                    ├─ greedy ────────────┐
            hot ────┘                     │
                                          ├─ warmer
            warmer ──────┐                │
                         ├─ warmer (tie) ─┘
            bare = twin ─┘
            """,
        ),
        (
            # A bye, and a match without a verdict.
            [match("m/b", "m/c", None), match("m/a", "m/b", -0.5, round=2)],
            """\
            a ────────────────────┐
                                  ├─ b
            b ─┐                  │
               ├─ b (no verdict) ─┘
            c ─┘
            """,
        ),
        ([match("m/a", "m/b", 0.5)], "a ─┐\n   ├─ a\nb ─┘\n"),
    ],
)
def test_who_met_whom_and_who_went_on(matches: list[Match], picture: str) -> None:
    groups = [["m/bare", "m/twin"]]
    names = {f"m/{name}": name for name in ("greedy", "hot", "warmer", "bare", "twin", *"abc")}
    found = drawn(item("q", matches, groups=groups), names)
    assert found == dedent(picture).rstrip("\n")
