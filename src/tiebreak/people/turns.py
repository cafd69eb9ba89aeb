"""A votes file while people vote: the schedule of pairs, the next turn, and storing votes.

    turn      0, 1, 2, …  the items in random order; then the same order again, as a second pass
    pair      a benchmark's pairs in round-robin order: each item takes the next pair, and each
              pass gives an item its next pair, so over items all pairs are equally frequent
    side      the answer shown first: both orders of a pair equally often, in random blocks of four
    shared    a random turn of every k, which all raters are asked; others go to the next rater

Votes affect only who is asked what, not the schedule. If only some pairs of a board are open, only
these are asked, more often by a factor stored as their weight. For stars a pair is a single model.

`items_of` makes the items from answers, `votes_on` creates or continues the file.
"""

import math
import time
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Final

from tiebreak.candidates import CONTEST_KEY, CandidatePool
from tiebreak.ranking_logs.log import RankingLogError
from tiebreak.ranking_logs.votes_file import (
    Choice,
    PersonVote,
    VotesFile,
    VotesItem,
    VotesKind,
    VotesMeta,
    create_votes_file,
    open_votes_file,
    utc_now,
)
from tiebreak.scorers.ballots import ItemBallots
from tiebreak.scorers.schedule import Schedule

_BLOCK: Final = 4
# Names in an error message of the settings with which a file was begun.
_BEGUN: Final = {
    **{"kind": "votes on {}", "schedule": "a schedule that is {} (--only-open)"},
    **{"seed": "--seed {}", "shared_every": "--shared {}"},
}


@dataclass(frozen=True, slots=True)
class Turn:
    """A place in the schedule: an item and two models, in the order in which they are shown.

    For stars `second` is empty. `asked` is False if the two answers are identical, or the same
    answers were asked earlier on the item.
    """

    number: int
    item: int
    first: str
    second: str
    weight: float
    asked: bool


