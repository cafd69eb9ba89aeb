"""Whether a judge goes by the order in which answers are shown, or by their length.

Who is shown first is drawn by lot, so a judge that does not look at the order chooses the first
answer in a Binomial(n, ½) number of n verdicts, however good the answers are. A match that is asked
in both orders and flips went to the answer shown first both times, or to the second: ½ each.

That a model with longer answers wins more often shows nothing: it may be the better one. So each
pair of models is compared with itself: does A win more often where its answer is longer than B's
than where it is shorter? Still, what makes an answer longer in an item may also make it better;
no ballot can tell.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Final, Literal

import numpy as np

from tiebreak.rankers import PresentationBias
from tiebreak.rankers.agreement import kendall_tau_many
from tiebreak.rankers.intervals import Estimate, wilson
from tiebreak.rankers.pairwise_tests import sign_flip_p, sign_p
from tiebreak.rankers.profile import FloatArray, IntArray
from tiebreak.reason import Reason
from tiebreak.scorers.ballots import ItemBallots, Listing, Match, Side, Verdict
from tiebreak.scorers.match import CLOSE_MARGIN, decide

ALARM: Final = 0.01
"""Share of judges without the fault that a test may find it in."""

TOLERANCE: Final = 0.05
"""A gain below this many wins per verdict is stated, and does not make a judge doubtful."""

BIAS: Final = 0.1
"""The gain that must be found in half of the runs: 60 verdicts to 40."""

ENOUGH_VERDICTS: Final = 180
"""From this many verdicts on the exact test at 1% finds 60:40 in half of the runs."""

FEWEST_ITEMS: Final = 10
"""Below so many items there is no test over items."""

_FEWEST_TWICE = 10

Kind = Literal["matches", "lists"]
Asked = Literal["all", "close", "sample"]


@dataclass(frozen=True, slots=True)
class Position:
    """How often the answer shown first won, in matches or in lists (`kind`).

    `rate` is the share of the `n` verdicts for a side that went to the answer shown first: one
    verdict for each pair of answers, the first, whose order was drawn by lot. In lists `n` counts
    lists, and `rate` is the share of pairs of answers that are ranked as they were shown. A judge
    that does not look at the order has ½. `p` is two-sided: the exact binomial test, over lists the
    sign-flip test. The interval is Wilson's, over lists Student's. `enough` is whether a judge that
    gives 60% to the first answer would be found in half of the runs (p ≤ 0.01). Undefined: NaN.
    """

    kind: Kind
    rate: Estimate
    n: int
    p: float
    enough: bool

    @property
    def gain(self) -> float:
        """Wins per verdict that the answer shown first gains, in [-½, ½]; NaN without verdicts."""
        return self.rate.value - 0.5

    @property
    def bound(self) -> bool:
        """Whether the judge goes by the order, and by more than the tolerance."""
        return self.p <= ALARM and abs(self.gain) >= TOLERANCE


@dataclass(frozen=True, slots=True)
class Flips:
    """Matches that were asked in both orders of presentation and got a verdict in both.

    `asked` says which: all, those that were close in the first order, or a sample drawn by lot.
    `rate` is the share of the `n` in which the two orders named different winners, with its Wilson
    interval; `both_first` of these went to the answer shown first both times, `both_second` to the
    other. `expected` is the rate to be expected there of the same judge without a preference for a
    position (NaN below ten matches); of a judge that tosses a coin it is ½, and no judge without
    such a preference, whose errors are independent, has more. `p` tests `both_first` against
    `both_second` (exact binomial, two-sided), `coin_p` whether both orders name the same winner
    more often than with a coin (one-sided sign flips of matches, each with the product of its two
    margins: a judge contradicts itself where it is least sure). Undefined: NaN.
    """

    asked: Asked
    n: int
    rate: Estimate
    expected: float
    both_first: int
    both_second: int
    p: float
    coin_p: float

    @property
    def n_flipped(self) -> int:
        """Matches with another winner in the other order."""
        return self.both_first + self.both_second


def enough_verdicts(tests: int) -> float:
    """From how many verdicts on 60:40 is found in half of the runs, where so many are tested."""
    normal = NormalDist()
    more = normal.inv_cdf(1 - ALARM / 2 / tests) / normal.inv_cdf(1 - ALARM / 2)
    return ENOUGH_VERDICTS * more**2


def position_of(items: Iterable[ItemBallots], *, level: float = 0.95) -> Position:
    """Whether the answer shown first wins more often, from matches."""
    sides = [side for side in map(_side, _first_verdicts(items)) if side != "tie"]
    p = sign_p(sides.count("left"), len(sides)) if sides else math.nan
    return Position(
        kind="matches",
        rate=wilson(sides.count("left"), len(sides), level=level),
        n=len(sides),
        p=p,
        enough=len(sides) >= ENOUGH_VERDICTS,
    )


def place_of(items: Iterable[ItemBallots], *, level: float = 0.95) -> Position:
    """Whether answers are ranked in the order in which they were shown, from lists.

    The order is drawn by lot and its reverse is as likely, so without such a bias every τ of order
    shown and order given is as likely to have the other sign: p is that of the sign-flip test,
    which is exact for any number of lists (a t test over ten lists of three answers raised 1.6%
    false alarms at 1%, of two answers 2.2%). τ is twice the gain. The lists of an item are one.
    """
    by_item: dict[str, list[float]] = {}
    for item in items:
        gains = [tau / 2 for tau in map(_tau, item.listings) if not math.isnan(tau)]
        by_item.setdefault(item.item_id, []).extend(gains)
    known = [item_gains for item_gains in by_item.values() if item_gains]
    means = [float(np.mean(item_gains)) for item_gains in known]
    rate = 0.5 + float(np.mean(means)) if means else math.nan
    half, critical = reach(means, 1 - level), reach(means, ALARM)
    return Position(
        kind="lists",
        # In this order of arguments NaN stays NaN.
        rate=Estimate(rate, max(rate - half, 0.0), min(rate + half, 1.0), len(known)),
        n=sum(map(len, known)),
        p=sign_flip_p(means) if len(means) >= FEWEST_ITEMS else math.nan,
        enough=critical <= BIAS,
    )


def flips_of(matches: Iterable[Match], *, level: float = 0.95) -> Flips:
    """What the second order of presentation changed."""
    scored = [match for match in matches if match.result is not None]
    twice = [match for match in scored if match.flipped is not None]
    flipped = [_side(match.verdicts[0]) for match in twice if match.flipped]
    first, second = flipped.count("left"), flipped.count("right")
    return Flips(
        asked=_asked(scored, twice),
        n=len(twice),
        rate=wilson(len(flipped), len(twice), level=level),
        expected=_expected(twice),
        both_first=first,
        both_second=second,
        p=sign_p(first, len(flipped)) if flipped else math.nan,
        coin_p=_coin_p(twice),
    )


def _coin_p(twice: Iterable[Match]) -> float:
    """Of two tosses the product of margins is above 0 as often as below, however large it is."""
    leads = ([v.margin or v.checklist_margin or 0.0 for v in match.verdicts] for match in twice)
    products = list(map(math.prod, leads))
    # With an even verdict in one order there is no flip, which shows nothing about a coin.
    if not any(products):
        return math.nan
    return sign_flip_p(products) / 2 if sum(products) < 0 else 1.0


def bound_reviewer(reviewer: str, bias: PresentationBias) -> Reason:
    """That a reviewer follows the order in which it saw the answers."""
    if bias.tau.value > 0:
        return Reason("reviewer_as_shown", reviewer=reviewer)
    return Reason("reviewer_against_order", reviewer=reviewer)


def bound_warning(reviewer: str, bias: PresentationBias) -> Reason:
    """The same as a warning, with its size."""
    same = bias.repeated if bias.tau.value > 0 else bias.reversed
    return Reason(
        "bound_reviewer",
        fault=bound_reviewer(reviewer, bias),
        tau=bias.tau.value,
        lower=bias.tau.lower,
        upper=bias.tau.upper,
        exactly=Reason("exactly_so", share=same, n=bias.n_ballots) if same else "",
    )


def reach(values: Sequence[float], tail: float) -> float:
    """How far from 0 a mean is for a two-sided t test at this level; NaN below ten values."""
    from scipy.special import stdtrit

    n = len(values)
    if n < FEWEST_ITEMS:
        return math.nan
    return float(stdtrit(n - 1, 1 - tail / 2) * np.std(values, ddof=1) / math.sqrt(n))


def _first_verdicts(items: Iterable[ItemBallots]) -> Iterator[Verdict]:
    """The first verdict on each pair of models in each item.

    Two models that meet again in the item, or in another epoch of it, are shown in the same order:
    such verdicts are no new draws.
    """
    met = set()
    for item in items:
        for match in item.matches:
            key = item.item_id, *sorted((match.high, match.low))
            if match.verdicts and key not in met:
                met.add(key)
                yield match.verdicts[0]


def _side(verdict: Verdict) -> Side:
    """Which of the two the verdict prefers; no reply is no preference."""
    if verdict.margin is None:
        return "tie"
    return decide(verdict.margin, verdict.checklist_margin)[0]


def _asked(scored: list[Match], twice: list[Match]) -> Asked:
    if len(twice) == len(scored):
        return "all"
    # A sample may happen to hold close matches only, but others then were asked once.
    once = [match for match in scored if len(match.verdicts) == 1]
    return "close" if all(map(_close, twice)) and not any(map(_close, once)) else "sample"


def _close(match: Match) -> bool:
    return abs(match.verdicts[0].margin or 0.0) < CLOSE_MARGIN


def _expected(twice: list[Match]) -> float:
    """The flip rate of the same judge without a position bias.

    With x and y the margins of the answer shown first in the first and in the second order, c what
    being shown first is worth and independent normal errors, y − c = −b (x − c) + error. A line
    through the points gives b, c and the error; that only close matches were asked again, by x,
    changes nothing about such a line. Without c a match flips with probability Φ(−b |x − c| / sd),
    and one of those that are close then, with the same x, at Φ(−b |x| / sd).
    """
    from scipy.special import ndtr

    margins = np.array([[v.margin for v in match.verdicts] for match in twice], dtype=np.float64)
    if len(margins) < _FEWEST_TWICE or np.ptp(margins[:, 0]) == 0:
        return math.nan
    x, y = margins.T
    covariance = np.cov(x, y, bias=True)
    slope = float(covariance[0, 1] / covariance[0, 0])
    intercept = float(y.mean() - slope * x.mean())
    b = min(max(-slope, 0.0), 1.0)
    c = 0.0 if np.all(np.abs(x) < CLOSE_MARGIN) else intercept / (1 + b)
    size = b * np.abs(x - c)
    sd = float(np.sqrt(np.sum((y - intercept - slope * x) ** 2) / (len(x) - 2)))
    if sd == 0:
        return 0.0 if b else 0.5
    return float(np.mean(ndtr(-size / sd)))


def _tau(listing: Listing) -> float:
    """Kendall's τ of the order shown and the order given; NaN where there is none."""
    place = {name: number for number, name in enumerate(listing.shown)}
    given = {name: number for number, tied in enumerate(listing.groups) for name in tied}
    both: FloatArray = np.array([[place[n], given[n]] for n in given if n in place], dtype=float)
    if len(both) < 2:
        return math.nan
    return float(kendall_tau_many(both[None, :, 0], both[None, :, 1])[0])


