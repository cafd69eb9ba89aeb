"""Every model of a leaderboard against every other one: differences and their tests."""

import math
from collections.abc import Mapping

from tiebreak.analysis.leaderboard import Leaderboard
from tiebreak.analysis.stars import StarBoard, StarPair
from tiebreak.analysis.verdict import ModelPair
from tiebreak.report.cells import UNDEFINED, Cell, Tone, signed, words
from tiebreak.report.sheet import Column, Section, Table, model_names
from tiebreak.words import p_value


def pairs_section(board: Leaderboard | StarBoard) -> Section:
    """The matrix of a leaderboard's pairs; empty with fewer than two models.

    A cell holds how much higher the model of the row scores than that of the column, and below it
    the p-value, adjusted for all pairs.
    """
    models = [row.model for row in board.rows]
    pairs = {(pair.above, pair.below): pair for pair in board.pairs}
    # Scores by stars are out of 100.
    digits = 2 if isinstance(board, StarBoard) else 3
    # Columns are called by their row: names at the top of 30 columns would not fit on any screen.
    columns = [Column(f"{n}.", meaning=model) for n, model in enumerate(models, start=1)]
    rows = [
        (words(f"{n}. {model}"), *(_cell(pairs, model, other, digits) for other in models))
        for n, model in enumerate(models, start=1)
    ]
    legend = (
        "A cell: the score of the row's model minus that of the column's; below it the p-value, "
        f"adjusted for all pairs. * told apart ({board.level * 100:g}% for all pairs together)."
    )
    table = Table.of((model_names(), *columns), rows, "Differences between all pairs of models")
    return Section.of(table, legend=[legend]) if pairs else Section.of()


def _cell(
    pairs: Mapping[tuple[str, str], ModelPair | StarPair], model: str, other: str, digits: int
) -> Cell:
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
