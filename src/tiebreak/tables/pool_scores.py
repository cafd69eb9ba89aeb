"""Scores out of a pool of candidates: means of native scores, with errors of paired items."""

import math
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from tiebreak.candidates import CandidateError, CandidatePool, read_parquet
from tiebreak.paths import AnyPath
from tiebreak.rankers.profile import FloatArray
from tiebreak.tables.errors import TableError
from tiebreak.tables.scores import ScoreTable, score_table


def read_pool_scores(path: AnyPath) -> ScoreTable:
    """Read the native scores of a pool that `write_parquet` wrote.

    Raises:
        TableError: the file cannot be read as a pool; as `pool_scores`.
    """
    try:
        return pool_scores(read_parquet(Path(path)), source=str(path))
    except CandidateError as error:
        raise TableError(str(error)) from error


def pool_scores(pool: CandidatePool, *, source: str = "") -> ScoreTable:
    """Mean native score of each model on each benchmark of a pool, and its standard error.

    Only items count on which all models of the benchmark have a native score. Epochs of an item
    are one item. For the errors see `paired_errors`.

    Raises:
        TableError: no benchmark has an item with native scores of all its models.
    """
    models, benchmarks = pool.models, pool.benchmarks
    scores, errors = np.full((2, len(models), len(benchmarks)), np.nan)
    notes = []
    for column, benchmark in enumerate(benchmarks):
        names = pool.models_of(benchmark)
        items: dict[str, list[list[float]]] = {}
        for item in pool.items_of(benchmark):
            row = [pool.candidates[item.key][name].native_score for name in names]
            items.setdefault(item.item_id, []).append(row)
        means = [np.mean(epochs, axis=0) for epochs in items.values()]
        table = np.array([row for row in means if not np.isnan(row).any()])
        if len(table) < len(means):
            notes.append(
                f"{benchmark}: {len(means) - len(table)} of {len(means)} items have not native "
                "scores of all models; left out"
            )
        if len(table):
            rows = [models.index(name) for name in names]
            scores[rows, column], errors[rows, column] = table.mean(axis=0), paired_errors(table)
    sources = (source,) if source else ()
    return score_table(
        models, benchmarks, scores, sources=sources, public_notes=notes, errors=errors
    )


def paired_errors(items: ArrayLike) -> FloatArray:
    """Standard errors of the means of N models over the same items, for comparing them, shape (N,).

    What models have in common (hard items are hard for all) moves no rank. These are quasi-standard
    errors (Firth & de Menezes, Biometrika 91, 2004): taken as independent, they give the error of
    the difference between a model and the others over paired items, on average over the others.

    None is below that of a model with one item in n + 2 that is unlike the others: all items
    right does not mean that the next one is right for sure.

    Args:
        items: shape (n, N), scores within 0 to 1, without NaN. For n < 2 the errors are NaN.
    """
    table = np.asarray(items, dtype=np.float64)
    n, n_models = table.shape
    if n < 2:
        return np.full(n_models, math.nan)
    own = (table - table.mean(axis=1, keepdims=True)).var(axis=0, ddof=1) / n
    if n_models == 1:
        apart = table.var(axis=0, ddof=1) / n
    elif n_models == 2:  # own is a quarter of the variance of the difference, which is Σv
        apart = 2 * own
    else:  # with independent variances v, own = v·(1 − 2/N) + Σv/N², and Σ own = Σv·(1 − 1/N)
        total = own.sum() * n_models / (n_models - 1)
        apart = (own - total / n_models**2) / (1 - 2 / n_models)
    least = (n + 1) / (n + 2) ** 2 / n
    return np.asarray(np.sqrt(np.maximum(apart, least)))
