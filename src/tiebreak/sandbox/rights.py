"""Rights that a process gives up before it runs other people's code."""

from __future__ import annotations

import os
import sys

NOBODY = 65534


def drop_privileges() -> None:
    """If this process is root, become nobody for good: root ignores limits on processes.

    Raises:
        OSError: it would stay root, or nobody could not read Python here.
    """
    if 0 not in (os.getuid(), os.geteuid()):
        return
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)
    if 0 in (os.getuid(), os.geteuid()):
        raise PermissionError("it would stay root")
    if not os.access(os.__file__, os.R_OK):
        raise PermissionError(f"only root can read Python here ({os.__file__})")


def set_limits(cpu_seconds: int, memory_bytes: int) -> None:
    """Bound CPU time, memory, files and processes.

    Raises:
        OSError: the system refuses a limit.
        ValueError: it refuses a limit.
    """
    import resource

    for limit, soft, hard in (
        (resource.RLIMIT_CPU, cpu_seconds, cpu_seconds + 1),
        (resource.RLIMIT_AS, memory_bytes, memory_bytes),
        (resource.RLIMIT_FSIZE, 0, 0),
        (resource.RLIMIT_NPROC, 0, 0),
        (resource.RLIMIT_NOFILE, 16, 16),
        (resource.RLIMIT_CORE, 0, 0),
    ):
        # On macOS a process cannot limit its memory.
        if limit != resource.RLIMIT_AS or sys.platform != "darwin":
            resource.setrlimit(limit, (soft, hard))


def isolate_process() -> bool:
    """Never gain rights by starting programs, and hide memory and channels from other processes.

    Others are processes of the same user; what root may do stays. False where this is not Linux.
    """
    try:
        import ctypes

        prctl = ctypes.CDLL(None).prctl
        prctl(38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS; children inherit it
        prctl(4, 0, 0, 0, 0)  # PR_SET_DUMPABLE
        return bool(prctl(3, 0, 0, 0, 0) == 0)  # PR_GET_DUMPABLE
    except (ImportError, OSError, AttributeError):
        return False
