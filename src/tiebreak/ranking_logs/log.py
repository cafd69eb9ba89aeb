"""A ranking log as it is read: its samples, each with its ballots and the ranking they give.

Items are ranked here, once: everything that is computed from a log uses these placements.
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
    """A path that was given holds no ranking; the message says what to do next."""


class UnreadableLogError(RankingLogError):
    """The file cannot be read as an Inspect log."""


Kept = bool | Callable[[dict[str, Any]], dict[str, Any]]
"""What is kept of the metadata of samples, which says what was to be judged (task, rubric, all
answers): all of it, nothing, or what a function makes of it."""


KeptVotes = bool | Literal["packed"]
"""What is kept of the votes of verdicts and the critiques of matches, which no ranking needs and
which are nine tenths of the ballots: all, nothing, or the votes alone, as `PackedVotes`."""


SIDES: Final[tuple[Side, ...]] = get_args(Side)
"""Packed votes are places in this tuple."""


class VoteColumns(NamedTuple):
    """The votes of a verdict on its principles or on its checklist, without their reasons.

    `sides` are places in `SIDES`, `confidences` the bytes of float64 numbers.
    """

    ids: tuple[str, ...]
    sides: bytes
    confidences: bytes

    def items(self) -> Iterator[tuple[str, Vote]]:
        """The votes with their ids, as a dict of them has them."""
        confidences = memoryview(self.confidences).cast("d")
        for key, side, confidence in zip(self.ids, self.sides, confidences, strict=True):
            yield key, Vote(vote=SIDES[side], confidence=confidence)


@dataclass(frozen=True, slots=True)
class PackedVotes:
    """The votes of an item's verdicts without their reasons, in a tenth of the memory.

    `ids` are those of the principles of a verdict, then of its checklist, then of the next one's,
    first those of a match that count; `sides` and `confidences` are all in this order.
    """

    ids: tuple[tuple[str, ...], ...]
    sides: bytes
    confidences: bytes

    @classmethod
    def of(cls, ballots: ItemBallots, *, plain: bool = False) -> "PackedVotes":
        """The votes of ballots; `plain` ones are dicts."""
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
        """The votes for each of `ids`."""
        end = 0
        for ids in self.ids:
            start, end = end, end + len(ids)
            yield VoteColumns(ids, self.sides[start:end], self.confidences[8 * start : 8 * end])


NO_VOTES: Final[dict[str, Vote]] = {}
"""One for all verdicts without votes: empty dicts would be an eighth of what a log takes up."""


@lru_cache(maxsize=10_000)
def _shared(ids: tuple[str, ...]) -> tuple[str, ...]:
    return ids


class RankedItem(NamedTuple):
    """The ballots of an item and the ranking they give."""

    ballots: ItemBallots
    placement: Placement


@dataclass(frozen=True, slots=True)
class Unranked:
    """An item without a ranking; `benchmark` is None where the log does not name one."""

    item_id: str
    reason: str
    benchmark: str | None = None


@dataclass(frozen=True, slots=True)
class JudgedItem:
    """A sample of a ranking log.

    `problem` says why it was not judged to the end: None where it was, or where it was skipped
    because the ranking was decided without it. Ballots that were judged to the end have a
    `placement`, or `unplaced` says why they give none. `ballots` is None where there are none to
    read; `newer` tells that a newer Tiebreak wrote them. `target` is the benchmark's solution,
    empty where it has none; `metadata` is what was to be judged, empty unless it was asked for;
    `votes` are those of the verdicts where they are packed.
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
        """Texts of the representatives' answers, by model; none unless metadata was asked for."""
        return answers_in(self.metadata)

    @property
    def skipped(self) -> bool:
        """Whether it was not judged because the ranking was decided without it."""
        return self.problem is None and self.ballots is not None and bool(self.ballots.skipped)

    @property
    def judged(self) -> bool:
        """Whether it was judged to the end."""
        return self.problem is None and not self.skipped

    @property
    def unranked(self) -> str | None:
        """Why it has no ranking; None where it has one or was skipped."""
        return self.problem or self.unplaced

    @property
    def kind(self) -> tuple[str, str] | None:
        """Benchmark and protocol of its ballots, None without any."""
        return (self.ballots.benchmark, self.ballots.protocol) if self.ballots else None


