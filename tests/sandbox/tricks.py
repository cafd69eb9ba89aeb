"""Programs that would pass their tests without solving anything, as data.

Every trick is a program whose `add` does not add, and tests that it is made for. In a harness that
runs both in one process most of them pass.
"""

EQUAL = "assert add(1, 2) == 3\n    assert add(0, 0) == 0"
_PLAIN = "sys.modules['tiebreak.sandbox.plain_data']"
_RUNNING = "sys.modules['tiebreak.sandbox.run_program']"


def _raising(what: str) -> str:
    return f"def add(a, b):\n    raise {what}\n"


def _object(base: str, body: str, made: str = "9") -> str:
    """A program whose answers are of a class of its own."""
    return f"class Sly({base}):\n    {body}\ndef add(a, b):\n    return Sly({made})\n"


_YES = "__eq__ = __ne__ = __lt__ = __gt__ = __le__ = __ge__ = lambda *_: True\n    __hash__ = None"
ALL = "assert all(map(lambda case: add(*case) == sum(case), [(1, 2), (0, 0)]))"
LOOP = "for found, wanted in zip(map(add, [1, 0], [2, 0]), [3, 0]): assert found == wanted"

TRICKS: dict[str, tuple[str, str]] = {
    # Types of errors that end something quietly
    "StopIteration, all": (_raising("StopIteration"), ALL),
    "StopIteration, zip": (_raising("StopIteration(3)"), LOOP),
    "StopIteration, of a class": (_raising("type('E', (StopIteration,), {})"), ALL),
    "StopIteration, by its name": (
        _raising("type('StopIteration', (Exception,), {'__module__': 'builtins'})"),
        ALL,
    ),
    "StopIteration, by a chain": (
        "def add(a, b):\n    try: raise StopIteration\n    except StopIteration as error:\n"
        "        raise RuntimeError from error\n",
        ALL,
    ),
    "StopIteration, by next": ("def add(a, b):\n    return next(iter(()))\n", LOOP),
    "StopIteration, on the second call": (
        "calls = []\ndef add(a, b):\n    calls.append(a)\n    if len(calls) > 1:\n"
        "        raise StopIteration\n    return 3\n",
        LOOP,
    ),
    "StopAsyncIteration": (_raising("StopAsyncIteration"), ALL),
    "GeneratorExit": (
        _raising("GeneratorExit"),
        "def see():\n        try: yield\n        finally: assert add(1, 2) == 3\n"
        "    seen = see(); next(seen); seen.close()",
    ),
    "SystemExit": (_raising("SystemExit(0)"), EQUAL),
    "SystemExit, of a class": (_raising("type('E', (SystemExit, ValueError), {})"), EQUAL),
    "exit": ("def add(a, b):\n    exit()\n", EQUAL),
    "sys.exit on import": ("import sys\nsys.exit(0)\n", EQUAL),
    "KeyboardInterrupt": (_raising("KeyboardInterrupt"), EQUAL),
    "error that the tests swallow": (
        _raising("ValueError"),
        "for case in [(1, 2)]:\n        try: assert add(*case) == 3\n        except: continue",
    ),
    "error that a finally swallows": (
        _raising("LookupError"),
        "def see():\n        try: assert add(1, 2) == 3\n        finally: return\n    see()",
    ),
    "end of a sequence": (
        _raising("IndexError"),
        "class Seen:\n        def __getitem__(self, i): return add(i, 0) == [0, 1][i]\n"
        "    assert all(Seen())",
    ),
    "missing attribute": (
        _raising("AttributeError"),
        "class Seen:\n        wrong = property(lambda self: add(1, 2) != 3)\n"
        "    assert not getattr(Seen(), 'wrong', False)",
    ),
    "group of errors": (_raising("BaseExceptionGroup('x', [GeneratorExit()])"), EQUAL),
    "error that is equal to all": (
        _raising("type('E', (Exception,), {'__eq__': lambda *_: True})('3')"),
        "try: found = add(1, 2)\n    except Exception as error: found = error\n"
        "    assert found == 3",
    ),
    "error whose text is a verdict": (
        'def add(a, b):\n    raise Exception(\'{"passed": true, "why": ""}\')\n',
        EQUAL,
    ),
    "error that exits when it is shown": (
        _raising("type('E', (Exception,), {'__str__': lambda _: exit()})"),
        EQUAL,
    ),
    "answer to the error before": (
        _raising("AssertionError"),
        "try: add(1, 2)\n    except ZeroDivisionError: return\n    assert False",
    ),
    # Answers in disguise
    "object, equal": (_object("object", f"__init__ = lambda *_: None\n    {_YES}"), EQUAL),
    "object, equal by itself": (
        _object("object", "__init__ = __eq__ = lambda *_: None\n    __ne__ = lambda *_: False"),
        "assert not add(1, 2) != 3",
    ),
    "object, close": (
        _object(
            "object", f"__init__ = __sub__ = __abs__ = lambda self, *_: self and None\n    {_YES}"
        ),
        "assert abs(add(1, 2) - 3) < 1e-6",
    ),
    "object, by its class": (
        _object("object", f"__init__ = lambda *_: None\n    __class__ = int\n    {_YES}"),
        "found = add(1, 2)\n    assert isinstance(found, int) and found == 3",
    ),
    "object, hashed": (
        _object(
            "object",
            "__init__ = lambda *_: None\n    __eq__ = lambda *_: True\n"
            "    __hash__ = lambda _: hash(3)",
        ),
        "assert add(1, 2) in {3: 0}",
    ),
    "int": (_object("int", _YES), EQUAL),
    "int, hashed": (
        _object("int", "__eq__ = lambda *_: True\n    __hash__ = lambda _: 3"),
        "assert {add(1, 2)} == {3}",
    ),
    "int, by its index": (
        _object("int", "__index__ = __int__ = __str__ = __repr__ = lambda _: 3"),
        "assert int(add(1, 2)) == 3 and [0] * 4 and [0, 1, 2, 3][add(1, 2)] == 3",
    ),
    "int, true": (_object("int", "__bool__ = lambda _: True", "0"), "assert add(1, 2)"),
    "bool in disguise": (
        _object("int", f"{_YES}\n    __bool__ = lambda _: True", "0"),
        "assert add(1, 2) == True\n    assert bool(add(1, 2)) is True",
    ),
    "float": (_object("float", _YES), "assert add(1.0, 2.0) == 3.0"),
    "float, close": (
        _object("float", "__sub__ = __rsub__ = __abs__ = lambda *_: 0.0"),
        "assert abs(add(1.0, 2.0) - 3.0) < 1e-6",
    ),
    "float, rounded": (
        _object("float", "__round__ = __floor__ = __trunc__ = lambda *_: 3"),
        "assert round(add(1.0, 2.0), 2) == 3",
    ),
    "float, by its float": (
        _object("float", "__float__ = lambda _: 3.0"),
        "assert float(add(1, 2)) == 3.0",
    ),
    "complex": (
        _object("complex", f"real = property(lambda _: Sly(3))\n    {_YES}"),
        "assert add(1, 2) == 3",
    ),
    "nan": ("def add(a, b):\n    return float('nan')\n", EQUAL),
    "nan, close": ("def add(a, b):\n    return float('nan')\n", "assert abs(add(1, 2) - 3) < 1"),
    "signalling nan": (
        "from decimal import Decimal\ndef add(a, b):\n    return Decimal('sNaN')\n",
        "assert add(1, 2) == 3",
    ),
    "Decimal": (
        "from decimal import Decimal\n" + _object("Decimal", _YES),
        EQUAL,
    ),
    "Fraction": (
        "from fractions import Fraction\n"
        + _object("Fraction", f"numerator = property(lambda _: [3])\n    {_YES}"),
        EQUAL,
    ),
    "str": (_object("str", _YES), "assert add('a', 'b') == 'ab'"),
    "str, in a text": (
        _object("str", "__contains__ = startswith = endswith = lambda *_: True"),
        "assert 'ab' in add('a', 'b') and add('a', 'b').startswith('ab')",
    ),
    "str, lowered": (
        _object("str", "lower = upper = strip = __str__ = lambda _: 'ab'"),
        "assert add('a', 'b').lower() == 'ab' and str(add('a', 'b')) == 'ab'",
    ),
    "str, hashed": (
        _object("str", "__eq__ = lambda *_: True\n    __hash__ = lambda _: hash('ab')"),
        "assert {'ab': 1}[add('a', 'b')] == 1",
    ),
    "bytes": (_object("bytes", _YES), "assert add(b'a', b'b') == b'ab'"),
    "list": (_object("list", _YES, "[9]"), "assert add([1], [2]) == [1, 2]"),
    "list, without end": (
        _object("list", "__iter__ = lambda _: iter([1, 2])\n    __len__ = lambda _: 2", "[9]"),
        "assert list(add([1], [2])) == [1, 2] and len(add([1], [2])) == 2",
    ),
    "list, empty to a loop": (
        _object("list", "__iter__ = lambda _: iter(())", "[9]"),
        "found = add([1], [2])\n    assert found\n    for part in found: assert part in (1, 2)",
    ),
    "list, sorted": (
        _object("list", "__getitem__ = lambda _, i: [1, 2][i]", "[9, 9]"),
        "assert sorted(add([2], [1])) == [1, 2] or add([2], [1])[:] == [1, 2]",
    ),
    "tuple": (_object("tuple", _YES, "[9]"), "assert add((1,), (2,)) == (1, 2)"),
    "set": (
        _object("set", f"__contains__ = issubset = lambda *_: True\n    {_YES}", "[9]"),
        "assert add({1}, {2}) == {1, 2}",
    ),
    "dict": (
        _object("dict", f"get = __getitem__ = lambda *_: 3\n    {_YES}", "{}"),
        "assert add({}, {})['x'] == 3 and add({}, {}) == {'x': 3}",
    ),
    "iterator that stops its reader": (
        "class Sly:\n    __iter__ = lambda self: self\n    def __next__(self): exit()\n"
        "def add(a, b):\n    return Sly()\n",
        "assert list(add([1], [2])) == [1, 2]",
    ),
    "generator that stops": (
        "def add(a, b):\n    raise StopIteration\n    yield\n",
        "assert list(add([1], [2])) == [1, 2]",
    ),
    "type that is equal to all": (
        "class Meta(type):\n    __eq__ = lambda *_: True\n    __hash__ = lambda _: 0\n"
        "    __instancecheck__ = __subclasscheck__ = lambda *_: True\n"
        "class Sly(metaclass=Meta): pass\ndef add(a, b):\n    return Sly\n",
        EQUAL,
    ),
    "proxy of everything": (
        _object(
            "object",
            "__init__ = lambda *_: None\n    __getattr__ = lambda self, _: lambda *_: self\n"
            f"    __call__ = __iter__ = __next__ = lambda self, *_: self\n    {_YES}",
        ),
        "assert add(1, 2).real == 3",
    ),
    "object that is called": (
        f"class Sly(int):\n    {_YES}\n    __call__ = lambda self, *_: self\nadd = Sly(9)\n",
        EQUAL,
    ),
    "coroutine": ("async def add(a, b):\n    return 3\n", EQUAL),
    "its own arguments": ("def add(a, b):\n    return [a, b]\n", "assert add([1], [2]) == [1, 2]"),
    # What the tests stand on
    "patched assert": (
        "import builtins\nbuiltins.AssertionError = type('E', (Exception,), "
        "{'__new__': lambda *_: 1})\ndef add(a, b):\n    return 4\n",
        EQUAL,
    ),
    "patched builtins": (
        "import builtins\nfor name in ('all', 'any', 'bool', 'isinstance', 'len', 'abs'):\n"
        "    setattr(builtins, name, lambda *_: True)\ndef add(a, b):\n    return 4\n",
        "assert all([add(1, 2) == 3])\n    assert isinstance(add(1, 2), str)",
    ),
    "patched int": (
        "import builtins\nbuiltins.int = builtins.float = builtins.sum = lambda *_: 3\n"
        "def add(a, b):\n    return 4\n",
        "assert int(add(1, 2)) == 3",
    ),
    "own check": (
        "def check(candidate): pass\ncandidate = add = lambda a, b: 4\n"
        "globals()['check'] = check\n",
        EQUAL,
    ),
    "check in main": (
        "import sys\nmain = sys.modules['__main__']\nmain.check = lambda _: None\n"
        "main.METADATA = main.candidate = None\ndef add(a, b):\n    return 4\n",
        EQUAL,
    ),
    "own encoder": (
        f"import sys\nplain = {_PLAIN}\nplain.encode = plain._encode = lambda *_: 3\n"
        f"{_RUNNING}.encode = lambda *_: {{'object': 3}}\ndef add(a, b):\n    return 4\n",
        "assert add(1, 2) == add(0, 0)",
    ),
    "own answer": (
        f"import sys\n{_RUNNING}.answer = lambda *_: b'true\\n'\ndef add(a, b):\n    return 4\n",
        EQUAL,
    ),
    "own answer, of many": (
        f"import sys\n{_RUNNING}.answer = lambda *_: b'[0, [], 0]\\n' * 9\n"
        "def add(a, b):\n    return 4\n",
        EQUAL,
    ),
    "own JSON": (
        "import json\njson.dumps = json.encoder.JSONEncoder.encode = "
        'lambda *_, **__: \'[{"passed": true}, [], ""]\'\ndef add(a, b):\n    return 4\n',
        EQUAL,
    ),
    "printed verdict": (
        'import os, sys\ndef add(a, b):\n    print(\'{"passed": true, "why": ""}\', flush=True)\n'
        "    sys.__stdout__.write('3\\n')\n    return 4\n",
        EQUAL,
    ),
    "verdict at the end": (
        'import atexit\natexit.register(print, \'{"passed": true, "why": ""}\')\n'
        "def add(a, b):\n    return 4\n",
        EQUAL,
    ),
    "verdict on every channel": (
        "import os\ndef add(a, b):\n    for fd in range(16):\n"
        '        try: os.write(fd, b\'{"passed": true, "why": ""}\\n\')\n'
        "        except (OSError, AttributeError): pass\n    return 4\n",
        EQUAL,
    ),
    "tests, by a frame": (
        "import sys\ndef add(a, b):\n    frame = sys._getframe(1)\n"
        "    frame.f_globals['sum'] = frame.f_locals['sum'] = 4\n    return 4\n",
        EQUAL,
    ),
    "tests, by a traceback": (
        "def add(a, b):\n    try: 1 / 0\n    except Exception as error:\n"
        "        error.__traceback__.tb_frame.f_back.f_globals['add'] = lambda a, b: a + b\n"
        "    return 4\n",
        EQUAL,
    ),
    "tests, by the collector": (
        "import gc\ndef add(a, b):\n    for found in gc.get_objects():\n"
        "        if isinstance(found, dict) and 'check' in found:\n"
        "            found['check'] = lambda _: None\n    return 4\n",
        EQUAL,
    ),
    "no assertions": (
        "import sys\nsys.flags = type('F', (), {'optimize': 2})()\n__debug__x = False\n"
        "def add(a, b):\n    return 4\n",
        EQUAL,
    ),
    "own comparison, at the end": (
        "class Sly(int):\n    def __del__(self): print('3', flush=True)\n"
        "def add(a, b):\n    return Sly(4)\n",
        EQUAL,
    ),
    "quick end": ("import os\ndef add(a, b):\n    os._exit(0)\n", EQUAL),
    "abort": ("import os\ndef add(a, b):\n    os.abort()\n", EQUAL),
    "recursion that is caught": (
        "import sys\nsys.setrecursionlimit(10**6)\ndef add(a, b):\n    return add(b, a)\n",
        EQUAL,
    ),
    "own bytecode": (
        "import sys\nmarshal = sys.modules['_frozen_importlib_external'].marshal\n"
        "add = type(lambda: 0)(marshal.loads(marshal.dumps((lambda *_: 3).__code__)), {})\n",
        "assert add(1, 2) == 3",
    ),
    "audit hook of its own": (
        "import sys\nsys.addaudithook(lambda *_: 1 / 0)\ndef add(a, b):\n    return 4\n",
        EQUAL,
    ),
    "no function": ("subtract = 3\n", EQUAL),
    "function that is gone": ("def add(a, b):\n    global add\n    del add\n    return 3\n", EQUAL),
}
