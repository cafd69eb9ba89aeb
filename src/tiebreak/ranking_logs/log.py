"""The content of a ranking log: its samples, each with ballots and the ranking that they give.

Items are ranked here, once; everything that is computed from a log uses these placements.
"""

from array import array
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from operator import attrgetter, itemgetter
from typing import Any, Final, Literal, NamedTuple, get_args

from tiebreak.candidates import CONTEST_KEY, Shard
from tiebreak.candidates.settings import Settings
from tiebreak.errors import TiebreakError
from tiebreak.scorers.ballots import ItemBallots, Rule, Side, Vote
from tiebreak.scorers.placement import NotPlacedError, Placement, place
from tiebreak.scorers.rules import RULES, fits, fitting
from tiebreak.text import natural_key


class RankingLogError(TiebreakError, ValueError):
    """A given path has no ranking, or logs cannot be joined; the message says what to do."""


class UnreadableLogError(RankingLogError):
    """The file cannot be read as an Inspect log."""


Kept = bool | Callable[[dict[str, Any]], dict[str, Any]]
"""What to keep of the metadata of samples (task, rubric, all answers): all of it, nothing, or the
result of a function of it."""


KeptVotes = bool | Literal["packed"]
"""What to keep of the votes of verdicts and the critiques of matches, which no ranking needs and
which are nine tenths of the ballots: all, nothing, or only the votes, as `PackedVotes`."""


SIDES: Final[tuple[Side, ...]] = get_args(Side)
"""Packed votes are indices into this tuple."""


class VoteColumns(NamedTuple):
    """The votes of a verdict on its principles or on its checklist, without reasoning.

    `sides` are indices into `SIDES`, one byte each; `confidences` are the bytes of float64 numbers.
    """

    ids: tuple[str, ...]
    sides: bytes
    confidences: bytes

    def items(self) -> Iterator[tuple[str, Vote]]:
        """(id, vote) pairs, as from a dict of votes."""
        confidences = memoryview(self.confidences).cast("d")
        for key, side, confidence in zip(self.ids, self.sides, confidences, strict=True):
            yield key, Vote(vote=SIDES[side], confidence=confidence)


@dataclass(frozen=True, slots=True)
class PackedVotes:
    """The votes of an item's verdicts without reasoning, in a tenth of the memory.

    `ids` has two entries per verdict, the ids of its principles and of its checklist; within a
    match the verdicts that count come before the discarded ones. `sides` and `confidences` have all
    votes in this order.
    """

    ids: tuple[tuple[str, ...], ...]
    sides: bytes
    confidences: bytes

    @classmethod
    def of(cls, ballots: ItemBallots, *, plain: bool = False) -> "PackedVotes":
        """Pack the votes of ballots; `plain` votes are dicts."""
        ids: list[tuple[str, ...]] = []
        votes: list[Any] = []
        for match in ballots.matches:
            for verdict in (*match.verdicts, *match.discarded):
                for given in (verdict.principles, verdict.checklist):
                    ids.append(_shared(tuple(given)))
                    votes += given.values()
        part: Any = itemgetter if plain else attrgetter
        sides, confidences = (map(part(name), votes) for name in ("vote", "confidence"))
        return cls(tuple(ids), bytes(map(SIDES.index, sides)), array("d", confidences).tobytes())

    def __iter__(self) -> Iterator[VoteColumns]:
        """The votes for each entry of `ids`."""
        end = 0
        for ids in self.ids:
            start, end = end, end + len(ids)
            yield VoteColumns(ids, self.sides[start:end], self.confidences[8 * start : 8 * end])


NO_VOTES: Final[dict[str, Vote]] = {}
"""Shared by all verdicts without votes: their own dicts would be an eighth of a log's memory."""


# The ids of most verdicts are equal, so equal tuples become one object.
@lru_cache(maxsize=10_000)
def _shared(ids: tuple[str, ...]) -> tuple[str, ...]:
    return ids


class RankedItem(NamedTuple):
    """The ballots of an item and the ranking that they give."""

    ballots: ItemBallots
    placement: Placement


@dataclass(frozen=True, slots=True)
class Unranked:
    """An item without a ranking, and the reason; `benchmark` is None if the log has no ballots."""

    item_id: str
    reason: str
    benchmark: str | None = None


