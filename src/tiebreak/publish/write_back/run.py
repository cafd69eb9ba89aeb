"""`write_back_ranks`: find the log of every ranked model, and put its ranks into it, once.

The log of a ranking has the same model, the same questions, and the answers that were judged. A log
belongs as a whole or not at all, so the mean of what is written into it is the leaderboard's.

Ranks are put there as `inspect score --action append` would: Inspect describes the scorers and
computes the metrics, so that `recompute_metrics` finds what it needs later on. A model's answers,
its transcript and its own scores stay as they are. Afterwards `inspect score LOG` wants
`--scorer NAME`, since ranks cannot be computed from one log.
"""

import os
import shutil
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar
from zipfile import ZIP_DEFLATED, ZipFile

from inspect_ai import score
from inspect_ai.log import (
    EvalConfig,
    EvalDataset,
    EvalLog,
    EvalSample,
    EvalSampleSummary,
    EvalSpec,
    read_eval_log,
    recompute_metrics,
    write_eval_log,
)
from inspect_ai.scorer import Score, Scorer, Target, scorer
from inspect_ai.solver import TaskState
from pydantic import BaseModel
from pydantic_core import from_json, to_json

from tiebreak.candidates import same_answer
from tiebreak.candidates.discover import Discovery, discover
from tiebreak.candidates.inspect_files import is_zip, reason, sample_texts
from tiebreak.candidates.inspect_logs import read_inspect_log
from tiebreak.candidates.packed import unpacked_name
from tiebreak.candidates.records import LogRecord, ReadOptions
from tiebreak.paths import Paths, path_list, whole_file
from tiebreak.progress import tracked
from tiebreak.publish.write_back.rankings import (
    ItemStanding,
    Ranking,
    WriteBackError,
    read_rankings,
)
from tiebreak.report.json import json_ready, only
from tiebreak.report.sheet import Section, Sheet
from tiebreak.scorers.ranking import board_place, borda, borda_stderr, rounded_score
from tiebreak.text import count

SampleStandings = Mapping[tuple[str, int], ItemStanding]
"""What a ranking says about the samples of one model's log, by sample id and epoch.

They are in the order of the log: in another order a mean may have another last digit.
"""

_S = TypeVar("_S")


class Ranks(NamedTuple):
    """What a model's log is to hold of some rankings.

    `log` has the scorers, whose `names` are those of the scores, and their results; `scores` go by
    sample id and epoch.
    """

    names: frozenset[str]
    log: EvalLog
    scores: Mapping[tuple[str, int], Mapping[str, Score]]


class _Scored(BaseModel):
    """What is read of a sample to see whether it changes."""

    id: int | str
    epoch: int
    scores: dict[str, Score] | None = None


def put_ranks(
    path: Path, ranks: Ranks, before: os.stat_result, *, dry_run: bool = False
) -> frozenset[str]:
    """Put ranks into a model's log, and return the names of those scores that are new or changed.

    A score of an earlier ranking by the same protocol is replaced, also at samples that have no
    rank now; all other scores stay. A sample that was not ranked has no score. Where nothing
    changes the file stays as it is. `before` is its state when the log was read.

    Raises:
        WriteBackError: another program changed the file in between.
        OSError: the file cannot be written.
        Exception: whatever damaged bytes make Inspect raise.
    """
    if is_zip(path.as_posix()):
        try:
            header = read_eval_log(path, header_only=True)
            scored = map(_Scored.model_validate_json, sample_texts(path.as_posix()))
            changed = _changed(header, scored, ranks)
            if changed and dry_run:
                _copy(path, None, ranks)
            elif changed:
                replace_file(path, lambda draft: _rewrite(path, draft, header, ranks), before)
            return changed
        except WriteBackError:
            raise
        except (TypeError, ValueError):
            pass  # in a form that Inspect's own reader brings up to date, or explains
    log = read_eval_log(path)
    changed = _changed(log, log.samples or (), ranks)
    if changed and not dry_run:
        replace_file(path, lambda draft: _write(path, draft, log, ranks), before)
    return changed


def ranks_of(model: str, rankings: Sequence[tuple[Ranking, SampleStandings]]) -> Ranks:
    """What a model's log is to hold; there is at most one ranking for each score."""
    logs = [_of_ranking(model, *ranking) for ranking in rankings]
    scores: dict[tuple[str, int], dict[str, Score]] = {}
    for sample in (sample for log in logs for sample in log.samples or ()):
        scores.setdefault((str(sample.id), sample.epoch), {}).update(sample.scores or {})
    log = logs[0]
    assert log.results is not None
    log.results.scores = [score for log in logs if log.results for score in log.results.scores]
    log.eval.scorers = [spec for log in logs for spec in log.eval.scorers or ()]
    return Ranks(frozenset(ranking.score for ranking, _ in rankings), log, scores)


