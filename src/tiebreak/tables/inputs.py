"""Ballots out of files of any kind."""

from pathlib import Path

from tiebreak.paths import Paths, path_list
from tiebreak.tables.ballots import CSV, LOGS, PREFLIB, BallotFile
from tiebreak.tables.errors import TableError, missing_file


def read_ballots(paths: Paths, *, drop_unranked: bool = False) -> list[BallotFile]:
    """Read rankings of candidates out of files; the suffix says of what kind a file is.

    Args:
        paths: CSV (see `ballot_csv` for its two forms), PrefLib files (`.soc .soi .toc .toi`),
            ranking logs of Tiebreak (`.eval`, `.json`) and folders of these logs, in any mix.
        drop_unranked: leave out, and note, the candidates that are named and never ranked.

    Returns:
        One entry per CSV or PrefLib file, as given; then one per benchmark and protocol of all
        ranking logs together, by name.

    Raises:
        TableError: a file does not exist or cannot be read as ballots.
        MissingPackageError: a PrefLib file is given and preflibtools is not installed.
    """
    given = path_list(paths)
    if not given:
        raise TableError("no file was given; give CSV or PrefLib files, or ranking logs")
    read: list[BallotFile] = []
    logs: list[str] = []
    for path in map(Path, given):
        suffix = path.suffix.lower()
        if not path.exists():
            raise missing_file(path)
        if path.is_dir() or suffix in LOGS:
            logs.append(str(path))
        elif suffix in PREFLIB:
            from tiebreak.tables.preflib import read_preflib

            read.append(read_preflib(path, drop_unranked=drop_unranked))
        elif suffix in CSV:
            from tiebreak.tables.ballot_csv import read_ballot_csv

            read.append(read_ballot_csv(path, drop_unranked=drop_unranked))
        else:
            raise TableError(
                f"{path}: ballots are read from CSV ({', '.join(CSV)}), PrefLib's rankings "
                f"({', '.join(PREFLIB)}) and ranking logs ({', '.join(LOGS)}); rename or convert"
            )
    if logs:
        # Importing Inspect takes seconds; a CSV file need not wait for it.
        from tiebreak.tables.ranking_logs import read_ballots_of_logs

        read += read_ballots_of_logs(logs)
    return read
