"""Matches that are easy to read in a test."""

from tests.ranking_logs.builders import match
from tiebreak.scorers.ballots import Match

MARGINS = {">": 1.0, "=": 0.0, "?": None}


def bouts(text: str) -> list[Match]:
    """Matches of names of one letter: a>b, a=b, or a?b without a verdict; "|" parts rounds."""
    return [
        match(bout[0], bout[2], MARGINS[bout[1]], round=number)
        for number, played in enumerate(text.split("|"), start=1)
        for bout in played.split()
    ]
