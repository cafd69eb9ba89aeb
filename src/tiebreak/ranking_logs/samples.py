"""Read the samples of a log without their transcripts.

A log has the JSON of every sample. Nine tenths of it are transcripts, which no ranking needs.
Inspect's reader parses all of it into Python objects before it drops them; pydantic's parser skips
fields that are not asked for in compiled code, ten times as fast. So local files are read here;
remote ones are read by Inspect, and a sample of unexpected form is first converted by Inspect.

14,000 items with all of their texts do not fit into memory. Code that shows texts reads those of
one item at a time with `SampleReader`.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Generic, TypeVar

from pydantic import AfterValidator, ConfigDict, Field, Json, ValidationError, create_model
from pydantic.dataclasses import dataclass
from typing_extensions import TypedDict

from tiebreak.candidates.inspect_files import LogZip, own_file, place_of, read_sample, sample_texts
from tiebreak.candidates.inspect_types import Failure, Invalidation, Part
from tiebreak.ranking_logs.log import (
    NO_VOTES,
    Kept,
    KeptVotes,
    PackedVotes,
    UnreadableLogError,
)
from tiebreak.ranking_logs.votes import read_votes_log
from tiebreak.ranking_logs.votes_file import is_votes_file
from tiebreak.scorers.ballots import (
    STORE_KEY,
    VERSION,
    ItemBallots,
    Match,
    Side,
    Verdict,
    Vote,
    newer_version,
    restore_ballots,
)

# Fields that Inspect leaves out of a log that it reads; from a .json file it leaves out nothing.
_UNREAD = {"attachments", "error_retries", "events", "messages", "output", "scores"}

# No JSON object has a field of this name, so a field with this alias is never read.
_NOWHERE = "\0"

_IGNORING = ConfigDict(extra="ignore")

_M = TypeVar("_M")
_S = TypeVar("_S")
_B = TypeVar("_B", bound=ItemBallots)


def _no_votes() -> dict[str, Vote]:
    return NO_VOTES


def _ballots_with(votes: Any, alias: str | None = None) -> type[ItemBallots]:
    """A type of ballots without critiques, whose votes have this type and this JSON alias."""

    @dataclass(frozen=True, slots=True, kw_only=True, config=_IGNORING)
    class BareVerdict(Verdict):
        principles: dict[str, votes] = Field(default_factory=_no_votes, validation_alias=alias)
        checklist: dict[str, votes] = Field(default_factory=_no_votes, validation_alias=alias)

    @dataclass(frozen=True, slots=True, kw_only=True, config=_IGNORING)
    class BareMatch(Match):
        verdicts: tuple[BareVerdict, ...] = ()
        discarded: tuple[BareVerdict, ...] = ()
        critique: str | None = Field(default=None, validation_alias=_NOWHERE)

    return create_model("BareBallots", __base__=ItemBallots, matches=(tuple[BareMatch, ...], ()))


# Votes that are packed at once are read as dicts, in half the time of dataclasses.
class _PlainVote(TypedDict):
    vote: Side
    confidence: Annotated[float, Field(ge=0, le=1)]


_BareBallots = _ballots_with(Vote, _NOWHERE)
_PlainBallots = _ballots_with(_PlainVote)


def _pack(ballots: ItemBallots) -> PackedVotes:
    """Pack the plain votes of ballots, and remove them from the ballots."""
    packed = PackedVotes.of(ballots, plain=True)
    for match in ballots.matches:
        for verdict in (*match.verdicts, *match.discarded):
            object.__setattr__(verdict, "principles", NO_VOTES)  # verdicts are frozen
            object.__setattr__(verdict, "checklist", NO_VOTES)
    return packed


class _Limit(Part):
    type: str


class _Ignored(Part):
    """A value of any type whose content is skipped."""


class _Stored(Part, Generic[_B]):
    ballots: Json[_B] = Field(validation_alias=STORE_KEY)


class SampleContent(Part, Generic[_M, _S]):
    """The fields of an Inspect sample that a ranking needs, under Inspect's names.

    `metadata` (task, rubric, answers) may be skipped. `store` has the ballots, or plain data if
    there are none that this version can read.
    """

    id: int | str
    epoch: int
    target: str | list[str]
    store: _S
    metadata: _M
    error: Failure | None = None
    invalidation: Invalidation | None = None
    limit: _Limit | None = None
    votes: Any = Field(default=None, validation_alias=_NOWHERE)

    @property
    def newer(self) -> bool:
        """Whether a newer Tiebreak wrote the ballots."""
        return isinstance(self.store, dict) and newer_version(self.store.get(STORE_KEY)) is not None

    def ballots(self, *, with_votes: KeptVotes = True) -> ItemBallots:
        """The ballots of the sample.

        Raises:
            ValueError: they are missing, damaged, or written by a newer Tiebreak.
        """
        if isinstance(self.store, _Stored):
            held: ItemBallots = self.store.ballots
            return held
        assert isinstance(self.store, dict)
        kind = ItemBallots if with_votes else _BareBallots
        return restore_ballots(self.store.get(STORE_KEY), kind)


def read_held(
    path: str, *, with_metadata: Kept = False, with_votes: KeptVotes = True
) -> list[SampleContent[Any, Any]]:
    """All samples of a log, in Inspect's order: by epoch, then by id.

    Metadata, votes of verdicts and critiques of matches are read only if asked for.

    Raises:
        Exception: any error that a parser raises for damaged bytes.
    """
    parsed = _parser(with_metadata, with_votes)
    if file := own_file(path):
        texts = sample_texts(file)
    else:
        from inspect_ai.log import read_eval_log

        log = read_eval_log(path, exclude_fields=_UNREAD)
        texts = (sample.model_dump_json().encode() for sample in log.samples or ())
    samples = sorted(map(parsed, texts), key=lambda held: place_of(held.id, held.epoch))
    return [with_store(path, held) for held in samples]


def _parser(kept: Kept, with_votes: KeptVotes = True) -> Callable[[bytes], SampleContent[Any, Any]]:
    metadata: Any = dict[str, Any] if kept else _Ignored
    if callable(kept):  # as a validator it runs before the next sample is read, to save memory
        metadata = Annotated[metadata, AfterValidator(kept)]
    kind = {True: ItemBallots, False: _BareBallots, "packed": _PlainBallots}[with_votes]
    fast: type[SampleContent[Any, Any]] = SampleContent[metadata, _Stored[kind]]  # type: ignore[valid-type]
    safe: type[SampleContent[Any, Any]] = SampleContent[metadata, dict[str, Any]]

    def parsed(text: bytes) -> SampleContent[Any, Any]:
        try:
            sample = fast.model_validate_json(text)
        except ValidationError:
            return read_sample(text, safe, _UNREAD)
        if sample.store.ballots.version > VERSION:  # plain data, in which `newer` finds the version
            return safe.model_validate_json(text)
        if with_votes == "packed":
            sample.votes = _pack(sample.store.ballots)
        return sample

    return parsed


def with_store(path: str, sample: SampleContent[Any, Any]) -> SampleContent[Any, Any]:
    """The sample, with its store restored from its transcript if it is empty.

    Inspect reconstructs samples that ended just before a run was killed from their events, and
    leaves their store empty.
    """
    if sample.store or sample.error is not None:
        return sample
    from inspect_ai.log import read_eval_log_sample
    from inspect_ai.util import store_from_events

    logged = read_eval_log_sample(path, sample.id, sample.epoch, resolve_attachments=True)
    return sample.model_copy(update={"store": dict(store_from_events(logged.events).items())})


class SampleReader:
    """Reads single samples of a run; its files are open until `close`."""

    def __init__(self, files: Sequence[str]) -> None:
        """Open the `files` of a `RankingLog`.

        Raises:
            OSError: a file is gone.
        """
        self._files = files
        self._parsed = _parser(True)
        zips = {file: path for file in files if (path := own_file(file)) and path.endswith(".eval")}
        self._logs = {  # a votes file may have any name
            file: LogZip(path) for file, path in zips.items() if not is_votes_file(Path(path))
        }
        self._where = {name: file for file, log in self._logs.items() for name in log.namelist()}

    def close(self) -> None:
        """Close the files."""
        for log in self._logs.values():
            log.close()

    def file(self, id: str, epoch: int) -> str:
        """The file that contains a sample, or the first file if that is unknown."""
        return self._where.get(f"samples/{id}_epoch_{epoch}.json", self._files[0])

    def sample(self, id: str, epoch: int) -> SampleContent[Any, Any]:
        """A sample with its votes and all of its metadata.

        Raises:
            UnreadableLogError: the sample is no longer in the log.
        """
        # The name that Inspect gives a sample in .eval files; without it, search all samples.
        name = f"samples/{id}_epoch_{epoch}.json"
        if file := self._where.get(name):
            return with_store(file, self._parsed(self._logs[file].read(name)))
        try:
            return self._samples[id, epoch]
        except KeyError:
            files = ", ".join(self._files)
            changed = f"{files}: sample {id} is gone, so the log has changed since it was read"
            raise UnreadableLogError(f"{changed}. Run this again") from None

    @cached_property
    def _samples(self) -> dict[tuple[str, int], SampleContent[Any, Any]]:
        """All samples, so that .json and remote logs are read once and not for every sample."""
        read = (
            _voted(file) if is_votes_file(Path(file)) else read_held(file, with_metadata=True)
            for file in self._files
        )
        return {(str(sample.id), sample.epoch): sample for samples in read for sample in samples}


def _voted(path: str) -> Iterator[SampleContent[Any, Any]]:
    for item in read_votes_log(path, with_metadata=True).samples:
        if item.ballots is not None:
            yield SampleContent[dict[str, Any], _Stored[ItemBallots]].model_construct(
                **{name: getattr(item, name) for name in ("id", "epoch", "target", "metadata")},
                store=_Stored[ItemBallots].model_construct(ballots=item.ballots),
            )
