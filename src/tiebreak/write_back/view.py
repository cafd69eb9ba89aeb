"""What `write_back_ranks` did, in lines for a terminal and as plain data."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from tiebreak.words import count
from tiebreak.write_back.rankings import Ranking
from tiebreak.write_back.run import Outcome, State, WriteBack

_SAID: dict[State, str] = {
    "written": "written",
    "unchanged": "unchanged",
    "left_alone": "left alone",
}


def lines(done: WriteBack) -> Iterator[str]:
    """One line for every log and ranking, then the models without a log, then notes."""
    said = _SAID | ({"written": "to write"} if done.dry_run else {})
    for one in done.outcomes:
        yield f"{said[one.state]}: {_log(one)}"
    for missing in done.unwritten:
        kind = f"{missing.benchmark} · {missing.protocol}"
        yield f"no log: {missing.model} ({kind}): no Inspect log of it belongs to the ranking"
    for note in done.notes:
        yield f"Note: {note}"
    states = Counter(one.state for one in done.outcomes)
    if not states["written"]:
        yield "Nothing changed: these ranks are in the logs already"
    elif done.dry_run:
        yield f"Dry run: {count(states['written'], 'score')} to write, nothing was written"


def as_dict(done: WriteBack) -> dict[str, Any]:
    """All of it as JSON-ready data."""
    return {
        "dry_run": done.dry_run,
        "rankings": [_ranking(one) for one in done.rankings],
        "logs": [asdict(one) for one in done.outcomes],
        "models_without_log": [asdict(one) for one in done.unwritten],
        "notes": list(done.notes),
    }


def _log(one: Outcome) -> str:
    named = " · ".join(part for part in (one.model, one.score) if part)
    where = f"{one.path} ({named})" if named else one.path
    if one.why:
        return f"{where}: {one.why}"
    place = "no place" if one.place is None else f"place {one.place} of {one.of}"
    return f"{where}: {place}, {one.n_scored:,} of {count(one.n_items, 'item')} ranked"


def _ranking(one: Ranking) -> dict[str, Any]:
    return {
        "benchmark": one.benchmark,
        "protocol": one.protocol,
        "score": one.score,
        "log": one.log,
        "eval_id": one.eval_id,
        "run": one.run,
        "judges": list(one.judges),
        "models": len(one.places),
    }