def replace_file(path: Path, write: Callable[[Path], object], before: os.stat_result) -> None:
    """Put what `write` writes into a draft in the place of a file, whole or not at all.

    Through a link it is what that points to. `before` is the file's state when it was read.

    Raises:
        WriteBackError: another program changed the file in between.
        OSError: the folder cannot be written to.
    """
    with whole_file(path) as draft:
        target = path.resolve()
        write(draft)
        shutil.copymode(target, draft)
        now = target.stat()
        if (now.st_mtime_ns, now.st_size) != (before.st_mtime_ns, before.st_size):
            raise WriteBackError(
                f"{path} was changed by another program meanwhile, and is left as it is now: "
                "run the command again"
            )


def _of_ranking(model: str, ranking: Ranking, standings: SampleStandings) -> EvalLog:
    """A log of these ranks alone: no texts, no models, no other scores."""
    about = {"ranking_log": ranking.eval_id, "protocol": ranking.protocol}
    about |= {"run": ranking.run} if ranking.run else {}
    about |= {"judge": ", ".join(ranking.judges)} if ranking.judges else {}
    at = board_place(ranking.places[model], len(ranking.places))

    @scorer(metrics=[borda(), borda_stderr(), at], name=ranking.score, **about)
    def recorded() -> Scorer:
        async def nothing(state: TaskState, target: Target) -> Score | None:
            return None

        return nothing

    spec = EvalSpec(
        created="1970-01-01T00:00:00+00:00",
        task="",
        dataset=EvalDataset(),
        model="none/none",
        config=EvalConfig(),
    )
    log = EvalLog(eval=spec, samples=[])
    # Of a log without samples Inspect describes the scorer only: to score one takes it 3 ms.
    log = score(log, recorded(), model="none/none", display="none", copy=False)
    bare = EvalSample(id="", epoch=1, input="", target="")
    log.samples = [
        bare.model_copy(update={"id": id, "epoch": epoch, "scores": {ranking.score: given}})
        for (id, epoch), standing in standings.items()
        for value in [{"rank": standing.rank, "borda": standing.borda}]
        for given in [rounded_score(value, about, explanation=standing.words)]
    ]
    recompute_metrics(log)
    return log


def _changed(log: EvalLog, samples: Iterable[_Scored | EvalSample], ranks: Ranks) -> frozenset[str]:
    """The names of scores under which a log does not hold what it is to."""
    changed = {name for name in ranks.names if _header(log, name) != _header(ranks.log, name)}
    for sample in samples:
        if changed == ranks.names:
            break
        held, ours = sample.scores or {}, ranks.scores.get((str(sample.id), sample.epoch), {})
        changed |= {name for name in ranks.names if held.get(name) != ours.get(name)}
    return frozenset(changed)


def _header(log: EvalLog, name: str) -> list[str]:
    """What a header holds under the name of a score, as JSON, in which NaN equals NaN."""
    results = log.results.scores if log.results else []
    entries: list[BaseModel] = [
        *(result for result in results if result.scorer == name),
        *(spec for spec in log.eval.scorers or [] if spec.name == name),
    ]
    return [entry.model_dump_json() for entry in entries]


def _with_ranks(log: EvalLog, ranks: Ranks, errors: Sequence[bool]) -> EvalLog:
    """A log with the ranks in its header; `errors` says of each sample whether it has one."""
    assert ranks.log.results is not None
    # A log without results takes those of the ranks, with Inspect's count of its samples.
    counts = {"total_samples": len(errors), "completed_samples": errors.count(False)}
    results = log.results or ranks.log.results.model_copy(update={**counts, "scores": []})
    scores = [kept for kept in results.scores if kept.scorer not in ranks.names]
    specs = [spec for spec in log.eval.scorers or [] if spec.name not in ranks.names]
    scores, specs = scores + ranks.log.results.scores, specs + (ranks.log.eval.scorers or [])
    return log.model_copy(
        update={
            "results": results.model_copy(update={"scores": scores}),
            "eval": log.eval.model_copy(update={"scorers": specs}),
        }
    )


def _with_scores(
    held: Mapping[str, _S] | None, names: Collection[str], ours: Mapping[str, _S]
) -> dict[str, _S] | None:
    """The scores of a sample with ours in the place of those under their names."""
    if held is None and not ours:
        return None
    return {**{name: score for name, score in (held or {}).items() if name not in names}, **ours}


