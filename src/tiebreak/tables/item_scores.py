"""Scores of one benchmark, item by item, out of a pool of candidates."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tiebreak.candidates import CandidateError, CandidatePool, load_candidates
from tiebreak.paths import Paths, path_list
from tiebreak.rankers.profile import FloatArray
from tiebreak.tables.ballots import CSV
from tiebreak.tables.errors import TableError, listed, suggestion
from tiebreak.tables.pool_scores import item_means
from tiebreak.tables.scores import POOL


@dataclass(frozen=True, eq=False, slots=True)
class ItemScores:
    """Items × models: native scores of a benchmark, without holes.

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

    Items count that all models answered (`load_candidates`, mode "intersect").

    Args:
        paths: what `load_candidates` reads.
        benchmark: which one, where there are several.
        metric: the native score to take.
        filter: the lm-eval filter whose score counts.
        rename: names of benchmarks to replace.

    Raises:
        TableError: a CSV file, or a metric or filter for a pool; the candidates cannot be read or
            aligned; as `item_scores`.
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
            # Of another benchmark in the same folder; the one that is asked for is checked below.
            alone=True,
        )
    except CandidateError as error:
        raise TableError(str(error)) from error
    return item_scores(pool, benchmark)


def item_scores(pool: CandidatePool, benchmark: str | None = None) -> ItemScores:
    """The native scores of one benchmark of a pool; epochs of an item are one item.

    Models that have no native score are left out, then items that some model has none on.

    Raises:
        TableError: no such benchmark, or several and none named; no item has native scores of all
            models, or less than two models have any.
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
    kept = tuple(model for model, has in zip(models, scored, strict=True) if has)
    if len(kept) < 2:
        have = f"only {kept[0]!r} has" if kept else "no model has"
        raise TableError(f"{benchmark}: {have} native scores; a contest needs those of two models")
    whole = ~np.any(holes[:, scored], axis=1)
    if not whole.any():
        raise TableError(f"{benchmark}: no item has native scores of all of {listed(kept)}")
    notes = list(map(str, pool.notes))
    if len(kept) < len(models):
        without = [repr(model) for model in models if model not in kept]
        notes.append(f"{benchmark}: without native scores, so left out: {listed(without)}")
    if not whole.all():
        n = f"{int(np.sum(~whole))} of {len(whole)} items"
        notes.append(f"{benchmark}: {n} have not native scores of all models; left out")
    return ItemScores(benchmark, kept, table[np.ix_(whole, scored)], tuple(notes))
