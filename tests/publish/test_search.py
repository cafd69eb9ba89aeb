"""The second net, form by form: where a secret may stand, and what of it is looked for."""

import base64
import json
from collections.abc import Callable
from io import BytesIO
from typing import Any
from urllib.parse import quote

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tiebreak.publish.errors import PublishError
from tiebreak.publish.secrets import Secret, refuse_secrets

# Words by themselves, and with characters that each form of writing changes.
PLAIN, ODD = "hunter2hunter2", 'a b"c<&ü/d+e=f'
SECRETS = [Secret("the plain one", PLAIN), Secret("the odd one", ODD)]
SOURCE = {PLAIN: "the plain one", ODD: "the odd one"}


def parquet(values: list[Any], per_group: int = 10) -> bytes:
    target = BytesIO()
    table = pa.table({"n": list(range(len(values))), "x": pa.array(values)})
    pq.write_table(table, target, compression="zstd", row_group_size=per_group)
    return target.getvalue()


def found(path: str, content: bytes, *secrets: Secret) -> str | None:
    """The message, where a file is refused."""
    try:
        refuse_secrets({path: content}, secrets or SECRETS)
    except PublishError as error:
        return str(error)
    return None


@pytest.mark.parametrize("value", [PLAIN, ODD])
@pytest.mark.parametrize("inside", ["str", "list", "struct", "map of keys", "bytes", "later row"])
def test_in_every_kind_of_column(value: str, inside: str) -> None:
    cells: dict[str, list[Any]] = {
        "str": ["x", f"… {value} …"],
        "list": [["x"], ["x", f"{value}"]],
        "struct": [{"a": ["x"]}, {"a": ["y", value]}],
        "map of keys": [{value: "x"}, {value: "y"}],
        "bytes": [b"x", f"<{value}>".encode()],
        "later row": [*["x"] * 25, value],
    }
    message = found("a.parquet", parquet(cells[inside]))
    assert message is not None
    assert message.startswith(f"a.parquet would hold the value of {SOURCE[value]}, so nothing was")
    # The same cells under another name are compressed bytes, which nobody reads as text.
    assert found("a.parquet", parquet(["x"] * 30)) is None


@pytest.mark.parametrize("value", [PLAIN, ODD])
@pytest.mark.parametrize(
    "column",
    [
        lambda value: pa.array([[("x", "y")], [(value, "y")]], pa.map_(pa.string(), pa.string())),
        lambda value: pa.array([[("x", "y")], [("x", value)]], pa.map_(pa.string(), pa.string())),
        lambda value: pa.array([None, [None, value]], pa.list_(pa.large_string())),
        lambda value: pa.array(["x", value, "x"]).dictionary_encode(),
        lambda value: pa.array([None, {"a": [{"b": [None, value]}]}]),
    ],
    ids=["key of a map", "value of a map", "large list", "dictionary", "nested with holes"],
)
def test_in_columns_as_others_write_them(value: str, column: Callable[[str], Any]) -> None:
    def written(text: str) -> bytes:
        target, cells = BytesIO(), column(text)
        pq.write_table(pa.table({"x": cells, "null": pa.nulls(len(cells))}), target)
        return target.getvalue()

    assert found("a.parquet", written(value)) is not None
    assert found("a.parquet", written("x")) is None


@pytest.mark.parametrize("value", [PLAIN, ODD])
@pytest.mark.parametrize("before", ["", "x", "xy", "xyz"])
@pytest.mark.parametrize("kind", ["standard", "urlsafe"])
def test_as_base64_at_any_place(value: str, before: str, kind: str) -> None:
    encode = base64.b64encode if kind == "standard" else base64.urlsafe_b64encode
    assert found("a.txt", b"auth: " + encode(f"{before}{value}:more".encode())) is not None
    assert found("a.txt", b"auth: " + encode(f"{before}{value[:-2]}".encode())) is None


