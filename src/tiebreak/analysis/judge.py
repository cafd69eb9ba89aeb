"""Can the judge be trusted? Whether it goes by position or by length, and whether it replies."""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tiebreak.rankers import PresentationBias
from tiebreak.rankers.intervals import Estimate, ItemDraws, Proportion, design_effect, wilson
from tiebreak.rankers.profile import FloatArray
from tiebreak.rankers.uncertainty import Resampling
from tiebreak.scorers.ballots import CallKind, ItemBallots, Match
from tiebreak.words import count, percent

# The first-position rate must be off by more than chance and by more than this to be a warning:
# with thousands of verdicts chance alone would flag a harmless 52%.
FIRST_TOLERANCE = 0.1
# A judge that tosses a coin flips in half of its matches.
FLIP_TOLERANCE = 0.25
FLIP_MIN_MATCHES = 8
FLIP_MIN_LOWER = 0.1


@dataclass(frozen=True, slots=True)
class PositionBias:
    """How often the response shown first won, and how often the order decided.

    `first_rate` is the share of the `n_first` scored verdicts with a principle margin other than
    zero in which the left (first shown) response won; an unbiased judge has 0.5, since the side is
    drawn at random. `flip_rate` is the share of the `n_swapped` matches judged in both orders in
    which the two orders named different winners; when only close matches are judged twice, it
    speaks of close matches. Rates and their Wilson intervals are NaN when nothing was observed; the
    intervals take verdicts as independent, so they are for warnings rather than for comparisons.
    `warning` is None when there is nothing to warn of.
    """

    first_rate: float
    first_lower: float
    first_upper: float
    n_first: int
    flip_rate: float
    flip_lower: float
    flip_upper: float
    n_swapped: int
    warning: str | None


def position_bias(matches: Iterable[Match], *, level: float = 0.95) -> PositionBias:
    """Measure position bias over all matches of a leaderboard.

    A warning is given when the Wilson interval of the first-position rate excludes 0.5 and the
    rate is off by more than 0.1; or when the flip rate is above 0.25, with at least 8 matches
    judged in both orders and a lower Wilson bound above 0.1.
    """
    matches = tuple(matches)
    margins = [verdict.margin for match in matches for verdict in match.verdicts]
    decided = [margin for margin in margins if margin]
    first = wilson(sum(margin > 0 for margin in decided), len(decided), level=level)
    swapped = [match.flipped for match in matches if match.flipped is not None]
    flips = wilson(sum(swapped), len(swapped), level=level)
    return PositionBias(
        first_rate=first.rate,
        first_lower=first.lower,
        first_upper=first.upper,
        n_first=first.n,
        flip_rate=flips.rate,
        flip_lower=flips.lower,
        flip_upper=flips.upper,
        n_swapped=flips.n,
        warning=_position_warning(first, flips),
    )


def bound_warning(reviewer: str, bias: PresentationBias) -> str | None:
    """A warning about a reviewer that follows the order in which it saw the answers."""
    if not bias.bound:
        return None
    order = "in the order of presentation" if bias.tau.value > 0 else "against the order shown"
    same = bias.repeated if bias.tau.value > 0 else bias.reversed
    exactly = f", and exactly so in {percent(same)} of {count(bias.n_ballots, 'ballot')}"
    return (
        f"{reviewer} ranks {order}: mean τ = {bias.tau.value:.2f} "
        f"({bias.tau.lower:.2f} to {bias.tau.upper:.2f}){exactly if same else ''}: do not trust it"
    )


def _position_warning(first: Proportion, flips: Proportion) -> str | None:
    findings = []
    if first.excludes(0.5) and abs(first.rate - 0.5) > FIRST_TOLERANCE:
        place, rate = ("first", first.rate) if first.rate > 0.5 else ("second", 1 - first.rate)
        findings.append(
            f"chose the {place} answer in {percent(rate)} of {first.n} verdicts "
            "(an unbiased judge: 50%)"
        )
    if flips.n >= FLIP_MIN_MATCHES and flips.rate > FLIP_TOLERANCE and flips.lower > FLIP_MIN_LOWER:
        findings.append(
            f"contradicted itself in {flips.successes} of {flips.n} matches "
            "when the order was swapped"
        )
    if not findings:
        return None
    return (
        f"This judge {' and '.join(findings)}: do not trust this ranking. "
        "Put a stronger judge in: --model-role judge=MODEL"
    )


