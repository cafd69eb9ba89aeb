"""Open local log files of Inspect (.eval zips and .json), also damaged ones, safely.

Inspect reads its own files well. Damaged files, however, make its stream parser take minutes, fill
memory or end the process; it ignores checksums, and stops silently if the list of a zip's members
is damaged. So files are opened and parsed here. Logs of the form in `inspect_types` do not need
Inspect; logs of another form are passed to it, to be migrated or to raise its error.
"""

from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from io import SEEK_CUR, BytesIO
from pathlib import Path
from struct import Struct
from typing import TYPE_CHECKING, Any, Final, TypeVar
from zipfile import ZIP_DEFLATED, BadZipFile, ZipFile, ZipInfo
from zlib import MAX_WBITS, crc32, decompressobj

from pydantic import BaseModel, ValidationError
from pydantic_core import to_json

from tiebreak.candidates.inspect_types import LogContent, LogHeader, LogSample
from tiebreak.json_text import parse_json
from tiebreak.packed import most_unpacked, unpacked, unpacked_name, zstd
from tiebreak.paths import problem_with
from tiebreak.progress import tracked

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog, EvalSample
    from inspect_ai.model import ChatMessage, Content

_P = TypeVar("_P", bound=BaseModel)

_CUT = (
    "the file is cut off: was its run killed while it wrote, or is this a copy that was not "
    "finished? Copy it again, run it again, or leave it out"
)
CUT_TEXT, LEFT_OUT = "...\n(content truncated)", "(Image)"
"""Placeholders of releases 0.3.110 to 0.3.200 for the rest of a long text, and for an image."""

_ZSTD: Final = 93
_ENCRYPTED: Final = 1
_LOCAL: Final = Struct("<26x2H")
"""Local header of a zip member; its last two fields are the lengths of name and extra field."""
_HEADER, _START = "header.json", "_journal/start.json"
_ATTACHMENT: Final = "attachment://"
_NO_ANSWER: Final = {"events", "events_data", "store", "messages"}
_NO_RUN: Final = {"samples", "reductions"}
_RUN: Final = {*LogHeader.model_fields}


def read_header(path: str) -> LogHeader:
    """Read the header of a log; Inspect reads remote logs.

    Raises:
        Exception: any error that a parser raises on damaged bytes.
    """
    if file := own_file(path):
        with suppress(ValidationError):
            return LogHeader.model_validate_json(_header_text(file))
    log = read_inspect_header(path)
    return LogHeader.model_validate_json(log.model_dump_json(include=_RUN, exclude_none=True))


def read_inspect_header(path: str) -> "EvalLog":
    """Read the complete header with Inspect, which migrates logs of earlier versions.

    Errors are those of `read_header`.
    """
    from inspect_ai.log import read_eval_log

    file = own_file(path)
    if file is None:
        return read_eval_log(path, header_only=True)
    return read_eval_log(BytesIO(_header_text(file)), header_only=True, format="json")


def _header_text(path: str) -> bytes:
    if is_zip(path):
        with open_zip(path) as log:
            # Inspect writes the header last, so the log of a killed run has none.
            fields = _object(log.read(_HEADER if _HEADER in log.namelist() else _START))
    else:
        fields = _json_log(path)
    bare = {name: value for name, value in fields.items() if name not in _NO_RUN}
    return to_json(bare, inf_nan_mode="constants")


def is_zip(path: str) -> bool:
    """Whether a log is a zip rather than JSON; either may be compressed once more."""
    return unpacked_name(path).endswith(".eval")


def own_file(path: str) -> str | None:
    """The path of a local file without `file://`, or None for a remote one."""
    file = path.removeprefix("file://")
    return None if "://" in file else file


def read_samples(path: str, kind: type[LogSample] = LogSample) -> list[LogSample]:
    """Read all samples of a local log, in Inspect's order: by epoch, then by id.

    Raises:
        Exception: any error that a parser raises on damaged bytes.
    """
    samples = [_whole_sample(text, kind) for text in sample_texts(path)]
    for sample in samples:
        if not 1 <= sample.epoch < 2**31:
            raise ValueError(f"sample {sample.id} is of epoch {sample.epoch}")
    return sorted(samples, key=lambda sample: place_of(sample.id, sample.epoch))


