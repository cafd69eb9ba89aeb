"""The state of trust: false alarms at any number of verdicts, what is fine, and expected flips."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks.claims import Claim, mean, runs, share
from benchmarks.claims.worlds import (
    COIN,
    FAIR,
    NOISY,
    judged,
    length_loving,
    near_ties,
    position_bound,
)
from tiebreak.analysis.judge.figures import JudgeFigures, judge_figures
from tiebreak.analysis.judge.position import ALARM
from tiebreak.analysis.trust import trust_of
from tiebreak.lab.judge import Traits
from tiebreak.rankers.uncertainty import Resampling
from tiebreak.scorers.rules import RULES

MODELS = 8
SWAP = {"seal": "close", "full_pairwise": "sample"}
ALARMS: dict[str, Callable[[JudgeFigures], bool]] = {
    "position": lambda found: found.position.p <= ALARM,
    "flips": lambda found: found.flips.p <= ALARM,
    "length": lambda found: found.length.p <= ALARM,
}
_NO_DRAWS = Resampling(draws=2)


def claims(scale: float) -> Iterator[Claim]:
    """Alarms of a judge without the fault at most 1% each; what faults are found in how often."""
    # Numbers of verdicts: 7 or 28 for an item of eight models; 4 is a bracket of five.
    for verdicts, protocol, n_models, items, full in (
        (4, "seal", 5, 1, 1000),
        (8, "seal", 5, 2, 1000),
        (16, "seal", 5, 4, 1000),
        (50, "seal", MODELS, 7, 1000),
        (200, "seal", MODELS, 29, 500),
        (1000, "seal", MODELS, 143, 120),
        (140, "full_pairwise", MODELS, 5, 400),
        (1008, "full_pairwise", MODELS, 36, 120),
        (5040, "full_pairwise", MODELS, 180, 40),
    ):
        n = runs(full, scale, least=20 if verdicts < 500 else 5)
        found = _figures(1, FAIR, n, items, protocol=protocol, n_models=n_models)
        yield from _alarms(f"fair judge, {protocol}, {verdicts:,} verdicts", found)
    n = runs(300, scale, least=12)
    apart = near_ties(MODELS, sd=0.5)
    for protocol, items in (("seal", 50), ("full_pairwise", 20)):
        # Half of the variance of lengths is a model's own, and models differ.
        setting = f"blind judge, models with own lengths and qualities, {protocol}, {items} items"
        yield from _alarms(setting, _figures(2, NOISY, n, items, protocol=protocol, theta=apart))
        few = runs(200, scale, least=10)
        for judge, traits in {
            "60:40 for the first": position_bound(0.6),
            "70:30 for the first": position_bound(0.7),
            "70:30 for 1 sd of length": length_loving(0.7),
        }.items():
            found = _figures(3, traits, few, items, protocol=protocol)
            doubtful = [_state(one, protocol) == "doubtful" for one in found]
            figure = "trust: judge is doubtful"
            yield share(figure, f"{judge}, {protocol}, {items} items", sum(doubtful), few)
        found = _figures(4, COIN, n, items, protocol=protocol)
        fine = [_state(one, protocol) == "fine" for one in found]
        figure, setting = "trust: judge is fine", f"coin, {protocol}, {items} items"
        yield share(figure, setting, sum(fine), n, (0, ALARM))
        found = _figures(5, FAIR, few, items, protocol=protocol)
        fine = [_state(one, protocol) == "fine" for one in found]
        yield share(figure, f"fair judge, {protocol}, {items} items", sum(fine), few)
        gaps = [one.flips.expected - one.flips.rate for one in found]
        figure = "flips: rate to be expected minus rate"
        yield mean(figure, f"fair judge, {protocol}, {items} items", gaps, (-0.03, 0.03))


def _figures(
    seed: int,
    traits: Traits,
    n: int,
    items: int,
    *,
    protocol: str,
    n_models: int = MODELS,
    theta: Any = None,
) -> list[JudgeFigures]:
    """What the checks see of one judge in `n` worlds."""
    rng = np.random.default_rng((seed, items, n_models))
    models = near_ties(n_models) if theta is None else theta
    return [
        judge_figures(
            judged(rng, models, items, traits, protocol=protocol, swap=SWAP[protocol]),  # type: ignore[arg-type]
            how=_NO_DRAWS,
        )
        for _ in range(n)
    ]


def _alarms(setting: str, found: list[JudgeFigures]) -> Iterator[Claim]:
    for name, alarm in ALARMS.items():
        hits = sum(map(alarm, found))
        yield share(f"trust: false alarm of {name}", setting, hits, len(found), (0, ALARM))


def _state(found: JudgeFigures, protocol: str) -> str:
    rule = RULES["elimination" if protocol == "seal" else "win_rate"]
    return trust_of(found, rule, unscored=None).state
