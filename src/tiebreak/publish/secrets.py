"""The second net: no file leaves that holds a secret of a log or of this machine.

The allow list of `facts` is the first one. This one looks for the secrets themselves, in all that
is to leave, and so also finds one that a model answered or that somebody put into a name.
"""

import html
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qsl, unquote, urlsplit

from inspect_ai.log import EvalLog, read_eval_log
from inspect_ai.model import ModelConfig

from tiebreak.candidates.discover import discover
from tiebreak.publish.errors import PublishError
from tiebreak.publish.facts import file_name

SHORTEST: Final = 8
"""Shorter values are words that occur anywhere."""

_SECRET_NAME = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD)$", re.IGNORECASE)
# A word of its own: "api_key" and "authToken", but not "tokenizer".
_SECRET_ARGUMENT = re.compile(
    r"(?<![a-z])(api)?(key|token|secret|password|passwd|credential|auth|authorization|cookie)s?"
    r"(?![a-z])"
)
# A setting such as "bfloat16" or "application/json": no key looks so, and any answer may hold it.
_WORD = re.compile(r"[A-Za-z_/]{1,20}[0-9]{0,3}")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_ADDRESS_LIKE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://\S+")


@dataclass(frozen=True, slots=True)
class Secret:
    """A value that must not leave, and where it came from; its value is never shown."""

    source: str
    value: str

    def __repr__(self) -> str:
        return f"Secret({self.source!r})"

    @property
    def forms(self) -> frozenset[str]:
        """The value, and what it looks like inside JSON."""
        return frozenset(
            {
                self.value,
                json.dumps(self.value)[1:-1],
                json.dumps(self.value, ensure_ascii=False)[1:-1],
            }
        )


def environment_secrets(environment: Mapping[str, str] = os.environ) -> Iterator[Secret]:
    """Values of the variables whose names end like those of secrets."""
    for name, value in sorted(environment.items()):
        if _SECRET_NAME.search(name):
            yield from _usable(f"the environment variable {name}", value)


def log_secrets(path: str) -> Iterator[Secret]:
    """Values in a log's header that must stay private.

    All arguments of models, headers and extra bodies, credentials in addresses, and arguments and
    metadata of the task that are called like secrets. What is part of a model's own name is not
    one: `hf/llama` is public on purpose. Nor is a plain word, unless it is called like a secret.
    """
    log = read_eval_log(path, header_only=True)
    names = [log.eval.model, *(model.model for _, model in _models(log))]
    for where, value, telling in _private(log):
        if telling or not (_WORD.fullmatch(value) or any(value in name for name in names)):
            yield from _usable(f"{where} in {file_name(path)}", value)


def score_secrets(path: str) -> Iterator[Secret]:
    """What must stay private of a file that scores were read from: a log of either harness.

    Of lm-eval's summary these are the model's arguments, but for what is called like no secret.
    """
    file = Path(path)
    if file.suffix not in (".eval", ".json") or not file.is_file():
        return
    if any(found.kind == "inspect" for found in discover([file]).files):
        yield from log_secrets(path)
        return
    config = json.loads(file.read_bytes()).get("config")
    given = config.get("model_args") if isinstance(config, dict) else None
    if isinstance(given, str):
        given = dict(part.partition("=")[::2] for part in given.split(","))
    for where, value, telling in _strings("a model argument", given):
        if telling:
            yield from _usable(f"{where} in {file_name(path)}", value)


def refuse_secrets(files: Mapping[str, bytes], secrets: Iterable[Secret]) -> None:
    """Look for secrets in all files.

    Raises:
        PublishError: a file holds one; the message names the file and where the value came
            from, never the value.
    """
    known = sorted(secrets, key=lambda secret: secret.source)
    for path, content in sorted(files.items()):
        _refuse("The name of a file", path, known)
        for text in _texts(path, content):
            _refuse(path, text, known)


