"""What must not leave: the credentials of this machine and of the logs.

The allow list of `facts` is the first net. This one knows the secrets themselves, and looks for
them, as they are or encoded, in all that is to leave; so it also finds one that a model answered or
that somebody put into a name. What is a credential `credentials` says.
"""

import base64
import html
import json
import os
import re
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes

from inspect_ai.log import EvalLog, read_eval_log
from inspect_ai.model import ModelConfig

from tiebreak.candidates.discover import discover
from tiebreak.candidates.packed import unpacked, unpacked_name
from tiebreak.publish.credentials import SHORTEST, Called, called_by, credentials, is_word
from tiebreak.publish.errors import PublishError
from tiebreak.publish.facts import file_name


@dataclass(frozen=True, slots=True)
class Secret:
    """A value that must not leave, and where it came from; its value is never shown."""

    source: str
    value: str

    def __repr__(self) -> str:
        return f"Secret({self.source!r})"


def environment_secrets(environment: Mapping[str, str] = os.environ) -> Iterator[Secret]:
    """What looks like a credential in the variables, by name or by value, part by part."""
    for name, value in sorted(environment.items()):
        for text in sorted(credentials(name, value)):
            yield Secret(f"the environment variable {name}", text)


def without_secrets(error: Exception, secrets: Iterable[Secret]) -> Exception:
    """An error whose words hold no secret, and whose causes show none either.

    Only a `PublishError` is another one then: an error of ours must come through as it is.
    """
    if not isinstance(error, PublishError):
        return error
    values = sorted({secret.value for secret in secrets}, key=len, reverse=True)
    words = str(error)
    for value in values:
        words = words.replace(value, "[hidden]")
    hidden = PublishError(words)
    causes = "".join(traceback.format_exception(error.__cause__)) if error.__cause__ else ""
    if not any(value in causes for value in values):
        hidden.__cause__ = error.__cause__
    return hidden


def log_secrets(path: str) -> Iterator[Secret]:
    """Values in a log's header that must stay private.

    All arguments of models, headers and extra bodies; credentials in addresses, and in arguments
    and metadata of the task. What is part of a model's own name is not one: `hf/llama` is public
    on purpose. Nor is a plain word, unless it is called like a secret.
    """
    log = read_eval_log(path, header_only=True)
    names = [log.eval.model, *(model.model for _, model in _models(log))]
    for where, value, called in _private(log):
        named = called in ("key", "password")
        if named or not (is_word(value) or any(value in name for name in names)):
            kind = called if named else "password"
            yield from _usable(f"{where} in {file_name(path)}", value, kind)
    for where, value, called in _public(log):
        if called != "key" or not is_word(value):  # the name of a field, more often than not
            yield from _usable(f"{where} in {file_name(path)}", value, called or "id")


def score_secrets(path: str) -> Iterator[Secret]:
    """What must stay private of a file that scores were read from: a log of either harness.

    Of lm-eval's summary these are the credentials among the model's arguments.
    """
    packed = Path(path)
    if not unpacked_name(path).endswith((".eval", ".json")) or not packed.is_file():
        return
    with unpacked(packed) as file:
        if any(entry.kind == "inspect" for entry in discover([file]).files):
            yield from log_secrets(str(file))
            return
        for where, value, called in _strings("a model argument", _model_args(file.read_bytes())):
            yield from _usable(f"{where} in {file_name(path)}", value, called)


def _model_args(summary: bytes) -> Any:
    """The model's arguments in a summary of lm-eval; None: it is none, or has none."""
    try:
        given = json.loads(summary)["config"]["model_args"]
    except (ValueError, LookupError, TypeError):
        return None
    if isinstance(given, str):
        return dict(part.partition("=")[::2] for part in given.split(","))
    return given


def _private(log: EvalLog) -> Iterator[tuple[str, str, Called]]:
    """Where, value, and what it is called: of these values all must stay."""
    yield from _strings("a model argument", log.eval.model_args)
    for config in (log.eval.model_generate_config, log.plan.config):
        for part in (config.extra_headers, config.extra_body):
            yield from _strings("the model's request", part or {})
    for role, model in _models(log):
        yield from _strings(f"an argument of the role {role}", model.args)
        for part in (model.config.extra_headers, model.config.extra_body):
            yield from _strings(f"requests of the role {role}", part or {})


