"""Figures with a box or an interval per row: reviewers, people, self-preference, stability, κ.

Box plots show correlations item by item (Peer review, figures 4 and 5); κ of judges with people
is figure 4 of LLMEval-Fair.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from tiebreak.analysis.alignment import Alignment, BenchmarkAlignment, Rater
from tiebreak.analysis.calibration import EACH_OTHER, PEOPLE, Calibration
from tiebreak.analysis.peers.panel import Panel
from tiebreak.analysis.peers.review import PeerReview
from tiebreak.analysis.peers.self_preference import SelfPreference
from tiebreak.analysis.stability import StabilityReport
from tiebreak.rankers.agreement import pearson_many, spearman_many
from tiebreak.rankers.consensus import comparing, mean_rank
from tiebreak.rankers.intervals import Estimate
from tiebreak.rankers.profile import FloatArray, within_ballots
from tiebreak.report import ReportError
from tiebreak.report.cells import UNDEFINED, decimal, rate, signed_interval
from tiebreak.report.figures.canvas import (
    BLUE,
    GREEN,
    MUTED,
    ORANGE,
    Drawing,
    not_shown,
    short,
    slug,
    styled,
)
from tiebreak.report.figures.panels import draw_box, draw_point, draw_points, limits, row_panel
from tiebreak.text import count


class Box(NamedTuple):
    """A row of a box plot: its values (NaN if undefined), the marked figure, words at the right.

    A line separates rows of different groups.
    """

    name: str
    values: FloatArray
    mark: float
    group: int = 0
    words: str = ""

    @property
    def empty(self) -> bool:
        """Whether no value is defined."""
        return bool(np.isnan(self.values).all())


def alignment_figure(alignment: Alignment, rater: str = "kemeny_young") -> Drawing | None:
    """How raters' correlations with people are distributed over items, and that over all items.

    A box holds the middle half of the items, with a line at the median; whiskers reach to the last
    item within 1.5 times the box's length, and dots are items beyond. The diamond is the macro
    figure. All are Pearson's correlation of ranks. A single peer review has a box for each rater
    except the views; several have one box each, for `rater`. None if no item tells models apart.

    Raises:
        ReportError: there are several peer reviews, and none has this rater.
    """
    boxes, subject = alignment_boxes(alignment, rater)
    name, title = slug("alignment", subject), short(subject)
    return _correlations_figure(name, title, boxes, _with_people(alignment))


def views_figure(alignment: Alignment) -> Drawing | None:
    """Correlation of self-ranks, peer ranks and both consensuses with people (Peer review, fig. 4).

    A box for each peer review and view, otherwise as in `alignment_figure`.
    """
    drawn = _drawn(alignment)
    several = len(drawn) > 1
    names = _names(drawn)
    boxes = [
        Box(f"{name} · {rater.name}" if several else rater.name, *_figures(rater), group)
        for group, (name, benchmark) in enumerate(zip(names, drawn, strict=True))
        for rater in benchmark.raters
        if rater.kind == "view"
    ]
    return _correlations_figure(
        slug("views", "" if several else names[0]),
        "Four views" if several else f"{short(names[0])} · four views",
        boxes,
        _with_people(alignment),
        "SR: rank by itself · PR: mean rank by its peers",
        f"SIA: consensus of all ballots by {alignment.consensus} · SFA: the same without own ranks",
    )


def _with_people(alignment: Alignment) -> str:
    ranks = "ranks" if alignment.scores == "order" else "ranks, mean ranks as they are,"
    return f"Pearson's correlation of {ranks} with people ({short(Path(alignment.source).name)})"


def _figures(rater: Rater) -> tuple[FloatArray, float]:
    return rater.pearson.values, rater.pearson.macro.value


def reviewer_boxes_figure(review: PeerReview) -> Drawing | None:
    """How each reviewer's ranks correlate with the mean ranks of the others, item by item.

    As in `alignment_figure`; the diamond is the correlation of mean ranks over all items. None if
    no correlation is defined.
    """
    panel = review.panel
    return _correlations_figure(
        slug("reviewers", panel.benchmark),
        f"{short(panel.benchmark)} · each reviewer and the others",
        reviewer_boxes(panel),
        "Pearson's correlation of ranks with the other reviewers' mean ranks",
    )


def alignment_boxes(alignment: Alignment, rater: str) -> tuple[list[Box], str]:
    """The boxes of `alignment_figure` from top to bottom, and their common subject.

    Raises:
        ReportError: there are several peer reviews, and none has this rater.
    """
    drawn = _drawn(alignment)
    if len(drawn) == 1:
        [benchmark] = drawn
        raters = [(member.name, member) for member in benchmark.raters if member.kind != "view"]
        subject = benchmark.benchmark
    else:
        named = zip(_names(drawn), drawn, strict=True)
        by_name = [(name, member) for name, benchmark in named for member in benchmark.raters]
        known = dict.fromkeys(member.name for _, member in by_name)
        if rater not in known:
            raise ReportError(f"There is no rater {rater!r} to draw; there are {', '.join(known)}")
        raters = [(name, member) for name, member in by_name if member.name == rater]
        subject = rater
    return [Box(name, *_figures(member)) for name, member in raters], subject


def reviewer_boxes(panel: Panel) -> list[Box]:
    """Each reviewer's correlation with the others by item, NaN for items without a value."""
    ranks = within_ballots(comparing(panel.ranks))
    # A ballot that ranks n of the N models is a sample of the full ranking, so its ranks are scaled
    # by (N + 1) / (n + 1) before they are averaged with others (as in Spearman aggregation).
    n = np.sum(~np.isnan(ranks), axis=2, keepdims=True)
    scaled = ranks * (ranks.shape[2] + 1) / (n + 1)
    boxes = []
    for number, reviewer in enumerate(panel.reviewers):
        rest = np.delete(scaled, number, axis=1)
        values = spearman_many(ranks[:, number], mean_rank(rest, axis=1))
        macro = pearson_many(
            mean_rank(scaled[:, number]), mean_rank(rest.reshape(-1, ranks.shape[2]))
        )
        boxes.append(Box(reviewer.name, values, float(macro)))
    return boxes


