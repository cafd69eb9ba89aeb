"""Warnings about the judge: alarms about position, flips and length, and whether it is a coin.

Planted judges are fair with little noise, fair and noisy, prefer the first of two equal answers in
60 or 70% of matches, like length, or toss a coin. If longer answers are better within items, a
preference for length cannot be told from good judgement, so it is a finding about the board
(`length`) and not an alarm.

Shown:
    alarms about the judge: the answer shown first, flips, a coin; what length gains: `rank`,
        `compare`, page, card
"""

from collections.abc import Iterator

import numpy as np

from benchmarks.claims import Claim, Range, in_tests, runs, share
from benchmarks.claims.worlds import (
    COIN,
    FAIR,
    NOISY,
    judged,
    length_loving,
    near_ties,
    position_bound,
)
from tiebreak.analysis.judge.biases import ALARM
from tiebreak.analysis.judge.figures import JudgeFigures, judge_figures
from tiebreak.analysis.trust import faults
from tiebreak.demo.lab.planted import Traits
from tiebreak.rankers.uncertainty import Resampling
from tiebreak.scorers.match import Swap

DRAWS = Resampling(draws=50)
# An alarm of each kind may be false in 1% of the boards, any of them in 1.5%.
FALSE = (0.0, 0.01)
ANY = (0.0, 0.015)


def claims(scale: float) -> Iterator[Claim]:
    """False alarms of fair judges, and how often a fault is found."""
    fair = [
        ("fair", FAIR, "seal", 2, 40, 0.0),
        ("fair", FAIR, "seal", 8, 10, 0.0),
        ("fair", FAIR, "seal", 8, 40, 0.0),
        ("fair, longer answers better", FAIR, "seal", 8, 40, 0.5),
        ("noisy", NOISY, "seal", 8, 40, 0.0),
        ("noisy", NOISY, "full_pairwise", 8, 20, 0.0),
        ("coin", COIN, "seal", 8, 40, 0.0),
    ]
    for number, (name, traits, protocol, n_models, n_items, better) in enumerate(fair):
        # The module `trust` measures similar settings.
        if in_tests(scale) and number in (2, 3, 4, 5):
            continue
        rng, n, found = np.random.default_rng((31, number)), runs(500, scale), np.zeros(4, int)
        for _ in range(n):
            found += alarms(figures(rng, traits, protocol, n_models, n_items, better))
        setting = f"{name}; {protocol}, {n_models} models, {n_items} items"
        alarm = "rank: false alarm of the judge:"
        yield share(f"{alarm} position", setting, int(found[0]), n, FALSE)
        gain = "rank: a gain of length is found, of a judge blind to it"
        yield share(gain, setting, int(found[1]), n, None if better else FALSE)
        yield share(f"{alarm} any", setting, int(found[2]), n, ANY)
        if name == "coin":
            yield share("rank: a coin passes for a judge", setting, int(found[3]), n, FALSE)
        else:
            yield share("rank: power: a judge is no coin", setting, int(found[3]), n)
    for number, (name, traits, kind, n_items, least) in enumerate(
        [
            ("60:40 for the first", position_bound(0.6), 0, 40, None),
            ("60:40 for the first", position_bound(0.6), 0, 100, (0.5, 1.0)),
            ("70:30 for the first", position_bound(0.7), 0, 40, (0.8, 1.0)),
            ("70:30 for 1 sd of length", length_loving(0.7), 1, 40, None),
            ("70:30 for 1 sd of length", length_loving(0.7), 1, 100, None),
        ]
    ):
        if in_tests(scale) and (least is None or n_items >= 100):
            continue
        yield found_fault(scale, number, name, traits, kind, n_items, least)


def found_fault(
    scale: float,
    number: int,
    name: str,
    traits: Traits,
    kind: int,
    n_items: int,
    least: Range | None,
) -> Claim:
    """How often a judge's fault is found in boards of eight models under SEAL."""
    rng, n = np.random.default_rng((32, number)), runs(200, scale)
    hits = sum(int(alarms(figures(rng, traits, "seal", 8, n_items))[kind]) for _ in range(n))
    what = ("position", "length")[kind]
    return share(
        f"rank: {what} is found", f"{name}; seal, 8 models, {n_items} items", hits, n, least
    )


def figures(
    rng: np.random.Generator,
    traits: Traits,
    protocol: str,
    n_models: int,
    n_items: int,
    better: float = 0.0,
) -> JudgeFigures:
    """Figures of the judge on a board of near-ties; full_pairwise asks all in both orders."""
    swap: Swap = "close" if protocol == "seal" else "always"
    items = judged(
        rng,
        near_ties(n_models, 0.2),
        n_items,
        traits,
        protocol=protocol,
        swap=swap,
        longer_is_better=better,
    )
    return judge_figures(items, how=DRAWS)


def alarms(found: JudgeFigures) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """1 or 0 for alarms of position, length and any kind, and for verdicts better than a coin."""
    every = [
        found.position.bound,
        found.length.bound,
        bool(list(faults(found))),
        bool(found.coin_p <= ALARM),
    ]
    return np.array(every, dtype=np.int64)
