"""Ballots: the verdicts of judges, as data.

A ranking log keeps one `ItemBallots` per item in its sample store, under `STORE_KEY`, as JSON text.
Everything computed later (placements, leaderboards, receipts) follows from these types alone,
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
"""Protocol name of ballots given by people: the judges of their verdicts are raters."""

VERSION: Final = 5
"""Version of the ballots that logs keep. A new optional field that older readers may ignore leaves
it unchanged; any other change (new rule or kind of call, another meaning or default) raises it."""

Media = Literal["", "mark", "show"]
Side = Literal["left", "right", "tie"]
CallKind = Literal["answer", "seed", "match", "critique", "refine", "rubric", "score", "list"]
"""What the call asked for; only budgets note an `answer`, no log keeps it."""
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


# Unknown fields come from a newer Tiebreak.
_IGNORING = ConfigDict(extra="ignore")


class Ballot(BaseModel):
    """Base of ballot types: immutable; unknown fields are ignored.

    Calls, votes, verdicts and matches are dataclasses with slots instead: a log holds millions of
    them, and as models they would take ten times the memory.
    """

    model_config = ConfigDict(frozen=True, **_IGNORING)


@dataclass(frozen=True, slots=True, kw_only=True, config=_IGNORING)
class Call:
    """One call to a model: its purpose, who answered, and its cost.

    `attempt` is 0 for the first try and 1 for the repetition of an unscored call; `repair` marks
    the turn that asks again after a malformed reply. A `cached` call costs nothing this time; its
    tokens and cost are those of the recorded call. `cost` is in US dollars, None if no price is
    known. `depth` is the number of calls of this item that had to end before this one could start
    (0 for the first). `reviewer` names who was asked, if a role has several models. `priced` is
    True if the reader supplied the price because the log has none; no log keeps it.
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
    """A judge's verdict in one order of presentation: `first` was shown as the left response.

    `margin` and `checklist_margin` are in [-1, 1] and positive if the left response is better; both
    are None if the call is unscored, and then `unscored` gives the reason. `checklist_margin` alone
    is None if the principles had decided and the checklist was not asked. `judge` is "" without a
    jury.
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
    """A match between `high` (the better seed, if there are seeds) and `low`.

    `margin` and `checklist_margin` are means over the scored verdicts, first within each judge,
    with signs turned so that positive means `high` is better. They are None if no verdict is scored
    or fewer judges than a jury's quorum are; `checklist_margin` also if the checklist was not
    asked. `winner` advances: it is `high` after a tie or without a verdict, which no statistic
    counts as a win. `flipped` tells whether the two presentation orders named different winners (in
    a jury: all judges together); None if only one order was scored. `verdicts` are those of the
    first order, then those of the second. `discarded` keeps unscored verdicts that a repetition or
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
        """The candidate that did not advance."""
        return self.low if self.winner == self.high else self.high

    @property
    def tied(self) -> bool:
        """Whether the votes were even."""
        return self.decided_by == "tie"

    @property
    def unscored(self) -> str | None:
        """Why the match has no verdict, or None if it has one."""
        if self.decided_by != "unscored":
            return None
        if any(v.margin is not None for v in self.verdicts):
            return _no_quorum((v.judge, v.margin, v.unscored) for v in self.verdicts)
        reasons = [v.unscored for v in (*self.verdicts, *self.discarded) if v.unscored]
        return reasons[0] if reasons else "no judge reply"

    @property
    def result(self) -> float | None:
        """1 if `high` won, 0 if `low` won, ½ for a tie, None without a verdict."""
        if self.decided_by == "unscored":
            return None
        if self.decided_by == "tie":
            return 0.5
        return 1.0 if self.winner == self.high else 0.0


class Tiering(Ballot):
    """The seeding ballot: each candidate's tier, 1 = best, or the reason why it is `unscored`."""

    tiers: dict[str, int] = Field(default_factory=dict)
    reasoning: str = ""
    unscored: str | None = None


