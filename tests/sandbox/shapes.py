"""Right programs of many shapes, and the tests that they pass."""

from tests.sandbox.tricks import ALL, EQUAL, LOOP

_ADD = "def add(a, b):\n    return a + b\n"

RIGHT: dict[str, tuple[str, str]] = {
    "function": (_ADD, EQUAL),
    "lambda": ("add = lambda a, b: a + b\n", EQUAL),
    "built in": ("from operator import add\n", EQUAL),
    "built in, by a name": ("import operator\nadd = operator.__add__\n", EQUAL),
    "method": ("add = int.__add__\n", EQUAL),
    "bound method": ("class A:\n    def add(self, a, b): return a + b\nadd = A().add\n", EQUAL),
    "static method": (
        "class A:\n    @staticmethod\n    def add(a, b): return a + b\nadd = A.add\n",
        EQUAL,
    ),
    "object that is called": (
        "class A:\n    def __call__(self, a, b): return a + b\nadd = A()\n",
        EQUAL,
    ),
    "class": ("class add(int):\n    def __new__(c, a, b): return int.__new__(c, a + b)\n", EQUAL),
    "partial": ("import functools\nadd = functools.partial(lambda z, a, b: a + b, 0)\n", EQUAL),
    "cached": (f"import functools\n@functools.lru_cache(None)\n{_ADD}", EQUAL),
    "closure": ("def make(z):\n    return lambda a, b: a + b + z\nadd = make(0)\n", EQUAL),
    "recursive": ("def add(a, b):\n    return add(a + 1, b - 1) if b else a\n", EQUAL),
    "defaults": ("def add(a=0, *rest, z=0, **_):\n    return a + sum(rest) + z\n", EQUAL),
    "annotated": (
        "from __future__ import annotations\nfrom typing import *\nT = TypeVar('T')\n"
        "def add(a: T, b: T) -> Optional[List[T]]:\n    return a + b\n",
        EQUAL,
    ),
    "reduced": (
        "def add(*x):\n    from functools import reduce\n    return reduce(int.__add__, x)\n",
        EQUAL,
    ),
    "counted": ("def add(a, b):\n    return len([*range(a), *range(b)])\n", EQUAL),
    "state": (
        "calls = 0\ndef add(a, b):\n    global calls\n    calls += 1\n    return a + b\n",
        EQUAL,
    ),
    "errors of its own": (
        "def add(a, b):\n    try: raise StopIteration(a + b)\n"
        "    except StopIteration as error: return error.value\n",
        EQUAL,
    ),
    "exits of its own": (
        "def add(a, b):\n    try: raise SystemExit(a + b)\n"
        "    except BaseException as error: return error.code\n",
        EQUAL,
    ),
    "generator of its own": (
        "def parts(*x):\n    found = yield from x\n    return found\n"
        "def add(a, b):\n    steps = parts(a, b)\n    found = next(steps) + next(steps)\n"
        "    try: next(steps)\n    except StopIteration: return found\n",
        EQUAL,
    ),
    "assert of its own": ("def add(a, b):\n    assert a >= 0 <= b\n    return a + b\n", EQUAL),
    "data class": (
        "from dataclasses import dataclass\n@dataclass\nclass P:\n    a: int\n    b: int\n"
        "def add(a, b):\n    return P(a, b).a + P(a, b).b\n",
        EQUAL,
    ),
    "match": ("def add(a, b):\n    match [a, b]:\n        case [x, y]: return x + y\n", EQUAL),
    "walrus": ("def add(a, b):\n    return (c := a) + b\n", EQUAL),
    "eval": ("def add(a, b):\n    return eval('a + b')\n", EQUAL),
    "prints": ("def add(a, b):\n    print(a, b)\n    return a + b\n", EQUAL),
    "int enum": (
        "import enum\nclass N(enum.IntEnum):\n    A, B = 0, 3\n"
        "def add(a, b):\n    return N(a + b)\n",
        EQUAL,
    ),
    "Fraction": (
        "from fractions import Fraction\ndef add(a, b):\n    return Fraction(a) + b\n",
        EQUAL,
    ),
    "Decimal": ("from decimal import Decimal\ndef add(a, b):\n    return Decimal(a) + b\n", EQUAL),
    "complex": ("def add(a, b):\n    return complex(a) + b\n", EQUAL),
    "float": (_ADD, "assert abs(add(0.1, 0.2) - 0.3) < 1e-9\n    assert add(1.5, 1.5) == 3.0"),
    "infinite": (_ADD, "assert add(float('inf'), 1) == float('inf')"),
    "nan": (_ADD, "found = add(float('nan'), 1)\n    assert found != found"),
    "large": (_ADD, "assert add(10**5000, 1) == 10**5000 + 1"),
    "bool": ("def add(a, b):\n    return a + b == 3\n", "assert add(1, 2) is True"),
    "none": ("def add(a, b):\n    pass\n", "assert add(1, 2) is None"),
    "text": (_ADD, "assert add('ä', '\\ud800') == 'ä\\ud800'"),
    "text of a class": (
        "class S(str): pass\ndef add(a, b):\n    return S(a + b)\n",
        "assert {add('a', 'b')} == {'ab'} and type(add('a', 'b')) is str",
    ),
    "bytes": (_ADD, "assert add(b'\\xff', b'a') == b'\\xffa'"),
    "list": (_ADD, "assert add([1], [[2]]) == [1, [2]]"),
    "tuple": (_ADD, "assert add((1,), (2,)) == (1, 2)"),
    "named tuple": (
        "from typing import NamedTuple\nclass P(NamedTuple):\n    x: int\n    y: int\n"
        "def add(a, b):\n    return P(a, b)\n",
        "assert add(1, 2) == (1, 2)",
    ),
    "set": ("def add(a, b):\n    return a | b\n", "assert add({1}, {2}) == {1, 2}"),
    "dict": (
        "def add(a, b):\n    return {**a, **b}\n",
        "assert add({1: 2}, {'x': [3]})['x'] == [3]",
    ),
    "counter": (
        "from collections import Counter\ndef add(a, b):\n    return Counter(a + b)\n",
        "assert add('ab', 'a') == {'a': 2, 'b': 1}",
    ),
    "default dict": (
        "from collections import defaultdict\ndef add(a, b):\n"
        "    found = defaultdict(list)\n    found[a].append(b)\n    return found\n",
        "assert add(1, 2) == {1: [2]}",
    ),
    "deque": (
        "from collections import deque\ndef add(a, b):\n    return deque([a, b])\n",
        "assert list(add(1, 2)) == [1, 2]",
    ),
    "generator": ("def add(a, b):\n    yield a\n    yield b\n", "assert list(add(1, 2)) == [1, 2]"),
    "map": ("def add(a, b):\n    return map(int, [a, b])\n", "assert sorted(add(2, 1)) == [1, 2]"),
    "range": ("def add(a, b):\n    return range(a, b)\n", "assert add(1, 3) == range(1, 3)"),
    "error that the tests name": (
        _ADD,
        "try: add(1, None)\n    except TypeError: return\n    assert False",
    ),
    "error of a base that the tests name": (
        "def add(a, b):\n    return {}[a]\n",
        "try: add(1, None)\n    except (OSError, LookupError) as error: assert '1' in str(error)",
    ),
    "error, by any": (
        "class Wrong(Exception): pass\ndef add(a, b):\n    raise Wrong('no')\n",
        "try: add(1, None)\n    except Exception as error: assert str(error) == 'no'",
    ),
    "tests that use iteration": (
        _ADD,
        f"{ALL}\n    {LOOP}\n    assert next(map(add, [1], [2])) == 3\n"
        "    assert list(zip(map(add, [1, 2], [2, 1]), 'ab')) == [(3, 'a'), (3, 'b')]",
    ),
    "tests that draw": (
        _ADD,
        "import copy, math, random, string\n    for _ in range(50):\n"
        "        a, b = random.randint(0, 9), random.random()\n"
        "        assert math.isclose(add(copy.deepcopy(a), b), a + b)",
    ),
}
