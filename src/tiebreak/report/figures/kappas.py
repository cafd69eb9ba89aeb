"""Judges beside people: κ with its interval (LLMEval-Fair, figure 4), and who says what."""

import math

import numpy as np

from tiebreak.analysis.calibration import PEOPLE, Calibration
from tiebreak.rankers.intervals import Estimate
from tiebreak.report.cells import UNDEFINED, decimal
from tiebreak.report.figures.canvas import BLUE, MUTED, not_shown, short, styled
from tiebreak.report.figures.drawing import Drawing, slug
from tiebreak.report.figures.matrices import heat_map
from tiebreak.report.figures.rows import draw_point, limits, row_panel
from tiebreak.words import count, percent

_EACH_OTHER = "people with each other"


def kappa_figure(calibration: Calibration) -> Drawing | None:
    """A row for each judge and round: κ with people, over models, and κ of people below.

    None where no κ is defined.
    """
    turns = calibration.rounds or ("",)
    rows: list[tuple[str, Estimate, bool]] = [
        (_named(judge, turn), calibration.mean(judge, turn).kappa, False)
        for judge in calibration.judges
        for turn in turns
    ]
    people = [calibration.cell(PEOPLE, turn) for turn in turns]
    rows += [
        (_named(_EACH_OTHER, turn), one.kappa, True)
        for turn, one in zip(turns, people, strict=True)
        if one is not None
    ]
    hidden = [name for name, one, _ in rows if math.isnan(one.value)]
    shown = [row for row in rows if not math.isnan(row[1].value)]
    if not shown:
        return None
    title = f"{short(calibration.source, 60)} · agreement of judges with people"
    ends = [bound for _, one, _ in shown for bound in (one.value, one.lower, one.upper)]
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
            words=[decimal(one.value, 2) for _, one, _ in shown],
            head="κ",
        )
        axes.set_xlim(*limits(ends, within=(-1, 1)))
        for row, (_, one, grey) in enumerate(shown):
            colour = MUTED if grey else BLUE
            draw_point(axes, row, one.value, one.lower, one.upper, colour=colour)
    best, kappa, _ = max(shown, key=lambda row: row[1].value)
    return Drawing(
        slug("kappa", calibration.source),
        title,
        f"Cohen's κ with people of {count(len(calibration.judges), 'judge')}, with {level} "
        f"intervals. The highest is {decimal(kappa.value, 2)}, of {best}.",
        figure,
    )


def confusion_figure(calibration: Calibration, judge: str) -> Drawing | None:
    """Labels of people (rows) and of a judge (columns): the share of each of a row's labels.

    None where the judge gave no label.
    """
    found = calibration.cell(judge)
    if found is None:
        return None
    table = np.array(found.confusion)
    sums = table.sum(axis=1, keepdims=True)
    share = np.divide(table, sums, out=np.full_like(table, np.nan), where=sums > 0)
    title = f"{short(judge, 60)} · what people say, what the judge says"

    def text(i: int, j: int) -> str:
        return (
            UNDEFINED
            if np.isnan(share[i, j])
            else f"{percent(float(share[i, j]))}\n{table[i, j]:,.4g}"
        )

    with styled():
        figure, _ = heat_map(
            share,
            [f"people: {label}" for label in calibration.labels],
            list(calibration.labels),
            text,
            span=(0, 1),
            title=title,
            below=["columns: labels of the judge", "share of the row · second line: how many"],
        )
    same = np.trace(table) / table.sum()
    return Drawing(
        slug("confusion", judge),
        title,
        f"How often {short(judge)} gives each label where people give each: the same one in "
        f"{percent(float(same))} of {count(found.n, 'case')}.",
        figure,
    )


def _named(judge: str, turn: str) -> str:
    return f"{short(judge)} · {short(turn, 20)}" if turn else short(judge)
