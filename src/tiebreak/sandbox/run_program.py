"""The candidate: a process that holds one program, gives up its rights and answers calls.

It has limits on CPU time, memory, files and processes, an empty environment, and an audit hook that
refuses what no plain computation needs: opening files, processes, threads, sockets, signals, frames
of other functions, and modules that are not of the standard library or only reach outside. It is
never root. What the program names is imported before that; afterwards no module of machine code can
be loaded, and functions of loaded ones that reach outside do nothing but refuse. The boundary is
what the kernel keeps: the limits, and the box or container around this process. The hook is a seat
belt. It stops what models write by mistake and the known tricks, and says so; code that breaks out
of Python itself gets around it.
"""

from __future__ import annotations

import ast
import importlib
import importlib.machinery
import json
import os
import sys
import types

from tiebreak.sandbox.plain_data import MOST_BYTES, decode, encode, send
from tiebreak.sandbox.rights import drop_privileges, set_limits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Standard library modules that programs cannot import: they reach memory, files, terminals, screens
# or other interpreters, mostly without an audit event, or act when they are imported.
KEPT_OUT = frozenset(
    """
    _crypt _ctypes _curses _curses_panel _dbm _gdbm _interpchannels _interpqueues _interpreters
    _posixshmem _posixsubprocess _ssl _tkinter _xxinterpchannels _xxsubinterpreters antigravity
    crypt ctypes curses dbm ensurepip grp idlelib lib2to3 marshal nis ossaudiodev pwd readline spwd
    ssl syslog tkinter turtle turtledemo venv
    """.split()  # noqa: SIM905 - a table of words
)
# Needed to import other modules; their functions are disabled afterwards.
NEEDED_BY_OTHERS = frozenset({"marshal", "_posixsubprocess"})
# Extension modules that others import only on use, when it would be too late.
USED_LATER = {"datetime": "_strptime", "time": "_strptime", "uuid": "hashlib", "xml": "pyexpat"}
HARMLESS_EVENTS = frozenset(
    """
    exec compile builtins.id builtins.input builtins.input/result
    array.__new__ function.__new__ time.sleep sys._getframemodulename sys.excepthook
    sys.unraisablehook object.__delattr__ pickle.find_class os.putenv os.unsetenv
    sys.set_asyncgen_hook_firstiter sys.set_asyncgen_hook_finalizer
    """.split()  # noqa: SIM905 - a table of words
)
# Audited attributes that may be read; the others lead to frames.
HARMLESS_TO_READ = frozenset({"__code__", "__defaults__", "__kwdefaults__"})
# Replacements for parts of the library that look at frames or search for folders needlessly.
STUBS: dict[str, dict[str, Any]] = {
    "logging": {"_srcfile": None},
    "tempfile": {"tempdir": "/tmp"},  # nosec B108 - so that the file is what is refused
    "traceback": {
        "_compute_suggestion_error": lambda *_: None,
        "_walk_tb_with_full_positions": lambda _: iter(()),
        "clear_frames": lambda _: None,
        "walk_tb": lambda _: iter(()),
    },
}
# Built-in functions kept in modules that reach outside; not all others raise audit events.
_FILES = (
    "access cpu_count fspath get_terminal_size getcwd getegid geteuid getgid getloadavg getpid "
    "getppid getuid isatty listdir lstat putenv readlink register_at_fork sched_getaffinity stat "
    "strerror sysconf times uname unsetenv urandom _path_exists _path_isdir _path_isfile "
    "_path_islink _path_lexists _path_normpath _path_splitroot _path_splitroot_ex"
)
LEFT_OF = {
    **dict.fromkeys(KEPT_OUT, ""),
    "os": _FILES,
    "posix": _FILES,
    "resource": "getpagesize getrlimit getrusage",
    "_thread": (
        "allocate allocate_lock daemon_threads_allowed get_ident get_native_id stack_size "
        "_excepthook _get_main_thread_ident _is_main_interpreter _make_thread_handle _set_sentinel"
    ),
    "_signal": "default_int_handler getsignal",
    # Not the functions that load extension modules: a fresh `posix` would have everything again.
    "_imp": (
        "acquire_lock release_lock lock_held is_builtin is_frozen is_frozen_package find_frozen "
        "extension_suffixes source_hash _fix_co_filename"
    ),
}


class Refused(PermissionError, ValueError):
    """Raised by the audit hook; a ValueError, since named tuples and enums catch that."""


class RefusedImport(ModuleNotFoundError):
    """Raised by the audit hook for imports; programs can catch it as an ImportError."""


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
        drop_privileges()
        set_limits(order["cpu_seconds"], order["memory_bytes"])
        end_on_the_clock(order["wall_seconds"] + 2)
        standard = standard_library()
        import_what_it_needs(order["program"], standard)
        import_source_only()
        disable_builtins()
        refuse_the_rest(standard)
    except (ImportError, OSError, ValueError) as error:
        send(replies, f"the process could not be limited: {error}")
        return
    send(replies, "ready")
    for line in iter(requests.readline, b""):
        replies.write(answer(module, order, *json.loads(line)))
        replies.flush()


def answer(module: Any, order: dict[str, Any], kind: str, *arguments: Any) -> bytes:
    """Run the program or call its function; return the outcome as JSON.

    The outcome is an encoded value, the names of an error's types (built-in ones and those of this
    module), and the error's text.
    """
    try:
        value = None
        if kind == "run":
            exec(compile(order["program"], "<program>", "exec"), vars(module))  # nosec B102
        else:
            args, named = map(decode, arguments)
            value = getattr(module, order["entry_point"])(*args, **named)
        reply = json.dumps([encode(value), [], ""])
        if len(reply) >= MOST_BYTES:
            reply = json.dumps([{"object": "an answer that is too long"}, [], ""])
    except BaseException as error:
        known = ("builtins", __name__)
        kinds = [kind.__name__ for kind in type(error).__mro__ if kind.__module__ in known]
        try:
            text = str(error)[:200]
        except Exception:
            text = ""
        reply = json.dumps([None, kinds, text])
    return reply.encode("ascii") + b"\n"


