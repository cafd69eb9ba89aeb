"""What `write_back_ranks` did, as a sheet and as data."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from tiebreak.publish.write_back.run import Outcome, WriteBack
from tiebreak.report.json import json_ready, only
from tiebreak.report.sheet import Section, Sheet
from tiebreak.text import count


def sheets_of(done: WriteBack) -> list[Sheet]:
    """One line for every log and ranking, then the models without a log, then what it comes to."""
    return [Sheet(sections=(Section.of(lines=_lines(done)),), notes=done.notes)]


def data_of(done: WriteBack) -> dict[str, Any]:
    """The fields of `WriteBack`, `Ranking`, `Outcome` and `Unwritten`."""
    ranking = ("benchmark", "protocol", "score", "log", "eval_id", "run", "judges")
    data: dict[str, Any] = json_ready(
        {
            "dry_run": done.dry_run,
            "rankings": [
                {**only(one, *ranking), "models": len(one.places)} for one in done.rankings
            ],
            "logs": done.outcomes,
            "models_without_log": done.unwritten,
            "notes": done.notes,
        }
    )
    return data


def _lines(done: WriteBack) -> Iterator[str]:
    words = {"written": "to write" if done.dry_run else "written", "left_alone": "left alone"}
    for outcome in done.outcomes:
        yield f"{words.get(outcome.state, outcome.state)}: {_log(outcome)}"
    for missing in done.unwritten:
        kind = f"{missing.benchmark} · {missing.protocol}"
        yield f"no log: {missing.model} ({kind}): no Inspect log of it belongs to the ranking"
    states = Counter(outcome.state for outcome in done.outcomes)
    if not states["written"]:
        yield "Nothing changed: these ranks are in the logs already"
    elif done.dry_run:
        yield f"Dry run: {count(states['written'], 'score')} to write, nothing was written"


def _log(one: Outcome) -> str:
    named = " · ".join(part for part in (one.model, one.score) if part)
    where = f"{one.path} ({named})" if named else one.path
    if one.why:
        return f"{where}: {one.why}"
    place = "no place" if one.place is None else f"place {one.place} of {one.of}"
    return f"{where}: {place}, {one.n_scored:,} of {count(one.n_items, 'item')} ranked"