def _drawn(alignment: Alignment) -> list[BenchmarkAlignment]:
    """The peer reviews, or the boards if there is no peer review."""
    reviews = [benchmark for benchmark in alignment.benchmarks if benchmark.order is None]
    return reviews or list(alignment.benchmarks)


def _names(benchmarks: Sequence[BenchmarkAlignment]) -> list[str]:
    """Names of benchmarks, with the log's name if a benchmark was reviewed more than once."""
    times = Counter(benchmark.benchmark for benchmark in benchmarks)
    return [
        benchmark.benchmark
        if times[benchmark.benchmark] == 1
        else f"{benchmark.benchmark} · {Path(benchmark.log).stem}"
        for benchmark in benchmarks
    ]


def _correlations_figure(
    name: str, title: str, boxes: Sequence[Box], caption: str, *more: str
) -> Drawing | None:
    notes = [caption, "box: item by item · ◆ over all items", *more]
    shown = [box._replace(name=short(box.name)) for box in boxes]
    return _boxes_figure(name, title, shown, notes, partial(_words, caption=caption))


def _boxes_figure(
    name: str,
    title: str,
    boxes: Sequence[Box],
    below: Sequence[str],
    words: Callable[[Sequence[Box]], str],
    *,
    head: str = "",
    span: tuple[float, float] = (-1.05, 1.05),
) -> Drawing | None:
    """A row for each box that has a value, or None without any; `head` is above their words."""
    shown = [box for box in boxes if not box.empty]
    if not shown:
        return None
    with styled():
        figure, axes = row_panel(
            [box.name for box in shown],
            title=title,
            height=0.32,
            words=[box.words for box in shown] if head else (),
            head=head,
            below=[*below, *not_shown([box.name for box in boxes if box.empty])],
        )
        if not head:
            axes.axvline(0, color=MUTED, linewidth=0.8, zorder=1)
        for place, box in enumerate(shown):
            draw_box(axes, place, box.values, box.mark)
            if place and box.group != shown[place - 1].group:
                axes.axhline(place - 0.5, color=MUTED, linewidth=0.5, zorder=1)
        axes.set_xlim(span)
    return Drawing(name, title, words(shown), figure)


def _words(boxes: Sequence[Box], caption: str) -> str:
    medians = [float(np.nanmedian(box.values)) for box in boxes]
    best, worst = int(np.argmax(medians)), int(np.argmin(medians))
    boxed = count(len(boxes), "box", "boxes")
    words = (
        f"{caption[0].upper()}{caption[1:]}, item by item, as {boxed}. The highest median is that "
        f"of {boxes[best].name}, {decimal(medians[best], 2)}"
    )
    if len(boxes) > 1:
        words += f"; the lowest that of {boxes[worst].name}, {decimal(medians[worst], 2)}"
    if not math.isnan(boxes[best].mark):
        words += f". Over all items {boxes[best].name} has {decimal(boxes[best].mark, 2)}"
    return f"{words}."


# Field of `SelfPreference`, marker, colour, and offset within the row.
_FIGURES: Final = (
    ("gap", "o", BLUE, -0.25),
    ("fair_gap", "s", GREEN, 0.0),
    ("remainder", "D", ORANGE, 0.25),
)
_KEY = "● gap PR − SR · ■ fair gap · ◆ remainder SFA − SIA, after aggregation; lines: intervals"


def self_preference_figure(review: PeerReview) -> Drawing | None:
    """Gap, fair gap and remainder of every model with intervals and verdict; None without a gap."""
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
                estimate: Estimate = getattr(row, field)
                values += [estimate.value, estimate.lower, estimate.upper]
                draw_point(
                    axes, number + shift, estimate.value, estimate.lower, estimate.upper,
                    marker=marker, colour=colour, pale=colour, width=1.4,
                )  # fmt: skip
        axes.set_xlim(limits(values, step=0.5))
    return Drawing(
        slug("self-preference", review.panel.benchmark),
        title,
        _preferences_in_words(review, shown),
        figure,
    )


