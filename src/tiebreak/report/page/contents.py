"""The contents of a report: everything computed from the logs, which are read once.

Files are called by name, without their folders, because reports are passed on.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path

from tiebreak.analysis.alignment import Alignment, align_panels
from tiebreak.analysis.comparison import Comparison, compare_entries
from tiebreak.analysis.contests import ContestReport
from tiebreak.analysis.entries import Entry, entries_of
from tiebreak.analysis.errors import AnalysisError, NothingToCompareError
from tiebreak.analysis.judged import judged_among
from tiebreak.analysis.peers.panel import NoPeerReviewError
from tiebreak.analysis.peers.review import PeerReport, peer_report_of
from tiebreak.analysis.stability import StabilityReport, stability_of
from tiebreak.analysis.stars import StarReport, star_report_of
from tiebreak.paths import Paths, path_list
from tiebreak.rankers.errors import UnprovenOrderError
from tiebreak.rankers.uncertainty import Resampling
from tiebreak.ranking_logs.joins import files_in_words
from tiebreak.ranking_logs.log import RankingLog
from tiebreak.ranking_logs.read import read_ranking_logs
from tiebreak.report.figures.canvas import free_name
from tiebreak.scorers.catalogue import REFERENCE
from tiebreak.scorers.rules import RULES
from tiebreak.tables.human import HumanRanking


@dataclass(frozen=True, eq=False, slots=True)
class Contents:
    """The parts of a report; those that do not apply are None.

    `logs` are the best attempts at each task with names for paths, and `files` the real paths of
    each log's files, by its name. `entries` are the leaderboards with second views, `stars` the
    joined boards of logs judged by stars. `notes` say what was left out, and why.
    """

    logs: tuple[RankingLog, ...] = ()
    files: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    entries: tuple[Entry, ...] = ()
    stars: StarReport | None = None
    comparison: Comparison | None = None
    peers: PeerReport | None = None
    alignment: Alignment | None = None
    stability: StabilityReport | None = None
    contest: ContestReport | None = None
    notes: tuple[str, ...] = ()


def contents_of(
    paths: Paths,
    *,
    contest: ContestReport | None = None,
    human: HumanRanking | None = None,
    reference: str | None = None,
    sources: Iterable[str] = (),
    how: Resampling = Resampling(),
    prices: Sequence[str] = (),
) -> Contents:
    """Gather what a report shows. Files are called by name, without their folders.

    Args:
        paths: ranking logs, and folders that hold some; none for a report of a contest alone.
        contest: the result of `contest_report` for a table of scores.
        human: a ranking by people, for every board.
        reference: the protocol to compare with, as in `compare`. By default all pairs, and no
            comparison if no log judged these.
        sources: other files and folders that were read, e.g. for the contest; shown without their
            folders.
        how: level, draws and seed of the intervals.
        prices: as in `read_ranking_logs`.

    Raises:
        RankingLogError: a path holds no ranking log.
        AnalysisError: the reference does not exist, or logs cannot be compared with it.
        AnalysisError: the ranking by people has too little in common with the boards.
        ValueError: level or draws are out of range.
    """
    paths = path_list(paths)
    read = read_ranking_logs(paths, with_votes=False, prices=prices) if paths else []
    names = file_names([*paths, *sources, *([human.source] if human else [])], read)
    if contest is not None:
        notes = tuple(map(shortener(names), map(str, contest.notes)))
        contest = replace(contest, notes=notes)
    if not paths:
        return Contents(contest=contest)
    if reference is not None:
        reference = names.get(reference, names.get(str(Path(reference).resolve()), reference))
    logs = [renamed(log, names) for log in read]
    entries, _ = entries_of(logs, how=how, views=True)
    comparison, remarks = _comparison(entries, reference, how)
    stability = stability_of(entries)
    peers, more = _peers(logs, how)
    aligned = None
    if human is not None:
        named = replace(human, source=names[human.source])
        aligned = align_panels(judged_among(logs), named, how=how)
    return Contents(
        logs=tuple(logs),
        files={names[log.path]: log.files for log in read},
        entries=tuple(entries),
        stars=star_report_of(logs, how=how),
        comparison=comparison,
        peers=peers,
        alignment=aligned,
        stability=stability if stability.subsampled else None,
        contest=contest,
        notes=tuple(dict.fromkeys((*remarks, *more))),
    )


def _comparison(
    entries: Sequence[Entry], reference: str | None, how: Resampling
) -> tuple[Comparison | None, list[str]]:
    """The comparison, or None, and a note on why it is missing if a reader might expect one."""
    try:
        return compare_entries(entries, reference=reference or REFERENCE, how=how), []
    except AnalysisError as error:
        if reference is not None:
            raise
        nothing = isinstance(error, NothingToCompareError)
        return None, [] if nothing else [f"Protocols are not compared: {error}"]


def _peers(logs: Iterable[RankingLog], how: Resampling) -> tuple[PeerReport | None, list[str]]:
    """The report of the peer reviews, or None, and a note on why they are left out, if any."""
    reviews = [log for log in logs if any(RULES[item.placed_by].reviewed for item in log.items)]
    if not reviews:
        return None, []
    try:
        return peer_report_of(reviews, how=how), []
    except NoPeerReviewError as error:
        return None, [str(error)]
    except UnprovenOrderError as error:
        return None, [f"The peer review is left out: {error} of `tiebreak peers`"]


def file_names(given: Iterable[str | PathLike[str]], logs: Iterable[RankingLog]) -> dict[str, str]:
    """A name for each given path and for each log read from them; names of logs are unique."""
    names: dict[str, str] = {}
    for path in map(str, given):
        if "://" in path or not Path(path).is_dir():
            names[path] = names[str(Path(path).resolve())] = file_name(path)
        else:
            # A folder is removed where it precedes a file, e.g. in a note on unreadable files.
            names[f"{Path(path).resolve()}/"] = ""
            if Path(path).is_absolute() or ".." in Path(path).parts:
                names[f"{path.rstrip('/')}/"] = ""
    taken: set[str] = set()
    for log in logs:
        # A name that no other log has: a.eval, then a.eval (2).
        files = []
        for file in log.files or (log.path,):
            files.append(free_name(file_name(file), taken, "{} ({})"))
            taken.add(files[-1])
        names |= dict(zip(log.files, files, strict=False))
        names[log.path] = files_in_words(files)
    return names


def renamed(log: RankingLog, names: Mapping[str, str]) -> RankingLog:
    """The log with names for paths, so that everything computed from it shows the names."""
    return replace(
        log,
        path=names[log.path],
        files=tuple(names[file] for file in log.files),
        # Notes were written while files were read, so they contain paths.
        notes=tuple(map(shortener(names), log.notes)),
    )


def shortener(names: Mapping[str, str]) -> Callable[[str], str]:
    """A function that replaces the paths in a text by their names."""
    if not names:
        return lambda text: text
    longest_first = sorted(names, key=len, reverse=True)  # files before their folders
    pattern = re.compile("|".join(map(re.escape, longest_first)))
    return lambda text: pattern.sub(lambda match: names[match[0]], text)


def file_name(path: str) -> str:
    """The name of a file without its folder."""
    return path.rstrip("/").rsplit("/", 1)[-1]
