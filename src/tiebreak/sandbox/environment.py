"""The box as a sandbox of Inspect, for any task: `--sandbox bubblewrap`."""

import os
import shutil
from functools import partial
from typing import Any, Literal, overload

import anyio.to_thread
from inspect_ai.util import (
    ExecResult,
    OutputLimitExceededError,
    SandboxEnvironment,
    SandboxEnvironmentConfigType,
    SandboxEnvironmentLimits,
    SandboxUserUnsupportedError,
    sandboxenv,
    subprocess,
)

from tiebreak.prerequisite import PrerequisiteError
from tiebreak.sandbox.box import HOME, box, new_folder

_FILE_SECONDS = 60
# Files are opened in the box, where a link leads to nothing outside.
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
    """A folder of this machine, and commands that see it and the system's programs alone.

    A command runs in a box of its own, as a user other than root, without network; what it leaves
    running ends with it. Nothing but time limits what it uses of processors, memory and disk.
    """

    def __init__(self) -> None:
        super().__init__()
        self._box = box()
        self._folder = new_folder()

    @classmethod
    async def task_init(cls, task_name: str, config: SandboxEnvironmentConfigType | None) -> None:
        """Find out whether there can be a box.

        Raises:
            PrerequisiteError: there is none, or a configuration is given.
        """
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
            try:  # it may have been closed to its own user
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
            PermissionError: the command is no program that may be run.
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
        """Read so many bytes of a file at most, or with 0 write it."""
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
        return await subprocess(line, text=False, input=input, output_limit=limit + 1, **how)
