"""Programs that mean harm, out of `hostile.yaml`."""

import marshal
from textwrap import indent

from tests.cases import cases

_PARTS = {
    "FRESH\n": cases(__file__, "fresh"),
    "CODE": repr(marshal.dumps(compile("0", "own", "exec"))),
}


def _whole(action: str) -> str:
    for name, text in _PARTS.items():
        action = action.replace(name, text)
    return action


# Each of these statements is to raise an error, whatever the program does afterwards.
ACTIONS: dict[str, str] = {
    name: _whole(action) for name, action in cases(__file__, "actions").items()
}
ENDINGS: dict[str, tuple[str, str]] = cases(__file__, "endings")

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
PROCESSES: dict[str, tuple[str, list[str]]] = cases(__file__, "processes")

# Tests of `add` that would pass if an error of this type came up inside of them: the error, and the
# tests, which see none of the answers then.
QUIET_ENDS: dict[str, tuple[str, str]] = {
    name: (error, cases(__file__, "quiet").replace("    TESTS", indent(lines, "    ")))
    for name, (error, lines) in cases(__file__, "quiet ends").items()
}
