"""The places where programs run, and a run in one of them."""

import json
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from tiebreak.sandbox import box, command
from tiebreak.sandbox.box import Box

ROOT = os.geteuid() == 0
SYSTEM = Path("/usr/bin/python3")
"""A Python that every user can read, where this one belongs to root."""

AS_NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")


class Place(NamedTuple):
    """Where a program is run: what starts its supervisor, with which Python, and in which box."""

    start: tuple[str, ...]
    python: str
    around: Box | None = None
    trusted: bool = False


def user_box() -> Box:
    """The box that a user other than root has around the system's Python."""
    lines = "import os, sys; print(os.path.dirname(os.__file__), sys.executable)"
    done = subprocess.run([SYSTEM, "-I", "-c", lines], capture_output=True, text=True, check=True)
    library, python = (Path(part).resolve() for part in done.stdout.split())
    mounts = tuple(box.options(python, library, as_root=False))
    made = box.box()
    Path(made.filter.name).chmod(0o644)
    return made._replace(options=mounts, python=str(python))


BOXES = ("box of root", "box of a user") if ROOT and SYSTEM.exists() else ("box",)
CONTAINERS = ("container of root", "container of a user") if ROOT and SYSTEM.exists() else ()


@cache
def place(name: str) -> Place:
    """One of BOXES, what a process in one of CONTAINERS is to its neighbours, or what is here."""
    who = AS_NOBODY if name.endswith("a user") else ()
    if name in CONTAINERS:
        return Place(who, str(SYSTEM))
    if name == "here" and box.boundary(trust_code=True) == "local":
        return Place((), sys.executable, trusted=True)
    if who:
        return Place(who, "python3", user_box())
    return Place((), "python3", box.box())


def run_in(name: str, given: dict[str, Any], attacker: str = "") -> dict[str, Any]:
    """The verdict, or the exit status of a supervisor that was ended.

    Args:
        name: the place.
        given: the order, but for what it says of the place.
        attacker: source of a candidate's `main` that is the attacker's from the start.
    """
    start, python, around, trusted = place(name)
    line = command(python)
    if attacker:
        line[line.index("tiebreak.sandbox.run_program") + 1] = attacker
    folder = box.new_folder()
    if around:
        line = around.line(folder, line)
    try:
        done = subprocess.run(
            [*start, *line],
            input=json.dumps({**given, "trusted": trusted}),
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
    finally:
        shutil.rmtree(folder)
    assert done.stderr == ""
    if done.returncode != 0:
        return {"status": done.returncode, "said": done.stdout}
    found: dict[str, Any] = json.loads(done.stdout)
    assert found.pop("nonce") == given["nonce"]
    return found
