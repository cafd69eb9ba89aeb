"""How stable a ranking is: parts of its items against all, and run against run."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from tiebreak.analysis.stability import StabilityReport
from tiebreak.rankers.profile import FloatArray
from tiebreak.report.cells import UNDEFINED, decimal, rate
from tiebreak.report.figures.canvas import not_shown, short, styled
from tiebreak.report.figures.drawing import Drawing
from tiebreak.report.figures.rows import draw_box, limits, row_panel
from tiebreak.words import count


class _Row(NamedTuple):
    name: str
    rhos: FloatArray
    mean: float
    minimum: float
    top1: str


def stability_figure(report: StabilityReport) -> Drawing | None:
    """Every ρ with the whole leaderboard, or between two runs, as a box; the diamond is the mean.

    None where no ρ is defined.
    """
    rows = list(_rows(report))
    shown = [row for row in rows if not np.isnan(row.rhos).all()]
    if not shown:
        return None
    with styled():
        figure, axes = row_panel(
            [row.name for row in shown],
            title="Stability",
            height=0.32,
            words=[row.top1 for row in shown],
            head="same first",
            below=[
                "Spearman's ρ",
                f"a share: {count(report.n_seeds, 'part')} of the items against all; runs: each "
                "pair of runs",
                "box: middle half, line at the median · ◆ mean",
                *not_shown([row.name for row in rows if np.isnan(row.rhos).all()]),
            ],
        )
        for place, row in enumerate(shown):
            draw_box(axes, place, row.rhos, row.mean)
        values = [float(value) for row in shown for value in row.rhos]
        axes.set_xlim(limits([*values, 1.0], within=(-1, 1)))
    lowest = min(shown, key=lambda row: row.mean)
    highest = max(shown, key=lambda row: row.mean)
    words = (
        f"Spearman's ρ of leaderboards over parts of the items, or of repeated runs, in "
        f"{count(len(shown), 'row')}. The least stable is {short(lowest.name, 80)}, mean ρ "
        f"{decimal(lowest.mean)}, lowest {decimal(lowest.minimum)}"
    )
    if highest is not lowest:
        words += f"; the most stable is {short(highest.name, 80)}, mean ρ {decimal(highest.mean)}"
    return Drawing("stability", "Stability", f"{words}.", figure)


def _rows(report: StabilityReport) -> Iterator[_Row]:
    for one in report.subsampled:
        found = one.stability
        yield _Row(
            f"{short(one.benchmark, 24)} · {short(one.name, 32)} · {one.share * 100:g}%",
            found.rhos,
            found.mean,
            found.minimum,
            rate(found.top1_recovery),
        )
    for runs in report.repeated:
        pairs = runs.stability
        yield _Row(
            f"{short(runs.benchmark, 24)} · {short(runs.label, 32)} · {count(pairs.n_runs, 'run')}",
            pairs.rhos,
            pairs.mean,
            pairs.minimum,
            rate(pairs.top1_matches / pairs.n_pairs) if pairs.n_pairs else UNDEFINED,
        )
