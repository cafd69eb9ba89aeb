"""What is around the two processes: nothing that machine code tries from one reaches further."""

import json
import os
import platform
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import Mock

import pytest

from tests.inspect_tasks.escapes import ANYWHERE, ATTACKER, FORGER, IN_A_BOX
from tiebreak.inspect_tasks.sandboxed import box, command, order
from tiebreak.inspect_tasks.unit_tests import sandbox_of
from tiebreak.prerequisite import PrerequisiteError

pytestmark = pytest.mark.skipif(
    not shutil.which("bwrap") and "CI" not in os.environ, reason="needs bubblewrap"
)
ROOT = os.geteuid() == 0
SYSTEM = Path("/usr/bin/python3")
"""A Python that every user can read, where this one belongs to root."""

AS_NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
TEST = "def check(add):\n    assert add(1, 2) == 3\n"
ADD = "def add(a, b):\n    return a + b\n"
PASSED = {"passed": True, "why": ""}


class Place(NamedTuple):
    """Where a program is run: what starts its supervisor, with which Python, and the order."""

    start: tuple[str, ...]
    python: str
    says: dict[str, Any]


def user_box() -> dict[str, Any]:
    """The box that a user other than root has around the system's Python."""
    lines = "import os, sys; print(os.path.dirname(os.__file__), sys.executable)"
    done = subprocess.run([SYSTEM, "-I", "-c", lines], capture_output=True, text=True, check=True)
    library, python = (Path(part).resolve() for part in done.stdout.split())
    mounts = list(box.options(python, library, as_root=False))
    return {**box.box(), "options": mounts, "python": str(python)}


def places() -> dict[str, Place]:
    boxed = Place((), sys.executable, {"box": box.box()})
    if not ROOT or not SYSTEM.exists():
        return {"box": boxed}
    return {
        "box of root": boxed,
        "box of a user": Place(AS_NOBODY, str(SYSTEM), {"box": user_box()}),
        "container of root": Place((), str(SYSTEM), {}),
        "container of a user": Place(AS_NOBODY, str(SYSTEM), {}),
    }


PLACES = places() if shutil.which("bwrap") else {"box": Place((), sys.executable, {})}