def _preferences_in_words(review: PeerReview, rows: Sequence[SelfPreference]) -> str:
    n, removed = sum(row.biased for row in rows), sum(row.verdict == "removed" for row in rows)
    most = max(rows, key=lambda row: row.gap.value)
    words = (
        f"Self-preference of {count(len(rows), 'model')} on {short(review.panel.benchmark)}: the "
        f"largest gap is that of {short(most.model)}, {decimal(most.gap.value, 2)} places"
    )
    if not math.isnan(most.gap.lower):
        words += f" (interval {signed_interval(most.gap.lower, most.gap.upper)})"
    words += f". A gap is found in {count(n, 'model')}"
    return f"{words}, and aggregation removes that of {removed}."


def stability_figure(report: StabilityReport) -> Drawing | None:
    """Boxes of ρ with the whole board, or between runs, with mean ρ; None if no ρ is defined."""
    boxes = list(_rows(report))
    return _boxes_figure(
        "stability",
        "Stability · Spearman's ρ of parts and of runs",
        boxes,
        [
            "Spearman's ρ",
            f"a share: {count(report.n_seeds, 'part')} of the items against all; runs: each pair "
            "of runs",
            "box: middle half, line at the median · ◆ mean",
        ],
        _stability_words,
        head="same first",
        span=limits([1.0, *(rho for box in boxes for rho in box.values.tolist())], within=(-1, 1)),
    )


def _stability_words(boxes: Sequence[Box]) -> str:
    lowest, highest = min(boxes, key=lambda box: box.mark), max(boxes, key=lambda box: box.mark)
    words = (
        f"Spearman's ρ of leaderboards over parts of the items, or of repeated runs, in "
        f"{count(len(boxes), 'row')}. The least stable is {short(lowest.name, 80)}, mean ρ "
        f"{decimal(lowest.mark)}, lowest {decimal(float(np.nanmin(lowest.values)))}"
    )
    if highest is not lowest:
        words += f"; the most stable is {short(highest.name, 80)}, mean ρ {decimal(highest.mark)}"
    return f"{words}."


def _rows(report: StabilityReport) -> Iterator[Box]:
    for part in report.subsampled:
        name = f"{short(part.benchmark, 24)} · {short(part.name, 32)} · {part.share * 100:g}%"
        found, first = part.stability, rate(part.stability.top1_recovery)
        yield Box(name, found.rhos, found.mean, words=first)
    for runs in report.repeated:
        pairs = runs.stability
        size = count(pairs.n_runs, "run")
        name = f"{short(runs.benchmark, 24)} · {short(runs.label, 32)} · {size}"
        first = rate(pairs.top1_matches / pairs.n_pairs) if pairs.n_pairs else UNDEFINED
        yield Box(name, pairs.rhos, pairs.mean, words=first)


def kappa_figure(calibration: Calibration) -> Drawing | None:
    """A row for each judge and round (mean κ with people over models), then κ between people.

    None if no κ is defined.
    """
    turns = calibration.rounds or ("",)
    rows: list[tuple[str, Estimate, bool]] = [
        (_named(judge, turn), calibration.mean(judge, turn).kappa, False)
        for judge in calibration.judges
        for turn in turns
    ]
    people = [calibration.cell(PEOPLE, turn) for turn in turns]
    rows += [
        (_named(EACH_OTHER, turn), cell.kappa, True)
        for turn, cell in zip(turns, people, strict=True)
        if cell is not None
    ]
    hidden = [name for name, estimate, _ in rows if math.isnan(estimate.value)]
    shown = [row for row in rows if not math.isnan(row[1].value)]
    if not shown:
        return None
    title = f"{short(calibration.source, 60)} · agreement of judges with people"
    level = f"{calibration.level * 100:g}%"
    with styled():
        figure, axes = row_panel(
            [name for name, _, _ in shown],
            title=title,
            below=[
                "Cohen's κ with people: 1 is full agreement, 0 what chance gives",
                f"judges: mean over models · lines: {level} intervals over questions",
                *not_shown(hidden),
            ],
            words=[decimal(estimate.value, 2) for _, estimate, _ in shown],
            head="κ",
        )
        ends = [(estimate.value, estimate.lower, estimate.upper) for _, estimate, _ in shown]
        colours = [MUTED if grey else BLUE for *_, grey in shown]
        draw_points(axes, ends, colours=colours, within=(-1, 1))
    best, kappa, _ = max(shown, key=lambda row: row[1].value)
    return Drawing(
        slug("kappa", calibration.source),
        title,
        f"Cohen's κ with people of {count(len(calibration.judges), 'judge')}, with {level} "
        f"intervals. The highest is {decimal(kappa.value, 2)}, of {best}.",
        figure,
    )


def _named(judge: str, turn: str) -> str:
    return f"{short(judge)} · {short(turn, 20)}" if turn else short(judge)
