"""Ballots as the page keeps them: as a log does, without the calls and without what says nothing.

Most of a large report is votes, so these are handled as the log's JSON has them: ranking does not
read them, so they are unchecked, and what is not as we write it stays as it is. Numbers are kept to
six decimals (a judge's own as they are), since the digits behind them are most of what does not
compress.
"""

from collections.abc import Mapping
from math import isfinite
from typing import Any, Final

DECIMALS: Final = 6


def slim(stored: Mapping[str, Any]) -> dict[str, Any]:
    """The ballots of an item as `ItemBallots` reads them again, but for its calls.

    `stored` is what a log's store holds of them.
    """
    said = {key: value for key, value in _said(stored).items() if key != "calls"}
    said["native"] = short(stored["native"])
    if matches := stored.get("matches"):
        said["matches"] = [_match(match) for match in matches]
    if scores := stored.get("scores"):
        said["scores"] = [short(one) for one in scores]
    return said


def short(numbers: Mapping[str, Any]) -> dict[str, Any]:
    """The same with short numbers."""
    return {key: _short(value) for key, value in numbers.items()}


def _short(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, DECIMALS) if isfinite(value) else None
    return value


def _said(one: Mapping[str, Any]) -> dict[str, Any]:
    """What is not empty; a number may be 0, and False is an answer."""
    return {key: _short(v) for key, v in one.items() if v or v == 0}


def _match(match: Mapping[str, Any]) -> dict[str, Any]:
    said = _said(match)
    for kept in ("verdicts", "discarded"):
        if kept in said:
            said[kept] = [_verdict(verdict) for verdict in said[kept]]
    return said


def _verdict(verdict: Mapping[str, Any]) -> dict[str, Any]:
    said = _said(verdict)
    for layer in ("principles", "checklist"):
        if isinstance(votes := said.get(layer), dict):
            said[layer] = {key: _vote(vote) for key, vote in votes.items()}
    return said


def _vote(vote: Any) -> Any:
    """A judge's own number is short enough, and of these there are millions."""
    if not isinstance(vote, dict):
        return vote
    return {key: value for key, value in vote.items() if value or value == 0}
