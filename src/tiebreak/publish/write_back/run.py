"""`write_back_ranks`: find the log of every ranked model, and add its ranks, once.

A log belongs to a ranking if it has a ranked model, the same questions, and the answers that were
judged. It belongs as a whole or not at all, so the mean of the written scores is the leaderboard's.
Whether a log has the ranks already is checked while its answers are read; Inspect is loaded only if
a log must be written (`scores`).
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isclose, nan
from pathlib import Path
from statistics import fmean
from typing import Any, Literal

from tiebreak.candidates import same_answer
from tiebreak.candidates.discover import Discovery, discover
from tiebreak.candidates.inspect_files import unread
from tiebreak.candidates.inspect_logs import read_inspect_log
from tiebreak.candidates.records import LogRecord, ReadOptions, Recorded
from tiebreak.packed import unpacked_name
from tiebreak.paths import Paths, path_list
from tiebreak.progress import tracked
from tiebreak.publish.write_back.rankings import (
    Ranking,
    SampleStandings,
    WriteBackError,
    read_rankings,
)
from tiebreak.report.json import json_ready, only
from tiebreak.report.sheet import Section, Sheet
from tiebreak.scorers.digits import rounded
from tiebreak.text import count

# Number of logs that a message names; it counts the others.
LISTED = 20

_KINDS = {"lm-eval": "lm-eval file", "pool": "pool"}

State = Literal["written", "unchanged", "left_alone"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result for one log and one ranking.

    `state` is `written` (in a dry run: would be), `unchanged` if the log has these ranks already,
    or `left_alone` for the reason in `why`. `place` is the model's place among `of` models, None if
    undefined; `n_scored` of the log's `n_items` items have a rank. A log that is left alone before
    it is compared with a ranking has no `score`.
    """

    path: str
    state: State
    model: str = ""
    benchmark: str = ""
    score: str = ""
    place: int | None = None
    of: int = 0
    n_scored: int = 0
    n_items: int = 0
    why: str = ""


@dataclass(frozen=True, slots=True)
class ModelWithoutLog:
    """A ranked model without a log to write its ranks into."""

    model: str
    benchmark: str
    protocol: str


@dataclass(frozen=True, slots=True)
class WriteBack:
    """Everything that `write_back_ranks` did, or in a dry run would do."""

    dry_run: bool
    rankings: tuple[Ranking, ...]
    outcomes: tuple[Outcome, ...]
    unwritten: tuple[ModelWithoutLog, ...]
    notes: tuple[str, ...]


def write_back_ranks(
    ranking_logs: Paths,
    into: Paths,
    *,
    rename: Mapping[str, str] | None = None,
    dry_run: bool = False,
) -> WriteBack:
    """Add each model's ranks to its own Inspect log, as one score for every protocol.

    The score is named after the protocol (`tiebreak_seal`). It replaces the score of an earlier
    ranking by the same protocol; all others are kept, and a log that has it already is not touched.
    A log belongs to a ranking if that ranked its model, questions and answers; every other log is
    left alone, and so are ranking logs. Files change completely or not at all.

    Args:
        ranking_logs: ranking logs, and folders that contain some.
        into: the models' Inspect logs, and folders that contain some.
        rename: benchmark names to replace, as when the candidates were loaded.
        dry_run: only report what would be written.

    Raises:
        RankingLogError: a path contains no ranking log.
        CandidateError: a path in `into` does not exist.
        WriteBackError: two rankings of a benchmark use the same protocol, no log belongs to any
            ranking, or a log was changed by another program or cannot be written. Logs before that
            one are complete; the same command continues with the others.
    """
    rankings, notes = read_rankings(ranking_logs)
    discovery = discover(Path(path) for path in path_list(into))
    options = ReadOptions(rename=dict(rename or {}), recorded=True)
    logs = [file.path for file in discovery.files if file.kind == "inspect"]
    outcomes = [
        outcome
        for path in tracked(logs, "comparing logs" if dry_run else "writing ranks into logs")
        for outcome in _write_into_log(path, rankings, options, dry_run=dry_run)
    ]
    if all(outcome.state == "left_alone" for outcome in outcomes):
        raise WriteBackError(_nothing_to_write(rankings, outcomes, discovery))
    return WriteBack(
        dry_run=dry_run,
        rankings=tuple(rankings),
        outcomes=tuple(outcomes),
        unwritten=tuple(_unwritten(rankings, outcomes)),
        notes=(*notes, *_other_files(discovery)),
    )


