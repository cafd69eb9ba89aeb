"""The places where programs run, and a run in one of them."""

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from tiebreak.sandbox import box, command

ROOT = os.geteuid() == 0
SYSTEM = Path("/usr/bin/python3")
"""A Python that every user can read, where this one belongs to root."""

AS_NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")


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


BOXES = ("box of root", "box of a user") if ROOT and SYSTEM.exists() else ("box",)
CONTAINERS = ("container of root", "container of a user") if ROOT and SYSTEM.exists() else ()


@cache
def place(name: str) -> Place:
    """One of BOXES, or what a process in one of CONTAINERS is to its neighbours."""
    who = AS_NOBODY if name.endswith("a user") else ()
    if name in CONTAINERS:
        return Place(who, str(SYSTEM), {})
    if who:
        return Place(who, str(SYSTEM), {"box": user_box()})
    return Place((), sys.executable, {"box": box.box()})


def run_in(name: str, given: dict[str, Any], attacker: str = "") -> dict[str, Any]:
    """The verdict, or the exit status of a supervisor that was ended.

    Args:
        name: The place.
        given: The order, but for what it says of the place.
        attacker: Source of a candidate's `main` that is the attacker's from the start.
    """
    start, python, says = place(name)
    line = [*start, *command(python)]
    if attacker:
        line[line.index("tiebreak.sandbox.run_program") + 1] = attacker
    done = subprocess.run(
        line,
        input=json.dumps({**given, **says}),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stderr == ""
    if done.returncode != 0:
        return {"status": done.returncode, "said": done.stdout}
    found: dict[str, Any] = json.loads(done.stdout)
    assert found.pop("nonce") == given["nonce"]
    return found
