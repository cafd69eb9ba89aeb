"""Read published candidates from `hf://datasets/OWNER/NAME[@REVISION][/FILE]`.

They are downloaded into the Hub client's cache and read from there like any other pool, so a
second reading needs no network. Every published run comes with the pool that it judged, so two
pools of a dataset may overlap. Equal answers in both count once; two different answers of one model
to one item are an error.

The Hub's client wraps its errors: a refused upload is a `RuntimeError`, a download without network
a `FileNotFoundError`. `fault` follows the chain of causes to find out what happened.
"""

import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Literal, NamedTuple, Self
from urllib.parse import unquote

from tiebreak.candidates.errors import CandidateError
from tiebreak.candidates.parquet import is_pool, pool_reading, read_parquet
from tiebreak.candidates.pool import Candidate, CandidatePool, Item, ItemKey, Note
from tiebreak.candidates.records import Reading, ReadOptions, item_name

Kind = Literal[
    "token",  # 401: no token, or the Hub does not know it
    "gated",  # the dataset's owner grants access one by one
    "forbidden",  # 403: the token may not do this
    "missing",  # 404: no such dataset, or one that this token may not see
    "revision",  # 404: no such branch, tag or commit
    "file",  # 404: no such file
    "changed",  # 409, 412: the dataset changed in the meantime
    "busy",  # 429
    "down",  # 408, 5xx
    "refused",  # any other answer of 400 or more
    "offline",  # HF_HUB_OFFLINE is set
    "proxy",  # the address of a proxy has a scheme that no proxy has
    "unreachable",  # no connection could be made: nothing was sent
    "broken",  # a connection that broke, or was silent for too long
    "disk",  # the download cache cannot be written
]
PASSING: frozenset[Kind] = frozenset({"changed", "busy", "down", "unreachable", "broken"})
"""Kinds of faults that a retry may not meet again."""

_BY_STATUS: Mapping[int, Kind] = {
    401: "token",
    403: "forbidden",
    404: "missing",
    408: "down",
    409: "changed",
    412: "changed",
    429: "busy",
}
# By name, because httpx and httpx2 have different classes.
_NOT_SENT = ("ConnectError", "ConnectTimeout", "PoolTimeout", "ProxyError", "UnsupportedProtocol")
# No requests remain (r=0), and the limit is reset in t seconds.
_RATE_LIMIT = re.compile(r";\s*r\s*=\s*0\s*;\s*t\s*=\s*(\d+)")


@dataclass(frozen=True, slots=True)
class Fault:
    """A failed request to the Hub.

    `status` is the HTTP status, None if no response came. `message` is the report of the Hub, the
    network or the disk on one line, `retry_after` the seconds to wait, or None if not given.
    """

    kind: Kind
    status: int | None = None
    message: str = ""
    retry_after: float | None = None

    @property
    def passing(self) -> bool:
        """Whether a retry may succeed."""
        return self.kind in PASSING


def fault(error: BaseException) -> Fault | None:
    """The fault of the Hub, network or disk behind an error; None if the cause is another."""
    chain = list(_causes(error))
    for cause in chain:
        if (reason := _of_hub(cause)) is not None:
            return reason
    for cause in chain:
        if isinstance(cause, OSError) and cause.errno is not None:
            return Fault("disk", message=_one_line(str(cause)))
    return None


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__


def _of_hub(error: BaseException) -> Fault | None:
    from huggingface_hub import errors

    # Version 1 of the client uses httpx, version 2 httpx2: take the class that the client uses.
    http_error = errors.HfHubHTTPError.__bases__[0]
    if isinstance(error, errors.HfHubHTTPError):
        status, headers = error.response.status_code, error.response.headers
        message = _one_line(error.server_message or error.response.reason_phrase)
        return Fault(_kind(error, status), status, message, retry_after(headers))
    if isinstance(error, errors.OfflineModeIsEnabled):
        return Fault("offline")
    if isinstance(error, ValueError) and "scheme for proxy URL" in str(error):
        return Fault("proxy")
    if isinstance(error, errors.FileMetadataError):  # a proxy or a portal answers in its place
        return Fault("unreachable", message=_one_line(str(error)))
    if isinstance(error, http_error):
        name = type(error).__name__
        return Fault(
            "unreachable" if name in _NOT_SENT else "broken", message=_one_line(str(error) or name)
        )
    return None


