"""A jury, judge by judge: what each alone shows, and how far it agrees with the others."""

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from tiebreak.analysis.judge.figures import JudgeFigures, judge_figures
from tiebreak.rankers.intervals import Estimate, ItemDraws
from tiebreak.rankers.pairwise_tests import sign_flip_p
from tiebreak.rankers.uncertainty import Resampling
from tiebreak.scorers.ballots import ItemBallots, PointScore
from tiebreak.scorers.match import by_judge, judges_in, result_of, with_verdicts


@dataclass(frozen=True, slots=True)
class Juror:
    """One judge of a jury.

    `figures` are those of its own verdicts. `agreement` is the share of pairs of answers that it
    puts in the order in which the others' mean puts them, where neither calls them even; a coin has
    ½, so that 2 · share − 1 is corrected for chance. `agreement_p` tests ½ (sign flips over items,
    two-sided). NaN where no other judge had the same matches. All p are corrected for the tests of
    the jury and of each of its judges (Bonferroni).
    """

    name: str
    figures: JudgeFigures
    agreement: Estimate
    agreement_p: float


def jurors_of(items: Sequence[ItemBallots], *, how: Resampling = Resampling()) -> tuple[Juror, ...]:
    """The judges of a jury by name; none where there is one judge."""
    names = sorted({name for item in items for name in _names(item)})
    tests = len(names) + 1
    return tuple(_juror(name, items, tests, how) for name in names)


def _juror(name: str, items: Sequence[ItemBallots], tests: int, how: Resampling) -> Juror:
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for item in items:
        for same in _same(item, name):
            counts[item.item_id][0] += same
            counts[item.item_id][1] += 1
    agreement = Estimate(math.nan, math.nan, math.nan, 0, "no other judge had the same matches")
    p = math.nan
    if counts:
        table = np.array(list(counts.values()), dtype=np.float64)
        draws = ItemDraws(len(table), None, how=how)
        [agreement] = draws.shares(table[:, :1], table[:, 1:], "nothing in common")
        p = min(1.0, tests * sign_flip_p(2 * table[:, 0] - table[:, 1]))
    figures = judge_figures([_alone(item, name) for item in items], how=how).corrected(tests)
    if figures.flips.asked != "all":
        # What was close to all is not what was close to this one: the line is not its own.
        figures = replace(figures, flips=replace(figures.flips, asked="close", expected=math.nan))
    return Juror(name, figures, agreement, p)


def _names(item: ItemBallots) -> Iterator[str]:
    for match in item.matches:
        yield from (v.judge for v in (*match.verdicts, *match.discarded) if v.judge)
    yield from (part.judge for points in item.scores for part in _parts(points) if part.judge)


def _parts(points: PointScore) -> tuple[PointScore, ...]:
    return points.parts or (points,)


def _alone(item: ItemBallots, name: str) -> ItemBallots:
    """What one judge said of an item; one that was replaced said nothing usable."""
    matches = []
    for match in item.matches:
        if name in judges_in(match):
            matches.append(by_judge(match, name))
        elif gone := [verdict for verdict in match.discarded if verdict.judge == name]:
            matches.append(by_judge(with_verdicts(match, gone), name))
    scores = tuple(part for points in item.scores for part in _parts(points) if part.judge == name)
    return item.model_copy(update={"matches": tuple(matches), "scores": scores, "listings": ()})


def _same(item: ItemBallots, name: str) -> Iterator[bool]:
    """For each pair of answers that neither calls even: whether both name the same winner."""
    for match in item.matches:
        own = result_of((one for one in match.verdicts if one.judge == name), match.high)
        others = result_of((one for one in match.verdicts if one.judge != name), match.high)
        if not {own, others} & {None, 0.5}:
            yield own == others
    both: list[tuple[float, float]] = []
    for points in item.scores:
        given = {part.judge: part.score for part in _parts(points) if part.score is not None}
        mine = given.pop(name, None)
        if mine is not None and given:
            both.append((mine, math.fsum(given.values()) / len(given)))
    for (a, x), (b, y) in combinations(both, 2):
        if a != b and x != y:
            yield (a > b) == (x > y)