class Refinement(Ballot):
    """A checklist item that the meta-judge proposed after a close match.

    `item_id` and the texts are empty if the call is `unscored`; `duplicate_of` names the existing
    item that the proposal repeats (then it was not added). `scoring` and `source` are constants of
    the paper's item format (SEAL, A.5).
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

    `grades` holds a grade from 0 to 10 for every principle; `score` is their weighted mean divided
    by ten, in [0, 1], or None if the call is `unscored`. For a jury `score` is the mean over
    judges, and `parts` holds the points given by each `judge`.

    Star ratings have no grades: `stars` is 0 to 3, `score` a third of that, and `reason` the
    judge's. `correct` is whether the answer agrees with the key, if a rule decided that.
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
        """Mean of the points that several judges gave a candidate; a single part stays as it is."""
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

    `candidate` is the reviewer's own candidate, None for an outsider; `name` is the candidate's
    name, or the model's if there is no candidate.
    """

    name: str
    model: str
    candidate: str | None = None


class Listing(Ballot):
    """A ranking of candidates from one call: groups of tied candidates, best first.

    `shown` lists the candidates in the order of presentation. In peer review `reviewer` names the
    author, and candidates that the reply leaves out are in no group; `left_out` lists those that
    were not shown because the question would not have fitted the reviewer's context with them.
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
    """Why an item was not judged: the ranking was already decided after `after` of `of` items.

    `error` is the allowed probability of a wrong decision; `top` the number of first places to
    decide, None for all. The decision holds for `new` items or only for `these`, those of the run.
    """

    after: int
    of: int
    error: float
    top: int | None = None
    settle_for: SettleFor = "these"


class ItemBallots(Ballot):
    """All questions and answers about one item.

    `models` are all candidates; `groups` are the sets of models with identical answers, each led by
    its representative (the first member), whose answer is judged. `seeds` lists representatives,
    best seed first. `native` holds native scores, None if the log had none, and `passed` whether an
    answer passed, if that was verified; in a `stratified` item failed answers rank below passed
    ones (`placement.guarded`). A `canary` is a planted item and never ranks. `lengths` holds the
    number of characters of every representative's answer. `placed_by` is the rule that turns the
    ballots into a ranking; `order` is a ranking that the protocol built itself: groups of tied
    representatives, best first. `scheduled` are the pairs of models that the protocol's schedule
    let meet regardless of results, if those are not all pairs; no other results count. With a
    `baseline` every match is against that model, and scores are win rates against it. In peer
    review `reviewers` are the models that were asked, and `aggregator` is the method that merges
    their rankings. `subject` is the part of the benchmark that the item belongs to, and items of
    one `cluster` were made from one question; both are empty if the logs do not say. `complete` is
    False if judging was cut short; then the item is never ranked. `content_hash` is that of `Item`;
    `media` is "show" if judges saw all media of the item, "mark" if a mark replaced any, and empty
    if it has none.
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
        """Whether people gave these ballots: then every vote counts, not only the majority's."""
        return self.protocol == VOTES

    @property
    def representatives(self) -> tuple[str, ...]:
        """The model of each group whose answer is judged."""
        return tuple(group[0] for group in self.groups)


def _no_quorum(given: Iterable[tuple[str, float | None, str | None]]) -> str:
    """Explain that too few judges gave a usable verdict, and why.

    `given` holds (judge, value, reason for no value); a judge may come once per presentation order.
    """
    given = list(given)
    usable = {judge for judge, value, _ in given if value is not None}
    why = {judge: reason for judge, _, reason in given if judge not in usable}
    reasons = "; ".join(f"{judge}: {reason}" for judge, reason in why.items())
    return f"no quorum, {len(usable)} of {len(usable | why.keys())} judges usable ({reasons})"


class _Version(Ballot):
    version: int


def ballots_text(ballots: ItemBallots) -> str:
    """Ballots as JSON for a log's store: the version, and fields that differ from their default.

    Text is a single value to Inspect, which copies, compares and walks through what a store holds.
    """
    given = ballots.model_dump(mode="json", exclude_defaults=True)
    given["version"] = ballots.version
    return json.dumps(given, ensure_ascii=False, separators=(",", ":"))


def newer_version(stored: object) -> int | None:
    """The version of stored ballots if it is newer than this Tiebreak can read, else None."""
    try:
        version = _Version.model_validate_json(stored).version  # type: ignore[arg-type]
    except ValidationError:
        return None
    return version if version > VERSION else None


def restore_ballots(stored: object, kind: type[ItemBallots] = ItemBallots) -> ItemBallots:
    """Read ballots of type `kind` from a log's store.

    Raises:
        ValueError: they are missing, damaged, or written by a newer Tiebreak (says which).
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