def standard_library() -> frozenset[str]:
    """Names of the modules that programs may import."""
    names: Any = getattr(sys, "stdlib_module_names", ())
    if not names:  # Python 3.9 has no list of them
        import pkgutil

        names = {*sys.builtin_module_names, *(module.name for module in pkgutil.iter_modules())}
    return frozenset(names) - KEPT_OUT


def import_what_it_needs(program: str, standard: frozenset[str]) -> None:
    """Import the modules that a program names, while extension modules can still be loaded."""
    try:
        nodes = list(ast.walk(ast.parse(program)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return  # running the program reports it
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.module:
            names += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    texts = [getattr(node, "value", None) for node in nodes if isinstance(node, ast.Constant)]
    names += [text for text in texts if isinstance(text, str) and text in standard]
    # For "\\N{...}" and some encodings, and modules that others import late.
    names += ["unicodedata", *sys.builtin_module_names]
    for name in KEPT_OUT - NEEDED_BY_OTHERS:
        sys.modules[name] = None  # type: ignore[assignment] # makes its import fail
    packages = [name.partition(".")[0] for name in names]
    names += [USED_LATER[package] for package in packages if package in USED_LATER]
    for name in names:
        if name.partition(".")[0] in standard and "__main__" not in name:
            try:
                importlib.import_module(name)
            except (Exception, SystemExit):
                continue  # the program's own import reports it
    for name in KEPT_OUT - NEEDED_BY_OTHERS:
        sys.modules.pop(name, None)
    for name, parts in STUBS.items():
        inside = vars(sys.modules.get(name, types))
        inside.update({part: parts[part] for part in parts if part in inside})


def end_on_the_clock(seconds: int) -> None:
    """End this process after this time, if nothing else does."""
    import signal

    signal.alarm(seconds)


def disable_builtins() -> None:
    """Replace built-in functions that reach outside: not all of them raise audit events."""
    gone = {
        id(value): refusing(f"{'os' if name == 'posix' else name.lstrip('_')}.{function}")
        for name, left in LEFT_OF.items()
        for function, value in vars(sys.modules.get(name, types)).items()
        if isinstance(value, types.BuiltinFunctionType) and function not in left.split()
    }
    for module in list(sys.modules.values()):
        for name, value in list(vars(module).items()):
            if id(value) in gone:
                setattr(module, name, gone[id(value)])
            elif isinstance(value, set):  # e.g. os.supports_fd
                value -= {entry for entry in value if id(entry) in gone}
    for name in KEPT_OUT:
        sys.modules.pop(name, None)


def refusing(name: str) -> Any:
    """A function that raises Refused, in place of one that reaches outside."""

    def refuse(*_: object, **__: object) -> None:
        raise Refused(f"{name} is refused here")

    return refuse


class SourceLoader(importlib.machinery.SourceFileLoader):
    """Loads modules from source only, never from bytecode."""

    def get_code(self, fullname: str) -> types.CodeType:
        """Compile the source of a module."""
        return self.source_to_code(self.get_data(self.path), self.path)


def import_source_only() -> None:
    """From now on import only from source; other modules that are needed are loaded already."""
    machinery = importlib.machinery
    sys.dont_write_bytecode = True
    sys.meta_path[:] = [machinery.PathFinder]
    loader = (SourceLoader, machinery.SOURCE_SUFFIXES)
    sys.path_hooks[:] = [machinery.FileFinder.path_hook(loader)]
    sys.path_importer_cache.clear()


def refuse_the_rest(standard: frozenset[str]) -> None:
    """Refuse every audited event but the harmless ones, from now on."""
    # Local names: the program can replace builtins and the globals of this module.
    kind, text, refused, missing, unix = type, str, Refused, RefusedImport, 1
    events, readable = HARMLESS_EVENTS, HARMLESS_TO_READ
    library = os.path.dirname(os.__file__) + "/"  # noqa: PTH120
    writing = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC

    def in_library(path: Any) -> bool:
        return kind(path) is text and f"{path}/".startswith(library) and "/.." not in path

    def is_standard(name: Any, path: Any) -> bool:
        """Whether a standard module is imported from source: extension modules have a path here."""
        return kind(name) is text and path is None and name.partition(".")[0] in standard

    def hook(event: str, args: tuple[Any, ...]) -> None:
        if event in events:
            return
        if event == "import":
            fine = is_standard(args[0], args[1])
        elif event == "open":
            nowhere = kind(args[0]) is text and args[0] == "/dev/null"
            fine = nowhere or (in_library(args[0]) and not args[2] & writing)
        elif event == "socket.__new__":
            # An unconnected socket, for asyncio; connecting it is another event.
            fine = args[1] == unix
        elif event in ("os.listdir", "os.scandir"):
            fine = in_library(args[0])
        elif event == "object.__getattr__":
            fine = args[1] in readable
        else:
            fine = event == "object.__setattr__" and args[1] != "__code__"
        if not fine:
            name = args[0] if args and kind(args[0]) is text else ""
            error = missing if event == "import" else refused
            raise error(f"{event} {name}".strip() + " is refused here")

    sys.addaudithook(hook)
