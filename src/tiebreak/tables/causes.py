"""Why answers are wrong, as people say it, from a CSV file.

The cause of an answer's error a line::

    item_id,model,cause,rater
    q17,openai/gpt-5,logical reasoning,ann

Any causes are allowed; those of LLMEval-Fair (§3.1.1, figure 3) come first, in its order. `rater`
and `benchmark` may be left out. For separators and encoding see `delimited`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tiebreak.tables.delimited import read_delimited
from tiebreak.tables.errors import TableError, shown

CAUSES: Final = (
    "disciplinary knowledge",
    "misunderstanding",
    "logical reasoning",
    "factual inaccuracies",
    "format compliance",
)
_NAMES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("item_id", "item", "question_uuid"), "item_id"),
    **{name: name for name in ("model", "cause", "rater", "benchmark")},
}


@dataclass(frozen=True, slots=True)
class CauseLabel:
    """What one person says is the cause; `rater` and `benchmark` are "" where nobody says."""

    line: int
    item_id: str
    model: str
    cause: str
    rater: str = ""
    benchmark: str = ""


@dataclass(frozen=True, slots=True)
class CauseLabels:
    """The labels of a file; `causes` are all of them in order."""

    source: str
    labels: tuple[CauseLabel, ...]
    causes: tuple[str, ...]


def read_causes(path: str | Path) -> CauseLabels:
    """Read causes of errors.

    Raises:
        TableError: a column is missing; an empty cell; a rater's second cause for an answer; as
            `read_delimited`.
    """
    table = read_delimited(Path(path))
    columns = table.meanings(_NAMES)
    for name in ("item_id", "model", "cause"):
        if name not in columns:
            raise TableError(
                f"{path}: there is no column {name!r}; give the columns item_id, model and cause, "
                "perhaps rater and benchmark"
            )
    labels: list[CauseLabel] = []
    lines: dict[tuple[str, ...], int] = {}
    for row in table.rows:
        item, model, cause = (
            table.label(row, columns[name], f"the {what} has no name")
            for name, what in (("item_id", "item"), ("model", "model"), ("cause", "cause"))
        )
        rater, benchmark = (
            row.cells[columns[name]] if name in columns else "" for name in ("rater", "benchmark")
        )
        about = f"the error of {shown(model)} on {shown(item)} has a cause"
        table.once(lines, (benchmark, item, model, rater), row, about)
        labels.append(CauseLabel(row.line, item, model, _plain(cause), rater, benchmark))
    found = {label.cause for label in labels}
    known = [cause for cause in CAUSES if cause in found]
    return CauseLabels(str(path), tuple(labels), (*known, *sorted(found - set(CAUSES))))


def _plain(cause: str) -> str:
    """A cause in lower case with single blanks, so that spellings of one are one."""
    return " ".join(cause.replace("_", " ").replace("-", " ").casefold().split())
