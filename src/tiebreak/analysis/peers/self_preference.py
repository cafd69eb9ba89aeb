"""Does a model rank itself higher than its peers do, and does aggregation remove that?

Four views of every model (Peer review, §4.3 and table 3; see `rankers.reviewers`) give two
differences: the gap PR − SR before aggregation, and the remainder SFA − SIA after it. Both are in
places, and above 0 if the model's own ballot favours it. A fair model among others that favour
themselves also shows a gap, because each of their ballots puts one more answer above the model's.
So there is a third figure, the fair gap: it compares two ballots without the answer of the other
reviewer.

    none     the test finds no gap
    removed  there is a gap, the remainder is smaller, and its interval includes 0 or lies on the
             other side of 0
    reduced  the remainder is smaller, but lies on the gap's side of 0
    kept     the remainder lies on that side, and may be as large as the gap

There is a gap if gap and fair gap both differ from 0, in the same direction, by the sign-flip test
over items; the larger of the two p-values counts, adjusted for the number of models by Holm's
method. The remainder is smaller if the interval of gap minus remainder, on the same draws of items,
says so. There is no verdict if it does not and the remainder's interval includes 0, or if the items
are too few for the test to find anything.

In simulated panels of six, a gap was found in one or more fair models in at most 4% of panels of 8
to 100 items, whether or not the others favour themselves. A model that adds one standard deviation
of its noise to its own answer is found in a fifth of panels of 10 items, in 83% of 30, in all of
100.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from tiebreak.analysis.peers.panel import Panel
from tiebreak.rankers import Views, fair_gaps
from tiebreak.rankers.intervals import Estimate, ItemDraws
from tiebreak.rankers.pairwise_tests import holm, item_means, items_needed, sign_flip_p
from tiebreak.rankers.profile import FloatArray
from tiebreak.rankers.ranks import DECIMALS
from tiebreak.rankers.uncertainty import Resampling
from tiebreak.reason import Reason

Verdict = Literal["none", "removed", "reduced", "kept"]

_LEFT: Mapping[Verdict, Reason] = {
    "removed": Reason("favour_removed"),
    "reduced": Reason("favour_reduced"),
    "kept": Reason("favour_kept"),
}


@dataclass(frozen=True, slots=True)
class SelfPreference:
    """One model in four views: mean ranks, 1 = best, NaN if a view is undefined.

    `gap` is the mean of PR − SR over the items in which both are defined, `fair_gap` the mean of
    `fair_gaps`, `remainder` that of SFA − SIA. `p_adjusted` is the p-value of the gap, adjusted for
    all models; NaN if it was not tested. `verdict` is None if it cannot be given; `reason` then
    says why.
    """

    model: str
    sr: float
    pr: float
    sia: float
    sfa: float
    gap: Estimate
    fair_gap: Estimate
    remainder: Estimate
    p_adjusted: float
    verdict: Verdict | None
    reason: Reason | None

    @property
    def biased(self) -> bool:
        """Whether the test finds that the model favours or harms itself."""
        return self.verdict not in (None, "none")


def self_preference(panel: Panel, views: Views, how: Resampling) -> tuple[SelfPreference, ...]:
    """The four views of every model, in the order of the panel's models."""
    over = ItemDraws(len(panel.items), panel.items, how=how)
    remainders = views.self_free - views.inclusive
    fair = fair_gaps(panel.ranks, panel.own)
    estimates = zip(
        over.means(views.gaps, Reason("no_sr_and_pr")),
        over.means(fair, Reason("no_third_answer")),
        over.means(remainders, Reason("no_sia_and_sfa", method=views.method)),
        over.means(views.gaps - remainders, Reason("no_four_views")),
        strict=True,
    )
    p = _p_values(item_means(views.gaps, panel.items), item_means(fair, panel.items), how.seed)
    n_tested = int(np.sum(~np.isnan(p)))
    rows = []
    for column, (figures, p_adjusted) in enumerate(zip(estimates, holm(p), strict=True)):
        gap, fair_gap, remainder, difference = figures
        verdict: Verdict | None = None
        if min(gap.n_items, fair_gap.n_items) >= items_needed(n_tested, how.level):
            favoured = int(np.sign(gap.value)) if p_adjusted <= 1 - how.level else 0
            verdict = _verdict(favoured, remainder, difference)
        rows.append(
            SelfPreference(
                model=panel.models[column],
                sr=float(views.sr[column]),
                pr=float(views.pr[column]),
                sia=float(views.sia[column]),
                sfa=float(views.sfa[column]),
                gap=gap,
                fair_gap=fair_gap,
                remainder=remainder,
                p_adjusted=p_adjusted,
                verdict=verdict,
                reason=None if verdict else next(_reasons(panel, views, column, figures[:3])),
            )
        )
    return tuple(rows)