@dataclass(frozen=True, slots=True)
class JudgedItem:
    """A sample of a ranking log.

    `problem` says why judging was not completed, None if it was, or if the sample was skipped
    because the ranking was decided without it. Complete ballots have a `placement`, or `unplaced`
    says why they give none. `ballots` is None if there are none that can be read; `newer` is
    whether a newer Tiebreak wrote them. `target` is the benchmark's solution, or "". `metadata`
    (task, rubric, answers) is empty unless it was asked for; `votes` are the verdicts' votes if
    they were read packed.
    """

    id: str
    epoch: int
    ballots: ItemBallots | None = None
    problem: str | None = None
    placement: Placement | None = None
    unplaced: str | None = None
    newer: bool = False
    target: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    votes: PackedVotes | None = None

    @property
    def answers(self) -> dict[str, str]:
        """Texts of the representatives' answers by model; empty unless metadata was asked for."""
        return answers_in(self.metadata)

    @property
    def skipped(self) -> bool:
        """Whether the sample was not judged because the ranking was decided without it."""
        return self.problem is None and self.ballots is not None and bool(self.ballots.skipped)

    @property
    def judged(self) -> bool:
        """Whether judging was completed."""
        return self.problem is None and not self.skipped

    @property
    def unranked(self) -> str | None:
        """Why the sample has no ranking, or None if it has one or was skipped."""
        return self.problem or self.unplaced

    @property
    def kind(self) -> tuple[str, str] | None:
        """Benchmark and protocol of the ballots, or None without ballots."""
        return (self.ballots.benchmark, self.ballots.protocol) if self.ballots else None


@dataclass(frozen=True, slots=True)
class RankingLog:
    """One run, read from its ranking log or from the logs of all its shards, or a single shard.

    `path` names the log, or the shards in one phrase; `files` are the files themselves. `run` is
    the fingerprint of pool, protocol, arguments and judges, equal for attempts at the same run, ""
    if the log has none. `judges` are the models and roles of the eval as one text; a task built in
    Python needs it, because its fingerprint is made before its judges are known. `arguments` are
    the task's arguments that say how it judges, not what. `benchmark` is the dataset's name, for
    logs without ballots.

    `planned` are the ids of the samples to judge, in the order of the dataset; with epochs
    `n_expected` samples are planned, of which `n_missing` are not in the log because it ends early.
    `samples` are in Inspect's order: by epoch, then by id. `notes` are sentences about this log and
    about files that were left out. `canaries` are samples planted to test whether the judge can be
    persuaded; they are no items and are not ranked. `settings` are by benchmark. If people voted,
    `seconds` has each rater's median time per vote, NaN if unknown.
    """

    path: str
    files: tuple[str, ...]
    task: str
    eval_id: str
    task_id: str
    created: str
    status: str
    protocol: str
    benchmark: str
    run: str
    shard: Shard | None
    arguments: Mapping[str, object]
    planned: tuple[str, ...]
    n_expected: int
    samples: tuple[JudgedItem, ...]
    notes: tuple[str, ...] = ()
    canaries: tuple[JudgedItem, ...] = ()
    judges: str = ""
    n_missing: int = 0
    settings: Mapping[str, Settings] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)

    @property
    def age(self) -> tuple[str, int, str]:
        """A sort key, oldest first; logs of the same second are sorted by the argument `repeat`."""
        repeat = self.arguments.get("repeat")
        return self.created, repeat if isinstance(repeat, int) else 1, self.path

    @property
    def items(self) -> tuple[ItemBallots, ...]:
        """The complete ballots, whether they give a ranking or not."""
        return tuple(sample.ballots for sample in self.samples if sample.judged and sample.ballots)

    @property
    def ranked(self) -> tuple[RankedItem, ...]:
        """The items that have a ranking."""
        return tuple(
            RankedItem(sample.ballots, sample.placement)
            for sample in self.samples
            if sample.ballots and sample.placement
        )

    @property
    def cut_short(self) -> tuple[ItemBallots, ...]:
        """Ballots that are incomplete, or do not count because of an error or invalidation."""
        return tuple(sample.ballots for sample in self.samples if sample.problem and sample.ballots)

    @property
    def skipped(self) -> tuple[ItemBallots, ...]:
        """Ballots of items that were not judged because the ranking was decided without them."""
        return tuple(sample.ballots for sample in self.samples if sample.skipped and sample.ballots)

    @property
    def unranked(self) -> tuple[Unranked, ...]:
        """Samples without a ranking, those whose judging was not completed first."""
        return tuple(
            Unranked(sample.ballots.item_id, why, sample.ballots.benchmark)
            if sample.ballots
            else Unranked(sample.id, why)
            for sample in sorted(
                self.samples, key=lambda sample: (sample.problem is None, natural_key(sample.id))
            )
            if (why := sample.unranked)
        )

    @property
    def pairs_chosen(self) -> bool:
        """Whether people were asked only about pairs that another board left open."""
        return self.arguments.get("schedule") == "open"

    @property
    def by_stars(self) -> bool:
        """Whether any item was judged by stars."""
        return any(item.placed_by == "stars" for item in self.items)

    @property
    def n_judged(self) -> int:
        """Number of samples whose judging was completed."""
        return sum(sample.judged for sample in self.samples)

    def by_rule(self, rule: Rule) -> "RankingLog":
        """The log with every item ranked by this rule instead of the one its ballots name.

        Raises:
            RankingLogError: the rule cannot rank ballots of this protocol.
        """
        rules = {item.placed_by for item in self.items} - {rule}
        return replace(
            self,
            samples=tuple(self._by_rule(sample, rule) for sample in self.samples),
            notes=(*self.notes, *(f"Placed by {rule} instead of {name}" for name in sorted(rules))),
        )

    def _by_rule(self, sample: JudgedItem, rule: Rule) -> JudgedItem:
        ballots = sample.ballots
        if ballots is None or not sample.judged or ballots.placed_by == rule:
            return sample
        if not fits(rule, ballots):
            raise RankingLogError(
                f"{self.path}: {rule} ranks only {RULES[rule].needs or 'ballots that name it'}, "
                f"and item {ballots.item_id} of {ballots.protocol} is none of these. What fits "
                f"all items: {', '.join(fitting(self.items)) or 'no one rule'}"
            )
        return ranked_sample(
            replace(sample, ballots=ballots.model_copy(update={"placed_by": rule}))
        )

    def parts(self) -> list["RankingLog"]:
        """The log split by benchmark and protocol, sorted; samples without ballots are in each.

        A log that contains only canaries has no parts.
        """
        kinds = sorted({kind for sample in self.samples if (kind := sample.kind)})
        return [
            replace(
                self,
                benchmark=kind[0],
                protocol=kind[1],
                samples=tuple(sample for sample in self.samples if sample.kind in (kind, None)),
                canaries=tuple(canary for canary in self.canaries if canary.kind in (kind, None)),
            )
            for kind in kinds
        ] or ([] if self.canaries else [self])


