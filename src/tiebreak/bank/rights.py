"""Who may read a bank's file: it holds all keys, so nobody but its owner."""

import logging
import os
import shlex
from contextlib import suppress
from pathlib import Path
from typing import Final

COMPANIONS: Final = ("", "-wal", "-shm", "-journal")
"""What SQLite keeps of a bank: the file, and others beside it, which get the file's rights."""

_LOGGER: Final = logging.getLogger(__name__)


def keep_private(path: Path, *, new: bool) -> None:
    """Make an empty file for its owner alone, whatever the umask is, or warn of one that is not."""
    if new:
        # Where none can be made SQLite says why.
        with suppress(OSError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    files = [Path(f"{path}{end}") for end in COMPANIONS]
    wide = [str(file) for file in files if file.is_file() and file.stat().st_mode & 0o077]
    if wide and os.name != "nt":
        _LOGGER.warning(
            "Other users of this machine may use the bank's file, with its keys: chmod 600 %s",
            shlex.join(wide),
        )
