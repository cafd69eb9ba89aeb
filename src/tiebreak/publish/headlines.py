"""The latest leaderboards and contests as the card shows them.

A leaderboard is one entry per benchmark, protocol and judge. The rows may be another publisher's,
so nothing in them is trusted: texts are escaped where they are shown, and what is not JSON or not a
file of the dataset is left out.
"""

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Final, TypeVar

from tiebreak.analysis.item_table import or_nan
from tiebreak.publish.contests import CSD
from tiebreak.report.cells import UNDEFINED, money
from tiebreak.text import count

Row = Mapping[str, Any]
T = TypeVar("T", dict[str, Any], list[Any])

# Leaderboards with more models show so many on the card; the table has them all.
LISTED: Final = 20

_SWAPS: Final = {
    "always": "Every match is judged in both orders of presentation, and margins are averaged.",
    "close": "Which answer is shown first is drawn by lot; a match that comes out close is judged "
    "in the other order too, and margins are averaged.",
    "sample": "Which answer is shown first is drawn by lot; at most one match of each item, "
    "drawn by lot, is judged in both orders.",
    "never": "Which answer is shown first is drawn by lot; a match is judged in this order only.",
}
_SAFE = re.compile(r"[A-Za-z0-9-]{1,200}")


@dataclass(frozen=True, eq=False, slots=True)
class Board:
    """One benchmark under one protocol by one judge: the rows of its models by metric, best first.

    `rows` are those by which models are ranked, and `unscored` is the mean of their rates.
    """

    benchmark: str
    protocol: str
    judge: str
    metrics: Mapping[str, Mapping[str, Row]]
    rows: tuple[Row, ...]
    unscored: float
    settings: tuple[tuple[str, str, str], ...]
    swap: str
    bill: str
    made_by: str

    @property
    def run(self) -> Row:
        """What all rows say of the run."""
        return self.rows[0]

    @property
    def manifest(self) -> str:
        """Path of the run's manifest in the dataset."""
        return f"runs/{self.run['run_id']}/manifest.json"

    def value(self, metric: str, model: str) -> float | None:
        """A model's value of another metric; None where there is none."""
        row = self.metrics.get(metric, {}).get(model)
        return None if row is None else row["value"]


def boards_in(rows: Iterable[Row]) -> list[Board]:
    """The entries of the card, in the order of the rows."""
    groups: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row["benchmark"], row["protocol"], row["judge"] or ""), []).append(row)
    return [_board(*key, group) for key, group in groups.items()]


def judging(boards: Iterable[Board]) -> list[tuple[str, str]]:
    """What was judged, and by whom and how; benchmarks judged in the same way are one entry."""
    groups: dict[tuple[Any, ...], list[str]] = {}
    for board in boards:
        how = (board.protocol, board.settings, board.run["seed"], board.made_by)
        rubric = f" (rubric {board.run['rubric']})" if board.run["rubric"] else ""
        groups.setdefault(how, []).append(board.benchmark + rubric)
    return [
        (f"{', '.join(names)} · {protocol}", _judges(settings, seed, made_by))
        for (protocol, settings, seed, made_by), names in groups.items()
    ]


def _judges(settings: Iterable[tuple[str, str, str]], seed: int | None, made_by: str) -> str:
    models: dict[tuple[str, str], list[str]] = {}
    for role, model, given in settings:
        models.setdefault((role, given), []).append(model)
    judges = [f"{role} = {', '.join(names)} ({given})" for (role, given), names in models.items()]
    drawn = f", seed {seed}" if seed is not None and judges else ""
    by = f"; {made_by}" if made_by else ""
    return ("; ".join(judges) or "no judge") + drawn + by


def plots_of(board: Board, files: Mapping[str, bytes]) -> list[dict[str, str]]:
    """The plots of an entry that the dataset holds: `path` in it, and `alt` text."""
    folder = f"plots/{board.run['run_id']}"
    return pictures(folder, _about(board, f"{folder}/plots.json", "plots", files), files)


def pictures(
    folder: str, listed: Iterable[Mapping[str, Any]], files: Mapping[str, bytes]
) -> list[dict[str, str]]:
    """Those plots of a folder that the dataset holds: `path` in it, and `alt` text."""
    return [
        {"path": path, "alt": str(one.get("alt", ""))}
        for one in listed
        if _SAFE.fullmatch(str(one.get("name")))
        and (path := f"{folder}/{one['name']}.png") in files
    ]


def warnings_of(board: Board, files: Mapping[str, bytes]) -> list[str]:
    """Why the ranking of an entry cannot be trusted, by the manifest of its run."""
    found = _about(board, board.manifest, "benchmarks", files)
    listed = [one.get("warnings") for one in found if one.get("protocol") == board.protocol]
    return [str(warning) for one in listed if isinstance(one, list) for warning in one]


