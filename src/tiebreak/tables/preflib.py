"""Ballots in PrefLib's formats for rankings: `.soc`, `.soi`, `.toc` and `.toi`.

preflibtools parses the file, but it takes whatever its pattern finds in a line: an unclosed brace
breaks a tie, `1: 1 2 3` ranks the alternative 123, an order that is there twice counts four times,
text is passed over. So every line is checked against the format first, and the parsed instance
against its own header.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tiebreak.extras import to_install
from tiebreak.rankers.errors import MissingPackageError
from tiebreak.tables.ballots import Ballot, BallotFile, ballot_file
from tiebreak.tables.delimited import read_text
from tiebreak.tables.errors import TableError, shown

_GROUP = r"(?:[0-9]+|\{\s*[0-9]+(?:\s*,\s*[0-9]+)*\s*\})"
_BALLOT = re.compile(rf"[0-9]+\s*:\s*{_GROUP}(?:\s*,\s*{_GROUP})*")
_HEADER_HELP = "compare the header with the format at preflib.org"

Order = tuple[tuple[int, ...], ...]


def read_preflib(path: Path, *, drop_unranked: bool = False) -> BallotFile:
    """Read a PrefLib file of rankings; an order with a count of n becomes n ballots.

    Args:
        path: the file; its suffix says whether orders may have ties (t) and gaps (i).
        drop_unranked: leave out, and note, the alternatives that no ballot ranks.

    Raises:
        MissingPackageError: preflibtools is not installed.
        TableError: a line that is not in the format, or that the header or suffix contradicts; as
            `read_text` and `ballot_file`.
    """
    instance = _instance()
    kind = path.suffix.lower().removeprefix(".")
    # Not splitlines(): it also cuts at characters that may well be in a name.
    lines = [line.strip() for line in read_text(path).split("\n")]
    header = [line for line in lines if line.startswith("#")]
    body = [
        (number, line)
        for number, line in enumerate(lines, start=1)
        if line and not line.startswith("#")
    ]
    _check_lines(path, body)
    instance.data_type = kind
    try:
        instance.parse_lines([*header, *(line for _, line in body)])
    except Exception as error:  # int() and unpacking, wherever a line was not what it expected
        raise TableError(
            f"{path}: preflibtools cannot read it ({type(error).__name__}: {shown(str(error))}); "
            f"{_HEADER_HELP}"
        ) from error
    numbered = [(number, order) for (number, _), order in zip(body, instance.orders, strict=True)]
    _check_orders(path, kind, instance, numbered)
    _check_header(path, kind, instance)
    ballots = _ballots(instance)
    names = list(instance.alternatives_name.values())
    return ballot_file(path.stem, str(path), ballots, names, drop_unranked=drop_unranked)


def _instance() -> Any:
    try:
        from preflibtools.instances import OrdinalInstance
    except ImportError as error:
        raise MissingPackageError(
            f"PrefLib files are read with preflibtools: {to_install('rankings', 'preflibtools')}"
        ) from error
    return OrdinalInstance()


def _check_lines(path: Path, body: Sequence[tuple[int, str]]) -> None:
    if not body:
        raise TableError(f"{path} holds no ballot below its header; give at least one")
    for number, line in body:
        if not _BALLOT.fullmatch(line):
            raise TableError(
                f"{path}, line {number}: {shown(line)} is not a ballot; it must be a count, a "
                "colon and alternatives by number, ties in braces, as in '3: 1, {2, 4}, 3'"
            )


def _check_header(path: Path, kind: str, instance: Any) -> None:
    """What the header says must hold: a wrong count is all that a file cut short shows."""
    names = list(instance.alternatives_name.values())
    if instance.data_type != kind:
        raise TableError(
            f"{path}: the header says data type {shown(instance.data_type)}; rename one of the two"
        )
    if twice := sorted(name for name, times in Counter(names).items() if times > 1):
        raise TableError(f"{path}: two alternatives are named {shown(twice[0])}; rename one")
    counts = {
        "alternatives": (instance.num_alternatives, len(names)),
        "voters": (instance.num_voters, sum(instance.multiplicity.values())),
        "unique orders": (instance.num_unique_orders, len(instance.orders)),
    }
    for what, (stated, found) in counts.items():
        if stated not in (0, found):  # 0: the header does not say
            raise TableError(
                f"{path}: the header says {stated} {what}, the file holds {found}; it may be cut "
                "short: fetch it again, or correct the header"
            )


def _check_orders(
    path: Path, kind: str, instance: Any, orders: Sequence[tuple[int, Order]]
) -> None:
    first: dict[Order, int] = {}
    for number, order in orders:
        for problem in _problems(order, kind, instance, first.get(order)):
            raise TableError(f"{path}, line {number}: {problem}")
        first[order] = number


def _problems(order: Order, kind: str, instance: Any, earlier: int | None) -> Iterator[str]:
    names = instance.alternatives_name
    ranked = [alternative for group in order for alternative in group]
    if earlier is not None:
        yield f"the order of line {earlier} is here again; join the two and add their counts"
    if instance.multiplicity[order] < 1:
        yield "the count is 0; take the line out"
    if unknown := [alternative for alternative in ranked if alternative not in names]:
        yield f"the header names no alternative {unknown[0]}; add '# ALTERNATIVE NAME {unknown[0]}'"
    if len(set(ranked)) < len(ranked):
        yield "an alternative is there twice; rank it once"
    if kind[0] == "s" and len(ranked) > len(order):
        yield f"a .{kind} file has no ties; name the file .{'toc' if kind == 'soc' else 'toi'}"
    if kind[2] == "c" and len(ranked) < len(names):
        yield f"a .{kind} file ranks every alternative in every line; name the file .{kind[:2]}i"


def _ballots(instance: Any) -> list[Ballot]:
    names = instance.alternatives_name
    return [
        Ballot(
            {names[a]: float(place) for place, group in enumerate(order) for a in group},
            times=instance.multiplicity[order],
        )
        for order in instance.orders
    ]
