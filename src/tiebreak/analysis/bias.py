"""Can the judge be trusted? Its taste for the first answer, and its consistency."""

from collections.abc import Iterable
from dataclasses import dataclass

from tiebreak.rankers import PresentationBias, Proportion, wilson
from tiebreak.scorers.ballots import Match
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
        warning=_warning(first, flips),
    )


def bound_warning(reviewer: str, bias: PresentationBias) -> str | None:
    """What to say of a reviewer that goes by the order in which it was shown the answers."""
    if not bias.bound:
        return None
    order = "in the order of presentation" if bias.tau.value > 0 else "against the order shown"
    same = bias.repeated if bias.tau.value > 0 else bias.reversed
    exactly = f", and exactly so in {percent(same)} of {count(bias.n_ballots, 'ballot')}"
    return (
        f"{reviewer} ranks {order}: mean τ = {bias.tau.value:.2f} "
        f"({bias.tau.lower:.2f} to {bias.tau.upper:.2f}){exactly if same else ''}: do not trust it"
    )


def _warning(first: Proportion, flips: Proportion) -> str | None:
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
