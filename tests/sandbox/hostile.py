"""Programs that mean harm, as data.

CANARY stands for the path of a file that must stay as it is, NEW for one that must not come to be,
VICTIM for the id of a process that must stay alive.
"""

import marshal

_CODE = marshal.dumps(compile("0", "own", "exec"))

_FRESH = """\
_imp = sys.modules['_imp']
def fresh(name):
    spec = type('Spec', (), {'name': name, 'origin': 'built-in', 'loader': None})()
    module = _imp.create_builtin(spec)
    _imp.exec_builtin(module)
    return module
"""

# Each of these statements is to raise an error, whatever the program does afterwards.
ACTIONS: dict[str, str] = {
    # Processes and threads
    "fork": "os.fork()",
    "fork, by another name": "getattr(os, 'fo' + 'rk')()",
    "fork, by posix": "__import__('posix').fork()",
    "forkpty": "os.forkpty()",
    "spawn": "os.spawnlp(os.P_WAIT, 'touch', 'touch', NEW)",
    "posix_spawn": "os.posix_spawn('/bin/touch', ['touch', NEW], {})",
    "exec": "os.execv('/bin/touch', ['touch', NEW])",
    "system": "os.system('touch ' + NEW)",
    "popen": "os.popen('touch ' + NEW).read()",
    "subprocess": "import subprocess\nsubprocess.run(['touch', NEW])",
    "fork_exec": "import _posixsubprocess",
    "multiprocessing": "import multiprocessing\nmultiprocessing.Process(target=print).start()",
    "threading": "import threading\nthreading.Thread(target=print).start()",
    "threads, by another module": "queue.threading.Thread(target=print).start()",
    "_thread": "import _thread\n_thread.start_new_thread(print, ())",
    # Files
    "remove": "os.remove(CANARY)",
    "truncate": "os.truncate(CANARY, 0)",
    "rename": "os.rename(CANARY, NEW)",
    "chmod": "os.chmod(CANARY, 0)",
    "rmtree": "import shutil\nshutil.rmtree(os.path.dirname(CANARY))",
    "unlink": "import pathlib\npathlib.Path(CANARY).unlink()",
    "open to write": "open(CANARY, 'w')",
    "open to append": "io.open(CANARY, 'a')",
    "FileIO": "io.FileIO(CANARY, 'w')",
    "os.open": "os.open(NEW, os.O_CREAT | os.O_WRONLY)",
    "write into the library": "open(os.__file__, 'r+')",
    "mkfifo": "os.mkfifo(NEW)",
    "mkdir": "os.mkdir(NEW)",
    "symlink": "os.symlink(CANARY, NEW)",
    "sqlite": "import sqlite3\nsqlite3.connect(NEW).execute('create table t(x)')",
    "read a file": "open('/etc/passwd').read()",
    "read through the library": "open(os.path.dirname(os.__file__) + '/..' * 30 + '/etc/passwd')",
    "read by a path that lies": (
        "class Path(str):\n    def startswith(self, *_):\n        return True\n"
        "open(Path('/etc/passwd'))"
    ),
    "read by bytes": "open(b'/etc/passwd')",
    "list a folder": "os.listdir('/')",
    "open a channel by number": "[open(fd, 'wb') for fd in range(64)]",
    # Reading the tests
    "inspect": "import inspect\ninspect.currentframe().f_back",
    "_getframe": "sys._getframe(1)",
    "_current_frames": "sys._current_frames()",
    "frame of an error": (
        "try:\n    1 / 0\nexcept ZeroDivisionError as error:\n    error.__traceback__.tb_frame"
    ),
    "frame of a generator": "(x for x in ()).gi_frame",
    "gc": "import gc\ngc.get_objects()",
    "own command line": "open('/proc/self/cmdline').read()",
    "memory of a process": "open('/proc/VICTIM/mem', 'rb').read(1)",
    "command line of a process": "open('/proc/VICTIM/cmdline').read()",
    "tracing": "sys.settrace(print)",
    "profiling": "sys.setprofile(print)",
    # Killing others
    "kill": "os.kill(VICTIM, 9)",
    "kill the parent": "os.kill(os.getppid(), 9)",
    "kill the group": "os.killpg(0, 9)",
    "pidfd": "import signal\nsignal.pidfd_send_signal(os.pidfd_open(VICTIM), 9)",
    "_signal": "import _signal\n_signal.pidfd_send_signal(os.pidfd_open(VICTIM), 9)",
    "interrupt": "import _thread\n_thread.interrupt_main()",
    # Talking
    "socket": "import socket\nsocket.socket()",
    "_socket": "import _socket\n_socket.socket()",
    "urllib": "import urllib.request\nurllib.request.urlopen('http://127.0.0.1')",
    # Breaking out
    "ctypes": "import ctypes\nctypes.CDLL(None).getpid()",
    "_ctypes": "import _ctypes",
    "mmap": "import mmap\nmmap.mmap(-1, 1)",
    "importlib": "import importlib\nimportlib.import_module('ctypes')",
    "own limits": "import resource\nresource.setrlimit(resource.RLIMIT_NPROC, (9, 9))",
    "own bytecode": "(lambda: 0).__code__.replace(co_consts=())",
    "other code": "def f(): pass\nf.__code__ = (lambda: 0).__code__",
    "marshal": "import marshal",
    "marshal, by the importer": (
        f"sys.modules['_frozen_importlib_external'].marshal.loads({_CODE!r})"
    ),
    "marshal, by the importer of archives": f"sys.modules['zipimport'].marshal.loads({_CODE!r})",
    "bytecode, by the importer": (
        f"sys.modules['_frozen_importlib_external']._compile_bytecode({_CODE!r})"
    ),
    "bytecode, out of a file": (
        "library, folder = os.path.dirname(os.__file__), '/__pycache__/'\n"
        "[name] = [name for name in os.listdir(library + folder) if name.startswith('os.cpython')"
        " and 'opt' not in name]\n"
        "external = sys.modules['_frozen_importlib_external']\n"
        "external.SourcelessFileLoader('os', library + folder + name).get_code('os')"
    ),
    "bytecode, as frozen": f"sys.modules['_imp'].get_frozen_object('x', {_CODE!r})",
    "os, by the back door": (
        "[c for c in object.__subclasses__() if c.__name__ == '_wrap_close'][0]"
        ".__init__.__globals__['system']('touch ' + NEW)"
    ),
    "change of user": "os.setuid(0)",
    # Fresh modules, out of reach of what was taken away
    "fresh posix": (
        f"{_FRESH}posix, _signal = map(fresh, ('posix', '_signal'))\n"
        "_signal.pidfd_send_signal(posix.pidfd_open(VICTIM), 9)"
    ),
    "fresh _signal": f"{_FRESH}fresh('_signal').alarm(0)",
    "fresh mkfifo": f"{_FRESH}fresh('posix').mkfifo(NEW)",
    "fresh mknod": f"{_FRESH}fresh('posix').mknod(NEW)",
    "fresh module by its loader": (
        "machinery = sys.modules['_frozen_importlib']\n"
        "spec = machinery.ModuleSpec('posix', machinery.BuiltinImporter)\n"
        "posix = machinery.BuiltinImporter.create_module(spec)\n"
        "machinery.BuiltinImporter.exec_module(posix)\nposix.mkfifo(NEW)"
    ),
    "machine code under a pure name": (
        "_imp = sys.modules['_imp']\nmachinery = sys.modules['_frozen_importlib']\n"
        "folder = os.path.dirname(os.__file__) + '/lib-dynload/'\n"
        "[file] = [name for name in os.listdir(folder) if name.startswith('_posixsubprocess.')]\n"
        "spec = machinery.ModuleSpec('math._posixsubprocess', None, origin=folder + file)\n"
        "_imp.exec_dynamic(_imp.create_dynamic(spec))"
    ),
    "function out of a table": (
        "[mknod] = [f for f in os.supports_dir_fd if f.__name__ == 'mknod']\nmknod(NEW)"
    ),
    "module of machine code, again": "del sys.modules['unicodedata']\nimport unicodedata",
    "part of what is no package": "import math.parts",
}

