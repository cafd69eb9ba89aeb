"""Secrets of the environment, in every file that is published, as they are and encoded."""

import base64
import html
import json
import traceback
from collections.abc import Callable, Mapping
from itertools import cycle, islice
from urllib.parse import quote, quote_plus

import pyarrow as pa
import pytest
import yaml

from tests.faults.record import FULL, Tried, amount, record
from tests.publish.credential_shapes import Shape, shapes
from tests.publish.test_credentials import ENVIRONMENTS
from tiebreak.publish.bundle import as_json
from tiebreak.publish.errors import PublishError
from tiebreak.publish.records import dumps
from tiebreak.publish.secrets import environment_secrets, refuse_secrets
from tiebreak.publish.tables import to_parquet


def _base64(before: int, *, url: bool = False) -> Callable[[str], str]:
    encode = base64.urlsafe_b64encode if url else base64.b64encode

    def encoded(text: str) -> str:
        return encode(b"x" * before + text.encode() + b"yz").decode()

    return encoded


WAYS: Mapping[str, Callable[[str], str]] = {
    "as it is": str,
    "Base64": _base64(0),
    "Base64, one byte later": _base64(1),
    "Base64, two bytes later": _base64(2),
    "Base64 for addresses": _base64(1, url=True),
    "hex": lambda text: text.encode().hex(),
    "hex in capitals": lambda text: f"0x{text.encode().hex().upper()}",
    "Base32": lambda text: base64.b32encode(f"xyz{text}yz".encode()).decode(),
    "escaped": lambda text: "".join(f"\\u{ord(char):04x}" for char in text),
    "in an address": lambda text: quote(text, safe=""),
    "in a form": quote_plus,
    "in JSON": lambda text: json.dumps({"x": text}),
    "in JSON in JSON": lambda text: json.dumps(json.dumps({"x": text}, ensure_ascii=False)),
}


def _parquet(data: object, metadata: dict[str, str] | None = None) -> bytes:
    table = pa.table({"x": pa.array([data])})
    return to_parquet(table.replace_schema_metadata(metadata))


# The kinds of files that a publication has, written as it writes them.
FILES: Mapping[str, Callable[[str], bytes]] = {
    "README.md": lambda text: f"# Ours\n\n{text}\n".encode(),
    "card/README.md": lambda text: "".join(f"&#{ord(char)};" for char in text).encode(),
    "runs/r/manifest.json": lambda text: as_json({"warnings": [f"… {text} …"]}),
    "data/x/samples.jsonl": lambda text: dumps({"output": {"raw": [text]}}).encode(),
    "x/.eval_results/y.yaml": lambda text: yaml.dump({"notes": f"of {text}"}, width=100).encode(),
    "plots/r/x.svg": lambda text: f"<svg><text>{html.escape(text)}</text></svg>".encode(),
    "plots/r/x.png": lambda text: b"\x89PNG\r\n\x1a\n\0\0tEXtTitle\0" + text.encode() + b"\xff\xfe",
    "candidates/a.parquet": lambda text: _parquet(f"The answer: {text}."),
    "ballots/b.parquet": lambda text: _parquet([{"deep": [text]}]),
    "scores/c.parquet": lambda text: _parquet("x", {"note": text}),
}


def refusal(files: Mapping[str, bytes], environment: Mapping[str, str]) -> str | None:
    """All that an error shows, its causes too; None: the files may leave."""
    try:
        refuse_secrets(files, environment_secrets(environment))
    except PublishError as error:
        return "".join(traceback.format_exception(error))
    return None


def leaks(shape: Shape, way: str, path: str) -> list[str]:
    """The parts of a credential that would be published, or shown in an error."""
    found = []
    environment = {shape.variable: shape.value, "HOME": "/home/ada"}
    named = (path, f"the environment variable {shape.variable}")
    for part in shape.parts:
        files = {"a.json": b"{}", path: FILES[path](WAYS[way](part))}
        shown = refusal(files, environment)
        secret = (part, quote(part, safe=""), shape.value)
        if shown is None or any(s in shown for s in secret) or any(n not in shown for n in named):
            found.append(part)
    return found


@pytest.mark.slow
def test_no_credential_of_the_environment_leaves(request: pytest.FixtureRequest) -> None:
    tried, leaked = 0, []
    everywhere = [(way, path) for way in WAYS for path in FILES]
    # Thirteen ways, ten files: taken in turn, each shape meets others.
    turn = zip(cycle(WAYS), cycle(FILES), strict=False)
    for seed in range(amount(1, 12)):
        for shape in shapes(seed):
            for way, path in everywhere if FULL else islice(turn, 2):
                tried += len(shape.parts)
                leaked += [(shape.name, way, path) for _ in leaks(shape, way, path)]
    row = Tried("a key of the environment in a file", tried, tried - len(leaked), len(leaked))
    record(request, row)
    assert leaked == []


@pytest.mark.slow
def test_what_is_no_secret_stops_nothing(request: pytest.FixtureRequest) -> None:
    refused = {
        (name, path): shown
        for name, own in ENVIRONMENTS.items()
        for path, content in FILES.items()
        if (shown := refusal({path: content("\n".join(own.values()))}, own)) is not None
    }
    tried = sum(map(len, ENVIRONMENTS.values()))
    record(request, Tried("a harmless variable in a file", tried, tried - len(refused)))
    assert refused == {}
