"""Who may read a bank's file: it holds all keys, so nobody but its owner."""

import os
import shlex
import stat
from contextlib import suppress
from pathlib import Path
from typing import Final

from sqlalchemy import make_url

COMPANIONS: Final = ("", "-wal", "-shm", "-journal")
"""What SQLite keeps of a bank: the file, and others beside it, which get the file's rights."""

_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO


def make_private(path: Path) -> None:
    """An empty file for a new bank, for its owner alone whatever the umask is."""
    # Where none can be made SQLite says why.
    with suppress(OSError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))


def open_to_others(url: str) -> str:
    """A sentence about files of a bank that others than their owner can use; "" without any."""
    sqlite = "://" not in url or url.startswith("sqlite")
    path = make_url(url).database if sqlite and "://" in url else url
    if not sqlite or not path or os.name == "nt":
        return ""
    files = [Path(path + end) for end in COMPANIONS]
    wide = [str(file) for file in files if file.is_file() and file.stat().st_mode & _OTHERS]
    if not wide:
        return ""
    return (
        "other users of this machine may use the bank's file, with its keys: "
        f"chmod 600 {shlex.join(wide)}"
    )