@pytest.mark.parametrize("value", [PLAIN, ODD])
@pytest.mark.parametrize("before", ["", "x", "xy", "xyz", "wxyz", "vwxyz"])
@pytest.mark.parametrize("change", [str.upper, str.lower])
def test_as_base32_and_hex_at_any_place(
    value: str, before: str, change: Callable[[str], str]
) -> None:
    for encode in (base64.b32encode, base64.b16encode):
        whole = change(encode(f"{before}{value}:more".encode()).decode())
        assert found("a.txt", f"auth: {whole}".encode()) is not None
        cut = change(encode(f"{before}{value[:-2]}".encode()).decode())
        assert found("a.txt", f"auth: {cut}".encode()) is None


def escaped(form: str, some: int) -> Callable[[str], str]:
    """Writes every `some`-th character as its number."""
    return lambda text: "".join(
        char if at % some else form.format(ord(char)) for at, char in enumerate(text)
    )


@pytest.mark.parametrize("value", [PLAIN, ODD])
@pytest.mark.parametrize(
    "form", [r"\u{:04x}", r"\u{:04X}", r"\u{{{:x}}}", r"\U{:08x}", r"\x{:02x}"]
)
@pytest.mark.parametrize("some", [1, 3])
@pytest.mark.parametrize("path", ["README.md", "a.json", "a.parquet"])
def test_as_escapes(value: str, form: str, some: int, path: str) -> None:
    text = f"… {escaped(form, some)(value)} …"
    content = parquet([text]) if path == "a.parquet" else json.dumps([text] * 2).encode()
    assert found(path, text.encode() if path == "README.md" else content) is not None


def test_what_only_looks_like_an_escape_is_read_over() -> None:
    text = rb"C:\users\xbox \ud800 \U00110000 \u{110000} \u{} \xff"
    assert found("a.txt", text) is None
    assert found("a.txt", text + PLAIN.encode()) is not None


@pytest.mark.parametrize("value", [PLAIN, ODD])
@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("a.txt", "?"),
        ("a.json", "json"),
        ("a.json", "json in json"),
        ("a.txt", "percent"),
        ("a.txt", "form"),
        ("README.md", "references"),
        ("a.svg", "references"),
        ("a.yaml", "folded"),
        ("a.yaml", "key"),
    ],
)
def test_in_every_form(value: str, path: str, content: str) -> None:
    words = value.replace("\\", "\\\\").replace('"', '\\"')
    forms = {
        "?": f"text {value} text",
        "json": json.dumps({"x": [value]}),
        "json in json": json.dumps(json.dumps({"x": value})),
        "percent": f"http://x/?q={quote(value, safe='')}&r",
        "form": f"q={value.replace(' ', '+')}",
        "references": "".join(f"&#{ord(char)};" for char in value),
        "folded": f'- x\n- "{words[:7]}\\\n  {words[7:]}"',
        "key": f'"{words}": 1',
    }
    assert found(path, forms[content].encode()) is not None


def test_references_are_read_where_readers_read_them() -> None:
    text = "".join(f"&#{ord(char)};" for char in PLAIN).encode()
    assert found("a.json", text) is None
    # A file without any, and one whose bytes are no text.
    assert found("README.md", b"a & b \xff") is None


def test_the_first_file_by_name_and_the_shorter_secret_are_named() -> None:
    files = {"b.txt": PLAIN.encode(), "a.txt": PLAIN.encode()}
    longer = Secret("a longer one", f"{PLAIN}-and-more")
    with pytest.raises(PublishError, match=r"^a\.txt would hold the value of the plain one, so"):
        refuse_secrets(files, [longer, *SECRETS])
    # Where the longer one stands the shorter one stands.
    assert "the plain one" in str(found("a.txt", longer.value.encode(), longer, *SECRETS))
    assert "a longer one" in str(found("a.txt", longer.value.encode(), longer))
    # Of the same value under two names the first by name is told.
    twins = Secret("z", PLAIN), Secret("b", PLAIN)
    assert "the value of b, so" in str(found("a.txt", PLAIN.encode(), *twins))


def test_the_whole_message() -> None:
    assert found("x/a.txt", PLAIN.encode()) == (
        "x/a.txt would hold the value of the plain one, so nothing was written or sent. Take the "
        "value out of the names, answers and texts that are published (and renew it, if others "
        "have seen them); if it is not a secret, unset or change what it came from"
    )
    assert str(found(f"x/{PLAIN}.txt", b"")).startswith("The name of a file would hold the value")
