"""The second net: no file leaves that holds a secret, as it is or encoded."""

import base64
import html
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from io import BytesIO
from typing import Any
from urllib.parse import unquote_to_bytes

from tiebreak.publish.credentials import SHORTEST
from tiebreak.publish.errors import PublishError
from tiebreak.publish.secrets import Secret

# Most of what is looked for has these bytes only, and most words of a text are shorter: the long
# ones, each once, are a small part of it.
_LONG_WORD = re.compile(rb"[A-Za-z0-9+/=_.%%-]{%d,}" % SHORTEST)
_ESCAPED = re.compile(rb"%[0-9A-Fa-f]{2}")


def refuse_secrets(files: Mapping[str, bytes], secrets: Iterable[Secret]) -> None:
    """Look for secrets in all files and in their names.

    Raises:
        PublishError: a file holds one; the message names the file and where the value came
            from, never the value.
    """
    search = _Search(secrets)
    for path, content in sorted(files.items()):
        if (source := search.first_in(path.encode("utf-8", "surrogatepass"))) is not None:
            raise _refusal("The name of a file", source)
        for text in _texts(path, content):
            if (source := search.first_in(text)) is not None:
                raise _refusal(path, source)


def _refusal(where: str, source: str) -> PublishError:
    return PublishError(
        f"{where} would hold the value of {source}, so nothing was written or sent. "
        "Take the value out of the names, answers and texts that are published (and renew "
        "it, if others have seen them); if it is not a secret, unset or change what it "
        "came from"
    )


class _Search:
    """Looks for all forms of some secrets at once."""

    def __init__(self, secrets: Iterable[Secret]) -> None:
        values: dict[str, str] = {}
        for secret in sorted(secrets, key=lambda one: (len(one.value), one.source)):
            # Where this one stands a shorter one stands that it holds.
            if not any(shorter in secret.value for shorter in values):
                values[secret.value] = secret.source
        self._in_words: dict[bytes, str] = {}
        self._in_text: dict[bytes, str] = {}
        for value, source in values.items():
            for form in _forms(value):
                forms = self._in_words if _LONG_WORD.fullmatch(form) else self._in_text
                forms.setdefault(form, source)

    def first_in(self, text: bytes) -> str | None:
        """Where a secret came from that a text holds; None: it holds none."""
        text = text.replace(b"\\", b"")
        words = b"\n".join(set(_LONG_WORD.findall(text)))
        for forms, where in ((self._in_words, words), (self._in_text, text)):
            for form, source in forms.items():
                if form in where:
                    return source
        return None


def _forms(value: str) -> set[bytes]:
    """A value as it is, as JSON and forms write it, and as Base64 at any place of a text.

    All are without backslashes: JSON in JSON in JSON has any number of them.
    """
    escaped = {json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]}
    texts = {_bytes(form) for form in {value, value.replace(" ", "+")} | escaped}
    return {text.replace(b"\\", b"") for text in texts} | _base64(_bytes(value))


def _bytes(text: str) -> bytes:
    try:
        return text.encode("utf-8", "surrogateescape")  # as it is in the environment
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def _base64(value: bytes) -> set[bytes]:
    """The characters that a value alone decides, after any number of other bytes."""
    found = set()
    for before, first in ((0, 0), (1, 2), (2, 3)):
        encoded = base64.b64encode(bytes(before) + value)
        sure = encoded[first : (before + len(value)) * 8 // 6]
        found |= {sure, sure.translate(bytes.maketrans(b"+/", b"-_"))}
    return found


def _texts(path: str, content: bytes) -> Iterator[bytes]:
    """All texts of a file, as they are and as they are read."""
    for text in _parts(path, content):
        forms = [text]
        if path.endswith((".md", ".svg")) and b"&" in text:  # characters may stand as references
            forms.append(html.unescape(text.decode("utf-8", "replace")).encode("utf-8", "replace"))
        yield from forms
        yield from (unquote_to_bytes(form) for form in forms if _ESCAPED.search(form))


def _parts(path: str, content: bytes) -> Iterator[bytes]:
    """A file as it is, and what it holds compressed or broken into lines."""
    yield content
    if path.endswith(".parquet"):
        yield from _cells(content)
    elif path.endswith(".yaml"):
        import yaml

        yield _lines(yaml.safe_load(content))


def _cells(content: bytes) -> Iterator[bytes]:
    """All strings of a Parquet file, column by column; names and metadata are not compressed."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = pq.ParquetFile(BytesIO(content))
    for number in range(file.num_row_groups):
        for column in file.read_row_group(number).columns:
            if not pa.types.is_primitive(column.type):  # numbers hold no text
                yield _lines(column.to_pylist())


def _lines(value: Any) -> bytes:
    return b"\n".join(_flat(value))


def _flat(value: Any) -> Iterator[bytes]:
    if isinstance(value, str):
        yield value.encode("utf-8", "surrogatepass")
    elif isinstance(value, bytes):
        yield value
    elif isinstance(value, Mapping):
        yield from _flat([*value.keys(), *value.values()])
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _flat(inner)
