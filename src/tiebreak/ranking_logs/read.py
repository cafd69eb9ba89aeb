"""Find and read ranking logs, and name the files that could not be read or were not finished."""

import shlex
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from tiebreak.candidates.discover import is_inspect_log, visible_files
from tiebreak.candidates.inspect_files import reason
from tiebreak.candidates.inspect_types import LogHeader
from tiebreak.paths import MISSING, Paths, path_list, problem_with
from tiebreak.prices import read_prices
from tiebreak.progress import tracked
from tiebreak.ranking_logs.joins import (
    Attempts,
    best_attempts,
    join_newcomers,
    join_shards,
    newcomers_of,
)
from tiebreak.ranking_logs.log import (
    JudgedItem,
    Kept,
    KeptVotes,
    RankingLog,
    RankingLogError,
    UnreadableLogError,
)
from tiebreak.ranking_logs.log_file import ranking_header, read_log_file
from tiebreak.ranking_logs.samples import SampleReader
from tiebreak.ranking_logs.votes import read_votes_log
from tiebreak.ranking_logs.votes_file import is_other_database, is_votes_file, open_votes_file
from tiebreak.rows import ENDS, holds_list
from tiebreak.text import count

HOW_TO_MAKE_ONE = (
    "inspect eval tiebreak/round_robin -T candidates=LOGS --model-role judge=MODEL "
    "(or tiebreak/peer_review with --model-role peers=MODEL,MODEL)"
)


def read_ranking_logs(
    paths: Paths,
    *,
    with_metadata: Kept = False,
    with_votes: KeptVotes = True,
    attempts: Attempts = "best",
    prices: Sequence[str] = (),
    rater_names: bool = True,
) -> list[RankingLog]:
    """Read the ranking logs in files and folders, including files of people's votes.

    Folders are searched with their subfolders, and other Inspect logs in them are skipped. An
    unreadable file in a folder is left out and named in the notes of all logs. A file that is
    reached twice is read once. The shards of a run, from any folders, become one log (see
    `join_shards`), and so do a log and the logs of newcomers to it (`join_newcomers`). Of several
    attempts at one run the best counts (`best_attempts`). Logs are sorted by creation time.

    Args:
        paths: log files (.eval or .json) and folders; remote addresses as Inspect takes them.
        with_metadata: what to keep of the metadata of samples (task, rubric, answers).
        with_votes: what to keep of the votes of verdicts, which no ranking needs.
        attempts: "all" also keeps the other attempts at a run, each as a log.
        prices: prices of calls whose cost the logs do not have, as `read_prices` reads them.
        rater_names: whether people who voted keep their names, instead of numbers.

    Raises:
        RankingLogError: a path does not exist or has no ranking log, the shards of a run overlap
            or are incomplete, or a price cannot be read or is for a model that was not called.
        UnreadableLogError: a file is damaged or not an Inspect log.
    """
    logs: dict[str, RankingLog] = {}
    left_out: dict[str, str] = {}
    for path in path_list(paths):
        text = str(path)
        headers, damaged = _in_folder(text) if _is_folder(text) else (_in_file(text), {})
        left_out |= damaged
        for file, header in tracked(headers.items(), "reading logs"):
            key = file if "://" in file else str(Path(file).resolve())
            if key not in logs:
                logs[key] = (
                    read_votes_log(file, with_metadata=with_metadata, rater_names=rater_names)
                    if header is None
                    else read_log_file(
                        file, header, with_metadata=with_metadata, with_votes=with_votes
                    )
                )
    notes = tuple(left_out.values())
    by_age = sorted(logs.values(), key=lambda log: log.age)
    noted = [replace(log, notes=(*log.notes, *_status_notes(log, by_age))) for log in by_age]
    # Shards first, because each is a part of a run and not another attempt at it.
    runs = join_shards(noted, unreadable=notes)
    joined = join_newcomers(best_attempts(runs) if attempts == "best" else runs)
    if prices:
        joined = _priced(joined, prices)
    return [
        replace(log, notes=(*log.notes, *notes)) for log in sorted(joined, key=lambda log: log.age)
    ]


def reread_samples(log: RankingLog) -> Iterator[JudgedItem]:
    """The samples of a log in its order, with the votes of their ballots and all of their metadata.

    Samples with ballots are read again one at a time, because all votes and texts together take too
    much memory.

    Raises:
        UnreadableLogError: a file has changed since it was read.
        OSError: a file is gone.
    """
    if newcomers_of(log):  # its ballots are joined from several files
        [joined] = read_ranking_logs(log.files, with_metadata=True)
        yield from joined.samples
        return
    with closing(SampleReader(log.files)) as again:
        for sample in log.samples:
            if sample.ballots is None:
                yield sample
                continue
            held = again.sample(sample.id, sample.epoch)
            # People's votes are complete already, and under the raters' names or numbers.
            ballots = sample.ballots if sample.ballots.by_people else held.ballots()
            yield replace(sample, ballots=ballots, metadata=held.metadata)


