"""Read the rounds of a contest, and the benchmarks in each of them.

The file is a YAML list. An entry is a round, in one of three forms::

    - mmlu                              # one benchmark
    - [gsm8k, math]                     # several: the mean of their scores counts
    - name: code                        # with details; all but `benchmarks` are optional
      benchmarks: [humaneval, mbpp]
      eliminate: 2                      # number of models eliminated after this round
      weight: 0.5                       # for sampling the order of the rounds

If every benchmark is a round of its own, a list of names is enough (`read_order`).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from tiebreak.paths import problem_with
from tiebreak.plain_yaml import read_yaml
from tiebreak.tables.delimited import read_text
from tiebreak.tables.errors import TableError, shown, suggestion
from tiebreak.text import listed, split_names

# Number of benchmarks that a note names.
_NAMED = 100
_KEYS = ("name", "benchmarks", "eliminate", "weight")


@dataclass(frozen=True, slots=True)
class Round:
    """One round: its benchmarks, and their columns in the score table.

    `eliminate` ≥ 0 is the number of models that are eliminated after it, `weight` > 0 is for
    sampling an order of rounds; None if the file does not have them.
    """

    name: str
    benchmarks: tuple[str, ...]
    columns: tuple[int, ...]
    eliminate: int | None = None
    weight: float | None = None


@dataclass(frozen=True, slots=True)
class Rounds:
    """All rounds, in the order of the contest; `notes` name benchmarks that are in no round.

    `order_from` is the origin of the order: a file of rounds, names, or the items' difficulty.
    """

    rounds: tuple[Round, ...]
    source: str
    notes: tuple[str, ...] = ()
    order_from: Literal["rounds", "order", "difficulty"] = "rounds"

    @property
    def columns(self) -> tuple[tuple[int, ...], ...]:
        """Columns of the score table, by round."""
        return tuple(round_.columns for round_ in self.rounds)

    @property
    def eliminate(self) -> tuple[int, ...] | None:
        """Number of models that are eliminated after each round; None if not given."""
        given = tuple(round_.eliminate for round_ in self.rounds if round_.eliminate is not None)
        return given or None

    @property
    def weights(self) -> tuple[float, ...] | None:
        """Weights of the rounds; None if not given."""
        given = tuple(round_.weight for round_ in self.rounds if round_.weight is not None)
        return given or None


def read_rounds(path: str | Path, benchmarks: Sequence[str]) -> Rounds:
    """Read the rounds of a contest from YAML; `benchmarks` are the score table's columns.

    Raises:
        TableError: the file does not exist or is not text; it is not YAML, or not of the form
            above; only some rounds have `eliminate` or `weight`; a round names a benchmark that is
            not among `benchmarks`, or that is in another round.
    """
    source = str(path)
    entries = _load(Path(path))
    place = {name: column for column, name in enumerate(benchmarks)}
    rounds = tuple(
        _round(f"{source}, round {number}", number, entry, place)
        for number, entry in enumerate(entries, start=1)
    )
    _refuse_repeats(source, rounds)
    for key in ("eliminate", "weight"):
        without = [round_.name for round_ in rounds if getattr(round_, key) is None]
        if 0 < len(without) < len(rounds):
            raise TableError(
                f"{source}: {shown(without[0])} has no {key!r} and other rounds have one; give it "
                "in every round or in none"
            )
    return Rounds(rounds, source, _unused(source, rounds, benchmarks))


def read_order(order: str, benchmarks: Sequence[str]) -> Rounds:
    """Make rounds of one benchmark each, in the order of the names given.

    Args:
        order: "a,b,c", or the path of a text file with one name per line. A benchmark that is not
            named is left out, with a note, as by `read_rounds`.
        benchmarks: names of the score table's columns.

    Raises:
        TableError: a name is not among `benchmarks`, or occurs twice; there is no name; or the file
            is not text.
    """
    names, source = split_names(order), "the order"
    if not (set(names) <= set(benchmarks) or problem_with(order)) and Path(order).is_file():
        names = [line.strip() for line in read_text(Path(order)).splitlines() if line.strip()]
        source = order
        if not names:
            raise TableError(f"{source} holds no name; write one benchmark a line")
    elif len(names) == 1 and names[0] not in benchmarks:
        help_ = suggestion(names[0], benchmarks)
        raise TableError(f"{shown(order)} is neither a file nor a benchmark of the scores; {help_}")
    place = {name: column for column, name in enumerate(benchmarks)}
    rounds = tuple(
        Round(name, (name,), (_column(f"{source}, round {number}", name, place),))
        for number, name in enumerate(names, start=1)
    )
    _refuse_repeats(source, rounds)
    return Rounds(rounds, source, _unused(source, rounds, benchmarks), "order")


def _unused(source: str, rounds: Sequence[Round], benchmarks: Sequence[str]) -> tuple[str, ...]:
    used = {name for round_ in rounds for name in round_.benchmarks}
    unused = [shown(name) for name in benchmarks if name not in used]
    return (f"{source}: in no round, so not used: {listed(unused, most=_NAMED)}",) if unused else ()


def _load(path: Path) -> list[Any]:
    text = read_text(path)
    try:
        entries = read_yaml(text)
    except ValueError as error:
        raise TableError(f"{path} {error}") from error
    if not isinstance(entries, list) or not entries:
        raise TableError(
            f"{path} must hold a list of rounds, each a benchmark's name, a list of names, or a "
            "mapping with 'benchmarks'; start each round with '- '"
        )
    return entries


def _round(where: str, number: int, entry: Any, place: Mapping[str, int]) -> Round:
    details: dict[Any, Any] = entry if isinstance(entry, dict) else {"benchmarks": entry}
    for key in details:
        if key not in _KEYS:
            raise TableError(f"{where}: unknown key {shown(key)}; the keys are {', '.join(_KEYS)}")
    given: Any = details.get("benchmarks")
    names: list[Any] = given if isinstance(given, list) else [given]
    columns = tuple(_column(where, name, place) for name in names)
    if not columns:
        raise TableError(f"{where}: it has no benchmark; name at least one")
    title = details.get("name", names[0] if len(names) == 1 else f"round {number}")
    if not isinstance(title, str) or not title:
        raise TableError(f"{where}: the name {shown(title)} is not text; put it in quotes")
    eliminate: Any = details.get("eliminate")
    weight: Any = details.get("weight")
    for key, valid, form in (
        ("eliminate", type(eliminate) is int and eliminate >= 0, "a whole number from 0 on"),
        ("weight", type(weight) in (int, float) and 0 < weight < math.inf, "a number above 0"),
    ):
        if key in details and not valid:
            raise TableError(f"{where}: {key!r} is {shown(details[key])}; give {form}")
    return Round(title, tuple(names), columns, eliminate, weight)


def _column(where: str, name: Any, place: Mapping[str, int]) -> int:
    if not isinstance(name, str):
        # YAML reads 2024, yes and 1e3 as numbers and truth values.
        raise TableError(
            f"{where}: {shown(name)} is not the name of a benchmark; put names that look like "
            "numbers or truth values in quotes, and give 'benchmarks' in every round"
        )
    if name in place:
        return place[name]
    help_ = suggestion(name, tuple(place))
    raise TableError(f"{where}: the scores have no benchmark {shown(name)}; {help_}")


def _refuse_repeats(source: str, rounds: Sequence[Round]) -> None:
    first: dict[str, int] = {}
    for number, round_ in enumerate(rounds, start=1):
        for name in round_.benchmarks:
            if name in first:
                raise TableError(
                    f"{source}, round {number}: {name!r} is in round {first[name]} already; a "
                    "benchmark is played once"
                )
            first[name] = number
