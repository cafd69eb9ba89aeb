"""Star boards: absolute, relative and subject scores, as tables 1, 2 and 8 of LLMEval-Fair."""

import math
from collections.abc import Iterator
from typing import Any

from tiebreak.analysis.stars import StarBoard, StarReport, StarRow
from tiebreak.ranking_logs.joins import files_in_words
from tiebreak.reason import Reason
from tiebreak.report.cells import (
    bounds,
    integer,
    number,
    rank,
    rank_range,
    share,
    signed_with_bounds,
    with_bounds,
    words,
)
from tiebreak.report.json import document, in_columns, json_ready, only
from tiebreak.report.jury import jury_section
from tiebreak.report.sheet import Column, Section, Sheet, Table, interval_heading, model_names
from tiebreak.report.sheets.leaderboard import bill_sections, by_people, settings_notes, tier_lines
from tiebreak.text import count, percent

_DESIGNS = {
    "paired": "Paired: all models answered the same {items}, so differences are paired",
    "linked": "Linked: {anchors} of {items} were answered by all models, and scores are corrected "
    "by the items that models share",
    "unlinked": "Unlinked: no item was answered by two models, so scores are those of different "
    "questions: equation 2 does not hold, and differences are known the least",
    "turns": "Turns: people rated some answers of an item, so models are scored on different ones",
}


def sheets_of(report: StarReport) -> list[Sheet]:
    """One sheet per benchmark with its bill, then one with all benchmarks side by side."""
    sheets = [board_sheet(board).plus(*bill_sections(board)) for board in report.boards]
    return [*sheets, *([styles_sheet(report)] if report.styles else [])]


def data_of(report: StarReport) -> dict[str, Any]:
    """The fields of `StarReport` under "tiebreak/stars", version 1.

    The parts have the fields of `StarBoard`, `BoardVerdict`, `StarRow`, `StarPair`, `Juror`,
    `Raters`, `Estimate`, `Receipt` and `StyleRow`.
    """
    return document("tiebreak/stars", 1, boards=report.boards, styles=report.styles)


def rows_of(report: StarReport) -> list[dict[str, Any]]:
    """One row per model and benchmark: the fields of `StarRow`, and columns for each subject."""
    subjects = sorted({subject for board in report.boards for subject in board.subjects})
    return [_flat(row, board, subjects) for board in report.boards for row in board.rows]


def board_sheet(board: StarBoard) -> Sheet:
    """The sheet of a star board without its bill."""
    logs, role = files_in_words(board.logs, "log"), "raters" if by_people(board) else "judge"
    return Sheet(
        f"{board.benchmark} · stars · {count(board.n_items, 'item')}",
        (f"{role}: {', '.join(board.judges) or 'no call'} · log: {logs}", _design(board)),
        str(board.verdict.sentence),
        tuple(map(str, board.warnings)),
        (
            Section.of(
                _scores(board),
                legend=[*tier_lines(board.verdict.tiers, board.rows), *_legend(board)],
            ),
            Section.of(_subjects(board), legend=[Reason("scores_by_subject")]),
            Section.of(_stars(board), lines=_constants(board)),
            *([jury_section(board)] if board.raters else []),
        ),
        (*map(str, board.notes), *settings_notes(board)),
    )


def styles_sheet(report: StarReport) -> Sheet:
    """A sheet that compares benchmarks, or styles of prompting (LLMEval-Fair, table 2)."""
    first, *rest = benchmarks = [board.benchmark for board in report.boards]
    interval = interval_heading(report.boards[0].level)
    scores = [
        (words(row.model), *(number(score, 2) for score in row.scores), with_bounds(row.mean))
        for row in report.styles
    ]
    differences = [
        (words(row.model), *map(signed_with_bounds, row.differences)) for row in report.styles
    ]
    columns = (model_names(), *map(Column, benchmarks), Column("Mean"))
    return Sheet(
        f"{count(len(benchmarks), 'benchmark')} side by side · stars",
        sections=(
            Section.of(
                Table.of(columns, scores, "Scores by benchmark"),
                legend=[f"Scores by stars, 0 to 100; their plain mean, below it the {interval}"],
            ),
            Section.of(
                Table.of((model_names(), *map(Column, rest)), differences, f"Less {first}"),
                legend=[Reason("points_above", first=first, interval=interval)],
            ),
        ),
    )


