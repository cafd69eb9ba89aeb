"""Secrets that must not be published: the credentials of this machine and of the logs.

The allow list of `facts` is the first safeguard. This one knows the secrets themselves, and
searches for them, plain or encoded, in everything to be published; so it also finds a secret that a
model answered or that somebody put into a name.

A credential is recognised by its name, its position, or its look. Values of variables and arguments
are split into parts: JSON, private keys, addresses, connection strings, lists, Base64 of a text.
For each part that is a credential, the text to search for is returned. Names and words that anybody
may write are not credentials: a path, a model name, a version, a hash, a UUID.
"""

import base64
import html
import json
import os
import re
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from io import BytesIO
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, Final, Literal
from urllib.parse import parse_qsl, unquote, unquote_to_bytes, urlsplit

from tiebreak.candidates.discover import discover
from tiebreak.candidates.inspect_files import read_header
from tiebreak.candidates.inspect_types import LogHeader, LogModel
from tiebreak.packed import unpacked, unpacked_name
from tiebreak.publish.errors import PublishError
from tiebreak.publish.facts import file_name

Called = Literal["", "id", "hook", "key", "password"]
"""What a name says about its value: nothing; an id; an address with a secret path (hook); a secret
that a machine made (key); or one that a person may have chosen (password)."""

SHORTEST: Final = 8
"""Shorter values are words that may occur anywhere."""

_PASSWORD = re.compile(
    r"pass|pwd|pgpass|pass(?:phrase|code)|credential|cred|auth|authorization|bearer|cookie|sig"
    r"|signature|.*(?:secret|password|passwd)"
)
_KEY = re.compile(r"key|pat|jwt|.*(?:token|(?:api|access|private)key)")
# A name with this ending is about a secret, but its value is none: HF_TOKEN_PATH.
_ABOUT = re.compile(
    r"file|path|dir|directory|folder|url|uri|endpoint|host|port|name|type|method|mode|header|region"
    r"|provider|sock|socket|algorithm|enabled|disabled|permissions?|length|limit|timeout|ttl|expiry"
    r"|user|username|issuer|audience|scopes?|size|count|budget"
)
# Random but public: only the mark of a key counts there.
_ID = re.compile(r"id|ids|uid|uuid|guid|sha|hash|digest|revision|commit|checksum")
# Fingerprints of OpenPGP keys, and keys and tokens in the sense of data processing.
_NO_SECRET = re.compile(
    r"(?:.*_)?(?:(?:gpg|pgp)_keys?|(?:pad|bos|eos|unk|sep|cls|mask|stop|start|end)_tokens?|(?:sort|order"
    r"|group|primary|foreign|partition|index|row|column|field|metric|score|answer|label)_keys?)"
)
_NEVER: Final = frozenset({"public", "max", "min", "num"})
_HOOK = re.compile(r"hook|.*webhook")

# A setting, e.g. "bfloat16" or "application/json": no key looks like it, and any text may have it.
_WORD = re.compile(r"[A-Za-z_/]{1,20}[0-9]{0,3}")
# Common passwords, and placeholders for a key that is not needed.
_COMMON = re.compile(
    r"password|postgres(?:ql)?|changeme|username|placeholder|disabled|optional|required|undefined"
    r"|anything|whatever|lm-studio|(?:sk-)?no-key-required|not-?(?:needed|required)|your.?api.?key"
    r"|123456789?",
    re.IGNORECASE,
)
# A date, and a round number.
_COUNT = re.compile(r"(?:19|20)[0-9]{6}|[0-9]{5,6}000")
_PATH = re.compile(r"(?:~|\.{1,2}|[A-Za-z]:)?[/\\]+[A-Za-z_.-]{2,}(?:[/\\].*)?", re.DOTALL)

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_ADDRESS = re.compile(r"\b[A-Za-z][A-Za-z0-9+.-]{0,30}://[^\s\"'<>,;|]+")
_USER = re.compile(r"://([^\s:@/]{0,200}):(\S{1,400})@([\w.-]*)")
_OPTION = re.compile(r"(?<!-)--([\w-]{1,60})\s+")
_GIVEN = r"""\s*(?:(?:bearer|basic|token)\s+)?("[^"]*"|'[^']*'|[^\s;,&'"]+)"""
_PAIR = re.compile(
    rf"(?:(?<=[;,&\n])\s*([A-Za-z][\w .-]{{0,30}})|(?<![\w.-])([\w.-]{{1,60}}))={_GIVEN}",
    re.IGNORECASE,
)
# Prose has colons, too, so a header must end after its value.
_HEADER = re.compile(
    rf"(?:^|(?<=[;,&\n]))\s*([A-Za-z][\w.-]{{0,60}})\s*:{_GIVEN}(?=\s*(?:[;,&\n]|$))", re.IGNORECASE
)
_SCHEME = re.compile(r"(?:bearer|basic|token)\s+(?=\S+$)", re.IGNORECASE)
_PRIVATE = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----(.*?)(?:-----END|$)", re.DOTALL)
_BLOCK = re.compile(r"-----BEGIN .*?-----(?:.*?-----END [A-Z ]*-----|.*$)", re.DOTALL)
_PUBLIC_KEY = re.compile(r"(?:ssh-\w+|ecdsa-[\w-]+) AAAA\S+")

