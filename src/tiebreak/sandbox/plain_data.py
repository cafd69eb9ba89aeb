"""Plain data as JSON, for messages between the examiner and the candidate."""

from __future__ import annotations

import json
from collections import deque
from decimal import Decimal
from fractions import Fraction
from operator import index

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import IO, Any

MOST_BYTES = 4_000_000
"""Maximum length of a message."""

MOST_PARTS = 200_000
DEEPEST = 100
LARGEST_EXPONENT = 10_000
"""Of a Decimal: arithmetic with larger ones could fill the receiver's memory."""

_LINES: dict[str, Any] = {
    "deque": deque,
    "keys": type({}.keys()),
    "items": type({}.items()),
    "values": type({}.values()),
}


class NotPlainData:
    """Placeholder for an answer that is not plain data; it equals nothing."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def __repr__(self) -> str:
        return f"<{self.kind}>"


def encode(value: object) -> object:
    """Plain data as JSON-ready data: lists stand for themselves, other containers are tagged.

    Plain are None, bool, int, float, complex, Decimal, Fraction, str, bytes, list, tuple, deque,
    range, set, frozenset, dict and its views. An object of a subclass counts as the plain type that
    it is; iterators are read to their end. What is not plain, too large or too deep is only named.
    """
    left = [MOST_PARTS]
    try:
        return _encode(value, left, 0)
    except OverflowError:
        return {"object": f"{type(value).__name__}, too large or too deep"}


def _encode(value: Any, left: list[int], depth: int) -> object:
    left[0] -= 1
    if left[0] < 0 or depth > DEEPEST:
        raise OverflowError

    def parts(values: Any) -> list[object]:
        return [_encode(entry, left, depth + 1) for entry in values]

    kind = type(value)
    if value is None or kind is bool:
        return value
    if issubclass(kind, str):
        return str.__str__(value)
    if issubclass(kind, int):
        number = int.__index__(value)
        # Python refuses to write or read very long decimals.
        return number if abs(number) < 2**63 else {"int": hex(number)}
    if issubclass(kind, float):
        return float.__float__(value)
    if issubclass(kind, list):
        return parts(list.__iter__(value))
    if issubclass(kind, tuple):
        return {"tuple": parts(tuple.__iter__(value))}
    if issubclass(kind, dict):
        return {"dict": parts(dict.items(value))}
    if issubclass(kind, (set, frozenset)):
        return {"set" if issubclass(kind, set) else "frozenset": parts(value)}
    if issubclass(kind, (bytes, bytearray)):
        return {"bytes": bytes(value).hex()}
    if issubclass(kind, complex):
        return {"complex": [value.real, value.imag]}
    if issubclass(kind, Decimal):
        return {"decimal": Decimal.__str__(value)}
    if issubclass(kind, Fraction):
        return {"fraction": parts([value.numerator, value.denominator])}
    if kind is range:
        return {"range": parts([value.start, value.stop, value.step])}
    for tag, plain in _LINES.items():
        if issubclass(kind, plain):
            return {tag: parts(plain.__iter__(value))}
    if hasattr(kind, "__next__"):
        return {"iterator": parts(value)}
    return {"object": kind.__name__}


def decode(data: Any) -> Any:
    """Undo `encode`; raises some kind of Exception for data that `encode` did not write."""
    if isinstance(data, list):
        return [decode(entry) for entry in data]
    if not isinstance(data, dict):
        return data
    ((tag, content),) = data.items()
    return _MAKERS[tag](content)


def _decimal(text: str) -> object:
    number = Decimal(text)
    if number.is_finite() and abs(number.adjusted()) > LARGEST_EXPONENT:
        return NotPlainData("Decimal, too large")
    return number


def _range(parts: Any) -> object:
    numbers = range(*map(index, decode(parts)))
    longest = len(numbers) if abs(numbers.stop - numbers.start) < 2**63 else MOST_PARTS + 1
    return numbers if longest <= MOST_PARTS else NotPlainData("range, too large")


_MAKERS: dict[str, Callable[[Any], Any]] = {
    "tuple": lambda parts: tuple(decode(parts)),
    "dict": lambda parts: dict(decode(parts)),
    "set": lambda parts: set(decode(parts)),
    "frozenset": lambda parts: frozenset(decode(parts)),
    "deque": lambda parts: deque(decode(parts)),
    "keys": lambda parts: dict.fromkeys(decode(parts)).keys(),
    "items": lambda parts: dict(decode(parts)).items(),
    "values": lambda parts: dict(enumerate(decode(parts))).values(),
    "decimal": _decimal,
    "fraction": lambda parts: Fraction(*map(index, decode(parts))),
    "range": _range,
    "iterator": lambda parts: iter(decode(parts)),
    "complex": lambda parts: complex(*parts),
    "bytes": bytes.fromhex,
    "int": lambda digits: int(digits, 16),
    "object": NotPlainData,
}


def send(pipe: IO[bytes], message: object) -> None:
    """Write one message, a line of JSON."""
    pipe.write(json.dumps(message).encode("ascii") + b"\n")
    pipe.flush()
