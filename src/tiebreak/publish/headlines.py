"""The latest leaderboards and contests as the card shows them.

Both are boards: rows of the published tables, and what the manifest of their run says of them. They
may be another publisher's, so nothing in them is trusted: texts are escaped where they are shown,
and what is not JSON or not a file of the dataset is left out.
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
from tiebreak.words import count

Row = Mapping[str, Any]
T = TypeVar("T", dict[str, Any], list[Any])

# What says how a board was judged; those that agree in it are explained once.
_JUDGING: Final = (*("protocol", "judge_settings", "seed", "tiebreak_version", "inspect_version"),)
_SAFE = re.compile(r"[A-Za-z0-9-]{1,200}")


@dataclass(frozen=True, eq=False, slots=True)
class Board:
    """One benchmark under one protocol by one judge, or one contest over benchmarks.

    `rows` are those that rank the models, best first; `metrics` are all rows by metric, in a
    contest by method, and by model. `about` is what the manifest says, and `plots` are those that
    the dataset holds: `path` in it, and `alt` text.
    """

    rows: tuple[Row, ...]
    metrics: Mapping[str, Mapping[str, Row]]
    manifest: str
    about: Mapping[str, Any]
    plots: tuple[Mapping[str, str], ...]

    @property
    def run(self) -> Row:
        """What all rows say of the run."""
        return self.rows[0]

    @property
    def unscored(self) -> float:
        """The mean of the models' unscored rates."""
        rates = [or_nan(row["unscored_rate"]) for row in self.rows]
        known = [rate for rate in rates if not math.isnan(rate)]
        return fmean(known) if known else math.nan

    @property
    def verdict(self) -> tuple[str, str] | None:
        """The verdict and whether the judge can be trusted ("" where nobody judged).

        None where the run was published by a Tiebreak that knew no verdicts.
        """
        verdict = self.about.get("verdict")
        if not isinstance(verdict, dict) or not verdict.get("sentence"):
            return None
        trust = verdict.get("trust")
        state = trust.get("state", "") if isinstance(trust, dict) and self.run["judge"] else ""
        return str(verdict["sentence"]), str(state)

    def value(self, metric: str, model: str, column: str = "value") -> Any:
        """A model's value of another metric, or its rank by another method; None without one."""
        return self.metrics.get(metric, {}).get(model, {}).get(column)

    def texts(self, name: str) -> list[str]:
        """What the manifest lists under a name, such as its warnings."""
        texts = self.about.get(name)
        return [str(text) for text in texts] if isinstance(texts, list) else []


def leaderboards_in(rows: Iterable[Row], files: Mapping[str, bytes]) -> list[Board]:
    """The leaderboards among some rows, in their order."""
    boards = _grouped(rows, "benchmark", "protocol", "judge")
    return [_board(board, "metric", "normalized_borda", files) for board in boards]


def contests_in(rows: Iterable[Row], files: Mapping[str, bytes]) -> list[Board]:
    """The contests among some rows, in their order; each at the first T that was played."""
    contests = (_board(rows, "method", CSD, files) for rows in _grouped(rows, "contest_id"))
    return [contest for contest in contests if CSD in contest.metrics]


def _grouped(rows: Iterable[Row], *names: str) -> list[list[Row]]:
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[name] or "" for name in names), []).append(row)
    return list(groups.values())


def _board(rows: Sequence[Row], kind: str, main: str, files: Mapping[str, bytes]) -> Board:
    """A board by the name of the metric or method that ranks its models, or else the first."""
    metrics: dict[str, dict[str, Row]] = {}
    for row in rows:
        metrics.setdefault(row[kind], {}).setdefault(row["model"], row)
    run, benchmark = rows[0], rows[0].get("benchmark", "")
    name = run["run_id"] if kind == "metric" else run["contest_id"]
    manifest, folder = f"runs/{name}/manifest.json", f"plots/{name}"
    # A name that leads elsewhere has neither.
    about, drawn = (
        _parsed(files.get(path), dict) if _SAFE.fullmatch(name) else {}
        for path in (manifest, f"{folder}/plots.json")
    )
    if kind == "metric":
        mine = (benchmark, run["protocol"])
        parts = mappings(about.get("benchmarks"))
        named = (part for part in parts if (part.get("benchmark"), part.get("protocol")) == mine)
        about = next(named, {})
    return Board(
        rows=tuple((metrics.get(main) or next(iter(metrics.values()))).values()),
        metrics=metrics,
        manifest=manifest if manifest in files else "",
        about=about,
        plots=tuple(
            {"path": path, "alt": str(plot.get("alt", ""))}
            for plot in mappings(drawn.get("plots"))
            if plot.get("benchmark", "") == benchmark
            and _SAFE.fullmatch(str(plot.get("name")))
            and (path := f"{folder}/{plot['name']}.png") in files
        ),
    )


