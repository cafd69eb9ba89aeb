"""The examiner: holds the tests of one program, and trusts nothing that its process says."""

from __future__ import annotations

import ast
import builtins
import contextlib
import json
import os
import signal
import subprocess
import sys

from tiebreak.inspect_tasks.sandboxed.plain_data import MOST_BYTES, decode, encode, send

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any, NoReturn


# What `decode` raises for what `encode` did not write.
_NOT_PLAIN = (
    *(LookupError, TypeError, ValueError, AttributeError),
    *(ArithmeticError, RecursionError, MemoryError),
)

# Built-in iteration ends on these without a word: `all(map(f, cases))` would pass.
_END_OF_ITERATION = (StopIteration, StopAsyncIteration)


class Ended(BaseException):
    """The candidate gives no more answers; no `except Exception` of a test hides that."""


class Candidate:
    """The program in its process; called as if it were the function under test."""

    tests = ""

    def __init__(self, order: dict[str, Any]) -> None:
        self.ready: object = None
        self.ended = ""
        self.tests = order["test"]
        self.cpu_seconds = order["cpu_seconds"]
        # The command line that this process got, but for its last module.
        start = ["-c", "import sys; exec(sys.argv[1])", *sys.argv[1:-2]]
        self.process = subprocess.Popen(
            [sys.executable, "-s", "-S", "-W", "ignore", *start],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd="/",
            env={"PYTHONHASHSEED": "0"},  # so that sets have the same order in every run
            start_new_session=True,
        )

    def ask(self, message: object) -> Any:
        """Send a message and read what the candidate says to it.

        Raises:
            Ended: there is no answer.
        """
        if self.ended:
            raise Ended(self.ended)
        assert self.process.stdin
        assert self.process.stdout
        line = b""
        try:
            send(self.process.stdin, message)
            line = self.process.stdout.readline(MOST_BYTES)
        except BrokenPipeError:
            pass
        if not line.endswith(b"\n"):
            self.end(f"stopped: {'its answer is too long' if line else self.why_dead()}")
        try:
            return json.loads(line)
        except (ValueError, RecursionError):
            self.end("stopped: its answer is not plain data")

    def perform(self, *message: object) -> Any:
        """Let the candidate do something, and give back or raise what came of it.

        Raises:
            Exception: of the nearest type to the program's error that the tests themselves name.
            Ended: there is no answer, or an error that the tests do not name.
        """
        reply = self.ask(message)
        try:
            value, names, text = reply
            value, names, text = decode(value), [str(name) for name in names], str(text)[:150]
        except _NOT_PLAIN:
            self.end("stopped: its answer is not plain data")
        if not names:
            return value
        expected = expected_errors(self.tests)
        for name in names:
            if name in expected:
                with contextlib.suppress(TypeError):  # a UnicodeDecodeError wants more than a text
                    error = expected[name](text)
                    break
        else:
            self.end(failure(names[0], text, sys._getframe(1), self.tests))
        raise error

    def __call__(self, *args: object, **named: object) -> Any:
        """Call the function under test."""
        return self.perform("call", encode(list(args)), encode(named))

    def end(self, why: str) -> NoReturn:
        """Give up on the candidate for good."""
        self.ended = self.ended or why
        raise Ended(self.ended)

    def why_dead(self) -> str:
        """Why there is nothing more to read."""
        try:
            status = self.process.wait(2)
        except subprocess.TimeoutExpired:
            return "it closed its channel"
        if status == -signal.SIGXCPU:
            return f"it used more than {self.cpu_seconds} s of CPU time"
        return f"its process ended ({signal.Signals(-status).name if status < 0 else status})"

    def kill(self) -> None:
        """End the process and what it may have started."""
        with contextlib.suppress(OSError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        # What is left in a pipe has no reader; unclosed, Python complains about that at its end.
        for pipe in (self.process.stdin, self.process.stdout):
            with contextlib.suppress(OSError):
                pipe and pipe.close()


def main() -> None:
    """Read an order from standard input and print the verdict."""
    order = json.load(sys.stdin)
    # Tests may print; the verdict has a channel of its own.
    out = os.dup(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    verdict = examine(order)
    os.write(out, json.dumps(verdict).encode("ascii") + b"\n")


def examine(order: dict[str, Any]) -> dict[str, object]:
    """The verdict on a program, or an error of this machine; see `sandboxed.command`."""
    keep_to_ourselves()
    try:
        candidate = Candidate(order)
    except OSError as error:
        return {"error": f"no process could be started: {error}"}

    def late(number: int, frame: FrameType | None) -> None:
        # Only inside of the attempt: elsewhere nothing would catch it.
        while frame is not None and frame.f_code is not attempt.__code__:
            frame = frame.f_back
        if frame is not None:
            candidate.end(f"stopped: it ran longer than {order['wall_seconds']} s")

    why = ""
    try:
        signal.signal(signal.SIGALRM, late)
        # Again every half second, in case that a test catches it.
        signal.setitimer(signal.ITIMER_REAL, order["wall_seconds"], 0.5)
        attempt(order, candidate)
    except Ended:
        pass
    except BaseException as error:
        why = f"failed: {describe(error, order['test'])}"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        candidate.kill()
    if candidate.ready != "ready":
        why = f"the process did not start: {candidate.ended.partition(': ')[2]}"
        return {"error": str(candidate.ready or why)}
    if candidate.ended:
        why = candidate.ended
    return {"passed": not why, "why": why}


def attempt(order: dict[str, Any], candidate: Candidate) -> None:
    """Let the candidate run the program, and the tests run on it."""
    sent = {key: order[key] for key in order if key not in ("prompt", "test")}
    candidate.ready = candidate.ask(sent)
    if candidate.ready == "ready":
        candidate.perform("run")
        run_check(order, candidate)


def run_check(order: dict[str, Any], candidate: Candidate) -> None:
    """Run the tests on the candidate.

    They may call the function under test by its name, and other functions of the prompt.
    """
    scope: dict[str, Any] = {"__name__": "tests"}
    for body in ("", "\n    pass\n"):
        try:
            exec(compile(order["prompt"] + body, "<prompt>", "exec"), scope)
        except SyntaxError:
            continue
        break
    scope[order["entry_point"]] = candidate
    exec(compile(order["test"], "<tests>", "exec"), scope)
    scope["check"](candidate)


def expected_errors(test: str) -> dict[str, type[Exception]]:
    """Built-in errors that tests name themselves: in an `except`, or in `raises(ValueError, …)`.

    Only these come up in the tests when a program raises them. Any other error of a program ends
    the tests at once: no construct of the tests is to end quietly on a type that a program chose.
    """
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
    """What a program raised, and the line of the tests that called it."""
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
    """An error of the tests, and the line of them at which it came up."""
    try:
        text = f"{type(error).__name__}: {error}".rstrip(": ")[:150]
    except Exception:  # such as a number that is too long to be written
        text = type(error).__name__
    lines, trace = [], error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == "<tests>":
            lines.append(trace.tb_lineno)
        trace = trace.tb_next
    return with_line(text, lines, test)


def with_line(text: str, lines: list[int], test: str) -> str:
    """A text, and the last of some lines of the tests."""
    line = test.split("\n")[lines[-1] - 1].strip()[:150] if lines else ""
    return f"{text}, at {line}" if line else text


def keep_to_ourselves() -> None:
    """Where Linux can: programs gain no rights by being started, and none reads our memory."""
    try:
        import ctypes

        libc = ctypes.CDLL(None)
        libc.prctl(38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS; children inherit it
        libc.prctl(4, 0, 0, 0, 0)  # PR_SET_DUMPABLE
    except (ImportError, OSError, AttributeError):
        return
