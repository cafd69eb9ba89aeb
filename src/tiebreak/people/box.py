"""A votes file while people vote: what each is shown, what is kept, how far they are."""

import time
from dataclasses import dataclass

from tiebreak.people.turns import Turn, Turns, next_turn
from tiebreak.ranking_logs.votes_file import Choice, PersonVote, VotesFile, VotesKind, utc_now

CHOICES: dict[VotesKind, tuple[Choice, ...]] = {
    "matches": ("first", "tie", "both_bad", "second", "skip"),
    "stars": ("0", "1", "2", "3", "skip"),
}
"""What may be said, in the order of the page."""


@dataclass(frozen=True, slots=True)
class Question:
    """What a rater is shown: the task, and two answers, or one and the `key` (else empty)."""

    turn: int
    task: str
    answers: tuple[str, ...]
    key: str


@dataclass(frozen=True, slots=True)
class Progress:
    """Numbers of votes, skipped ones not counted: of a rater, of all; and the goal, if any.

    With `decides` the goal is what decides between the two in front, if a judge is about right.
    """

    rater: int
    all: int
    goal: int | None
    decides: bool

    @property
    def left(self) -> int:
        """How many votes are left until the goal."""
        return max(0, (self.goal or 0) - self.all)


@dataclass(frozen=True, slots=True)
class _Shown:
    turn: Turn
    passed: tuple[Turn, ...]
    since: float


class BallotBox:
    """The votes of one file, of any number of raters."""

    def __init__(self, file: VotesFile) -> None:
        """Of a file that is open for writing."""
        self.file = file
        self.turns = Turns(file.meta, file.ballots)
        self._shown: dict[str, _Shown] = {}

    def question(self, rater: str) -> Question | None:
        """What a rater is asked now, until they answer; None where nothing is left."""
        if rater not in self._shown:
            handed = {shown.turn.number for shown in self._shown.values()}
            turn, passed = next_turn(self.turns, self.file.votes(), rater, handed)
            if turn is None:
                return None
            self._shown[rater] = _Shown(turn, passed, time.monotonic())
        turn = self._shown[rater].turn
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
        """Keep what a rater says to a turn. A turn that they answered before is left as it is.

        Returns:
            False where nobody is asked that, or this is no answer to it.
        """
        turn = self.turns.turn(number) if 0 <= number < len(self.turns) else None
        choices = {str(choice): choice for choice in CHOICES[self.file.meta.kind]}
        if turn is None or not turn.asked or choice not in choices:
            return False
        if any(vote.turn == number for vote in self.file.votes(rater)):
            return True
        seconds, passed = None, list[PersonVote]()
        shown = self._shown.get(rater)
        if shown is not None and shown.turn.number == number:
            seconds = round(time.monotonic() - shown.since, 1)
            passed = [_vote(before, "identical", rater) for before in shown.passed]
        self.file.add(*passed, _vote(turn, choices[choice], rater, seconds))
        self._shown.pop(rater, None)
        return True

    def undo(self, rater: str) -> None:
        """Take back a rater's last vote, and ask them again."""
        vote = self.file.undo(rater)
        turn = self.turns.turn(vote.turn) if vote else None
        if turn is not None:
            self._shown[rater] = _Shown(turn, (), time.monotonic())

    def progress(self, rater: str) -> Progress:
        """How far a rater is, and all are."""
        given = [v.rater for v in self.file.votes() if v.choice not in ("skip", "identical")]
        meta = self.file.meta
        return Progress(given.count(rater), len(given), meta.goal, meta.decides)


def _vote(turn: Turn, choice: Choice, rater: str, seconds: float | None = None) -> PersonVote:
    same = {name: getattr(turn, name) for name in ("item", "first", "second", "weight")}
    return PersonVote(
        turn=turn.number, choice=choice, rater=rater, at=utc_now(), seconds=seconds, **same
    )
