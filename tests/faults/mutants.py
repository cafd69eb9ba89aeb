"""Damage: what disks, editors, other programs and hostile people do to a file. Seeded."""

import json
import random
from collections.abc import Callable, Iterator
from typing import Any

# Stand for what `json.dumps` cannot write: replaced in its text.
_DEEP, _HUGE = "<deep>", "<huge>"
_LITERALS = {
    f'"{_DEEP}"': "[" * 5_000 + "]" * 5_000,
    f'"{_HUGE}"': "9" * 5_000,
}
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 2, 10**30, -(10**18), 0.5, 1e308),
    *(float("nan"), float("inf"), float("-inf")),
    *("", " ", "x", "1", "\0", "\ud800", "a\udfffb", "🦆", "٣", "attachment://0", "x" * 70_000),
    *([], [[]], [None], ["a", 1], [{}], {}, {"a": 1}, {"": {"": []}}, {"role": "user"}),
    *([{"role": "user", "content": [1]}], [{"role": "user"}], {"text": 1}, [["a"]]),
    *(_DEEP, _HUGE),
)


def damaged_bytes(rng: random.Random, data: bytes) -> bytes:
    """The same with a few bytes changed, lost, repeated or put in, cut off, or coded otherwise."""
    start, size = rng.randrange(len(data) + 1), rng.choice((1, 1, 2, 8, 100))
    end = min(start + size, len(data))
    changes: tuple[Callable[[], bytes], ...] = (
        lambda: (
            data[:start]
            + bytes(byte ^ 1 << rng.randrange(8) for byte in data[start:end])
            + data[end:]
        ),
        lambda: data[:start] + rng.randbytes(end - start) + data[end:],
        lambda: data[:start] + bytes(end - start) + data[end:],
        lambda: data[:start],
        lambda: data[start:],
        lambda: data[:start] + data[end:],
        lambda: data[:end] + data[start:],
        lambda: data[:start] + rng.randbytes(size) + data[start:],
        lambda: data + rng.randbytes(size),
        lambda: data + data,
        lambda: b"\xef\xbb\xbf" + data,
        lambda: recoded(rng, data),
    )
    return rng.choice(changes)()


def recoded(rng: random.Random, data: bytes) -> bytes:
    """Text in another coding than UTF-8; what is no text is cut off."""
    try:
        return data.decode().encode(rng.choice(("utf-16", "utf-16-le", "utf-16-be", "utf-32")))
    except UnicodeDecodeError:
        return data[: len(data) // 2]


def damaged_json(rng: random.Random, text: str | bytes) -> str:
    """A JSON text with one of its values, names or entries changed, lost, repeated or added."""
    tree = json.loads(text)
    places = list(_places(tree))
    if not places:
        return written(rng.choice(VALUES))
    holder, at = rng.choice(places)
    change = rng.choice(("value", "value", "value", "type", "lost", "wrapped", "renamed", "more"))
    if change == "value":
        holder[at] = rng.choice(VALUES)
    elif change == "type":
        holder[at] = other_type(rng, holder[at])
    elif change == "lost":
        del holder[at]
    elif change == "wrapped":
        holder[at] = rng.choice(([holder[at]], {"a": holder[at]}, str(holder[at])))
    elif isinstance(holder, list):
        holder.insert(at, holder[at])
    else:
        name = rng.choice(("", "x", "id", "\ud800", at.upper()))
        holder[name] = holder.pop(at) if change == "renamed" else rng.choice(VALUES)
    return written(tree)


def other_type(rng: random.Random, value: Any) -> Any:
    """A value of another type, near to this one."""
    others = [str(value), [value], {"value": value}, None, len(str(value)), float("nan")]
    return rng.choice([other for other in others if type(other) is not type(value)])


def written(value: Any) -> str:
    """As JSON, also what has no place in it."""
    text = json.dumps(value)
    for name, literal in _LITERALS.items():
        text = text.replace(name, literal)
    return text


def _places(tree: Any) -> Iterator[tuple[Any, Any]]:
    """Every container with every key or index of it."""
    if not isinstance(tree, dict | list):
        return
    for at, value in tree.items() if isinstance(tree, dict) else enumerate(tree):
        yield tree, at
        yield from _places(value)
