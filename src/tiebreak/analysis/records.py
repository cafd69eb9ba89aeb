"""What the ballots of a log say about each model: its matches, its points, what is unscored."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

from tiebreak.scorers.ballots import ItemBallots, Match


@dataclass(slots=True)
class Record:
    """Matches of one model by result, and the points of its answers that have some."""

    wins: int = 0
    losses: int = 0
    ties: int = 0
    unscored: int = 0
    points: list[float] = field(default_factory=list)

    @property
    def mean_points(self) -> float:
        """Mean points in [0, 1]; NaN without any."""
        return math.fsum(self.points) / len(self.points) if self.points else math.nan

    @property
    def unscored_rate(self) -> float:
        """Share of matches without a verdict, or of answers without points; NaN without any."""
        scored = self.wins + self.losses + self.ties + len(self.points)
        total = scored + self.unscored
        return self.unscored / total if total else math.nan

    def add(self, match: Match, *, won: bool) -> None:
        """Count a match."""
        if match.unscored:
            self.unscored += 1
        elif match.tied:
            self.ties += 1
        elif won:
            self.wins += 1
        else:
            self.losses += 1

    def add_points(self, points: float | None) -> None:
        """Count an answer that was to get points; None when it got none."""
        if points is None:
            self.unscored += 1
        else:
            self.points.append(points)


def records(items: Iterable[ItemBallots]) -> dict[str, Record]:
    """Records by model, of all items judged to the end.

    Matches and points of identical answers count for all models that gave the answer. Items
    without one verdict have no ranking, but they must count here: leaving them out would make the
    unscored rate shrink as judging fails more often.
    """
    found: dict[str, Record] = {}
    for item in items:
        members = {group[0]: group for group in item.groups}
        for match in item.matches:
            for side in (match.high, match.low):
                for model in members.get(side, (side,)):
                    found.setdefault(model, Record()).add(match, won=side == match.winner)
        for points in item.scores:
            for model in members.get(points.candidate, (points.candidate,)):
                found.setdefault(model, Record()).add_points(points.score)
    return found
