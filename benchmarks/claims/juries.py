"""Warnings about a jury: false alarms of fair judges, faults that are found, agreement.

Each judge reads the same answers with errors of its own. A fair judge may also have a taste of its
own: it likes an answer more or less than others do, whichever model gave it.

Shown:
    the judges of a jury: agreement with the others, alarms of each and of all together: `rank`,
        page, JSON
"""

import math
from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from benchmarks.claims import Claim, Range, in_tests, mean, runs, share
from benchmarks.claims.worlds import (
    FAIR,
    NOISY,
    Generator,
    names,
    near_ties,
    planted_item,
    position_bound,
)
from tiebreak.analysis.judge.figures import Juror, judge_figures, jurors_of
from tiebreak.analysis.trust import juror_faults, trust_of
from tiebreak.demo.lab.planted import Traits
from tiebreak.rankers.uncertainty import Resampling
from tiebreak.scorers.ballots import ItemBallots, Verdict
from tiebreak.scorers.bracket import Pairing
from tiebreak.scorers.match import Swap, ask_swapped, settle
from tiebreak.scorers.rules import RULES

HOW = Resampling(draws=50)
COIN = Traits(noise=100.0, fresh=True, scale=200.0)
SHY = Traits(noise=0.5, fresh=True, scale=10.0)
SURE = Traits(noise=100.0, fresh=True, scale=0.01)
"""A coin that is always sure of a match; `SHY` is a fair judge that never is."""
FALSE = (0.0, 0.01)


def claims(scale: float) -> Iterator[Claim]:
    """False alarms by world, the interval of agreement, and how often a fault is found."""
    worlds: list[tuple[str, list[Traits], float, int, Swap]] = [
        ("three fair judges", [FAIR] * 3, 0.0, 20, "sample"),
        ("three noisy judges of different tastes", [NOISY] * 3, 1.0, 20, "close"),
        ("two fair judges and a coin", [FAIR, FAIR, COIN], 0.0, 20, "always"),
        ("five fair judges of different tastes", [FAIR] * 5, 1.0, 40, "sample"),
        ("two fair judges and a coin that is always sure", [SHY, SHY, SURE], 0.0, 20, "sample"),
    ]
    for number, (name, traits, taste, n_items, swap) in enumerate(worlds):
        if in_tests(scale) and number in (2, 3):
            continue
        rng, n = np.random.default_rng((71, number)), runs(500, scale)
        alarms, against, agreed = 0, 0, []
        for _ in range(n):
            items = judged(rng, traits, taste, n_items, swap)
            jury = jurors_of(items, how=HOW)
            alarms += doubtful(items, jury)
            against += any(map(contradicts, jury))
            agreed.append(jury[-1].agreement)
        setting = f"{name}; 6 models, {n_items} items, swap={swap}"
        # Alarms of position, flips, length and agreement may each be false in 1% of the boards.
        yield share("jury: false alarm of any kind", setting, alarms, n, (0.0, 0.04))
        yield share("jury: a judge is said to contradict the others", setting, against, n, FALSE)
        # The mean over all runs counts as the truth: it has hundreds of times the items of a run.
        truth = float(np.mean([one.value for one in agreed]))
        held = sum(one.lower <= truth <= one.upper for one in agreed)
        figure = "jury: 95% interval of a judge's agreement holds the true one"
        yield share(figure, setting, held, n, (0.93, 0.99))
    for number, rate in enumerate((0.6, 0.7)):
        if in_tests(scale) and rate == 0.6:  # nothing is claimed about it
            continue
        rng, n = np.random.default_rng((72, number)), runs(200, scale)
        traits = [FAIR, FAIR, position_bound(rate)]
        hits = 0
        for _ in range(n):
            *_, bound = jurors_of(judged(rng, traits, 0.0, 20, "sample"), how=HOW)
            hits += bound.figures.position.bound
        setting = (
            f"one of three goes {100 * rate:.0f}:{100 - 100 * rate:.0f} for the first; 20 items"
        )
        least = (0.8, 1.0) if rate > 0.6 else None
        yield share("jury: the judge that goes by position is found", setting, hits, n, least)

    yield from _beside_a_sure_coin(scale)
    yield from _contradictors(scale)


