"""Pairs of models: each of a leaderboard against each other one, and one chosen beforehand."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tiebreak.analysis.leaderboard import Leaderboard
from tiebreak.analysis.pair import PairComparison
from tiebreak.analysis.stars import StarBoard
from tiebreak.analysis.win_rates import WinRates
from tiebreak.rankers.pairwise_tests import Pair
from tiebreak.report.cells import UNDEFINED, Cell, Tone, integer, number, signed, span, words
from tiebreak.report.json import document, json_ready
from tiebreak.report.sheet import Column, Section, Sheet, Table, interval_heading, model_names
from tiebreak.text import p_value, percent


def pairs_section(board: Leaderboard | StarBoard) -> Section:
    """The matrix of a leaderboard's pairs; empty with fewer than two models.

    A cell holds how much higher the model of the row scores than that of the column, and below it
    the p-value, adjusted for all pairs.
    """
    models = [row.model for row in board.rows]
    pairs = {(pair.above, pair.below): pair for pair in board.pairs}
    # Scores by stars are out of 100.
    digits = 2 if isinstance(board, StarBoard) else 3
    legend = (
        "A cell: the score of the row's model minus that of the column's; below it the p-value, "
        f"adjusted for all pairs. * told apart ({board.level * 100:g}% for all pairs together)."
    )
    table = _square(
        models,
        lambda i, j: _cell(pairs, models[i], models[j], digits),
        "Differences between all pairs of models",
    )
    return Section.of(table, legend=[legend]) if pairs else Section.of()


def rates_section(rates: WinRates) -> Section:
    """The matrix of win rates, on demand: a cell holds the rate, and below it what it rests on."""
    noun = "matches" if rates.by == "matches" else "items"

    def cell(i: int, j: int) -> Cell:
        if not rates.n[i, j]:
            return Cell(UNDEFINED if i != j else "")
        rate = float(rates.rate[i, j])
        return Cell(percent(rate), rate, under=f"{rates.n[i, j]:,}")

    table = _square(rates.models, cell, f"Win rates, and the number of {noun} behind each")
    return Section.of(replace(table, folded=True))


def _square(models: Sequence[str], cell: Callable[[int, int], Cell], caption: str) -> Table:
    # Columns are called by their row: names at the top of 30 columns would not fit on any screen.
    columns = [Column(f"{n}.", meaning=model) for n, model in enumerate(models, start=1)]
    rows = [
        (words(f"{i + 1}. {model}"), *(cell(i, j) for j in range(len(models))))
        for i, model in enumerate(models)
    ]
    return Table.of((model_names(), *columns), rows, caption)


def _cell(pairs: Mapping[tuple[str, str], Pair[str]], model: str, other: str, digits: int) -> Cell:
    pair, sign = pairs.get((model, other)), 1
    if pair is None:
        pair, sign = pairs.get((other, model)), -1
    if pair is None or math.isnan(pair.difference):
        return Cell(UNDEFINED if model != other else "")
    shown = signed(sign * pair.difference, digits)
    star = "*" if pair.apart else ""
    tone: Tone = ("good" if sign * pair.difference > 0 else "bad") if pair.apart else ""
    below = UNDEFINED if math.isnan(pair.p_adjusted) else p_value(pair.p_adjusted)
    return Cell(f"{shown.text}{star}", shown.key, tone, below)


_CHOSEN = (
    "For a pair chosen before the results were seen: nothing is corrected for other pairs. The "
    "difference is that of the first model's mean Borda score and the second's"
)


def sheets_of(pairs: Iterable[PairComparison]) -> list[Sheet]:
    """One sheet a comparison."""
    return [
        Sheet(
            f"{pair.benchmark} · {pair.protocol} · {pair.first} and {pair.second}",
            (f"log: {pair.log}",),
            str(pair.sentence),
            sections=(Section.of(_table(pair), lines=[_CHOSEN]),),
        )
        for pair in pairs
    ]


def _table(pair: PairComparison) -> Table:
    columns = (
        *(model_names("First"), model_names("Second"), Column("Difference")),
        *(Column(interval_heading(pair.level), left=True), Column("p"), Column("Items")),
    )
    row = (
        *(words(pair.first), words(pair.second), signed(pair.difference, 3), span(pair)),
        *(number(pair.p), integer(pair.n_items)),
    )
    return Table.of(columns, [row], "One pair")


def data_of(pairs: Iterable[PairComparison]) -> dict[str, Any]:
    """The fields of `PairComparison` under "tiebreak/pairs", version 1."""
    return document("tiebreak/pairs", 1, pairs=list(pairs))


def rows_of(pairs: Iterable[PairComparison]) -> list[dict[str, Any]]:
    """One row per comparison, with the fields of `PairComparison`."""
    return [json_ready(pair) for pair in pairs]