def _write_into_log(
    path: Path, rankings: Sequence[Ranking], options: ReadOptions, *, dry_run: bool
) -> list[Outcome]:
    """Write all rankings that belong to a log into it; ranking logs are skipped silently."""
    if unpacked_name(path.name) != path.name:
        return [Outcome(path.as_posix(), "left_alone", why="is packed: unpack it first")]
    before = path.stat()
    reading = read_inspect_log(path, options)
    if not reading.records:
        first = reading.problems[:1]
        return [Outcome(path.as_posix(), "left_alone", why=problem.what) for problem in first]
    log = reading.records[0]
    if log.judged_there:
        return []
    same = [ranking for ranking in rankings if ranking.benchmark == log.benchmark]
    if not same:
        ranked = ", ".join(sorted({ranking.benchmark for ranking in rankings})) or "none"
        why = f"{log.benchmark} was not ranked (there are: {ranked})"
        return [Outcome(log.source, "left_alone", log.model, log.benchmark, why=why)]
    faults = {ranking.score: mismatch_reason(log, ranking) for ranking in same}
    fitting = [ranking for ranking in same if faults[ranking.score] is None]
    standings = [(ranking, standings_by_sample(log, ranking)) for ranking in fitting]
    changed = {
        ranking.score
        for ranking, ranks in standings
        if not holds(log.recorded, ranking, log.model, ranks)
    }
    if changed:
        from tiebreak.publish.write_back.scores import put_ranks, ranks_of

        try:
            put_ranks(path, ranks_of(log.model, standings), before, dry_run=dry_run)
        except WriteBackError:
            raise
        except OSError as error:
            raise WriteBackError(
                f"{path} cannot be written ({error.strerror or error}). The logs before it "
                "are; the same command goes on from here"
            ) from error
        except Exception as error:  # damage in a part that only rewriting reads
            return [Outcome(log.source, "left_alone", log.model, log.benchmark, why=unread(error))]
    return [
        _outcome(log, ranking, faults[ranking.score], changed=ranking.score in changed)
        for ranking in same
    ]


def _outcome(log: LogRecord, ranking: Ranking, fault: str | None, *, changed: bool) -> Outcome:
    named = (log.model, log.benchmark, ranking.score)
    if fault is not None:
        return Outcome(log.source, "left_alone", *named, why=fault)
    return Outcome(
        log.source,
        "written" if changed else "unchanged",
        *named,
        place=ranking.places[log.model],
        of=len(ranking.places),
        n_scored=len(ranking.standings[log.model]),
        n_items=len(log.rows),
    )


def _unwritten(rankings: Sequence[Ranking], outcomes: Sequence[Outcome]) -> list[ModelWithoutLog]:
    done = {
        (outcome.benchmark, outcome.score, outcome.model)
        for outcome in outcomes
        if outcome.state != "left_alone"
    }
    return [
        ModelWithoutLog(model, ranking.benchmark, ranking.protocol)
        for ranking in rankings
        for model in ranking.places
        if (ranking.benchmark, ranking.score, model) not in done
    ]


def _nothing_to_write(
    rankings: Sequence[Ranking], outcomes: Sequence[Outcome], discovery: Discovery
) -> str:
    names = ", ".join(ranking.name for ranking in rankings) or "no item at all"
    lines = [*(f"{outcome.path}: {outcome.why}" for outcome in outcomes), *_other_files(discovery)]
    more = [f"and {len(lines) - LISTED:,} more"] if len(lines) > LISTED else []
    listed = "".join(f"\n  {line}" for line in (*lines[:LISTED], *more))
    return (
        f"No log to write to (ranked: {names}).{listed}\n"
        "Give with --into the Inspect logs that were ranked: ranking logs name them in their "
        "metadata as candidate_sources"
    )


def _other_files(discovery: Discovery) -> list[str]:
    """Notes on files of other kinds, which may contain the answers of a model without a log."""
    kinds = Counter(_KINDS[file.kind] for file in discovery.files if file.kind in _KINDS)
    return [*map(str, discovery.problems)] + [
        f"{count(number, kind)} passed over: ranks can be put into Inspect logs only"
        for kind, number in kinds.items()
    ]