def _design(board: StarBoard) -> str:
    of_each = board.rows[0].n_items if board.rows else 0
    same = all(row.n_items == of_each for row in board.rows)
    items = count(of_each, "item") if same else f"{board.n_items:,} items"
    turns = by_people(board) and any(row.n_unscored for row in board.rows)
    design = _DESIGNS["turns" if turns else board.design]
    line = design.format(items=items, anchors=f"{board.anchors:,}")
    errors = [pair.error for pair in board.pairs if not math.isnan(pair.error)]
    if len(board.rows) < 2 or not errors:
        return line if len(board.rows) > 1 else ""
    low, high = min(errors), max(errors)
    text = f"{low:.2f}" if f"{low:.2f}" == f"{high:.2f}" else f"{low:.2f} to {high:.2f}"
    return f"{line}. Standard error of a difference: {text} points"


def _legend(board: StarBoard) -> Iterator[Reason]:
    yield Reason("corrected_scores" if board.design == "linked" else "scores_by_stars")
    if board.chosen:
        yield Reason("relative_to", model=board.reference)
    elif _relative(board):
        yield Reason("relative_to_best", model=board.reference)


def _scores(board: StarBoard) -> Table:
    linked = board.design == "linked"
    interval = Column(interval_heading(board.level), left=True)
    columns = (
        *(Column("#"), model_names(), Column("Score"), interval),
        *([Column("Own")] if linked else []),
        *((Column("Relative"), interval) if _relative(board) else ()),
        Column("Ranks", left=True),
    )
    rows = (
        (
            *(rank(row.rank), words(row.model), number(row.value, 2)),
            bounds(row.lower, row.upper, 1, value=row.value),
            *([number(row.absolute, 2)] if linked else []),
            *(
                (number(row.relative.value, 2), bounds(row.relative.lower, row.relative.upper, 1))
                if _relative(board)
                else ()
            ),
            rank_range(row.rank_lower, row.rank_upper),
        )
        for row in board.rows
    )
    return Table.of(columns, rows, "Scores")


def _relative(board: StarBoard) -> bool:
    return board.chosen or len(board.rows) > 1


def _constants(board: StarBoard) -> Iterator[str]:
    """The score of always giving the same answer, which a model's score has to beat."""
    best = board.constants.best
    if best:
        answers = ", ".join(
            f"always “{answer.answer}” is right in {percent(answer.share)} of "
            f"{count(answer.n, 'item')} of type {answer.type}"
            for answer in best
        )
        yield (
            f"Constant answers: {answers}; together {percent(board.constants.share)} of all items, "
            f"a score of {board.constant_score:.1f} if their explanations are worth nothing"
        )


def _subjects(board: StarBoard) -> Table:
    """Scores by model and subject, with their intervals (LLMEval-Fair, tables 1 and 8)."""
    rows = [
        (words(row.model), *map(with_bounds, row.subjects)) for row in board.rows if board.subjects
    ]
    return Table.of((model_names(), *map(Column, board.subjects)), rows, "Scores by subject")


def _stars(board: StarBoard) -> Table:
    kinds = (Column("Stars"), *(Column(f"{k} ★") for k in range(4)))
    rows = (
        (
            *(words(row.model), number(row.mean_stars, 2), *map(share, row.shares)),
            *(integer(row.n_items), integer(row.n_unscored)),
        )
        for row in board.rows
    )
    without = Column("Not rated" if by_people(board) else "Unscored")
    return Table.of((model_names(), *kinds, Column("Answers"), without), rows, "Stars")


def _flat(row: StarRow, board: StarBoard, subjects: list[str]) -> dict[str, Any]:
    data = json_ready(row)
    for key in ("relative", "subjects", "shares"):
        del data[key]
    scores = dict(zip(board.subjects, row.subjects, strict=True))
    return {
        **{"benchmark": board.benchmark, "design": board.design, **data},
        **in_columns("relative", row.relative),
        **{f"stars_{k}": json_ready(share) for k, share in enumerate(row.shares)},
        **only(board, "reference", "level"),
        **{
            column: cell
            for subject in subjects
            for column, cell in in_columns(subject, scores.get(subject)).items()
        },
    }