def mappings(listed: Any) -> list[dict[str, Any]]:
    """The objects in a list of JSON; none where it is something else."""
    return (
        [value for value in listed if isinstance(value, dict)] if isinstance(listed, list) else []
    )


def _parsed(text: Any, kind: type[T]) -> T:
    """An object or a list written as JSON; empty where the text is something else."""
    try:
        value = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        value = None
    return value if isinstance(value, kind) else kind()


def judging(boards: Iterable[Board]) -> list[tuple[str, str]]:
    """What was judged, and by whom and how; benchmarks judged in the same way are one entry."""
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for board in boards:
        groups.setdefault(tuple(board.run[name] for name in _JUDGING), []).append(board.run)
    return [
        (f"{', '.join(map(_benchmark, runs))} · {runs[0]['protocol']}", _judges(runs[0]))
        for runs in groups.values()
    ]


def _benchmark(run: Row) -> str:
    return str(run["benchmark"]) + (f" (rubric {run['rubric']})" if run["rubric"] else "")


def _judges(run: Row) -> str:
    """Role, name and settings of every model that judged, the seed and the versions."""
    models: dict[tuple[str, str], list[str]] = {}
    for settings in mappings(_parsed(run["judge_settings"], list)):
        role, model = (str(settings.pop(name, "")) for name in ("role", "model"))
        given = ", ".join(f"{name} {value}" for name, value in settings.items())
        models.setdefault((role, given or "the provider's own settings"), []).append(model)
    judges = [f"{role} = {', '.join(names)} ({given})" for (role, given), names in models.items()]
    drawn = f", seed {run['seed']}" if run["seed"] is not None and judges else ""
    named = (("Tiebreak", run["tiebreak_version"]), ("Inspect", run["inspect_version"]))
    versions = ", ".join(f"{name} {version}" for name, version in named if version)
    return ("; ".join(judges) or "no judge") + drawn + (f"; {versions}" if versions else "")


def swap_of(run: Row) -> str:
    """In which orders matches are shown: an argument of the task; "" where it says nothing."""
    return str(_parsed(run["arguments"], dict).get("swap", ""))


def bill(run: Row) -> str:
    """Calls, tokens and price of a run."""
    n, tokens = run["n_calls"] or 0, (run["input_tokens"] or 0) + (run["output_tokens"] or 0)
    if not n:
        return "no call"
    cost = money(run["cost"])
    worth = "of unknown price" if cost == UNDEFINED else f"worth {cost}"
    return f"{count(n, 'call')}, {count(tokens, 'token')}, {worth}"


def level_of(row: Row) -> str:
    """The confidence level of a row's intervals, as percent."""
    level = or_nan(row["level"])
    return UNDEFINED if math.isnan(level) else f"{level * 100:g}%"


def rounds_of(contest: Row) -> str:
    """The rounds of a contest: weights have no order."""
    rounds = [" + ".join(map(str, names or [])) for names in contest["rounds"]]
    return (" · " if contest["weights"] else " → ").join(rounds)


def size_of(contest: Row) -> str:
    """Size and settings of a contest at the first T."""
    out = contest["eliminate_by_round"] or []
    gone = str(out[0]) if len(set(out)) == 1 else ", ".join(map(str, out))
    missing = {
        "available": "a missing score is left out of its round's mean",
        "worst": "a round without a score is lost",
    }.get(str(contest["missing"]), "")
    played = count(contest["iterations"] or 0, "contest")
    rounds = count(len(contest["rounds"]), "round")
    return "; ".join(
        filter(None, [rounds, f"T = {gone}", f"{played}, seed {contest['seed']}", missing])
    )