# Bodies of `add(a, b)`, each of which fails its tests: what the verdict is to say of it.
ENDINGS: dict[str, tuple[str, str]] = {
    # Never ending, and too much
    "sleep": ("import time; time.sleep(1000)", "stopped: it ran longer than 5 s"),
    "giant output": ("while True: print('x' * 10**6)", "stopped: it "),
    "memory": ("x = []\n    while True: x.append(bytearray(10**7))", "failed: MemoryError"),
    "memory at once": ("return len([0] * 10**10)", "failed: MemoryError"),
    "recursion": ("return add(a, b)", "failed: RecursionError"),
    "recursion to the end": (
        "import sys; sys.setrecursionlimit(10**9); return add(a, b)",
        "",  # by memory, by time or by a crash
    ),
    # Replies
    "giant text": ("return 'x' * 10**7", "failed: AssertionError"),
    "giant list": ("return [0] * 10**7", "failed: AssertionError"),
    "giant number": ("return 1 << 10**8", "failed: AssertionError"),
    "endless iterator": ("import itertools; return itertools.count()", "failed: AssertionError"),
    "circular list": ("x = []; x.append(x); return x", "failed: AssertionError"),
    "deep list": (
        "x = []\n    for _ in range(10**5): x = [x]\n    return x",
        "failed: AssertionError",
    ),
    "giant error": ("raise ValueError('x' * 10**7)", "failed: ValueError: xxx"),
    "error that cannot be shown": (
        "raise type('E', (ValueError,), {'__str__': lambda _: 1 / 0})",
        "failed: ValueError, at",
    ),
    "error for a terminal": (
        "raise ValueError('\\x1b[2J\\n\\ud800')",
        "failed: ValueError: ?[2J??",
    ),
    "error of its own": ("raise type('E', (KeyError,), {})('k')", "failed: KeyError: "),
    "error with many arguments": (
        "return b'\\xff'.decode()",
        "failed: UnicodeDecodeError: 'utf-8'",
    ),
    # Forging a pass
    "equal to all": (
        "return type('E', (), {'__eq__': lambda *_: True, '__hash__': None})()",
        "failed: AssertionError, at assert add(1, 2) == 3",
    ),
    "number equal to all": (
        "return type('E', (int,), {'__eq__': lambda *_: True, '__hash__': None})(7)",
        "failed: AssertionError",
    ),
    "patched builtins": (
        "import builtins\n"
        "    builtins.AssertionError = builtins.bool = builtins.isinstance = lambda *_: True\n"
        "    return 4",
        "stopped: its process ended (1)",
    ),
    "patched JSON": (
        "import json; json.dumps = lambda *_, **__: '[true, [], \"\"]'; return 4",
        "failed: AssertionError",
    ),
    "exit": ("import sys; sys.exit(0)", "stopped: it raised SystemExit"),
    "SystemExit": ("raise SystemExit(0)", "stopped: it raised SystemExit"),
    "interrupt": ("raise KeyboardInterrupt", "stopped: it raised KeyboardInterrupt"),
    "_exit": ("import os; os._exit(0)", "not there: os._exit is refused here"),
    "printed verdict": (
        "import sys\n    for out in (sys.stdout, sys.__stdout__, sys.__stderr__):\n"
        '        print(\'{"passed": true, "why": ""}\', file=out, flush=True)\n    return 4',
        "failed: AssertionError",
    ),
    "read from standard input": ("return 3 if input() else 4", "failed: EOFError"),
    "wrong answer": ("return a + b + (a == 0)", "failed: AssertionError, at assert add(0, 0) == 0"),
    "other audit hook": (
        "import sys; sys.addaudithook(lambda *_: 1 / 0); return 4",
        "failed: AssertionError",
    ),
}