def read_sample(text: bytes, kind: type[_P], unread: Collection[str]) -> _P:
    """Parse the JSON of a sample; if Inspect has to migrate it, without the fields in `unread`.

    Raises:
        ValueError: the sample is damaged.
    """
    try:
        return kind.model_validate_json(text)
    except ValidationError:
        return kind.model_validate_json(_inspect_sample(text, unread).model_dump_json())


def _whole_sample(text: bytes, kind: type[LogSample]) -> LogSample:
    """Parse a sample; replace parts of its input that are stored elsewhere in the log."""
    sample = read_sample(text, kind, _NO_ANSWER)
    if not any(map(_is_elsewhere, sample.contents)):
        return sample
    restored = _with_whole_input(_inspect_sample(text, _NO_ANSWER - {"messages"}))
    return kind.model_validate_json(restored.model_dump_json(exclude=_NO_ANSWER))


def _is_elsewhere(part: str | LogContent) -> bool:
    text = part if isinstance(part, str) else str(part.held)
    return text.startswith(_ATTACHMENT) or text.endswith(CUT_TEXT) or text == LEFT_OUT


def _inspect_sample(text: bytes, unread: Collection[str]) -> "EvalSample":
    fields = {name: value for name, value in _object(text).items() if name not in unread}
    from inspect_ai.log import EvalSample

    return EvalSample.model_validate(fields)


def _with_whole_input(sample: "EvalSample") -> "EvalSample":
    """Sample with shortened parts of its input replaced by the full ones from its messages."""
    from inspect_ai.log import resolve_sample_attachments

    sample = resolve_sample_attachments(sample, "full")
    messages = {message.id: message for message in sample.messages if message.source == "input"}
    if not isinstance(sample.input, str):
        sample.input = [_restored(message, messages.get(message.id)) for message in sample.input]
    return sample


def _restored(message: "ChatMessage", logged: "ChatMessage | None") -> "ChatMessage":
    if logged is None:
        return message
    content: str | list[Content] = message.content
    if isinstance(content, str):
        content = _whole_text(content, logged.text)
    elif not isinstance(logged.content, str) and len(content) == len(logged.content):
        content = [_full_part(*pair) for pair in zip(content, logged.content, strict=True)]
    return message.model_copy(update={"content": content})


def _full_part(part: "Content", logged: "Content") -> "Content":
    from inspect_ai.model import ContentText

    if not isinstance(part, ContentText):
        return part
    if isinstance(logged, ContentText):
        return ContentText(text=_whole_text(part.text, logged.text))
    return logged if part.text == LEFT_OUT else part


def _whole_text(text: str, logged: str) -> str:
    """A text, or its complete form in `logged` if it was cut; solvers may have added a prefix."""
    start = text.removesuffix(CUT_TEXT)
    place = logged.find(start) if start != text else -1
    return logged[place:] if place >= 0 else text


def sample_texts(path: str) -> Iterator[bytes]:
    """Yield the JSON of every sample.

    Inspect writes a sample again when it is rerun; of several members with one name the last
    counts, as in all readers of zips.

    Raises:
        ValueError: members with one name have different questions, so one of them would be lost.
        Exception: any error that a parser raises on damaged bytes.
    """
    if not is_zip(path):
        samples = _json_log(path).get("samples") or []
        yield from (to_json(sample, inf_nan_mode="constants") for sample in samples)
        return
    with open_zip(path) as log:
        versions: dict[str, list[ZipInfo]] = {}
        for member in log.infolist():
            if member.filename.startswith("samples/") and member.filename.endswith(".json"):
                versions.setdefault(member.filename, []).append(member)
        for name, members in tracked(versions.items(), f"reading {Path(path).name}"):
            *earlier, text = [log.read(member) for member in members]
            question = _object(text).get("input") if earlier else None
            if any(_object(version).get("input") != question for version in earlier):
                raise ValueError(f"{name} is there {len(members)} times, with different questions")
            yield text


