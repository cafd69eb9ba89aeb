"""What spoilt scores do to a rank, by CSD and by mean score.

Source: Liu et al., "LLM Swiss Round", figure 5.
"""

from typing import TYPE_CHECKING

from tiebreak.analysis.contests import ContestReport
from tiebreak.rankers.contests.sensitivity import Perturbation
from tiebreak.rankers.profile import FloatArray
from tiebreak.rankers.ranks import competition_ranks
from tiebreak.report.figures.canvas import MUTED, ORANGE, SMALL, panel, short, styled, widest
from tiebreak.report.figures.drawing import Drawing
from tiebreak.report.figures.labels import SIDE_LINE, label_side
from tiebreak.words import count

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def perturbation_figure(report: ContestReport) -> Drawing | None:
    """Ranks of all models before and after, by CSD beside the plain mean; the spoilt one is marked.

    None where no score was spoilt.
    """
    spoilt = report.spoilt
    if spoilt is None:
        return None
    name, n = short(report.models[spoilt.model]), len(report.models)
    where = ", ".join(short(report.benchmarks[column]) for column in spoilt.benchmarks)
    title = f"CSD · {name} with {spoilt.value:g} in {count(len(spoilt.benchmarks), 'benchmark')}"
    names = list(map(short, report.models))
    side = widest(names, SMALL) * 1.1 + 0.4
    height = max(1.6, SIDE_LINE * 1.15 * n)
    with styled():
        figure, axes = panel(
            (3.6, height),
            title=title,
            left=side,
            right=side,
            top=0.25,
            ticks=False,
            below=["rank before → after", f"spoilt: {where}"],
        )
        axes.set_xlim(-0.35, 3.35)
        axes.set_ylim(n + 0.5, 0.5)
        axes.set_axis_off()
        by_csd, by_mean = _ranks(spoilt)
        _slopes(axes, 0, "CSD", *by_csd, spoilt.model)
        _slopes(axes, 2, "mean score", *by_mean, spoilt.model)
        label_side(axes, names, by_csd[0], height, left=True, marked=spoilt.model)
        label_side(axes, names, by_mean[1], height, marked=spoilt.model)
    (csd, csd_after), (mean, mean_after) = spoilt.csd_ranks, spoilt.mean_ranks
    return Drawing(
        "csd-perturbation",
        title,
        f"Ranks of {count(n, 'model')} before and after {name} gets {spoilt.value:g} on {where}: "
        f"it goes from rank {csd} to {csd_after} by CSD, and from {mean} to {mean_after} by mean "
        "score.",
        figure,
    )


def _ranks(spoilt: Perturbation) -> tuple[tuple[FloatArray, FloatArray], ...]:
    """Ranks of all models before and after, by CSD and by mean score."""
    return (
        (spoilt.before.rank, spoilt.after.rank),
        (competition_ranks(spoilt.mean_before), competition_ranks(spoilt.mean_after)),
    )


def _slopes(
    axes: "Axes", x: float, head: str, before: FloatArray, after: FloatArray, marked: int
) -> None:
    axes.text(x + 0.5, 1.01, head, transform=axes.get_xaxis_transform(), ha="center")
    for model, ends in enumerate(zip(before, after, strict=True)):
        one = model == marked
        axes.plot(
            [x, x + 1], ends, "o-", color=ORANGE if one else MUTED, linewidth=2.5 if one else 0.7,
            markersize=5 if one else 2.5, zorder=4 if one else 2,
        )  # fmt: skip
    for at, rank, ha, dx in (x, before[marked], "right", -6), (x + 1, after[marked], "left", 6):
        axes.annotate(
            f"{int(rank)}", (at, rank), (dx, 0), textcoords="offset points", ha=ha, va="center",
            color=ORANGE, weight="bold",
        )  # fmt: skip
