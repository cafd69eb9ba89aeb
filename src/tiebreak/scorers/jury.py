"""A jury: several models behind the role `judge`, which all judge, or take turns.

    all      each judges every match and every answer; the mean of their margins, or grades, decides
    rotate   every match and every answer has one of them, for the price of one judge

Turns are balanced: over the items each pair of models meets before every judge equally often, and
in both orders of presentation, but for one; the matches of a round are shared out as evenly. No
result has a say in it, and more rounds leave the first ones as they are. With another number of
items only the last ones get other judges.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

from tiebreak.scorers.contest import Contest
from tiebreak.scorers.schedule import Pair, line, turns

JuryMode = Literal["all", "rotate"]
"""Whether all judges judge everything, or each match and each answer has one of them in turn."""


@dataclass(frozen=True)
class Jury:
    """The judges by name; the one judge of a run has none.

    `quorum` is how many of them must give a usable verdict for it to count, from 1 on. With
    `rotate` one is asked at a time, and the next one where its provider fails.
    """

    names: tuple[str, ...] = ("",)
    rotate: bool = False
    quorum: int = 1

    @property
    def alone(self) -> bool:
        """Whether there is one judge."""
        return len(self.names) == 1

    def of_match(self, contest: Contest, pair: Pair) -> tuple[str, ...]:
        """Who judges two models, given by name; in turns: and who takes over, in this order."""
        if not self.rotate:
            return self.names
        rounds = contest.schedule.rounds
        number = next(n for n, pairs in enumerate(rounds) if pair in pairs)
        shifts = _shifts(contest.position, contest.n_items, len(rounds), len(self.names))
        # Rounds begin where the one before ended, so that an item's matches are shared out.
        return self._from(shifts[number] + len(rounds[0]) * number + rounds[number].index(pair))

    def of_answer(self, contest: Contest, candidate: str) -> tuple[str, ...]:
        """The same for an answer on its own."""
        if not self.rotate:
            return self.names
        return self._from(contest.position + sorted(contest.models).index(candidate))

    def _from(self, start: int) -> tuple[str, ...]:
        # By name, so that another order on the command line asks nobody anew.
        names, first = sorted(self.names), start % len(self.names)
        return (*names[first:], *names[:first])


ONE_JUDGE: Final = Jury()
"""The jury of a run with one judge."""


@lru_cache(maxsize=1024)
def _shifts(item: int, n_items: int, n_rounds: int, n_judges: int) -> tuple[int, ...]:
    """By how many judges an item moves on, for each round of the schedule.

    In 2 · `n_judges` blocks of `n_rounds` items each round is played in each place of the line
    before every judge in both orders of presentation.
    """
    start = n_items - n_items % (2 * n_judges * n_rounds)
    if item >= start:
        return _last(start, n_items, n_rounds, n_judges)[item - start]
    return tuple(item // n_rounds // 2 + (one - item) % n_rounds for one in range(n_rounds))


@lru_cache(maxsize=64)
def _last(start: int, n_items: int, n_rounds: int, n_judges: int) -> list[tuple[int, ...]]:
    """The same for the last items: place by place of the line, judges take turns in each order.

    One order counts up and the other down, so that what is left over of both does not fall to the
    same judges.
    """
    items = range(start, n_items)
    lines = [line(item, n_items, n_rounds) for item in items]
    turned = [turns(item, n_items, n_rounds) for item in items]
    found = [[0] * n_rounds for _ in items]
    seen = [[0, 0] for _ in range(n_rounds)]
    for place in range(n_rounds):
        for row, own in enumerate(lines):
            number = own[place]
            side = turned[row][number]
            found[row][number] = -1 - seen[number][1] if side else seen[number][0]
            seen[number][side] += 1
    return [tuple(one) for one in found]
