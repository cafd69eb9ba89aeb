"""The state of trust: false alarms at any number of verdicts, judges called fine, flips, cycles.

Shown:
    the state of trust, also by verified pairs; flips and cycles: `rank`, `compare`, page, card
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks.claims import Claim, in_tests, mean, runs, share
from benchmarks.claims.worlds import (
    COIN,
    FAIR,
    NOISY,
    PLACED_BY,
    judged,
    near_ties,
    position_bound,
    qualities,
)
from tiebreak.analysis.judge.biases import ALARM
from tiebreak.analysis.judge.figures import COIN_CYCLES, JudgeFigures, cycles_of, judge_figures
from tiebreak.analysis.trust import trust_of
from tiebreak.demo.lab.planted import Traits
from tiebreak.rankers.intervals import Estimate
from tiebreak.rankers.uncertainty import Resampling
from tiebreak.scorers.rules import RULES

MODELS = 8
SWAP = {"seal": "close", "full_pairwise": "sample", "round_robin": "sample"}
ALARMS: dict[str, Callable[[JudgeFigures], bool]] = {
    "position": lambda found: found.position.p <= ALARM,
    "flips": lambda found: found.flips.p <= ALARM,
    "length": lambda found: found.length.p <= ALARM,
}
DOUBTED = (0.0, 0.015)
_NO_DRAWS = Resampling(draws=2)


def claims(scale: float) -> Iterator[Claim]:
    """False alarms (at most 1% each), power to find faults, coins, verified pairs, and cycles."""
    # An item of eight models has 7 verdicts, or 28 of all pairs; a bracket of five has 4.
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
        if verdicts >= 1000 and in_tests(scale):
            continue
        n = runs(full, scale, least=20 if verdicts < 500 else 5)
        found = _figures(1, FAIR, n, items, protocol=protocol, n_models=n_models)
        yield from _alarms(f"fair judge, {protocol}, {verdicts:,} verdicts", found)
    n = runs(300, scale, least=10)
    apart = near_ties(MODELS, sd=0.5)
    for protocol, items in (("seal", 50), ("full_pairwise", 20)):
        if protocol == "full_pairwise" and in_tests(scale):
            continue
        # Lengths and qualities that differ between models must not look like a preference.
        setting = f"blind judge, models with own lengths and qualities, {protocol}, {items} items"
        yield from _alarms(setting, _figures(2, NOISY, n, items, protocol=protocol, theta=apart))
        few = runs(200, scale, least=10)
        for judge, traits in {
            "60:40 for the first": position_bound(0.6),
            "70:30 for the first": position_bound(0.7),
        }.items():
            if in_tests(scale):  # nothing is claimed
                break
            found = _figures(3, traits, few, items, protocol=protocol)
            doubtful = [_state(one, protocol) == "doubtful" for one in found]
            figure = "trust: judge is doubtful"
            yield share(figure, f"{judge}, {protocol}, {items} items", sum(doubtful), few)
            flips = sum(map(ALARMS["flips"], found))
            yield share("trust: flips find it", f"{judge}, {protocol}, {items} items", flips, few)
        found = _figures(4, COIN, n, items, protocol=protocol)
        fine = [_state(one, protocol) == "fine" for one in found]
        figure, setting = "trust: judge is fine", f"coin, {protocol}, {items} items"
        yield share(figure, setting, sum(fine), n, (0, ALARM))
        found = _figures(5, FAIR, few, items, protocol=protocol)
        fine = [_state(one, protocol) == "fine" for one in found]
        yield share(figure, f"fair judge, {protocol}, {items} items", sum(fine), few)
        gaps = [one.flips.expected - one.flips.rate.value for one in found]
        figure = "flips: rate to be expected minus rate"
        yield mean(figure, f"fair judge, {protocol}, {items} items", gaps, (-0.03, 0.03))
    found = _figures(6, FAIR, runs(100, scale, least=4), 50, protocol="seal", longer_is_better=0.5)
    hits = sum(_state(one, "seal") == "doubtful" for one in found)
    setting = "blind judge, an answer's length and quality correlate at .5, seal, 50 items"
    yield share("trust: judge is doubtful", setting, hits, len(found), DOUBTED)
    yield from _verified(scale)
    yield from _sampled(scale)
    for number, (judge, traits) in enumerate({"coin": COIN, "noisy": NOISY, "fair": FAIR}.items()):
        yield from _cycles(scale, number, judge, traits)


def _verified(scale: float) -> Iterator[Claim]:
    """States of trust if 15% of answers fail by their quality, by chance, or by quality reversed.

    A judge that reads quality then prefers answers that passed, ignores whether they passed, or
    prefers answers that failed.
    """
    for number, (judge, sign, state, items, full, claimed) in enumerate(
        (
            ("fair judge, the worse answers fail", 1, "doubtful", 50, 400, DOUBTED),
            ("fair judge, the worse answers fail", 1, "fine", 200, 100, (0.9, 1.0)),
            ("blind to failure", 0, "doubtful", 50, 400, DOUBTED),
            # 50 items have too few verified pairs to notice: by all other signs the judge is fine.
            ("blind to failure", 0, "fine", 50, 100, None),
            ("blind to failure", 0, "fine", 200, 100, (0.0, ALARM)),
            ("prefers what failed", -1, "doubtful", 50, 200, (0.99, 1.0)),
        )
    ):
        if items > 50 and in_tests(scale):
            continue
        n, hits = runs(full, scale, least=10), 0
        for run in range(n):
            seed, theta = (9, number, run), near_ties(MODELS)
            rng = np.random.default_rng(seed)
            ballots = judged(rng, theta, items, FAIR, protocol="full_pairwise", swap="always")
            # With the same seed these are the qualities in `judged`, which draws them first.
            seen = sign * qualities(np.random.default_rng(seed), theta, items)
            seen += rng.standard_normal(seen.shape)
            passed = (seen > np.quantile(seen, 0.15)).astype(float)
            graded = [
                item.model_copy(update={"native": dict(zip(item.models, row, strict=True))})
                for item, row in zip(ballots, passed.tolist(), strict=True)
            ]
            figures = judge_figures(graded, how=_NO_DRAWS)
            hits += _state(figures, "full_pairwise") == state
        setting = f"{judge}, 15% fail, full_pairwise, {items} items"
        yield share(f"trust: judge is {state}", setting, hits, n, claimed)


def _figures(
    seed: int,
    traits: Traits,
    n: int,
    items: int,
    *,
    protocol: str,
    n_models: int = MODELS,
    theta: Any = None,
    longer_is_better: float = 0.0,
) -> list[JudgeFigures]:
    """Draw `n` worlds, and return the figures of their judge."""
    rng = np.random.default_rng((seed, items, n_models))
    models = near_ties(n_models) if theta is None else theta
    return [
        judge_figures(
            judged(
                rng,
                models,
                items,
                traits,
                protocol=protocol,
                swap=SWAP[protocol],  # type: ignore[arg-type]
                longer_is_better=longer_is_better,
            ),
            how=_NO_DRAWS,
        )
        for _ in range(n)
    ]


def _sampled(scale: float) -> Iterator[Claim]:
    """States of trust by second orders of a fifth of the items, with one round per item.

    They must suffice to tell a judge from a coin. A judge that is always sure gives them no weight,
    and one that prefers the answer shown first gives them less.
    """
    always_sure = Traits(noise=100.0, fresh=True, scale=0.01)
    leaning = Traits(noise=100.0, fresh=True, scale=200.0, position_bias=25.0)
    for number, (name, traits, items, sd, state, claimed) in enumerate(
        [
            ("fair judge", FAIR, 100, 0.1, "unknown", (0, ALARM)),
            ("fair judge", FAIR, 100, 0.2, "unknown", (0, ALARM)),
            ("fair judge", FAIR, 50, 0.2, "unknown", None),
            ("noisy judge", NOISY, 100, 0.2, "unknown", None),
            ("noisy judge", NOISY, 300, 0.2, "unknown", None),
            ("coin", COIN, 100, 0.0, "fine", (0, ALARM)),
            ("coin that is always sure", always_sure, 100, 0.0, "fine", (0, ALARM)),
            ("coin, 60:40 for the first", leaning, 100, 0.0, "fine", (0, ALARM)),
        ]
    ):
        if in_tests(scale) and claimed is None:
            continue
        n, rng = runs(1000, scale, least=20), np.random.default_rng((9, number))
        hits = 0
        for _ in range(n):
            models = sd * near_ties(MODELS, 1.0)[rng.permutation(MODELS)]
            ballots = judged(rng, models, items, traits, protocol="round_robin", swap="sample")
            hits += _state(judge_figures(ballots, how=_NO_DRAWS), "round_robin") == state
        setting = f"{name}, round_robin, 1 round, {MODELS} models {sd:g} apart, {items} items"
        yield share(f"trust: judge is {state}", setting, hits, n, claimed)


def _cycles(scale: float, number: int, judge: str, traits: Traits) -> Iterator[Claim]:
    """Coverage of the interval of the share of cyclic triples, with all pairs of six models."""

    def drawn(rng: np.random.Generator, items: int) -> Estimate:
        models = near_ties(6)
        ballots = judged(rng, models, items, traits, protocol="full_pairwise", swap="never")
        return cycles_of(ballots, how=_NO_DRAWS).share

    # The share on this many items counts as the truth; for a coin it is known exactly.
    large = round(max(4000 * scale, 600))
    found = drawn(np.random.default_rng((7, number)), large)
    # A coin's cycles vary less than independent events, so its intervals may hold more.
    true, claimed = (COIN_CYCLES, (0.93, 1)) if judge == "coin" else (found.value, (0.93, 0.97))
    for items in (20,) if in_tests(scale) else (20, 50):
        n, rng = runs(400, scale, least=20), np.random.default_rng((8, number, items))
        shares = [drawn(rng, items) for _ in range(n)]
        held = sum(one.lower <= true <= one.upper for one in shares)
        yield share("cycles: interval", f"{judge} judge, 6 models, {items} items", held, n, claimed)


def _alarms(setting: str, found: list[JudgeFigures]) -> Iterator[Claim]:
    for name, alarm in ALARMS.items():
        hits = sum(map(alarm, found))
        yield share(f"trust: false alarm of {name}", setting, hits, len(found), (0, ALARM))


def _state(found: JudgeFigures, protocol: str) -> str:
    return trust_of(found, RULES[PLACED_BY[protocol]], unscored=None).state
