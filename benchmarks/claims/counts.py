"""Figures that are counts: unusable replies, items on which all models agree, shares, costs.

Shown:
    unusable replies: `rank`, `compare`, `peers`
    items on which all agree, what pairs that never differed may differ by: `diagnose`
    range of tokens and calls learnt from a log: `estimate --from-log`
"""

from collections.abc import Iterator

import numpy as np

from benchmarks.claims import Claim, runs, share
from benchmarks.claims.worlds import judged
from tiebreak.analysis.diagnosis import saturation_of
from tiebreak.rankers.intervals import design_effect, wilson
from tiebreak.scorers.ballots import Call
from tiebreak.study.estimate.experience import experience_of

HOLDS = (0.93, 0.97)
[EMPTY] = judged(np.random.default_rng(0), [0.0, 0.0], 1)


def claims(scale: float) -> Iterator[Claim]:
    """Wilson intervals of replies that fail together or alone; bounds of unseen differences."""
    yield from unscored(scale)
    yield from unseen(scale)
    yield from tokens(scale)


def unscored(scale: float) -> Iterator[Claim]:
    """Unusable replies: single ones, or all of an item (if an answer breaks the format)."""
    cells = [(0.05, 0.0, 100), (0.05, 0.3, 100), (0.05, 1.0, 100), (0.2, 1.0, 30)]
    for number, (rate, together, items) in enumerate(cells):
        rng, n, matches = np.random.default_rng((7, number)), runs(2000, scale), 7
        whole = rng.random((n, items, 1)) < rate
        own = rng.random((n, items, matches)) < rate
        failed = np.where(rng.random((n, items, 1)) < together, whole, own).sum(axis=2)
        hits = 0
        for one in failed:
            effect = design_effect(one, np.full(items, matches))
            found = wilson(int(one.sum()), items * matches, effect=effect)
            hits += found.lower <= rate <= found.upper
        setting = f"{rate:.0%} of 7 × {items} replies, in {together:.0%} of items all or none"
        # A few items that fail as a whole among single failures are too rare to estimate the
        # design effect, so the intervals hold less.
        held = HOLDS if together in (0.0, 1.0) else (0.88, 0.97)
        yield share("rank: 95% interval of unusable replies", setting, hits, n, held)


def unseen(scale: float) -> Iterator[Claim]:
    """The bound on the difference of pairs of models that never differed.

    In the worst case a pair differs in slightly more items than the bound after no difference in
    100 items; the failure rates are chosen for this case.
    """
    worlds = {
        "two models, one fails 3%": [0.0, 0.03],
        "8 models, one fails 3%": [0.0] * 7 + [0.03],
        "8 models fail 1.7% each": [0.0165] * 8,
        "8 models fail 3.2% each": [0.032] * 8,
        "30 models fail 2.2% each": [0.022] * 30,
    }
    for number, (setting, rates) in enumerate(worlds.items()):
        rng, n = np.random.default_rng((8, number)), runs(600, scale)
        fails = np.array(rates)
        differ = fails[:, None] + fails[None, :] - 2 * fails[:, None] * fails[None, :]
        wrong = agree = 0
        for _ in range(n):
            scores = (rng.random((100, len(fails))) >= fails).astype(float)
            found = saturation_of(scores)
            constant = ~np.any(scores[:, :, None] != scores[:, None, :], axis=0)
            wrong += bool(np.any(constant & (differ > found.unseen)))
            true = np.prod(fails) + np.prod(1 - fails)
            agree += found.agree.lower <= true <= found.agree.upper
        yield share(
            "diagnose: a pair that never differed differs by more than said",
            f"{setting}, 100 items",
            wrong,
            n,
            (0, 0.05),
        )
        yield share("diagnose: 95% interval of items on which all agree", setting, agree, n, HOLDS)


def tokens(scale: float) -> Iterator[Claim]:
    """The range of a judge's tokens learnt from a log; an item's seven prompts are alike."""
    for number, n_items in enumerate((20, 100)):
        rng, n, hits = np.random.default_rng((9, number)), runs(600, scale), 0
        for _ in range(n):
            items = rng.lognormal(sigma=0.5, size=(n_items, 1))
            each = 1000 * items * rng.lognormal(sigma=0.2, size=(n_items, 7))
            ballots = [
                EMPTY.model_copy(
                    update={
                        "calls": tuple(
                            Call(kind="match", role="judge", model="j", input_tokens=round(own))
                            for own in row
                        )
                    }
                )
                for row in each.tolist()
            ]
            low, _, high = experience_of(ballots).tokens["match"][0]
            hits += bool(low <= 1000 * np.exp((0.5**2 + 0.2**2) / 2) <= high)
        setting = f"7 calls an item, {n_items} items"
        # The range is ± 2 standard errors, and tokens are skewed, so it may hold less than 95%.
        yield share("estimate: range of a question's tokens", setting, hits, n, (0.9, 0.97))
