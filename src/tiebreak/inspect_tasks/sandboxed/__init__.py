"""What runs inside a sandbox: the tests of one program, in two processes.

The *examiner* (`run_tests`) holds the tests and gives the verdict. The *candidate* (`run_program`)
is another process that holds the program alone, gets arguments and gives back answers as JSON. So
whatever the program does to its own interpreter (patched builtins, an answer that equals
everything, an early exit, a verdict of its own on every channel), the tests compare plain data out
of its reach. Separation and limits are kept by the kernel; see `run_program` for what else the
candidate may not do, and why it belongs into a container all the same.

The modules need the standard library alone, Python 3.9 or newer. They are handed over on the
command line, so that nothing is written to a disk, and the order on standard input, so that tests
are on none either.
"""

from collections.abc import Mapping
from importlib.resources import files
from typing import Any, Final

_MODULES: Final = ("plain_data", "run_program", "run_tests")

# Every module under its own name, so that they find one another; the last one has the say.
_START: Final = """\
import sys
sys.path[:] = filter(None, sys.path)
import types
for name, source in zip(sys.argv[2::2], sys.argv[3::2]):
    module = sys.modules[name] = types.ModuleType(name)
    exec(compile(source, name, "exec"), vars(module))
module.main()
"""


def command(python: str = "python3") -> list[str]:
    """The command line of the examiner. It reads an `order` and prints a verdict as JSON.

    A verdict is `{"passed": true or false, "why": text}`, or `{"error": text}` when that machine
    could not run any program, which says nothing about this one.

    Args:
        python: The interpreter, for examiner and candidate.
    """
    sources = [
        part
        for module in _MODULES
        for part in (f"{__name__}.{module}", (files(__name__) / f"{module}.py").read_text("utf-8"))
    ]
    return [python, "-I", "-c", "import sys; exec(sys.argv[1])", _START, *sources]


def order(
    program: str,
    prompt: str,
    test: str,
    entry_point: str,
    cpu_seconds: int = 5,
    wall_seconds: int = 20,
    memory_bytes: int = 512 * 1024 * 1024,
) -> Mapping[str, Any]:
    """What the examiner reads from standard input, as JSON.

    Args:
        program: Source that defines the function under test. It is not trusted.
        prompt: What the program began with. Like the tests it comes with the item, and is trusted.
        test: Source that defines `check(candidate)`.
        entry_point: Name of the function under test.
        cpu_seconds: CPU time for the whole program.
        wall_seconds: Time on the clock for the whole program.
        memory_bytes: Address space of the program.
    """
    return locals()