def _beside_a_sure_coin(scale: float) -> Iterator[Claim]:
    """Effect of a coin that is always sure on the agreement of two good judges."""
    rng = np.random.default_rng(73)
    with_coin, alone = [], []
    for _ in range(runs(100, scale)):
        with_coin.append(jurors_of(judged(rng, [SHY, SHY, SURE], 0.0, 20, "sample"), how=HOW)[0])
        alone.append(jurors_of(judged(rng, [SHY, SHY], 0.0, 20, "sample"), how=HOW)[0])
    agreed = np.array([[one.agreement.value for one in own] for own in (with_coin, alone)])
    setting = "two fair judges and a coin that is always sure; 20 items"
    yield mean("jury: agreement of one of two good judges", setting, agreed[0])
    figure = "jury: the same minus what it is without the coin"
    yield mean(figure, setting, agreed[0] - agreed[1], (-0.02, 0.02))


def _contradictors(scale: float) -> Iterator[Claim]:
    """Power to find a judge whose reading correlates negatively with the quality of answers."""
    worlds: list[tuple[str, list[Traits], float, Range | None]] = [
        ("two fair judges and one", [FAIR] * 3, 0.3, None),
        ("two fair judges and one", [FAIR] * 3, 0.6, (0.8, 1.0)),
        ("four fair judges and one", [FAIR] * 5, 0.6, (0.8, 1.0)),
        ("two fair judges, a sure coin, and one", [FAIR, FAIR, SURE, FAIR], 0.6, None),
    ]
    for number, (name, traits, against, least) in enumerate(worlds):
        if in_tests(scale) and (least is None or number == 2):
            continue
        rng, n = np.random.default_rng((74, number)), runs(100, scale)
        hits = false = 0
        for _ in range(n):
            items = judged(rng, traits, 0.0, 20, "sample", against=against)
            *others, last = [contradicts(one) for one in jurors_of(items, how=HOW)]
            hits, false = hits + last, false + any(others)
        setting = f"{name} that sees −{against:g} of quality; 20 items"
        yield share("jury: the judge that contradicts the others is found", setting, hits, n, least)
        yield share("jury: another one is said to contradict", setting, false, n, FALSE)


def contradicts(juror: Juror) -> bool:
    """Whether the board says that a judge contradicts the others."""
    return any(fault.kind == "contradicts_jury" for fault in juror_faults(juror))


def doubtful(items: Sequence[ItemBallots], jury: Sequence[Juror]) -> bool:
    """Whether the board would say that a judge, or the jury as a whole, cannot be trusted."""
    judge = judge_figures(items, how=HOW).corrected(len(jury) + 1)
    return trust_of(judge, RULES["win_rate"], unscored=None, jury=jury).state == "doubtful"


def judged(
    rng: Generator,
    traits: Sequence[Traits],
    taste: float,
    n_items: int,
    swap: Swap,
    *,
    against: float = 0.0,
) -> list[ItemBallots]:
    """Draw a jury's ballots on all pairs of six near-ties; `taste` is the sd of each judge's taste.

    If `against` is not 0, the last judge's reading correlates by −`against` with the quality.
    """
    theta = near_ties(6, 0.2)
    models, n = names(len(theta)), len(theta)
    found = []
    for number in range(n_items):
        quality = theta + rng.standard_normal(n)
        seen = [quality + taste * rng.standard_normal(n) for _ in traits]
        if against:
            own = rng.standard_normal(n)
            seen[-1] = -against * quality + math.sqrt(1 - against**2) * own
        sampled = set(rng.choice(n, 2, replace=False).tolist())
        matches = []
        for slot, (high, low) in enumerate(combinations(range(n), 2)):
            sides = (high, low) if rng.random() < 0.5 else (low, high)
            verdicts = [_verdict(rng, j, t, seen[j], sides) for j, t in enumerate(traits)]
            if ask_swapped(swap, verdicts, sampled={high, low} == sampled):
                verdicts += [
                    _verdict(rng, j, t, seen[j], sides[::-1]) for j, t in enumerate(traits)
                ]
            matches.append(settle(Pairing(1, slot, models[high], models[low]), verdicts))
        found.append(
            planted_item(
                number,
                models,
                protocol="full_pairwise",
                lengths={m: round(400 * math.exp(0.3 * rng.standard_normal())) for m in models},
                placed_by="win_rate",
                matches=tuple(matches),
            )
        )
    return found


def _verdict(
    rng: Generator, judge: int, traits: Traits, seen: np.ndarray, sides: tuple[int, int]
) -> Verdict:
    left, right = sides
    gap = seen[left] - seen[right] + traits.position_bias + traits.noise * rng.standard_normal()
    margin = max(-1.0, min(1.0, gap / traits.scale))
    return Verdict(
        first=names(len(seen))[left],
        judge="abcde"[judge],
        margin=margin,
        checklist_margin=margin,
    )