def verdict_of(board: Board, files: Mapping[str, bytes]) -> tuple[str, str] | None:
    """An entry's verdict and whether its judge can be trusted ("" where nobody judged).

    None where the run was published by a Tiebreak that knew no verdicts.
    """
    for one in _about(board, board.manifest, "benchmarks", files):
        said = one.get("verdict")
        if one.get("protocol") == board.protocol and isinstance(said, dict):
            sentence, trust = said.get("sentence"), said.get("trust")
            state = trust.get("state", "") if isinstance(trust, dict) and board.judge else ""
            return (str(sentence), str(state)) if sentence else None
    return None


def _about(
    board: Board, path: str, key: str, files: Mapping[str, bytes]
) -> list[Mapping[str, Any]]:
    """What a JSON file of the run lists about the entry's benchmark."""
    listed = said_in(board.run["run_id"], path, files).get(key)
    return [mapping for mapping in mappings(listed) if mapping.get("benchmark") == board.benchmark]


def said_in(run_id: str, path: str, files: Mapping[str, bytes]) -> dict[str, Any]:
    """What a JSON file of a run says; empty where there is none, or it is something else."""
    if not _SAFE.fullmatch(run_id) or path not in files:
        return {}
    return _parsed(files[path], dict)


def _board(benchmark: str, protocol: str, judge: str, rows: Sequence[Row]) -> Board:
    by_metric: dict[str, dict[str, Row]] = {}
    for row in rows:
        by_metric.setdefault(row["metric"], {})[row["model"]] = row
    main = tuple((by_metric.get("normalized_borda") or next(iter(by_metric.values()))).values())
    rates = [row["unscored_rate"] for row in main if not math.isnan(or_nan(row["unscored_rate"]))]
    return Board(
        benchmark=benchmark,
        protocol=protocol,
        judge=judge,
        metrics=by_metric,
        rows=main,
        unscored=fmean(rates) if rates else math.nan,
        settings=tuple(_settings(main[0]["judge_settings"])),
        swap=_SWAPS.get(str(_parsed(main[0]["arguments"], dict).get("swap")), ""),
        bill=_bill(main[0]),
        made_by=_versions(main[0]),
    )


def _settings(text: Any) -> Iterable[tuple[str, str, str]]:
    """Role, name and settings of every model that judged."""
    for mapping in mappings(_parsed(text, list)):
        settings = {name: value for name, value in mapping.items() if name not in ("role", "model")}
        given = ", ".join(f"{name} {value}" for name, value in settings.items())
        role, model = (str(mapping.get(name, "")) for name in ("role", "model"))
        yield role, model, given or "the provider's own settings"


def mappings(listed: Any) -> list[Mapping[str, Any]]:
    """The objects in a list of JSON; none where it is something else."""
    return [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []


def _bill(row: Row) -> str:
    n, tokens = row["n_calls"] or 0, (row["input_tokens"] or 0) + (row["output_tokens"] or 0)
    if not n:
        return "no call"
    cost = money(row["cost"])
    worth = "of unknown price" if cost == UNDEFINED else f"worth {cost}"
    return f"{count(n, 'call')}, {count(tokens, 'token')}, {worth}"


def _versions(row: Row) -> str:
    named = (("Tiebreak", row["tiebreak_version"]), ("Inspect", row["inspect_version"]))
    return ", ".join(f"{name} {version}" for name, version in named if version)


def _parsed(text: Any, kind: type[T]) -> T:
    """An object or a list written as JSON; empty where the text is something else."""
    try:
        found = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        found = None
    return found if isinstance(found, kind) else kind()


def level_of(row: Row) -> str:
    """The confidence level of a row's intervals, as percent."""
    level = or_nan(row["level"])
    return UNDEFINED if math.isnan(level) else f"{level * 100:g}%"


MERGED: Final = "kemeny_young"
"""The merged ranking that stands beside the contest; the table has all of them."""

_ORDERS: Final = {
    "columns": "is that of the columns of the table of scores",
    "names": "is alphabetical",
    "weights": "is drawn by weight, anew for every contest",
}


@dataclass(frozen=True, eq=False, slots=True)
class ContestEntry:
    """One contest: its rows, best first, and each model's rank in the merged ranking.

    `proof` is what is proven of the merged ranking; `warnings` say what is wrong.

    `over_items`: whether intervals are known. `several`: whether several T were compared.
    """

    title: str
    rounds: str
    order: str
    how: str
    over_items: bool
    several: bool
    rows: tuple[Row, ...]
    merged: Mapping[str, int | None]
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
    merged = {row["model"]: row["rank"] for row in rows if row["method"] == MERGED}
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
        over_items=any(row["lower"] is not None for row in main),
        several=len(every) > len(main),
        rows=tuple(main),
        merged=merged,
        proof=_texts(said.get("proof")),
        warnings=_texts(said.get("warnings")),
        notes=_texts(said.get("notes")),
        plots=tuple(pictures(f"plots/{name}", drawn, files)),
        manifest=f"{folder}/manifest.json" if said else "",
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