def ranked_sample(sample: JudgedItem) -> JudgedItem:
    """The sample with the ranking that its ballots give, or with the reason why they give none."""
    if sample.ballots is None or not sample.judged:
        return sample
    try:
        return replace(sample, placement=placement_of(sample.ballots), unplaced=None)
    except NotPlacedError as error:
        return replace(sample, placement=None, unplaced=str(error))


def answers_in(metadata: Mapping[str, Any]) -> dict[str, str]:
    """Texts of the representatives' answers by model, from the metadata of a sample.

    Metadata are unchecked: whatever differs from the form that tasks write counts as missing.
    """
    contest = metadata.get(CONTEST_KEY)
    named = contest.get("answers") if isinstance(contest, Mapping) else None
    texts = named.items() if isinstance(named, Mapping) else ()
    return {model: text for model, text in texts if isinstance(text, str)}


def placement_of(ballots: ItemBallots, rule: Rule | None = None) -> Placement:
    """The rank of every model on an item of a log, as `place` gives it.

    A model has no rank if no ballot says anything about it, because its calls are unscored.

    Raises:
        NotPlacedError: the item cannot be ranked, or its ballots are damaged.
    """
    try:
        placement = place(ballots, rule)
    except NotPlacedError:
        raise
    except KeyError as error:
        raise NotPlacedError(
            f"its ballots contradict each other: {error} is not an answer"
        ) from error
    except (ValueError, IndexError) as error:
        raise NotPlacedError(f"its ballots contradict each other: {error}") from error
    answered = {model for group in ballots.groups for model in group}
    if missing := [model for model in ballots.models if model not in answered]:
        raise NotPlacedError(f"its ballots give no rank to {', '.join(missing)}")
    return placement