def _refuse(where: str, text: str, secrets: Iterable[Secret]) -> None:
    for secret in secrets:
        if any(form in text for form in secret.forms):
            raise PublishError(
                f"{where} would hold the value of {secret.source}, so nothing was written or sent. "
                "Take the value out of the names, answers and texts that are published (and renew "
                "it, if others have seen them); if it is not a secret, unset or rename what it "
                "came from"
            )


def _private(log: EvalLog) -> Iterator[tuple[str, str, bool]]:
    """Where, value, and whether its name tells that it is a secret."""
    yield from _strings("a model argument", log.eval.model_args)
    yield from _address("the model's base_url", log.eval.model_base_url)
    for config in (log.eval.model_generate_config, log.plan.config):
        for part in (config.extra_headers, config.extra_body):
            yield from _strings("the model's request", part or {})
    for role, model in _models(log):
        yield from _strings(f"an argument of the role {role}", model.args)
        yield from _address(f"the base_url of the role {role}", model.base_url)
        for part in (model.config.extra_headers, model.config.extra_body):
            yield from _strings(f"requests of the role {role}", part or {})
    if log.eval.revision is not None:
        yield from _address("the git remote", log.eval.revision.origin)
    for where, given in (("task argument", log.eval.task_args), ("metadata", log.eval.metadata)):
        for place, value, telling in _strings(f"a {where}", given or {}):
            if telling:
                yield place, value, True
            else:
                yield from _address(place, value)


def _models(log: EvalLog) -> Iterator[tuple[str, ModelConfig]]:
    for role, bound in (log.eval.model_roles or {}).items():
        yield from ((role, one) for one in (bound if isinstance(bound, list) else [bound]))


def _strings(where: str, value: Any, telling: bool = False) -> Iterator[tuple[str, str, bool]]:
    """All texts inside some arguments, with the names under which they stand."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            tells = telling or _tells(str(name))
            yield from _strings(f"{where} ({name})" if "(" not in where else where, inner, tells)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _strings(where, inner, telling)
    elif isinstance(value, str):
        yield where, value, telling
        yield from _address(where, value)


def _tells(name: str) -> bool:
    return bool(_SECRET_ARGUMENT.search(_CAMEL.sub("_", name).lower()))


def _address(where: str, text: str | None) -> Iterator[tuple[str, str, bool]]:
    """User, password and the values of the query of an address."""
    if not text or not _ADDRESS_LIKE.fullmatch(text):
        return
    try:
        parts = urlsplit(text)
        found = [parts.username, parts.password, *(v for _, v in parse_qsl(parts.query))]
    except ValueError:  # no address after all
        return
    for value in filter(None, found):
        yield where, value, True
        yield where, unquote(value), True


def _usable(source: str, value: str) -> Iterator[Secret]:
    value = value.strip()
    if len(value) >= SHORTEST:
        yield Secret(source, value)
        # "Bearer sk-…": the token alone tells as much.
        scheme, _, token = value.partition(" ")
        if scheme.lower() in ("bearer", "basic", "token") and len(token) >= SHORTEST:
            yield Secret(source, token)


def _texts(path: str, content: bytes) -> Iterator[str]:
    """All texts of a file."""
    if path.endswith(".parquet"):
        yield from _parquet_text(content)
    else:
        text = _text(content)
        yield text
        if path.endswith((".md", ".svg")):  # characters may stand there as references
            yield html.unescape(text)


def _text(content: bytes) -> str:
    return content.decode("utf-8", "replace")


def _parquet_text(content: bytes) -> Iterator[str]:
    """All strings of a Parquet file: column by column, and its own metadata."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = pq.ParquetFile(BytesIO(content))
    for key, value in (file.schema_arrow.metadata or {}).items():
        yield _text(key) + "\n" + _text(value)
    yield "\n".join(file.schema_arrow.names)
    for number in range(file.num_row_groups):
        for column in file.read_row_group(number).columns:
            if not pa.types.is_primitive(column.type):  # numbers hold no text
                yield "\n".join(_flat(column.to_pylist()))


def _flat(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _flat(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _flat(inner)