# Keys with a recognisable prefix: by chance the rest may look like a name or a hash.
_MARKED = re.compile(
    r"(?<![A-Za-z0-9])(?:A[KS]IA[A-Z2-7]{16}(?![A-Za-z0-9])|AIza[\w-]{30,}|(?:glpat|xox[a-z])-[\w-]{20,}"
    r"|(?:hf_|gsk_|csk-|npm_|r8_|gh[a-z]_|pplx-|[prs]k_live_)[A-Za-z0-9]{20,}"
    r"|sk-(?!ecdsa|ssh)(?=[A-Za-z_-]*[0-9])[A-Za-z0-9_-]{12,}"
    r"|(?:sk|key|dapi|dop_v1|lsv2|shpat)[_-]?(?:[a-z]{1,3}[_-](?:v1[_-])?)?[0-9a-f]{8}[0-9a-f_-]{24,})"
)
# The last of a token's three parts is its signature; other tokens share the first parts.
_JWT = re.compile(r"(?<![\w-])eyJ[\w-]+\.eyJ[\w-]*\.([\w-]{16,})")
# A file name may contain any id.
_FILE = re.compile(r"(?<![^\s,;:=\"'])[^\s,;:=\"']+\.[a-z][a-z0-9]{1,7}(?![^\s,;:\"'])")
_TOKEN = re.compile(r"[A-Za-z0-9+/=_~-]{20,}")
_RUN = re.compile(r"[A-Za-z0-9]{20,}")
_HEX = re.compile(r"[0-9a-f]+|[0-9A-F]+")
_UUID = re.compile(r"(?i:[0-9a-f]{8}([_-]?)(?:[0-9a-f]{4}\1){3}[0-9a-f]{12})")
# After these words the path of an address is a secret, or contains one.
_HOOK_PLACE = re.compile(r"hook|\btriggers?\b|\bping\b|/bot\d+:|/(?:key|token|secret)(?=/)")
# After these words it contains an id.
_ID_PLACE = re.compile(
    r"(?:commit|tree|blob|raw|resolve|revision|dataset|artifact|gist|run|job|account|project|model)s?"
)
# Longer secrets are searched for in pieces, which also finds truncated or wrapped ones.
_LONG, _PIECE = 64, 32


def credentials(name: str, value: str, *, called: Called | None = None) -> frozenset[str]:
    """The parts of a value that must not be published; empty if it contains no credential.

    `called` is what is known about the value; by default what `name`, e.g. of a variable, says.
    """
    values = _credentials(value.strip(), called_by(name) if called is None else called)
    return frozenset(text for text in values if len(text) >= SHORTEST)


def called_by(name: str) -> Called:
    """What a name says of its value: API_KEY_2 is a key; MAX_TOKENS and HF_TOKEN_PATH are not."""
    split = re.split("[^a-z0-9]+", _CAMEL.sub("_", name).lower())
    words = [stem for word in split if (stem := word.rstrip("0123456789"))]
    forms = {form for word in words for form in (word, word.removesuffix("s"))}
    hook: Called = "hook" if any(map(_HOOK.fullmatch, forms)) else ""
    if not words or words == ["pwd"] or _ABOUT.fullmatch(words[-1]) or _NEVER & set(words):
        return hook
    if _NO_SECRET.fullmatch("_".join(words)):
        return "id"
    if any(map(_PASSWORD.fullmatch, forms)):
        return "password"
    if any(map(_KEY.fullmatch, forms)):
        return "key"
    return hook or ("id" if _ID.fullmatch(words[-1]) else "")


