"""Types that the readers of results return, and the reader of Inspect logs.

It reads only the header, so the size of a log does not matter. The reader of lm-eval's results is
in `results`, that of pools in `pool_scores`.
"""

import math
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tiebreak.candidates import PROTOCOL_KEY
from tiebreak.candidates.inspect_files import read_inspect_header, unread
from tiebreak.candidates.native import RECORDED, choose_metric
from tiebreak.candidates.records import ReadOptions
from tiebreak.tables.errors import UnreadableFileError

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog, EvalScore

# The suffix of a pool of candidates.
POOL = ".parquet"
NO_SCORE = (
    "its answers have no score; if they are programs, `tiebreak score-code OUT --out pool.parquet` "
    "runs their tests"
)
RANKING_LOG = "ranking log, not a result of a benchmark; left out"


class Result(NamedTuple):
    """A score of a model on a benchmark; higher is better.

    `task` is the benchmark's name in the file. `metric` was chosen out of `choices`. `when` is the
    start of the run in seconds since 1970, −inf if unknown. `n_items` is the number of items
    scored, None if unknown. `error` is the score's standard error over items, NaN if unknown;
    `paired` is true if it is for comparing models over the same items, as computed for a pool.
    """

    model: str
    task: str
    benchmark: str
    score: float
    metric: str
    choices: tuple[str, ...]
    when: float
    n_items: int | None
    source: str
    error: float = math.nan
    paired: bool = False


class Unscored(NamedTuple):
    """Answers of a model to a benchmark that have no score; `reason` says why, and what to do.

    `when` as in `Result`.
    """

    model: str
    task: str
    benchmark: str
    reason: str
    when: float = -math.inf


class Note(NamedTuple):
    """A text on a model or file (`about`, "" for none); notes with equal texts become one sentence.

    `public` notes name no file. If a task lacks the metric that was asked for, `lacking` lists the
    metrics that it has.
    """

    about: str
    text: str
    public: bool = False
    lacking: tuple[str, ...] = ()


Part = Result | Unscored | Note
"""Part of the content of a file: a score, a missing score with its reason, or a note."""


# Metric of a task without a headline metric: the first of these that its first score has, otherwise
# the first that does not measure the spread.
_USUAL = ("accuracy", "mean")
_ERRORS = ("stderr", "bootstrap_stderr")
_UNSCORED = "its log has no metric; `inspect score LOG` gives it one"
_SPREAD = frozenset({*_ERRORS, "std", "var"})


def read_inspect_result(path: Path, options: ReadOptions) -> Iterator[Part]:
    """Read the headline metric of one Inspect log, or the one that `options.native` names.

    The model is named like candidates: `metadata candidate=NAME`, otherwise the model's own name. A
    metric is named alone (`accuracy`: of the first score that has it), with its score
    (`match.accuracy`), or by its score alone (`match`). A ranking log or an unsuccessful run gives
    a note and no result.

    Raises:
        UnreadableFileError: the file is damaged or not an Inspect log.
    """
    source = path.as_posix()
    log = _header(source)
    part = _headline(log, source, options)
    yield part
    if isinstance(part, Result):
        yield from _notes(log, source)


def _headline(log: "EvalLog", source: str, options: ReadOptions) -> Part:
    if PROTOCOL_KEY in log.metadata:
        return Note(source, RANKING_LOG)
    if log.status != "success":
        problem = f"status is {log.status!r}; left out (finish: `inspect eval-retry`)"
        return Note(source, problem)
    model = str(log.metadata.get("candidate") or log.eval.model)
    benchmark = options.benchmark(log.eval.task)
    metrics = _metrics(log)
    choices = tuple(name for name in metrics if name.rpartition(".")[2] not in _SPREAD)
    when = datetime.fromisoformat(log.eval.created).timestamp()
    name = _choose(log, options)
    if name is None and not options.native:
        return Unscored(model, log.eval.task, benchmark, _UNSCORED, when)
    if name is None:
        wanted = " or ".join(map(repr, options.native))
        problem = f"has no {wanted}; left out (it has: {', '.join(choices) or 'none'})"
        return Note(source, problem, lacking=choices)
    if not math.isfinite(metrics[name]):
        return Note(source, f"{name} is {metrics[name]}; left out")
    return Result(
        model=model,
        task=log.eval.task,
        benchmark=benchmark,
        score=metrics[name],
        metric=name,
        choices=choices,
        when=when,
        n_items=log.results.completed_samples if log.results else None,
        source=source,
        error=_error(name, metrics),
    )


def _header(source: str) -> "EvalLog":
    try:
        return read_inspect_header(source)
    except Exception as error:  # zip, JSON or validation error: the file is no log
        raise UnreadableFileError(f"{source} {unread(error)}") from error


def _native_scores(log: "EvalLog") -> "dict[str, EvalScore]":
    """Scores of a log by name, without the ranks that were written back into it.

    If several have the same name, all but the first also have their reducer: `match[max]`.
    """
    scores: dict[str, EvalScore] = {}
    for score in log.results.scores if log.results else []:
        if not score.scorer.startswith(RECORDED):
            after = f"[{score.reducer or score.scorer}]" if score.name in scores else ""
            scores.setdefault(score.name + after, score)
    return scores


def _metrics(log: "EvalLog") -> dict[str, float]:
    """Values by `score.metric`, in the order of the log."""
    return {
        f"{label}.{name}": float(metric.value)
        for label, score in _native_scores(log).items()
        for name, metric in score.metrics.items()
    }


def _error(name: str, metrics: dict[str, float]) -> float:
    """Logged standard error of a mean; NaN for other metrics, or if the log has none."""
    score, _, metric = name.rpartition(".")
    stored = [metrics[f"{score}.{name}"] for name in _ERRORS if f"{score}.{name}" in metrics]
    return stored[0] if stored and metric in _USUAL else math.nan


def _choose(log: "EvalLog", options: ReadOptions) -> str | None:
    """Name `score.metric` of the wanted or headline metric, or None if the log lacks it."""
    scores = _native_scores(log)
    if options.native:
        names: dict[str, str] = {}
        for label, score in scores.items():
            for metric in score.metrics:
                full = f"{label}.{metric}"
                names.setdefault(metric, full)
                names.setdefault(full, full)
            if usual := _usual(label, score):
                names.setdefault(label, usual)
        wanted = choose_metric(list(names), options.native)
        return None if wanted is None else names[wanted]
    if not scores:
        return None
    # Importing Inspect takes seconds; lm-eval users need not wait.
    from inspect_ai.log import headline_metric

    declared = headline_metric(log) if log.eval.headline_metric is not None else None
    for label, score in scores.items():
        if declared and declared.score == score:
            return f"{label}.{declared.name}"
    return _usual(*next(iter(scores.items())))


def _usual(label: str, score: "EvalScore") -> str | None:
    """Name of the metric that a score stands for where none is named."""
    present = [name for name in score.metrics if name not in _SPREAD]
    best = next((name for name in (*_USUAL, *present) if name in present), None)
    return None if best is None else f"{label}.{best}"


def _notes(log: "EvalLog", source: str) -> Iterator[Note]:
    results = log.results
    if results is not None and results.completed_samples < results.total_samples:
        text = (
            f"{results.completed_samples} of {results.total_samples} samples came to an end; its "
            "score leaves out the others"
        )
        yield Note(source, text)
    if log.invalidated:
        yield Note(source, "samples of this log were invalidated; its score may still count them")
