"""Whether a judge prefers answers by the order in which they are shown, or by their length.

The answer shown first is drawn at random, so a judge without a position bias chooses the first
answer in a Binomial(n, ½) number of n verdicts, however good the answers are. A match that is asked
in both orders and flips went to the answer shown first both times, or to the second: ½ each.

More wins of a model with longer answers prove nothing, because the model may be better. So each
pair of models is compared with itself: does A win more often in items in which its answer is longer
than B's than in items in which it is shorter? Even then, what makes an answer longer in an item may
also make it better, which ballots cannot tell.
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
"""Largest share of judges without the fault in which a test finds it."""

TOLERANCE: Final = 0.05
"""A gain below this many wins per verdict is reported but does not make a judge doubtful."""

BIAS: Final = 0.1
"""The gain that a test must find in half of the runs: 60 verdicts to 40."""

ENOUGH_VERDICTS: Final = 180
"""Number of verdicts with which the exact test at 1% finds 60:40 in half of the runs."""

FEWEST_ITEMS: Final = 10
"""Smallest number of items for a test over items."""

# Smallest number of matches asked twice to fit the line behind `Flips.expected`.
_FEWEST_TWICE = 10

Kind = Literal["matches", "lists"]
Asked = Literal["all", "close", "sample"]


@dataclass(frozen=True, slots=True)
class Position:
    """How often the answer shown first won, in matches or in lists (`kind`).

    `rate` is the share of the `n` verdicts with a winner that went to the answer shown first. Only
    the first verdict on each pair of answers counts, whose order was drawn at random. For lists `n`
    counts lists, and `rate` is the share of pairs of answers ranked in the order shown. A judge
    without a position bias has ½. `p` is two-sided, by the exact binomial test, for lists by the
    sign-flip test. The interval is Wilson's, for lists Student's. `enough` is whether a judge that
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
        """Whether the judge follows the order of presentation by more than the tolerance."""
        return self.p <= ALARM and abs(self.gain) >= TOLERANCE


@dataclass(frozen=True, slots=True)
class Flips:
    """Matches that were asked in both orders of presentation and got a verdict in both.

    `asked` says which: all, those that were close in the first order, or a random sample.
    `rate` is the share of the `n` matches in which the two orders gave different winners, with its
    Wilson interval; `both_first` of these went to the answer shown first both times, `both_second`
    to the other. `expected` is the expected flip rate of the same judge without a position bias in
    these matches (NaN below ten matches); it is ½ for a judge that tosses coins, which is the
    maximum without such a bias if errors are independent. `p` tests `both_first` against
    `both_second` (exact binomial, two-sided), `coin_p` whether both orders give the same winner
    more often than coin tosses (one-sided sign flips of matches, each weighted by the product of
    its two margins, because a judge contradicts itself where it is least sure). Undefined: NaN.
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
        """Number of matches with another winner in the other order."""
        return self.both_first + self.both_second


def enough_verdicts(tests: int) -> float:
    """Number of verdicts that finds 60:40 in half of the runs, at 1% corrected for `tests`."""
    normal = NormalDist()
    more = normal.inv_cdf(1 - ALARM / 2 / tests) / normal.inv_cdf(1 - ALARM / 2)
    return ENOUGH_VERDICTS * more**2


def position_of(items: Iterable[ItemBallots], *, level: float = 0.95) -> Position:
    """Measure whether the answer shown first wins more often, from matches."""
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
    """Measure whether answers are ranked in the order in which they were shown, from lists.

    The order shown is random and its reverse is as likely, so without a position bias each τ
    between the order shown and the order given is as likely to have the other sign. p is that of
    the sign-flip test, which is exact for any number of lists (a t test over ten lists of three
    answers raised 1.6% false alarms at 1%, of two answers 2.2%). τ is twice the gain. Lists of one
    item count as their mean.
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
        # `max` and `min` return NaN only if it is the first argument.
        rate=Estimate(rate, max(rate - half, 0.0), min(rate + half, 1.0), len(known)),
        n=sum(map(len, known)),
        p=sign_flip_p(means) if len(means) >= FEWEST_ITEMS else math.nan,
        enough=critical <= BIAS,
    )


def flips_of(matches: Iterable[Match], *, level: float = 0.95) -> Flips:
    """Count the matches whose winner changed in the second order of presentation."""
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
    """The p-value of margins' products: coin tosses give each either sign equally often."""
    leads = ([v.margin or v.checklist_margin or 0.0 for v in match.verdicts] for match in twice)
    products = list(map(math.prod, leads))
    # A match with an even verdict in one order has no flip and no evidence against a coin.
    if not any(products):
        return math.nan
    return sign_flip_p(products) / 2 if sum(products) < 0 else 1.0


def bound_reviewer(reviewer: str, bias: PresentationBias) -> Reason:
    """A clause that a reviewer follows the order in which it saw the answers, or its reverse."""
    if bias.tau.value > 0:
        return Reason("reviewer_as_shown", reviewer=reviewer)
    return Reason("reviewer_against_order", reviewer=reviewer)


def bound_warning(reviewer: str, bias: PresentationBias) -> Reason:
    """A warning that a reviewer follows the order in which it saw the answers, with τ."""
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
    """The critical value of a mean in a two-sided t test at level `tail`; NaN below ten values."""
    from scipy.special import stdtrit

    n = len(values)
    if n < FEWEST_ITEMS:
        return math.nan
    return float(stdtrit(n - 1, 1 - tail / 2) * np.std(values, ddof=1) / math.sqrt(n))