def _p_values(gaps: FloatArray, fair: FloatArray, seed: int) -> list[float]:
    """The larger p-value of gap and fair gap, shape (items, N), per model; NaN without an item."""
    p = []
    for gap, fair_gap in zip(gaps.T, fair.T, strict=True):
        if np.isnan(gap).all() or np.isnan(fair_gap).all():
            p.append(math.nan)
        elif np.nansum(gap) * np.nansum(fair_gap) < 0:
            p.append(1.0)  # opposite directions: no gap by definition
        else:
            p.append(max(sign_flip_p(gap, seed=seed), sign_flip_p(fair_gap, seed=seed)))
    return p


def side(estimate: Estimate) -> int:
    """The side of 0 on which an interval lies: 1 or −1; 0 if it includes 0 or is undefined."""
    above, below = round(estimate.lower, DECIMALS) > 0, round(estimate.upper, DECIMALS) < 0
    return int(above) - int(below)


def _verdict(favoured: int, remainder: Estimate, difference: Estimate) -> Verdict | None:
    """The verdict; `favoured` is the side of 0 on which the gap lies, 0 if the test finds none."""
    if not favoured:
        return "none"
    if np.isnan(remainder.lower):
        return None
    smaller = side(difference) == favoured
    if side(remainder) != favoured:
        return "removed" if smaller else None
    return "reduced" if smaller else "kept"


def no_self_rank(panel: Panel, column: int) -> Reason:
    """The reason that a model never ranks its own answer."""
    if column not in panel.own:
        return Reason("no_reviewer_of_model")
    if panel.degree is not None:
        return Reason("sparse_without_own")
    return Reason("own_answer_unranked")


def _reasons(
    panel: Panel, views: Views, column: int, figures: Sequence[Estimate]
) -> Iterator[Reason]:
    """Reasons for a missing verdict, the most specific first."""
    if np.isnan(views.self_ranks[:, column]).all():
        yield no_self_rank(panel, column)
    if np.isnan(views.peer_ranks[:, column]).all():
        yield Reason("unranked_by_others")
    yield from (figure.reason for figure in figures if figure.reason)
    yield Reason("few_items_to_tell")


def favour_reason(views: Sequence[SelfPreference]) -> Reason | None:
    """The models that favour themselves, and the effect of aggregation; None if none was tested.

    A model gains PR − SR places by its own ballot.
    """
    tested = [view for view in views if view.verdict]
    if not tested:
        return None
    favouring = sorted((view for view in tested if view.biased), key=lambda view: -view.gap.value)
    if favouring:
        return Reason("self_favours", clauses=[_favours(view) for view in favouring])
    if len(tested) == len(views):
        return Reason("no_self_favour")
    return Reason("no_self_favour_of_tested", n=len(tested))


def _favours(view: SelfPreference) -> Reason:
    return Reason(
        "ranks_itself_higher" if view.gap.value > 0 else "ranks_itself_lower",
        model=view.model,
        places=abs(view.gap.value),
        consensus=_LEFT.get(view.verdict or "none", ""),
    )
