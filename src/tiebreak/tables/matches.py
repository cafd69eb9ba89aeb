"""Read matches between two models, from files of an arena, another judge or people, into arrays.

One match per line, as LMArena publishes them::

    model_a,model_b,winner,judge
    gpt-5,o3-mini,model_a,arena_user_9
    gpt-5,grok-4,tie (bothbad),arena_user_4

`winner` is a, b, model_a, model_b, a model's name, tie, or tie (bothbad), which is a tie. Optional
columns are those of items (`item_id`, `question_id`) and raters (`rater`, `judge`), and `first`:
the model that was shown first, named like a winner. Without `first` the order is unknown: an arena
shows model_a on the left, but its files do not say so. AlpacaEval's `annotations.json`
(`generator_1`, `generator_2`, `preference` from 1 to 2, the item is the `instruction`) and
arena-hard's judgments (`games`, with the order shown) can be read as they are, as can LMArena's
older files (`winner_model_a`, `winner_model_b`, `winner_tie`). For file formats see `records`.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tiebreak.rows import Place, holds_list
from tiebreak.tables.delimited import CSV, Delimited
from tiebreak.tables.errors import TableError, shown
from tiebreak.tables.records import JSON, PARQUET, DictionaryColumn, read_records
from tiebreak.text import count

MATCH_NAMES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("item_id", "item", "question_uuid"), "item_id"),
    **dict.fromkeys(("model_a", "generator_1"), "model_a"),
    **dict.fromkeys(("model_b", "generator_2"), "model_b"),
    **dict.fromkeys(("winner", "preference"), "winner"),
    "rater": "rater",
    "first": "first",
}
"""Meanings of columns by their names in lower case."""

OTHERWISE: Final[Mapping[str, str]] = {
    **dict.fromkeys(("question_id", "question", "instruction"), "item_id"),
    **dict.fromkeys(("judge", "annotator", "judge_hash"), "rater"),
}
"""Meanings of columns if no other column has them; the first such column is taken."""

_BOTH_BAD = frozenset({"tie (bothbad)", "bothbad", "both_bad", "both bad"})
_RESULTS: Final[Mapping[str, float]] = {
    **dict.fromkeys(("a", "model_a"), 1.0),
    **dict.fromkeys(("b", "model_b"), 0.0),
    **dict.fromkeys(("tie", "even", "draw", "=", *sorted(_BOTH_BAD)), 0.5),
}
_FORM = (
    "a file of matches has the columns model_a, model_b and winner (model_a, model_b or tie), and "
    "perhaps item_id, rater and first"
)
_STARS = (
    "`tiebreak calibrate LOGS --human FILE` holds a judge's stars against them (--judge FILE those "
    "of a judge elsewhere), `tiebreak rank LOGS --people FILE` makes a board of both"
)
_SKIP = "--skip-faulty leaves such rows out"
_PARTS = ("model_a", "model_b", "winner", "first")
_NAMED = 3
_PREFERENCE = "preference"


@dataclass(frozen=True, eq=False, slots=True)
class MatchTable:
    """Matches with a result; arrays of shape (matches,) in the order of the file.

    `first` and `second` are indices in `models`, which are in alphabetical order. `result` is that
    of the first model, in [0, 1]: 1 won, ½ tie, 0 lost; AlpacaEval's can be between these. `item`
    and `rater` number the items and the raters, and are None if the file has none; a match with an
    empty cell has an item, or a rater, of its own. `shown` is 1 if the first model was shown first,
    −1 if the second was, 0 if unknown. `notes` are sentences on what was ignored.
    """

    source: str
    models: tuple[str, ...]
    first: NDArray[np.int64]
    second: NDArray[np.int64]
    result: NDArray[np.float64]
    item: NDArray[np.int64] | None
    rater: NDArray[np.int64] | None
    shown: NDArray[np.float64]
    notes: tuple[str, ...]


class RowMatch(NamedTuple):
    """The match in rows with equal cells; `fault` says what is wrong, `column` where, else "".

    `result` is the first model's, as in `MatchTable`, NaN without a winner.
    """

    models: tuple[str, str]
    result: float = math.nan
    shown: float = 0
    both_bad: bool = False
    fault: str = ""
    column: str = ""


def may_hold_matches(path: str) -> bool:
    """Whether a path is a local file in a format of matches that logs do not have."""
    file = Path(path)
    ending = file.suffix.lower()
    if ending not in (*CSV, *JSON, PARQUET) or not file.is_file():
        return False
    return ending != ".json" or holds_list(file)


def read_matches(path: str | Path, *, skip_faulty: bool = False) -> MatchTable:
    """Read a file of matches. Rows without a winner are noted.

    Args:
        path: CSV, `.jsonl`, `.json` or `.parquet`.
        skip_faulty: whether to leave out faulty rows, with a note that names the first of them,
            instead of raising an error.

    Raises:
        TableError: a column is missing, or there are stars instead; a row is faulty (a model
            without a name, a model against itself, a winner or first model that is neither of the
            two); there is no match; or as for `read_records`.
    """
    faults: dict[int, str] = {}

    def fault(place: Place, message: str, where: str = "") -> None:
        if not skip_faulty:
            raise TableError(f"{path}, {place}{where}: {message}; {_SKIP}")
        faults.setdefault(place.number, message)

    records = read_records(Path(path), {*MATCH_NAMES, *OTHERWISE}, fault)
    table = records.table.named(MATCH_NAMES, OTHERWISE)
    if "stars" in table.header and "winner" not in table.columns:
        raise TableError(f"{path} holds stars, which make no matches: {_STARS}")
    table.require(_PARTS[:3], _FORM)
    coded = {meaning: records.columns[name] for meaning, name in table.columns.items()}
    kinds, kind = _kinds(coded, table.columns["winner"])
    faulty = np.array([bool(match.fault) for match in kinds])[kind]
    for row in np.flatnonzero(faulty).tolist():
        line, match = int(records.lines[row]), kinds[kind[row]]
        column = table.columns.get(match.column)
        fault(Place(table.place, line), match.fault, f", column {shown(column)}" if column else "")
    empty = np.array([math.isnan(match.result) for match in kinds])[kind] & ~faulty
    kept = ~empty & ~faulty
    if not kept.any():
        raise TableError(f"{path}: no row has a winner; {_FORM}")
    kind = kind[kept]
    models = sorted({model for k in np.unique(kind) for model in kinds[k].models})
    place = {model: number for number, model in enumerate(models)}
    rows = np.array([(*(place.get(m, -1) for m in match.models), *match[1:4]) for match in kinds])
    first, second, result, shown_first, both_bad = rows[kind].T
    return MatchTable(
        source=str(path),
        models=tuple(models),
        first=first.astype(np.int64),
        second=second.astype(np.int64),
        result=result,
        item=_numbers(coded.get("item_id"), kept),
        rater=_numbers(coded.get("rater"), kept),
        shown=shown_first,
        notes=(
            *table.unread(),
            *table.empty("winner", records.lines[empty].tolist()),
            *_notes(table, faults, int(both_bad.sum()), int((result == 0.5).sum())),
        ),
    )


def result_of(text: str, column: str, models: Sequence[str]) -> float | None:
    """Result of the first of two models in [0, 1], from the cell of the winner.

    NaN if the cell is empty, None if it names no winner. A column "preference" has AlpacaEval's
    numbers: 1 is for the first model, 2 for the second, a number between them a probability; 0 is a
    draw in its files of 2023.
    """
    if not text:
        return math.nan
    if column.casefold() != _PREFERENCE:
        named = {models[0].casefold(): 1.0, models[1].casefold(): 0.0}
        return named.get(text.casefold(), _RESULTS.get(text.casefold()))
    try:
        number = float(text)
    except ValueError:
        return None
    return 0.5 if number == 0 else 2 - number if 1 <= number <= 2 else None


def _kinds(
    coded: Mapping[str, DictionaryColumn], winner: str
) -> tuple[list[RowMatch], NDArray[np.intp]]:
    """The distinct matches by models, winner and first model, and the index of each row's match."""
    parts = [coded[name] for name in _PARTS if name in coded]
    # One number for each combination of texts, so that equal rows are parsed only once.
    key = np.zeros(len(parts[0].codes), np.int64)
    for part in parts:
        key = key * len(part.texts) + part.codes
    _, row, kind = np.unique(key, return_index=True, return_inverse=True)
    texts = ([part.texts[code] for code in part.codes[row].tolist()] for part in parts)
    return [match_of(winner, *cells) for cells in zip(*texts, strict=True)], kind