def _write(path: Path, draft: Path, log: EvalLog, ranks: Ranks) -> None:
    """Write a log with the ranks as Inspect does."""
    samples = log.samples or []
    written = _with_ranks(log, ranks, [sample.error is not None for sample in samples])
    written.samples = [
        sample.model_copy(update={"scores": _with_scores(sample.scores, ranks.names, ours)})
        for sample in samples
        for ours in [ranks.scores.get((str(sample.id), sample.epoch), {})]
    ]
    write_eval_log(written, draft, format="eval" if is_zip(path.as_posix()) else "json")


def _rewrite(path: Path, draft: Path, header: EvalLog, ranks: Ranks) -> None:
    """The same for a zip, in a time that does not grow with the square of its samples."""
    errors = _copy(path, draft, ranks)
    write_eval_log(_with_ranks(header, ranks, errors), draft, format="eval", header_only=True)


def _copy(path: Path, draft: Path | None, ranks: Ranks) -> list[bool]:
    """Copy a zip with the ranks, but for its header; returns whether each sample has an error.

    All but scores is copied as it is; without a draft it is only validated.

    Raises:
        TypeError, ValueError: a sample has another form than Inspect's today.
    """
    errors: list[bool] = []
    # Not compressed as Inspect does, which starts twelve threads for every sample.
    new = ZipFile(draft, "w", ZIP_DEFLATED) if draft else nullcontext()
    with ZipFile(path) as log, new as copy:
        # Of two under one name the later one counts.
        for name in dict.fromkeys(log.namelist()):
            text = log.read(name)
            if name.startswith("samples/"):
                text = to_json(_rescored(from_json(text), ranks), inf_nan_mode="constants")
                errors.append(EvalSample.model_validate_json(text).error is not None)
            elif name == "summaries.json" or name.startswith("_journal/summaries/"):
                summaries = [_rescored(fields, ranks, short=True) for fields in from_json(text)]
                text = to_json(summaries, inf_nan_mode="constants")
            if copy is not None and name != "header.json":
                copy.writestr(name, text)
    return errors


def _rescored(fields: dict[str, Any], ranks: Ranks, *, short: bool = False) -> dict[str, Any]:
    """A sample as JSON with its ranks, or its summary, in which Inspect shortens long texts."""
    key = {"id": fields["id"], "epoch": fields["epoch"]}
    ours = ranks.scores.get((str(key["id"]), key["epoch"]), {})
    if short:
        ours = EvalSampleSummary(**key, input="", target="", scores=dict(ours)).scores or {}
    given = {name: score.model_dump(exclude_none=True) for name, score in ours.items()}
    scores = _with_scores(fields.get("scores"), ranks.names, given)
    return fields if scores is None else {**fields, "scores": scores}


# A message names so many logs; the count says how many more there are.
LISTED = 20

_KINDS = {"lm-eval": "lm-eval file", "pool": "pool"}

