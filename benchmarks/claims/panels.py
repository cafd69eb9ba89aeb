"""Panels of reviewers: effective votes, errors, agreement, self-preference, position bias.

Unless a setting says otherwise, eight reviewers rank 8 answers of equal models. Their errors are as
large as the spread of the answers, and those of the first few may correlate. 90% of the answers
pass the benchmark's own test, which has errors, too.

Shown:
    self-preference: `peers`
    agreement of reviewers, α, W, independent votes, known right and wrong pairs, reviewers
        bound to the order shown: `peers`
"""

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from benchmarks.claims import Claim, Range, in_tests, mean, runs, share, worlds
from benchmarks.claims.worlds import Array, Generator
from tiebreak.analysis.peers.panel import Panel
from tiebreak.analysis.peers.self_preference import self_preference
from tiebreak.rankers import peer_views
from tiebreak.rankers.dependence import effective_votes, pair_errors
from tiebreak.rankers.intervals import Estimate
from tiebreak.rankers.panel import kendall_w, krippendorff_alpha, reviewer_agreement
from tiebreak.rankers.reviewers import presentation_bias
from tiebreak.rankers.uncertainty import Resampling

ONCE = Resampling(draws=1)
HOLDS = (0.93, 0.97)
# Some figures depend on the panel and have no formula: their value on this many items is the truth.
LARGE = 6000
# Native scores depend on an answer's quality and an error half as large as its spread.
NATIVE_NOISE = 0.5


@dataclass(frozen=True)
class Votes:
    """A panel whose first `together` reviewers have errors that correlate."""

    setting: str
    noise: Array
    together: int = 0
    correlation: float = 0.0
    claimed: Range | None = (0.8, 1.25)

    @property
    def true(self) -> float:
        """Kish's effective number of votes."""
        errors = np.outer(self.noise, self.noise)
        shared = np.zeros_like(errors)
        shared[: self.together, : self.together] = self.correlation
        np.fill_diagonal(shared, 1)
        return float(len(errors) * np.trace(errors) / np.sum(errors * shared))

    def drawn(self, rng: Generator, n_items: int, rate: float = 0.9) -> tuple[Array, Array]:
        """Draw ranks, shape (items, reviewers, 8), and native scores, of which `rate` are 1."""
        answers = rng.standard_normal((n_items, 8))
        ranks = worlds.panel(
            rng, answers, self.noise, together=self.together, correlation=self.correlation
        )
        seen = answers + NATIVE_NOISE * rng.standard_normal(answers.shape)
        # On average the share `rate` of the answers is above this.
        threshold = -np.sqrt(1 + NATIVE_NOISE**2) * NormalDist().inv_cdf(rate)
        return ranks, (seen > threshold).astype(np.float64)


UNEQUAL = np.array([0.5, 0.7, 0.9, 1, 1.2, 1.5, 0.8, 1.1])
PANELS = (
    Votes("6 of 8 share errors, .9", np.ones(8), 6, 0.9),
    Votes("the same, unequal skill", UNEQUAL, 6, 0.9),
    Votes("6 of 8, .5", np.ones(8), 6, 0.5),
    Votes("4 of 6, .8", np.ones(6), 4, 0.8),
    Votes("7 of 10, .7", np.ones(10), 7, 0.7),
    Votes("4 of 8, .5", np.ones(8), 4, 0.5),
    # All pairs of reviewers correlate alike, by truth or by shared errors: no estimate is possible.
    Votes("8 independent", np.ones(8), claimed=None),
    Votes("12 independent, unequal skill", np.linspace(0.5, 2, 12), claimed=None),
    Votes("all 8 share errors, .5", np.ones(8), 8, 0.5, None),
    Votes("all 8 share errors, .5, unequal skill", UNEQUAL, 8, 0.5, None),
)
INDEPENDENT = PANELS[6]
# Ballots that have only errors in common, or of which a single reviewer's depend on the truth.
BLIND = (
    Votes("all 8 share errors, .5, none sees anything", np.full(8, 30.0), 8, 0.5),
    Votes("5 of 6 share errors, .8, the sixth alone sees", np.array([*[30.0] * 5, 0.3]), 5, 0.8),
)


