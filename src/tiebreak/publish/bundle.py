"""The bundle: all files that a publication adds to a dataset, as bytes.

A run's files never change once they are published, so the same logs give the same bytes on every
machine. What does change with every publication (the card, the latest leaderboard) is made from
the bundle and from what the dataset holds at that moment: see `latest.living_files`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike

from tiebreak.candidates import CandidatePool
from tiebreak.publish.answers import judged_pool, places_of, pool_file
from tiebreak.publish.ballot_rows import ballot_rows, text_rows
from tiebreak.publish.manifest import as_json, manifest
from tiebreak.publish.plots import plots
from tiebreak.publish.rows import leaderboard_rows, ranking_rows
from tiebreak.publish.runs import Run, read_runs
from tiebreak.publish.secrets import Secret, environment_secrets, log_secrets, refuse_secrets
from tiebreak.publish.tables import table_of, to_parquet
from tiebreak.rankers.uncertainty import Resampling

AnyPath = str | PathLike[str]


@dataclass(frozen=True, slots=True)
class PublishedRun:
    """One run: its `run_id`, when it was `created` (ISO 8601), its files by path in the dataset."""

    run_id: str
    created: str
    files: Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class Bundle:
    """What a publication adds: the files of its runs, and `shared` ones named by their content.

    `secrets` are what must not leave with the card either, which is made when it is published.
    """

    runs: tuple[PublishedRun, ...]
    shared: Mapping[str, bytes]
    secrets: tuple[Secret, ...] = field(default=(), repr=False)

    @property
    def files(self) -> dict[str, bytes]:
        """All files by path in the dataset, sorted by path."""
        found = dict(self.shared)
        for run in self.runs:
            found |= run.files
        return dict(sorted(found.items()))


def bundle(
    paths: Iterable[AnyPath],
    *,
    with_candidates: bool = False,
    candidates: Iterable[AnyPath] = (),
    how: Resampling = Resampling(),
) -> Bundle:
    """The bundle of all ranking logs among some files and folders.

    Args:
        paths: ranking logs, and folders that hold some.
        with_candidates: whether the answers, and what judges wrote about them, are published too.
        candidates: where the answers are; by default beside the logs, or where these say.
        how: level, draws and seed of the intervals.

    Raises:
        RankingLogError: a path holds no ranking log, or shards do not fit together.
        PublishError: nothing can be published; the message says why.
        ValueError: level or draws are out of range.
    """
    given = list(paths)
    runs, _ = read_runs(given, how=how)
    pools = find_pools(runs, given, list(candidates)) if with_candidates else None
    return bundle_of(runs, pools)


def find_pools(
    runs: Sequence[Run], paths: Sequence[AnyPath], candidates: Sequence[AnyPath]
) -> dict[str, CandidatePool]:
    """The judged answers of every run, by its id.

    Raises:
        PublishError: the judged answers of a run cannot be found, or other ones are there.
    """
    return {run.run_id: judged_pool(run, places_of(run, candidates, paths)) for run in runs}


def bundle_of(runs: Sequence[Run], pools: Mapping[str, CandidatePool] | None = None) -> Bundle:
    """The bundle of some runs; `pools` are their answers, None leaves these out.

    Raises:
        PublishError: a file would hold a secret of a log or of this machine.
    """
    shared: dict[str, bytes] = {}
    for pool in (pools or {}).values():
        path, content = pool_file(pool)
        shared[path] = content
    made = tuple(
        PublishedRun(run.run_id, run.created, _files(run, with_texts=pools is not None))
        for run in runs
    )
    found = Bundle(made, dict(sorted(shared.items())), tuple(known_secrets(runs)))
    refuse_secrets(found.files, found.secrets)
    return found


def known_secrets(runs: Iterable[Run]) -> list[Secret]:
    """What must not leave: secrets of the runs' logs and of this machine."""
    logs = [path for run in runs for path in run.paths]
    return [*environment_secrets(), *(secret for path in logs for secret in log_secrets(path))]


def _files(run: Run, *, with_texts: bool) -> dict[str, bytes]:
    """The files of a run by path; a table without rows is none."""
    name = run.run_id
    tables = {
        f"leaderboard/full/{name}.parquet": table_of("leaderboard", leaderboard_rows(run)),
        f"rankings/{name}.parquet": table_of("rankings", ranking_rows(run)),
        f"ballots/{name}.parquet": table_of("ballots", ballot_rows(run)),
    }
    if with_texts:
        tables[f"judge_texts/{name}.parquet"] = table_of("judge_texts", text_rows(run))
    files = {path: to_parquet(table) for path, table in tables.items() if table.num_rows}
    files[f"runs/{name}/manifest.json"] = as_json(manifest(run))
    return dict(sorted((files | plots(run)).items()))