def _priced(logs: Sequence[RankingLog], texts: Sequence[str]) -> list[RankingLog]:
    samples = [sample for log in logs for sample in (*log.samples, *log.canaries)]
    asked = {call.model for sample in samples if sample.ballots for call in sample.ballots.calls}
    try:
        prices = read_prices(texts, sorted(asked))
    except ValueError as error:
        raise RankingLogError(str(error)) from error

    def with_costs(sample: JudgedItem) -> JudgedItem:
        if sample.ballots is None:
            return sample
        calls = tuple(
            replace(call, cost=price.cost(call.input_tokens, call.output_tokens), priced=True)
            if call.cost is None and (price := prices.get(call.model))
            else call
            for call in sample.ballots.calls
        )
        return replace(sample, ballots=sample.ballots.model_copy(update={"calls": calls}))

    def both(log: RankingLog) -> RankingLog:
        samples, canaries = (tuple(map(with_costs, part)) for part in (log.samples, log.canaries))
        return replace(log, samples=samples, canaries=canaries)

    return [both(log) for log in logs]


def _is_folder(path: str) -> bool:
    if "://" in path:
        return not path.endswith((".eval", ".json"))
    problem = problem_with(path)
    if problem.startswith(MISSING):
        raise RankingLogError(f"{path} {problem}. A ranking log is made by: {HOW_TO_MAKE_ONE}")
    if problem:
        raise UnreadableLogError(f"{path} {problem}")
    return Path(path).is_dir()


def _in_file(path: str) -> dict[str, LogHeader | None]:
    """The ranking log at a path with its header, None for a votes file, which has no header."""
    if path.endswith(".db") or is_votes_file(Path(path)):
        return {path: None}
    listed = path.endswith(".json") and "://" not in path and holds_list(Path(path))
    if listed or path.lower().endswith(ENDS):
        board = f"If it is a file of matches, its board is: tiebreak rank {shlex.quote(path)}"
        raise RankingLogError(f"{path} is no ranking log. {board}")
    header = ranking_header(path)
    if header is None:
        raise RankingLogError(
            f"{path} is an Inspect log, but not a ranking log: it holds answers that can be "
            f"ranked. Rank them first: {HOW_TO_MAKE_ONE.replace('LOGS', shlex.quote(path))}"
        )
    return {path: header}


def _in_folder(folder: str) -> tuple[dict[str, LogHeader | None], dict[str, str]]:
    """The ranking logs in a folder with their headers, and a sentence per unreadable file.

    Databases that are not votes files are skipped.
    """
    ranking_logs: dict[str, LogHeader | None] = {}
    damaged, n_others = {}, 0
    for path in tracked(logs_in(folder), "looking for ranking logs"):
        try:
            header = ranking_header(path)
        except UnreadableLogError as error:
            damaged[path] = f"Left out: {error}"
            continue
        if header is None:
            n_others += 1
        else:
            ranking_logs[path] = header
    for path in map(str, visible_files(Path(folder)) if "://" not in folder else ()):
        if path.endswith(".db") and is_votes_file(Path(path)):
            try:
                with open_votes_file(Path(path)) as file:
                    file.require_votes()
                ranking_logs[path] = None
            except RankingLogError as error:
                if is_other_database(Path(path)):
                    continue
                damaged[path] = f"Left out: {error}"
    if not ranking_logs:
        holds = [count(n_others, "other Inspect log")] if n_others else []
        if damaged:
            holds.append(f"{count(len(damaged), 'unreadable file')}: {', '.join(damaged)}")
        raise RankingLogError(
            f"No ranking log in {folder} (it holds {' and '.join(holds) or 'no Inspect log'}). "
            f"Make one: {HOW_TO_MAKE_ONE.replace('LOGS', shlex.quote(folder))}"
        )
    return ranking_logs, damaged


def logs_in(folder: str) -> list[str]:
    """All Inspect logs in a folder and its subfolders, whether they rank or not.

    Raises:
        RankingLogError: the folder is an address that cannot be reached.
    """
    if "://" in folder:
        from inspect_ai.log import list_eval_logs

        try:
            return [info.name for info in list_eval_logs(folder, recursive=True)]
        except Exception as error:  # every storage driver raises its own errors
            raise RankingLogError(
                f"{folder} cannot be reached ({reason(error)}). Check the address, the network, "
                "and the rights that its storage asks for"
            ) from error
    # Not `list_eval_logs`: it opens files with other names than logs have, which hangs on a pipe.
    return [str(path) for path in visible_files(Path(folder)) if is_inspect_log(path)]


def _status_notes(log: RankingLog, logs: Sequence[RankingLog]) -> Iterator[str]:
    """Notes on a run that is not complete or not readable in full, and how to mend that."""
    judged, n_skipped = f"{log.n_judged} of {log.n_expected} items judged", len(log.skipped)
    if n_skipped:
        judged += f", {n_skipped} skipped because the ranking was settled"
    if newer := sum(sample.newer for sample in log.samples):
        yield (
            f"{count(newer, 'item')} of {log.n_expected} judged by a newer Tiebreak, whose ballots "
            "this one cannot read: upgrade"
        )
    if log.status == "success":
        if log.n_judged + n_skipped + newer < log.n_expected:
            once = ". Then remove this log: a shard counts once" if log.shard else ""
            yield (
                f"{judged}. Run the same `inspect eval` again for the others: "
                f"calls already paid for come from the cache{once}"
            )
        return
    attempts = [other for other in logs if other.task_id == log.task_id and log.task_id]
    if later := [other for other in attempts if other.created > log.created]:
        yield f"{judged} (status: {log.status}); a later run of the same task: {later[-1].path}"
    else:
        state = "still running, or killed" if log.status == "started" else f"status: {log.status}"
        yield f"{judged} ({state}); run `inspect eval-retry {shlex.quote(log.path)}`"
