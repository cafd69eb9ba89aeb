"""What runs inside a sandbox: the tests of one program, in processes of their own.

The *supervisor* (`supervise`) starts two others and holds neither the tests nor the program. The
*examiner* (`run_tests`) holds the tests and gives the verdict. The *candidate* (`run_program`)
holds the program alone, gets arguments and gives back answers as JSON. So whatever the program does
to its own interpreter (patched builtins, an answer that equals everything, an early exit, a verdict
of its own on every channel), the tests compare plain data out of its reach. The kernel keeps the
processes apart: none of them is root, and the memory and channels of the two others are closed to
the candidate. A verdict counts with a nonce that the candidate is never given, and if the examiner
ended as it should. On this machine a box of bubblewrap is the sandbox (`box`).

The modules need the standard library alone, Python 3.9 or newer. They are handed over on the
command line, so that nothing is written to a disk, and the order on standard input, so that tests
are on none either.
"""

import secrets
from importlib.resources import files
from typing import Any, Final

_MODULES: Final = ("plain_data", "rights", "run_program", "run_tests", "supervise")

# Each of the named modules under its own name, so that they find one another; the last has the say.
_START: Final = """\
import sys
sys.path[:] = filter(None, sys.path)
import types
sources = dict(zip(sys.argv[3::2], sys.argv[4::2]))
for name in sys.argv[2].split(","):
    module = sys.modules[name] = types.ModuleType(name)
    exec(compile(sources[name], name, "exec"), vars(module))
module.main()
"""


def command(python: str = "python3") -> list[str]:
    """The command line of the supervisor, which reads an `order` and prints a verdict as JSON.

    A verdict is `{"passed": true or false, "why": text}`, `{"error": text}` when that machine could
    not run any program, which says nothing about this one, or `{"silent": text}` when the examiner
    did not give any. Beside that stands the order's nonce.
    """
    sources = [
        part
        for module in _MODULES
        for part in (f"{__name__}.{module}", (files(__name__) / f"{module}.py").read_text("utf-8"))
    ]
    starting = [_START, f"{__name__}.rights,{__name__}.supervise", *sources]
    return [python, "-I", "-S", "-c", "import sys; exec(sys.argv[1])", *starting]


def order(
    program: str,
    prompt: str,
    test: str,
    entry_point: str,
    cpu_seconds: int = 5,
    wall_seconds: int = 20,
    memory_bytes: int = 512 * 1024 * 1024,
    trusted: bool = False,
) -> dict[str, Any]:
    """What the supervisor reads from standard input, as JSON, with a new nonce.

    Args:
        program: source that defines the function under test. It is not trusted.
        prompt: what the program began with. It comes with the item, like the tests: they decide
            about the verdict, but they are somebody else's code, too.
        test: source that defines `check(candidate)`.
        entry_point: name of the function under test.
        cpu_seconds: of the program.
        wall_seconds: of the program, on the clock.
        memory_bytes: address space of the program, and of its tests.
        trusted: run also where nothing hides the examiner's memory from the program.
    """
    return {**locals(), "nonce": secrets.token_hex(16)}


def harmless_order() -> dict[str, Any]:
    """An order that passes wherever a program can be run at all."""
    return order(
        "def one():\n    return 1\n", "", "def check(one):\n    assert one() == 1\n", "one"
    )
