"""The reference of a comparison: which log it is, and what cannot be compared with it."""

from collections.abc import Sequence
from pathlib import Path

from tiebreak.analysis.common_ground import Shared
from tiebreak.analysis.entries import Entry


class ComparisonError(ValueError):
    """Logs that cannot be compared; the message says what to do next."""


class MissingReferenceError(ComparisonError):
    """No log is the reference; the message says what there is."""


class AmbiguousReferenceError(ComparisonError):
    """Several logs that are no runs of one another could be the reference."""


class NothingInCommonError(ComparisonError):
    """A log and the reference ranked no item, or no model, in common."""


class NothingToCompareError(ComparisonError):
    """There is only the reference."""


def references(entries: Sequence[Entry], wanted: str) -> dict[str, Entry]:
    """The reference of every benchmark that has one: of several runs the oldest.

    Args:
        entries: the oldest first.
        wanted: a protocol, a label, a name, or the path or file name of a log.

    Raises:
        MissingReferenceError: nothing is called so.
        AmbiguousReferenceError: logs that are no runs of one another are called so.
    """
    found: dict[str, list[Entry]] = {}
    for entry in entries:
        if wanted in (entry.board.protocol, entry.label, entry.name) or _is_file(entry, wanted):
            found.setdefault(entry.board.benchmark, []).append(entry)
    if not found:
        names = ", ".join(dict.fromkeys(entry.label for entry in entries))
        raise MissingReferenceError(
            f"No log is the reference {wanted!r}. There are: {names}. Choose one of them with "
            "--reference, or judge all pairs: inspect eval tiebreak/full_pairwise -T "
            "candidates=LOGS --model-role judge=MODEL"
        )
    for benchmark, several in found.items():
        if not all(same_contest(several[0], other) for other in several):
            lines = "".join(f"\n  {entry.name}: {entry.board.log}" for entry in several)
            raise AmbiguousReferenceError(
                f"Several logs of {benchmark} could be the reference {wanted!r}, and they are no "
                f"runs of one another:{lines}\nSay which one, by its name or its path: --reference"
            )
    return {benchmark: several[0] for benchmark, several in found.items()}


def same_contest(one: Entry, other: Entry) -> bool:
    """Whether two entries are runs of one another: protocol, settings, judges and models."""
    return one.label == other.label and one.table.models == other.table.models


def refuse_strangers(entry: Entry, chosen: Entry, common: Shared) -> None:
    """Refuse a log that has nothing in common with the reference.

    Raises:
        NothingInCommonError: both ranked something, but no item or no model in common.
    """
    if entry.keys and chosen.keys and not (common.items and common.models):
        raise NothingInCommonError(
            f"{entry.board.log} ({entry.name}) and the reference, {chosen.board.log}, ranked no "
            f"{'model' if common.items else 'item'} of {chosen.board.benchmark} in common: they "
            "judged different candidates. Give the logs of one pool only"
        )


def _is_file(entry: Entry, wanted: str) -> bool:
    log = Path(entry.board.log)
    return wanted == log.name or Path(wanted).resolve() == log.resolve()