def is_word(value: str) -> bool:
    """Whether a value is a plain word, which may occur in any text."""
    return _WORD.fullmatch(value) is not None


def _credentials(value: str, called: Called) -> Iterator[str]:
    if value[:1] in ("{", "["):
        try:
            data = json.loads(value)
        except (ValueError, RecursionError):
            pass  # not JSON after all
        else:
            yield from _inside(data, called)
            return
    for block in _PRIVATE.findall(value):
        lines = re.findall(r"[A-Za-z0-9+/=]{16,}", re.sub(r"\\[rn]", " ", block))
        pieces = [piece for line in lines for piece in _cut(line)]
        yield from pieces[3:] or pieces[-1:]  # the first pieces are the same in many keys
    rest = _PUBLIC_KEY.sub(" ", _BLOCK.sub(" ", value))
    if rest != value:
        called = ""  # not a single value but a text that contains keys
    for user, password, host in _USER.findall(rest):
        yield from _user(user, password)
        if len(password) < SHORTEST and password != user:
            yield f"{user}:{password}@{host}"  # too short to search for alone
    for address in _ADDRESS.findall(rest):
        yield from _in_address(address, called)
    rest = _ADDRESS.sub(" ", rest).strip()
    for spaced, word, given in _PAIR.findall(_OPTION.sub(r"\1=", rest)):
        yield from _named_secret(given.strip("\"'"), called_by(spaced or word) or called)
    for word, given in _HEADER.findall(rest):
        kind = called_by(word) if re.search(r"\d", given) else ""
        yield from _named_secret(given.strip("\"'"), "key" if kind and kind != "id" else called)
    if not _PATH.fullmatch(rest):
        yield from _named_secret(value, called, any_look=True)
        yield from _by_pattern(rest, called)


def _inside(data: Any, called: Called) -> Iterator[str]:
    if isinstance(data, Mapping):
        for name, inner in data.items():
            yield from _inside(inner, called_by(str(name)) or called)
    elif isinstance(data, list):
        for inner in data:
            yield from _inside(inner, called)
    elif isinstance(data, str):
        yield from _credentials(data.strip(), called)


def _pieces(text: str) -> Iterator[str]:
    yield from [text] if len(text) <= _LONG else _cut(text)


def _cut(text: str) -> Iterator[str]:
    yield from (text[at : at + _PIECE] for at in range(0, len(text) - _PIECE + 1, _PIECE))


def _in_address(address: str, called: Called) -> Iterator[str]:
    """Credentials in an address: user, password, and suspicious parts of path, query and host."""
    try:
        parts = urlsplit(address)
        query = parse_qsl(parts.query)
        yield from _user(parts.username or "", parts.password or "")
    except ValueError:  # no address after all
        yield from _by_pattern(address, called)
        return
    for name, text in query:
        kind = called_by(name) or called
        yield from _named_secret(text, kind)
        yield from _by_pattern(text, kind)
    for text in re.split(r"[/&=#@]", f"{parts.hostname}/{parts.path}#{parts.fragment}"):
        yield from _by_pattern(text, called)
    if parts.scheme in ("http", "https"):
        yield from _in_path(parts.netloc.rpartition("@")[2], parts.path, called)


def _in_path(host: str, path: str, called: Called) -> Iterator[str]:
    """Secret parts of a webhook's path; of other paths the parts that look random.

    If all parts of a webhook that are not names are short, host and path as a whole are the secret.
    """
    place = _HOOK_PLACE.search(f"{host}{path}")
    if place or called == "hook":
        after = f"{host}{path}"[place.end() if place else len(host) :]
        made = [part for part in re.split("[/@]", after) if not _is_name(part)]
        long = [part for part in made if len(part) >= 16]
        for part in long:
            yield from _pieces(part)
        if made and not long:
            yield f"{host}{path}".rstrip("/")
    elif called != "id":
        for before, part in pairwise(path.split("/")):
            if not _ID_PLACE.fullmatch(before) and _is_made(part):
                yield from _pieces(part)


