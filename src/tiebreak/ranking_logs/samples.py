"""The samples of a log, without their transcripts.

An .eval file is a zip that holds the JSON of every sample. Nine tenths of it are transcripts, which
no ranking needs. Inspect's reader makes Python objects of every character before it drops them;
pydantic's parser passes over them in compiled code, ten times as fast. So .eval files on this
machine are read here, and all others by Inspect: .json logs, remote ones, and whatever has another
form than was expected.
"""

from collections.abc import Iterator
from typing import Any
from zipfile import ZipFile

from inspect_ai.log import EvalSample, read_eval_log, read_eval_log_sample
from inspect_ai.util import store_from_events
from pydantic import BaseModel, ConfigDict, Field, ValidationError

# What Inspect is asked to leave out of a log that it reads. It leaves nothing out of a .json file.
_UNREAD = {"attachments", "error_retries", "events", "messages", "output", "scores"}


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore", from_attributes=True)


class _Failure(_Part):
    message: str


class _Invalidation(_Part):
    reason: str | None = None


class _Limit(_Part):
    type: str


class Sample(_Part):
    """What a ranking needs of one of Inspect's samples; the fields are Inspect's."""

    id: int | str
    epoch: int
    target: str | list[str]
    store: dict[str, Any] = Field(default_factory=dict)
    metadata: dict[str, Any] = Field(default_factory=dict)
    error: _Failure | None = None
    invalidation: _Invalidation | None = None
    limit: _Limit | None = None


class _Unadorned(Sample):
    # No JSON has a field of this name: what was to be judged is passed over as well.
    metadata: dict[str, Any] = Field(default_factory=dict, validation_alias="\0")


def read_samples(path: str, *, with_metadata: bool = False) -> list[Sample]:
    """All samples of a log, in Inspect's order: by epoch, then by id.

    `with_metadata`: whether to read what was to be judged.

    Raises:
        Exception: whatever damaged bytes make a parser raise.
    """
    kind = Sample if with_metadata else _Unadorned
    if file := own_file(path):
        try:
            found = [kind.model_validate_json(text) for text in _texts(file)]
        except ValidationError:  # Inspect knows older forms of its logs, and other numbers
            found = _by_inspect(path, kind)
    else:
        found = _by_inspect(path, kind)
    return [with_store(path, one) for one in sorted(found, key=_place)]


def own_file(path: str) -> str | None:
    """The zip on this machine, where the log is one."""
    file = path.removeprefix("file://")
    return file if file.endswith(".eval") and "://" not in file else None


def _texts(file: str) -> Iterator[bytes]:
    """The JSON of every sample; of two under one name the later one, as in all readers of zips."""
    with ZipFile(file) as log:
        for name in dict.fromkeys(log.namelist()):
            if name.startswith("samples/") and name.endswith(".json"):
                yield log.read(name)


def _by_inspect(path: str, kind: type[Sample]) -> list[Sample]:
    unread = _UNREAD if kind is Sample else _UNREAD | {"metadata"}
    log = read_eval_log(path, exclude_fields=unread)
    return [kind.model_validate(one) for one in log.samples or ()]


def _place(sample: Sample) -> tuple[int, str]:
    return sample.epoch, sample.id if isinstance(sample.id, str) else f"{sample.id:020}"


def with_store(path: str, sample: Sample) -> Sample:
    """The sample, with its store from its transcript where it has none.

    Inspect puts samples that ended just before a run was killed together from their events, and
    leaves their store empty.
    """
    if sample.store or sample.error is not None:
        return sample
    whole: EvalSample = read_eval_log_sample(
        path, sample.id, sample.epoch, resolve_attachments=True
    )
    return sample.model_copy(update={"store": dict(store_from_events(whole.events).items())})
