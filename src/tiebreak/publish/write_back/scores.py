"""Ranks as scores in a model's own log, written as `inspect score --action append` would.

Inspect describes the scorers and computes the metrics, so that `recompute_metrics` works later. A
model's answers, its transcript and its own scores are left unchanged. Afterwards `inspect score
LOG` needs `--scorer NAME`, since ranks cannot be computed from one log.
"""

import os
import shutil
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
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
from pydantic_core import from_json, to_json

from tiebreak.candidates.inspect_files import is_zip
from tiebreak.paths import whole_file
from tiebreak.publish.write_back.rankings import Ranking, SampleStandings, WriteBackError
from tiebreak.scorers.ranking import board_place, borda, borda_stderr, rounded_score

_S = TypeVar("_S")


class Ranks(NamedTuple):
    """Ranks of some rankings for a model's log.

    `log` has the scorers, whose `names` are those of the scores, and their results; `scores` are by
    sample id and epoch.
    """

    names: frozenset[str]
    log: EvalLog
    scores: Mapping[tuple[str, int], Mapping[str, Score]]


def put_ranks(path: Path, ranks: Ranks, before: os.stat_result, *, dry_run: bool = False) -> None:
    """Write ranks into a model's log.

    A score of an earlier ranking by the same protocol is replaced, also at samples without a rank
    now; all other scores stay. A sample that was not ranked has no score. `before` is the state of
    the file when it was read.

    Raises:
        WriteBackError: another program changed the file in between.
        OSError: the file cannot be written.
        Exception: any error of Inspect's for damaged bytes.
    """
    if is_zip(path.as_posix()):
        try:
            header = read_eval_log(path, header_only=True)
            if dry_run:
                _copy(path, None, ranks)
            else:
                replace_file(path, lambda draft: _rewrite(path, draft, header, ranks), before)
            return
        except WriteBackError:
            raise
        except (TypeError, ValueError):
            pass  # an older form, which Inspect's reader converts or rejects
    log = read_eval_log(path)
    if not dry_run:
        replace_file(path, lambda draft: _write(path, draft, log, ranks), before)


def ranks_of(model: str, rankings: Sequence[tuple[Ranking, SampleStandings]]) -> Ranks:
    """The ranks for a model's log; there is at most one ranking for each score."""
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
    """Replace a file with the draft that `write` makes, completely or not at all.

    A link is followed. `before` is the file's state when it was read.

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
    """A log with only these ranks: no texts, no models, no other scores."""
    about = ranking.about
    at = board_place(ranking.places[model], len(ranking.places))

    @scorer(metrics=[borda(), borda_stderr(), at], name=ranking.score, **about)
    def recorded() -> Scorer:
        async def nothing(state: TaskState, target: Target) -> Score | None:
            return None

        return nothing

    # Required fields only: nothing but scorers and results of this log is used.
    spec = EvalSpec(
        created="1970-01-01T00:00:00+00:00",
        task="",
        dataset=EvalDataset(),
        model="none/none",
        config=EvalConfig(),
    )
    log = EvalLog(eval=spec, samples=[])
    # For a log without samples Inspect only describes the scorer; scoring a sample takes it 3 ms.
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


def _with_ranks(log: EvalLog, ranks: Ranks, errors: Sequence[bool]) -> EvalLog:
    """A log with the ranks in its header; `errors` tells which samples have an error."""
    assert ranks.log.results is not None
    # A log without results gets those of the ranks, with its own counts of samples.
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
    """A sample's scores, in which `ours` replace all scores with the given names."""
    if held is None and not ours:
        return None
    return {**{name: score for name, score in (held or {}).items() if name not in names}, **ours}


def _write(path: Path, draft: Path, log: EvalLog, ranks: Ranks) -> None:
    """Write a log with the ranks in the way Inspect does."""
    samples = log.samples or []
    written = _with_ranks(log, ranks, [sample.error is not None for sample in samples])
    written.samples = [
        sample.model_copy(update={"scores": _with_scores(sample.scores, ranks.names, ours)})
        for sample in samples
        for ours in [ranks.scores.get((str(sample.id), sample.epoch), {})]
    ]
    write_eval_log(written, draft, format="eval" if is_zip(path.as_posix()) else "json")


def _rewrite(path: Path, draft: Path, header: EvalLog, ranks: Ranks) -> None:
    """Write a zipped log with the ranks, in time not quadratic in the number of samples."""
    errors = _copy(path, draft, ranks)
    write_eval_log(_with_ranks(header, ranks, errors), draft, format="eval", header_only=True)


def _copy(path: Path, draft: Path | None, ranks: Ranks) -> list[bool]:
    """Copy a zipped log with the ranks, except its header; tell for each sample if it has an error.

    Everything but scores is copied unchanged; without a draft it is only validated.

    Raises:
        TypeError, ValueError: a sample does not have the form of today's Inspect.
    """
    errors: list[bool] = []
    # Inspect's own compression would start twelve threads for every sample.
    new = ZipFile(draft, "w", ZIP_DEFLATED) if draft else nullcontext()
    with ZipFile(path) as log, new as copy:
        # Of entries with the same name, the last one counts.
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
