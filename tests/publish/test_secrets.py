"""No secret leaves: planted ones are found wherever they stand, and never shown."""

import base64
import gzip
import json
from collections.abc import Callable
from html import escape
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from inspect_ai.log import EvalLog, EvalRevision
from inspect_ai.model import GenerateConfig, ModelConfig

from tests.candidates.builders import make_rows, write_inspect_log
from tests.cases import cases, some
from tests.expected import check
from tests.publish.judged_runs import change_log, write_both
from tiebreak.publish.errors import PublishError
from tiebreak.publish.secrets import (
    Secret,
    environment_secrets,
    log_secrets,
    refuse_secrets,
    score_secrets,
)
from tiebreak.publish.tables import to_parquet

VALUE = 'sk-"ünïc\\ode"-1234'
SECRET = Secret("a model argument (api_key) in x.eval", VALUE)


def parquet(data: object, metadata: dict[str, str] | None = None) -> bytes:
    table = pa.table({"x": pa.array([data])})
    return to_parquet(table.replace_schema_metadata(metadata))


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("a.parquet", parquet("x", {"note": VALUE})),
        ("a.svg", f"<svg><text>{VALUE}</text></svg>".encode()),
        ("a.svg", f"<svg><text>{escape(VALUE)}</text></svg>".encode()),
        ("README.md", "".join(f"&#{ord(char)};" for char in VALUE).encode()),
    ],
)
def test_a_secret_is_found_and_not_shown(path: str, content: bytes) -> None:
    with pytest.raises(PublishError, match="would hold the value of") as found:
        refuse_secrets({"first.txt": b"nothing", path: content}, [SECRET])
    assert path in str(found.value)
    assert SECRET.source in str(found.value)
    assert VALUE not in str(found.value)
    assert VALUE not in repr(SECRET)


@pytest.mark.parametrize("name", ["a.eval", "a.json", "results_2026.json"])
def test_secrets_of_packed_logs_are_known(tmp_path: Path, name: str) -> None:
    plain = tmp_path / name
    if name.startswith("results"):
        plain.write_text(json.dumps({"config": {"model_args": {"api_key": VALUE}}}))
    else:
        write_inspect_log(plain, "m", make_rows(1), metadata={"api_key": VALUE})
    packed = tmp_path / f"{name}.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    known = [secret.value for secret in score_secrets(str(plain))]
    assert VALUE in known
    assert [secret.value for secret in score_secrets(str(packed))] == known


def test_a_secret_in_a_path_is_not_shown() -> None:
    with pytest.raises(PublishError, match="name of a file") as found:
        refuse_secrets({f"data/{VALUE}.json": b""}, [SECRET])
    assert VALUE not in str(found.value)


def test_environment() -> None:
    variables = {
        "OPENAI_API_KEY": "sk-123456",
        "hf_token": "hf_12345678",
        "MY_SECRET": "abcdefgh",
        "DB_PASSWORD": "abcdefghi",
        "SHORT_KEY": "1234567",  # a word that may occur anywhere
        "KEYBOARD": "qwertyuiop",
        "HOME": "/home/somebody",
        "OPENAI_KEYS": "sk-aaaaaa1, sk-bbbbbb2",
        "DATABASE_URL": "postgres://ranker:in-the-address@db/ranks",
    }
    found = {(one.source.split()[-1], one.value) for one in environment_secrets(variables)}
    whole = ("OPENAI_API_KEY", "hf_token", "MY_SECRET", "DB_PASSWORD", "OPENAI_KEYS")
    assert found == {
        *((name, variables[name]) for name in whole),
        *(("OPENAI_KEYS", "sk-aaaaaa1"), ("OPENAI_KEYS", "sk-bbbbbb2")),
        ("DATABASE_URL", "in-the-address"),
    }


def plant(log: EvalLog) -> None:
    held, spec = cases(__file__, "planted"), log.eval
    spec.model = "openai/gpt-5-private-deployment"
    spec.model_args, spec.model_base_url = held["model_args"], held["base_url"]
    judge = ModelConfig.model_validate(held["judge"])
    peer = judge.model_copy(update={"args": {"x": "peer-args"}})
    spec.model_roles = {"judge": judge, "peers": [peer]}
    spec.revision = EvalRevision(type="git", origin=held["origin"], commit="c")
    spec.task_args = held["task_args"]
    assert spec.metadata is not None
    spec.metadata |= held["metadata"]


def plant_requests(log: EvalLog) -> None:
    """Of the eval's own settings, and of those of its plan."""
    log.eval.model_generate_config = GenerateConfig(
        extra_headers={"Authorization": "in-the-headers"}, extra_body={"x": "in-the-body-1"}
    )
    log.plan.config = GenerateConfig(
        extra_headers={"X-Key": "in-the-plans-1"}, extra_body={"deep": [{"x": "in-the-plans-2"}]}
    )


def plant_hooks(log: EvalLog) -> None:
    """Of a model's arguments all; in metadata a plain word under a key names a field."""
    log.eval.model_args = {
        "callback": "https://notify.example.org/in/ouakvxw79bvz6e7erju3cx5lgk",
        "api_key": "plainlookingkey",
    }
    log.eval.model_base_url = "https://llm.example.org/hooks/ab12cd34ef56gh78/v1"
    assert log.eval.metadata is not None
    log.eval.metadata |= {
        "done_webhook": "https://chat.example.org/in/abcdefghijklmnopqrstuvwx",
        "grading_key": "solution",
        "commit": "https://github.com/lab/x/commit/9cefc80b1d4a7e5f3c2b8a6d0e9f1c4b7a5d3e21",
    }


def test_secrets_of_a_log(tmp_path: Path) -> None:
    lines = []
    for planted in (plant, plant_requests, plant_hooks):
        log = change_log(write_both(tmp_path), planted)
        found = [(one.source, one.value) for one in log_secrets(str(log))]
        lines += [f"({planted.__name__})", *(f"{one[0]}: {one[1]}" for one in sorted({*found})), ""]
        assert not any(value in source for source, _ in found for _, value in found)
    check(__file__, "log_secrets.txt", "\n".join(lines))


# Words by themselves, and with characters that each form of writing changes.
PLAIN, ODD = "hunter2hunter2", 'a b"c<&ü/d+e=f'
SECRETS = [Secret("the plain one", PLAIN), Secret("the odd one", ODD)]
SOURCE = {PLAIN: "the plain one", ODD: "the odd one"}


def columns(values: list[Any], per_group: int = 10) -> bytes:
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
    message = some(found("a.parquet", columns(cells[inside])))
    assert message.startswith(f"a.parquet would hold the value of {SOURCE[value]}, so nothing was")
    # The same cells under another name are compressed bytes, which nobody reads as text.
    assert found("a.parquet", columns(["x"] * 30)) is None


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
def test_as_base32_and_hex_anywhere(value: str, before: str, change: Callable[[str], str]) -> None:
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
    content = columns([text]) if path == "a.parquet" else json.dumps([text] * 2).encode()
    assert found(path, text.encode() if path == "README.md" else content) is not None


def test_what_only_looks_like_an_escape_is_read_over() -> None:
    text = rb"C:\users\xbox \ud800 \U00110000 \u{110000} \u{} \xff"
    assert found("a.txt", text) is None
    assert found("a.txt", text + PLAIN.encode()) is not None


@pytest.mark.parametrize("value", [PLAIN, ODD])
@pytest.mark.parametrize(("path", "content"), cases(__file__, "forms"))
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