# The share must be off by more than this to be a warning: answers that say more are often better,
# and win more often without any bias.
LENGTH_TOLERANCE = 0.2
# And chance must be excluded: at this level, whatever level is shown, and with items enough for
# an interval over items to cover what it claims.
SURE = 0.99
SURE_MIN_ITEMS = 10


@dataclass(frozen=True, slots=True)
class LengthBias:
    """How winning goes with the length of answers, in characters.

    `longer_rate` is the share of the `n_decided` matches between answers of different length, won
    by one side, in which the longer answer won; it has a Wilson interval. `correlation` is
    Spearman's ρ of result (won, tied, lost) and difference in length over the `n_matches` scored
    matches, each seen from both sides, so that who is named first makes no difference: 1 when the
    longer answer always wins, 0 when length does not matter. Its interval resamples items.

    What is undefined is NaN, and `reason` says why there is no correlation. `warning` is None when
    there is nothing to warn of.
    """

    longer_rate: float
    longer_lower: float
    longer_upper: float
    n_decided: int
    correlation: float
    correlation_lower: float
    correlation_upper: float
    n_matches: int
    reason: str | None
    warning: str | None


def length_bias(items: Iterable[ItemBallots], *, how: Resampling = Resampling()) -> LengthBias:
    """Measure over all scored matches between answers of known length.

    A warning is given when the share of longer (or shorter) winners is above 70%, there are ten
    items, and a 99% interval over matches and one over items both exclude chance.
    """
    items = tuple(items)
    played = _matches(items)
    won = played.result * np.sign(played.difference)
    n_longer, n_decided = int(np.sum(won > 0)), int(np.sum(won != 0))
    longer = wilson(n_longer, n_decided, level=how.level)
    reason = _undefined(items, played)
    rho = Estimate(math.nan, math.nan, math.nan, 0)
    warning = None
    if reason is None:
        rho = _correlation(played, how=how)
        enough = len(np.unique(played.item)) >= SURE_MIN_ITEMS
        if enough and abs(longer.rate - 0.5) > LENGTH_TOLERANCE:
            sure = _correlation(played, how=replace(how, level=SURE))
            warning = _length_warning(wilson(n_longer, n_decided, level=SURE), sure)
    return LengthBias(
        longer_rate=longer.rate,
        longer_lower=longer.lower,
        longer_upper=longer.upper,
        n_decided=longer.n,
        correlation=rho.value,
        correlation_lower=rho.lower,
        correlation_upper=rho.upper,
        n_matches=len(played.result),
        reason=reason,
        warning=warning,
    )


class _Played(NamedTuple):
    """Scored matches, columns of one length: item, result (1, 0, -1) and longer by, for `high`."""

    item: NDArray[np.int64]
    result: FloatArray
    difference: FloatArray


def _matches(items: Iterable[ItemBallots]) -> _Played:
    rows = [
        (item.item_id, 2 * match.result - 1, item.lengths[match.high] - item.lengths[match.low])
        for item in items
        for match in item.matches
        if match.result is not None and {match.high, match.low} <= item.lengths.keys()
    ]
    # Numbered as their names sort, so that the order of items in a log changes no draw.
    _, number = np.unique([name for name, *_ in rows], return_inverse=True)
    table = np.array([own for _, *own in rows], dtype=np.float64).reshape(len(rows), 2)
    return _Played(number, table[:, 0], table[:, 1])


def _undefined(items: Iterable[ItemBallots], played: _Played) -> str | None:
    """Why there is no correlation, or None when there is one."""
    if not len(played.item):
        scored = any(match.result is not None for item in items for match in item.matches)
        return "the log does not say how long the answers are" if scored else "no scored match"
    if not played.result.any():
        return "all matches are tied"
    return None if played.difference.any() else "answers that met are equally long"


