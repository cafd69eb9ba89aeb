"""Read one ranking log file: its header and the ballots of each of its samples."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from tiebreak.candidates import (
    AUTHOR,
    CANARIES_KEY,
    LEFT_OUT,
    OWN_ANSWERS,
    PROTOCOL_KEY,
    RUN_KEY,
    SHARD_KEY,
    Shard,
)
from tiebreak.candidates.inspect_files import read_header, unread
from tiebreak.candidates.inspect_types import LogHeader
from tiebreak.candidates.settings import Settings
from tiebreak.ranking_logs.log import (
    JudgedItem,
    Kept,
    KeptVotes,
    RankingLog,
    RankingLogError,
    UnreadableLogError,
    ranked_sample,
)
from tiebreak.ranking_logs.samples import SampleContent, read_held
from tiebreak.scorers.ballots import ItemBallots

# Arguments that say which answers are judged, or which part of the run this is, but not how.
_NOT_HOW = {"candidates", "same_settings", "shard"}

_SETTINGS = TypeAdapter(dict[str, dict[str, dict[str, str]]])


def ranking_header(path: str) -> LogHeader | None:
    """The header of an Inspect log if it ranks candidates, or None for any other log.

    Raises:
        UnreadableLogError: the file is damaged or not an Inspect log.
    """
    with _named(path):
        header = read_header(path)
    return header if PROTOCOL_KEY in (header.eval.metadata or {}) else None


def read_log_file(
    path: str, header: LogHeader, *, with_metadata: Kept = False, with_votes: KeptVotes = True
) -> RankingLog:
    """Read one ranking log, given its header, and rank its items.

    Raises:
        UnreadableLogError: the file is damaged.
        RankingLogError: the log is a shard, but does not say which one in the form "3/8".
    """
    metadata = header.eval.metadata or {}
    planted = frozenset(map(str, metadata.get(CANARIES_KEY) or ()))
    asked = tuple(str(name) for name in header.eval.dataset.sample_ids or ())
    planned = tuple(name for name in asked if name not in planted)
    with _named(path):
        held = read_held(path, with_metadata=with_metadata, with_votes=with_votes)
    judged = [_judged(sample, with_votes) for sample in held]
    samples = tuple(sample for sample in judged if sample.id not in planted)
    # At least the samples there are, because a header may lack the ids of its samples.
    n_expected = max(len(planned) * (header.eval.config.epochs or 1), len(samples))
    shown, notes = _shown(path), metadata.get("candidate_notes")
    noted = map(str, notes) if isinstance(notes, list) else ()
    return RankingLog(
        path=shown,
        files=(shown,),
        task=header.eval.task,
        eval_id=header.eval.eval_id,
        task_id=header.eval.task_id,
        created=header.eval.created,
        status=header.status,
        protocol=str(metadata[PROTOCOL_KEY]),
        benchmark=header.eval.dataset.name or header.eval.task,
        run=str(metadata.get(RUN_KEY) or ""),
        shard=_shard(path, metadata),
        arguments={name: v for name, v in header.eval.task_args.items() if name not in _NOT_HOW},
        planned=planned,
        n_expected=n_expected,
        samples=samples,
        canaries=tuple(sample for sample in judged if sample.id in planted),
        n_missing=n_expected - len(samples),
        judges=header.eval.model_dump_json(include={"model", "model_roles"}),
        settings=_settings(metadata),
        notes=tuple(note for note in noted if LEFT_OUT in note or note.endswith(OWN_ANSWERS)),
    )


@contextmanager
def _named(path: str) -> Iterator[None]:
    try:
        yield
    except Exception as error:
        raise UnreadableLogError(f"{path} {unread(error)}") from error


def _shard(path: str, metadata: dict[str, object]) -> Shard | None:
    text = metadata.get(SHARD_KEY)
    if text is None or not metadata.get(RUN_KEY):
        return None
    try:
        return Shard.parse(text)
    except ValueError as error:
        raise RankingLogError(
            f"{path} cannot be joined with other logs: in its metadata {error}. "
            "Take the file out of the folder, or judge that part again"
        ) from error


def _settings(metadata: dict[str, object]) -> Mapping[str, Settings]:
    """How models were asked, by benchmark; empty if it is not in the form that tasks write."""
    try:
        return _SETTINGS.validate_python(metadata.get("candidate_settings") or {})
    except ValidationError:
        return {}


def _judged(sample: SampleContent[Any, Any], with_votes: KeptVotes) -> JudgedItem:
    ballots, problem = _ballots(sample, with_votes)
    return ranked_sample(
        JudgedItem(
            id=str(sample.id),
            epoch=sample.epoch,
            ballots=ballots,
            problem=problem,
            newer=sample.newer,
            target=sample.target if isinstance(sample.target, str) else "\n".join(sample.target),
            metadata=sample.metadata if isinstance(sample.metadata, dict) else {},
            votes=sample.votes,
        )
    )


def _ballots(
    sample: SampleContent[Any, Any], with_votes: KeptVotes
) -> tuple[ItemBallots | None, str | None]:
    problem = None
    if sample.error is not None:
        problem = f"error: {_first_line(sample.error.message)}"
    elif sample.invalidation is not None and sample.invalidation.author != AUTHOR:
        # Samples that a run invalidated itself, to be retried, keep the ballots that they have.
        problem = f"invalidated: {sample.invalidation.reason or 'no reason given'}"
    try:
        ballots = sample.ballots(with_votes=with_votes)
    except ValueError as error:
        return None, problem or str(error)
    if problem is None and not (ballots.complete or ballots.skipped):
        problem = f"judging was cut short{_limit(sample)}"
    return ballots, problem


def _limit(sample: SampleContent[Any, Any]) -> str:
    if sample.limit is None:
        return ""
    # Our tasks raise a custom limit for one reason only: -T max_calls or -T max_cost is reached.
    spent = sample.limit.type == "custom"
    return " (the budget is spent)" if spent else f" ({sample.limit.type} limit)"


def _shown(path: str) -> str:
    here = Path.cwd()
    inside = "://" not in path and Path(path).resolve().is_relative_to(here)
    return str(Path(path).resolve().relative_to(here)) if inside else path


def _first_line(text: str) -> str:
    line = text.strip().splitlines()[0] if text.strip() else "no message"
    return line if len(line) <= 400 else f"{line[:399]}…"
