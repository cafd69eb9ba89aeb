"""Does a model put itself higher than its peers do, and does aggregation take that away?

Four views of every model (Peer review, §4.3 and table 3; see `rankers.views`) give two differences:
the gap PR − SR before aggregation, and what remains of it after, SFA − SIA. Both are in places, and
above 0 where the model's own ballot favours it. A fair model among others that favour themselves
seems to do so, too: each of their ballots has one more answer above its own. So there is a third
figure, the fair gap: it compares two ballots without the answer of the other reviewer.

    none     the interval of the gap holds 0, or that of the fair gap does
    removed  there is a gap, the remainder is smaller, and its interval holds 0 or lies on the other
             side of it
    reduced  the remainder is smaller, but lies on the gap's side of 0
    kept     it lies there, and may be as large as the gap

Smaller is what the interval of the difference of the two says, on the same draws of items. Where it
does not, and the remainder's interval holds 0, there is no verdict.

Each model is looked at on its own: of 20 without any gap, one will seem to have one.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from tiebreak.analysis.peers.panel import Panel
from tiebreak.rankers import Views, fair_gaps
from tiebreak.rankers.intervals import Estimate, ItemDraws
from tiebreak.rankers.ranks import DECIMALS
from tiebreak.rankers.uncertainty import Resampling

Verdict = Literal["none", "removed", "reduced", "kept"]


@dataclass(frozen=True, slots=True)
class SelfPreference:
    """One model in four views: mean ranks, 1 = best, NaN where a view is undefined.

    `gap` is the mean of PR − SR over the items in which both are defined, `fair_gap` that of
    `fair_gaps`, `remainder` that of SFA − SIA. `verdict` is None where it cannot be given, and
    `reason` then says why.
    """

    model: str
    sr: float
    pr: float
    sia: float
    sfa: float
    gap: Estimate
    fair_gap: Estimate
    remainder: Estimate
    verdict: Verdict | None
    reason: str | None


def self_preference(panel: Panel, views: Views, how: Resampling) -> tuple[SelfPreference, ...]:
    """The four views of every model, in the order of the panel's models."""
    over = ItemDraws(len(panel.items), panel.items, how=how)
    remainders = views.self_free - views.inclusive
    gaps = over.means(views.gaps, "no item gives both SR and PR")
    fair = over.means(
        fair_gaps(panel.ranks, panel.own), "no other ballot compares it with a third answer"
    )
    remains = over.means(remainders, f"{views.method} gives no item both SIA and SFA")
    differences = over.means(views.gaps - remainders, "no item gives all four views")
    rows = []
    for column, model in enumerate(panel.models):
        found = gaps[column], fair[column], remains[column]
        verdict = _verdict(*found, differences[column])
        rows.append(
            SelfPreference(
                model=model,
                sr=float(views.sr[column]),
                pr=float(views.pr[column]),
                sia=float(views.sia[column]),
                sfa=float(views.sfa[column]),
                gap=found[0],
                fair_gap=found[1],
                remainder=found[2],
                verdict=verdict,
                reason=None if verdict else next(_reasons(panel, views, column, found)),
            )
        )
    return tuple(rows)


def side(estimate: Estimate) -> int:
    """On which side of 0 an interval lies: 1 above, −1 below, 0 if it holds 0 or is undefined."""
    above, below = round(estimate.lower, DECIMALS) > 0, round(estimate.upper, DECIMALS) < 0
    return int(above) - int(below)


def _verdict(
    gap: Estimate, fair: Estimate, remainder: Estimate, difference: Estimate
) -> Verdict | None:
    if np.isnan(gap.lower):
        return None
    favoured = side(gap)
    if not favoured:
        return "none"
    if np.isnan(fair.lower):
        return None
    if side(fair) != favoured:
        return "none"
    if np.isnan(remainder.lower):
        return None
    smaller = side(difference) == favoured
    if side(remainder) != favoured:
        return "removed" if smaller else None
    return "reduced" if smaller else "kept"


def _reasons(panel: Panel, views: Views, column: int, figures: Sequence[Estimate]) -> Iterator[str]:
    """Why there is no verdict, the most telling first."""
    if column not in panel.own:
        yield "no reviewer is this candidate"
    if np.isnan(views.self_ranks[:, column]).all():
        yield (
            "its own ballots never rank its own answer"
            if panel.degree is None
            else "in sparse mode no reviewer is shown its own answer"
        )
    if np.isnan(views.peer_ranks[:, column]).all():
        yield "no other reviewer ranks it"
    yield from (figure.reason for figure in figures if figure.reason)
    yield "too few items to tell whether anything remains"
