"""Ranks as scores of an Inspect log, put there as `inspect score --action append` would.

Inspect computes the metrics, so that `recompute_metrics` finds what it needs later on. It is given
the bare samples only: a model's answers, its transcript and its own scores stay as they are.
Afterwards `inspect score LOG` wants `--scorer NAME`, since ranks cannot be computed from one log.
"""

import os
import shutil
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from inspect_ai import score
from inspect_ai.log import EvalLog, EvalSample, write_eval_log
from inspect_ai.scorer import Score, Scorer, Target, scorer
from inspect_ai.solver import TaskState
from pydantic import BaseModel

from tiebreak.paths import whole_file
from tiebreak.scorers.standing import borda, borda_stderr, place
from tiebreak.write_back.rankings import ItemStanding, Ranking, WriteBackError


@dataclass(frozen=True, slots=True, eq=False)
class Recording:
    """What one ranking says about the samples of one model's log, by sample id and epoch."""

    ranking: Ranking
    model: str
    standings: Mapping[tuple[str, int], ItemStanding]

    @property
    def name(self) -> str:
        """Name of the score."""
        return self.ranking.score


def record(log: EvalLog, recordings: Sequence[Recording]) -> tuple[EvalLog, frozenset[str]]:
    """A log with ranks as scores, and the names of those scores that are new or changed.

    A score of an earlier ranking by the same protocol is replaced, also at samples that have no
    rank now; all other scores stay. A sample that was not ranked has no score.

    The log is left as it is. There is at most one recording for each score.
    """
    names = {one.name for one in recordings}
    scorers = [_scorer(one) for one in recordings]
    bare = score(_bare(log), scorers, model="none/none", display="none", copy=False)
    assert bare.results is not None
    # A log without results takes those of the bare samples, with Inspect's count of them.
    results = log.results or bare.results
    scores = [one for one in results.scores if one.scorer not in names]
    specs = [one for one in log.eval.scorers or [] if one.name not in names]
    samples = [
        _with_scores(old, names, new.scores or {})
        for old, new in zip(log.samples or [], bare.samples or [], strict=True)
    ]
    written = log.model_copy(
        update={
            "samples": samples,
            "results": results.model_copy(update={"scores": scores + bare.results.scores}),
            "eval": log.eval.model_copy(update={"scorers": specs + (bare.eval.scorers or [])}),
        }
    )
    return written, frozenset(name for name in names if _held(log, name) != _held(written, name))


def replace_file(path: Path, log: EvalLog, before: os.stat_result) -> None:
    """Put a log in the place of its file, whole or not at all.

    Through a link it is what that points to. `before` is the file's state when the log was read.

    Raises:
        WriteBackError: another program changed the file in between.
        OSError: the folder cannot be written to.
    """
    with whole_file(path) as draft:
        target = path.resolve()
        write_eval_log(log, draft, format="json" if target.suffix == ".json" else "eval")
        shutil.copymode(target, draft)
        now = target.stat()
        if (now.st_mtime_ns, now.st_size) != (before.st_mtime_ns, before.st_size):
            raise WriteBackError(
                f"{path} was changed by another program meanwhile, and is left as it is now: "
                "run the command again"
            )


def _bare(log: EvalLog) -> EvalLog:
    """What Inspect needs to know for metrics: no texts, no models, no earlier scores."""
    samples = [
        EvalSample(id=one.id, epoch=one.epoch, input="", target="", error=one.error)
        for one in log.samples or []
    ]
    spec = log.eval.model_copy(
        update={
            "config": log.eval.config.model_copy(update={"epochs_reducer": None}),
            "headline_metric": None,
            "model": "none/none",
            "model_roles": None,
            "scorers": None,
        }
    )
    return log.model_copy(update={"samples": samples, "results": None, "eval": spec})


def _scorer(recording: Recording) -> Scorer:
    ranking = recording.ranking
    about = {"ranking_log": ranking.eval_id, "protocol": ranking.protocol}
    about |= {"run": ranking.run} if ranking.run else {}
    about |= {"judge": ", ".join(ranking.judges)} if ranking.judges else {}
    at = place(ranking.places[recording.model], len(ranking.places))

    @scorer(metrics=[borda(), borda_stderr(), at], name=recording.name, **about)
    def recorded() -> Scorer:
        async def look_up(state: TaskState, target: Target) -> Score | None:
            standing = recording.standings.get((str(state.sample_id), state.epoch))
            if standing is None:
                return None
            value = {"rank": standing.rank, "borda": standing.borda}
            return Score(value=value, explanation=standing.words, metadata=dict(about))

        return look_up

    return recorded()


def _with_scores(
    sample: EvalSample, names: Collection[str], scores: Mapping[str, Score]
) -> EvalSample:
    """The sample with these scores in the place of all that have one of the names."""
    if sample.scores is None and not scores:
        return sample
    others = {name: one for name, one in (sample.scores or {}).items() if name not in names}
    return sample.model_copy(update={"scores": {**others, **scores}})


def _held(log: EvalLog, name: str) -> list[str | None]:
    """All that a log holds under the name of a score, as JSON, in which NaN equals NaN."""
    entries: list[BaseModel | None] = [(one.scores or {}).get(name) for one in log.samples or []]
    entries += [one for one in (log.results.scores if log.results else []) if one.scorer == name]
    entries += [one for one in log.eval.scorers or [] if one.name == name]
    return [None if one is None else one.model_dump_json() for one in entries]
