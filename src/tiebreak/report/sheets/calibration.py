"""Sheets and data of a calibration: which judge agrees with people (LLMEval-Fair, table 10)."""

import math
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

from tiebreak.analysis.calibration import EACH_OTHER, PEOPLE, Calibration, JudgeGap
from tiebreak.rankers.intervals import Estimate
from tiebreak.reason import Reason
from tiebreak.report.cells import (
    Cell,
    decimal,
    integer,
    interval,
    number,
    share,
    signed,
    signed_interval,
    words,
)
from tiebreak.report.json import document, flat, only
from tiebreak.report.sheet import Column, Section, Sheet, Table, model_names, names, numbers
from tiebreak.text import all_of, count, p_value

_CELL = ("judge", "round", "model", "subject", "n", "n_items")
_COLUMNS = (*_CELL, "kappa", "quadratic", "agreement", "bias")


def sheets_of(calibration: Calibration) -> list[Sheet]:
    """A sheet with the verdict, κ by judge, model and subject, and each judge's confusions."""
    labels = "stars" if calibration.kind == "stars" else "preferences"
    answers = "answer" if calibration.kind == "stars" else "pair"
    of = f"{count(calibration.n, answers)} to {count(calibration.n_items, 'question')}"
    return [
        Sheet(
            f"Judges and people's {labels}: {calibration.source}",
            (f"{of}, {count(len(calibration.models), 'model')}",),
            verdict=verdict_of(calibration),
            warnings=tuple(_warnings(calibration)),
            sections=(
                Section.of(_judges(calibration), legend=[_legend(calibration)]),
                Section.of(
                    _pairs(calibration),
                    heading="Judge against judge",
                    legend=[Reason("gap_of_kappas")],
                ),
                Section.of(_models(calibration), heading="κ by model"),
                Section.of(_subjects(calibration), heading="κ by subject"),
                *_confusions(calibration),
            ),
            notes=tuple(map(str, calibration.notes)),
        )
    ]


def data_of(calibration: Calibration) -> dict[str, Any]:
    """The fields of `Calibration` under "tiebreak/calibration", version 1."""
    fields = ("source", "kind", "labels", "judges", "models", "rounds", "n", "n_items", "n_raters")
    rest = ("level", "cells", "means", "gaps", "people", "ceilings", "notes")
    return document(
        "tiebreak/calibration",
        1,
        verdict=verdict_of(calibration),
        **only(calibration, *fields, *rest),
    )


def rows_of(calibration: Calibration) -> list[dict[str, Any]]:
    """One row for each judge, round, model and subject; "" stands for all of them."""
    return [flat(cell, *_COLUMNS) for cell in (*calibration.cells, *calibration.people)]


def verdict_of(calibration: Calibration) -> str:
    """Which judge agrees best with people, and which other judges it is told apart from."""
    best = calibration.judges[0]
    mean = calibration.mean(best)
    if math.isnan(mean.kappa.value):
        return f"No κ is defined: {mean.kappa.reason}."
    over = f"over {count(mean.n_models, 'model')}"
    figure = f"mean κ {_with_bounds(mean.kappa)} {over}"
    rivals = [gap for gap in calibration.gaps if best in (gap.first, gap.second)]
    if not rivals:
        sentence = f"{best} agrees with people: {figure}"
    else:
        same = [_other(gap, best) for gap in rivals if not gap.apart]
        apart = [gap for gap in rivals if gap.apart]
        sentence = f"{best} agrees best with people: {figure}"
        if apart:
            worst = max(gap.p_adjusted for gap in apart)
            behind = all_of(_other(gap, best) for gap in apart)
            sentence += f"; ahead of {behind} ({p_value(worst, at_most=len(apart) > 1)})"
        if same:
            sentence += f"; not told apart from {all_of(same)}"
    return ". ".join([sentence, *_beside_people(calibration, best)]) + "."


def _beside_people(calibration: Calibration, best: str) -> Iterator[str]:
    for ceiling in calibration.ceilings:
        if ceiling.first == best and ceiling.apart is not None:
            bounds = _interval(ceiling.difference.lower, ceiling.difference.upper)
            gap = f"its κ less theirs is {ceiling.difference.value:+.2f}"
            far = f"{gap} ({bounds}, {count(ceiling.n, 'answer')})"
            if not ceiling.apart:
                yield f"Whether people agree better with each other cannot be told: {far}"
            else:
                how = "better" if ceiling.difference.value < 0 else "less"
                yield f"People agree {how} with each other: {far}"


def _legend(calibration: Calibration) -> Reason:
    return Reason(
        "kappa_of_stars" if calibration.kind == "stars" else "kappa_of_pairs",
        level=calibration.level * 100,
    )


def _warnings(calibration: Calibration) -> Iterator[str]:
    for judge in calibration.judges:
        cell = calibration.cell(judge)
        if cell is not None and cell.kappa.reason and not math.isnan(cell.kappa.value):
            yield f"{judge}: κ {cell.kappa.reason}"
        mean = calibration.mean(judge)
        if mean.undefined and mean.n_models:
            these = all_of(mean.undefined)
            yield f"{judge}: the mean κ leaves out {these}, where all labels are the same"