def _is_name(segment: str) -> bool:
    return re.fullmatch(r"(?:(?:[A-Za-z]{1,20}|\d+)?(?:[-_.~]|$))*", segment) is not None


def _is_made(segment: str) -> bool:
    """Whether character classes alternate as if at random, and it is no common hash."""
    run = re.sub("[_-]", "", segment)
    if len(run) < 20 or not run.isalnum() or _HEX.fullmatch(run):
        return re.fullmatch("[0-9a-f]{32}", segment) is not None
    kinds = ["digit" if char.isdigit() else char.isupper() for char in run]
    share = sum(a != b for a, b in pairwise(kinds)) / len(run)
    # Names of types mix cases too, and parts of slugs differ in character class.
    return share >= (0.5 if run != segment else 0.2 if "digit" in kinds else 0.35)


def _user(user: str, password: str) -> Iterator[str]:
    for text in {user, unquote(user)}:
        yield from _named_secret(text, "key")
    for text in {password, unquote(password)} - {user}:
        yield from _named_secret(text, "password")


def _named_secret(value: str, called: Called, *, any_look: bool = False) -> Iterator[str]:
    """A value whose name says secret, with any look if it is a password, and parts of a list."""
    if called not in ("key", "password"):
        return
    value = _SCHEME.sub("", value)
    for part in dict.fromkeys([value, *re.split(r"\s*[,;|]\s*", value)]):
        complete = part == value and (any_look or called == "password")
        if not _is_too_common(part, any_look=complete):
            yield part
    if (text := _encoded_text(value)) is not None:
        yield from _credentials(text, called)


def _is_too_common(part: str, *, any_look: bool) -> bool:
    """Whether any text may contain the value although its name says that it is a secret."""
    plain = (is_word(part) and part.isalnum()) or (part.isdigit() and len(part) < 10)
    return (
        len(part) < SHORTEST
        or (plain and not any_look)
        or any(known.fullmatch(part) for known in (_COMMON, _COUNT, _PATH))
    )


def _by_pattern(text: str, called: Called) -> Iterator[str]:
    """Parts of a text that have the mark of a key, or look random."""
    for key in (*_MARKED.findall(text), *_JWT.findall(text)):
        yield from _pieces(key)
    for token in _TOKEN.findall(_FILE.sub(" ", text)) if called != "id" else ():
        if _PATH.fullmatch(token):
            continue
        if (inner := _encoded_text(token)) is not None:
            yield from _credentials(inner, "")
            continue
        runs = [run for run in _RUN.finditer(token) if _is_random(run[0])]
        if runs:
            span = token[runs[0].start() : runs[-1].end()]
            yield from _cut(span) if len(span) > _LONG else (run[0] for run in runs)
        elif _is_random(re.sub("[^A-Za-z0-9]", "", _UUID.sub("", token)), joined=True):
            yield from _pieces(token)


def _is_random(run: str, *, joined: bool = False) -> bool:
    """Whether capitals, small letters and digits alternate about as often as at random (0.62).

    In words and names they form groups; hashes and ids have small letters and digits only. In text
    `joined` from several parts there are more changes anyway, so more are required.
    """
    if _HEX.fullmatch(run):
        return False
    kinds = ["digit" if char.isdigit() else char.isupper() for char in run]
    share = sum(a != b for a, b in pairwise(kinds)) / max(1, len(run) - 1)
    if len(set(kinds)) == 3:
        return share >= 0.5 and len(run) >= 32 if joined else share >= 0.35
    return "digit" in kinds and len(run) >= 40 and share >= 0.25 and not joined


def _encoded_text(token: str) -> str | None:
    """The text that `token` encodes in Base64, or None."""
    bare = token.rstrip("=").replace("-", "+").replace("_", "/")
    if len(bare) < 12 or len(bare) % 4 == 1 or not re.fullmatch(r"[A-Za-z0-9+/]+", bare):
        return None
    try:
        text = base64.b64decode(bare + "=" * (-len(bare) % 4)).decode("utf-8")
    except ValueError:
        return None
    return text if all(char.isprintable() or char.isspace() for char in text) else None


