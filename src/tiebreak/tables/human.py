"""How people rank models, from a CSV file.

A model a line, with its rank (1 = best, equal = tied) or its score (higher is better)::

    model,rank
    gpt-5,1
    claude-opus-4-5,2
    gemini-3-pro,2

    benchmark,model,score
    gsm8k,gpt-5,1391
    gsm8k,gemini-3-pro,1402
    ,gpt-5,1440

With a column `benchmark` each benchmark has a ranking of its own; rows where it is empty hold for
the benchmarks that have none. For separators, encoding and numbers see `delimited`.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tiebreak.tables.delimited import Delimited, read_delimited
from tiebreak.tables.errors import TableError, shown
from tiebreak.words import listed

ALL_BENCHMARKS = ""
COLUMNS = ("model", "rank", "score", "benchmark")


@dataclass(frozen=True, slots=True)
class HumanRanking:
    """Models as people rank them, by benchmark; those under "" hold for all other benchmarks.

    The numbers are ranks: lower is better, equal is tied; only their order counts. The paper
    matches each benchmark with the leaderboard of people's votes that fits it best (Peer review,
    §4.1): mathematics with mathematics, and so on. `source` is the file; `notes` are sentences on
    what was passed over in it.
    """

    source: str
    ranks: Mapping[str, Mapping[str, float]]
    notes: tuple[str, ...] = ()

    def of(self, benchmark: str) -> Mapping[str, float]:
        """Ranks of the models on a benchmark; empty where the ranking has none."""
        return self.ranks.get(benchmark) or self.ranks.get(ALL_BENCHMARKS, {})


def read_human_ranking(path: str | Path) -> HumanRanking:
    """Read a ranking of models by people. Scores become ranks; rows without a number are noted.

    Raises:
        TableError: there is no column `model`, or not exactly one of `rank` and `score`; a model
            without a name; a rank below 0; a cell that is not a number; a model ranked twice on one
            benchmark; no number at all; as `read_delimited`.
    """
    table = read_delimited(Path(path))
    columns, value = _columns(table)
    ranks: dict[str, dict[str, float]] = {}
    lines: dict[tuple[str, str], int] = {}
    without: list[str] = []
    for row in table.rows:
        benchmark = row.cells[columns["benchmark"]] if "benchmark" in columns else ALL_BENCHMARKS
        model = table.label(row, columns["model"], "the model has no name")
        on = f" on {shown(benchmark)}" if benchmark else ""
        table.once(lines, (benchmark, model), row, f"{shown(model)} is ranked{on}")
        column = columns[value]
        rank = table.rank(row, column) if value == "rank" else -table.number(row, column)
        if math.isnan(rank):
            without.append(f"{model} on {benchmark}" if benchmark else model)
        else:
            ranks.setdefault(benchmark, {})[model] = rank
    if not ranks:
        raise TableError(f"{path}: no model has a {value}; give at least three of them one")
    return HumanRanking(str(path), ranks, tuple(_notes(table, columns, value, without)))


def _columns(table: Delimited) -> tuple[dict[str, str], str]:
    """From meanings to names in the file, and which of rank and score there is."""
    form = (
        "a human ranking has the columns model, rank (1 = best) or score (higher is better), and "
        "perhaps benchmark"
    )
    columns = table.meanings({name: name for name in COLUMNS}, ("model",), form)
    values = [name for name in ("rank", "score") if name in columns]
    if len(values) != 1:
        found = "are both a column 'rank' and a column 'score'" if values else "is no column 'rank'"
        raise TableError(f"{table.path}: there {found}; {form}")
    return columns, values[0]


def _notes(table: Delimited, columns: dict[str, str], value: str, without: list[str]) -> list[str]:
    notes = []
    if others := [name for name in table.header if name not in columns.values()]:
        notes.append(f"{table.path}: columns not read: {listed([*map(shown, others)])}")
    if without:
        notes.append(f"{table.path}: no {value} for {listed(without)}")
    return notes
