"""Does a model put itself higher than its peers do? Gap, fair gap and what aggregation leaves."""

import math
from collections.abc import Sequence
from typing import Final

from tiebreak.analysis.peers.review import PeerReview
from tiebreak.analysis.peers.self_preference import SelfPreference
from tiebreak.rankers.intervals import Estimate
from tiebreak.report.cells import UNDEFINED, decimal, signed_interval
from tiebreak.report.figures.canvas import (
    BLUE,
    GREEN,
    MUTED,
    ORANGE,
    not_shown,
    short,
    styled,
)
from tiebreak.report.figures.drawing import Drawing, slug
from tiebreak.report.figures.rows import draw_point, limits, row_panel
from tiebreak.words import count

# Figure, form, colour and place within the row.
_FIGURES: Final = (
    ("gap", "o", BLUE, -0.25),
    ("fair_gap", "s", GREEN, 0.0),
    ("remainder", "D", ORANGE, 0.25),
)
_KEY = "● gap PR − SR · ■ fair gap · ◆ remainder SFA − SIA, after aggregation; lines: intervals"


def self_preference_figure(review: PeerReview) -> Drawing | None:
    """Gap, fair gap and remainder of every model, each with its interval, and the verdict.

    None where no model has a gap.
    """
    place = {row.model: number for number, row in enumerate(review.ranking.rows)}
    rows = sorted(review.views, key=lambda row: place[row.model])
    shown = [row for row in rows if not math.isnan(row.gap.value)]
    if not shown:
        return None
    title = f"{short(review.panel.benchmark)} · self-preference"
    with styled():
        figure, axes = row_panel(
            [short(row.model) for row in shown],
            title=title,
            height=0.5,
            words=[row.verdict or UNDEFINED for row in shown],
            head="verdict",
            below=[
                "places; above 0 the model's own ballot favours it",
                _KEY,
                *not_shown([row.model for row in rows if math.isnan(row.gap.value)]),
            ],
        )
        axes.axvline(0, color=MUTED, linewidth=0.8, zorder=1)
        values = [0.0]
        for number, row in enumerate(shown):
            for field, marker, colour, shift in _FIGURES:
                one: Estimate = getattr(row, field)
                values += [one.value, one.lower, one.upper]
                draw_point(
                    axes, number + shift, one.value, one.lower, one.upper,
                    marker=marker, colour=colour, pale=colour, width=1.4,
                )  # fmt: skip
        axes.set_xlim(limits(values, step=0.5))
    return Drawing(
        slug("self-preference", review.panel.benchmark), title, _words(review, shown), figure
    )


def _words(review: PeerReview, rows: Sequence[SelfPreference]) -> str:
    verdicts = [row.verdict for row in rows]
    n = sum(verdict not in (None, "none") for verdict in verdicts)
    most = max(rows, key=lambda row: row.gap.value)
    words = (
        f"Self-preference of {count(len(rows), 'model')} on {short(review.panel.benchmark)}: the "
        f"largest gap is that of {short(most.model)}, {decimal(most.gap.value, 2)} places"
    )
    if not math.isnan(most.gap.lower):
        words += f" (interval {signed_interval(most.gap.lower, most.gap.upper)})"
    return (
        f"{words}. By its intervals {count(n, 'model')} "
        f"{'prefers' if n == 1 else 'prefer'} themselves, and aggregation removes that of "
        f"{verdicts.count('removed')}."
    )
