"""The latest contests as the card shows them. As of leaderboards, nothing in them is trusted."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tiebreak.analysis.item_table import or_nan
from tiebreak.publish.contests import CSD
from tiebreak.publish.headlines import LISTED, Row, level_of, mappings, pictures, said_in
from tiebreak.report.cells import decimal, interval, ranks, whole
from tiebreak.words import count

MERGED: Final = "kemeny_young"
"""The merged ranking that stands beside the contest; the table has all of them."""

_ORDERS: Final = {
    "columns": "is that of the columns of the table of scores",
    "names": "is alphabetical",
    "weights": "is drawn by weight, anew for every contest",
}


@dataclass(frozen=True, slots=True)
class ContestLine:
    """One model, as cells of a contest's table; numbers as text."""

    rank: str
    model: str
    wins: str
    interval: str
    ranks: str
    slope: str
    label: str
    merged: str


@dataclass(frozen=True, slots=True)
class ContestEntry:
    """One contest. `proof` is what is proven of the merged ranking; `warnings` say what is wrong.

    `over_items`: whether intervals are known. `several`: whether several T were compared.
    """

    title: str
    rounds: str
    order: str
    how: str
    level: str
    over_items: bool
    several: bool
    lines: tuple[ContestLine, ...]
    n_models: int
    proof: tuple[str, ...]
    warnings: tuple[str, ...]
    notes: tuple[str, ...]
    plots: tuple[Mapping[str, str], ...]
    manifest: str


def contests_in(rows: Iterable[Row], files: Mapping[str, bytes]) -> list[ContestEntry]:
    """The entries of the card, in the order of the rows."""
    contests: dict[str, list[Row]] = {}
    for row in rows:
        contests.setdefault(row["contest_id"], []).append(row)
    found = (_entry(name, own, files) for name, own in contests.items())
    return [one for one in found if one is not None]


def _entry(name: str, rows: Sequence[Row], files: Mapping[str, bytes]) -> ContestEntry | None:
    every = [row for row in rows if row["method"] == CSD]
    if not every:
        return None
    first = every[0]
    main = [row for row in every if row["eliminate_by_round"] == first["eliminate_by_round"]]
    merged = {row["model"]: row for row in rows if row["method"] == MERGED}
    folder = f"runs/{name}"
    said = said_in(name, f"{folder}/manifest.json", files)
    drawn = mappings(said_in(name, f"plots/{name}/plots.json", files).get("plots"))
    played = count(len(first["benchmarks"]), "benchmark")
    rounds = [" + ".join(map(str, one or [])) for one in first["rounds"]]
    return ContestEntry(
        title=f"{count(len(main), 'model')} over {played}",
        rounds=(" · " if first["weights"] else " → ").join(rounds),
        order=_ORDERS.get(str(first["order_from"]), "was chosen for this contest"),
        how=_how(first, len(rounds)),
        level=level_of(first),
        over_items=any(row["lower"] is not None for row in main),
        several=len(every) > len(main),
        lines=tuple(_line(row, merged) for row in main[:LISTED]),
        n_models=len(main),
        proof=_texts(said.get("proof")),
        warnings=_texts(said.get("warnings")),
        notes=_texts(said.get("notes")),
        plots=tuple(pictures(f"plots/{name}", drawn, files)),
        manifest=f"{folder}/manifest.json" if said else "",
    )


def _line(row: Row, merged: Mapping[str, Row]) -> ContestLine:
    return ContestLine(
        rank=whole(row["rank"]),
        model=row["model"],
        wins=decimal(or_nan(row["value"])),
        interval=interval(or_nan(row["lower"]), or_nan(row["upper"])),
        ranks=ranks(row["rank_lower"], row["rank_upper"]),
        slope=decimal(or_nan(row["slope"])),
        label=row["label"] or "",
        merged=whole(merged.get(row["model"], {}).get("rank")),
    )


def _how(row: Row, n_rounds: int) -> str:
    """Size and settings of the contest at the first T."""
    out = row["eliminate_by_round"] or []
    gone = str(out[0]) if len(set(out)) == 1 else ", ".join(map(str, out))
    missing = {
        "available": "a missing score is left out of its round's mean",
        "worst": "a round without a score is lost",
    }.get(str(row["missing"]), "")
    played = count(row["iterations"] or 0, "contest")
    parts = [count(n_rounds, "round"), f"T = {gone}", f"{played}, seed {row['seed']}", missing]
    return "; ".join(filter(None, parts))


def _texts(listed: Any) -> tuple[str, ...]:
    return tuple(str(one) for one in listed) if isinstance(listed, list) else ()