def _kind(error: BaseException, status: int) -> Kind:
    from huggingface_hub import errors

    if isinstance(error, errors.GatedRepoError):
        return "gated"
    if isinstance(error, errors.RevisionNotFoundError):
        return "revision"
    if isinstance(error, errors.EntryNotFoundError):
        return "file"
    return _BY_STATUS.get(status, "down" if status >= 500 else "refused")


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait, from `Retry-After` (seconds or an HTTP date) or the Hub's `RateLimit`.

    A date is compared with the server's clock if the response has one (`Date`), else with ours.
    (RFC 9110, §10.2.3; draft-ietf-httpapi-ratelimit-headers-09, §4.)
    """
    text = headers.get("retry-after", "").strip()
    if text.isdigit():
        return float(text)
    if (then := _timestamp(text)) is not None:
        now = _timestamp(headers.get("date", ""))
        return max(0.0, then - (time.time() if now is None else now))
    limit = _RATE_LIMIT.search(headers.get("ratelimit", ""))
    return float(limit[1]) if limit else None


def _timestamp(date: str) -> float | None:
    try:
        return parsedate_to_datetime(date).timestamp()
    except (TypeError, ValueError):
        return None


def _one_line(text: str) -> str:
    return " ".join(text.split())[:300]


FOLDER = "candidates"
"""Folder of a published dataset that holds the pools, as Parquet."""

# One slash is accepted too, because `Path` turns "hf://" into "hf:/".
_ON_HUB = re.compile(r"hf:/{1,2}(?!/?(?:buckets|spaces)/)")
_ADDRESS = re.compile(
    _ON_HUB.pattern + r"datasets/(?P<repo>[^/@]+/[^/@]+)"
    r"(?:@(?P<revision>refs/(?:pr|convert)/[^/]+|[^/]+))?(?:/(?P<file>.+?))?/*"
)


class HubAddress(NamedTuple):
    """A dataset on the Hub: "OWNER/NAME", branch, tag or commit (None: main), file (None: all)."""

    repo_id: str
    revision: str | None = None
    file: str | None = None

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `hf://datasets/OWNER/NAME[@REVISION][/FILE]`.

        Raises:
            CandidateError: the text has any other form.
        """
        match = _ADDRESS.fullmatch(text)
        if match is None:
            raise CandidateError.of("hub_path", text, "is not the address of a dataset on the Hub")
        revision = match["revision"]
        return cls(match["repo"], unquote(revision) if revision else None, match["file"])

    def __str__(self) -> str:
        at = f"@{self.revision}" if self.revision else ""
        return f"hf://datasets/{self.repo_id}{at}{f'/{self.file}' if self.file else ''}"


def is_on_hub(path: str) -> bool:
    """Whether a path is an address on the Hub."""
    return _ON_HUB.match(path) is not None


def download(address: HubAddress) -> Path:
    """Download the candidates at an address: its file, or else all in the folder `candidates`.

    Returns:
        The file, or the folder with the files, in the cache of the Hub's client.

    Raises:
        CandidateError: nothing exists at this address, this user may not read the dataset, it holds
            no candidates, the Hub cannot be reached or the cache cannot be written.
    """
    wanted = address.file or FOLDER
    path = snapshot(address, [wanted, f"{wanted}/*.parquet"]) / wanted  # file or folder
    if path.is_file() or any(path.glob("**/*.parquet")):
        return path
    if address.file is not None:
        raise CandidateError.of("hub_path", str(address), "the dataset has no such file")
    raise CandidateError.of("not_published", str(address), "was published without its candidates")


def snapshot(address: HubAddress, patterns: list[str]) -> Path:
    """Download the files of a dataset that match a pattern; return their folder in the cache.

    Raises:
        CandidateError: as for `download`, but not if no file matches.
    """
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError

    try:
        folder = snapshot_download(
            address.repo_id,
            repo_type="dataset",
            revision=address.revision,
            allow_patterns=patterns,
            library_name="tiebreak",
        )
    except HFValidationError as error:
        raise CandidateError.of("hub_path", str(address), str(error)) from error
    except Exception as error:
        reason = fault(error)
        if reason is None:
            raise
        kind, words = _WORDS.get(reason.kind, ("hub_download", "the Hub refuses"))
        shown = ": ".join(str(part) for part in (reason.status, reason.message) if part)
        message = f"{words} ({shown})" if shown else words
        raise CandidateError.of(kind, str(address), message) from error
    return Path(folder)