State = Literal["written", "unchanged", "left_alone"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one log under one ranking.

    `written` (in a dry run: would be), `unchanged` where it holds these ranks already, or
    `left_alone` for the reason in `why`. `place` is the model's place among `of` models, None where
    it is undefined; `n_scored` of the log's `n_items` items have a rank. A log that is left alone
    before it is compared with a ranking has no `score`.
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
class Unwritten:
    """A ranked model that has no log into which its ranks could be put."""

    model: str
    benchmark: str
    protocol: str


@dataclass(frozen=True, slots=True)
class WriteBack:
    """All that `write_back_ranks` did, or in a dry run would do."""

    dry_run: bool
    rankings: tuple[Ranking, ...]
    outcomes: tuple[Outcome, ...]
    unwritten: tuple[Unwritten, ...]
    notes: tuple[str, ...]


def write_back_ranks(
    ranking_logs: Paths,
    into: Paths,
    *,
    rename: Mapping[str, str] | None = None,
    dry_run: bool = False,
) -> WriteBack:
    """Put each model's ranks into its own Inspect log, as one score for every protocol.

    The score is called after the protocol (`tiebreak_seal`). It replaces one of an earlier ranking
    by this protocol, and stands beside all others; a log that holds it already is not touched. A
    log belongs to a ranking that ranked this model, these questions and these answers; every other
    log is left alone, and so are ranking logs. Files change whole or not at all.

    Args:
        ranking_logs: Ranking logs, and folders that hold some.
        into: The models' Inspect logs, and folders that hold some.
        rename: Benchmark names to replace, as they were when the candidates were loaded.
        dry_run: Only tell what would be written.

    Raises:
        RankingLogError: A path holds no ranking log.
        CandidateError: A path in `into` does not exist.
        WriteBackError: Two rankings of a benchmark use the same protocol, no log belongs to any
            ranking, or a log was changed by another program or cannot be written. Logs before
            that one are written whole; the same command goes on with the others.
    """
    rankings, notes = read_rankings(ranking_logs)
    discovery = discover(Path(path) for path in path_list(into))
    options = ReadOptions(rename=dict(rename or {}))
    logs = [file.path for file in discovery.files if file.kind == "inspect"]
    outcomes = [
        outcome
        for path in tracked(logs, "comparing logs" if dry_run else "writing ranks into logs")
        for outcome in _into_log(path, rankings, options, dry_run=dry_run)
    ]
    if all(outcome.state == "left_alone" for outcome in outcomes):
        raise WriteBackError(_nothing(rankings, outcomes, discovery))
    return WriteBack(
        dry_run=dry_run,
        rankings=tuple(rankings),
        outcomes=tuple(outcomes),
        unwritten=tuple(_unwritten(rankings, outcomes)),
        notes=(*notes, *_passed_over(discovery)),
    )


def _into_log(
    path: Path, rankings: Sequence[Ranking], options: ReadOptions, *, dry_run: bool
) -> list[Outcome]:
    """Put all rankings into the log that they belong to; a ranking log is not worth a word."""
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
    faults = {ranking.score: misfit(log, ranking) for ranking in same}
    fitting = [ranking for ranking in same if faults[ranking.score] is None]
    changed: frozenset[str] = frozenset()
    if fitting:
        standings = [(ranking, standings_by_sample(log, ranking)) for ranking in fitting]
        try:
            changed = put_ranks(path, ranks_of(log.model, standings), before, dry_run=dry_run)
        except WriteBackError:
            raise
        except OSError as error:
            raise WriteBackError(
                f"{path} cannot be written ({error.strerror or error}). The logs before it "
                "are; the same command goes on from here"
            ) from error
        except Exception as error:  # damaged where only who writes it again has to look
            why = f"cannot be read as an Inspect log ({reason(error)})"
            return [Outcome(log.source, "left_alone", log.model, log.benchmark, why=why)]
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


def _unwritten(rankings: Sequence[Ranking], outcomes: Sequence[Outcome]) -> list[Unwritten]:
    done = {
        (outcome.benchmark, outcome.score, outcome.model)
        for outcome in outcomes
        if outcome.state != "left_alone"
    }
    return [
        Unwritten(model, ranking.benchmark, ranking.protocol)
        for ranking in rankings
        for model in ranking.places
        if (ranking.benchmark, ranking.score, model) not in done
    ]


def _nothing(rankings: Sequence[Ranking], outcomes: Sequence[Outcome], discovery: Discovery) -> str:
    names = ", ".join(ranking.name for ranking in rankings) or "no item at all"
    lines = [*(f"{outcome.path}: {outcome.why}" for outcome in outcomes), *_passed_over(discovery)]
    more = [f"and {len(lines) - LISTED:,} more"] if len(lines) > LISTED else []
    listed = "".join(f"\n  {line}" for line in (*lines[:LISTED], *more))
    return (
        f"No log to write to (ranked: {names}).{listed}\n"
        "Give with --into the Inspect logs that were ranked: ranking logs name them in their "
        "metadata as candidate_sources"
    )


def _passed_over(discovery: Discovery) -> list[str]:
    """Files of other kinds, which may well hold the answers of a model that has no log."""
    kinds = Counter(_KINDS[file.kind] for file in discovery.files if file.kind in _KINDS)
    return [*map(str, discovery.problems)] + [
        f"{count(number, kind)} passed over: ranks can be put into Inspect logs only"
        for kind, number in kinds.items()
    ]


def misfit(record: LogRecord, ranking: Ranking) -> str | None:
    """Why the log of a model is not the one that was ranked; None when it is."""
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


def standings_by_sample(record: LogRecord, ranking: Ranking) -> dict[tuple[str, int], ItemStanding]:
    """What a ranking says about a log that belongs to it, by sample id and epoch."""
    standings = ranking.standings[record.model]
    return {
        (row.item.item_id, row.item.key.epoch): standings[key]
        for row in record.rows
        if (key := (row.item.item_id, row.item.input_hash)) in standings
    }


def _such_as(keys: Iterable[tuple[str, str]]) -> str:
    return f"such as {min(keys)[0]!r}"


def sheets_of(done: WriteBack) -> list[Sheet]:
    """One line for every log and ranking, then the models without a log, then what it comes to."""
    return [Sheet(sections=(Section.of(lines=_lines(done)),), notes=done.notes)]


def data_of(done: WriteBack) -> dict[str, Any]:
    """The fields of `WriteBack`, `Ranking`, `Outcome` and `Unwritten`."""
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
