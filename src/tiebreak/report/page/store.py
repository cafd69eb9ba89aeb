"""The store: JSON of many items as compressed chunks that a browser opens one by one.

A chunk is base64 of gzip of a JSON object; the page decompresses it with `DecompressionStream` when
an item of it is opened. Chunks stand in the page, or beside it (`shelf`). Text is kept to the last
code point, also what is no valid Unicode; numbers to six decimals, since the digits behind them are
most of what does not compress.
"""

import base64
import gzip
import json
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

# Characters of JSON. Small enough to open at once, and large enough to compress well.
CHUNK = 500_000
DECIMALS = 6


def pack(
    stories: Iterable[Mapping[str, Any]], keep: Callable[[str], object], *, size: int = CHUNK
) -> list[int]:
    """Pack the stories of items 0, 1, … into chunks.

    Args:
        stories: one object per item, of what JSON can hold; undefined numbers become null.
        keep: gets chunk 0, 1, …, each as soon as it is full: a JSON object with the numbers of
            its items as keys.
        size: a chunk ends with the item that makes it this long.

    Returns:
        The number of the chunk of each item.
    """
    places: list[int] = []
    parts: list[str] = []
    chunk = length = 0
    for number, story in enumerate(stories):
        text = json.dumps(_short(story), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        parts.append(f'"{number}":{text}')
        places.append(chunk)
        length += len(text)
        if length >= size:
            keep(_packed(parts))
            parts, length, chunk = [], 0, chunk + 1
    if parts:
        keep(_packed(parts))
    return places


def unpack(chunk: str) -> dict[str, Any]:
    """What a chunk holds, by number of the item."""
    stories: dict[str, Any] = json.loads(gzip.decompress(base64.b64decode(chunk)))
    return stories


def _short(value: Any) -> Any:
    """The same data with short numbers, and None for those that JSON cannot hold."""
    if isinstance(value, Mapping):
        return {key: _short(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_short(one) for one in value]
    if isinstance(value, float):
        return round(value, DECIMALS) if math.isfinite(value) else None
    return value


def _packed(parts: Iterable[str]) -> str:
    # A lone surrogate has no UTF-8; its escape, \ud800, means the same in JSON.
    data = f"{{{','.join(parts)}}}".encode("utf-8", "backslashreplace")
    return base64.b64encode(gzip.compress(data, mtime=0)).decode("ascii")
