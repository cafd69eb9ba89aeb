"""JSON as logs hold it: in any coding, and nested no deeper than programs nest it."""

import json
import re
from typing import Any

# A pair of surrogates, half of one, or any other escape; only a half is caught.
_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)


def parse_json(text: str | bytes) -> Any:
    """What a JSON text holds, or its bytes in UTF-8, -16 or -32, with a byte order mark or without.

    NaN and Infinity are numbers, as harnesses write them. Half of a pair of surrogates, which
    cannot be written again, becomes U+FFFD.

    Raises:
        ValueError: It is not JSON, or nested more than 200 levels deep; the message says where.
    """
    # Python's own parser gives up with a RecursionError, or leaves that to whoever walks the value.
    from pydantic_core import from_json

    data = utf8(text) if isinstance(text, bytes) else text.encode("utf-8", "replace")
    try:
        return from_json(data)
    except ValueError:
        if b"\\ud" not in data.lower():
            raise
    return from_json(_ESCAPE.sub(lambda match: rb"\ufffd" if match[1] else match[0], data))


def utf8(data: bytes) -> bytes:
    """The bytes of a JSON text in UTF-8, without a byte order mark.

    Raises:
        ValueError: They are not in the coding that they seem to be in.
    """
    coding = json.detect_encoding(data)
    return data if coding == "utf-8" else data.decode(coding).encode()
