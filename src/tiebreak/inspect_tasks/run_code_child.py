"""The child process of `run_code`: limits first, then the code, then its tests.

Reads one JSON object from standard input and prints the proof that it holds once the tests have
passed, or a few words on what went wrong. Started with `python -I -S`; imports nothing of tiebreak.
"""

import builtins
import collections
import functools
import itertools
import json
import math
import re
import string
import sys
import types
import typing

CPU_SECONDS = 3
MEMORY_BYTES = 512 * 1024 * 1024

BUILTINS = """
    abs all any ascii bin bool bytearray bytes callable chr complex dict divmod enumerate filter
    float format frozenset hash hex int isinstance issubclass iter len list map max min next oct ord
    pow range repr reversed round set slice sorted str sum tuple zip True False None Ellipsis
    NotImplemented ArithmeticError AssertionError AttributeError BaseException Exception
    FloatingPointError IndexError KeyError LookupError NameError NotImplementedError OverflowError
    RecursionError RuntimeError StopIteration TypeError UnicodeError ValueError ZeroDivisionError
""".split()  # noqa: SIM905 - a table of words
# Copies without the names that lead back to the interpreter, such as `typing.sys`.
MODULES = {
    module.__name__: {
        name: getattr(module, name)
        for name in getattr(module, "__all__", dir(module))
        if not name.startswith("_") and name not in ("Formatter", "get_type_hints", "ForwardRef")
    }
    for module in (collections, functools, itertools, math, re, string, typing)
}


def limit() -> None:
    """Give up CPU time, memory, files and processes; no limit can be raised again without root."""
    import resource

    for what, most in (
        (resource.RLIMIT_CPU, CPU_SECONDS),
        (resource.RLIMIT_AS, MEMORY_BYTES),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_NPROC, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(what, (most, most))


def import_copy(
    name: str, scope: object = None, local: object = None, wanted: object = (), level: int = 0
) -> types.ModuleType:
    """Stand-in for `__import__`: a copy of one of a few pure modules."""
    if level or name not in MODULES:
        raise ImportError(f"{name} cannot be imported here")
    module = types.ModuleType(name)
    module.__dict__.update(MODULES[name])
    return module


def no_print(*values: object, **how: object) -> None:
    """Stand-in for `print`: says nothing."""


def main() -> str:
    """Run the order on standard input; returns what to print."""
    order = json.load(sys.stdin)
    try:
        limit()
    except (ImportError, AttributeError, OSError, ValueError) as error:
        return f"not run: this system cannot limit a process ({error})"
    allowed: dict[str, object] = {name: getattr(builtins, name) for name in BUILTINS}
    allowed |= {"print": no_print, "__import__": import_copy}
    scope: dict[str, object] = {"__builtins__": allowed, "__name__": "answer"}
    tests: dict[str, typing.Any] = {"__name__": "tests"}
    try:
        exec(compile(order["source"], "<answer>", "exec"), scope)
        exec(compile(order["test"], "<tests>", "exec"), tests)
        tests["check"](scope[order["entry_point"]])
    except MemoryError:
        return "failed: MemoryError"
    except BaseException as error:
        return f"failed: {type(error).__name__}: {str(error)[:120]}"
    return str(order["proof"])


if __name__ == "__main__":
    print(main())