def _judges(calibration: Calibration) -> Table:
    columns = (
        model_names("Judge"),
        *([names("Round", 0)] if calibration.rounds else []),
        *numbers("Answers", "Mean κ", "κ"),
        Column("κ²", spare=1),
        *numbers("Agree"),
        *(numbers("Bias") if calibration.kind == "stars" else ()),
    )
    rows: list[tuple[Cell, ...]] = []
    rules: list[int] = []
    for judge, turn in product((*calibration.judges, PEOPLE), ("", *calibration.rounds)):
        cell = calibration.cell(judge, turn)
        if cell is None:
            continue
        if not turn and rows:
            rules.append(len(rows))
        mean = calibration.mean(judge, turn).kappa if judge else None
        rows.append(
            (
                words(judge or EACH_OTHER),
                *([words(turn or "all")] if calibration.rounds else []),
                integer(cell.n),
                _figure(mean) if mean else Cell(""),
                *(_figure(cell.kappa), _figure(cell.quadratic)),
                share(cell.agreement.value),
                *([_figure(cell.bias, signed)] if calibration.kind == "stars" else []),
            )
        )
    lines = rules if calibration.rounds else []
    return Table.of(columns, rows, "Judges and people", rules=lines)


def _pairs(calibration: Calibration) -> Table:
    columns = (*map(names, ("Judge", "Against")), *numbers("Answers", "Δ mean κ", "p"))
    rows = (
        (
            words(gap.first),
            words(gap.second or EACH_OTHER),
            integer(gap.n),
            _figure(gap.difference, signed),
            Cell("–")
            if math.isnan(gap.p_adjusted)
            else Cell(p_value(gap.p_adjusted), gap.p_adjusted, "good" if gap.apart else ""),
        )
        for gap in (*calibration.gaps, *calibration.ceilings)
    )
    return Table.of(columns, rows, "Judge against judge")


def _models(calibration: Calibration) -> Table:
    """κ by model, and the mean over models in the last row (table 10)."""
    rows = [_kappas(calibration, model, model=model) for model in calibration.models]
    means = (calibration.mean(judge, turn).kappa for judge, turn in _by(calibration))
    last = (words("mean"), *map(_figure, means))
    columns = (model_names(), *_headings(calibration))
    return Table.of(columns, [*rows, last], "κ by model", rules=[len(rows)])


def _subjects(calibration: Calibration) -> Table:
    subjects = sorted({cell.subject for cell in calibration.cells} - {""})
    rows = [_kappas(calibration, subject, subject=subject) for subject in subjects]
    return Table.of((names("Subject"), *_headings(calibration)), rows, "κ by subject")


def _confusions(calibration: Calibration) -> Iterator[Section]:
    for judge in calibration.judges:
        cell = calibration.cell(judge)
        if cell is None:
            continue
        columns = (names("People", 0), *numbers(*calibration.labels))
        rows = (
            (words(label), *(Cell(f"{value:,.4g}", value) for value in row))
            for label, row in zip(calibration.labels, cell.confusion, strict=True)
        )
        legend = "Rows: people's labels; columns: the judge's"
        yield Section.of(
            Table.of(columns, rows, f"Labels of {judge}"), heading=f"{judge}", legend=[legend]
        )


def _by(calibration: Calibration) -> list[tuple[str, str]]:
    """The columns of table 10 as (judge, round): all judges of the first round, and so on."""
    turns = calibration.rounds or ("",)
    return [(judge, turn) for turn in turns for judge in calibration.judges]


def _headings(calibration: Calibration) -> tuple[Column, ...]:
    return numbers(*(f"{judge} · {turn}" if turn else judge for judge, turn in _by(calibration)))


def _kappas(
    calibration: Calibration, name: str, *, model: str = "", subject: str = ""
) -> tuple[Cell, ...]:
    cells = (calibration.cell(judge, turn, model, subject) for judge, turn in _by(calibration))
    return words(name), *(Cell("–") if cell is None else _figure(cell.kappa) for cell in cells)


def _figure(estimate: Estimate, cell: Callable[[float], Cell] = number) -> Cell:
    return _under(cell(estimate.value), _interval(estimate.lower, estimate.upper))


def _interval(lower: float, upper: float) -> str:
    """Bounds with two decimals, joined by a dash unless the lower one has a minus sign."""
    return interval(lower, upper, 2) if lower >= 0 else signed_interval(lower, upper)


def _under(cell: Cell, bounds: str) -> Cell:
    return Cell(cell.text, cell.key, cell.tone, bounds if cell.key is not None else "")


def _with_bounds(estimate: Estimate) -> str:
    if math.isnan(estimate.lower):
        return decimal(estimate.value)
    return f"{decimal(estimate.value)} ({_interval(estimate.lower, estimate.upper)})"


def _other(gap: JudgeGap, judge: str) -> str:
    return gap.second if gap.first == judge else gap.first
