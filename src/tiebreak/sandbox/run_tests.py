"""The examiner: holds the tests of one program, and trusts nothing that its process says.

The tests are somebody else's code, too: they run as little as the program does outside of this
process's own box, as nobody, and within limits. They may do in it what Python can do.
"""

from __future__ import annotations

import builtins
import contextlib
import json
import os
import signal
import site
import sys

from tiebreak.sandbox.plain_data import MOST_BYTES, decode, encode, send
from tiebreak.sandbox.rights import drop_privileges, isolate_process, set_limits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import IO, Any, NoReturn


NOT_THERE = "not there: "
"""Beginning of the reason if a program used something that the box does not have."""

# Types of the errors raised then; the second is defined in `run_program`.
_STOPPED_BY_ITS_PLACE = frozenset({"ModuleNotFoundError", "Refused"})

# Errors of `decode` for data that `encode` did not write.
_NOT_PLAIN = (
    LookupError,
    TypeError,
    ValueError,
    AttributeError,
    ArithmeticError,
    RecursionError,
    MemoryError,
)

# These silently end built-in iteration, so that `all(map(f, cases))` would pass.
_END_OF_ITERATION = (StopIteration, StopAsyncIteration)


class ProgramEnded(BaseException):
    """The candidate answers no more; a BaseException, so that no `except Exception` hides it."""


class Candidate:
    """The program in its process, callable like the function under test."""

    def __init__(self, requests: IO[bytes], replies: IO[bytes], tests: str = "") -> None:
        self.requests, self.replies, self.tests = requests, replies, tests
        self.ended = ""
        self.closed = False
        self.in_use = False

    def ask(self, message: object) -> Any:
        """Send a message and read the candidate's answer; raises ProgramEnded if none comes."""
        if self.ended:
            raise ProgramEnded(self.ended)
        line = b""
        with contextlib.suppress(BrokenPipeError):
            send(self.requests, message)
            line = self.replies.readline(MOST_BYTES)
        if not line.endswith(b"\n"):
            self.closed = not line
            self.end(f"stopped: {'its answer is too long' if line else 'it closed its channel'}")
        try:
            return json.loads(line)
        except (ValueError, RecursionError):
            self.end("stopped: its answer is not plain data")

    def perform(self, *message: object) -> Any:
        """Have the candidate do something, and return its result or raise its error.

        Raises:
            Exception: of the nearest type to the program's error that the tests themselves name,
                once they are in use.
            ProgramEnded: there is no answer, or another error.
        """
        reply = self.ask(message)
        try:
            value, names, text = reply
            value, names, text = decode(value), [str(name) for name in names], str(text)[:150]
        except _NOT_PLAIN:
            self.end("stopped: its answer is not plain data")
        if not names:
            return value
        if not _STOPPED_BY_ITS_PLACE.isdisjoint(names):  # even if the tests expect the type
            self.end(NOT_THERE + text)
        expected = expected_errors(self.tests) if self.in_use else {}
        for name in names:
            if name in expected:
                with contextlib.suppress(TypeError):  # UnicodeDecodeError takes more than a text
                    error = expected[name](text)
                    break
        else:
            self.end(failure(names[0], text, sys._getframe(1), self.tests))
        raise error

    def __call__(self, *args: object, **named: object) -> Any:
        """Call the function under test."""
        self.in_use = True
        return self.perform("call", encode(list(args)), encode(named))

    def end(self, why: str) -> NoReturn:
        """Mark the candidate as ended, for good."""
        self.ended = self.ended or why
        raise ProgramEnded(self.ended)


