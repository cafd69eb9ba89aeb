"""Matches that are easy to read in a test."""

from tests.ranking_logs.builders import match
from tiebreak.scorers.ballots import Match

MARGINS = {">": 1.0, "=": 0.0, "?": None}


def bouts(text: str) -> list[Match]:
    """Matches of names of one letter: a>b, a=b, or a?b without a verdict; "|" parts rounds."""
    return [
        match(high, low, MARGINS[sign], round=number)
        for number, played in enumerate(text.split("|"), start=1)
        for high, sign, low in played.split()
    ]
