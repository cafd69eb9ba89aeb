"""Ballots: the verdicts of judges, as data.

A ranking log keeps one `ItemBallots` per item in its sample store, under `STORE_KEY`, as a text.
Everything that comes later (placements, leaderboards, receipts) is computed from these types alone,
without another judge call. `ballots_text` writes them and `restore_ballots` reads them back.
"""

import json
import math
from collections.abc import Iterable, Sequence
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.dataclasses import dataclass

from tiebreak.rankers.settlement import SettleFor
from tiebreak.scorers.attacks import Canary

STORE_KEY = "tiebreak:ballots"

VOTES: Final = "votes"
"""The protocol of ballots that people gave: the judges of their verdicts are raters."""

VERSION: Final = 5
"""Version of the ballots that logs keep. A new optional field that older readers may ignore leaves
it as it is; any other change (a new rule or kind of call, another meaning or default) raises it."""

Media = Literal["", "mark", "show"]
Side = Literal["left", "right", "tie"]
CallKind = Literal["answer", "seed", "match", "critique", "refine", "rubric", "score", "list"]
"""What was asked for; an `answer` is noted by budgets only, and no log keeps it."""
AnchorSplit = Literal["5 vs 4", "4 vs 3", "3 vs 2", "2 vs 1"]
DecidedBy = Literal["principles", "checklist", "votes", "tie", "unscored"]
Rule = Literal[
    "elimination",
    "elimination_tied",
    "least_squares",
    "win_rate",
    "insertion",
    "points",
    "grades",
    "stars",
    "listing",
    "consensus",
    "native",
]
"""How the ballots of an item become its ranking; see `tiebreak.scorers.rules`."""


# Unknown fields are from a newer Tiebreak.
_IGNORING = ConfigDict(extra="ignore")


class Ballot(BaseModel):
    """Base of ballot types: immutable; unknown fields are ignored.

    Calls, votes, verdicts and matches are dataclasses with slots instead: a log holds millions of
    them, and as models they would take ten times the memory.
    """

    model_config = ConfigDict(frozen=True, **_IGNORING)


@dataclass(frozen=True, slots=True, kw_only=True, config=_IGNORING)
class Call:
    """One call to a model: what it was for, who answered, and its bill.

    `attempt` is 0 for the first try and 1 for the repetition of an unscored one; `repair` marks
    the turn that asked for a malformed reply again. `cached` calls cost nothing this time; their
    tokens and cost are what the recorded call had cost. `cost` is in US dollars, None where no
    price is known. `depth` is the number of calls of this item that had to end before this one
    could start (0 for the first). `reviewer` is who was asked, where a role has several. `priced`
    tells that the reader gave the price, and the log knows none; no log keeps it.
    """

    kind: CallKind
    role: str
    model: str
    reviewer: str = ""
    attempt: int = 0
    repair: bool = False
    cached: bool = False
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None
    depth: int = 0
    priced: bool = Field(default=False, exclude=True)


@dataclass(frozen=True, slots=True, kw_only=True, config=_IGNORING)
class Vote:
    """A judge's vote on one principle or checklist item; confidence in [0, 1]."""

    vote: Side
    confidence: float = Field(ge=0, le=1)
    reasoning: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, config=_IGNORING)
class Verdict:
    """What a judge said to one order of presentation: `first` was shown as the left response.

    `margin` and `checklist_margin` are in [-1, 1] and positive when the left response is better;
    None when the call is unscored, and then `unscored` says why. `checklist_margin` alone is None
    where the checklist was not asked, because the principles had decided. `judge` is whose verdict
    it is, in a jury.
    """

    first: str
    judge: str = ""
    principles: dict[str, Vote] = Field(default_factory=dict)
    checklist: dict[str, Vote] = Field(default_factory=dict)
    margin: float | None = None
    checklist_margin: float | None = None
    unscored: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True, config=_IGNORING)