class Turns:
    """The schedule of a votes file."""

    def __init__(self, meta: VotesMeta, ballots: Sequence[ItemBallots]) -> None:
        """Make the schedule of a file's items, in its order, from the settings in `meta`."""
        self.shared_every, self._seed, self._ballots = meta.shared_every, meta.seed, ballots
        self._lots: dict[int, int] = {}
        # Items in the order of a pass, each with its position among its benchmark's items.
        self._order: list[tuple[int, int]] = []
        self._sizes: Counter[str] = Counter()
        # \x1f separates the parts of a seed, so that "a", "bc" and "ab", "c" give different draws.
        for number in Random(f"{meta.seed}\x1forder").sample(range(len(ballots)), len(ballots)):
            self._order.append((number, self._sizes[ballots[number].benchmark]))
            self._sizes[ballots[number].benchmark] += 1
        models = {item.benchmark: item.models for item in ballots}
        self._pairs = {name: _line(meta, name, names) for name, names in models.items()}

    def __len__(self) -> int:
        return max(map(len, self._pairs.values()), default=0) * len(self._order)

    def turn(self, number: int) -> Turn | None:
        """The turn with this number; None if all pairs of its item have had a turn."""
        lap, place = divmod(number, len(self._order))
        item, position = self._order[place]
        ballots = self._ballots[item]
        pairs = self._pairs[ballots.benchmark]
        if lap >= len(pairs):
            return None
        pair = pairs[(position + lap) % len(pairs)]
        before = [pairs[(position + earlier) % len(pairs)] for earlier in range(lap)]
        shown = _answers(ballots, pair)
        blocks = math.ceil(self._sizes[ballots.benchmark] / len(pairs))
        first, second = self._sides(pair, lap * blocks + (position + lap) // len(pairs))
        return Turn(
            number=number,
            item=item,
            first=first,
            second=second,
            weight=len(pairs) / math.comb(len(ballots.models), len(pair)),
            asked=len(shown) == len(pair) and shown not in [_answers(ballots, p) for p in before],
        )

    def shared(self, number: int) -> bool:
        """Whether a turn is asked of all raters."""
        if not self.shared_every:
            return False
        block, place = divmod(number, self.shared_every)
        if block not in self._lots:
            lot = Random(f"{self._seed}\x1fshared\x1f{block}").randrange(self.shared_every)
            self._lots[block] = lot
        return self._lots[block] == place

    def _sides(self, pair: tuple[str, ...], meeting: int) -> tuple[str, str]:
        if len(pair) == 1:
            return pair[0], ""
        block, place = divmod(meeting, _BLOCK)
        lots = Random("\x1f".join(map(str, (self._seed, "side", *pair, block))))
        turned = lots.sample((0, 1) * (_BLOCK // 2), _BLOCK)[place]
        return pair[turned], pair[1 - turned]


def _line(meta: VotesMeta, benchmark: str, models: tuple[str, ...]) -> Sequence[tuple[str, ...]]:
    """The pairs of a benchmark in the order in which items take them."""
    seed = f"{meta.seed}\x1f{benchmark}"
    if meta.kind == "stars":
        return [(model,) for model in Random(seed).sample(models, len(models))]
    pairs = [pair for pairs in Schedule(models, 1, seed).rounds for pair in pairs]
    if meta.open is None:
        return pairs
    asked = {tuple(sorted(pair)) for pair in meta.open.get(benchmark, ())}
    return [pair for pair in pairs if pair in asked]


def _answers(ballots: ItemBallots, pair: Collection[str]) -> frozenset[str]:
    """The answers of the pair's models, each named by the first model of its identical group."""
    return frozenset(group[0] for group in ballots.groups for model in pair if model in group)


def next_turn(
    turns: Turns, votes: Sequence[PersonVote], rater: str, handed: Collection[int] = ()
) -> tuple[Turn | None, tuple[Turn, ...]]:
    """The turn that a rater is asked next, or None; and earlier turns that need no question.

    Args:
        turns: the schedule.
        votes: stored votes of all raters that were not taken back.
        rater: name of the rater.
        handed: numbers of turns that other raters are looking at.
    """
    seen = {vote.turn for vote in votes if vote.rater == rater}
    # A turn that a rater skipped goes to another rater.
    taken = seen | {*handed} | {vote.turn for vote in votes if vote.choice != "skip"}
    asked = [vote.turn for vote in votes if vote.rater == rater and vote.choice != "identical"]
    n_shared = sum(map(turns.shared, asked))
    # Keep the share of shared turns among a rater's turns near one in `shared_every`.
    due = n_shared * (turns.shared_every - 1) <= len(asked) - n_shared
    passed: list[Turn] = []
    for shared in (due, not due) if turns.shared_every else (False,):
        for number in range(len(turns)):
            if turns.shared(number) is not shared or number in (seen if shared else taken):
                continue
            turn = turns.turn(number)
            if turn is not None and turn.asked:
                return turn, tuple(passed)
            if turn is not None:
                passed.append(turn)
    return None, tuple(passed)


CHOICES: dict[VotesKind, tuple[Choice, ...]] = {
    "matches": ("first", "tie", "both_bad", "second", "skip"),
    "stars": ("0", "1", "2", "3", "skip"),
}
"""Possible choices, in the order of the page."""


@dataclass(frozen=True, slots=True)
class Question:
    """Content shown to a rater: the task, and two answers, or one and its `key` (else empty)."""

    turn: int
    task: str
    answers: tuple[str, ...]
    key: str


class BallotBox:
    """Collects the votes of a file from any number of raters."""

    def __init__(self, file: VotesFile) -> None:
        """Take a file that is open for writing."""
        self.file = file
        self.turns = Turns(file.meta, file.ballots)
        # For each rater: the turn shown, the turns passed before it, and the time it was shown.
        self._shown: dict[str, tuple[Turn, tuple[Turn, ...], float]] = {}

    def question(self, rater: str) -> Question | None:
        """The rater's current question, the same until they answer; None if nothing is left."""
        if rater not in self._shown:
            handed = {turn.number for turn, _, _ in self._shown.values()}
            coming, passed = next_turn(self.turns, self.file.votes(), rater, handed)
            if coming is None:
                self.file.add(*(_vote(turn, "identical", rater) for turn in passed))
                return None
            self._shown[rater] = coming, passed, time.monotonic()
        turn = self._shown[rater][0]
        item = self.file.item(turn.item)
        leaders = {model: group[0] for group in item.ballots.groups for model in group}
        models = [turn.first, turn.second] if turn.second else [turn.first]
        return Question(
            turn=turn.number,
            task=str(item.contest["task"]),
            answers=tuple(item.answers[leaders[model]] for model in models),
            key=item.target if self.file.meta.kind == "stars" else "",
        )

    def keep(self, rater: str, number: int, choice: str) -> bool:
        """Store a rater's choice in a turn. A turn that they have answered already is not changed.

        Returns:
            False if the turn is not asked, or `choice` is not a possible choice.
        """
        turn = self.turns.turn(number) if 0 <= number < len(self.turns) else None
        choices = {str(choice): choice for choice in CHOICES[self.file.meta.kind]}
        if turn is None or not turn.asked or choice not in choices:
            return False
        if any(vote.turn == number for vote in self.file.votes(rater)):
            return True
        seconds, before = None, list[PersonVote]()
        shown, passed, since = self._shown.get(rater, (None, (), 0.0))
        if shown == turn:
            seconds = round(time.monotonic() - since, 1)
            before = [_vote(earlier, "identical", rater) for earlier in passed]
        self.file.add(*before, _vote(turn, choices[choice], rater, seconds))
        self._shown.pop(rater, None)
        return True

    def undo(self, rater: str) -> None:
        """Take back a rater's last vote, and ask them again."""
        vote = self.file.undo(rater)
        turn = self.turns.turn(vote.turn) if vote else None
        if turn is not None:
            self._shown[rater] = turn, (), time.monotonic()

    def raters(self) -> list[str]:
        """The rater of each vote, without skipped turns and identical answers."""
        return [v.rater for v in self.file.votes() if v.choice not in ("skip", "identical")]


def _vote(turn: Turn, choice: Choice, rater: str, seconds: float | None = None) -> PersonVote:
    same = {name: getattr(turn, name) for name in ("item", "first", "second", "weight")}
    return PersonVote(
        turn=turn.number, choice=choice, rater=rater, at=utc_now(), seconds=seconds, **same
    )


def items_of(pool: CandidatePool, kind: VotesKind, seed: int) -> list[VotesItem]:
    """Make the items to vote on: each item of a pool with its ballots before any vote."""
    from tiebreak.inspect_tasks.contests import contest_samples, restore_contest

    items = []
    for sample in contest_samples(pool, seed=seed):
        metadata, target = sample.metadata or {}, str(sample.target)
        empty = restore_contest(metadata).ballots
        ballots = empty("stars", "stars") if kind == "stars" else empty("votes", "points")
        items.append(VotesItem(str(sample.id), 1, target, ballots, metadata[CONTEST_KEY]))
    return items


def votes_on(path: Path, items: Sequence[VotesItem], meta: VotesMeta) -> VotesFile:
    """Open a votes file on items for writing: a new one, or one begun with the same settings.

    The goal may differ, and is then updated.

    Raises:
        RankingLogError: it is no votes file, is in use, or was begun with other settings or items.
    """
    if not path.exists():
        create_votes_file(path, meta, items)
    file = open_votes_file(path, write=True)
    try:
        for name, words in _BEGUN.items():
            if (begun := getattr(file.meta, name)) != getattr(meta, name):
                was = f"{path} was begun with {words.format(begun)}"
                raise RankingLogError(f"{was}: give the same options, or another --out")
        file.require_same(items)
        if meta.goal is not None:
            file.state_goal(meta.goal, decides=meta.decides)
    except RankingLogError:
        file.close()
        raise
    return file