def main() -> None:
    """Read an order from standard input and print the verdict."""
    order = json.load(sys.stdin)
    # Tests may print, so the verdict has a channel of its own.
    out = os.dup(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    # Tests may import installed packages, programs never. Only then: finding them takes long.
    if "import" in order["prompt"] + order["test"]:
        site.main()
    verdict = {**examine(order), "nonce": order["nonce"]}
    os.write(out, json.dumps(verdict).encode("ascii") + b"\n")
    os._exit(0)  # do not wait for threads or handlers that the tests left behind


def examine(order: dict[str, Any]) -> dict[str, object]:
    """The verdict on a program, or an error of this machine; see `sandbox.command`."""
    try:
        drop_privileges()
        set_limits(order["wall_seconds"] + 1, order["memory_bytes"])
    except (OSError, ValueError) as error:
        return {"error": f"the tests' process could not be limited: {error}"}
    if not isolate_process() and order["hidden"]:
        return {"error": "nothing hides the memory of the tests from the program here"}
    requests, replies = order["channels"]
    candidate = Candidate(os.fdopen(requests, "wb"), os.fdopen(replies, "rb"), order["test"])

    def late(number: int, frame: FrameType | None) -> None:
        # Only during the attempt: nothing else catches it.
        while frame is not None and frame.f_code is not attempt.__code__:
            frame = frame.f_back
        if frame is not None:
            candidate.end(f"stopped: it ran longer than {order['wall_seconds']} s")

    why = ""
    try:
        signal.signal(signal.SIGALRM, late)
        # Repeated every half second, in case a test catches it.
        signal.setitimer(signal.ITIMER_REAL, order["wall_seconds"], 0.5)
        attempt(order, candidate)
    except ProgramEnded:
        pass
    except BaseException as error:
        why = describe(error, order["test"])
        if not candidate.in_use:
            return {"error": f"the tests cannot be run: {why}"}
        why = f"failed: {why}"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    why = candidate.ended or why
    return {"passed": not why, "why": why, "closed": candidate.closed}


def attempt(order: dict[str, Any], candidate: Candidate) -> None:
    """Have the candidate run the program, then run the tests on it.

    They may call the function under test by its name, and other functions of the prompt.
    """
    candidate.perform("run")
    scope: dict[str, Any] = {"__name__": "tests"}
    for body in ("", "\n    pass\n"):
        try:
            exec(compile(order["prompt"] + body, "<prompt>", "exec"), scope)  # nosec B102
        except SyntaxError:
            continue
        break
    scope[order["entry_point"]] = candidate
    exec(compile(order["test"], "<tests>", "exec"), scope)  # nosec B102 - inside the box
    check, candidate.in_use = scope["check"], True
    check(candidate)


def expected_errors(test: str) -> dict[str, type[Exception]]:
    """Built-in errors that the tests name, in an `except` or in `raises(ValueError, …)`.

    Only these come up in the tests when a program raises them. Any other error of a program ends
    the tests at once: no construct of the tests is to end quietly on a type that a program chose.
    """
    import ast

    named: list[ast.expr] = []
    for node in ast.walk(ast.parse(test)):
        if isinstance(node, ast.ExceptHandler) and node.type:
            named.append(node.type)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).lower().endswith("raises"):
            named += node.args[:1]
    names = {part.id for node in named for part in ast.walk(node) if isinstance(part, ast.Name)}
    kinds = {name: vars(builtins).get(name) for name in names}
    return {
        name: kind
        for name, kind in kinds.items()
        if isinstance(kind, type)
        and issubclass(kind, Exception)
        and not issubclass(kind, _END_OF_ITERATION)
    }


def failure(name: str, text: str, frame: FrameType | None, test: str) -> str:
    """An error of the program, with the line of the tests that called it."""
    kind = vars(builtins).get(name)
    if not (isinstance(kind, type) and issubclass(kind, Exception)):
        return f"stopped: it raised {name[:50]}"
    lines: list[int] = []
    while frame is not None and not lines:
        if frame.f_code.co_filename == "<tests>":
            lines.append(frame.f_lineno)
        frame = frame.f_back
    return "failed: " + with_line(f"{name}: {text}".rstrip(": "), lines, test)


def describe(error: BaseException, test: str) -> str:
    """An error of the tests, with the line that raised it."""
    try:
        text = f"{type(error).__name__}: {error}".rstrip(": ")[:150]
    except Exception:  # e.g. a number that is too long to print
        text = type(error).__name__
    lines, trace = [], error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == "<tests>":
            lines.append(trace.tb_lineno)
        trace = trace.tb_next
    return with_line(text, lines, test)


def with_line(text: str, lines: list[int], test: str) -> str:
    """A text with the last of the given lines of the tests."""
    line = test.split("\n")[lines[-1] - 1].strip()[:150] if lines else ""
    return f"{text}, at {line}" if line else text