def claims(scale: float) -> Iterator[Claim]:
    """Estimates against planted votes, coverage of intervals, false alarms and power."""
    for number, panel in enumerate(PANELS):
        yield from votes(scale, number, panel)
    for number, (panel, n_items) in enumerate(
        [(PANELS[0], 50), (PANELS[7], 50), (PANELS[8], 50), *((one, 10) for one in BLIND)]
    ):
        yield ranges(scale, number, panel, n_items)
    yield shuffled(scale)
    for number, (panel, n_items) in enumerate(
        [(INDEPENDENT, 30), (INDEPENDENT, 100), (PANELS[2], 30)]
    ):
        yield from errors(scale, number, panel, n_items)
    for number, (reviewers, n, together, n_items) in enumerate(
        [
            *((3, 4, 0, 5), (8, 8, 6, 5), (8, 4, 6, 10), (3, 8, 0, 10)),
            *((8, 8, 0, 30), (3, 4, 2, 100)),
        ]
    ):
        if reviewers * n * n_items >= 1000 and in_tests(scale):
            continue
        yield from agreement(scale, number, reviewers, n, together, n_items)
    for number, (others, n_items) in enumerate([(0, 8), (0, 30), (1, 10), (1, 30)]):
        if n_items >= 30 and in_tests(scale):
            continue
        yield fair_panels(scale, number, others, n_items)
    for number, n_items in enumerate((10, 30, 100)):
        if in_tests(scale):
            break
        yield favouring(scale, number, n_items)
    for number, (worth, n_items) in enumerate([(0, 10), (0, 40), (0.35, 10), (0.35, 40)]):
        if worth and in_tests(scale):
            break
        yield bound(scale, number, worth, n_items)


def votes(scale: float, number: int, panel: Votes) -> Iterator[Claim]:
    """Ratio of the estimate to the planted number of votes, and how often there is no estimate."""
    n_runs = runs(150, scale, least=12)
    # The second setting is nearer to saturation and therefore has more items.
    for n_items, rate in ((100, 0.9), (300, 0.97))[: 1 if number % 3 or in_tests(scale) else 2]:
        rng = np.random.default_rng((41, number, n_items))
        found = [
            effective_votes(*panel.drawn(rng, n_items, rate), how=ONCE).estimate / panel.true
            for _ in range(n_runs)
        ]
        setting = f"{panel.setting} ({panel.true:.2f}); {n_items} items, {rate:.0%} pass"
        if panel.claimed:
            yield mean("effective votes: estimate by truth", setting, found, panel.claimed)
        none = int(np.isnan(found).sum())
        # By chance a few reviewers seem to differ here and there, and an estimate is made.
        least = None if panel.claimed else (0.75, 1.0)
        yield share("effective votes: no estimate", setting, none, n_runs, least)


def ranges(scale: float, number: int, panel: Votes, n_items: int) -> Claim:
    """How often the lower end of the range of votes is not above the true number."""
    rng, n_runs = np.random.default_rng((42, number)), runs(200, scale, least=12)
    held = 0
    for _ in range(n_runs):
        ranks, _native = panel.drawn(rng, n_items)
        held += effective_votes(ranks, how=Resampling(draws=50)).at_least <= panel.true
    setting = f"{panel.setting} ({panel.true:.2f}); {n_items} items"
    return share("effective votes: range holds it", setting, held, n_runs, (0.95, 1))


def shuffled(scale: float) -> Claim:
    """How often there is no estimate if native scores have nothing to do with the answers."""
    rng, n_runs = np.random.default_rng(43), runs(300, scale, least=20)
    undefined = 0
    for _ in range(n_runs):
        ranks, native = PANELS[0].drawn(rng, 100)
        found = effective_votes(ranks, rng.permuted(native, axis=1), how=ONCE)
        undefined += np.isnan(found.estimate)
    setting = f"{PANELS[0].setting}; native scores shuffled"
    return share("effective votes: no estimate", setting, undefined, n_runs, (0.99, 1))


def errors(scale: float, number: int, panel: Votes, n_items: int) -> Iterator[Claim]:
    """Intervals of the rate of wrong answers put before right ones, by a reviewer or a majority."""
    large = panel.drawn(np.random.default_rng((44, number)), LARGE)
    truth = _pair_errors(*large)
    rng, n_runs = np.random.default_rng((45, number)), runs(500, scale)
    held = np.zeros(2, dtype=int)
    for _ in range(n_runs):
        held += _holds(_pair_errors(*panel.drawn(rng, n_items)), truth)
    for name, hits in zip(("a reviewer", "the majority"), held.tolist(), strict=True):
        yield share(
            f"wrong before right, {name}: interval", f"{panel.setting}; {n_items} items",
            hits, n_runs, (0.92, 0.98),
        )  # fmt: skip


def _pair_errors(ranks: Array, native: Array) -> tuple[Estimate, ...]:
    (first, *_), _, majority = pair_errors(ranks, native)
    return first, majority