def run_in(place: Place, given: dict[str, Any], attacker: str = "") -> dict[str, Any]:
    """The verdict, or the exit status of a supervisor that was ended."""
    line = [*place.start, *command(place.python)]
    if attacker:
        line[line.index("tiebreak.inspect_tasks.sandboxed.run_program") + 1] = attacker
    done = subprocess.run(
        line, input=json.dumps(given), capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stderr == ""
    if done.returncode != 0:
        return {"status": done.returncode, "said": done.stdout}
    found: dict[str, Any] = json.loads(done.stdout)
    assert found.pop("nonce") == given["nonce"]
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", PLACES)
def test_programs_run_there(name: str) -> None:
    program = f"import os\n{ADD}assert os.getuid() != 0\n"
    assert run_in(PLACES[name], order(program, "", TEST, "add", **PLACES[name].says)) == PASSED


@pytest.fixture
def server() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening.getsockname()[1]


@pytest.mark.slow
@pytest.mark.skipif(platform.machine() != "x86_64", reason="names system calls by number")
@pytest.mark.parametrize("name", PLACES)
def test_machine_code_gets_nowhere(name: str, tmp_path: Path, server: int) -> None:
    place = PLACES[name]
    attempts = {**ANYWHERE, **(IN_A_BOX if "box" in place.says else {})}
    (tmp_path / "canary").write_text("alive")
    victim = subprocess.Popen([*place.start, "sleep", "600"])
    given = order(
        "",
        "",
        "def check(add):\n    left = add(0, 0)\n    assert not left, left\n",
        "add",
        **place.says,
    )
    known = {
        "ATTEMPTS": attempts,
        "CANARY": str(tmp_path / "canary"),
        "NEW": str(tmp_path / "new"),
        "VICTIM": victim.pid,
        "PORT": server,
        "ECNON": given["nonce"][::-1],
    }
    head = "".join(f"{key} = {value!r}\n" for key, value in known.items())
    try:
        assert run_in(place, given, head + ATTACKER) == PASSED
        assert victim.poll() is None
        assert [path.name for path in tmp_path.iterdir()] == ["canary"]
    finally:
        victim.kill()
        victim.wait()


@pytest.mark.slow
@pytest.mark.parametrize("name", PLACES)
@pytest.mark.parametrize("before", ["pass", "for end in ends: write(end)"])
def test_no_verdict_is_forged(name: str, before: str) -> None:
    place = PLACES[name]
    forger = FORGER.replace("BEFORE", before)
    verdict = run_in(place, order("", "", TEST, "add", **place.says), forger)
    # It may end its own supervisor where both are of one user: then there is no verdict at all.
    assert verdict.get("passed") is not True
    assert verdict.get("said", "") == ""


# What stands for bubblewrap on a machine, and what is said of it.
NO_BOXES = {
    "none": (None, "bubblewrap is not installed"),
    "not allowed": ("echo 'bwrap: setting up uid map: denied' >&2; exit 1", "uid map: denied"),
    "no box": ('while [ "$1" != -- ]; do shift; done; shift; exec "$@"', "does not work here"),
    "silent": ("exit 0", "no reason given"),
}


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that is the whole search path; nothing is known of this machine's boxes."""
    monkeypatch.setenv("PATH", str(tmp_path))
    known = (box.box, box.bare)
    for function in known:
        function.cache_clear()
    yield tmp_path
    for function in known:
        function.cache_clear()


def install(folder: Path, script: str | None) -> None:
    if script is not None:
        (folder / "bwrap").write_text(f"#!/bin/sh\n{script}\n")
        (folder / "bwrap").chmod(0o755)


@pytest.mark.slow
@pytest.mark.parametrize("name", NO_BOXES)
def test_without_a_box_no_code_runs_here(name: str, machine: Path) -> None:
    script, why = NO_BOXES[name]
    install(machine, script)
    with pytest.raises(PrerequisiteError, match="apt install bubblewrap") as refused:
        sandbox_of("local", confirm_run_unsafe_code=True)
    assert why in str(refused.value)
    assert "-T trust_code=true" in str(refused.value)
    assert sandbox_of("docker")


def test_without_a_filter_no_code_runs_here(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(machine, "exit 0")
    monkeypatch.setattr("ctypes.CDLL", Mock(side_effect=OSError("not found")))
    with pytest.raises(PrerequisiteError, match="libseccomp is not installed"):
        sandbox_of("local", confirm_run_unsafe_code=True)


@pytest.mark.slow
def test_trusted_code_runs_without_a_box_but_never_as_root(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trusted = {"confirm_run_unsafe_code": True, "trust_code": True}
    with pytest.raises(PrerequisiteError, match="without a container"):
        sandbox_of("local", trust_code=True)
    if ROOT and SYSTEM.exists():
        monkeypatch.setattr(sys, "executable", str(SYSTEM))
    assert sandbox_of("local", **trusted) == "local"
    assert box.boundary(trust_code=True) == {"trusted": True}
    # A Python that root alone can read: a copy of it has its library in a closed folder.
    if ROOT and SYSTEM.exists():
        box.bare.cache_clear()
        monkeypatch.setattr(box, "command", lambda python: closed(command(python)))
        with pytest.raises(PrerequisiteError, match="only root can read Python here"):
            sandbox_of("local", **trusted)


def closed(line: list[str]) -> list[str]:
    """The supervisor of a Python whose library nobody can read."""
    at = line.index("tiebreak.inspect_tasks.sandboxed.rights") + 1
    line[at] = line[at].replace("os.access(os.__file__, os.R_OK)", "os.access('/root', os.R_OK)")
    return line
