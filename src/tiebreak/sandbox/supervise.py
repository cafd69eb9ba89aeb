"""The supervisor: starts examiner and candidate, and trusts only the examiner."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import time

from tiebreak.sandbox.rights import isolate_process

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LONGEST_LINE = 100_000
SECONDS_TO_START = 20
SECONDS_TO_END = 10
"""What the examiner has beyond the program's time."""

_ROOM = "tiebreak.sandbox."
_EXAMINER = ("plain_data", "rights", "run_tests")
_CANDIDATE = ("plain_data", "rights", "run_program")
_CANDIDATES_PART = ("program", "entry_point", "cpu_seconds", "wall_seconds", "memory_bytes")
_EXAMINERS_PART = ("prompt", "test", "entry_point", "wall_seconds", "memory_bytes", "nonce")


def main() -> None:
    """Read an order from standard input and print the verdict."""
    order = json.load(sys.stdin)
    print(json.dumps({**supervise(order), "nonce": order["nonce"]}))


def supervise(order: dict[str, Any]) -> dict[str, object]:
    """The verdict on a program, or why there is none; see `sandbox.command`."""
    # Before the candidate is there: what it cannot open now it could never open.
    if not (isolate_process() or order["trusted"]):
        return {"error": "nothing hides the memory of the tests from the program here"}
    asks, requests = os.pipe()
    replies, answers = os.pipe()
    running: list[subprocess.Popen[bytes]] = []
    try:
        candidate = start(_CANDIDATE, asks, answers)
        running.append(candidate)
        os.close(asks)
        os.close(answers)
        examiner = start(_EXAMINER, subprocess.PIPE, subprocess.PIPE, (requests, replies))
        running.append(examiner)
        sent = json.dumps({name: order[name] for name in _CANDIDATES_PART}) + "\n"
        send(requests, sent.encode("ascii"))
        ready = first_line(replies, SECONDS_TO_START)
        if not ready.endswith(b"\n"):
            return {"error": f"the process did not start: {exit_reason(candidate, order)}"}
        if ready != b'"ready"\n':
            return {"error": ready.decode("utf-8", "replace").strip().strip('"')[:300]}
        os.close(requests)
        os.close(replies)
        return examined(examiner, candidate, order, (requests, replies))
    except OSError as error:
        return {"error": f"no process could be started: {error}"}
    finally:
        for process in running:
            kill(process)


def start(
    modules: tuple[str, ...], stdin: int, stdout: int, channels: tuple[int, ...] = ()
) -> subprocess.Popen[bytes]:
    """A process that runs some of the modules that this one got on its command line.

    It runs `main` of the last one, and keeps further file descriptors, the channels.
    """
    names = [_ROOM + module for module in modules]
    sources = dict(zip(sys.argv[3::2], sys.argv[4::2]))  # noqa: B905 - Python 3.9
    given = [part for name in names for part in (name, sources[name])]
    line = [sys.executable, "-s", "-S", "-W", "ignore", "-c", "import sys; exec(sys.argv[1])"]
    return subprocess.Popen(
        [*line, sys.argv[1], ",".join(names), *given],
        stdin=stdin,
        stdout=stdout,
        stderr=subprocess.DEVNULL,
        pass_fds=channels,
        cwd="/",
        env={"PYTHONHASHSEED": "0"},  # so that sets have the same order in every run
        start_new_session=True,
    )


def examined(
    examiner: subprocess.Popen[bytes],
    candidate: subprocess.Popen[bytes],
    order: dict[str, Any],
    channels: tuple[int, int],
) -> dict[str, object]:
    """The examiner's verdict, if it has the nonce and the process ended properly."""
    assert examiner.stdin
    assert examiner.stdout
    part = {name: order[name] for name in _EXAMINERS_PART}
    part.update(channels=channels, hidden=not order["trusted"])
    with contextlib.suppress(OSError):
        examiner.stdin.write(json.dumps(part).encode("ascii"))
        examiner.stdin.close()
    line = first_line(examiner.stdout.fileno(), order["wall_seconds"] + SECONDS_TO_END)
    try:
        verdict = json.loads(line)
        status = examiner.wait(SECONDS_TO_END)
    except (subprocess.TimeoutExpired, ValueError, RecursionError) as error:
        return {"silent": f"the examiner gave no verdict: {type(error).__name__}"}
    if status != 0:
        return {"silent": f"the examiner ended with exit status {status}"}
    if not isinstance(verdict, dict) or verdict.get("nonce") != order["nonce"]:
        return {"silent": "a verdict of unknown origin"}
    if "error" in verdict:
        return {"error": str(verdict["error"])}
    if verdict["closed"]:
        return {"passed": False, "why": f"stopped: {exit_reason(candidate, order)}"}
    # The program had a say in it: nothing that does something to a terminal.
    why = "".join(sign if sign.isprintable() else "?" for sign in str(verdict["why"])[:400])
    return {"passed": verdict["passed"] is True, "why": why}


def send(channel: int, data: bytes) -> None:
    """Write all data, unless the reader has gone."""
    with contextlib.suppress(BrokenPipeError):
        while data:
            data = data[os.write(channel, data) :]


def first_line(channel: int, seconds: float) -> bytes:
    """Read up to the end of the first line and not a byte more; less if time runs out."""
    line, end = b"", time.monotonic() + seconds
    while not line.endswith(b"\n") and len(line) < LONGEST_LINE:
        left = end - time.monotonic()
        if left <= 0 or not select.select([channel], [], [], left)[0]:
            break
        byte = os.read(channel, 1)
        if not byte:
            break
        line += byte
    return line


def exit_reason(process: subprocess.Popen[bytes], order: dict[str, Any]) -> str:
    """The reason why the candidate stopped answering."""
    try:
        status = process.wait(2)
    except subprocess.TimeoutExpired:
        return "it closed its channel"
    if status == -signal.SIGXCPU:
        return f"it used more than {order['cpu_seconds']} s of CPU time"
    with contextlib.suppress(ValueError):
        return f"its process ended ({signal.Signals(-status).name if status < 0 else status})"
    return f"its process ended ({status})"


def kill(process: subprocess.Popen[bytes]) -> None:
    """End a process and all processes that it started."""
    with contextlib.suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for pipe in (process.stdin, process.stdout):
        # What is left in a pipe has no reader.
        with contextlib.suppress(OSError):
            pipe and pipe.close()