@dataclass(frozen=True, slots=True)
class RankingLog:
    """One run: what its ranking log says, or the logs of all its shards; or a single shard.

    `path` names the log, or the shards in one phrase; `files` are the files themselves. `run` is
    the fingerprint of pool, protocol, arguments and judges, the same for a run that was repeated;
    empty where nothing says it. `judges` are the models and roles of the eval as one
    text, for a task that is built in Python has its fingerprint before its judges. `arguments` are
    those of the task that say how it judges, not what. `benchmark` is the dataset's name, for a log
    without ballots.

    `planned` are the ids of the samples that were to be judged, in the order of the dataset; with
    epochs there are `n_expected` of them, of which `n_missing` are not in the log: it ends early.
    `samples` are in Inspect's order: by epoch, then by id.
    `notes` are sentences about this log and about files that had to be left out. `canaries` are
    samples that were planted to see whether the judge can be persuaded: no items, and not ranked.
    `settings` are by benchmark. Where people voted, `seconds` are the medians that a vote took each
    of them, by name, NaN where unknown.
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
        """A key that sorts logs, the oldest first; those of one second by the argument `repeat`."""
        repeat = self.arguments.get("repeat")
        return self.created, repeat if isinstance(repeat, int) else 1, self.path

    @property
    def items(self) -> tuple[ItemBallots, ...]:
        """Ballots that were judged to the end, whether they give a ranking or not."""
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
        """Ballots that stop halfway, or do not count."""
        return tuple(sample.ballots for sample in self.samples if sample.problem and sample.ballots)

    @property
    def skipped(self) -> tuple[ItemBallots, ...]:
        """Ballots of items that were not judged because the ranking was decided without them."""
        return tuple(sample.ballots for sample in self.samples if sample.skipped and sample.ballots)

    @property
    def unranked(self) -> tuple[Unranked, ...]:
        """Samples without a ranking: those not judged to the end first."""
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
        """Whether people were asked only pairs that another board left open."""
        return self.arguments.get("schedule") == "open"

    @property
    def by_stars(self) -> bool:
        """Whether its items were judged by stars."""
        return any(item.placed_by == "stars" for item in self.items)

    @property
    def n_judged(self) -> int:
        """Number of samples that were judged to the end."""
        return sum(sample.judged for sample in self.samples)

    def by_rule(self, rule: Rule) -> "RankingLog":
        """The log with every item ranked by a rule that it does not name itself.

        Raises:
            RankingLogError: the rule does not fit how these ballots came about.
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
        """The log cut by benchmark and protocol, by name; samples without ballots are in each.

        A log that holds nothing but canaries has no part.
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
    """The sample with the ranking that its ballots give, or why they give none."""
    if sample.ballots is None or not sample.judged:
        return sample
    try:
        return replace(sample, placement=placement_of(sample.ballots), unplaced=None)
    except NotPlacedError as error:
        return replace(sample, placement=None, unplaced=str(error))


def answers_in(metadata: Mapping[str, Any]) -> dict[str, str]:
    """Texts of the representatives' answers, by model, in the metadata of a sample.

    That is unchecked: what is not as the tasks write it counts as missing.
    """
    contest = metadata.get(CONTEST_KEY)
    named = contest.get("answers") if isinstance(contest, Mapping) else None
    texts = named.items() if isinstance(named, Mapping) else ()
    return {model: text for model, text in texts if isinstance(text, str)}


def placement_of(ballots: ItemBallots, rule: Rule | None = None) -> Placement:
    """The place of every model in an item of a log, as `place` gives it.

    A model has no rank where no ballot says anything about it: its calls are unscored.

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