# What a program could write if it got hold of its process's channel. None of it is an answer.
REPLIES: dict[str, bytes] = {
    "half a line": b"[3, [",
    "no JSON": b"verdict\n",
    "no text": b"\xff\xfe\n",
    "number": b"3\n",
    "verdict": b'{"passed": true, "why": ""}\n',
    "verdict as a list": b'[true, "", 0]\n'.replace(b'""', b'["True"]'),
    "deep": b"[" * 100_000 + b"\n",
    "deep, closed": b"[" * 100_000 + b"]" * 100_000 + b"\n",
    "deep, tagged": b"[" + b'{"set": [' * 300 + b"]}" * 300 + b', [], ""]\n',
    "too long": b'["' + b"x" * 4_000_000 + b'", [], ""]\n',
    "endless line": b"[" * 5_000_000,
    "long number": b"[" + b"9" * 10_000 + b', [], ""]\n',
    "set of lists": b'[{"set": [[1]]}, [], ""]\n',
    "dict of lists": b'[{"dict": [{"tuple": [[1], 1]}]}, [], ""]\n',
    "unknown tag": b'[{"eval": "1"}, [], ""]\n',
    "two tags": b'[{"int": "1", "set": []}, [], ""]\n',
    "no tag": b'[{}, [], ""]\n',
    "bad digits": b'[{"int": []}, [], ""]\n',
    "bad bytes": b'[{"bytes": "xyz"}, [], ""]\n',
    "no kind of error": b'[3, ["print", "True"], ""]\n',
    "unknown kind of error": b'[3, ["Nonsense"], ""]\n',
    "names that are lists": b'[3, [[]], ""]\n',
    "names that are a number": b'[3, 7, ""]\n',
    "names that are true": b'[3, true, ""]\n',
    "exit": b'[3, ["SystemExit", "BaseException"], 0]\n',
    "interrupt": b'[3, ["KeyboardInterrupt"], ""]\n',
    "generator exit": b'[3, ["GeneratorExit"], ""]\n',
}

