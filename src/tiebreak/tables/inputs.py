"""Read scores and ballots from files of any kind."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal, TypedDict, get_args

from tiebreak.paths import AnyPath, Paths, path_list
from tiebreak.tables.ballots import BallotFile, read_ballot_csv, read_preflib
from tiebreak.tables.benchmark_ballots import ScoreBallotOptions, score_ballots
from tiebreak.tables.delimited import CSV, read_delimited
from tiebreak.tables.errors import TableError, require_path
from tiebreak.tables.reading import POOL, RANKING_LOG
from tiebreak.tables.scores import ScoreTable, holds_scores, read_score_table, with_errors

PREFLIB = (".soc", ".soi", ".toc", ".toi")
LOGS = (".eval", ".json")

Kind = Literal["ballots", "scores"]


class ReadingOptions(TypedDict, total=False):
    """Arguments of `read_scores` other than the paths."""

    stderr: AnyPath | None
    metric: str | Sequence[str] | None
    filter: str | None
    rename: Mapping[str, str] | None


def read_ballots(
    paths: Paths,
    *,
    drop_unranked: bool = False,
    making: ScoreBallotOptions | None = None,
    reading: ReadingOptions | None = None,
) -> list[BallotFile]:
    """Read ballots from files: rankings of candidates, and scores of models on benchmarks.

    Args:
        paths: CSV files of ballots (see `tables.ballots` for the two forms) or scores (first column
            `model`), PrefLib files (`.soc .soi .toc .toi`), logs, lm-eval's `results_*.json`, pools
            and folders of these, in any mix.
        drop_unranked: whether to leave out, with a note, candidates that no ballot ranks.
        making: how scores become ballots: `ties` and `weights` of `score_ballots`.
        reading: how scores are read: `stderr`, `metric`, `filter`, `rename` of `read_scores`.

    Returns:
        One entry per CSV or PrefLib file of ballots, in the order given; then one per benchmark and
        protocol of all ranking logs together, by name; then one for all scores together, each
        benchmark a ballot. If one of the two kinds in a folder makes no ballots, a note says why.

    Raises:
        TableError: a file does not exist, cannot be read, or holds neither; options for scores are
            given, but no scores; or as for `read_scores` and `score_ballots`.
        MissingPackageError: a PrefLib file is given and preflibtools is not installed.
    """
    given = [Path(path) for path in path_list(paths)]
    if not given:
        raise TableError("no file was given; give files of ballots or scores, logs or folders")
    kinds = {path: _kinds(path) for path in given}
    ballots, scores = (
        [path for path, held in kinds.items() if kind in held] for kind in get_args(Kind)
    )
    options = {**(making or {}), **(reading or {})}
    asked = [name for name, value in options.items() if value and value != "equal"]  # default
    if asked and not scores:
        where = ", ".join(map(str, given))
        raise TableError(f"{', '.join(asked)}: for scores of benchmarks, and {where} holds none")
    read: list[BallotFile] = []
    left_out: list[str] = []
    # If a folder holds both kinds, an error in one kind does not prevent reading the other.
    try:
        read += _read_ballots(ballots, drop_unranked)
    except TableError as error:
        if set(ballots) - set(scores):  # a path for ballots only
            raise
        left_out.append(f"The ranking logs beside the results make no ranking: {error}")
    if scores:
        try:
            table = read_scores(scores, **(reading or {}))
            # Ranking logs beside results are read as ballots.
            notes = tuple(note for note in table.notes if not note.endswith(RANKING_LOG))
            table = replace(table, notes=notes)
            read.append(score_ballots(table, drop_unranked=drop_unranked, **(making or {})))
        except TableError as error:
            if asked or not read or set(scores) - set(ballots):  # a path for scores only
                raise
            left_out.append(f"The results beside the ranking logs make no ranking: {error}")
    return [*read[:-1], replace(read[-1], notes=(*read[-1].notes, *left_out))]


def read_scores(
    paths: Paths,
    *,
    stderr: AnyPath | None = None,
    metric: str | Sequence[str] | None = None,
    filter: str | None = None,
    rename: Mapping[str, str] | None = None,
) -> ScoreTable:
    """Read one CSV file (`read_score_table`), or logs, pools and folders (`read_results`).

    Args:
        paths: a single CSV file; or Inspect logs, lm-eval results, Parquet pools of candidates and
            folders of these, in any mix. Logs and pools hold standard errors themselves.
        stderr: CSV file with the scores' standard errors (`with_errors`).
        metric: name of the score in logs, or several in order of preference: see `read_results`.
        filter: the lm-eval filter whose score counts, for logs.
        rename: names of benchmarks to replace, in logs and pools.

    Raises:
        TableError: a CSV file is among other paths or with options for logs; or from the readers.
    """
    if stderr is not None:
        table = read_scores(paths, metric=metric, filter=filter, rename=rename)
        return with_errors(table, stderr)
    given = path_list(paths)
    tables = [path for path in given if Path(path).suffix.lower() in CSV]
    if not tables:
        # Importing Inspect takes seconds; a CSV file need not wait for it.
        from tiebreak.tables.results import read_results

        return read_results(given, metric=metric, filter=filter, rename=rename)
    if len(given) > 1:
        raise TableError(
            f"{tables[0]} is a whole table of scores and comes alone; without it, logs, pools and "
            "folders can be given in any mix"
        )
    if metric or filter or rename:
        raise TableError(
            f"{tables[0]}: --metric, --filter and --rename are for logs; this file holds the "
            "scores as they are"
        )
    return read_score_table(Path(tables[0]))


def _read_ballots(paths: Sequence[Path], drop_unranked: bool) -> list[BallotFile]:
    read: list[BallotFile] = []
    logs: list[str] = []
    for path in paths:
        suffix = path.suffix.lower()
        if path.is_dir() or suffix in LOGS:
            logs.append(str(path))
        elif suffix in PREFLIB:
            read.append(read_preflib(path, drop_unranked=drop_unranked))
        else:
            read.append(read_ballot_csv(path, drop_unranked=drop_unranked))
    if logs:
        # Importing Inspect takes seconds; a CSV file need not wait for it.
        from tiebreak.tables.ballots import read_ballots_of_logs

        read += read_ballots_of_logs(logs)
    return read


def _kinds(path: Path) -> set[Kind]:
    """Kinds of the content of a file or folder, read only as far as needed; a folder can have both.

    A CSV file holds scores if its first column is `model`, an Inspect log if it is no ranking log.
    """
    suffix = path.suffix.lower()
    require_path(path)
    if path.is_dir():
        return _of_folder(path)
    if suffix in CSV:
        return {"scores" if holds_scores(read_delimited(path)) else "ballots"}
    if suffix == POOL:
        return {"scores"}
    if suffix in PREFLIB:
        return {"ballots"}
    if suffix in LOGS:
        # A damaged log counts as scores, because the reader of results reports what is wrong.
        return {next(_of_logs([path]), "scores")}
    raise TableError(
        f"{path}: ballots are read from CSV ({', '.join(CSV)}), PrefLib's rankings "
        f"({', '.join(PREFLIB)}) and ranking logs ({', '.join(LOGS)}), scores of benchmarks from "
        f"CSV, pools ({POOL}), Inspect logs and lm-eval's results_*.json; rename or convert"
    )


def _of_folder(folder: Path) -> set[Kind]:
    from tiebreak.tables.results import results_in

    files, _ = results_in(folder)
    if not files:
        raise TableError(
            f"No ranking log in {folder}, and no results of benchmarks (Inspect logs, lm-eval's "
            "results_*.json, pools); tables of ballots or scores are given by name, not by folder"
        )
    kinds: set[Kind] = set()
    for kind in _of_logs(files):
        kinds.add(kind)
        if len(kinds) == 2:
            return kinds
    # If all files are damaged, the reader of results names them.
    return kinds or {"scores"}


def _of_logs(files: Iterable[Path]) -> Iterator[Kind]:
    """Yield the kind of each readable file; Inspect is imported only if there is an Inspect log."""
    from tiebreak.tables.results import is_inspect

    for path in files:
        if not is_inspect(path):
            yield "scores"
            continue
        from tiebreak.ranking_logs import UnreadableLogError
        from tiebreak.ranking_logs.log_file import ranking_header

        try:
            yield "scores" if ranking_header(str(path)) is None else "ballots"
        except UnreadableLogError:
            continue
