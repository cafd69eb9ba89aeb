"""Files spoiled at random, from a seed: bytes, lines, words, and values inside of JSON."""

import json
import re
from collections.abc import Callable
from copy import deepcopy
from random import Random
from typing import Any

from tests.cases import cases

WORDS: tuple[str, ...] = (
    *cases(__file__, "words"),
    *("9" * 400, "9" * 5_000, "x" * 10_000, "[" * 2_000, "{a: " * 300, "9" * 30 + ": 1"),
)
# Stand for what `json.dumps` cannot write: replaced in its text.
_LITERALS = {"<deep>": "[" * 5_000 + "]" * 5_000, "<huge>": "9" * 5_000}
VALUES: tuple[Any, ...] = (
    *cases(__file__, "values"),
    *(float("nan"), float("inf"), float("-inf"), 10**400, 10**30, -(10**18)),
    *("x" * 70_000, "[" * 5_000, "\ud800", "a\udfffb", {"\ud800": 1}),
    *_LITERALS,
)


def deep(levels: int = 400) -> list[Any]:
    """A list in a list, and so on."""
    value: list[Any] = []
    for _ in range(levels):
        value = [value]
    return value


def spoiled_bytes(data: bytes, rng: Random) -> bytes:
    """Some bytes changed, lost, doubled or put in."""
    start, end = sorted(rng.randrange(len(data) + 1) for _ in range(2))
    part = data[start : min(end, start + 200)]
    found: list[Callable[[], bytes]] = [
        lambda: data[:start],
        lambda: data[end:],
        lambda: data[:start] + data[end:],
        lambda: data[:start] + part + data[start:],
        lambda: data[:start] + rng.choice(JUNK) + data[start:],
        lambda: bytes(byte ^ (rng.random() < 0.02 and 1 << rng.randrange(8)) for byte in data),
        lambda: rng.choice(JUNK) + data,
        lambda: data + rng.choice(JUNK),
        lambda: data + data,
        lambda: data[:start] + rng.randbytes(len(part)) + data[start + len(part) :],
        lambda: data.decode("utf-8", "replace").encode(
            rng.choice(["utf-16", "utf-32", "utf-8-sig"])
        ),
    ]
    return rng.choice(found)()


JUNK = (
    *(b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\xc3", b"\r", b"\n\n", b"\x1a"),
    *(b"\x00" * 500, b"\x80", b"PK\x03\x04", b"PAR1", b"\x1f\x8b"),
)


def spoiled_text(data: bytes, rng: Random) -> bytes:
    """Words and lines changed, lost, doubled, exchanged."""
    text = data.decode()
    lines = text.splitlines(keepends=True)
    one, other = (rng.randrange(len(lines)) for _ in range(2))
    match rng.randrange(8):
        case 0:
            lines.insert(one, lines[other])
        case 1:
            del lines[one]
        case 2:
            lines[one], lines[other] = lines[other], lines[one]
        case 3:
            return text.replace("\n", rng.choice(["\r\n", "\r", "\n\n", "\x0b", "\u2028"])).encode()
        case 4:
            old, new = rng.choice(",;\t:-"), rng.choice(",;\t:-{")
            return text.replace(old, new).encode()
        case _:
            for _ in range(rng.choice([1, 1, 1, 3])):
                text = _with_another_word(text, rng)
            return text.encode()
    return "".join(lines).encode()


def _with_another_word(text: str, rng: Random) -> str:
    places = list(re.finditer(r"[^\s,;:\"{}\[\]]+", text))
    if not places:
        return text + rng.choice(WORDS)
    place = rng.choice(places)
    word = rng.choice([*WORDS, rng.choice(places)[0]])
    return text[: place.start()] + word + text[place.end() :]


def spoiled_json(text: str | bytes, rng: Random) -> str:
    """A JSON text with a few values or keys changed, lost, doubled or put in."""
    return written(spoiled_value(json.loads(text), rng))


def written(value: Any) -> str:
    """As JSON, also what has no place in it."""
    text = json.dumps(value)
    for name, literal in _LITERALS.items():
        text = text.replace(f'"{name}"', literal)
    return text


def spoiled_value(value: Any, rng: Random) -> Any:
    """A copy of a JSON value in which one or a few values or keys are others."""
    value = deepcopy(value)
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        value = _with_a_change(value, rng)
    return value


def _with_a_change(value: Any, rng: Random) -> Any:
    places = list(_places(value))
    if not places or rng.random() < 0.02:
        return _other(rng)
    holder, key = rng.choice(places)
    match rng.randrange(6):
        case 0:
            del holder[key]
        case 1 if isinstance(holder, dict):
            holder[rng.choice(["id", "name", "", "x" * 300, "\ud800", *holder])] = rng.choice(
                VALUES
            )
        case 1:
            holder.insert(key, holder[rng.randrange(len(holder))])
        case 2:
            holder[key] = [holder[key]]
        case 3:
            holder[key] = {"a": holder[key]} if rng.random() < 0.5 else str(holder[key])
        case _:
            holder[key] = _other(rng)
    return value


def _other(rng: Random) -> Any:
    return deep() if rng.random() < 0.05 else deepcopy(rng.choice(VALUES))


def _places(value: Any, levels: int = 30) -> Any:
    """Every place inside a value that holds something: its holder and the key."""
    if levels and isinstance(value, (dict, list)):
        pairs = list(value.items()) if isinstance(value, dict) else list(enumerate(value))
        for key, inner in pairs:
            yield value, key
            yield from _places(inner, levels - 1)
