"""Runs commands in processes of their own, which are forked from one that has imported all.

    python -m tests.forking        orders on stdin, a process id and an exit code on stdout

So a command starts at once, and can be killed as any process can: it shares nothing with others but
its folder. `Forks` is the other end.
"""

import importlib.metadata
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from inspect_ai.model import get_model_info

from tests.harness import ROOT, environment

WANTED = (
    *("tiebreak.inspect_tasks._registry", "tiebreak.publish.write_back.verdict", "planted_judge"),
    *("scipy.stats", "fastapi", "uvicorn.protocols.http.auto", "inspect_ai.agent._acp.server"),
)
"""What a run imports on its way, which takes most of its time."""

PATIENCE = 300.0
"""Seconds after which a command hangs."""


class Forks:
    """Starts commands, one at a time."""

    def __init__(self, server: "subprocess.Popen[bytes]") -> None:
        assert server.stdin is not None
        assert server.stdout is not None
        self._in, self._out = server.stdin, server.stdout

    @staticmethod
    @contextmanager
    def serving(**more: str) -> Iterator["Forks"]:
        """A process that has imported all, until the block ends; `more` is for its environment."""
        env = environment(**more)
        env["PYTHONPATH"] = os.pathsep.join([env["PYTHONPATH"], str(ROOT)])
        command = [sys.executable, "-m", "tests.forking"]
        # Without a buffer, so that `select` sees every line that is there.
        with subprocess.Popen(
            command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
        ) as server:
            try:
                yield Forks(server)
            finally:
                server.kill()

    def run(
        self,
        *command: str,
        cwd: Path,
        env: Mapping[str, str],
        kill: Callable[[], bool] = lambda: False,
    ) -> bool:
        """Run a command such as `inspect eval …`; whether it was killed before its end.

        Args:
            command: a console script and its arguments; it must end with 0.
            cwd: where it runs, and leaves all that it prints in `printed`.
            env: what is added to its environment.
            kill: asked again and again whether it is time to kill it.
        """
        order = {"command": command, "cwd": str(cwd), "env": dict(env)}
        self._in.write(f"{json.dumps(order)}\n".encode())
        pid = int(self._line())
        deadline = time.monotonic() + PATIENCE
        killed = False
        while not self._ended():
            assert time.monotonic() < deadline, f"{command} hangs"
            if kill():
                os.kill(pid, signal.SIGKILL)
                killed = True
                break
        code = int(self._line())
        if killed and code == -signal.SIGKILL:
            return True
        assert code == 0, (cwd / "printed").read_text()
        return False

    def _ended(self) -> bool:
        return bool(select.select([self._out], [], [], 0.001)[0])

    def _line(self) -> bytes:
        return self._out.readline()


def serve() -> None:
    """Run orders until there are no more."""
    for name in WANTED:
        import_module(name)
    # What else takes half of a second in every run, and is the same in all of them.
    search = cache(importlib.metadata.packages_distributions)
    search()
    importlib.metadata.packages_distributions = search
    get_model_info("planted/x")
    load = {name: _script(name) for name in ("inspect", "tiebreak")}
    for line in sys.stdin:
        order = json.loads(line)
        if pid := os.fork():
            print(pid, flush=True)
            _, status = os.waitpid(pid, 0)
            print(os.waitstatus_to_exitcode(status), flush=True)
        else:
            os._exit(_run(load[order["command"][0]], **order))


def _script(name: str) -> Callable[[], Any]:
    [script] = entry_points(group="console_scripts", name=name)
    found: Callable[[], Any] = script.load()
    return found


def _run(main: Callable[[], Any], command: list[str], cwd: str, env: Mapping[str, str]) -> int:
    os.environ.update({**env, "PWD": cwd})
    os.chdir(cwd)
    printed = os.open("printed", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for own in (1, 2):
        os.dup2(printed, own)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.argv = command
    try:
        main()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(bool(end.code))
    except BaseException as error:
        print(repr(error), file=sys.stderr)
        return 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    return 0


if __name__ == "__main__":
    serve()