@dataclass(frozen=True, slots=True)
class Secret:
    """A value that must not be published, and its source; the value is never shown."""

    source: str
    value: str = field(repr=False)


def environment_secrets(environment: Mapping[str, str] = os.environ) -> Iterator[Secret]:
    """Credentials in environment variables, recognised by name or value, part by part."""
    for name, value in sorted(environment.items()):
        for text in sorted(credentials(name, value)):
            yield Secret(f"the environment variable {name}", text)


def without_secrets(error: Exception, secrets: Iterable[Secret]) -> Exception:
    """The error with secrets removed from its message and its causes.

    Only a `PublishError` is replaced: any other error is a bug that must surface unchanged.
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

    These are all arguments of models, headers and extra bodies, and credentials in addresses and in
    arguments and metadata of the task. Parts of a model's own name are not secret: `hf/llama` is
    public on purpose. Nor is a plain word, unless its name says that it is a secret.
    """
    log = read_header(path)
    names = [log.eval.model, *(model.model for _, model in _models(log))]
    for where, value, called in _private(log):
        named = called in ("key", "password")
        if named or not (is_word(value) or any(value in name for name in names)):
            kind = called if named else "password"
            yield from _usable(f"{where} in {file_name(path)}", value, kind)
    for where, value, called in _public(log):
        if called != "key" or not is_word(value):  # usually the name of a field
            yield from _usable(f"{where} in {file_name(path)}", value, called or "id")


def score_secrets(path: str) -> Iterator[Secret]:
    """Private values of a file with scores, which is a log of either harness.

    For lm-eval's summary these are the credentials among the model's arguments.
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
    """The model's arguments in an lm-eval summary; None if it has none, or is no summary."""
    try:
        given = json.loads(summary)["config"]["model_args"]
    except (ValueError, LookupError, TypeError):
        return None
    if isinstance(given, str):
        return dict(part.partition("=")[::2] for part in given.split(","))
    return given


def _private(log: LogHeader) -> Iterator[tuple[str, str, Called]]:
    """(source, value, what its name says) of values that must all stay private."""
    yield from _strings("a model argument", log.eval.model_args)
    configs = (log.eval.model_generate_config, log.plan.config)
    requests = [("the model's request", config) for config in configs]
    for role, model in _models(log):
        yield from _strings(f"an argument of the role {role}", model.args)
        requests.append((f"requests of the role {role}", model.config))
    for where, config in requests:
        for name in ("extra_headers", "extra_body"):
            yield from _strings(where, config.get(name))


def _public(log: LogHeader) -> Iterator[tuple[str, str, Called]]:
    """The same for values that may contain credentials, but also ids, which are public."""
    yield from _strings("the model's base_url", log.eval.model_base_url)
    for role, model in _models(log):
        yield from _strings(f"the base_url of the role {role}", model.base_url)
    if log.eval.revision is not None:
        yield from _strings("the git remote", log.eval.revision.origin)
    yield from _strings("a task argument", log.eval.task_args)
    yield from _strings("a metadata", log.eval.metadata)


def _models(log: LogHeader) -> Iterator[tuple[str, LogModel]]:
    for role, bound in (log.eval.model_roles or {}).items():
        yield from ((role, model) for model in (bound if isinstance(bound, list) else [bound]))


def _strings(where: str, value: Any, called: Called = "") -> Iterator[tuple[str, str, Called]]:
    """All texts inside a value, with their source and what their innermost telling name says."""
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


# Most secrets consist of these bytes only, and most words of a text are shorter: its distinct long
# words are a small part to search.
_LONG_WORD = re.compile(rb"[A-Za-z0-9+/=_.%%-]{%d,}" % SHORTEST)
_ESCAPED = re.compile(rb"%[0-9A-Fa-f]{2}")
_UNICODE = re.compile(
    rb"\\+(?:u([0-9A-Fa-f]{4})|u\{0{0,4}([0-9A-Fa-f]{1,4})\}|U0000([0-9A-Fa-f]{4})|x([0-9A-Fa-f]{2}))"
)


