"""The box around a process on this machine: namespaces of bubblewrap, a filter of libseccomp.

In it are the standard library of this Python and the system's libraries, to read, and nothing else:
no file to write to, no home, no network, no other process, and no system call that leads to a part
of the kernel which a computation does not need. Whatever machine code runs there, Python's goodwill
does not come into it.
"""

import base64
import ctypes
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

from tiebreak.prerequisite import PrerequisiteError
from tiebreak.sandbox import command, harmless_order
from tiebreak.sandbox.rights import NOBODY

_LIBRARIES: Final = (
    *("/usr/lib", "/usr/lib64", "/usr/local/lib", "/lib", "/lib64", "/nix/store"),
    "/etc/ld.so.cache",
)
_DEVICES: Final = ("/dev/null", "/dev/urandom")

# No computation needs them, and most faults of kernels that let a process out were in them.
_REFUSED: Final = (
    # Other processes, and what is shared with them.
    *("ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "kcmp"),
    *("pidfd_getfd", "pidfd_send_signal", "shmget", "shmat", "shmctl", "msgget", "semget"),
    *("mq_open", "add_key", "keyctl", "request_key"),
    # The network: some sockets, such as a virtual machine's, are in no namespace.
    *("socket", "socketcall"),
    # Namespaces and mounts.
    *("unshare", "setns", "mount", "umount", "umount2", "move_mount", "open_tree", "fsopen"),
    *("fsconfig", "fsmount", "fspick", "mount_setattr", "pivot_root", "chroot"),
    *("open_by_handle_at", "name_to_handle_at", "fanotify_init"),
    # Doors of the kernel that are seldom used.
    *("bpf", "perf_event_open", "userfaultfd", "io_uring_setup", "io_uring_enter"),
    *("io_uring_register", "memfd_secret", "modify_ldt", "personality", "vhangup", "syslog"),
    *("iopl", "ioperm", "kexec_load", "kexec_file_load", "init_module", "finit_module"),
    *("delete_module", "reboot", "swapon", "swapoff", "acct", "quotactl", "lookup_dcookie"),
)
_ALLOW: Final = 0x7FFF0000
_NOT_PERMITTED: Final = 0x00050001

_TRIAL: Final = """\
import os, socket
if os.getuid() == 0:
    os.setgroups([])
    os.setgid({nobody})
    os.setuid({nobody})
open(os.__file__).close()
try:
    socket.socket()
except PermissionError:
    print("boxed")
"""


MISSING: Final = (
    "The sandbox `local` needs bubblewrap around the code of answers: {why} (Debian, Ubuntu: apt "
    "install bubblewrap libseccomp2). Use docker, or, for code that you trust, add "
    "-T trust_code=true (tiebreak score-code: --trust-code)."
)


def boundary(trust_code: bool = False) -> Mapping[str, Any]:
    """What an order says of the place where its program runs, if that is this machine.

    Args:
        trust_code: Whether programs may run without a box where none can be had.

    Raises:
        PrerequisiteError: there is no box, and without one programs must not or cannot run here.
    """
    try:
        return {"box": box()}
    except PrerequisiteError as error:
        missing = MISSING.format(why=error)
        if not trust_code:
            raise PrerequisiteError(missing) from error
    try:
        return bare()
    except PrerequisiteError as error:
        raise PrerequisiteError(f"{missing} Trusted code cannot run here: {error}.") from error


@cache
def bare() -> Mapping[str, Any]:
    """What an order says for a program that is trusted.

    Raises:
        PrerequisiteError: none can run here, such as one that would be root.
    """
    place = {"trusted": True}
    done = subprocess.run(
        command(sys.executable),
        input=json.dumps({**harmless_order(), **place}),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    verdict = json.loads(done.stdout) if done.returncode == 0 else {"error": done.stderr[-300:]}
    if verdict.get("passed") is not True:
        why = verdict.get("error") or verdict.get("silent") or verdict["why"]
        raise PrerequisiteError(str(why))
    return place


@cache
def box() -> Mapping[str, Any]:
    """What an order needs to say for processes of this Python to be in boxes.

    Raises:
        PrerequisiteError: bubblewrap or libseccomp is missing, or does not work here.
    """
    bwrap = shutil.which("bwrap")
    if bwrap is None:
        raise PrerequisiteError("bubblewrap is not installed")
    python = Path(getattr(sys, "_base_executable", None) or sys.executable).resolve()
    found = {
        "bwrap": bwrap,
        "options": list(options(python, Path(os.__file__).resolve().parent, os.geteuid() == 0)),
        "python": str(python),
        "filter": base64.b64encode(refusing(_REFUSED)).decode("ascii"),
    }
    try_out(found)
    return found


def options(python: Path, library: Path, as_root: bool) -> Iterator[str]:
    """Options of bubblewrap.

    Args:
        python: The interpreter's file.
        library: Folder of its standard library.
        as_root: Whether root starts it. Then no user namespace is needed; the process keeps the
            right to become another user, which it does at once and which is its last.
    """
    yield from ("--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts")
    yield from ("--unshare-cgroup-try", "--die-with-parent", "--new-session")
    if as_root:
        yield from ("--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID")
    else:
        yield "--unshare-user"
    shown = [*map(Path, _LIBRARIES), library, python]
    if library.parent.name.startswith("lib"):
        shown.append(library.parent)  # what the interpreter is linked to
    places = sorted({path for path in shown if path.exists()}, key=lambda path: path.parts)
    folders = {parent for path in (*places, *map(Path, _DEVICES)) for parent in path.parents}
    for folder in sorted(folders - {Path("/")}):
        if not any(place == folder or place in folder.parents for place in places):
            yield from ("--dir", str(folder))  # by themselves they would be root's alone
    for place in places:
        if place.is_symlink():
            yield from ("--symlink", str(place.readlink()), str(place))
        elif not any(other in place.parents for other in places):
            yield from ("--ro-bind", str(place), str(place))
    for device in _DEVICES:
        yield from ("--dev-bind", device, device)
    yield from ("--remount-ro", "/", "--chdir", "/")


def refusing(names: Sequence[str]) -> bytes:
    """A filter that refuses some system calls, as the kernel reads it.

    Raises:
        PrerequisiteError: libseccomp is missing, or cannot make it.
    """
    try:
        library = ctypes.CDLL("libseccomp.so.2")
    except OSError as error:
        raise PrerequisiteError("libseccomp is not installed") from error
    library.seccomp_init.restype = ctypes.c_void_p
    rules = ctypes.c_void_p(library.seccomp_init(ctypes.c_uint32(_ALLOW)))
    try:
        for name in names:
            number = library.seccomp_syscall_resolve_name(name.encode("ascii"))
            # Negative numbers are calls that this kind of processor does not have.
            if number >= 0 and library.seccomp_rule_add_array(
                rules, ctypes.c_uint32(_NOT_PERMITTED), number, 0, None
            ):
                raise PrerequisiteError(f"libseccomp cannot refuse {name}")
        with tempfile.TemporaryFile() as file:
            if library.seccomp_export_bpf(rules, file.fileno()):
                raise PrerequisiteError("libseccomp cannot make a filter")
            file.seek(0)
            return file.read()
    finally:
        library.seccomp_release(rules)


def try_out(found: Mapping[str, Any]) -> None:
    """Run a few lines in a box.

    Raises:
        PrerequisiteError: they did not run, or outside of one.
    """
    line = [found["bwrap"], "--seccomp", "0", *found["options"], "--", found["python"]]
    code = _TRIAL.format(nobody=NOBODY)
    with tempfile.TemporaryFile() as file:
        file.write(base64.b64decode(found["filter"]))
        file.seek(0)
        try:
            done = subprocess.run(
                [*line, "-I", "-S", "-c", code],
                stdin=file,
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise PrerequisiteError(f"bubblewrap does not work here: {error}") from error
    if done.stdout != "boxed\n":
        said = (done.stderr or done.stdout).strip().splitlines()[-1:] or ["no reason given"]
        raise PrerequisiteError(f"bubblewrap does not work here: {said[0][:300]}")
