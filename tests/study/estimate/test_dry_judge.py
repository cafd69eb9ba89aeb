"""The dry judge: valid replies, the stated habits, and what it cannot answer."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from random import Random
from typing import Any

import pytest
from inspect_ai.model import ResponseSchema
from inspect_ai.util import JSONSchema

from tests.scorers.tournament import planted_contest
from tiebreak.prices import Price
from tiebreak.scorers.ballots import ItemBallots, Reviewer
from tiebreak.scorers.catalogue import PROTOCOLS
from tiebreak.scorers.judge import Prompt, Question
from tiebreak.scorers.match import CLOSE_MARGIN
from tiebreak.scorers.protocols import find_protocol, judge_item
from tiebreak.scorers.replies import ReplyError
from tiebreak.study.estimate import EstimateError
from tiebreak.study.estimate.dry_judge import DryJudge, Habit
from tiebreak.study.estimate.prices import PricedModel

CONTEST = planted_contest({f"m{i}": i for i in range(8)})
JUDGES = {"judge": PricedModel("j", Price(2, 3)), "meta_judge": PricedModel("m")}
REVIEWERS = tuple(Reviewer(name=f"m{i}", model=f"x/m{i}", candidate=f"m{i}") for i in range(3))
PANEL = {f"m{i}": PricedModel(f"x/m{i}", Price(i, 0)) for i in range(3)}


def letters(question: Question[Any], prompt: Prompt, reply: str) -> tuple[float, float]:
    return len(prompt.system) + len(prompt.user), len(reply)


def answer_letters(question: Question[Any], answer: str) -> float:
    return len(answer)


def judged(protocol: str, habit: Habit, seed: int = 0, **settings: Any) -> ItemBallots:
    async def run() -> ItemBallots:
        found = find_protocol(protocol)
        asked = (PANEL, REVIEWERS) if protocol == "peer_review" else (JUDGES, ())
        judge = DryJudge(habit, letters, answer_letters, asked[0], Random(seed), asked[1])
        given = {**settings, **found.prepare([CONTEST])}
        return await judge_item(found, CONTEST, judge, settings=given)

    return asyncio.run(run())


def calls(habit: Habit, protocol: str = "seal", **settings: Any) -> int:
    return len(judged(protocol, habit, **settings).calls)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_question_gets_a_valid_reply(protocol: str) -> None:
    ballots = judged(protocol, Habit(0.5, 0.2, 12))
    assert ballots.complete
    assert not any(match.unscored for match in ballots.matches)
    assert not any(one.unscored for one in ballots.scores)
    assert not any(one.unscored for one in ballots.listings)
    assert all(call.input_tokens > 500 and call.output_tokens > 20 for call in ballots.calls)


def test_no_match_is_close_or_all_are() -> None:
    # 1 seeding + 7 matches + 2 + 1 critiques, and then:
    assert calls(Habit(0, 0, 12), swap="close") == 11
    # all 7 in both orders, and 2 new items after each of the first two rounds.
    assert calls(Habit(1, 0, 12), swap="close") == 11 + 7 + 4


def test_a_tie_is_close_and_ends_a_search() -> None:
    assert calls(Habit(0.5, 1, 12), swap="close") == 11 + 7 + 4
    assert calls(Habit(1, 1, 12), "sorted") == 7
    assert all(match.tied for match in judged("sorted", Habit(1, 1, 12)).matches)


@pytest.mark.slow
@pytest.mark.parametrize(("close", "tie"), [(0.3, 0.1), (0.6, 0.0)])
def test_shares_of_close_and_even_verdicts(close: float, tie: float) -> None:
    margins = [
        abs(verdict.margin)
        for seed in range(20)
        for match in judged("full_pairwise", Habit(close, tie, 3), seed, swap="never").matches
        for verdict in match.verdicts
        if verdict.margin is not None
    ]
    n = len(margins)
    assert n == 20 * 28
    # Three standard errors of a proportion.
    error = 3 * (0.25 / n) ** 0.5
    assert sum(m < CLOSE_MARGIN for m in margins) / n == pytest.approx(close, abs=error)
    assert sum(m == 0 for m in margins) / n == pytest.approx(tie, abs=error)
    assert not any(0.8 * CLOSE_MARGIN < m < 2 * CLOSE_MARGIN for m in margins)


def test_it_never_contradicts_itself() -> None:
    matches = judged("full_pairwise", Habit(0.4, 0, 3), swap="always").matches
    assert not any(match.flipped for match in matches)
    won = {(match.winner, match.loser) for match in matches}
    names = sorted(CONTEST.answers, key=lambda name: -sum(w == name for w, _ in won))
    assert won == set(combinations(names, 2))
    # The seed decides.
    one, same, other = (judged("seal", Habit(0.5, 0.1, 12), seed) for seed in (1, 1, 2))
    assert one == same != other


def test_words_and_lines() -> None:
    habits = [
        Habit(0, 0, 5),
        Habit(0, 0, 50),
        Habit(0, 0, 5, None),
        Habit(0, 0, 5, 2),
    ]
    short, long, plain, many = (
        judged("listwise", habit).calls[0].output_tokens for habit in habits
    )
    assert long - short > 45 * 3
    assert many > plain


def test_new_items_and_their_examples_are_counted() -> None:
    def final(words: int, **settings: Any) -> int:
        *_, last = [
            c for c in judged("seal", Habit(1, 0, words), **settings).calls if c.kind == "match"
        ]
        return last.input_tokens

    # Four new items until the final, each of three texts, in words of two letters at least; without
    # them the judge only reads two texts of the critique.
    grown = final(60) - final(20)
    assert grown - (final(60, refine=False) - final(20, refine=False)) > 40 * 4 * 3 * 3


def test_the_summary_of_a_round_is_counted() -> None:
    """Of eight candidates four remain after the first round: two others beside those of a match."""
    prompts: list[Prompt] = []

    def noted(question: Question[Any], prompt: Prompt, reply: str) -> tuple[float, float]:
        if question.kind == "refine":
            prompts.append(prompt)
        return letters(question, prompt, reply)

    judge = DryJudge(Habit(1, 0, 12), noted, answer_letters, JUDGES, Random(0))
    ballots = asyncio.run(judge_item(find_protocol("seal"), CONTEST, judge))
    told = [prompt.user for prompt in prompts]
    assert [text.count("Under-resolved: ") for text in told] == [1] * 4
    assert [text.count("quality=") for text in told] == [2 + 3, 2 + 3, 2 + 1, 2 + 1]
    counted = [call.input_tokens for call in ballots.calls if call.kind == "refine"]
    assert counted == [len(prompt.system) + len(prompt.user) for prompt in prompts]


def test_who_is_billed() -> None:
    for call in judged("seal", Habit(1, 0, 12)).calls:
        meta = call.kind in ("critique", "refine")
        bill = 2e-6 * call.input_tokens + 3e-6 * call.output_tokens
        assert (call.model, call.cost) == (("m", None) if meta else ("j", pytest.approx(bill)))
    ballots = judged("peer_review", Habit(0, 0, 12))
    assert ballots.reviewers == REVIEWERS
    names = ["m0", "m1", "m2"]
    assert [listing.reviewer for listing in ballots.listings] == names
    for number, (name, call) in enumerate(zip(names, ballots.calls, strict=True)):
        assert (call.role, call.reviewer, call.model) == ("peers", name, f"x/{name}")
        assert call.cost == pytest.approx(number * 1e-6 * call.input_tokens)


@dataclass(frozen=True)
class OwnQuestion(Question[str]):
    schema: JSONSchema
    refused: Sequence[str] = ()
    kind = "list"

    def prompt(self) -> Prompt:
        return Prompt("s", "u", ResponseSchema(name="own", json_schema=self.schema))

    def parse(self, text: str) -> str:
        if text in self.refused:
            raise ReplyError("not that")
        return text


def answer(question: Question[str]) -> str | None:
    judge = DryJudge(Habit(0, 0, 2), letters, answer_letters, JUDGES, Random(0))
    return asyncio.run(judge.ask(question, depth=0)).value


def test_questions_of_ones_own() -> None:
    parts = {
        "flags": JSONSchema(type="array", items=JSONSchema(type="boolean")),
        "none": JSONSchema(type="null"),
        "age": JSONSchema(type="integer", minimum=7, maximum=7),
        "share": JSONSchema(type="number", minimum=50, maximum=100),
        "things": JSONSchema(type="array"),
    }
    told = json.loads(answer(OwnQuestion(JSONSchema(type="object", properties=parts))) or "")
    assert told.keys() == parts.keys()
    assert isinstance(told["flags"][0], bool)
    assert (told["none"], told["age"], told["things"]) == (None, 7, [])
    assert 75 <= told["share"] <= 100  # confidences of a clear match: ½ to 1


@pytest.mark.parametrize(
    ("question", "words"),
    [
        (OwnQuestion(JSONSchema(type=["string", "null"])), "schema of type"),
        (OwnQuestion(JSONSchema(type="null"), ["null"]), "OwnQuestion: one that fits its schema"),
    ],
)
def test_what_it_cannot_answer(question: OwnQuestion, words: str) -> None:
    with pytest.raises(EstimateError, match=words):
        answer(question)


@pytest.mark.parametrize("votes", [{}, {"checklist": "ties"}])
def test_prompts_that_are_not_rendered_are_counted_all_the_same(
    votes: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def tokens() -> list[int]:
        calls = judged("full_pairwise", Habit(0.5, 0.2, 12), swap="always", **votes).calls
        return [call.input_tokens for call in calls]

    all_rendered = tokens()
    monkeypatch.setattr(DryJudge, "made_up", 2)
    assert tokens() == all_rendered