def match_of(column: str, a: str, b: str, winner: str, first: str = "") -> RowMatch:
    """Make a match of two models from the cells of a row; `column` is the name of the winner's."""

    def faulty(fault: str, where: str = "") -> RowMatch:
        return RowMatch((a, b), fault=fault, column=where)

    if not (a and b):
        return faulty("the model has no name; fill it in", "model_b" if a else "model_a")
    if a == b:
        return faulty(f"{shown(a)} is compared with itself; name two models")
    result, side = result_of(winner, column, (a, b)), result_of(first, "", (a, b))
    either = f"{shown(a)} or {shown(b)}"
    if result is None and column.casefold() == _PREFERENCE:
        return faulty(f"{shown(winner)} is not from 1 (for {shown(a)}) to 2 ({shown(b)})", "winner")
    if result is None:
        return faulty(f"the winner is {shown(winner)}; write a, b, tie, {either}", "winner")
    if side in (None, 0.5):
        return faulty(f"the first one is {shown(first)}; write a, b, {either}", "first")
    side = 0 if math.isnan(side) else 2 * side - 1
    return RowMatch((a, b), result, side, winner.casefold() in _BOTH_BAD)


def _numbers(column: DictionaryColumn | None, kept: NDArray[np.bool_]) -> NDArray[np.int64] | None:
    """Number the texts of the kept rows from 0, each empty cell anew; None if all are empty."""
    if column is None or not any(column.texts):
        return None
    codes = column.codes[kept].copy()
    if "" in column.texts:
        empty = codes == column.texts.index("")
        codes[empty] = len(column.texts) + np.arange(np.count_nonzero(empty))
    return np.unique(codes, return_inverse=True)[1].astype(np.int64)


def _notes(table: Delimited, faults: Mapping[int, str], n_bad: int, n_ties: int) -> Iterator[str]:
    if n_bad:
        yield f"{table.path}: {n_bad:,} of {count(n_ties, 'tie')} say that both are bad"
    if faults:
        some = [f"{table.place} {line} ({faults[line]})" for line in sorted(faults)[:_NAMED]]
        such = "such as " * (len(faults) > _NAMED) + "; ".join(some)
        yield f"{table.path}: {count(len(faults), 'faulty row')} left out: {such}"