@contextmanager
def open_zip(path: str) -> Iterator["LogZip"]:
    """Open an .eval file, unless it would fill memory.

    Raises:
        OSError: it cannot be opened.
        EOFError: its end is missing, where a zip has the list of its members.
        ValueError: it is a pipe or a device, or its members are implausibly large for its size.
    """
    if problem := problem_with(path):
        raise ValueError(problem)
    with unpacked(Path(path)) as plain, _zip_file(plain) as log:
        size = sum(member.file_size for member in log.infolist())
        if size > most_unpacked(Path(path)):
            raise ValueError(f"unpacked it would take {size // 2**20:,} MB")
        yield log


class LogZip(ZipFile):
    """A zip whose members are read as a whole, and may be compressed with zstd.

    `ZipFile` does not support zstd yet, and its reading in chunks takes longer than the unpacking.
    """

    @cached_property
    def _zstd(self) -> Any:
        return zstd()

    def read(self, name: str | ZipInfo, pwd: bytes | None = None) -> bytes:
        """Return the content of a member; for errors see `ZipFile.read`."""
        member = name if isinstance(name, ZipInfo) else self.getinfo(name)
        if member.compress_type not in (ZIP_DEFLATED, _ZSTD) or member.flag_bits & _ENCRYPTED:
            return super().read(member, pwd)
        file = self.fp
        assert file is not None
        file.seek(member.header_offset)
        header = file.read(_LOCAL.size)
        if len(header) < _LOCAL.size or not header.startswith(b"PK\3\4"):
            raise BadZipFile("Bad magic number for file header")
        file.seek(sum(_LOCAL.unpack(header)), SEEK_CUR)  # skip the name and the extra field
        packed = file.read(member.compress_size)
        if member.compress_type == _ZSTD:
            bytes_of = self._zstd.stream_reader(packed, read_across_frames=True)
            text: bytes = bytes_of.read(member.file_size)
        else:
            # A maximum of 0 would mean none.
            text = decompressobj(-MAX_WBITS).decompress(packed, max(1, member.file_size))
        if crc32(text) != member.CRC:
            raise BadZipFile(f"Bad CRC-32 for file {member.filename!r}")
        return text


def _zip_file(path: Path) -> LogZip:
    try:
        return LogZip(path)
    except BadZipFile as error:
        with path.open("rb") as file:
            start = file.read(4)
        if not start:
            raise EOFError(_CUT.replace("cut off", "empty")) from error
        # The file begins as a zip, but has no list of members at its end.
        if str(error) == "File is not a zip file" and b"PK\3\4".startswith(start):
            raise EOFError(_CUT) from error
        if start == b"SQLi":
            raise ValueError("it is a database: name a file of people's votes .db") from error
        raise


def reason(error: Exception) -> str:
    """Why a log cannot be read, in one line."""
    if isinstance(error, EOFError):
        return str(error)
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        message = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    else:
        message = str(error).strip().partition("\n")[0] or "no message"
    return f"{type(error).__name__}: {message if len(message) <= 200 else message[:199] + '…'}"


def unread(error: Exception) -> str:
    """Message for a log that cannot be read, with advice, in one line."""
    # The message of an EOFError already has advice.
    advice = "" if isinstance(error, EOFError) else "; copy it again, run it again, or leave it out"
    return f"cannot be read as an Inspect log ({reason(error)}){advice}"


def place_of(id: int | str, epoch: int) -> tuple[int, str]:
    """Key to sort samples as Inspect does."""
    return epoch, id if isinstance(id, str) else f"{id:020}"


def _json_log(path: str) -> dict[str, Any]:
    if problem := problem_with(path):
        raise ValueError(problem)
    with unpacked(Path(path)) as plain:
        text = plain.read_bytes()
    if not text:
        raise EOFError(_CUT.replace("cut off", "empty"))
    try:
        return _object(text)
    except ValueError as error:
        if "EOF while parsing" in str(error):
            raise EOFError(_CUT) from error
        raise


def _object(text: bytes) -> dict[str, Any]:
    value = parse_json(text)
    if not isinstance(value, dict):
        raise ValueError("not a JSON object")
    return value
