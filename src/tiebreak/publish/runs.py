"""Runs for publication: one per ranking log, or per set of shards, under a stable name."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from pydantic_core import to_json

from tiebreak.analysis.leaderboard import Leaderboard, boards_of
from tiebreak.analysis.peers.panel import NoPeerReviewError, panels_of
from tiebreak.analysis.peers.review import PeerReview, peer_report_of
from tiebreak.candidates import CONTEST_KEY
from tiebreak.paths import Paths
from tiebreak.publish.errors import PublishError
from tiebreak.publish.facts import (
    LogFacts,
    RoleFacts,
    facts_of,
    facts_of_votes,
    file_name,
    public_names,
)
from tiebreak.rankers.errors import UnprovenOrderError
from tiebreak.rankers.uncertainty import Resampling
from tiebreak.ranking_logs import JudgedItem, RankingLog, read_ranking_logs
from tiebreak.ranking_logs.log import placement_of
from tiebreak.ranking_logs.read import reread_samples
from tiebreak.report.figures.canvas import slug
from tiebreak.scorers.ballots import ItemBallots


@dataclass(frozen=True, eq=False, slots=True)
class Run:
    """One run: the judged items, its leaderboards and the public facts about its logs.

    `log` and everything derived from it use the models' public names; `names` maps these to the
    names in the logs, if they differ.
    """

    run_id: str
    created: str
    log: RankingLog
    boards: tuple[Leaderboard, ...]
    reviews: tuple[PeerReview, ...]
    facts: tuple[LogFacts, ...]
    names: Mapping[str, str]

    @property
    def judged(self) -> list[JudgedItem]:
        """The items with ballots, except those that needed no judging, in the log's order.

        Their votes are packed; their metadata contain only the hash of the `rubric`, if any.
        """
        return list(filter(_is_judged, self.log.samples))

    @property
    def ballots(self) -> list[ItemBallots]:
        """The ballots of `judged`."""
        return [item.ballots for item in self.judged if item.ballots is not None]

    @property
    def roles(self) -> tuple[RoleFacts, ...]:
        """The models that judged, without the repetitions in the shards of a run."""
        roles: list[RoleFacts] = []
        for role in (role for fact in self.facts for role in fact.roles):
            if role not in roles:
                roles.append(role)
        return tuple(roles)

    def again(self) -> Iterator[JudgedItem]:
        """The items of `judged`, one at a time, with votes and the judged contest.

        Raises:
            UnreadableLogError: a log has changed since it was read.
        """
        public = {old: new for new, old in self.names.items()}
        for sample in filter(_is_judged, reread_samples(self.log)):
            yield _renamed(sample, public)


def read_runs(
    paths: Paths, *, how: Resampling = Resampling(), rater_names: bool = False
) -> tuple[tuple[Run, ...], tuple[str, ...]]:
    """Read the runs in some files and folders, with notes about logs that are left out.

    Shards form one run. People who voted are numbered, unless `rater_names` is set.

    Returns:
        The runs, oldest first; and notes for the publisher (they name local files).

    Raises:
        RankingLogError: a path contains no ranking log, or shards do not fit together.
        PublishError: a log is still being written, its run was killed, or no item has ballots.
    """
    logs = read_ranking_logs(
        paths, with_metadata=_rubric_hash, with_votes="packed", rater_names=rater_names
    )
    runs = [_run(log, how) for log in logs if log.items or log.cut_short]
    if not runs:
        raise PublishError(
            "No ranking log holds a ballot, so there is nothing to publish. "
            "`tiebreak rank` on the same logs says why"
        )
    noted = (f"{log.path}: {note}" for log in logs for note in log.notes)
    ordered = sorted(runs, key=lambda run: (run.created, run.run_id))
    return tuple(ordered), tuple(dict.fromkeys(noted))


def _run(log: RankingLog, how: Resampling) -> Run:
    if log.status == "started":
        raise PublishError(
            f"{log.path} is still being written, or its run was killed, and what is published "
            "does not change any more: wait for its end, `inspect eval-retry` it, or leave it out"
        )
    facts = (facts_of_votes(log),) if log.seconds else tuple(map(facts_of, log.files))
    created = utc(min((fact.created for fact in facts), key=utc))
    items = (*log.items, *log.cut_short, *log.skipped)
    names = public_names(name for item in items for name in _names(item))
    public = {old: new for new, old in names.items()}
    log = replace(log, samples=tuple(_renamed(sample, public) for sample in log.samples))
    boards = tuple(boards_of(log, how=how))
    return Run(
        run_id=run_id(created, log.protocol, [fact.eval_id for fact in facts]),
        created=created,
        log=log,
        boards=boards,
        reviews=_reviews(log, how),
        facts=facts,
        names=names,
    )


def run_id(created: str, protocol: str, eval_ids: Iterable[str]) -> str:
    """Path-safe name of a run: date, protocol and a hash of its logs.

    The same logs give the same name, in any order and folder; other logs give another.
    """
    when = created.replace("-", "").replace(":", "")
    digest = hashlib.sha256("\n".join(sorted(eval_ids)).encode()).hexdigest()
    return "-".join(part for part in (when, slug(protocol), digest[:12]) if part)


def utc(created: str) -> str:
    """A time in UTC to the second, e.g. `2026-11-22T12:35:43Z`, which sorts by time as text.

    Raises:
        ValueError: it is not a time in ISO 8601.
    """
    when = datetime.fromisoformat(created)
    when = when.replace(tzinfo=UTC) if when.tzinfo is None else when.astimezone(UTC)
    return when.strftime("%Y-%m-%dT%H:%M:%SZ")


def _is_judged(sample: JudgedItem) -> bool:
    return sample.ballots is not None and not sample.skipped


def _rubric_hash(metadata: dict[str, Any]) -> dict[str, Any]:
    contest = metadata.get(CONTEST_KEY)
    if not isinstance(contest, Mapping) or "rubric" not in contest:
        return {}
    return {"rubric": _sha256(to_json(contest["rubric"]))}


@lru_cache(maxsize=1000)
def _sha256(rubric: bytes) -> str:
    text = json.dumps(json.loads(rubric), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _names(item: ItemBallots) -> set[str]:
    called = {name for call in item.calls for name in (call.model, call.reviewer)}
    reviewing = {name for reviewer in item.reviewers for name in (reviewer.name, reviewer.model)}
    return {*item.models, *called, *reviewing} - {""}


def _renamed(sample: JudgedItem, public: Mapping[str, str]) -> JudgedItem:
    """A copy with public names of models, and the rubric's file name without folders."""
    ballots, placement = sample.ballots, sample.placement
    if ballots is None or (not public and ballots.rubric == file_name(ballots.rubric)):
        return sample
    if public:
        ballots = ItemBallots.model_validate(_replaced(ballots.model_dump(), public))
        placement = placement and placement_of(ballots)
    ballots = ballots.model_copy(update={"rubric": file_name(ballots.rubric)})
    return replace(sample, ballots=ballots, placement=placement)


def _replaced(value: Any, names: Mapping[str, str]) -> Any:
    """A copy of nested data with names replaced, also in keys."""
    if isinstance(value, dict):
        return {names.get(key, key): _replaced(inner, names) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_replaced(inner, names) for inner in value]
    return names.get(value, value) if isinstance(value, str) else value


def _reviews(log: RankingLog, how: Resampling) -> tuple[PeerReview, ...]:
    """The peer reviews of a run by its own aggregator; empty if peers did not judge."""
    panels = panels_of(log)
    if not panels:
        return ()
    try:
        return peer_report_of([log], methods=[panels[0].aggregator], how=how).reviews
    except (NoPeerReviewError, UnprovenOrderError):
        return ()  # without reviews, or without a proven order, there is still the leaderboard
