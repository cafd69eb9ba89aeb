"""From any mix of files to ballots: the suffix tells which reader is asked."""

from collections.abc import Iterable
from os import PathLike
from pathlib import Path

from tiebreak.tables.ballot_csv import read_ballot_csv
from tiebreak.tables.ballots import BallotFile
from tiebreak.tables.delimited import missing_file
from tiebreak.tables.errors import NoBallotError, UnknownFormatError
from tiebreak.tables.preflib import SUFFIXES, read_preflib

_CSV = (".csv", ".tsv", ".txt")
_LOGS = (".eval", ".json")

AnyPath = str | PathLike[str]


def read_ballots(
    paths: AnyPath | Iterable[AnyPath], *, drop_unranked: bool = False
) -> list[BallotFile]:
    """Read rankings of candidates out of files.

    Args:
        paths: CSV (see `ballot_csv` for its two forms), PrefLib files (`.soc .soi .toc .toi`),
            ranking logs of Tiebreak (`.eval`, `.json`) and folders of these logs, in any mix.
        drop_unranked: leave out, and note, the candidates that are named and never ranked.

    Returns:
        One entry per CSV or PrefLib file, as given; then one per benchmark and protocol of all
        ranking logs together, by name.

    Raises:
        TableError: one subclass for each thing that can be wrong with a file.
        MissingPackageError: a PrefLib file is given and preflibtools is not installed.
    """
    given = [paths] if isinstance(paths, (str, PathLike)) else list(paths)
    if not given:
        raise NoBallotError("no file was given; give CSV or PrefLib files, or ranking logs")
    read: list[BallotFile] = []
    logs: list[str] = []
    for path in map(Path, given):
        suffix = path.suffix.lower()
        if not path.exists():
            raise missing_file(path)
        if path.is_dir() or suffix in _LOGS:
            logs.append(str(path))
        elif suffix in SUFFIXES:
            read.append(read_preflib(path, drop_unranked=drop_unranked))
        elif suffix in _CSV:
            read.append(read_ballot_csv(path, drop_unranked=drop_unranked))
        else:
            raise UnknownFormatError(
                f"{path}: ballots are read from CSV ({', '.join(_CSV)}), PrefLib's rankings "
                f"({', '.join(SUFFIXES)}) and ranking logs ({', '.join(_LOGS)}); rename or convert"
            )
    if logs:
        # Importing Inspect takes seconds; a CSV file need not wait for it.
        from tiebreak.tables.ranking_logs import read_ballots_of_logs

        read += read_ballots_of_logs(logs)
    return read