# Of two models that gave the longer answer a and b times, 4ab / (a + b). Where b is 1 or 2, the
# slope hangs on these matches, and 3 to 7% of fair judges of two models seemed to like length.
_LEAST_SPREAD = 40.0


@dataclass(frozen=True, slots=True)
class Length:
    """What being the longer answer is worth, within pairs of models.

    `gain` is in wins per match, in [-½, ½]: the longer of two answers wins ½ + gain where both
    models are as good. It is the slope of results on who is longer (1, 0, −1) with a constant for
    every pair of models; `n_matches` are in pairs of which now one, now the other is longer. Its
    interval and the two-sided `p` are by jackknife over the items of these matches (t), from ten
    items on; `p` only where each model has the longer answer often enough (some ten times). What is
    undefined is NaN.
    """

    gain: Estimate
    p: float
    n_matches: int

    @property
    def bound(self) -> bool:
        """Whether the longer or the shorter answer gains, and more than the tolerance."""
        return self.p <= ALARM and abs(self.gain.value) >= TOLERANCE


def length_of(items: Sequence[ItemBallots], *, level: float = 0.95) -> Length:
    """Measure over all scored matches between answers of known length."""
    from scipy.special import stdtr, stdtrit

    item, pair, table = _cells(items)
    if not len(item):
        scored = any(match.result is not None for ballots in items for match in ballots.matches)
        return _undefined_gain(Reason("unknown_lengths") if scored else Reason("no_match"))
    totals = np.zeros((pair.max() + 1, table.shape[1]))
    np.add.at(totals, pair, table)
    up, down = _slope(totals)
    telling = down[pair] > 0
    if not telling.any():
        return _undefined_gain(Reason("lengths_follow_models"))
    item, pair, table = item[telling], pair[telling], table[telling]
    n_matches, numbers = int(table[:, 0].sum()), np.unique(item, return_inverse=True)[1]
    m = int(numbers.max()) + 1
    gain = float(up.sum() / down.sum())
    if m < FEWEST_ITEMS:
        nan = math.nan
        return Length(Estimate(float(np.clip(gain, -0.5, 0.5)), nan, nan, m), nan, n_matches)
    # Leaving out an item changes the pairs that met in it, and no others.
    without = _slope(totals[pair] - table)
    more = np.bincount(numbers, without[0] - up[pair], m)
    spread = (down.sum() + np.bincount(numbers, without[1] - down[pair], m)).round(9)
    # Without the one item that all hangs on there is no gain left; what rounding leaves is none.
    left = np.where(spread > 0, up.sum() + more, 0) / np.where(spread > 0, spread, 1)
    error = math.sqrt((m - 1) / m * float(np.sum((left - left.mean()) ** 2)))
    half = float(stdtrit(m - 1, (1 + level) / 2)) * error
    p = float(2 * stdtr(m - 1, -abs(gain) / error)) if error else float(gain == 0)
    if down.sum() < _LEAST_SPREAD:
        p = math.nan
    # Of few matches a slope, and its interval, may leave what a true one can be.
    gain, lower, upper = np.clip([gain, gain - half, gain + half], -0.5, 0.5).tolist()
    return Length(Estimate(gain, lower, upper, m), p, n_matches)