class Match:
    """A match between `high` (the better seed, where there are seeds) and `low`.

    `margin` and `checklist_margin` are the means over the scored verdicts, those of each judge
    averaged first, turned so that they are positive when `high` is better; None when no verdict is
    scored, or those of fewer judges than the quorum of a jury, or for the checklist when it was not
    asked. `winner` is who goes on: `high` after a tie or without a verdict, which no statistic
    counts as a win. `flipped` tells whether two presentation orders named different winners, in a
    jury the judges together; None when only one order was scored. `verdicts` are those of the first
    order, then those of the second. `discarded` keeps unscored verdicts that a repetition or
    another judge replaced.
    """

    round: int
    slot: int
    high: str
    low: str
    verdicts: tuple[Verdict, ...] = ()
    discarded: tuple[Verdict, ...] = ()
    margin: float | None = None
    checklist_margin: float | None = None
    winner: str
    decided_by: DecidedBy
    flipped: bool | None = None
    critique: str | None = None

    @property
    def loser(self) -> str:
        """The candidate that did not go on."""
        return self.low if self.winner == self.high else self.high

    @property
    def tied(self) -> bool:
        """Whether the votes were even."""
        return self.decided_by == "tie"

    @property
    def unscored(self) -> str | None:
        """Why the match has no verdict, or None when it has one."""
        if self.decided_by != "unscored":
            return None
        if any(v.margin is not None for v in self.verdicts):
            return _no_quorum((v.judge, v.margin, v.unscored) for v in self.verdicts)
        reasons = [v.unscored for v in (*self.verdicts, *self.discarded) if v.unscored]
        return reasons[0] if reasons else "no judge reply"

    @property
    def result(self) -> float | None:
        """1 when `high` won, 0 when `low` did, ½ for a tie, None without a verdict."""
        if self.decided_by == "unscored":
            return None
        if self.decided_by == "tie":
            return 0.5
        return 1.0 if self.winner == self.high else 0.0


class Tiering(Ballot):
    """The seeding ballot: tier of each candidate, 1 = best; or `unscored`, the reason without."""

    tiers: dict[str, int] = Field(default_factory=dict)
    reasoning: str = ""
    unscored: str | None = None


class Refinement(Ballot):
    """A checklist item that the meta-judge proposed after a close match.

    `item_id` and the texts are empty when the call is `unscored`; `duplicate_of` names the
    existing item that made the proposal superfluous (then it was not added). `scoring` and `source`
    are constants of the paper's form of an item (SEAL, A.5).
    """

    round: int
    slot: int
    item_id: str = ""
    principle_id: str = ""
    description: str = ""
    differentiator: str = ""
    anchor_split: AnchorSplit | None = None
    higher_snippet: str = ""
    lower_snippet: str = ""
    scoring: Literal["five_level"] = "five_level"
    source: Literal["adversarial"] = "adversarial"
    duplicate_of: str | None = None
    unscored: str | None = None


class PointScore(Ballot):
    """Points that a judge gave to one candidate on its own.

    `grades` holds a grade for every principle, 0 to 10; `score` is their weighted mean divided by
    ten, in [0, 1]; None when the call is `unscored`. Of a jury `score` is the mean, and `parts` is
    what each `judge` gave.

    Stars have no grades: `stars` are 0 to 3, `score` is a third of them, and `reason` is the
    judge's. `correct` is whether the answer agrees with the key, where a rule decided that.
    """

    candidate: str
    grades: dict[str, int] = Field(default_factory=dict)
    stars: int | None = Field(default=None, ge=0, le=3)
    reason: str = ""
    correct: bool | None = None
    score: float | None = None
    unscored: str | None = None
    judge: str = ""
    parts: tuple["PointScore", ...] = ()

    @classmethod
    def of_jury(cls, parts: Sequence["PointScore"], quorum: int) -> "PointScore":
        """The mean of what judges gave one candidate; what the only one of them gave as it is."""
        if len(parts) == 1:
            return parts[0]
        scores = [part.score for part in parts if part.score is not None]
        usable = len(scores) >= max(1, quorum)
        return cls(
            candidate=parts[0].candidate,
            score=math.fsum(scores) / len(scores) if usable else None,
            unscored=None if usable else _no_quorum((p.judge, p.score, p.unscored) for p in parts),
            parts=tuple(parts),
        )


class Reviewer(Ballot):
    """One of the models that review each other.

    `candidate` is which candidate it is itself, None for an outsider; `name` is that of the
    candidate, else that of the model.
    """

    name: str
    model: str
    candidate: str | None = None


class Listing(Ballot):
    """A ranking of candidates in one call: groups of tied ones, best first.

    `shown` are the candidates in the order of presentation. In
    peer review `reviewer` is whose ranking it is, and candidates that the reply leaves out are in
    no group; `left_out` those that were
    not shown because with them the question did not fit the reviewer's context.
    """

    groups: tuple[tuple[str, ...], ...] = ()
    unscored: str | None = None
    reviewer: str = ""
    shown: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


class Criterion(Ballot):
    """What earns full, half and no marks for a principle, as written for a whole benchmark."""

    principle_id: str
    full: str
    half: str
    none: str


class Skipped(Ballot):
    """Why an item was not judged: the ranking was decided after `after` of `of` items.

    `error` is the probability of a wrong decision that was allowed; `top` the number of first
    places that were to be decided, None for all. It was decided for `new` items or only for
    `these`, those of the run.
    """

    after: int
    of: int
    error: float
    top: int | None = None
    settle_for: SettleFor = "these"


