"""Running the real command lines: `inspect`, `lm_eval` and `tiebreak` in processes of their own."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
PLUGIN = ROOT / "tests" / "plugin"
BIN = Path(sys.executable).parent


def environment(**more: str) -> dict[str, str]:
    """The environment of a harness process: the planted judge can be found, no display, no hub."""
    path = os.pathsep.join([str(PLUGIN), *filter(None, [os.environ.get("PYTHONPATH")])])
    return {
        **os.environ,
        "PYTHONPATH": path,
        "INSPECT_DISPLAY": "plain",
        "INSPECT_LOG_LEVEL": "warning",
        "COLUMNS": "100",
        **more,
    }


def run(
    *command: str, cwd: Path, code: int | None = 0, **env: str
) -> subprocess.CompletedProcess[str]:
    """Run a command of the virtual environment, such as `run("inspect", "eval", …, cwd=tmp)`.

    Fails with the whole output when the exit code is not the expected one.
    """
    done = subprocess.run(
        [str(BIN / command[0]), *command[1:]],
        cwd=cwd,
        env=environment(PWD=str(cwd), **env),
        capture_output=True,
        text=True,
        timeout=300,
        stdin=subprocess.DEVNULL,
    )
    if code is not None and done.returncode != code:
        raise AssertionError(
            f"{' '.join(command)} ended with {done.returncode}\n{done.stdout}\n{done.stderr}"
        )
    return done
