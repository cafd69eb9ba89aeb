"""STARS: 0 to 3 stars for each answer, by the key of its item (LLMEval-Fair, figure 11).

    0  wrong answer, wrong explanation      2  correct answer, partially reasonable explanation
    1  wrong answer, partially reasonable   3  correct answer, reasonable explanation

The user's prompt is the paper's, word by word; what is foreign in it stands in fences. Where the
key is true or false and an answer states one of the two, a rule decides whether it is correct, and
the judge only between two stars. Without any explanation there is nothing to judge: a wrong answer
has 0 stars then, and a correct one 2, the fewest that the scale has for it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from typing_extensions import override

from tiebreak.scorers.ballots import ItemBallots, PointScore
from tiebreak.scorers.contest import Contest
from tiebreak.scorers.judge import Prompt, Question
from tiebreak.scorers.prompt import Fence, fill, template
from tiebreak.scorers.protocols import protocol
from tiebreak.scorers.replies import ALL_STARS, parse_stars, stars_schema
from tiebreak.scorers.session import Session
from tiebreak.scorers.stated_truth import is_bare, key_truth, stated_truth

_WORDS: Final = {True: "correct", False: "wrong"}
_BARE: Final = {True: 2, False: 0}
_POSSIBLE: Final[Mapping[bool | None, Sequence[int]]] = {
    None: ALL_STARS,
    True: (2, 3),
    False: (0, 1),
}


@protocol("stars", placed_by="stars", keyed=True)
async def stars(
    item: Contest, candidates: Sequence[str], judge: Session, *, rule: bool = True
) -> ItemBallots:
    """STARS: rate each candidate by the key, correctness first (LLMEval-Fair, §2.2 and figure 11).

    `rule` lets a rule decide what is correct where key and answer are plainly true or false.
    """
    decided = {name: correctness(item, name) if rule else None for name in candidates}
    questions = {}
    for name, correct in decided.items():
        if correct is not None and is_bare(item.answers[name]):
            judge.keep(scores=(*judge.ballots.scores, _without_judge(name, correct)))
        else:
            questions[name] = partial(StarsQuestion, item, name, correct)
    await judge.points(questions, lambda rated: rated)
    known = (
        one.model_copy(update={"correct": decided[one.candidate]}) for one in judge.ballots.scores
    )
    judge.keep(scores=tuple(known))  # also of the answers that stayed unscored
    return judge.ballots


def correctness(item: Contest, candidate: str) -> bool | None:
    """Whether an answer is plainly correct or wrong; None where only a judge can say."""
    key = key_truth(item.target, item.question_type)
    said = None if key is None else stated_truth(item.answers[candidate])
    return None if said is None else said == key


def rated_by_rule(item: Contest, candidate: str) -> bool:
    """Whether an answer needs no judge."""
    return correctness(item, candidate) is not None and is_bare(item.answers[candidate])


def _without_judge(candidate: str, correct: bool) -> PointScore:
    reason = f"A rule decided: the answer is {_WORDS[correct]}, and there is no explanation."
    return PointScore(candidate=candidate, **_rated(_BARE[correct], reason))


def _rated(stars: int, reason: str) -> dict[str, Any]:
    """Stars as fields of a `PointScore`."""
    return {"stars": stars, "score": stars / 3, "reason": reason}


@dataclass(frozen=True)
class StarsQuestion(Question[Mapping[str, Any]]):
    """Rate one answer against the key; `correct` is what a rule has decided about it."""

    contest: Contest
    candidate: str
    correct: bool | None = None
    reviewer: str = ""
    kind = "score"

    @property
    def possible(self) -> Sequence[int]:
        """The stars that the answer can have."""
        return _POSSIBLE[self.correct]

    @override
    def prompt(self) -> Prompt:
        contest = self.contest
        fence = Fence([contest.task, *contest.answers.values()], [contest.target])
        return Prompt(
            system=fill(template("stars.system"), fence_rule=template("fence")),
            user=fill(
                template("stars.user"),
                mark=fence.line,
                task=fence(contest.task),
                response=fence(contest.answers[self.candidate]),
                key=fence(contest.target),
                decided=self._decided(),
            ),
            schema=stars_schema(self.possible),
            images=contest.images,
        )

    def _decided(self) -> str:
        if self.correct is None:
            return ""
        low, high = self.possible
        return (
            f"\nA rule has compared the response with it: the answer is {_WORDS[self.correct]}, so "
            f"that it has {low} or {high} stars.\n"
        )

    @override
    def parse(self, text: str) -> Mapping[str, Any]:
        stars, reason = parse_stars(text, self.possible)
        return _rated(stars, reason)