def mismatch_reason(record: LogRecord, ranking: Ranking) -> str | None:
    """Why the log of a model is not the one that was ranked; None if it is."""
    if record.model not in ranking.standings:
        return f"{record.model} is not among the models of {ranking.log}"
    standings = ranking.standings[record.model]
    if not standings:
        return f"{ranking.log} has no rank for {record.model} in any item"
    answers = {(row.item.item_id, row.item.input_hash): row.candidate for row in record.rows}
    ids = {item_id for item_id, _ in answers}
    of = f"of {count(len(standings), 'ranked item')}"
    if other := [key for key in standings if key not in answers and key[0] in ids]:
        return f"{len(other):,} {of} ask another question here, {_such_as(other)}"
    if absent := [key for key in standings if answers.get(key) is None]:
        return f"{len(absent):,} {of} have no answer here, {_such_as(absent)}"
    if unknown := [key for key, standing in standings.items() if standing.answer is None]:
        return f"{ranking.log} does not say what was judged in {len(unknown):,} {of}"
    judged = {key: standing.answer or "" for key, standing in standings.items()}
    given = {key: candidate.answer for key, candidate in answers.items() if candidate}
    if unlike := [
        key
        for key in standings
        if given[key] != judged[key] and not same_answer(given[key], judged[key])
    ]:
        return (
            f"{len(unlike):,} {of} have another answer here than was judged, {_such_as(unlike)}: "
            "another run of this model"
        )
    return None


def standings_by_sample(record: LogRecord, ranking: Ranking) -> SampleStandings:
    """The standings of a log's model in a ranking that it belongs to, by sample id and epoch."""
    standings = ranking.standings[record.model]
    return {
        (row.item.item_id, row.item.key.epoch): standings[key]
        for row in record.rows
        if (key := (row.item.item_id, row.item.input_hash)) in standings
    }


def holds(
    recorded: Recorded | None, ranking: Ranking, model: str, standings: SampleStandings
) -> bool:
    """Whether a log has exactly these ranks of a model already, under their score's name.

    An equal mean stands for all of Inspect's metrics, which follow from the samples' scores.
    """
    if recorded is None:
        return False
    name, about = ranking.score, ranking.about
    scorers = [spec for spec in recorded.scorers if spec.get("name") == name]
    results = [result for result in recorded.results if result.get("scorer") == name]
    if [spec.get("metadata") for spec in scorers] != [about] or len(results) != 1:
        return False
    metrics = results[0].get("metrics") or {}
    mean = fmean(standing.borda for standing in standings.values())
    place = {"value": ranking.places[model], "of": len(ranking.places)}
    if metrics.get("place", {}).get("params") != place:
        return False
    if not isclose(metrics.get("borda", {}).get("value", nan), mean):
        return False
    scores = {sample: held[name] for sample, held in recorded.scores.items() if name in held}
    return scores.keys() == standings.keys() and all(
        scores[sample] == {"value": value, "explanation": standing.words, "metadata": metadata}
        for sample, standing in standings.items()
        for exact in [{"rank": standing.rank, "borda": standing.borda}]
        for value, metadata in [rounded(exact, about)]
    )


def _such_as(keys: Iterable[tuple[str, str]]) -> str:
    return f"such as {min(keys)[0]!r}"


def sheets_of(done: WriteBack) -> list[Sheet]:
    """A line for every log and ranking, then the models without a log, then a summary."""
    return [Sheet(sections=(Section.of(lines=_lines(done)),), notes=done.notes)]


def data_of(done: WriteBack) -> dict[str, Any]:
    """The fields of `WriteBack`, `Ranking`, `Outcome` and `ModelWithoutLog`."""
    fields = ("benchmark", "protocol", "score", "log", "eval_id", "run", "judges")
    data: dict[str, Any] = json_ready(
        {
            "dry_run": done.dry_run,
            "rankings": [
                {**only(ranking, *fields), "models": len(ranking.places)}
                for ranking in done.rankings
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


def _log(outcome: Outcome) -> str:
    named = " · ".join(part for part in (outcome.model, outcome.score) if part)
    where = f"{outcome.path} ({named})" if named else outcome.path
    if outcome.why:
        return f"{where}: {outcome.why}"
    place = "no place" if outcome.place is None else f"place {outcome.place} of {outcome.of}"
    return f"{where}: {place}, {outcome.n_scored:,} of {count(outcome.n_items, 'item')} ranked"
