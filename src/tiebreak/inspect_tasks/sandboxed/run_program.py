"""The candidate: a process that holds one program, gives up its rights and answers calls.

It has limits on CPU time, memory, files and processes, an empty environment, and an audit hook that
refuses what no plain computation needs: opening files, processes, threads, sockets, signals, frames
of other functions, imports beyond the pure part of the standard library. It is never root. What the
program names is imported before that; afterwards no module of machine code can be loaded. The
boundary is what the kernel keeps: the limits, and the box or container around this process. The
hook is a seat belt. It stops what models write by mistake and the known tricks, and says so; code
that breaks out of Python itself gets around it.
"""

from __future__ import annotations

import ast
import importlib
import importlib.machinery
import json
import os
import sys
import types

from tiebreak.inspect_tasks.sandboxed.plain_data import MOST_BYTES, decode, encode, send
from tiebreak.inspect_tasks.sandboxed.rights import become_nobody, set_limits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PURE = frozenset(
    """
    __future__ abc array ast base64 binascii bisect builtins calendar cmath collections contextlib
    copy copyreg dataclasses datetime decimal difflib encodings enum fractions functools graphlib
    hashlib heapq io itertools json keyword locale math numbers operator os pprint queue random re
    reprlib secrets statistics string stringprep struct sys textwrap time types typing unicodedata
    warnings weakref zlib _strptime
    """.split()  # noqa: SIM905 - a table of words
)
PACKAGES = frozenset({"collections", "encodings", "json", "re", "string"})
HARMLESS_EVENTS = frozenset(
    """
    exec compile builtins.id builtins.input builtins.input/result
    array.__new__ function.__new__ time.sleep sys._getframemodulename sys.excepthook
    sys.unraisablehook object.__delattr__
    """.split()  # noqa: SIM905 - a table of words
)
# Of those that are audited; the others lead to frames.
HARMLESS_TO_READ = frozenset({"__code__", "__defaults__", "__kwdefaults__"})
# Built-in functions that stay in modules that reach outside; not all others raise audit events.
_FILES = "fspath getcwd getpid getuid cpu_count listdir stat strerror urandom"
LEFT_OF = {
    "os": _FILES,
    "posix": _FILES,
    "_thread": "allocate allocate_lock get_ident get_native_id",
    "_signal": "",
    # Not what makes modules of machine code: a fresh `posix` would hold everything again.
    "_imp": (
        "acquire_lock release_lock lock_held is_builtin is_frozen is_frozen_package find_frozen "
        "extension_suffixes source_hash _fix_co_filename"
    ),
    # Nor what makes code objects of bytes: own bytecode reaches the memory of the process.
    "marshal": "",
}


class Refused(PermissionError, ValueError):
    """What the audit hook raises; named tuples and enums know a ValueError there."""


class RefusedImport(ModuleNotFoundError):
    """What it raises for an import, so that programs can do without the module."""


def main() -> None:
    """Read an order, limit this process, then run the program and answer calls."""
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)
    order = json.loads(requests.readline())
    module = types.ModuleType("program")
    sys.modules["__main__"] = sys.modules["program"] = module
    try:
        import_what_it_needs(order["program"])
        become_nobody()
        set_limits(order["cpu_seconds"], order["memory_bytes"])
        end_on_the_clock(order["wall_seconds"] + 2)
        import_source_only()
        take_away()
        refuse_the_rest()
    except (ImportError, OSError, ValueError) as error:
        send(replies, f"the process could not be limited: {error}")
        return
    send(replies, "ready")
    for line in iter(requests.readline, b""):
        replies.write(answer(module, order, *json.loads(line)))
        replies.flush()


def answer(module: Any, order: dict[str, Any], what: str, *arguments: Any) -> bytes:
    """Run the program or call its function; what came of it as JSON.

    That is an encoded value, names of the built-in types of an error, and its text.
    """
    try:
        value = None
        if what == "run":
            exec(compile(order["program"], "<program>", "exec"), vars(module))  # nosec B102
        else:
            args, named = map(decode, arguments)
            value = getattr(module, order["entry_point"])(*args, **named)
        reply = json.dumps([encode(value), [], ""])
        if len(reply) >= MOST_BYTES:
            reply = json.dumps([{"object": "an answer that is too long"}, [], ""])
    except BaseException as error:
        kinds = [kind.__name__ for kind in type(error).__mro__ if kind.__module__ == "builtins"]
        try:
            text = str(error)[:200]
        except Exception:
            text = ""
        reply = json.dumps([None, kinds, text])
    return reply.encode("ascii") + b"\n"


