"""How often a judge and the native score disagree: of two answers one passed and one failed."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from tiebreak.rankers.intervals import Estimate, ItemDraws
from tiebreak.rankers.uncertainty import Resampling
from tiebreak.scorers.ballots import ItemBallots


@dataclass(frozen=True, slots=True)
class Correctness:
    """Judged pairs of answers of which one has the native score 1 and the other 0.

    In `n_against` of the `n` pairs the judge preferred the answer with 0, in `n_tied` neither.
    `share` is n_against / n with its interval over items (`ItemDraws.shares`). `n_guarded` counts
    the items in which the correctness guard puts answers that failed after those that passed; in
    all others the judge alone decides.
    """

    share: Estimate
    n: int
    n_against: int
    n_tied: int
    n_guarded: int


def correctness_of(items: Sequence[ItemBallots], *, how: Resampling = Resampling()) -> Correctness:
    """Count over matches, grades and lists, those of every reviewer."""
    said = [list(_said(item)) for item in items]
    against = np.array([own.count(False) for own in said], np.float64)
    tied = sum(own.count(None) for own in said)
    counts = np.array([len(own) for own in said], np.float64)
    share = Estimate(np.nan, np.nan, np.nan, 0, "no two judged answers have native scores 1 and 0")
    if counts.any():
        units = [item.cluster or item.item_id for item in items]
        draws = ItemDraws(len(items), units, how=how)
        [share] = draws.shares(against[:, None], counts[:, None], share.reason or "")
    guarded = sum(item.stratified and len({*item.passed.values()}) == 2 for item in items)
    return Correctness(share, int(counts.sum()), int(against.sum()), tied, guarded)


def _said(item: ItemBallots) -> Iterator[bool | None]:
    """For each judged pair whether the answer with 1 is preferred to that with 0; None: neither."""
    for better, worse, result in _preferences(item):
        one, other = item.native.get(better), item.native.get(worse)
        if {one, other} == {0, 1}:
            yield None if result == 0.5 else (result > 0.5) == (one == 1)


def _preferences(item: ItemBallots) -> Iterable[tuple[str, str, float]]:
    """What was said of pairs: one answer, the other, and what the one got."""
    for match in item.matches:
        if match.result is not None:
            yield match.high, match.low, match.result
    graded = {one.candidate: one.score for one in item.scores if one.score is not None}
    for (one, own), (other, its) in combinations(graded.items(), 2):
        yield one, other, (1 + np.sign(own - its)) / 2
    for listing in item.listings:
        placed = [(name, place) for place, tied in enumerate(listing.groups) for name in tied]
        for (one, own), (other, its) in combinations(placed, 2):
            yield one, other, (1 + np.sign(its - own)) / 2
