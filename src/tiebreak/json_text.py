"""Reading JSON from logs, in any Unicode encoding and with limited nesting."""

import json
import re
from typing import Any

# Matches a pair of surrogates, a lone surrogate, or any other escape; only a lone one is captured.
_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)


def parse_json(text: str | bytes) -> Any:
    """Parse JSON text, or bytes in UTF-8, -16 or -32 with or without a byte order mark.

    NaN and Infinity are accepted, because harnesses write them. A lone surrogate, which cannot be
    encoded again, becomes U+FFFD.

    Raises:
        ValueError: it is not JSON, or nested more than 200 levels deep; the message says where.
    """
    # Not `json.loads`: with deep nesting it, or code that walks its result, raises RecursionError.
    from pydantic_core import from_json

    data = utf8(text) if isinstance(text, bytes) else text.encode("utf-8", "replace")
    try:
        return from_json(data)
    except ValueError:
        if b"\\ud" not in data.lower():
            raise
    return from_json(_ESCAPE.sub(lambda match: rb"\ufffd" if match[1] else match[0], data))


def utf8(data: bytes) -> bytes:
    """Convert the bytes of a JSON text to UTF-8 without a byte order mark.

    Raises:
        ValueError: the bytes are not valid in the encoding that they appear to have.
    """
    coding = json.detect_encoding(data)
    return data if coding == "utf-8" else data.decode(coding).encode()