def _first_verdicts(items: Iterable[ItemBallots]) -> Iterator[Verdict]:
    """The first verdict on each pair of models in each item.

    If two models meet again in the item, or in another epoch of it, they are shown in the same
    order, so later verdicts are no new random draws.
    """
    met = set()
    for item in items:
        for match in item.matches:
            key = item.item_id, *sorted((match.high, match.low))
            if match.verdicts and key not in met:
                met.add(key)
                yield match.verdicts[0]


def _side(verdict: Verdict) -> Side:
    """The side that a verdict prefers; "tie" without a usable reply."""
    if verdict.margin is None:
        return "tie"
    return decide(verdict.margin, verdict.checklist_margin)[0]


def _asked(scored: list[Match], twice: list[Match]) -> Asked:
    if len(twice) == len(scored):
        return "all"
    # A random sample can happen to have close matches only, but then some were asked only once.
    once = [match for match in scored if len(match.verdicts) == 1]
    return "close" if all(map(_close, twice)) and not any(map(_close, once)) else "sample"


def _close(match: Match) -> bool:
    return abs(match.verdicts[0].margin or 0.0) < CLOSE_MARGIN


def _expected(twice: list[Match]) -> float:
    """The expected flip rate of the same judge without a position bias.

    Let x and y be the margins of the answer shown first in the first and in the second order, and c
    the gain of being shown first. With independent normal errors, y − c = −b (x − c) + error. A
    regression line gives b, c and the error; it is not biased by selecting close matches, since
    these are selected by x. Without c a match flips with probability Φ(−b |x − c| / sd), or with
    Φ(−b |x| / sd) if only close matches were asked: those that are close without c have the same x.
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
    """Kendall's τ between the order shown and the order given; NaN if it is undefined."""
    place = {name: number for number, name in enumerate(listing.shown)}
    given = {name: number for number, tied in enumerate(listing.groups) for name in tied}
    both: FloatArray = np.array([[place[n], given[n]] for n in given if n in place], dtype=float)
    if len(both) < 2:
        return math.nan
    return float(kendall_tau_many(both[None, :, 0], both[None, :, 1])[0])


# 4ab / (a + b), if two models gave the longer answer a and b times. If b is 1 or 2, the slope
# depends on these matches, and the test raised 3 to 7% false alarms for two models.
_LEAST_SPREAD = 40.0


@dataclass(frozen=True, slots=True)
class Length:
    """The gain of the longer answer within pairs of models.

    `gain` is in wins per match, in [-½, ½]: the longer of two answers wins ½ + gain if both models
    are equally good. It is the slope of results on which answer is longer (1, 0, −1), with a
    constant for every pair of models; `n_matches` counts matches of pairs in which each model had
    the longer answer at times. The interval and the two-sided `p` are by jackknife over the items
    of these matches (t), from ten items on; `p` also needs that each model has the longer answer
    often enough (some ten times). Undefined: NaN.
    """

    gain: Estimate
    p: float
    n_matches: int

    @property
    def bound(self) -> bool:
        """Whether the longer or the shorter answer gains by more than the tolerance."""
        return self.p <= ALARM and abs(self.gain.value) >= TOLERANCE


def length_of(items: Sequence[ItemBallots], *, level: float = 0.95) -> Length:
    """Measure the gain of longer answers over all scored matches of answers of known length."""
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
    # Jackknife: leaving out an item changes only the sums of pairs that met in it.
    without = _slope(totals[pair] - table)
    more = np.bincount(numbers, without[0] - up[pair], m)
    spread = (down.sum() + np.bincount(numbers, without[1] - down[pair], m)).round(9)
    # If one item holds all the spread, leaving it out gives a gain of 0, not rounding errors.
    left = np.where(spread > 0, up.sum() + more, 0) / np.where(spread > 0, spread, 1)
    error = math.sqrt((m - 1) / m * float(np.sum((left - left.mean()) ** 2)))
    half = float(stdtrit(m - 1, (1 + level) / 2)) * error
    p = float(2 * stdtr(m - 1, -abs(gain) / error)) if error else float(gain == 0)
    if down.sum() < _LEAST_SPREAD:
        p = math.nan
    # With few matches the estimated slope and its interval can leave the range of possible values.
    gain, lower, upper = np.clip([gain, gain - half, gain + half], -0.5, 0.5).tolist()
    return Length(Estimate(gain, lower, upper, m), p, n_matches)


def _undefined_gain(reason: Reason) -> Length:
    return Length(Estimate(math.nan, math.nan, math.nan, 0, reason), math.nan, 0)


def _cells(items: Sequence[ItemBallots]) -> tuple[IntArray, IntArray, FloatArray]:
    """Item, pair, and sums n, x, y, xy, xx of matches, a row for each item and pair that met.

    x is the sign of the first model's answer length minus the second's, by name; y its result.
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
    """Numerator and denominator of each pair's slope from its sums; 0 without matches."""
    n, x, y, xy, xx = sums.T
    safe = np.maximum(n, 1)
    # Rounding turns the tiny spread of equal x into 0, which marks pairs without information.
    return xy - x * y / safe, np.maximum(xx - x * x / safe, 0).round(9)