def import_what_it_needs(program: str) -> None:
    """Import the pure modules that a program names, while imports can still reach everything."""
    try:
        nodes = list(ast.walk(ast.parse(program)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return  # running it will say so
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
    texts = [getattr(node, "value", None) for node in nodes if isinstance(node, ast.Constant)]
    names += [text for text in texts if isinstance(text, str) and text in PURE]
    names.append("unicodedata")  # for "\\N{...}" and some encodings
    if not {"datetime", "time"}.isdisjoint(names):
        names.append("_strptime")
    for name in names:
        if name.partition(".")[0] in PURE:
            try:
                importlib.import_module(name)
            except ImportError:
                continue  # the program's own import will say so


def end_on_the_clock(seconds: int) -> None:
    """End this process then, if nothing else does."""
    import signal

    signal.alarm(seconds)


def take_away() -> None:
    """Remove the built-in functions that reach outside: not all of them raise audit events."""
    gone = {
        id(value)
        for name, left in LEFT_OF.items()
        for function, value in vars(sys.modules.get(name, types)).items()
        if isinstance(value, types.BuiltinFunctionType) and function not in left.split()
    }
    for module in list(sys.modules.values()):
        for name, value in list(vars(module).items()):
            if id(value) in gone:
                delattr(module, name)
            elif isinstance(value, set):  # such as os.supports_fd
                value -= {entry for entry in value if id(entry) in gone}
    for name in ("_signal", "signal", "resource", "marshal"):
        sys.modules.pop(name, None)


class SourceLoader(importlib.machinery.SourceFileLoader):
    """Reads no bytecode."""

    def get_code(self, fullname: str) -> types.CodeType:
        """The code of a module, out of its source."""
        return self.source_to_code(self.get_data(self.path), self.path)


def import_source_only() -> None:
    """From now on, find modules of source alone; what is needed of others is there already."""
    machinery = importlib.machinery
    sys.dont_write_bytecode = True
    sys.meta_path[:] = [machinery.PathFinder]
    loader = (SourceLoader, machinery.SOURCE_SUFFIXES)
    sys.path_hooks[:] = [machinery.FileFinder.path_hook(loader)]
    sys.path_importer_cache.clear()


def refuse_the_rest() -> None:
    """Refuse every audited event but the harmless ones, from now on."""
    # Bound here: the program can replace what builtins and the names of this module refer to.
    kind, text, refused, missing = type, str, Refused, RefusedImport
    pure, packages, events, readable = PURE, PACKAGES, HARMLESS_EVENTS, HARMLESS_TO_READ
    library = os.path.dirname(os.__file__) + "/"  # noqa: PTH120
    writing = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC

    def in_library(path: Any) -> bool:
        return kind(path) is text and f"{path}/".startswith(library) and "/.." not in path

    def is_pure(name: Any, path: Any) -> bool:
        """Whether this is an import of Python source: one of machine code has a path here."""
        if kind(name) is not text or path is not None:
            return False
        top, dot, _ = name.partition(".")
        return top in pure and (not dot or top in packages)

    def hook(event: str, args: tuple[Any, ...]) -> None:
        if event in events:
            return
        if event == "import":
            fine = is_pure(args[0], args[1])
        elif event == "open":
            fine = in_library(args[0]) and not args[2] & writing
        elif event in ("os.listdir", "os.scandir"):
            fine = in_library(args[0])
        elif event == "object.__getattr__":
            fine = args[1] in readable
        else:
            fine = event == "object.__setattr__" and args[1] != "__code__"
        if not fine:
            what = args[0] if args and kind(args[0]) is text else ""
            error = missing if event == "import" else refused
            raise error(f"{event} {what}".strip() + " is refused here")

    sys.addaudithook(hook)