def agreement(
    scale: float, number: int, reviewers: int, n: int, together: int, n_items: int
) -> Iterator[Claim]:
    """Intervals of α, W and Kendall's τ, of the panel and of a reviewer with the others."""

    def drawn(rng: Generator, n_items: int) -> Array:
        answers = rng.standard_normal((n_items, n))
        return worlds.panel(rng, answers, np.ones(reviewers), together=together, correlation=0.8)

    truth = _agreements(drawn(np.random.default_rng((46, number)), LARGE))
    rng, n_runs = np.random.default_rng((47, number)), runs(500, scale)
    held = np.zeros(4, dtype=int)
    for _ in range(n_runs):
        held += _holds(_agreements(drawn(rng, n_items)), truth)
    shared = f"{together} share errors" if together else "independent"
    setting = f"{reviewers} reviewers, {shared}; {n} answers, {n_items} items"
    names = "Krippendorff's α", "Kendall's W", "τ of the panel", "τ of a reviewer"
    for name, hits in zip(names, held.tolist(), strict=True):
        yield share(f"{name}: interval", setting, hits, n_runs, HOLDS)


def _agreements(ranks: Array) -> tuple[Estimate, ...]:
    taus = reviewer_agreement(ranks)
    return krippendorff_alpha(ranks), kendall_w(ranks)[1], taus.panel, taus.reviewers[0]


def _holds(found: tuple[Estimate, ...], truth: tuple[Estimate, ...]) -> Array:
    pairs = zip(found, truth, strict=True)
    return np.array([one.lower <= true.value <= one.upper for one, true in pairs], dtype=int)


def fair_panels(scale: float, number: int, others: float, n_items: int) -> Claim:
    """How often a fair model of six is said to favour or harm itself."""
    rng, n_runs = np.random.default_rng((48, number)), runs(400, scale, least=20)
    own = np.array([0, *[others] * 5]) if others else np.zeros(6)
    blamed = sum(bool(np.any(_found(rng, own, n_items)[own == 0])) for _ in range(n_runs))
    setting = "one of 6, the others add 1 sd to their own" if others else "any of 6"
    return share(
        "self-preference of a fair model", f"{setting}; {n_items} items", blamed, n_runs, (0, 0.05)
    )


def favouring(scale: float, number: int, n_items: int) -> Claim:
    """Power to find a model of six that adds a standard deviation to its own answer."""
    rng, n_runs = np.random.default_rng((49, number)), runs(200, scale, least=4)
    own = np.array([1.0, 0, 0, 0, 0, 0])
    hits = sum(bool(_found(rng, own, n_items)[0]) for _ in range(n_runs))
    return share("self-preference is found", f"1 sd, one of 6; {n_items} items", hits, n_runs)


def _found(rng: Generator, own: Array, n_items: int) -> Array:
    """Draw a panel; returns which models are found to favour or harm themselves, shape (N,)."""
    panel = _panel(rng, own, n_items)
    views = peer_views(panel.ranks, panel.own, method="borda")
    rows = self_preference(panel, views, Resampling(draws=50))
    return np.array([row.p_adjusted <= 0.05 for row in rows])


def _panel(rng: Generator, own: Array, n_items: int) -> Panel:
    """Draw a review of models by each other, in which each adds its `own` to its own answer."""
    n = len(own)
    answers = 0.7 * rng.standard_normal((n_items, 1, n))
    seen = answers + rng.standard_normal((n_items, n, n)) + np.diag(own)
    return worlds.peer_panel(_ranks(seen))


def _ranks(seen: Array) -> Array:
    ranks: Array = ((-seen).argsort(axis=2).argsort(axis=2) + 1).astype(np.float64)
    return ranks


def bound(scale: float, number: int, worth: float, n_items: int) -> Claim:
    """How often position bias is found if the first of 8 adds `worth` for each place further up."""
    rng, n_runs = np.random.default_rng((50, number)), runs(300, scale, least=20)
    hits = 0
    for _ in range(n_runs):
        shown = rng.permuted(np.tile(np.arange(1.0, 7), (n_items, 8, 1)), axis=2)
        seen = rng.standard_normal((n_items, 1, 6)) + rng.standard_normal((n_items, 8, 6))
        seen[:, 0] -= worth * shown[:, 0]
        ranks = _ranks(seen)
        found = presentation_bias(ranks, shown, how=ONCE)
        hits += found[0].bound is True if worth else any(one.bound for one in found)
    setting = f"6 answers, {n_items} items"
    if worth:
        return share(
            "goes by place: found", f"a place is worth {worth} sd; {setting}", hits, n_runs
        )
    return share("goes by place: any of 8 fair ones", setting, hits, n_runs, (0, 0.01))
