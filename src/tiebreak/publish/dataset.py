"""`publish_dataset`: from ranking logs and scores to a dataset, on the Hub or in a folder.

A folder is a preview of the publication, to inspect or load without network. As on the Hub,
existing files stay, repeating changes nothing, and a different version of a run is refused.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from tiebreak.analysis.contests import ContestReport
from tiebreak.paths import DRAFT, Paths, path_list, whole_file
from tiebreak.progress import doing
from tiebreak.publish.answers import judged_pool, places_of
from tiebreak.publish.bundle import Bundle, bundle_of, known_secrets, missing_plots
from tiebreak.publish.card import BEGIN, README
from tiebreak.publish.contests import contest_of
from tiebreak.publish.errors import PublishError
from tiebreak.publish.hub import Outcome, RetryPolicy, publish_bundle
from tiebreak.publish.latest import CONTESTS, LATEST, Dataset, missing_files
from tiebreak.publish.records import contest_records, entries, records
from tiebreak.publish.runs import Run, read_runs
from tiebreak.publish.secrets import refuse_secrets
from tiebreak.rankers.uncertainty import Resampling


@dataclass(frozen=True, slots=True)
class Written:
    """A file of the folder: its path in the dataset, its size in bytes, and whether it is new."""

    path: str
    size: int
    new: bool


NO_NAME = "OWNER/NAME"
"""Placeholder on the card in a folder for a dataset without a name."""


@dataclass(frozen=True, slots=True)
class Publication:
    """What was published, written and left out.

    Attributes:
        runs: ids of all runs, oldest first.
        contest: id of the contest; None without one.
        sent: result on the Hub; None if nothing was sent.
        folder: the files of the dataset in the folder; empty if none was requested.
        every_eval_ever: paths of the records for Every Eval Ever in their folder.
        community_evals: paths of the `.eval_results` entries in their folder.
        notes: what was left out, and why. They may name local files, and are not published.
    """

    runs: tuple[str, ...]
    contest: str | None
    sent: Outcome | None
    folder: tuple[Written, ...]
    every_eval_ever: tuple[str, ...]
    community_evals: tuple[str, ...]
    notes: tuple[str, ...]


def publish_dataset(
    paths: Paths,
    repo_id: str | None,
    *,
    contest: ContestReport | None = None,
    folder: str | PathLike[str] | None = None,
    with_candidates: bool = False,
    candidates: Paths = (),
    license: str | None = None,
    private: bool = True,
    pull_request: bool = False,
    every_eval_ever: str | PathLike[str] | None = None,
    community_evals: str | PathLike[str] | None = None,
    rater_names: bool = False,
    how: Resampling = Resampling(),
    token: str | None = None,
    endpoint: str | None = None,
    wait: RetryPolicy | None = None,
) -> Publication:
    """Publish rankings as a dataset with a card, on the Hub in one commit, or in a folder.

    Publishing the same again changes nothing; other runs, and text that people wrote on the card
    outside of the marked part, stay. Published files never change: publish a run with one `how`
    only. Model arguments, addresses, folders and keys are never published.

    Args:
        paths: ranking logs, and folders that contain some; none for a contest alone.
        repo_id: "OWNER/NAME" of the dataset; a missing one is created, private. None sends nothing.
        contest: result of `contest_report`: publish its scores as well, and the merged rankings of
            the benchmarks in its rounds.
        folder: write the dataset into this folder and send nothing, as a preview. The folder is
            created, empty, or a dataset that was written this way before.
        with_candidates: also publish the answers, and the judges' texts about them.
        candidates: location of the judged answers; default: beside the logs, or as the logs say.
        license: licence id for the card, e.g. "cc-by-4.0"; None leaves the card's licence
            unchanged.
        private: False makes the dataset public once the commit has landed; True never changes the
            visibility of an existing one.
        pull_request: propose the commit in a pull request. An open one with the same files is
            reused, not doubled; one that cannot be merged any more has to be closed first.
        every_eval_ever: folder for records for Every Eval Ever.
        community_evals: folder for `.eval_results` entries of the models' own repositories; they
            link to `repo_id`.
        rater_names: publish the names of people who voted, instead of numbers.
        how: level, draws and seed of the intervals.
        token: token of the Hub with write access; default: HF_TOKEN or that of `hf auth login`.
        endpoint: address of the Hub; default: HF_ENDPOINT or https://huggingface.co.
        wait: limits for retries.

    Raises:
        RankingLogError: a path contains no ranking log, or shards do not fit together.
        PublishError: there is nothing to publish, a run cannot be published, or the Hub refuses it;
            the message says why and what to do next.
        RankingError: no aggregator can use the contest's scores.
        TableError: no benchmark of the contest has scores of two models.
        ValueError: `level` or `draws` of `how` is out of range.
    """
    given = path_list(paths)
    if community_evals is not None and repo_id is None:
        raise PublishError("Community evals need OWNER/NAME: their entries link to the dataset")
    if not given and contest is None:
        raise PublishError("There is nothing to publish: give ranking logs, or a contest")
    if not given and (with_candidates or community_evals is not None):
        raise PublishError("Answers and community evals are of ranking logs: give some")
    runs: tuple[Run, ...] = ()
    notes: tuple[str, ...] = ()
    if given:
        runs, notes = read_runs(given, how=how, rater_names=rater_names)
    played = None
    if contest is not None:
        with doing("merging rankings"):
            played = contest_of(contest)
        notes += (*map(str, contest.notes), *played.left_out)
    pools = None
    if with_candidates:
        where = path_list(candidates)
        pools = {run.run_id: judged_pool(run, places_of(run, where, given)) for run in runs}
    owner = repo_id.partition("/")[0] if repo_id else "unknown"
    eee: dict[str, bytes] = {}
    evals: dict[str, bytes] = {}
    if every_eval_ever is not None:
        for run in runs:
            eee |= records(run, organization=owner, pool=(pools or {}).get(run.run_id))
        if played is not None:
            eee |= contest_records(played, organization=owner)
    if community_evals is not None:
        evals = entries(runs, str(repo_id))
    if eee or evals:  # before anything is sent
        refuse_secrets(eee | evals, known_secrets(runs, played))
    sent: Outcome | None = None
    written: tuple[Written, ...] = ()
    if repo_id is not None or folder is not None:
        with doing("making tables and plots"):
            bundle = bundle_of(runs, pools, played)
        notes += tuple(filter(None, [missing_plots()]))
        if folder is not None:
            written = write_folder(
                bundle, Path(folder), license=license, repo_id=repo_id or NO_NAME
            )
        elif repo_id is not None:
            sent = publish_bundle(
                bundle,
                repo_id,
                private=private,
                pull_request=pull_request,
                license=license,
                token=token,
                endpoint=endpoint,
                wait=wait,
            )
    for target, files in ((every_eval_ever, eee), (community_evals, evals)):
        if target is not None:
            write_files(files, Path(target))
    return Publication(
        runs=tuple(run.run_id for run in runs),
        contest=played.contest_id if played else None,
        sent=sent,
        folder=written,
        every_eval_ever=tuple(sorted(eee)),
        community_evals=tuple(sorted(evals)),
        notes=notes,
    )


class _Folder(Dataset):
    """The dataset in a folder, which may be empty or missing."""

    remedy = "Remove the folder, or give another one with --out"

    def __init__(self, folder: Path) -> None:
        self.name = str(folder)
        self.known = {
            path.relative_to(folder).as_posix(): path
            for path in folder.rglob("*")
            if path.is_file()
            and ".git" not in path.relative_to(folder).parts
            and not path.name.endswith(DRAFT)
        }

    def read(self, path: str) -> bytes:
        return Path(self.known[path]).read_bytes()


def write_folder(
    bundle: Bundle, folder: Path, *, license: str | None, repo_id: str
) -> tuple[Written, ...]:
    """Write a bundle, with the card and the latest tables, into a folder.

    The folder is created, empty, or a dataset of Tiebreak; the other arguments are those of
    `publish_dataset`.

    Returns:
        All files of the bundle and those that change with it, by path.

    Raises:
        PublishError: the folder contains something else, or an immutable file with other content;
            or its card cannot be read.
        OSError: a file cannot be written.
    """
    if folder.exists() and not folder.is_dir():
        raise PublishError(f"{folder} is not a folder: give another one with --out")
    dataset = _Folder(folder)
    if dataset and BEGIN.encode() not in dataset.get(README, b""):
        raise PublishError(
            f"{folder} holds something else than a dataset of Tiebreak: give an empty or a new "
            "folder with --out"
        )
    new = missing_files(bundle, dataset, license=license, repo_id=repo_id)
    write_files(new, folder)
    return tuple(
        Written(path, (folder / path).stat().st_size, path in new)
        for path in sorted({*bundle.files, README, LATEST, CONTESTS})
        if (folder / path).exists()
    )


def write_files(files: Mapping[str, bytes], folder: Path) -> None:
    """Write files below a folder, each completely or not at all.

    A partial file would be a different version of a file that never changes.

    Raises:
        OSError: a file cannot be written.
    """
    for path, content in sorted(files.items()):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        with whole_file(folder / path) as draft:
            draft.write_bytes(content)