def _public(log: EvalLog) -> Iterator[tuple[str, str, Called]]:
    """The same of values that may hold credentials, and many an id, which is public."""
    yield from _strings("the model's base_url", log.eval.model_base_url)
    for role, model in _models(log):
        yield from _strings(f"the base_url of the role {role}", model.base_url)
    if log.eval.revision is not None:
        yield from _strings("the git remote", log.eval.revision.origin)
    yield from _strings("a task argument", log.eval.task_args)
    yield from _strings("a metadata", log.eval.metadata)


def _models(log: EvalLog) -> Iterator[tuple[str, ModelConfig]]:
    for role, bound in (log.eval.model_roles or {}).items():
        yield from ((role, model) for model in (bound if isinstance(bound, list) else [bound]))


def _strings(where: str, value: Any, called: Called = "") -> Iterator[tuple[str, str, Called]]:
    """All texts inside some arguments, with the names under which they stand."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            place = f"{where} ({name})" if "(" not in where else where
            yield from _strings(place, inner, called_by(str(name)) or called)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _strings(where, inner, called)
    elif isinstance(value, str):
        yield where, value, called


def _usable(source: str, value: str, called: Called) -> Iterator[Secret]:
    value = value.strip()
    password = {value} if called == "password" and len(value) >= SHORTEST else set()
    for text in sorted(password | credentials("", value, called=called)):
        yield Secret(source, text)


# Most of what is looked for has these bytes only, and most words of a text are shorter: the long
# ones, each once, are a small part of it.
_LONG_WORD = re.compile(rb"[A-Za-z0-9+/=_.%%-]{%d,}" % SHORTEST)
_ESCAPED = re.compile(rb"%[0-9A-Fa-f]{2}")
_UNICODE = re.compile(
    rb"\\+(?:u([0-9A-Fa-f]{4})|u\{0{0,4}([0-9A-Fa-f]{1,4})\}|U0000([0-9A-Fa-f]{4})|x([0-9A-Fa-f]{2}))"
)


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
        for secret in sorted(secrets, key=lambda secret: (len(secret.value), secret.source)):
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
    """A value as it is, as JSON and forms write it, and as hex, Base64 and Base32 at any place.

    All are without backslashes: JSON in JSON in JSON has any number of them.
    """
    escaped = {json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]}
    texts = {_bytes(form) for form in {value, value.replace(" ", "+")} | escaped}
    plain = {text.replace(b"\\", b"") for text in texts}
    raw = _bytes(value)
    base64s = _within(raw, base64.b64encode, bits=6)
    for_addresses = {form.translate(bytes.maketrans(b"+/", b"-_")) for form in base64s}
    capitals = {raw.hex().upper().encode(), *_within(raw, base64.b32encode, bits=5)}
    return plain | base64s | for_addresses | capitals | {form.lower() for form in capitals}


def _bytes(text: str) -> bytes:
    try:
        return text.encode("utf-8", "surrogateescape")  # as it is in the environment
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def _within(value: bytes, encode: Callable[[bytes], bytes], *, bits: int) -> set[bytes]:
    """The characters, of so many bits, that a value alone decides after any number of bytes."""
    return {
        encode(bytes(before) + value)[-(-before * 8 // bits) : (before + len(value)) * 8 // bits]
        for before in range(5)
    }


def _texts(path: str, content: bytes) -> Iterator[bytes]:
    """All texts of a file, as they are and as they are read."""
    for text in _parts(path, content):
        forms = [text]
        if path.endswith((".md", ".svg")) and b"&" in text:  # characters may stand as references
            forms.append(html.unescape(text.decode("utf-8", "replace")).encode("utf-8", "replace"))
        yield from forms
        yield from (unquote_to_bytes(form) for form in forms if _ESCAPED.search(form))
        yield from (_UNICODE.sub(_character, form) for form in forms if _UNICODE.search(form))


def _character(escape: re.Match[bytes]) -> bytes:
    return chr(int(escape[escape.lastindex or 0], 16)).encode("utf-8", "surrogatepass")


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