def _undefined_gain(reason: Reason) -> Length:
    return Length(Estimate(math.nan, math.nan, math.nan, 0, reason), math.nan, 0)


def _cells(items: Sequence[ItemBallots]) -> tuple[IntArray, IntArray, FloatArray]:
    """One row for each item and pair that met: item, pair, and sums n, x, y, xy, xx of matches.

    x is 1, 0 or −1 as the first of the pair, by name, gave the longer answer, and y its result.
    """
    numbers, columns = (
        {name: number for number, name in enumerate(sorted(names))}
        for names in ({item.item_id for item in items}, {m for item in items for m in item.lengths})
    )
    rows = (
        (
            numbers[item.item_id],
            columns[match.high],
            columns[match.low],
            item.lengths[match.high] - item.lengths[match.low],
            result,
        )
        for item in items
        for match in item.matches
        if (result := match.result) is not None
        and match.high in item.lengths
        and match.low in item.lengths
    )
    number, high, low, longer, y = np.fromiter(rows, np.dtype((np.float64, 5))).T
    turn = np.where(high < low, 1, -1)
    x, y = turn * np.sign(longer), 0.5 + turn * (y - 0.5)
    n = len(columns)
    key = ((number * n + np.minimum(high, low)) * n + np.maximum(high, low)).astype(np.int64)
    _, first, cell = np.unique(key, return_index=True, return_inverse=True)
    order = np.argsort(first)
    sums = [np.bincount(cell, of)[order] for of in (np.ones_like(x), x, y, x * y, x * x)]
    item, pair = np.divmod(key[np.sort(first)], max(n * n, 1))
    return item, np.unique(pair, return_inverse=True)[1], np.stack(sums, axis=1)


def _slope(sums: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Numerator and denominator of the slope within each pair, from its sums; 0 without matches."""
    n, x, y, xy, xx = sums.T
    safe = np.maximum(n, 1)
    return xy - x * y / safe, np.maximum(xx - x * x / safe, 0).round(9)