def _correlation(played: _Played, *, how: Resampling) -> Estimate:
    """Spearman's ρ over both sides of each match, and its bounds over items.

    Seen from both sides, results and ranks of differences are symmetric about 0, and Pearson's
    formula becomes Σxy / √(Σx² Σy²): sums over items, so a draw of items costs next to nothing.
    """
    from scipy.stats import rankdata

    item, result, difference = played
    both = rankdata(np.concatenate([difference, -difference]))
    place = both[: len(difference)] - both.mean()
    products = np.stack([result * place, result**2, place**2], axis=1)

    def rho(totals: FloatArray) -> FloatArray:
        together, own, other = np.hsplit(totals, 3)
        norm = np.sqrt(own * other)
        return np.divide(together, norm, out=np.full_like(norm, np.nan), where=norm > 0)

    every = np.ones((len(item), 1), dtype=np.bool_)
    [found] = ItemDraws(len(item), item, how=how).figures(products, rho, every, "undefined")
    return found


def _length_warning(longer: Proportion, rho: Estimate) -> str | None:
    kind, share, by_items = "longer", longer.rate, rho.lower > 0
    if longer.rate < 0.5:
        kind, share, by_items = "shorter", 1 - longer.rate, rho.upper < 0
    if not (by_items and longer.excludes(0.5)):
        return None
    matches = count(longer.n, "decided match", "decided matches")
    return (
        f"The {kind} answer won {percent(share)} of {matches}. "
        f"{kind.capitalize()} answers may be better; or this judge goes by length: read some of "
        "the matches before you trust the ranking"
    )


@dataclass(frozen=True, slots=True)
class JudgeReplies:
    """Questions that decide rankings (matches, points, lists), by who was asked.

    `model` is the model that judged, in peer review the reviewer's name.

    `n_unscored` of the `n_questions` stayed without a usable reply, after the repair turn and the
    repetition (which reviews do not have); `unscored_rate` is their share with its Wilson interval,
    widened as far as they come in items rather than one by one (in simulation a 95% interval
    covered 95% where they came alone or in whole items, 90% where they did both). A match that is
    asked in both orders is two questions.
    """

    model: str
    n_questions: int
    n_unscored: int
    unscored_rate: float
    lower: float
    upper: float


def judge_replies(items: Iterable[ItemBallots], *, level: float = 0.95) -> tuple[JudgeReplies, ...]:
    """Count usable replies by judge or reviewer, in order of names.

    A run has one judge. Should the calls of an item name several, they are counted together, since
    only reviews say whose each of them is.
    """
    by_judge: dict[str, list[list[bool]]] = defaultdict(list)
    for item in items:
        own: dict[str, list[bool]] = defaultdict(list)
        for kind, reviewer, usable in _questions(item):
            # Without its rubric `fixed_rubric` calls no judge and leaves all answers unscored.
            if name := reviewer or judges_of(item, kind):
                own[name].append(usable)
        for name, replies in own.items():
            by_judge[name].append(replies)
    rows = []
    for model, by_item in sorted(by_judge.items()):
        n = [len(replies) for replies in by_item]
        unusable = [replies.count(False) for replies in by_item]
        effect = design_effect(unusable, n)
        missing = wilson(sum(unusable), sum(n), level=level, effect=effect)
        rows.append(
            JudgeReplies(
                model=model,
                n_questions=missing.n,
                n_unscored=missing.successes,
                unscored_rate=missing.rate,
                lower=missing.lower,
                upper=missing.upper,
            )
        )
    return tuple(rows)


def judges_of(item: ItemBallots, kind: CallKind) -> str:
    """The models behind an item's calls of one kind, with commas between them."""
    return ", ".join(sorted({call.model for call in item.calls if call.kind == kind}))


def _questions(item: ItemBallots) -> Iterator[tuple[CallKind, str, bool]]:
    """Every deciding question: its kind, its reviewer ("" for the run's judge), a usable reply."""
    for match in item.matches:
        for verdict in match.verdicts:
            yield "match", "", verdict.unscored is None
    for points in item.scores:
        yield "score", "", points.unscored is None
    for listing in item.listings:
        yield "list", listing.reviewer, listing.unscored is None
