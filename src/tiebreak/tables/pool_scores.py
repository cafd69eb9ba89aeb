"""Read scores from pools of candidates.

`read_pool_results` gives means of native scores with errors for paired items, `read_item_scores`
the native scores of one benchmark item by item, for a contest.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from tiebreak.candidates import CandidateError, CandidatePool, load_candidates, read_parquet
from tiebreak.candidates.records import ReadOptions
from tiebreak.paths import Paths, path_list
from tiebreak.rankers.profile import FloatArray
from tiebreak.tables.delimited import CSV
from tiebreak.tables.errors import TableError, UnreadableFileError, suggestion
from tiebreak.tables.reading import NO_SCORE, POOL, Note, Part, Result, Unscored
from tiebreak.text import listed


def read_pool_results(path: Path, options: ReadOptions) -> Iterator[Part]:
    """Read the mean native score of each model on each benchmark of a pool, with standard errors.

    Models without a native score on any item of the benchmark are left out, then items on which not
    all models have one. Epochs of an item are averaged. For the errors see `paired_errors`.

    Raises:
        UnreadableFileError: the file cannot be read as a pool, or a metric or filter was asked for.
    """
    if options.native or options.filter:
        raise UnreadableFileError(
            f"{path}: metric and filter are for logs; a pool holds the scores it was written with"
        )
    try:
        pool = read_parquet(path)
    except CandidateError as error:
        raise UnreadableFileError("; ".join(map(str, error.notes))) from error
    for task in pool.benchmarks:
        yield from _benchmark(pool, task, path.as_posix(), options)


def _benchmark(pool: CandidatePool, task: str, source: str, options: ReadOptions) -> Iterator[Part]:
    """Yield the results of one benchmark, and notes on missing scores."""
    # If the file lacks rows of the pool, perhaps no item has answers by all models.
    answers = [pool.candidates[item.key] for item in pool.items_of(task)]
    benchmark, models = options.benchmark(task), sorted({name for row in answers for name in row})
    metrics: dict[str, set[str | None]] = {model: set() for model in models}
    for row in answers:
        for model, candidate in row.items():
            metrics[model].add(candidate.native_metric)
    items = item_means(pool, task, models)
    scored = [column for column in range(len(models)) if not np.isnan(items[:, column]).all()]
    for column, model in enumerate(models):
        if column not in scored:
            yield Unscored(model, task, benchmark, NO_SCORE)
    if not scored:
        return
    names, table = [models[column] for column in scored], items[:, scored]
    holes = np.isnan(table)
    table = table[~holes.any(axis=1)]
    if not len(table):
        quoted = listed([repr(name) for name in names])
        text = f"{benchmark}: no item has native scores of all of {quoted}; left out"
        yield Note("", text, public=True)
        return
    if len(table) < len(items):
        missing = zip(names, holes.sum(axis=0).tolist(), strict=True)
        lack = listed([f"{name!r} lacks {number}" for name, number in missing if number])
        text = f"{len(items) - len(table)} of {len(items)} items have not native scores of all"
        yield Note("", f"{benchmark}: {text} models ({lack}); left out", public=True)
    for name, score, error in zip(names, table.mean(axis=0), paired_errors(table), strict=True):
        metric = ", ".join(sorted(filter(None, metrics[name]))) or "native score"
        yield Result(
            model=name,
            task=task,
            benchmark=benchmark,
            score=float(score),
            metric=metric,
            choices=(metric,),
            when=-math.inf,
            n_items=len(table),
            source=source,
            error=float(error),
            paired=True,
        )


def item_means(pool: CandidatePool, benchmark: str, models: Sequence[str]) -> FloatArray:
    """Native scores of a benchmark's models, shape (items, models): means over an item's epochs.

    NaN if a model's score is missing or not finite in one of the epochs.
    """
    epochs: dict[str, list[list[float]]] = {}
    for item in pool.items_of(benchmark):
        answers = pool.candidates[item.key]
        scores = [answers[model].native_score if model in answers else math.nan for model in models]
        row = [score if math.isfinite(score) else math.nan for score in scores]
        epochs.setdefault(item.item_id, []).append(row)
    return np.array([np.mean(scores, axis=0) for scores in epochs.values()], dtype=np.float64)


def paired_errors(items: ArrayLike) -> FloatArray:
    """Standard errors of the means of N models over the same items, for comparing them, shape (N,).

    Variation that all models share (hard items are hard for all) changes no rank. These are
    quasi-standard errors (Firth & de Menezes, Biometrika 91, 2004): taken as independent, they give
    the error of the difference between a model and the others over paired items, on average over
    the others.

    No error is below that of a share of 1 / (n + 2): if all n items are right, the next one need
    not be.

    Args:
        items: scores in [0, 1] without NaN, shape (n, N). For n < 2 the errors are NaN.
    """
    table = np.asarray(items, dtype=np.float64)
    n, n_models = table.shape
    if n < 2:
        return np.full(n_models, math.nan)
    variance = (table - table.mean(axis=1, keepdims=True)).var(axis=0, ddof=1) / n
    if n_models == 1:
        apart = table.var(axis=0, ddof=1) / n
    elif n_models == 2:  # variance = Σv / 4, where Σv is the variance of the difference
        apart = 2 * variance
    else:  # for independent variances v, variance = v·(1 − 2/N) + Σv/N², its sum Σv·(1 − 1/N)
        total = variance.sum() * n_models / (n_models - 1)
        apart = (variance - total / n_models**2) / (1 - 2 / n_models)
    least = (n + 1) / (n + 2) ** 2 / n
    return np.asarray(np.sqrt(np.maximum(apart, least)))


@dataclass(frozen=True, eq=False, slots=True)
class ItemScores:
    """Native scores of a benchmark by item and model, none of them missing.

    `scores` has shape (items, models). `notes` say what was left out, and why.
    """

    benchmark: str
    models: tuple[str, ...]
    scores: FloatArray
    notes: tuple[str, ...] = ()


def read_item_scores(
    paths: Paths,
    *,
    benchmark: str | None = None,
    metric: str | Sequence[str] | None = None,
    filter: str | None = None,
    rename: Mapping[str, str] | None = None,
) -> ItemScores:
    """Read the native scores of one benchmark from pools, logs and folders of candidates.

    Only items that all models answered count (`load_candidates`, mode "intersect"). `benchmark` is
    needed if there are several; the other arguments are those of `read_scores`.

    Raises:
        TableError: a CSV file is given, or a metric or filter for a pool; the candidates cannot be
            read or aligned; or as for `item_scores`.
    """
    for path in map(Path, path_list(paths)):
        if path.suffix.lower() in CSV:
            raise TableError(
                f"{path} holds scores of whole benchmarks, not of items; give logs, or a pool that "
                "`tiebreak candidates --out` wrote"
            )
        if path.suffix.lower() == POOL and (metric or filter):
            raise TableError(
                f"{path}: --metric and --filter are for logs; a pool holds the scores it was "
                "written with"
            )
    try:
        pool = load_candidates(
            paths,
            "intersect",
            epochs="all",
            native=metric,
            filter=filter,
            rename=rename,
            # Other benchmarks in the folder may have one model; `item_scores` checks this one.
            alone=True,
        )
    except CandidateError as error:
        raise TableError(str(error)) from error
    return item_scores(pool, benchmark)


def item_scores(pool: CandidatePool, benchmark: str | None = None) -> ItemScores:
    """Native scores of one benchmark of a pool, averaged over the epochs of an item.

    Models without any native score are left out, then items without the score of some model.

    Raises:
        TableError: there is no such benchmark, or there are several and none is named; no item has
            native scores of all models, or fewer than two models have any.
    """
    if benchmark is None:
        if len(pool.benchmarks) > 1:
            raise TableError(
                f"items of one benchmark make up a contest, and there are {len(pool.benchmarks)}: "
                f"{', '.join(map(repr, pool.benchmarks))}; name one (--benchmark NAME)"
            )
        [benchmark] = pool.benchmarks
    elif benchmark not in pool.benchmarks:
        help_ = suggestion(benchmark, pool.benchmarks)
        raise TableError(f"the candidates have no benchmark {benchmark!r}; {help_}")
    models = pool.models_of(benchmark)
    table = item_means(pool, benchmark, models)
    holes = np.isnan(table)
    scored = ~np.all(holes, axis=0)
    kept = tuple(model for model, present in zip(models, scored, strict=True) if present)
    if len(kept) < 2:
        have = f"only {kept[0]!r} has" if kept else "no model has"
        raise TableError(f"{benchmark}: {have} native scores; a contest needs those of two models")
    complete = ~np.any(holes[:, scored], axis=1)
    if not complete.any():
        raise TableError(f"{benchmark}: no item has native scores of all of {listed(kept)}")
    notes = list(map(str, pool.notes))
    if len(kept) < len(models):
        without = [repr(model) for model in models if model not in kept]
        notes.append(f"{benchmark}: without native scores, so left out: {listed(without)}")
    if not complete.all():
        n = f"{int(np.sum(~complete))} of {len(complete)} items"
        notes.append(f"{benchmark}: {n} have not native scores of all models; left out")
    return ItemScores(benchmark, kept, table[np.ix_(complete, scored)], tuple(notes))