# Sources of `main` for a process that is the attacker's from the start, and the verdict's first
# words. `ready` is what an honest process says before it runs the program.
PROCESSES: dict[str, tuple[str, str | tuple[str, ...]]] = {
    "died": ("ready(); os.kill(os.getpid(), 9)", "stopped: its process ended (SIGKILL)"),
    "closed and alive": (
        # In a box its other end stays open.
        "ready(); os.close(0); os.close(1); time.sleep(60)",
        ("stopped: it closed its channel", "stopped: it ran longer than 5 s"),
    ),
    "slow": (
        "ready()\n    while True:\n        time.sleep(0.2); out(b' ')",
        "stopped: it ran longer than 5 s",
    ),
    "wrong": (
        "ready(); out(b'[0, [], 0]\\n[3, [], 0]\\n[3, [], 0]\\n'); time.sleep(60)",
        "failed: AssertionError",
    ),
}

QUIET = """\
import asyncio, collections, contextlib, itertools
CASES, WANTED = [(1, 2), (0, 0)], [3, 0]
def check(add):
    def call(case): return add(*case)
    def is_right(case): return add(*case) == sum(case)
    def is_wrong(case): return add(*case) != sum(case)
    {}
"""

# Tests of `add` that would pass if an error of this type came up inside of them: the error, and
# lines for QUIET that see none of the answers then.
QUIET_ENDS: dict[str, tuple[str, str]] = {
    "all, map": ("StopIteration", "assert all(map(is_right, CASES))"),
    "not any, map": ("StopIteration", "assert not any(map(is_wrong, CASES))"),
    "zip, map": (
        "StopIteration",
        "for found, wanted in zip(map(call, CASES), WANTED): assert found == wanted",
    ),
    "filter": ("StopIteration", "assert not list(filter(is_wrong, CASES))"),
    "for, map": ("StopIteration", "for found in map(call, CASES): assert found in WANTED"),
    "set, map": ("StopIteration", "assert set(map(call, CASES)) <= set(WANTED)"),
    "default of next": ("StopIteration", "assert next(map(call, CASES), 3) == 3"),
    "starmap": ("StopIteration", "assert not set(itertools.starmap(add, CASES)) - {3, 0}"),
    "takewhile": (
        "StopIteration",
        "assert not [case for case in itertools.takewhile(is_wrong, CASES)]",
    ),
    "iter of a call": ("StopIteration", "for found in iter(lambda: add(1, 2), 3): assert False"),
    "own iterator": (
        "StopIteration",
        "class Wrong:\n        def __iter__(self): return self\n"
        "        def __next__(self): return add(1, 2)\n"
        "    for found in Wrong(): assert found == 3; break",
    ),
    "async for": (
        "StopAsyncIteration",
        "class Found:\n        def __aiter__(self): return self\n"
        "        async def __anext__(self): return add(1, 2)\n"
        "    async def see():\n        async for found in Found():\n"
        "            assert found == 3\n            return\n"
        "    asyncio.run(see())",
    ),
    "sequence": (
        "IndexError",
        "class Found:\n        def __getitem__(self, number): return call(CASES[number])\n"
        "    assert all(found in WANTED for found in Found())",
    ),
    "hasattr": (
        "AttributeError",
        "class Found:\n        @property\n        def wrong(self): return add(1, 2) != 3\n"
        "    assert not getattr(Found(), 'wrong', False)",
    ),
    "chain of tables": (
        "KeyError",
        "class Found(dict):\n        def __missing__(self, case): return call(case)\n"
        "    assert collections.ChainMap(Found(), {(1, 2): 3})[1, 2] == 3",
    ),
    "close of a generator": (
        "GeneratorExit",
        "def see():\n        try:\n            yield\n        finally:\n"
        "            assert add(1, 2) == 3\n    found = see(); next(found); found.close()",
    ),
    "suppress": ("ValueError", "with contextlib.suppress(Exception): assert add(1, 2) == 3"),
    "finally": (
        "ValueError",
        "def see():\n        try: assert add(1, 2) == 3\n        finally: return\n    see()",
    ),
    "bare except": ("KeyError", "try: assert add(1, 2) == 3\n    except: pass"),
    "bare except, exit": ("SystemExit", "try: assert add(1, 2) == 3\n    except: pass"),
    "interrupt": (
        "KeyboardInterrupt",
        "try: assert add(1, 2) == 3\n    except BaseException: pass",
    ),
    "except, by a base that it has": (
        "StopIteration",
        "try: assert all(map(is_right, CASES))\n    except StopIteration: raise AssertionError",
    ),
}