# Kind of problem and message for each fault while reading.
_WORDS: dict[Kind, tuple[str, str]] = {
    "token": ("hub_access", "does not exist, is private, or the token is not known to the Hub"),
    "gated": ("hub_access", "is gated: its owner has to grant access"),
    "forbidden": ("hub_access", "may not be read with this token"),
    "missing": ("hub_path", "there is no such dataset, or it is private"),
    "revision": ("hub_path", "the dataset has no such branch, tag or commit"),
    "file": ("hub_path", "the dataset has no such file"),
    "busy": ("hub_download", "the Hub asks for fewer requests"),
    "down": ("hub_download", "the Hub has trouble"),
    "offline": ("hub_download", "is not in the cache, and HF_HUB_OFFLINE is set"),
    "proxy": (
        "hub_download",
        "the address of a proxy in HTTPS_PROXY, HTTP_PROXY or ALL_PROXY has to begin with http:// "
        "or https://",
    ),
    "unreachable": ("hub_download", "the Hub cannot be reached"),
    "broken": ("hub_download", "the connection to the Hub broke"),
    "disk": ("hub_download", "cannot be kept in the cache"),
}


def read_published(path: str, options: ReadOptions) -> Reading:
    """Read the candidates at `hf://datasets/OWNER/NAME[@REVISION][/FILE]`.

    Raises:
        CandidateError: there are no candidates, or they cannot be downloaded; see `download`.
    """
    address = HubAddress.parse(path)
    root = download(address)
    files = [root] if root.is_file() else sorted(root.rglob("*.parquet"))
    pools: dict[str, CandidatePool] = {}
    notes: list[Note] = []
    problems: list[Note] = []
    for file in files:
        where = _where(address, root, file)
        try:
            if is_pool(file):
                pools[where] = read_parquet(file)
            else:
                notes.append(Note("ignored_file", where, "not a pool of Tiebreak"))
        except CandidateError as error:
            problems += [Note("unreadable_log", where, note.what) for note in error.notes]
    if not pools and not problems:
        raise CandidateError.of("not_published", str(address), "holds no pool of Tiebreak")
    united, differences = unite(pools)
    read = pool_reading(united, str(address), options)
    return Reading(read.records, (*notes, *read.notes), (*problems, *differences))


def _where(address: HubAddress, root: Path, file: Path) -> str:
    """Address of one file on the Hub, because its path in the cache means nothing to a user."""
    inside = root.name if file == root else f"{root.name}/{file.relative_to(root).as_posix()}"
    return str(address._replace(file=address.file if file == root else inside))


def unite(pools: Mapping[str, CandidatePool]) -> tuple[CandidatePool, list[Note]]:
    """Merge pools, given by their addresses, into one with all items and answers, each once.

    Items and answers keep the order of the pools. If two pools have different answers of a model to
    an item, or different questions for it, the first pool's answer is kept, and the returned list
    has a problem for the model and the pair of pools. Answers may differ in `source`.
    """
    items: dict[ItemKey, tuple[Item, str]] = {}
    answers: dict[ItemKey, dict[str, Candidate]] = {}
    origin: dict[tuple[ItemKey, str], str] = {}
    differences: dict[tuple[str, str, str, str], ItemKey] = {}
    for where, pool in pools.items():
        for item, row in pool:
            first_item, first_where = items.setdefault(item.key, (item, where))
            kept = answers.setdefault(item.key, {})
            for model, candidate in row.items():
                first = kept.setdefault(model, candidate)
                origin_of = origin.setdefault((item.key, model), where)
                # Answers as text, because an undefined score (NaN) is not equal to itself.
                if first_item.input_hash != item.input_hash:
                    differences.setdefault((item.benchmark, model, first_where, where), item.key)
                elif repr(replace(first, source="")) != repr(replace(candidate, source="")):
                    differences.setdefault((item.benchmark, model, origin_of, where), item.key)
    problems = [
        Note(
            "duplicate_model",
            benchmark,
            f"{model!r} answered {item_name(key)} in two ways: {first}, {second}",
        )
        for (benchmark, model, first, second), key in differences.items()
    ]
    notes = tuple(dict.fromkeys(note for pool in pools.values() for note in pool.notes))
    settings = {key: value for pool in pools.values() for key, value in pool.settings.items()}
    united = CandidatePool(tuple(item for item, _ in items.values()), answers, notes, settings)
    return united, problems