def refuse_secrets(files: Mapping[str, bytes], secrets: Iterable[Secret]) -> None:
    """Search all files and their names for secrets.

    Raises:
        PublishError: a file contains one; the message names the file and the value's source only.
    """
    search = _Search(secrets)
    for path, content in sorted(files.items()):
        name = path.encode("utf-8", "surrogatepass")
        texts = ((path, text) for text in _texts(path, content))
        for where, text in chain([("The name of a file", name)], texts):
            if (source := search.first_in(text)) is not None:
                raise PublishError(
                    f"{where} would hold the value of {source}, so nothing was written or sent. "
                    "Take the value out of the names, answers and texts that are published (and "
                    "renew it, if others have seen them); if it is not a secret, unset or change "
                    "what it came from"
                )


class _Search:
    def __init__(self, secrets: Iterable[Secret]) -> None:
        values: dict[str, str] = {}
        for secret in sorted(secrets, key=lambda secret: (len(secret.value), secret.source)):
            # A secret that contains a shorter one is found with the shorter one.
            if not any(shorter in secret.value for shorter in values):
                values[secret.value] = secret.source
        self._in_words: dict[bytes, str] = {}
        self._in_text: dict[bytes, str] = {}
        for value, source in values.items():
            for form in _forms(value):
                forms = self._in_words if _LONG_WORD.fullmatch(form) else self._in_text
                forms.setdefault(form, source)

    def first_in(self, text: bytes) -> str | None:
        """The source of a secret that a text contains, or None."""
        text = text.replace(b"\\", b"")
        words = b"\n".join(set(_LONG_WORD.findall(text)))
        for forms, where in ((self._in_words, words), (self._in_text, text)):
            for form, source in forms.items():
                if form in where:
                    return source
        return None


def _forms(value: str) -> set[bytes]:
    """Forms of a value to search for: plain, in JSON and web forms, in hex, Base64 and Base32.

    All are without backslashes, because nested JSON multiplies them; the last two at all offsets.
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
        return text.encode("utf-8", "surrogateescape")  # the encoding of the environment
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def _within(value: bytes, encode: Callable[[bytes], bytes], *, bits: int) -> set[bytes]:
    """The encoded characters, of `bits` bits, that a value alone determines, at every offset."""
    return {
        encode(bytes(before) + value)[-(-before * 8 // bits) : (before + len(value)) * 8 // bits]
        for before in range(5)
    }


def _texts(path: str, content: bytes) -> Iterator[bytes]:
    """All texts of a file, as stored and as decoded by readers."""
    for text in _parts(path, content):
        forms = [text]
        if path.endswith((".md", ".svg")) and b"&" in text:  # may contain character references
            forms.append(html.unescape(text.decode("utf-8", "replace")).encode("utf-8", "replace"))
        yield from forms
        yield from (unquote_to_bytes(form) for form in forms if _ESCAPED.search(form))
        yield from (_UNICODE.sub(_character, form) for form in forms if _UNICODE.search(form))


def _character(escape: re.Match[bytes]) -> bytes:
    return chr(int(escape[escape.lastindex or 0], 16)).encode("utf-8", "surrogatepass")


def _parts(path: str, content: bytes) -> Iterator[bytes]:
    """A file's content, and the decoded texts of formats that compress or wrap them."""
    yield from _cells(content) if path.endswith(".parquet") else [content]
    if path.endswith(".yaml"):
        import yaml

        yield b"\n".join(_flat(yaml.safe_load(content)))


def _cells(content: bytes) -> Iterator[bytes]:
    """The footer of a Parquet file, with names and metadata, and the distinct strings by column."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    # Before the footer are the cells, compressed, and each column's minimum and maximum.
    yield content[-8 - int.from_bytes(content[-8:-4], "little") :]
    file = pq.ParquetFile(BytesIO(content))
    with_text = [field.name for field in file.schema_arrow if not pa.types.is_primitive(field.type)]
    at_once = max(1, file.metadata.num_rows * 2**20 // len(content))  # about a megabyte
    for batch in file.iter_batches(at_once, columns=with_text, use_threads=False):
        columns = [*batch.columns]
        for column in columns:  # grows by the parts of nested types
            if pa.types.is_map(column.type):
                columns += [column.keys, column.items]
            elif pa.types.is_nested(column.type):
                columns += parts if isinstance(parts := column.flatten(), list) else [parts]
            elif not pa.types.is_primitive(column.type):  # numbers hold no text
                yield b"\n".join(column.cast("large_binary").drop_null().unique().to_pylist())


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
