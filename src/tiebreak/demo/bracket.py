"""The bracket of an item as text: who met whom, and who went on."""

from collections.abc import Mapping
from typing import NamedTuple

from tiebreak.scorers.ballots import ItemBallots, Match

_WHY = {"tie": " (tie)", "unscored": " (no verdict)"}


class _Part(NamedTuple):
    """Some lines of one width, and which of them goes on to the right."""

    lines: list[str]
    outlet: int


def drawn(item: ItemBallots, names: Mapping[str, str]) -> str:
    """The matches of an item from the first round, on the left, to the final.

    Whoever goes on after a tie, or without a verdict, is the better seed, and is marked so.

    Args:
        item: judged in a bracket, with at least one match.
        names: what models are called here.
    """
    members = {group[0]: group for group in item.groups}
    called = {
        candidate: " = ".join(
            names.get(model, model) for model in members.get(candidate, (candidate,))
        )
        for match in item.matches
        for candidate in (match.high, match.low)
    }
    final = max(item.matches, key=lambda match: match.round)
    return "\n".join(line.rstrip() for line in _match(final, item.matches, called).lines)


def _match(match: Match, matches: tuple[Match, ...], called: Mapping[str, str]) -> _Part:
    """A match, with those to its left that led to it."""
    above, below = (_side(who, match, matches, called) for who in (match.high, match.low))
    width = max(len(above.lines[above.outlet]), len(below.lines[below.outlet])) + 2
    fork = len(above.lines)
    foot = fork + 1 + below.outlet
    winner = called[match.winner] + _WHY.get(match.decided_by, "")
    lines = []
    for number, line in enumerate([*above.lines, "", *below.lines]):
        ends = {above.outlet: "┐", foot: "┘", fork: f"├─ {winner}"}
        fill = " ─" if number in (above.outlet, foot) else "  "
        inside = above.outlet < number < foot
        lines.append(
            (line + fill[0]).ljust(width, fill[1]) + ends.get(number, "│" if inside else "")
        )
    return _Part(lines, fork)


def _side(who: str, match: Match, matches: tuple[Match, ...], called: Mapping[str, str]) -> _Part:
    """How somebody came into a match: by the one before, or as they are, after a bye."""
    before = [one for one in matches if one.round < match.round and one.winner == who]
    if not before:
        return _Part([called[who]], 0)
    return _match(max(before, key=lambda one: one.round), matches, called)
