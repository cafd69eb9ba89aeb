"""The store: JSON of many items as compressed chunks that a browser opens one by one.

A chunk is base64 of gzip of a JSON object; the page decompresses it with `DecompressionStream` when
an item of it is opened. Chunks stand in the page, or beside it (`shelf`). Text is kept to the last
code point, also what is no valid Unicode.
"""

import base64
import json
import math
import zlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pydantic_core import PydanticSerializationError, to_json

# Bytes of JSON. Small enough to open at once, and large enough to compress well.
CHUNK = 1_000_000

# More takes twice the time for a fiftieth of the bytes.
_LEVEL = 5
# For zlib: a header as gzip writes it, without a date.
_GZIP = 31


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
    parts: list[bytes] = []
    chunk = length = 0
    for number, story in enumerate(stories):
        text = _json(story)
        parts.append(b'"%d":%b' % (number, text))
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
    stories: dict[str, Any] = json.loads(zlib.decompress(base64.b64decode(chunk), _GZIP))
    return stories


def _json(story: Mapping[str, Any]) -> bytes:
    try:
        return to_json(story, inf_nan_mode="null")
    except PydanticSerializationError:
        # A lone surrogate has no UTF-8; its escape, \ud800, means the same in JSON.
        text = json.dumps(_defined(story), ensure_ascii=False, separators=(",", ":"))
        return text.encode("utf-8", "backslashreplace")


def _defined(value: Any) -> Any:
    """The same data with None for numbers that JSON does not have."""
    if isinstance(value, Mapping):
        return {key: _defined(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_defined(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _packed(parts: Iterable[bytes]) -> str:
    packer = zlib.compressobj(_LEVEL, wbits=_GZIP)
    data = packer.compress(b"{%b}" % b",".join(parts)) + packer.flush()
    return base64.b64encode(data).decode("ascii")