class ItemBallots(Ballot):
    """All that was asked and answered for one item.

    `models` are all candidates; `groups` are the sets of models whose answers are identical, each
    led by the representative that was judged (its first member). `seeds` lists representatives,
    best seed first. `native` holds native scores, None where the log had none, and `passed` whether
    an answer passed, where that was verified; of a `stratified` item answers that failed come after
    those that passed (`placement.guarded`). A `canary` is no item: it never ranks. `lengths` holds
    the number of characters of every representative's answer. `placed_by` is the rule that turns
    the ballots into a ranking; `order` is the one that a protocol arrived at itself, groups of tied
    representatives, best first. `scheduled` are the pairs of models that a protocol let meet
    whatever the results, where those are not all pairs: no other results count. With a `baseline`
    all of them are against that model, and win rates there are the scores. In peer review
    `reviewers` are those who were asked, and `aggregator` is the method that makes one ranking of
    theirs. `subject` is the part of the benchmark that the item belongs to, and items of one
    `cluster` were made of one question; both are empty where the logs do not say. `complete` is
    False for an item whose judging was cut short; such an item is never
    ranked. `content_hash` is that of `Item`; of its `media` judges got a mark where any were not
    shown.
    """

    protocol: str
    benchmark: str
    item_id: str
    input_hash: str
    content_hash: str = ""
    media: Media = ""
    task_type: str
    rubric: str
    seed: int
    subject: str = ""
    cluster: str = ""
    models: tuple[str, ...]
    native: dict[str, float | None]
    passed: dict[str, bool] = Field(default_factory=dict)
    stratified: bool = False
    canary: Canary | None = None
    groups: tuple[Annotated[tuple[str, ...], Field(min_length=1)], ...]
    lengths: dict[str, int] = Field(default_factory=dict)
    placed_by: Rule = "elimination"
    tiering: Tiering | None = None
    seeds: tuple[str, ...] = ()
    matches: tuple[Match, ...] = ()
    refinements: tuple[Refinement, ...] = ()
    criteria: tuple[Criterion, ...] = ()
    scores: tuple[PointScore, ...] = ()
    listings: tuple[Listing, ...] = ()
    reviewers: tuple[Reviewer, ...] = ()
    aggregator: str = "kemeny_young"
    order: tuple[tuple[str, ...], ...] = ()
    scheduled: tuple[tuple[str, str], ...] = ()
    baseline: str = ""
    calls: tuple[Call, ...] = ()
    skipped: Skipped | None = None
    complete: bool = False
    version: int = VERSION

    @property
    def by_people(self) -> bool:
        """Whether people gave these ballots: then each of them counts, not who most say won."""
        return self.protocol == VOTES

    @property
    def representatives(self) -> tuple[str, ...]:
        """The model of each group whose answer is judged."""
        return tuple(group[0] for group in self.groups)


def _no_quorum(given: Iterable[tuple[str, float | None, str | None]]) -> str:
    """That too few judges were usable, and why; from judges, what they gave and why they did not.

    Judges may come twice, for both orders of presentation.
    """
    given = list(given)
    usable = {judge for judge, value, _ in given if value is not None}
    why = {judge: reason for judge, _, reason in given if judge not in usable}
    reasons = "; ".join(f"{judge}: {reason}" for judge, reason in why.items())
    return f"no quorum, {len(usable)} of {len(usable | why.keys())} judges usable ({reasons})"


class _Version(Ballot):
    version: int


def ballots_text(ballots: ItemBallots) -> str:
    """Ballots as a log's store keeps them: JSON without what is as its default, but the version.

    A text is a single value to Inspect, which copies, compares and walks what a store holds.
    """
    given = ballots.model_dump(mode="json", exclude_defaults=True)
    given["version"] = ballots.version
    return json.dumps(given, ensure_ascii=False, separators=(",", ":"))


def newer_version(stored: object) -> int | None:
    """The version of stored ballots when it is newer than this Tiebreak can read, else None."""
    try:
        version = _Version.model_validate_json(stored).version  # type: ignore[arg-type]
    except ValidationError:
        return None
    return version if version > VERSION else None


def restore_ballots(stored: object, kind: type[ItemBallots] = ItemBallots) -> ItemBallots:
    """Ballots out of a log's store, of this kind.

    Raises:
        ValueError: they are missing, damaged, or written by a newer Tiebreak; says which.
    """
    if stored is None:
        raise ValueError("its sample holds no ballots")
    if (newer := newer_version(stored)) is not None:
        raise ValueError(
            f"its ballots were written by a newer Tiebreak (ballots version {newer}; this one "
            f"reads {VERSION}): upgrade"
        )
    try:
        return kind.model_validate_json(stored)  # type: ignore[arg-type]
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        reason = f"{where}: {first['msg']}" if where else first["msg"]
        raise ValueError(f"its ballots cannot be read ({reason})") from error
