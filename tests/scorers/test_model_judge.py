"""The judge that asks models: what it says to them, what it keeps of a call, when it ends."""

import json
from collections.abc import Sequence
from typing import Any

import anyio
import pytest
from inspect_ai.model import (
    ChatMessage,
    GenerateConfig,
    Model,
    ModelOutput,
    ModelUsage,
    get_model,
)
from inspect_ai.tool import ToolChoice, ToolInfo

from tests.scorers.judges import contest_of
from tiebreak.scorers.judge import ModelFailedError, Reply
from tiebreak.scorers.model_judge import ModelJudge
from tiebreak.scorers.questions import ListQuestion

QUESTION = ListQuestion(contest_of(3), {"R1": "m00", "R2": "m01", "R3": "m02"})
GOOD = json.dumps({"places": {"R1": 1, "R2": 2, "R3": 2}})
MODEL = "mockllm/model"
Shown = list[tuple[str, str]]


def output(text: str, stop: Any = "stop", usage: ModelUsage | None = None) -> ModelOutput:
    made = ModelOutput.from_content("x", text, stop_reason=stop)
    made.usage = usage or ModelUsage()
    return made


def asked(
    outputs: Sequence[ModelOutput | OSError], **more: Any
) -> tuple[Reply[dict[str, int]], list[Shown], ModelJudge]:
    """One question, with the replies one after the other; and what the model was shown."""
    shown: list[Shown] = []
    left = list(outputs)

    def answer(
        messages: list[ChatMessage], tools: list[ToolInfo], choice: ToolChoice, _: GenerateConfig
    ) -> ModelOutput:
        shown.append([(message.role, message.text) for message in messages])
        match left.pop(0):
            case OSError() as error:
                raise error
            case reply:
                return reply

    model: Model = get_model(MODEL, custom_outputs=answer, memoize=False)
    judge = ModelJudge({"judge": model})

    async def ask() -> Reply[dict[str, int]]:
        return await judge.ask(QUESTION, **{"depth": 0} | more)

    return anyio.run(ask), shown, judge


def test_a_good_reply_is_one_call() -> None:
    usage = ModelUsage(
        input_tokens=5, input_tokens_cache_read=7, input_tokens_cache_write=11, output_tokens=3
    )
    reply, shown, judge = asked([output(GOOD, usage=usage)], depth=4, attempt=1)
    prompt = QUESTION.prompt()
    assert shown == [[("system", prompt.system), ("user", prompt.user)]]
    assert (reply.value, reply.unscored) == ({"R1": 1, "R2": 2, "R3": 2}, None)
    assert (reply.depth, reply.too_long) == (5, False)
    [call] = reply.calls
    assert judge.calls == [call]
    assert (call.kind, call.role, call.model, call.reviewer) == ("list", "judge", MODEL, "")
    assert (call.attempt, call.repair, call.cached, call.depth) == (1, False, False, 4)
    assert (call.input_tokens, call.output_tokens, call.cost) == (23, 3, None)


@pytest.mark.parametrize(("bad", "back"), [("no", "no"), ("", "(empty)"), ("x" * 20_001, None)])
def test_a_malformed_reply_is_shown_again_with_what_is_wrong(bad: str, back: str | None) -> None:
    reply, [first, second], judge = asked([output(bad), output(GOOD)])
    assert second[:2] == first
    assert second[2] == ("assistant", back if back is not None else "x" * 20_000)
    assert second[3][0] == "user"
    why = "it is empty" if not bad else "no JSON object"
    assert why in second[3][1]
    assert len(second) == 4
    assert [(call.repair, call.depth) for call in reply.calls] == [(False, 0), (True, 1)]
    assert reply.value == {"R1": 1, "R2": 2, "R3": 2}
    assert (reply.depth, len(judge.calls)) == (2, 2)


def test_two_malformed_replies_leave_the_question_unscored() -> None:
    reply, shown, _ = asked([output("no"), output("", "max_tokens")])
    assert reply.value is None
    assert reply.unscored == "it is empty (the model stopped with max_tokens)"
    assert (len(shown), len(reply.calls), reply.depth, reply.too_long) == (2, 2, 2, False)


@pytest.mark.parametrize(
    ("outputs", "calls", "too_long"),
    [
        # The question alone does not fit: others may be asked with less.
        ([output("", "model_length")], 1, True),
        # With the reply to repair it does not: the question itself did.
        ([output("no"), output("", "model_length")], 2, False),
    ],
)
def test_what_does_not_fit_is_not_asked_with_more(
    outputs: list[ModelOutput], calls: int, too_long: bool
) -> None:
    reply, shown, _ = asked(outputs)
    assert (reply.value, len(shown), reply.too_long) == (None, calls, too_long)
    assert reply.unscored == "it is empty (the model stopped with model_length)"
    assert (len(reply.calls), reply.depth) == (calls, calls)


def test_a_reply_without_a_choice_is_empty() -> None:
    reply, _, _ = asked([ModelOutput(model="x", choices=[], usage=ModelUsage())] * 2)
    assert (reply.value, reply.unscored) == (None, "it is empty")
    assert [(c.input_tokens, c.output_tokens, c.cost) for c in reply.calls] == [(0, 0, None)] * 2


def test_a_provider_that_fails_is_asked_three_times() -> None:
    down = [OSError("down")]
    with pytest.raises(ModelFailedError, match=r"^mockllm/model: down \(OSError\)$"):
        asked([*3 * down, output(GOOD)])
    assert asked([*2 * down, output(GOOD)])[0].unscored is None


@pytest.mark.parametrize(
    ("given", "attempt", "scopes"),
    [
        ({}, 0, {"attempt": "0"}),
        ({"repeat": 1}, 1, {"attempt": "1"}),
        ({"repeat": 2}, 0, {"attempt": "0", "repeat": "2"}),
    ],
)
def test_a_run_that_is_repeated_does_not_find_the_replies_of_the_first(
    given: dict[str, Any],
    attempt: int,
    scopes: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[Any] = []

    async def call(*asked: Any) -> tuple[ModelOutput, bool]:
        seen.append(asked)
        return output(GOOD), True

    monkeypatch.setattr("tiebreak.scorers.model_judge.call_model", call)
    judge = ModelJudge({"judge": get_model(MODEL)}, **given)
    anyio.run(lambda: judge.ask(QUESTION, depth=0, attempt=attempt))
    [(_, _, schema, told)] = seen
    assert told == scopes
    assert schema == QUESTION.prompt().schema
    assert [one.cached for one in judge.calls] == [True]
